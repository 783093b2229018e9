// `trnsim nki`: scripts with NKI kernels give right numbers in a bounded time; a mistake is one error with its line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "tests/cli/run_binary.h"

namespace cli_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

/// Skips where the binary was built without its Python module.
class Nki : public testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(fs::path{TRNSIM_BINARY}.parent_path() / "python/trnsim/nki/__main__.py"))
      GTEST_SKIP() << "built without the Python module";
  }
  /// Runs a kernel k(x) with x [128, 512] of ones; `body` is indented by four.
  static Ran kernel(const std::string& body, const std::string& flags = "") {
    const fs::path script = fs::temp_directory_path() / ("nki_test_" + std::to_string(getpid()) + ".py");
    std::ofstream{script} << "import numpy as np\nimport neuronxcc.nki as nki\nimport neuronxcc.nki.isa as nisa\n"
                             "import neuronxcc.nki.language as nl\n@nki.jit\ndef k(x):\n"
                          << body << "print(k(np.ones((128, 512), np.float32)).sum())\n";
    Ran ran = run("nki " + flags + " " + script.string());
    fs::remove(script);
    return ran;
  }
  /// A script of tests/nki ends well, and says `words` of its checks.
  static void passes(const std::string& script, const std::string& words, const std::string& flags = "") {
    const Ran ran = run("nki " + flags + " " TRNSIM_SOURCE_DIR "/tests/nki/" + script + ".py");
    EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
    EXPECT_THAT(ran.out, HasSubstr(words));
  }
  static constexpr const char* kOut = "    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)\n";
};

TEST_F(Nki, ExamplesComputeTheirReferencesInBoundedTime) {
  const Ran ran = run("nki " TRNSIM_SOURCE_DIR "/tests/nki/examples.py " TRNSIM_SOURCE_DIR "/examples/nki");
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("12 kernels"));
}

TEST_F(Nki, LanguageAndInstructionsEqualNumpy) {
  const Ran ran = run("nki " TRNSIM_SOURCE_DIR "/tests/nki/language.py");
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
}

TEST_F(Nki, TheNewerDialectEqualsNumpy) { passes("newer", " checks"); }

// Kernels as libraries write them: classes, allocators, programs that meet, loops that the run bounds.
TEST_F(Nki, LibrariesOfBothDialectsEqualNumpy) {
  for (const char* script : {"library", "library_older", "meetings"}) passes(script, " checks");
}

TEST_F(Nki, TheKernelSaysWhoMakesDescriptorsAndWhetherItsOrderIsKept) {
  passes("copies", "5 checks", "--instance_type trn2.3xlarge --no_numbers");
  passes("copies_older", "4 checks", "--instance_type trn2.3xlarge --no_numbers");
}

// Rows, single elements, whole numbers of 32 bits, the generator of GpSimdE, arrays of ml_dtypes; masks of every kind.
TEST_F(Nki, EdgesOfTheLanguageEqualNumpy) {
  for (const auto& [script, checks] : {std::pair{"edges", "95 checks"},
                                       {"masks", "34 checks"},
                                       {"strange_calls", "77 checks"},
                                       {"dynamic_places", "70 checks"},
                                       {"registers", "32 checks"}})
    passes(script, checks);
}

// PyTorch around kernels runs on the host, whatever device the script names.
TEST_F(Nki, AScriptOfTorchXlaRunsItsKernels) {
  const fs::path script = fs::temp_directory_path() / ("nki_xla_" + std::to_string(getpid()) + ".py");
  std::ofstream{script} << R"(import torch
import torch_xla
from torch_xla.core import xla_model as xm
from neuronxcc import nki
import neuronxcc.nki.language as nl

@nki.jit
def doubled(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, nl.load(x) * 2)
    return out

x = torch.ones((128, 4), dtype=torch.bfloat16).to(device=xm.xla_device())
y = doubled(x)
xm.mark_step()
torch_xla.sync()
print(float(y.cpu().sum()))
device = torch.device("neuron", 0)
torch.neuron.synchronize()
z = [doubled(torch.ones(4, 9, device="neuron")), torch.nn.Linear(9, 4).to("xla:0").weight.to(device)]
print(float(z[0].to(device, torch.float64).sum()), z[1].device, isinstance(device, torch.device))
compiled = torch.compile(doubled, backend="neuron")
with torch.autocast("neuron", dtype=torch.bfloat16):
    print(float(compiled(torch.ones(2, 3)).sum()), (torch.ones(2, 2) @ torch.ones(2, 2)).dtype)
xm.optimizer_step(None)
)";
  const Ran ran = run("nki " + script.string());
  fs::remove(script);
  if (ran.err.find("No module named 'torch'") != std::string::npos) GTEST_SKIP() << ran.err;
  EXPECT_EQ(ran.code, 2) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("1024.0\n72.0 cpu True\n12.0 torch.bfloat16"));
  EXPECT_THAT(ran.err, HasSubstr("xla_model.optimizer_step: PyTorch runs on the host here"));
  EXPECT_THAT(ran.err, HasSubstr("no verb runs both a kernel and operators on the device"));
}

