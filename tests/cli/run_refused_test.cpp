// Input that `trnsim run` refuses, before it writes anything: exit 2 for mistakes, 3 for jobs that do not fit.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <nlohmann/json.hpp>

#include "tests/cli/run_job.h"
#include "tests/cpu_time.h"
#include "tests/sanitized.h"

namespace {

using cli_test::Ran;
using cli_test::run;
using cli_test::slurp;
using testing::HasSubstr;

class Refused : public cli_test::SmallJob {
 protected:
  /// Rows behind the header "text,label", good ones first so that only the last one can be wrong.
  void data(const std::string& last) const { write("data.csv", "text,label\ni feel sad,0\ni feel fine,1\n" + last); }
  Ran without(const std::string& flag, const std::string& instead) const {
    std::string line = flags() + " --dataset_path " + at("data.csv") + " --max_length 32 --max_steps 3 --mode numeric";
    const std::size_t place = line.find(flag);
    EXPECT_NE(place, std::string::npos) << flag;
    return run(line.replace(place, flag.size(), instead) + " --output_dir " + at("out"));
  }
};

TEST_F(Refused, AModelWithoutWeights) {
  std::filesystem::remove(folder_ / "bert/model.safetensors");
  expect_refused(train("out"), "holds neither model.safetensors nor");
}
TEST_F(Refused, AModelThatIsCutOff) {
  const auto file = folder_ / "bert/model.safetensors";
  std::filesystem::resize_file(file, std::filesystem::file_size(file) - 100);
  expect_refused(train("out"), "truncated");
}
TEST_F(Refused, AHeaderLongerThanItsFile) {
  std::string bytes = slurp(folder_ / "bert/model.safetensors");
  write("bert/model.safetensors", bytes.replace(0, 8, std::string{"\xff\xff\xff\xff\0\0\0\0", 8}));
  expect_refused(train("out"), "the header says it is 4294967295 bytes long");
}
TEST_F(Refused, ATensorOfAnotherShape) {
  edit("bert/config.json", "\"vocab_size\": 201", "\"vocab_size\": 200");
  expect_refused(train("out"), "has shape [201, 128], but config.json asks for [200, 128]");
}
TEST_F(Refused, ATensorThatNoModelHas) {
  edit("bert/model.safetensors", "bert.pooler.dense.bias", "bert.pooler.dense.bbas");
  expect_refused(train("out"), "fix: write \"bert.pooler.dense.bias\"");
}
TEST_F(Refused, AnUnknownActivation) {
  edit("bert/config.json", "\"gelu\"", "\"swoosh\"");
  expect_refused(train("out"), "unknown activation \"swoosh\"");
}
TEST_F(Refused, AConfigThatIsNoJson) {
  edit("bert/config.json", "\"hidden_size\": 128,", "\"hidden_size\": ,");
  expect_refused(train("out"), "config.json");
}

TEST_F(Refused, APipeInPlaceOfAFile) {
  for (const char* name : {"data.csv", "vocab.txt", "bert/model.safetensors", "bert/config.json"}) {
    std::filesystem::rename(folder_ / name, folder_ / "kept");
    ASSERT_EQ(mkfifo(at(name).c_str(), 0600), 0);
    expect_refused(train("out"), name == std::string{"bert/model.safetensors"} ? "not a regular file" : "is a pipe");
    std::filesystem::rename(folder_ / "kept", folder_ / name);
  }
}

TEST_F(Refused, AnEmptyDataSet) {
  write("data.csv", "text,label\n");
  expect_refused(train("out"), "holds no usable row");
}
TEST_F(Refused, AMissingDataSet) {
  std::filesystem::remove(folder_ / "data.csv");
  expect_refused(train("out"), "data.csv");
}
TEST_F(Refused, AColumnThatIsNotThere) { expect_refused(train("out", "--text_column tweet"), "tweet"); }
TEST_F(Refused, ALabelBeyondTheModelsHead) {
  data("i feel,2\ni feel,3\ni feel,4\ni feel,5\ni feel,6\n");
  expect_refused(train("out"), "label LABEL_6 is out of range");
}
TEST_F(Refused, StrictlyARowWithTooManyFields) {
  data("i, feel,1\n");
  expect_refused(train("out", "--strict"), "data.csv:4: has 3 fields instead of 2");
  const Ran ran = train("out");
  EXPECT_EQ(ran.code, 0);
  EXPECT_THAT(ran.err, HasSubstr("skipped 1 of 3 rows"));
}
TEST_F(Refused, StrictlyBytesThatAreNoUtf8) {
  data("i \xff feel,1\n");
  expect_refused(train("out", "--strict"), "data.csv:4: byte 2 of the text is not valid UTF-8");
}

TEST_F(Refused, MoreTokensThanPositions) {
  expect_refused(without("--max_length 32", "--max_length 129"), "use --max_length 128 or less");
}
TEST_F(Refused, ABatchOfNothing) {
  expect_refused(without("--per_device_train_batch_size 4", "--per_device_train_batch_size 0"), "0 is out of range");
}
TEST_F(Refused, MoreCoresThanThereAre) {
  expect_refused(without("--nproc_per_node 1", "--nproc_per_node 3"), "3 cores, but trn1.2xlarge has 2");
}
TEST_F(Refused, AnUnknownKeyFlagPassOrWorkload) {
  expect_refused(train("out", "--set hbm.bandwith=2x"), "fix: write \"hbm.bandwidth\"");
  expect_refused(train("out", "--strictly"), "unknown flag '--strictly'");
  expect_refused(train("out", "--passes=-fusoin"), "fusion");
  expect_refused(run("run bert_emotoin --output_dir " + at("out")), "fix: write \"bert_emotion\"");
}

TEST_F(Refused, AFolderThatIsInUse) {
  expect_refused(train("bert"), "exists and is not empty");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator{folder_ / "bert"}, {}), 2);
}
TEST_F(Refused, AFolderThatCannotBeWritten) {
  expect_refused(train("data.csv/sub"), "data.csv/sub");
  expect_refused(train("data.csv"), "data.csv");  // a file where a folder should be
}

