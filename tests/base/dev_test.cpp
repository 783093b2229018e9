// ./dev as a user meets it, as far as that needs neither network nor a build.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <string>

namespace base {
namespace {

using testing::HasSubstr;

struct Result {
  int exit_code;
  std::string output;
};

Result dev(const std::string& arguments) {
  std::FILE* pipe = popen(("cd / && bash " TRNSIM_SOURCE_DIR "/dev " + arguments).c_str(), "r");
  if (pipe == nullptr) return {-1, "popen failed"};
  Result result{0, {}};
  std::array<char, 256> buffer{};
  while (std::fgets(buffer.data(), buffer.size(), pipe) != nullptr) result.output += buffer.data();
  result.exit_code = WEXITSTATUS(pclose(pipe));
  return result;
}

TEST(Dev, HelpNamesEveryVerb) {
  const Result result = dev("help");
  EXPECT_EQ(result.exit_code, 0);
  for (const char* verb : {"run", "test", "fuzz", "nightly", "bench", "build", "edit", "labels", "accuracy", "columns",
                           "numerics", "browser", "install", "package", "api", "docs", "fmt", "lint", "help"}) {
    EXPECT_THAT(result.output, HasSubstr("./dev " + std::string{verb}));
  }
}

TEST(Dev, ABadVerbOrPresetIsAnErrorOnStderrWithAFix) {
  EXPECT_EQ(dev("rnu 2>/dev/null").output, "");
  const Result verb = dev("rnu 2>&1");
  EXPECT_EQ(verb.exit_code, 2);
  EXPECT_THAT(verb.output, HasSubstr("fix: see ./dev help"));
  const Result preset = dev("test --preset fast 2>&1");
  EXPECT_EQ(preset.exit_code, 2);
  EXPECT_THAT(preset.output, HasSubstr("choose release, edit, debug, asan or tsan"));
}

}  // namespace
}  // namespace base
