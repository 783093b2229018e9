// Rows of published measurements in process: which are predicted, and why the others are not.
#include "validation/predict/validate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "tests/fails.h"
#include "tests/validation/converted.h"
#include "trnsim/project/estimate.h"
#include "validation/predict/projections.h"

namespace validation {
namespace {

using base::Fault;
using testing::HasSubstr;
using tests::fails;

const std::filesystem::path kTables = std::filesystem::path{TRNSIM_SOURCE_DIR} / "validation/tables";

std::vector<Row> rows_of(const char* header, const std::string& cells) {
  return parse_validation(tests::converted(header + cells + "\n"), "t.csv");
}

struct MisfitRow {
  const char* header;
  const char* name;
  std::string cells;
  const char* reason;  // that it is skipped for
};

std::string micro(const char* what, const char* unit = "us", const char* instance = "trn1.2xlarge", int cores = 1) {
  return fmt::format("id,{},bf16,{},{},58,{},here,", what, cores, instance, unit);
}

/// A row of training: BERT-base in everything that is not given.
struct TrainingCells {
  const char* kind = "train";
  const char* model = "bert-base";
  const char* hidden = "768";
  const char* length = "512";
  const char* instance = "trn1.2xlarge";
  const char* plan = "2,2,1";
  const char* optimizer = "adamw";
  const char* metric = "samples/s";
};
std::string training(const TrainingCells& cells) {
  return fmt::format(
      "id,{},{},12,{},12,12,3072,30522,{},{},1,{},1,no,no,none,16,1,bf16,bf16,{},torch-xla,{},9,9,9,1,here,",
      cells.kind, cells.model, cells.hidden, cells.length, cells.instance, cells.plan, cells.optimizer, cells.metric);
}

const char* const kMicro = tests::kMicroHeader;
const char* const kTraining = tests::kTrainingHeader;
const MisfitRow kMisfits[] = {
    {kMicro, "Kind", micro("levitate,anything,-"), "rows of kind 'levitate' are not modelled"},
    {kMicro, "Unit", micro("launch,an empty graph,-", "furlongs"), "metric 'furlongs' is unknown"},
    {kMicro, "Cores", "id,launch,an empty graph,-,-,none,trn1.2xlarge,1,ms,here,", "cores: 'none' is not an integer"},
    {kMicro, "Machine", micro("collective,all-reduce,1024 B", "us", "trn9", 2), "unknown machine 'trn9'"},
    {kMicro, "Ranks", micro("collective,all-reduce,1024 B", "us", "trn1.2xlarge", 3), "trn1.2xlarge has 2"},
    {kMicro, "Bytes", micro("collective,all-reduce,lots", "us", "trn1.2xlarge", 2), "shape 'lots' is not a multiple"},
    {kMicro, "Collective", micro("collective,all-shuffle,1024 B", "us", "trn1.2xlarge", 2), "'all-shuffle' is not a"},
    {kMicro, "Matmul", micro("gemm,NKI GEMM,8192"), "shape '8192' is neither 1x2x3 nor M1 K2 N3"},
    {kMicro, "Step", micro("kernel,frobnicate,4096x512"), "'frobnicate' is not a known step"},
    {kMicro, "Attention", micro("kernel,attention,heads 8"), "heads H, tokens S and the size of a head D"},
    {kMicro, "Instruction", micro("instruction,teleport,128x512", "cycles"), "nor a stream of"},
    {kMicro, "Memory", micro("memory,HBM read,-", "GB/s"), "its shape is not a number of bytes"},
    {kTraining, "TrainingKind", training({.kind = "finetune"}), "rows of kind 'finetune' are not modelled"},
    {kTraining, "Model", training({.model = "t5-small"}), "model 't5-small' is not modelled"},
    {kTraining, "Sizes", training({.model = "bert-huge", .hidden = ""}), "a size of the model is not published"},
    {kTraining, "Length", training({.length = "long"}), "seq_len: 'long' is not an integer"},
    {kTraining, "Instance", training({.instance = "p3.2xlarge"}), "p3.2xlarge has GPUs"},
    {kTraining, "Plan", training({.plan = "2,2,2"}), "dp and tp do not make its cores"},
    {kTraining, "Heads", training({.instance = "trn1.32xlarge", .plan = "8,1,8"}), "does not divide the 12 attention"},
    {kTraining, "Optimizer", training({.optimizer = "adafactor"}), "optimizer 'adafactor' is not modelled"},
    {kTraining, "Metric", training({.metric = "loss"}), "metric 'loss' is unknown"},
    {kTraining, "Generation", training({.kind = "generate"}), "model 'bert-base' generates nothing"},
};

class ValidateMisfit : public testing::TestWithParam<MisfitRow> {};

TEST_P(ValidateMisfit, IsSkippedWithItsReason) {
  if (!tests::has_python()) GTEST_SKIP() << tests::kNoPython;
  const auto rows = rows_of(GetParam().header, GetParam().cells);
  ASSERT_EQ(rows.size(), 1u);
  const Validation validation = validate(rows, predict_context(trnsim::Settings{}));
  ASSERT_EQ(validation.report.rows.size(), 1u);
  EXPECT_FALSE(validation.report.rows[0].predicted);
  EXPECT_THAT(validation.report.rows[0].skip_reason, HasSubstr(GetParam().reason));
  EXPECT_FALSE(validation.broken);
}
INSTANTIATE_TEST_SUITE_P(Rows, ValidateMisfit, testing::ValuesIn(kMisfits),
                         [](const auto& info) { return std::string{info.param.name}; });

// Two cores share the sequences of one, and wait for each other in every layer.
TEST(Validate, ARowOfAnEncoderMayBeTensorParallel) {
  if (!tests::has_python()) GTEST_SKIP() << tests::kNoPython;
  const auto rate = [](const char* plan) {
    const auto rows = rows_of(kTraining, training({.plan = plan}));
    const Validation validation = validate(rows, predict_context(trnsim::Settings{}));
    return validation.report.rows.at(0).predicted.value_or(0);
  };
  const double shared = rate("2,1,2"), alone = rate("2,2,1");
  EXPECT_GT(shared, 0);
  EXPECT_LT(shared, alone);
}

TEST(Validate, ATableThatCannotBeReadIsRefusedAsAWhole) {
  const auto read = [](const std::string& cells) {
    return [cells] { parse_validation(kMicro + cells + "\n", "t.csv"); };
  };
  EXPECT_TRUE(
      fails(Fault::kData, read("a,launch,launch,-,-,8,trn1.32xlarge,-1,ms,here,"), {":2", "not a positive number"}));
  EXPECT_TRUE(fails(Fault::kData, read("a,launch,launch,-,-,8"), {":2", "has 6 cells but the header has 11"}));
}

TEST(Validate, RowsAreChosenByIdAndEachIsAnnounced) {
  const std::vector<std::filesystem::path> files{kTables / "micro.csv"};
  const std::vector<std::string> only{"launch_replay", "launch_null"};
  const auto rows = load_rows(files, only);
  std::vector<std::string> announced;
  const Validation validation =
      validate(rows, predict_context(trnsim::Settings{}), [&](std::size_t done, const std::string& id) {
        EXPECT_EQ(done, announced.size());
        announced.push_back(id);
      });
  EXPECT_EQ(announced, only);
  for (const Comparison& row : validation.report.rows) EXPECT_TRUE(row.predicted) << row.id;
  EXPECT_GT(load_rows(files).size(), 20u);
  const std::vector<std::string> misspelt{"launch_nul"};
  EXPECT_TRUE(fails(Fault::kUsage, [&] { load_rows(files, misspelt); }, {"`only`", "launch_null"}));
}

// A slower launch is a slower prediction: the context's machine and changes reach the row.
TEST(Validate, TheSettingsReachThePredictions) {
  const std::vector<std::filesystem::path> files{kTables / "micro.csv"};
  const auto rows = load_rows(files, std::vector<std::string>{"ar2_1024"});
  trnsim::Settings slow;
  slow.machine.set = {"collective.floor=10x"};
  const auto time = [&](const trnsim::Settings& s) {
    return validate(rows, predict_context(s)).report.rows.at(0).predicted;
  };
  const auto as_is = time({}), slowed = time(slow);
  ASSERT_TRUE(as_is && slowed);
  EXPECT_GT(*slowed, 1.5 * *as_is);
}

/// A small encoder's inference: a row with these values in the columns head and at_once.
double rate_of(const std::string& head, const std::string& at_once, const std::string& vocabulary = "20000") {
  const std::string row = fmt::format(
      "bert,{},{},id,infer,ours,2,128,2,2,256,{},128,inf2.xlarge,1,2,2,1,1,no,no,none,4,1,fp32,fp32,adamw,torch-xla,"
      "inferences/s,9,9,9,1,-,\n",
      head, at_once, vocabulary);
  const auto rows = parse_validation("like,head,at_once," + std::string{tests::kTrainingHeader} + row, "t.csv");
  const Validation validation = validate(rows, predict_context(trnsim::Settings{}));
  return validation.report.rows.at(0).predicted.value_or(0);
}

// Four texts of 128 tokens with fp32 figures for 20,000 words are 41 MB: 11 ms at 3.68 GB/s, far more than the rest.
TEST(Validate, TheHostReadsWhatAnEncoderReturns) {
  const double classified = rate_of("", ""), masked = rate_of("masked", ""), larger = rate_of("masked", "", "40000");
  ASSERT_GT(classified, 0);
  EXPECT_LT(masked, 2 * 4 / 11.0e-3);
  EXPECT_GT(masked, 0.5 * 2 * 4 / 11.0e-3);
  EXPECT_LT(larger, 0.6 * masked);
}

TEST(Validate, AsManyCoresWorkAsBatchesAreThere) {
  const double all = rate_of("", "");
  EXPECT_DOUBLE_EQ(rate_of("", "2"), all);
  EXPECT_DOUBLE_EQ(rate_of("", "1"), all / 2);
  EXPECT_GT(rate_of("", "4"), all);  // launches beside the device's work
}

TEST(Validate, TokensBehindADraftAreSkipped) {
  const auto asked = [](const std::string& metric) {
    const std::string row = fmt::format(
        "llama,ours-1b,id,generate,ours,2,256,4,4,512,1000,256,trn1.2xlarge,1,2,1,2,1,no,no,none,1,1,bf16,,,"
        "transformers-neuronx,{},9,9,9,1,-,\n",
        metric);
    const auto rows = parse_validation("like,draft," + std::string{tests::kTrainingHeader} + row, "t.csv");
    return validate(rows, predict_context(trnsim::Settings{})).report.rows.at(0);
  };
  EXPECT_TRUE(asked("ms TTFT").predicted);
  EXPECT_THAT(asked("ms TPOT").skip_reason, HasSubstr("drafted by ours-1b"));
}

TEST(Validate, AGenerationHasTheStackOfItsRelease) {
  const auto stack = [](const std::string& release) {
    const std::string row = "llama," + release +
                            ",id,generate,ours,2,256,4,4,512,1000,256,trn1.2xlarge,1,2,1,2,1,no,no,none,1,1,bf16,,,"
                            "transformers-neuronx,ms TTFT,9,9,9,1,-,\n";
    const auto rows = parse_validation("like,release," + std::string{tests::kTrainingHeader} + row, "t.csv");
    return validate(rows, predict_context(trnsim::Settings{})).report.rows.at(0).assumptions;
  };
  EXPECT_THAT(stack(""), testing::Contains("stack transformers-neuronx"));
  EXPECT_THAT(stack("transformers-neuronx-2.18.0"), testing::Contains("stack transformers-neuronx-2.18.0"));
}

// Rows of one job, and what-ifs on its host, share what the device does; both are as if each was projected anew.
TEST(Validate, KnownProjectionsAreThoseOfEachRowAlone) {
  const std::string cells =
      "llama,{0},generate,ours,2,256,4,4,512,1000,256,trn1.2xlarge,1,2,1,2,1,no,no,none,1,1,bf16,,,"
      "transformers-neuronx,{1},9,9,9,1,-,\n";
  const std::string table = "like," + std::string{tests::kTrainingHeader} +
                            fmt::format(fmt::runtime(cells), "a", "ms TTFT") +
                            fmt::format(fmt::runtime(cells), "b", "ms TPOT");
  const auto rows = parse_validation(table, "t.csv");
  PredictContext shared = predict_context(trnsim::Settings{}), alone = shared;
  alone.projections = nullptr;
  for (const bool slower : {false, true}) {
    if (slower) shared.stack_changes = alone.stack_changes = {{"bare", "launch.per_launch", "10x"}};
    for (const Row& row : rows) EXPECT_DOUBLE_EQ(*predict(row, shared).value, *predict(row, alone).value) << row.id;
  }
}

// Programs of all rows of a table took a gigabyte, whose page tables each process that simulates copied.
TEST(Validate, KnownProjectionsHoldRecordsWithoutPrograms) {
  const trnsim::Settings settings = trnsim::estimate_settings(trnsim::Settings{});
  const auto model = trnsim::load_model_config(TRNSIM_TEST_DIR "/golden/gpt_tiny");
  const trnsim::Job job = trnsim::job_of(settings, model, 0);
  const trnsim::Projection known = projected(job, predict_context(settings), false);
  ASSERT_EQ(known.stages.size(), 1u);
  EXPECT_EQ(known.stage().program, nullptr);
  EXPECT_EQ(known.stage().device().total, trnsim::project(job).stage().device().total);
}

}  // namespace
}  // namespace validation
