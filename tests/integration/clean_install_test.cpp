// ./dev install builds everything that it copies: a clean build folder has nothing else.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>

#include "tests/integration/shell.h"

namespace integration {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

TEST(CleanInstall, EverythingThatIsInstalledIsBuiltFirst) {
  EXPECT_THAT(base::read_file(kSource / "dev"), HasSubstr("build_without_tests trnsim_installed"));
  const TemporaryFolder folder{"trnsim_clean"};
  const fs::path clean = folder.path() / "build";
  const Ran ran = shell(folder.path(), "cmake -G Ninja -S '" + kSource.string() + "' -B '" + clean.string() +
                                           "' -D CMAKE_CXX_COMPILER='" TRNSIM_CXX "' >log\nninja -C '" +
                                           clean.string() + "' -t commands trnsim_installed >steps");
  ASSERT_EQ(ran.code, 0) << ran.output;
  const std::string steps = base::read_file(folder.path() / "steps");  // the commands that build it
  const std::string script = base::read_file(clean / "cmake_install.cmake");
  const std::regex file{"\"(" + clean.string() + "/[^\"]+)\""};
  int files = 0;
  for (std::sregex_iterator at{script.begin(), script.end(), file}, end; at != end; ++at) {
    const fs::path path = fs::path{(*at)[1].str()}.lexically_normal();
    if (path.filename() == "install_local_manifest.txt" || path.string().find("CMakeFiles") != std::string::npos ||
        path.string().find('$') != std::string::npos)
      continue;
    ++files;
    const bool made = steps.find(fs::relative(path, clean).string()) != std::string::npos;
    EXPECT_TRUE(made || fs::exists(path)) << path << " is installed, and nothing makes it";
    if (made && path.parent_path().filename() == "generated") {
      EXPECT_TRUE(fs::is_directory(path.parent_path())) << path.parent_path();
    }
  }
  EXPECT_GT(files, 8);
}

/// For packagers and ./dev run: the libraries of tests are not even searched for.
TEST(CleanInstall, WithoutTestsTheirLibrariesAreNotNeeded) {
  const TemporaryFolder folder{"trnsim_without_tests"};
  std::string disabled;  // a REQUIRED package that is disabled is an error
  for (const char* package : {"GTest", "Protobuf", "benchmark"})
    disabled += std::string{" -D CMAKE_DISABLE_FIND_PACKAGE_"} + package + "=ON";
  const std::string configure =
      "cmake -G Ninja -S '" + kSource.string() + "' -B build -D CMAKE_CXX_COMPILER='" TRNSIM_CXX "'" + disabled;
  EXPECT_NE(shell(folder.path(), configure).code, 0);
  const Ran ran = shell(folder.path(), configure +
                                           " -D TRNSIM_TESTS=OFF\nninja -C build -t query trnsim >query\n"
                                           "ninja -C build -t targets all | grep -c '^test_' || true");
  ASSERT_EQ(ran.code, 0) << ran.output;
  EXPECT_TRUE(ran.output.ends_with("\n0\n")) << ran.output;
}

}  // namespace
}  // namespace integration