TEST_F(Refused, AJobLargerThanMemoryExitsWithThreeAndTheTable) {
  const Ran ran = run("run bert_emotion --mode timed --set hbm.bytes=\"4 GiB\" --output_dir " + at("out"));
  EXPECT_EQ(ran.code, 3);
  EXPECT_EQ(ran.out, "");
  for (const std::string word : {"of HBM but has 2 GiB", "activations", "gradients", "optimizer", "weights",
                                 "fix: this fits: --recompute full --zero_1 true: "})
    EXPECT_THAT(ran.err, HasSubstr(word));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "out"));
}

// Not the memory that such a length would take.
TEST_F(Refused, MoreTokensThanTheModelHasPositionsFor) {
  for (const char* job : {"bert_emotion --max_length 4096", "llama2_7b_dolly --max_length 100000"}) {
    const Ran ran = run(std::string{"run --mode timed "} + job + " --output_dir " + at("out"));
    EXPECT_EQ(ran.code, 2);
    EXPECT_THAT(ran.err, HasSubstr("usage error: --max_length: a sequence of ")) << ran.err;
    EXPECT_THAT(ran.err, HasSubstr(job[0] == 'b' ? "fix: use --max_length 512 or less" : "fix: use --max_length 4096"));
  }
}

TEST_F(Refused, AColumnOfNoData) {
  for (const char* flags : {"--text_column text", "--label_column label", "--validation_file x.csv"}) {
    const Ran ran = run(std::string{"run bert_emotion --mode timed "} + flags + " --output_dir " + at("out"));
    EXPECT_EQ(ran.code, 2) << flags;
    EXPECT_THAT(ran.err, HasSubstr("has no effect without --dataset_path"));
  }
}

TEST_F(Refused, ALengthOfPictures) {
  const Ran ran = run("run vit_mnist --mode timed --max_length 64 --output_dir " + at("out"));
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr("--max_length: the images of ViT have 16 patches each"));
}

TEST_F(Refused, AModelOfPicturesOnTexts) {
  const std::string vit = std::string{TRNSIM_TEST_DIR} + "/golden/vit_tiny", out = " --mode timed --output_dir ";
  const Ran pictures = run("run bert_emotion --model_id " + vit + out + at("out"));
  EXPECT_EQ(pictures.code, 2);
  EXPECT_THAT(pictures.err, HasSubstr("--model_id: is a model of pictures, but the samples of bert_emotion are texts"));
  const Ran sounds = run("run t5_small_summarize --model_id " + std::string{TRNSIM_TEST_DIR} + "/golden/whisper_tiny" +
                         out + at("out"));
  EXPECT_THAT(sounds.err, HasSubstr("fix: no workload has sounds: use trnsim estimate with the model"));
  const Ran texts = run("run vit_mnist --model_id " + at("bert") + out + at("out"));
  EXPECT_EQ(texts.code, 2);
  EXPECT_THAT(texts.err, HasSubstr("is a model of texts, but the samples of vit_mnist are pictures"));
}

/// A model is not a workload; the answer says how it becomes a part of one.
TEST_F(Refused, AModelInPlaceOfAWorkload) {
  for (const std::string verb : {"run ", "compile ", "ablate ", "check "}) {
    const Ran folder = run(verb + at("bert"));
    EXPECT_EQ(folder.code, 2) << verb;
    EXPECT_THAT(folder.err, HasSubstr("use trnsim estimate " + at("bert") + ", or a workload with --model")) << verb;
    const Ran name = run(verb + "llama3.2-1b");
    EXPECT_EQ(name.code, 2) << verb;
    EXPECT_THAT(name.err, HasSubstr("llama3.2-1b is a model: use trnsim estimate llama3.2-1b, or a workload")) << verb;
  }
}

// Not worth compiling: each layer's kept tensors exceed the memory.
TEST_F(Refused, AProgramThatReturnsNothing) {
  write("nothing.mlir",
        "func.func @main() {\n  %x = stablehlo.constant dense<[1, 2]> : tensor<2xi32>\n"
        "  %y = stablehlo.add %x, %x : tensor<2xi32>\n  func.return\n}\n");
  expect_refused(run("run " + at("nothing.mlir") + " --output_dir " + at("out")), "has nothing to do");
}
TEST_F(Refused, AHugeBatchAtOnce) {
  if (without_slow()) GTEST_SKIP() << kSlow;
  const tests::CpuTime took;
  const Ran ran = run("run bert_emotion --mode timed --per_device_train_batch_size 4096 --output_dir " + at("out"));
  EXPECT_EQ(ran.code, 3);
  EXPECT_THAT(ran.err, HasSubstr("a core needs at least"));
  EXPECT_THAT(ran.err, HasSubstr("fix: this fits: --"));
  EXPECT_LT(took.seconds(), kSanitized ? 300 : 30);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "out"));
}

}  // namespace