// More than thirty kinds of mistakes: one error or one warning each, with its line.
TEST_F(Nki, MistakesAreOneErrorOrOneWarningWithTheirLine) {
  const Ran ran = run("nki " TRNSIM_SOURCE_DIR "/tests/nki/bad.py");
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("kernels with mistakes, 0 wrong"));
}

// Fifty kernels of the generator, in both dialects, under three choices of passes each; `./dev nightly` draws 2,000.
TEST_F(Nki, DrawnKernelsEqualNumpyWhateverThePasses) {
  const Ran ran = run("nki " TRNSIM_SOURCE_DIR "/tests/nki/drawn.py 50");
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("50 kernels drawn"));
}

// The tests are not ours: where TRNSIM_NKI_SOURCES names them, each ends as tests/nki/acceptance.txt says. The kernels
// of the list that take minutes run with tests/nki/acceptance.py alone.
TEST_F(Nki, TestsOfOthersEndAsTheListSays) {
  const Ran ran = run("nki " TRNSIM_SOURCE_DIR "/tests/nki/acceptance.py sdk-2.26 samples references fused");
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  if (ran.out.starts_with("skipped")) GTEST_SKIP() << ran.out;
}

TEST_F(Nki, TuningNamesTheBestOfTheLegalSettings) {
  const Ran ran = run("nki tune " TRNSIM_SOURCE_DIR
                      "/examples/nki_search/matmul_tuned.py --param TILES_IN_BLOCK_M=1,4,3 --no_numbers --no_cache "
                      "--processes 1 --format json");
  ASSERT_EQ(ran.code, 0) << ran.err;
  std::istringstream lines{ran.out};
  std::string first, second, third;
  std::getline(lines, first), std::getline(lines, second), std::getline(lines, third);
  const auto best = nlohmann::json::parse(first), refused = nlohmann::json::parse(third);
  EXPECT_EQ(best["parameters"]["TILES_IN_BLOCK_M"], 4);
  EXPECT_LT(best["seconds"], nlohmann::json::parse(second)["seconds"]);
  EXPECT_THAT(refused["error"].get<std::string>(), HasSubstr("the blocks do not divide the result"));
  EXPECT_THAT(refused["where"].get<std::string>(), HasSubstr("matmul_tuned.py:16"));
}

TEST_F(Nki, ARankingComparesResultsWithTheFirstOnes) {
  const fs::path folder = fs::temp_directory_path() / ("nki_rank_" + std::to_string(getpid()));
  fs::create_directories(folder);
  for (const auto& [name, factor] : {std::pair{"a", "2.0"}, std::pair{"b", "2.0"}, std::pair{"c", "3.0"}})
    std::ofstream{folder / (std::string{name} + ".py")}
        << "import numpy as np\nimport neuronxcc.nki as nki\nimport neuronxcc.nki.language as nl\n@nki.jit\ndef k(x):\n"
        << kOut << "    nl.store(out, nl.load(x) * " << factor << ")\n    return out\n"
        << "def inputs():\n    return [np.ones((128, 8), np.float32)]\n";
  const Ran ran = run("nki --rank " + folder.string() + " --format json --no_cache --processes 1");
  fs::remove_all(folder);
  EXPECT_EQ(ran.code, 1) << ran.err;  // one is wrong
  std::istringstream lines{ran.out};
  for (std::string line; std::getline(lines, line);) {
    const auto row = nlohmann::json::parse(line);
    const bool wrong = row["candidate"].get<std::string>().ends_with("c.py");
    if (row["correct"].is_null()) continue;  // the first one, with which the others are compared
    EXPECT_EQ(row["correct"].get<bool>(), !wrong) << line;
  }
}

