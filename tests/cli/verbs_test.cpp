// The verbs that need no compiler: list, params, tokenize, completion, validate.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <sstream>

#include "base/param_file.h"
#include "isa/instr.h"
#include "runtime/ops/ops.h"
#include "tests/cli/run_binary.h"
#include "tests/sanitized.h"
#include "trnsim/plans/accuracy.h"
#include "validation/report/report.h"
#include "workloads/jobs/workload.h"
#include "workloads/models/presets.h"

namespace {

using cli_test::Ran;
using cli_test::run;
using testing::HasSubstr;
using Json = nlohmann::json;

const std::string kTables = TRNSIM_SOURCE_DIR "/validation/tables/";

Json json_of(const std::string& arguments) {
  const Ran ran = run(arguments + " --format json");
  EXPECT_EQ(ran.code, 0) << ran.err;
  return Json::parse(ran.out);
}

TEST(List, EveryInstructionIsThereWithItsCostAndSource) {
  const Json list = json_of("list isa");
  ASSERT_EQ(list.size(), isa::kOpcodeCount);
  for (const Json& row : list) {
    EXPECT_NE(row["cost"], "") << row["name"];
    EXPECT_NE(row["source"], "") << row["name"];
  }
  EXPECT_EQ(list[0]["name"], "matmul");
}

TEST(List, MachinesAreFilesThatCanBeShown) {
  const Json list = json_of("list machines");
  EXPECT_GE(list.size(), 3u);
  for (const Json& row : list) {
    EXPECT_EQ(run("params " + row["name"].get<std::string>()).code, 0) << row["name"];
    EXPECT_GT(row["on_demand"], 0) << row["name"];
    if (row["name"] != "trn2.3xlarge") continue;
    EXPECT_EQ(row["cores"], 4);  // logical ones, of two physical cores each
    EXPECT_EQ(row["joined"], 2);
    EXPECT_EQ(row["core_memory_bytes"], std::int64_t{24} << 30);
  }
}

TEST(List, ParametersHaveValues) {
  for (const Json& row : json_of("list params")) EXPECT_NE(row["value"], "") << row["key"];
}

TEST(List, EveryOperatorIsThereWithItsTextAndForm) {
  const Json list = json_of("list ops");
  ASSERT_EQ(list.size(), runtime::all_ops().size());
  for (std::size_t i = 0; i < list.size(); ++i) {
    const runtime::Op& op = *runtime::all_ops()[i];
    EXPECT_EQ(list[i]["name"], op.name);
    EXPECT_EQ(list[i]["text"], op.text);
    EXPECT_EQ(list[i]["gradient"], op.backward ? "yes" : "no") << op.name;
    EXPECT_EQ(list[i]["form"], form_of(op)) << op.name;
  }
}

TEST(List, WorkloadsAreJobsThatCanBeCompiled) {
  const Json list = json_of("list workloads");
  ASSERT_EQ(list.size(), workloads::workload_names().size());
  for (const Json& row : list) {
    EXPECT_EQ(row["model"], workloads::load_workload(row["name"].get<std::string>()).model);
    EXPECT_NE(row["text"], "") << row["name"];
    EXPECT_TRUE(std::filesystem::exists(row["file"].get<std::string>())) << row["file"];
  }
}

TEST(List, EveryModelIsOneThatCanBeAskedFor) {
  const Json list = json_of("list models");
  ASSERT_EQ(list.size(), workloads::model_preset_names().size());
  for (const Json& row : list) {
    EXPECT_TRUE(workloads::is_model_preset(row["name"].get<std::string>())) << row["name"];
    EXPECT_NE(row["source"], "") << row["name"];
  }
}

TEST(List, WithoutAWordOrWithAnUnknownOneTheChoicesAreNamed) {
  for (const std::string arguments : {"list", "list foo"}) {
    const Ran ran = run(arguments);
    EXPECT_EQ(ran.code, 2);
    for (const std::string choice : {"isa", "ops", "workloads", "models", "machines", "params"})
      EXPECT_THAT(ran.err, HasSubstr(choice)) << arguments;
  }
}

TEST(Params, ANumberHasItsUnitAndSource) {
  const Json list = json_of("params trn1.2xlarge --prefix hbm");
  bool seen = false;
  for (const Json& row : list) {
    EXPECT_TRUE(row["key"].get<std::string>().starts_with("hbm.")) << row["key"];
    EXPECT_NE(row["source"], "") << row["key"];
    seen |= row["key"] == "hbm.bandwidth" && row["value"] == "820 GB/s";
  }
  EXPECT_TRUE(seen);
}

TEST(Params, TheDumpLoadsBackWithItsChanges) {
  const Ran ran = run("params trn1.2xlarge --set hbm.bandwidth=2x --toml");
  auto file = base::ParamFile::parse(ran.out, "dump.toml");
  EXPECT_DOUBLE_EQ(file.read("hbm.bandwidth", base::Dimension::kBandwidth).value, 1640e9);
}

TEST(Params, AnUnknownMachineOrPrefixIsRefused) {
  EXPECT_THAT(run("params trn1.2xlage").err, HasSubstr("fix: write \"trn1.2xlarge\""));
  EXPECT_EQ(run("params trn1.2xlarge --prefix hbn").code, 2);
  EXPECT_EQ(run("params /no/such/file.toml").code, 2);
}

class Tokenize : public testing::Test {
 protected:
  void SetUp() override {
    vocab_ = std::filesystem::temp_directory_path() / ("trnsim_vocab_" + std::to_string(getpid()) + ".txt");
    std::ofstream{vocab_} << "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\ni\nfeel\nhap\n##py\n!\n";
  }
  void TearDown() override { std::filesystem::remove(vocab_); }
  std::string with_vocab(const std::string& rest) { return "tokenize --vocab " + vocab_.string() + " " + rest; }
  std::filesystem::path vocab_;
};

TEST_F(Tokenize, ATextBecomesTokensAndIds) {
  EXPECT_EQ(run(with_vocab("'I feel HAPPY!'")).out, "[CLS] i feel hap ##py ! [SEP]\n2 5 6 7 8 9 3\n");
}

TEST_F(Tokenize, LinesOfStdinAreTexts) {
  const Ran ran = run(with_vocab("--format json --max_length 4"), "printf 'i feel happy\\nhappy\\n' |");
  const std::size_t end = ran.out.find('\n');
  EXPECT_EQ(Json::parse(ran.out.substr(0, end))["ids"], Json::array({2, 5, 6, 3}));
  EXPECT_EQ(Json::parse(ran.out.substr(end + 1))["ids"], Json::array({2, 7, 8, 3}));
}

TEST_F(Tokenize, BytesThatAreNoUtf8AreRefusedWithTheirLine) {
  const Ran ran = run(with_vocab(""), "printf 'i\\n\\377\\n' |");
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr("stdin:2"));
}

