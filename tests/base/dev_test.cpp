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

Result shell(const std::string& command) {
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return {-1, "popen failed"};
  Result result{0, {}};
  std::array<char, 256> buffer{};
  while (std::fgets(buffer.data(), buffer.size(), pipe) != nullptr) result.output += buffer.data();
  result.exit_code = WEXITSTATUS(pclose(pipe));
  return result;
}

Result dev(const std::string& arguments) { return shell("cd / && bash " TRNSIM_SOURCE_DIR "/dev " + arguments); }

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

// A suite of two tests whose first call is stopped behind the first one: the second call runs the other one alone.
TEST(Dev, ASuiteOfTheNightGoesOnBehindTheTestsThatPassed) {
  const Result result = shell(R"(bash <<'END'
    root=$(mktemp -d); kept=$root/kept; mkdir "$kept"
    printf '#!/bin/sh\necho "  Test #1: A.One"\necho "  Test  #2: B.Two/3"\n' >"$root/ctest"
    printf '#!/bin/sh\necho "1/2 Test #1: A.One ......   Passed    0.01 sec"\n%s\n%s\n%s\n' \
      'case "$*" in *-I*) echo "asked: $*"; exit;; esac; p=$$' \
      'until grep -qx timeout /proc/$p/comm; do p=$(sed -n "s/^PPid:[^0-9]*//p" /proc/$p/status); done' \
      'kill -ALRM $p; exec sleep 20' >"$root/dev"
    chmod +x "$root/ctest" "$root/dev"; PATH=$root:$PATH; say() { :; }
    . )" TRNSIM_SOURCE_DIR R"(/tests/nightly/nightly.sh
    night_part tsan "$kept" 600; cat "$kept/tsan.how"; [ -f "$kept/tsan.txt" ] && echo done too early
    night_part tsan "$kept" 9; cat "$kept/tsan.how" "$kept/tsan.txt"; rm -r "$root"
END
)");
  EXPECT_THAT(result.output, HasSubstr("stopped after 0 min, 1 tests passed, the others are left for the next call\n"));
  EXPECT_THAT(result.output, HasSubstr("nothing found"));
  EXPECT_THAT(result.output, HasSubstr("1 tests passed in earlier calls"));
  EXPECT_THAT(result.output, HasSubstr("asked: test --preset tsan --all -I 0,0,0,2\n"));
  EXPECT_EQ(result.output.find("done too early"), std::string::npos);
}

/// `commands` behind the functions of ./dev, with programs of `bin` in front of the system's.
Result with_functions(const std::string& commands) {
  return shell(R"sh(bash <<'END' 2>&1
    bin=$(mktemp -d); PATH=$bin:$PATH; trap 'rm -r "$bin"' EXIT
    )sh"
               "eval \"$(sed -e '$d' -e 's|^root=.*|root=" TRNSIM_SOURCE_DIR "|' '" TRNSIM_SOURCE_DIR "/dev')\"\n" +
               commands + "\nEND\n");
}

// The fourth call is the first that works: the lists are read again, and the network was away for a moment.
TEST(Dev, PackagesAreAskedForAgainWhenTheNetworkFailsForAMoment) {
  const std::string asked = R"sh(
    printf '#!/bin/sh\n' >"$bin/dpkg-query"
    printf '#!/bin/sh\nfor last; do :; done; echo "$last" >>"%s/asked"\n[ $(wc -l <"%s/asked") -gt 3 ]\n' \
      "$bin" "$bin" >"$bin/apt-get"
    chmod +x "$bin"/*; as_root() { "$@"; }; need_root() { :; }; export TRNSIM_PAUSE=0
    need gone; echo "exit code $?"; cat "$bin/asked")sh";
  EXPECT_EQ(with_functions(asked).output, "installing gone\nexit code 0\ngone\nupdate\nupdate\nupdate\ngone\n");
}

TEST(Dev, AContainersShareOfTheHostIsWhatItUses) {
  const Result result = with_functions(R"sh(
    nproc() { echo 64; }; export TRNSIM_CPU_MAX=$bin/max
    echo "150000 100000" >"$TRNSIM_CPU_MAX"; cores
    echo "max 100000" >"$TRNSIM_CPU_MAX"; cores
    rm "$TRNSIM_CPU_MAX"; cores)sh");
  EXPECT_EQ(result.output, "2\n64\n64\n");
}

// A home folder that cannot be written: ccache would end each compilation with an error.
TEST(Dev, ACacheThatCannotBeWrittenIsLeftOut) {
  const Result result = with_functions(R"sh(
    printf '#!/bin/sh\necho "$CACHE"\n' >"$bin/ccache"; chmod +x "$bin/ccache"
    export CACHE=$bin; without_cache_that_fails; echo "${CCACHE_DISABLE:-used}"
    export CACHE=/proc/none; without_cache_that_fails; echo "${CCACHE_DISABLE:-used}")sh");
  EXPECT_THAT(result.output, testing::MatchesRegex("used\nccache cannot write to /proc/none: .*\n1\n"));
}

TEST(Dev, TestsOfTheNightRunByDayWhereTheyAreChosen) {
  const Result result = with_functions(R"sh(
    for flags in "" -j4 -Rx "-R x" "--all -j4" -Lslow --tests-regex=x --rerun-failed "-I 1,2"; do
      echo "$flags:" $(by_day $flags); done)sh");
  EXPECT_EQ(result.output,
            ": -LE ^night$\n-j4: -LE ^night$\n-Rx:\n-R x:\n--all -j4:\n-Lslow:\n--tests-regex=x:\n--rerun-failed:\n"
            "-I 1,2:\n");
}

TEST(Dev, TheThreadSanitizerSeesOnlyTestsWithThreads) {
  const Result result = shell(R"(bash <<'END'
    root=$(mktemp -d); kept=$root/kept; mkdir "$kept"
    printf '#!/bin/sh\nfor n in 1 2 3; do echo "  Test #$n: A.Test$n"; done\n' >"$root/ctest"
    printf '#!/bin/sh\necho "asked: $*"\n' >"$root/dev"
    chmod +x "$root/ctest" "$root/dev"; PATH=$root:$PATH; say() { :; }
    printf 'A.Test1\nA.Test2\n' >"$kept/threads.asked"; echo A.Test2 >"$kept/threads.seen"
    . )" TRNSIM_SOURCE_DIR R"(/tests/nightly/nightly.sh
    night_part tsan "$kept" 9; cat "$kept/tsan.txt"; rm -r "$root"
END
)");
  EXPECT_THAT(result.output, HasSubstr("1 tests are left out"));
  EXPECT_THAT(result.output, HasSubstr("asked: test --preset tsan --all -I 0,0,0,2,3\n"));
}

TEST(Dev, ATestIsNamedWhenItOrAProcessOfItsOwnStartsAThread) {
  const Result result = shell(R"(bash <<'END'
    names=$(mktemp); export TRNSIM_THREADS_SEEN=$names LD_PRELOAD=)" TRNSIM_THREADS_SEEN R"(
    thread='import threading; threading.Thread(target=int).start()'
    /usr/bin/python3 -c "$thread" --gtest_filter=A.Thread
    /usr/bin/python3 -c 'import os' --gtest_filter=B.None
    sh -c '/usr/bin/python3 -c "$1"' sh "$thread" --gtest_filter=C.Process/1
    /usr/bin/python3 -c "$thread"
    cat "$names"; rm "$names"
END
)");
  EXPECT_EQ(result.output, "A.Thread\nC.Process/1\n");
}

}  // namespace
}  // namespace base