TEST_F(Nki, ARankingRefusesCandidatesThatEndThemselves) {
  const fs::path folder = fs::temp_directory_path() / ("nki_ends_" + std::to_string(getpid()));
  fs::create_directories(folder);
  std::ofstream{folder / "a.py"}
      << "import numpy as np\nimport neuronxcc.nki as nki\nimport neuronxcc.nki.language as nl\n@nki.jit\ndef k(x):\n"
      << kOut << "    print('words')\n    nl.store(out, nl.load(x))\n    return out\n"
      << "def inputs():\n    return [np.ones((128, 8), np.float32)]\n";
  std::ofstream{folder / "0.py"} << "import os\nos._exit(0)\n";  // the first one, with which others would be compared
  std::ofstream{folder / "b.py"} << "import sys\nsys.exit(3)\n";
  std::ofstream{folder / "c.py"} << "import os\nos._exit(4)\n";
  const Ran ran = run("nki --rank " + folder.string() + " --format json --no_cache --processes 2");
  const Ran missing = run("nki --rank " + (folder / "a.py").string() + " " + (folder / "z.py").string());
  fs::remove_all(folder);
  EXPECT_EQ(ran.code, 0) << ran.err;
  std::istringstream lines{ran.out};
  int refused = 0;
  for (std::string line; std::getline(lines, line);) refused += nlohmann::json::parse(line).contains("error");
  EXPECT_EQ(refused, 3) << ran.out;
  EXPECT_EQ(missing.code, 2) << missing.out;
  EXPECT_THAT(missing.err, HasSubstr("z.py: there is no such script"));
}

TEST_F(Nki, EveryInstructionEqualsItsDocumentation) {
  const Ran ran = run("nki " TRNSIM_SOURCE_DIR "/tests/nki/instructions.py");
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr(" checks"));
}

// The published kernels are not ours: where TRNSIM_NKI_SOURCES names them, their times, shares and bytes are held to
// bounds. Their numbers take minutes: tests/nki/published.py without --no_numbers.
TEST_F(Nki, PublishedKernelsTakeTheMeasuredTime) {
  const Ran ran = run("nki " TRNSIM_SOURCE_DIR "/tests/nki/published.py --no_numbers");
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  if (ran.out.starts_with("skipped")) GTEST_SKIP() << ran.out;
}

TEST_F(Nki, AnIndexOutOfBoundsIsOneErrorWithItsLine) {
  const Ran ran = kernel("    t = nl.load(x[:, 256:640])\n    return x\n");
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr(".py:7: indices 256 to 639 of axis 1 are out of bounds: x has 512 there"));
  EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 2);
}

TEST_F(Nki, OverfullSbufAndPsumAreRefusedWithTheLine) {
  Ran ran = kernel("    t = nl.zeros((128, 60000), nl.float32)\n    return x\n");
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr(".py:7: 240000 bytes per partition exceed SBUF"));
  ran = kernel("    t = nl.zeros((128, 8192), nl.float32, buffer=nl.psum)\n    return x\n");
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr("exceed PSUM"));
}

TEST_F(Nki, MismatchedOperandsAreRefusedWithTheLine) {
  const Ran ran = kernel(
      "    a = nl.load(x)\n    b = nl.zeros((128, 30000), nl.float32)\n    c = nl.zeros((128, 30000), nl.float32)\n"
      "    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)\n    d = nl.add(b, c)\n"
      "    nl.store(out, d[:, 0:512])\n    return out\n");
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, testing::MatchesRegex("error: [^ ]*\\.py:11: 120000 more bytes per partition do not fit in "
                                             "SBUF\n  fix: [^\n]*\n"));
}

TEST_F(Nki, AnIndexThatOnlyTheRunKnowsIsCheckedThere) {
  const Ran ran = kernel(std::string{kOut} +
                         "    i = nisa.iota(nl.arange(128)[:, None] * 5, dtype=nl.int32)\n"
                         "    t = nl.load(x[i[nl.arange(128)[:, None], 0], nl.arange(512)[None, :]])\n"
                         "    nl.store(out, t)\n    return out\n");
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr(".py:9: index 130 of partition 26 is not one of the 128 rows"));
}

TEST_F(Nki, AFunctionThatIsNotThereIsOneErrorWithItsLine) {
  const Ran ran = kernel("    return nisa.quantum_leap(x)\n");
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr(".py:7: nisa.quantum_leap is not supported"));
}