TEST_F(Tokenize, AMissingVocabularyIsRefused) { EXPECT_EQ(run("tokenize --vocab /no/vocab.txt x").code, 2); }

TEST(Completion, EveryShellGetsEveryVerbAndFlag) {
  for (const std::string shell : {"bash", "zsh", "fish"}) {
    const Ran ran = run("completion " + shell);
    EXPECT_EQ(ran.code, 0);
    for (const std::string word : {"validate", "learning_rate", "bf16+sr", "no-color"}) {
      EXPECT_THAT(ran.out, HasSubstr(word)) << shell;
    }
  }
  EXPECT_EQ(run("completion tcsh").code, 2);
}

TEST(Completion, BashCompletesFlagsAndTheirChoices) {
  const std::string script = "eval \"$(" TRNSIM_BINARY
                             " completion bash)\"; "
                             "COMP_WORDS=(trnsim run --numer); COMP_CWORD=2; _trnsim; echo ${COMPREPLY[*]}; "
                             "COMP_WORDS=(trnsim run --numerics bf); COMP_CWORD=3; _trnsim; echo ${COMPREPLY[*]}; "
                             "COMP_WORDS=(trnsim run llama2); COMP_CWORD=2; _trnsim; echo ${COMPREPLY[*]}; "
                             "COMP_WORDS=(trnsim ls trn1n); COMP_CWORD=2; _trnsim; echo ${COMPREPLY[*]}";
  std::FILE* pipe = popen(("bash -c '" + script + "'").c_str(), "r");
  char text[200] = {};
  const std::size_t size = std::fread(text, 1, sizeof text - 1, pipe);
  EXPECT_EQ(pclose(pipe), 0);
  EXPECT_EQ(std::string(text, size),
            "--numerics\nbf16 bf16+sr bf16+fp32-softmax bf16+fp32-softmax+sr bf16+fp32-optimizer "
            "bf16+fp32-optimizer+sr\nllama2_7b_dolly\ntrn1n.32xlarge\n");
}

