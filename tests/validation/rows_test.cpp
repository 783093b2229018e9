#include "validation/rows/rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "tests/validation/converted.h"

namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using validation::Known;
using validation::MicroRow;
using validation::Row;
using validation::TrainingRow;

constexpr std::string_view kMicroHeader = "id,kind,what,shape,dtype,cores,instance,value,unit,source,notes\n";

std::vector<Row> load(const std::string& name) {
  return validation::load_validation(std::string{TRNSIM_SOURCE_DIR} + "/validation/tables/" + name);
}

const Row& row(const std::vector<Row>& rows, std::string_view id) { return *std::ranges::find(rows, id, &Row::id); }

std::string parse_error(const std::string& text) {
  try {
    validation::parse_validation(text, "t.csv");
  } catch (const base::Error& error) {
    EXPECT_EQ(error.fault(), base::Fault::kData);
    return error.what();
  }
  return "";
}

TEST(Validation, TheTrainingTableHasItsJobs) {
  const auto rows = load("training.csv");
  ASSERT_EQ(rows.size(), 22u);
  const Row& emotion = row(rows, "emotion_512");
  EXPECT_EQ(emotion.kind, "train");
  EXPECT_EQ(emotion.metric, "samples/s");
  EXPECT_DOUBLE_EQ(emotion.published, 96.337);
  const auto& job = std::get<TrainingRow>(emotion.job);
  EXPECT_EQ(job.model, "bert-base");
  EXPECT_EQ(job.seq_len, 512);
  EXPECT_EQ(job.cores, 2);
  EXPECT_EQ(job.micro_batch, 16);
  EXPECT_EQ(job.zero1, Known::kNo);
  EXPECT_EQ(job.stack, "HF Trainer on torch-xla");
}

TEST(Validation, UnpublishedValuesAreAbsentNotZero) {
  const auto rows = load("training.csv");
  const auto& gpt = std::get<TrainingRow>(row(rows, "gpt3_6.7b_1n").job);
  EXPECT_EQ(gpt.zero1, Known::kUnknown);
  EXPECT_EQ(gpt.recompute, "unknown");
  const auto& infer = std::get<TrainingRow>(row(rows, "infer_bert_base_b1").job);
  EXPECT_EQ(infer.grad_accum, std::nullopt);
}

TEST(Validation, RangesAreRead) {
  const auto rows = load("training.csv");
  const Row& large = row(rows, "bertL_ph1_1n_adamw");
  EXPECT_DOUBLE_EQ(large.low, 3311.59);
  EXPECT_DOUBLE_EQ(large.high, 4379.6);
  EXPECT_EQ(std::get<TrainingRow>(large.job).releases, 17);
}

TEST(Validation, TheMicroTableHasNoRange) {
  const auto rows = load("micro.csv");
  ASSERT_EQ(rows.size(), 30u);
  const Row& gemm = row(rows, "gemm_8192");
  EXPECT_DOUBLE_EQ(gemm.low, 78.6);
  EXPECT_DOUBLE_EQ(gemm.high, 78.6);
  EXPECT_EQ(gemm.metric, "TFLOPS");
  EXPECT_EQ(std::get<MicroRow>(gemm.job).dtype, "bf16");
  for (const Row& r : rows) EXPECT_EQ(r.defect, "") << r.id;
}

TEST(Validation, ColumnsMayStandInAnyOrder) {
  const auto rows = validation::parse_validation(
      "unit,value,id,kind,what,shape,dtype,cores,instance,source,notes\nms,2,x,gemm,m,1x2,bf16,1,trn1,me,\n", "t.csv");
  EXPECT_EQ(rows.at(0).metric, "ms");
  EXPECT_DOUBLE_EQ(rows.at(0).published, 2);
}

TEST(Validation, AMisspeltColumnGetsASuggestion) {
  const std::string text = parse_error("id,kind,what,shape,dtyp,cores,instance,value,unit,source,notes\n");
  EXPECT_THAT(text, HasSubstr("unknown column 'dtyp'"));
  EXPECT_THAT(text, HasSubstr("dtype"));
}

TEST(Validation, AMissingColumnIsNamed) {
  EXPECT_THAT(parse_error("id,kind,what,shape,dtype,cores,value,unit,source,notes\n"),
              HasSubstr("column 'instance' is missing"));
}

TEST(Validation, ABadCellOfAJobMakesTheRowDefective) {
  const auto rows =
      validation::parse_validation(std::string{kMicroHeader} + "x,gemm,m,1x2,bf16,two,trn1,2,ms,me,\n", "t.csv");
  EXPECT_EQ(rows.at(0).defect, "line 2: cores: 'two' is not an integer");
}