TEST_F(Nki, AnUnknownKeywordIsOneErrorWithItsLine) {
  for (const std::string call :
       {"nisa.tensor_copy(dst=t, src=t)", "nisa.tensor_scalar(t, np.subtract, 1.0, revers0=True)",
        "nisa.activation(np.exp, t, bais=t)", "nl.add(t, t, dtpe=nl.bfloat16)"}) {
    const Ran ran = kernel("    t = nl.load(x)\n    " + call + "\n    return x\n");
    EXPECT_EQ(ran.code, 2) << call;
    EXPECT_THAT(ran.err, testing::ContainsRegex("\\.py:8: TypeError: .* got an unexpected keyword argument '.*'"))
        << call;
  }
}

TEST_F(Nki, ATileOfAnotherKernelIsOneErrorWithItsLine) {
  const Ran ran = kernel(
      "    global kept\n    kept = nl.load(x)\n    return x\nk(np.ones((128, 512), np.float32))\n@nki.jit\ndef "
      "k(x):\n" +
      std::string{kOut} + "    nl.store(out, kept)\n    return out\n");
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr(".py:14: the tensor belongs to another kernel"));
}

TEST_F(Nki, AScriptWithoutKernelsSaysSo) {
  const fs::path script = fs::temp_directory_path() / ("nki_none_" + std::to_string(getpid()) + ".py");
  const auto ran = [&](const char* text) {
    std::ofstream{script} << text;
    return run("nki " + script.string());
  };
  const Ran none = ran("print('hello')\n"),
            defined = ran("from neuronxcc import nki\n@nki.jit\ndef k(x):\n    return x\n");
  fs::remove(script);
  EXPECT_EQ(none.code, 2);
  EXPECT_EQ(none.out, "hello\n");
  EXPECT_THAT(none.err, HasSubstr("calls no kernel: no function that nki.jit decorates"));
  EXPECT_EQ(defined.code, 2);
  EXPECT_THAT(defined.err, HasSubstr("calls no kernel, but defines k"));
}

TEST_F(Nki, MixedPartitionsAreRefusedWithTheLine) {
  const Ran ran =
      kernel("    t = nl.load(x)\n    i = nl.arange(64)[:, None]\n    u = nl.exp(t[2 * i, i])\n    return x\n");
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr(".py:9: "));
  EXPECT_THAT(ran.err, HasSubstr("partitions"));
}

TEST_F(Nki, DividingByATilesValueIsRefusedWithTheLine) {
  const Ran ran = kernel("    t = nl.load(x)\n    n = 512 // t[0, 0]\n    return x\n");
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr(".py:8: the values of a tile are known only at run time"));
}

TEST_F(Nki, AKernelThatNeverEndsIsStopped) {
  setenv("TRNSIM_NKI_SECONDS", "0.3", 1);
  const Ran ran = kernel("    while True:\n        pass\n");
  unsetenv("TRNSIM_NKI_SECONDS");
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr("it may never end"));
}

TEST_F(Nki, APythonMistakeIsOneErrorWithItsLine) {
  const Ran ran = kernel("    return y\n");
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr(".py:7: NameError: name 'y' is not defined"));
}

TEST_F(Nki, TimeIsPrintedByEngineAndLine) {
  const Ran ran = kernel(std::string{kOut} + "    nl.store(out, nl.exp(nl.load(x)))\n    return out\n",
                         "--time --format json --no_numbers");
  ASSERT_EQ(ran.code, 0) << ran.err;
  const auto times = nlohmann::json::parse(ran.out);  // the script's own words go to stderr
  double critical = 0;
  for (const auto& line : times[0]["lines"]) critical += line["critical"].get<double>();
  EXPECT_NEAR(critical, times[0]["seconds"].get<double>(), 1e-9);
  EXPECT_EQ(times[0]["hbm_read_bytes"], 128 * 512 * 4);
  EXPECT_EQ(times[0]["hbm_write_bytes"], 128 * 512 * 4);
  // ScalarE: 512 elements of a partition, one per cycle of 1.4 GHz.
  EXPECT_NEAR(times[0]["engines"]["scalar"]["busy"].get<double>(), (123 + 512) / 1.4e9, 2e-9);
  EXPECT_THAT(times[0]["lines"][0]["line"].get<std::string>(), HasSubstr(".py:8"));
}

