// The installed package as its user meets it: somewhere else than it was built and installed, far from the source tree.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "tests/integration/shell.h"

namespace integration {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

/// Installs once for all tests of this process, and then moves the folder: nothing may remember where it was.
const fs::path& prefix() {
  static const TemporaryFolder folder{"trnsim_install"};
  static const fs::path moved = [] {
    const Ran ran =
        shell(folder.path(), "cmake --install '" TRNSIM_BUILD_DIR "' --prefix \"$PWD/first\"\nmv first moved");
    EXPECT_EQ(ran.code, 0) << ran.output;
    return folder.path() / "moved";
  }();
  return moved;
}

std::set<std::string> files_below(const fs::path& folder, const std::string& extension) {
  std::set<std::string> found;
  for (const auto& entry : fs::recursive_directory_iterator{folder})
    if (entry.path().extension() == extension) found.insert(fs::relative(entry.path(), folder).string());
  return found;
}

void replace(const fs::path& file, const std::string& from, const std::string& to) {
  std::string text = base::read_file(file);
  ASSERT_NE(text.find(from), std::string::npos) << file << " has no " << from;
  base::write_file(file, text.replace(text.find(from), from.size(), to));
}

TEST(Install, BringsTheManualTheCompletionAndAllData) {
  EXPECT_THAT(base::read_file(prefix() / "share/man/man1/trnsim.1"), HasSubstr(".TH TRNSIM 1"));
  EXPECT_THAT(base::read_file(prefix() / "share/bash-completion/completions/trnsim"), HasSubstr("complete "));
  std::set<std::string> data;
  for (const char* folder : {"hw", "runtime", "workloads", "analysis", "trnsim"})
    for (const std::string& file : files_below(kSource / folder, ".toml")) data.insert(folder + ("/" + file));
  EXPECT_GT(data.size(), 10u);
  EXPECT_EQ(files_below(prefix() / "share/trnsim", ".toml"), data);
}

TEST(Install, TheBinaryReadsTheDataBesideIt) {
  const Ran ran = shell("/", (prefix() / "bin/trnsim").string() + " list machines");
  EXPECT_EQ(ran.code, 0) << ran.output;
  EXPECT_THAT(ran.output, HasSubstr((prefix() / "share/trnsim/hw/params/trn1.2xlarge.toml").string()));
}

TEST(Install, PythonFindsItsModulesCompiled) {
  const fs::path packages = prefix() / "lib/python3/dist-packages";
  if (!fs::exists(packages / "trnsim/_errors.py")) GTEST_SKIP() << "built without the Python module";
  const Ran ran =
      shell("/", "PYTHONPATH='" + packages.string() + "' /usr/bin/python3 -v -B -c 'import trnsim._errors'");
  EXPECT_EQ(ran.code, 0) << ran.output;
  EXPECT_THAT(ran.output, testing::ContainsRegex("_errors[^ ]*pyc matches .*_errors.py"));
}

TEST(Install, EveryHeaderCompilesWithNothingButThePackage) {
  const TemporaryFolder folder{"trnsim_headers"};
  std::string all;
  for (const std::string& header : files_below(prefix() / "include/trnsim", ".h"))
    all += "#include \"" + header + "\"\n";
  EXPECT_THAT(all, HasSubstr("\"trnsim/projection.h\""));
  base::write_file(folder.path() / "all.cpp", all);
  const Ran ran = shell(folder.path(), TRNSIM_CXX " -std=c++20 -Wall -Wextra -Werror -fsyntax-only -I '" +
                                           (prefix() / "include/trnsim").string() + "' all.cpp");
  EXPECT_EQ(ran.code, 0) << ran.output;
}

/// The package's own headers that a source reads, those behind the first ones too, by their names.
std::set<std::string> read_by(const fs::path& source) {
  std::set<std::string> found;
  std::vector<fs::path> waiting{source};
  const std::regex include{"# *include \"([^\"]+)\""};
  while (!waiting.empty()) {
    const std::string text = base::read_file(waiting.back());
    waiting.pop_back();
    for (std::sregex_iterator at{text.begin(), text.end(), include}, end; at != end; ++at)
      if (found.insert((*at)[1].str()).second) waiting.push_back(prefix() / "include/trnsim" / (*at)[1].str());
  }
  return found;
}

// A client's compiler reads the API, not our compiler and the simulator behind it.
TEST(Install, AClientReadsFewHeaders) {
  EXPECT_LE(files_below(prefix() / "include/trnsim", ".h").size(), 40u);
  std::ptrdiff_t lines = 0;
  for (const std::string& header : read_by(kSource / "examples/project/step_time.cpp")) {
    const std::string text = base::read_file(prefix() / "include/trnsim" / header);
    lines += std::ranges::count(text, '\n');
  }
  EXPECT_GT(lines, 500);
  EXPECT_LE(lines, 1500);
}

/// The installed workload is changed first: a program that read the one in the source tree would print another time.
TEST(Install, AProgramOutsideTheTreeAgreesWithTheInstalledBinary) {
  const TemporaryFolder folder{"trnsim_example"};
  const fs::path job = prefix() / "share/trnsim/workloads/jobs/bert_emotion.toml";
  const std::string as_installed = base::read_file(job);
  replace(job, R"(per_device_train_batch_size = "16")", R"(per_device_train_batch_size = "4")");
  const std::string place = prefix().string();
  const Ran ran =
      shell(folder.path(),
            "unset TRNSIM_HOME\ncp -r '" + (kSource / "examples/project").string() + "' source\n" +
                "cmake -S source -B build -D CMAKE_BUILD_TYPE=Debug -D CMAKE_CXX_COMPILER='" TRNSIM_CXX
                "' -D CMAKE_PREFIX_PATH='" +
                place + "'\ncmake --build build\n" + "cd /\n'" + (folder.path() / "build/step_time").string() + "' >'" +
                (folder.path() / "printed").string() + "'\n'" + place +
                "/bin/trnsim' run bert_emotion --mode timed --output_dir '" + (folder.path() / "run").string() + "'");
  base::write_file(job, as_installed);
  ASSERT_EQ(ran.code, 0) << ran.output;
  const auto result = nlohmann::json::parse(base::read_file(folder.path() / "run/result.json"));
  EXPECT_EQ(result.at("/workload/options/per_device_train_batch_size"_json_pointer), 4);
  const double step = result.at("/job/step_seconds"_json_pointer).get<double>();
  EXPECT_EQ(base::read_file(folder.path() / "printed"), fmt::format("{:.4f} s\n", step));
}

TEST(Package, TheExtractedBinaryReadsItsDataAndNamesTheLibrariesThatItNeeds) {
  const TemporaryFolder folder{"trnsim_package"};
  if (shell(folder.path(), "command -v dpkg-deb dpkg-shlibdeps").code != 0) GTEST_SKIP() << "dpkg-dev is not installed";
  const Ran made =
      shell(folder.path(), "cpack --config '" TRNSIM_BUILD_DIR
                           "/CPackConfig.cmake' -B packages\n"
                           "dpkg-deb -x packages/trnsim_*.deb root\ndpkg-deb -f packages/trnsim_*.deb >control\n"
                           "dpkg-deb -c packages/libtrnsim-dev_*.deb >library");
  ASSERT_EQ(made.code, 0) << made.output;
  const std::string control = base::read_file(folder.path() / "control");
  for (const char* words : {"Package: trnsim\n", "libsystemc", "libfmt9", "libsqlite3-0", "libsentencepiece0"})
    EXPECT_THAT(control, HasSubstr(words));
  const fs::path usr = folder.path() / "root/usr";
  const Ran ran = shell("/", (usr / "bin/trnsim").string() + " list machines");
  EXPECT_EQ(ran.code, 0) << ran.output;
  EXPECT_THAT(ran.output, HasSubstr((usr / "share/trnsim/hw/params/trn1.2xlarge.toml").string()));
  for (const char* file : {"share/man/man1/trnsim.1", "share/bash-completion/completions/trnsim",
                           "share/doc/trnsim/copyright", "share/trnsim/workloads/jobs/bert_emotion.toml"})
    EXPECT_TRUE(fs::exists(usr / file)) << file;
  const std::string library = base::read_file(folder.path() / "library");
  for (const char* file :
       {"/usr/include/trnsim/trnsim/projection.h", "/cmake/trnsim/trnsimConfig.cmake", "libtrnsim_isa.a"})
    EXPECT_THAT(library, HasSubstr(file));
}

}  // namespace
}  // namespace integration