TEST(Validation, AColumnThatATableMayHaveIsEmptyWhereItIsMissing) {
  const std::string row = "x,gemm,m,1x2,bf16,1,trn1,2,ms,me,";
  const auto without = validation::parse_validation(std::string{kMicroHeader} + row + "\n", "t.csv");
  const auto with = validation::parse_validation("kernel," + std::string{kMicroHeader} + "," + row + "\n", "t.csv");
  EXPECT_EQ(without, with);
  const auto told = validation::parse_validation("kernel," + std::string{kMicroHeader} + "NKI," + row + "\n", "t.csv");
  EXPECT_EQ(std::get<MicroRow>(told.at(0).job).kernel.name, "nki");
}

TEST(Validation, AnUnknownWordMakesTheRowDefective) {
  const auto defect = [](const std::string& column, const std::string& cell) {
    const std::string text = column + "," + tests::kTrainingHeader + cell +
                             ",x,train,bert-base,,,,,,,128,trn1,,,,,,,,,1,1,bf16,,,,ms,1,1,1,1,me,\n";
    return validation::parse_validation(text, "t.csv").at(0).defect;
  };
  EXPECT_EQ(defect("timing", "steps"), "");
  EXPECT_THAT(defect("timing", "fast"), HasSubstr("timing: 'fast' is not one of steps, trial"));
  EXPECT_THAT(defect("head", "two"), HasSubstr("head: 'two' is not one of classifier, tokens, pretraining"));
  EXPECT_EQ(defect("lora", "rank=16 layers=q|v"), "");
  EXPECT_THAT(defect("lora", "rang=16"), HasSubstr("lora: 'rang' is not one of rank alpha"));
  EXPECT_THAT(defect("lora", "16"), HasSubstr("lora: '16' is not KEY=VALUE"));
  EXPECT_THAT(defect("samples", "many"), HasSubstr("samples: 'many' is not an integer"));
}

TEST(Words, ANameAndItsSettingsAreTakenApart) {
  const validation::Words words = validation::parse_words("Vector-Add tile=128x200 causal n=8");
  EXPECT_EQ(words.name, "vector-add");
  EXPECT_EQ(words.text("tile"), "128x200");
  EXPECT_EQ(words.number("n"), 8);
  EXPECT_EQ(words.number("tile"), std::nullopt);
  EXPECT_TRUE(words.has("causal"));
  EXPECT_EQ(words.unknown("tile n"), "causal");
  EXPECT_EQ(words.unknown("tile n causal"), "");
  EXPECT_EQ(validation::parse_words("rank=16").name, "");
  EXPECT_EQ(validation::parse_words("").name, "");
}

TEST(Validation, AValueThatIsNoPositiveNumberIsAnError) {
  for (const std::string value : {"fast", "0", "-1", "nan", ""}) {
    EXPECT_THAT(parse_error(std::string{kMicroHeader} + "x,gemm,m,1x2,bf16,1,trn1," + value + ",ms,me,\n"),
                HasSubstr("t.csv:2: value"))
        << value;
  }
}

TEST(Validation, AnIdGivenTwiceIsAnError) {
  const std::string line = "x,gemm,m,1x2,bf16,1,trn1,2,ms,me,\n";
  EXPECT_THAT(parse_error(std::string{kMicroHeader} + line + line), HasSubstr("t.csv:3: id 'x'"));
}

TEST(Shape, SizesNamesBytesAndWordsAreTakenApart) {
  EXPECT_THAT(validation::parse_shape("8192x8192x8192").sizes, ElementsAre(8192, 8192, 8192));
  EXPECT_EQ(validation::parse_shape("8 GiB").bytes, 8589934592.0);
  EXPECT_EQ(validation::parse_shape("1024 B").bytes, 1024.0);
  const auto gemm = validation::parse_shape("M4096 K2048 N10944");
  EXPECT_EQ(gemm.named.at("M"), 4096);
  EXPECT_EQ(gemm.named.at("N"), 10944);
  const auto mlp = validation::parse_shape("784-120-84-10 batch 32");
  EXPECT_THAT(mlp.sizes, ElementsAre(784, 120, 84, 10));
  EXPECT_EQ(mlp.named.at("batch"), 32);
  EXPECT_THAT(mlp.words, testing::IsEmpty());
}

TEST(Shape, MixedWordsStayWords) {
  const auto blocks = validation::parse_shape("h4096 heads32 seq2048 b1 GELU MLP");
  EXPECT_EQ(blocks.named.at("heads"), 32);
  EXPECT_THAT(blocks.words, ElementsAre("GELU", "MLP"));
  EXPECT_EQ(validation::parse_shape("hidden 2048").named.at("hidden"), 2048);
  EXPECT_THAT(validation::parse_shape("1 element").sizes, ElementsAre(1));
  EXPECT_THAT(validation::parse_shape("-").words, testing::IsEmpty());
}

}  // namespace