TEST(Validate, HostRowsArePredicted) {
  const auto errors = [](const std::string& ids) {
    std::map<std::string, double> out;
    for (const Json& row : json_of("validate " + kTables + "micro.csv --only " + ids)) {
      EXPECT_TRUE(row["predicted"].is_number()) << row["id"] << row["skip_reason"];
      out[row["id"]] = std::abs(row["error_percent"].get<double>());
    }
    return out;
  };
  for (const auto& [id, error] : errors("launch_null,launch_replay,h2d")) EXPECT_LT(error, 2) << id;
  // One loop with the plain loader, with one of its own thread, and two of those.
  const auto loops = errors("mnist_mlp,mnist_mlp_prefetch,mnist_mlp_2core");
  EXPECT_EQ(loops.size(), 3u);
  for (const auto& [id, error] : loops) EXPECT_LT(error, 12) << id;
}

/// Mean errors by regime as docs/accuracy.md has them, from the first table of the page.
std::map<std::string, double> recorded_errors() {
  std::map<std::string, double> out;
  std::istringstream page{cli_test::slurp(std::filesystem::path{TRNSIM_SOURCE_DIR} / "docs/accuracy.md")};
  bool inside = false;
  for (std::string line; std::getline(page, line);) {
    std::vector<std::string> cells;
    std::istringstream text{line};
    for (std::string cell; std::getline(text, cell, '|');) cells.push_back(cell);
    if (inside && cells.size() < 5) break;
    if (inside && cells[4].find_first_of("0123456789") != std::string::npos)
      out[cells[1].substr(1, cells[1].size() - 2)] = std::stod(cells[4]);
    inside |= line.starts_with("| regime |");
  }
  return out;
}

TEST(Validate, ReadmesErrorsAreThoseOfThePage) {
  const std::string readme = cli_test::slurp(std::filesystem::path{TRNSIM_SOURCE_DIR} / "README.md");
  for (const auto& [regime, error] : recorded_errors()) {
    if (regime == "micro" || regime == "all") continue;  // sums of the others
    const auto at = readme.find("| " + regime + " | ");
    ASSERT_NE(at, std::string::npos) << regime << ": ./dev accuracy writes both";
    EXPECT_THAT(readme.substr(at, readme.find('\n', at) - at), HasSubstr(fmt::format(" {:.1f} % ", error)));
  }
}

TEST(Validate, TheRangeBesideAnAnswerIsTheErrorOfThePage) {
  const std::string page = cli_test::slurp(std::filesystem::path{TRNSIM_SOURCE_DIR} / "docs/accuracy.md");
  const std::string text = cli_test::slurp(std::filesystem::path{TRNSIM_SOURCE_DIR} / "trnsim/plans/accuracy.toml");
  for (const std::string regime : {"training, one chip", "training, one node", "generation, each token"}) {
    const auto at = page.find("| " + regime + " |", page.find("## Without each publisher"));
    ASSERT_NE(at, std::string::npos) << regime;
    std::vector<std::string> cells;
    std::istringstream line{page.substr(at, page.find('\n', at) - at)};
    for (std::string cell; std::getline(line, cell, '|');) cells.push_back(cell);
    std::string key = regime;
    std::erase(key, ',');
    std::ranges::replace(key, ' ', '_');
    EXPECT_THAT(text, testing::HasSubstr(key + ".error = { value = \"" + cells.at(5).substr(1, cells.at(5).size() - 2) +
                                         " %\""))
        << "./dev accuracy writes both";
  }
}

