// The losses of 100 steps of the small BERT, to the bit: the same on every x86-64 host, in every number format.
#include <map>
#include <sstream>

#include "base/hash.h"
#include "isa/kernels/kernels.h"
#include "tests/cli/run_job.h"
#include "tests/sanitized.h"

namespace {

using cli_test::run;
using cli_test::slurp;

// A change of these is a change of figures: it needs a line in CHANGELOG.md.
const std::map<std::string, std::string> kHashes = {
    {"fp32", "97ff915f35fb951c"},    {"tf32", "6e6a0263b73fb82d"}, {"bf16", "fe786b96286db12c"},
    {"bf16+sr", "6dc0e7bc8e9e398c"}, {"fp16", "616262e0a0f7a00e"}, {"fp8_e4m3", "b8c482c395e9be8b"},
};

class RunBits : public cli_test::SmallJob {
 protected:
  /// Losses as printed, in the shortest form that reads back, a line each. `level`: of the host's instruction sets;
  /// empty: the best.
  std::string losses(const std::string& numerics, int steps, const std::string& level = "") const {
    const auto ran =
        run("run bert_emotion --mode numeric --max_length 8 --per_device_train_batch_size 2 --eval_strategy no "
            "--max_train_samples 400 --logging_steps 1 -q --overwrite_output_dir --max_steps " +
                std::to_string(steps) + " --numerics " + numerics + " --output_dir " + at("out"),
            level.empty() ? "" : "TRNSIM_HOST_ISA=" + level);
    EXPECT_EQ(ran.code, 0) << ran.err;
    std::istringstream lines{slurp(at("out/steps.jsonl"))};
    std::string out;
    for (std::string line; std::getline(lines, line);) {
      const std::size_t begin = line.find("\"loss\":");
      out += line.substr(begin, line.find(',', begin) - begin) + "\n";
    }
    return out;
  }
};

TEST_F(RunBits, AHundredLossesHaveOneHashInEachNumberFormat) {
  if (without_slow()) GTEST_SKIP() << kSlow;
  for (const auto& [numerics, hash] : kHashes)
    EXPECT_EQ(base::hash_text(base::hash64(losses(numerics, 100))), hash) << numerics;
}

// Texts that are padded, not packed, are trained at one length in the order of all.
TEST_F(RunBits, PaddedTextsOfADecoderHaveTheLossesOfEarlierVersions) {
  std::string lines;
  for (int i = 0; i < 40; ++i) {
    lines += "{\"text\": \"the cat " + std::to_string(i) + " sat on the mat ";
    for (int slept = 0; slept < i % 3; ++slept) lines += "and slept ";
    lines += ".\"}\n";
  }
  write("lines.jsonl", lines);
  const auto ran =
      run("run llama2_7b_dolly --model_id " TRNSIM_TEST_DIR "/cli/checkpoints/llama --vocab " TRNSIM_TEST_DIR
          "/workloads/data/tokenizers/tiny.model --packing false --max_length 24 --per_device_train_batch_size 2 "
          "--gradient_accumulation_steps 1 --nproc_per_node 2 --tensor_parallel_size 1 --zero_1 false --mode numeric "
          "--numerics bf16 --eval_strategy no --logging_steps 1 --max_steps 4 --learning_rate 1e-2 -q "
          "--dataset_path " +
          at("lines.jsonl") + " --output_dir " + at("out"));
  ASSERT_EQ(ran.code, 0) << ran.err;
  const std::string steps = slurp(at("out/steps.jsonl"));
  for (const char* loss : {"6.468801207840443", "6.416352391242981", "6.3447704538702965", "6.307145230472088"})
    EXPECT_THAT(steps, testing::HasSubstr(std::string{"\"loss\":"} + loss));
}

// The generic level takes seconds a step: tests/isa/kernels_matmul_test.cpp holds its kernels against the definition.
TEST_F(RunBits, EveryInstructionSetOfThisHostGivesTheSameLosses) {
  if (without_slow()) GTEST_SKIP() << kSlow;
  using isa::kernels::Level;
  for (const char* numerics : {"fp32", "bf16+sr", "fp8_e4m3"}) {
    const std::string best = losses(numerics, 4);
    for (const Level level : {Level::kAvx2, Level::kAvx512, Level::kAvx512Bf16, Level::kAmx}) {
      const std::string name{isa::kernels::name_of(level)};
      if (isa::kernels::host_supports(level)) {
        EXPECT_EQ(losses(numerics, 4, name), best) << name << " " << numerics;
      }
    }
  }
}

}  // namespace