TEST_F(Nki, WithoutNumbersTheCallersArraysStay) {
  const fs::path script = fs::temp_directory_path() / ("nki_stay_" + std::to_string(getpid()) + ".py");
  std::ofstream{script} << "import numpy as np\nimport nki\nimport nki.language as nl\n@nki.jit\ndef k(x):\n"
                        << kOut << "    nl.store(out, nl.load(x))\n    return out\nx = np.ones((128, 8), np.float32)\n"
                        << "k(x)\nprint(x.sum())\n";
  const Ran ran = run("nki --no_numbers " + script.string());
  fs::remove(script);
  EXPECT_EQ(ran.out, "1024.0\n") << ran.err;
}

/// Calls a kernel that `decorator` decorates.
Ran profiled(const std::string& decorator) {
  const fs::path script = fs::temp_directory_path() / ("nki_profile_" + std::to_string(getpid()) + ".py");
  std::ofstream{script} << "import numpy as np\nimport neuronxcc.nki as nki\nimport neuronxcc.nki.language as nl\n"
                        << decorator
                        << "\ndef square(x):\n    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)\n"
                        << "    nl.store(out, nl.square(nl.load(x)))\n    return out\n"
                        << "print(square(np.full((128, 8), 3, np.float32)).max())\n";
  Ran ran = run("nki " + script.string());
  fs::remove(script);
  return ran;
}

TEST_F(Nki, AProfileIsWrittenToItsWorkingDirectory) {
  const fs::path folder = fs::temp_directory_path() / ("nki_profile_" + std::to_string(getpid())) / "new";
  const Ran ran = profiled("@nki.profile(working_directory='" + folder.string() +
                           "', save_neff_name='file.neff', save_trace_name='profile.ntff')");
  EXPECT_EQ(ran.out, "9.0\n") << ran.err;
  const auto figures = nlohmann::json::parse(std::ifstream{folder / "square.json"});
  EXPECT_EQ(figures["kernel"], "square");
  EXPECT_THAT(figures["lines"][0]["line"].get<std::string>(), HasSubstr(".py:7"));
  const auto trace = nlohmann::json::parse(std::ifstream{folder / "square.trace.json"});
  EXPECT_GE(trace["traceEvents"].size(), 3u);
  fs::remove_all(folder.parent_path());
}

TEST_F(Nki, AProfileInTheHardwaresFormatsIsRefused) {
  const Ran ran = profiled("@nki.profile(working_directory='/tmp/x', save_trace_name='mine.ntff')");
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr(".py:4: nki.profile writes no mine.ntff"));
}

TEST_F(Nki, AReportHasEnginesAndLines) {
  const fs::path page = fs::temp_directory_path() / ("nki_" + std::to_string(getpid()) + ".html");
  const Ran ran = kernel(std::string{kOut} + "    nl.store(out, nl.exp(nl.load(x)))\n    return out\n",
                         "--no_numbers --report " + page.string());
  ASSERT_EQ(ran.code, 0) << ran.err;
  std::ifstream file{page};
  const std::string html{std::istreambuf_iterator<char>{file}, {}};
  fs::remove(page);
  EXPECT_THAT(html, HasSubstr("nl.store(out, nl.exp(nl.load(x)))"));
  EXPECT_THAT(html, HasSubstr("busy share of each engine"));
  EXPECT_THAT(html, testing::Not(HasSubstr("http://")));
}

TEST_F(Nki, CompareRanksTheMatmulLadder) {
  const std::string folder = TRNSIM_SOURCE_DIR "/examples/nki/matmul_";
  const Ran ran = run("nki --compare " + folder + "1_tiles.py " + folder + "4_psum.py --format json");
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(nlohmann::json::parse(ran.out)[0]["script"].get<std::string>(), HasSubstr("4_psum"));
}

TEST_F(Nki, ListNamesPresentAndMissingFunctions) {
  const Ran ran = run("nki --list");
  EXPECT_EQ(ran.code, 0);
  EXPECT_THAT(ran.out, HasSubstr("nisa.nc_matmul"));
  EXPECT_THAT(ran.out, HasSubstr("no: NeuronCore-v4 has it"));
  EXPECT_THAT(ran.out, HasSubstr("import neuronxcc.nki"));
}

}  // namespace
}  // namespace cli_test