// One run of all rows serves both: that each has an answer, and that no regime is worse than the page says.
TEST(Validate, EveryRowIsPredictedOrSkippedWithAReasonAndNoRegimeIsWorseThanItsPage) {
  if (without_slow()) GTEST_SKIP() << kSlow;
  std::map<std::string, std::vector<double>> errors;
  for (const auto& table : std::filesystem::directory_iterator{kTables}) {
    if (table.path().extension() != ".csv") continue;
    for (const Json& row : json_of("validate " + table.path().string())) {
      EXPECT_EQ(row["predicted"].is_null(), row["skip_reason"].is_string()) << row["id"];
      EXPECT_TRUE(row["assumptions"].is_array());
      EXPECT_TRUE(row["published"].is_number());
      if (!row["predicted"].is_null())
        errors[validation::regime_name(row["kind"].get<std::string>())].push_back(
            std::abs(row["error_percent"].get<double>()));
    }
  }
  const auto recorded = recorded_errors();
  EXPECT_GE(recorded.size(), 8u) << "docs/accuracy.md: ./dev accuracy writes it anew";
  for (const auto& [regime, page] : recorded) {
    if (regime == "micro" || regime == "all") continue;           // sums of the others
    if (regime == "nki" || regime == "kernel on Trn2") continue;  // their sources are not ours to ship
    ASSERT_TRUE(errors.contains(regime)) << regime << " is predicted no more";
    const double mean =
        std::accumulate(errors[regime].begin(), errors[regime].end(), 0.0) / static_cast<double>(errors[regime].size());
    EXPECT_LT(mean, page + 1) << regime << ": the mean error grew by a point; ./dev accuracy shows where";
  }
}

TEST(Validate, SensitivityShowsTheCompositionOfARow) {
  const Json study = json_of("validate " + kTables + "micro.csv --only launch_null,hbm_read_1k --sensitivity");
  std::map<std::string, Json> rows;
  for (const Json& row : study["rows"]) rows[row["id"]] = row;
  // 0.11 ms is the launch alone; the read of HBM is not a launch, and slower with less bandwidth of the DMA engines.
  EXPECT_NEAR(rows["launch_null"]["share"]["launch"].get<double>(), 1, 1e-6);
  EXPECT_EQ(rows["launch_null"]["share"]["TensorE"], 0.0);
  EXPECT_GT(rows["hbm_read_1k"]["share"]["DMA and HBM"].get<double>(), 0.9);
  EXPECT_GT(rows["hbm_read_1k"]["change_percent"]["dma.rate"].get<double>(), 5);
  EXPECT_EQ(run("validate " + kTables + "micro.csv --only launch_null --sensitivity --format csv").code, 2);
}

TEST(Validate, AboveTheLimitTheExitCodeIsOneAndTheTableIsThere) {
  const std::string rows = "validate " + kTables + "micro.csv --only launch_replay --fail-above ";
  EXPECT_EQ(run(rows + "5%").code, 0);
  EXPECT_EQ(run(rows + "0.05").code, 0);
  EXPECT_THAT(run(rows + "5").err, HasSubstr("write 5%"));  // 500 % would let all pass
  const Ran ran = run(rows + "0.000001%");
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.out, HasSubstr("launch_replay"));
  EXPECT_THAT(ran.err, HasSubstr("mean absolute error"));
}

TEST(Validate, BadTablesAreRefused) {
  EXPECT_EQ(run("validate /no/table.csv").code, 2);
  EXPECT_EQ(run("validate " + kTables + "micro.csv --only silo").code, 2);
  EXPECT_EQ(run("validate " TRNSIM_SOURCE_DIR "/CMakeLists.txt").code, 2);
}

}  // namespace
