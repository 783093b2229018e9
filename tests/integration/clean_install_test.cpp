// What ./dev install copies is built by what it builds: on a clean build folder nothing else is there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <set>
#include <sstream>

#include "tests/integration/shell.h"

namespace integration {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

TEST(CleanInstall, EverythingThatIsInstalledIsBuiltFirst) {
  EXPECT_THAT(base::read_file(kSource / "dev"), HasSubstr("build trnsim_installed"));
  const TemporaryFolder folder{"trnsim_clean"};
  const fs::path clean = folder.path() / "build";
  const Ran ran = shell(folder.path(), "cmake -G Ninja -S '" + kSource.string() + "' -B '" + clean.string() +
                                           "' -D CMAKE_CXX_COMPILER='" TRNSIM_CXX "' >log\nninja -C '" +
                                           clean.string() + "' -t inputs trnsim_installed >inputs");
  ASSERT_EQ(ran.code, 0) << ran.output;
  std::set<fs::path> made;
  std::istringstream inputs{base::read_file(folder.path() / "inputs")};
  for (std::string line; std::getline(inputs, line);) made.insert((clean / line).lexically_normal());
  const std::string script = base::read_file(clean / "cmake_install.cmake");
  const std::regex file{"\"(" + clean.string() + "/[^\"]+)\""};
  int files = 0;
  for (std::sregex_iterator at{script.begin(), script.end(), file}, end; at != end; ++at) {
    const fs::path path = fs::path{(*at)[1].str()}.lexically_normal();
    if (path.filename() == "install_local_manifest.txt" || path.string().find("CMakeFiles") != std::string::npos)
      continue;
    ++files;
    EXPECT_TRUE(made.contains(path) || fs::exists(path)) << path << " is installed, and nothing makes it";
    if (made.contains(path)) {
      EXPECT_TRUE(fs::is_directory(path.parent_path())) << path.parent_path();
    }
  }
  EXPECT_GT(files, 8);
}

}  // namespace
}  // namespace integration
