// Checkpoints that earlier versions wrote: a run goes on from them to the bits that it would have had. Stochastic
// rounding draws other numbers than those versions did, from the same state.
#include <sstream>
#include <vector>

#include "tests/cli/run_job.h"

namespace {

using cli_test::run;
using cli_test::slurp;

class OldCheckpoints : public cli_test::SmallJob {
 protected:
  /// Goes on from tests/cli/checkpoints/NAME (NOTE.md there) with the settings of that run; the losses as printed
  /// in steps.jsonl, which has numbers in the shortest form that reads back.
  std::vector<std::string> losses(const std::string& name, const std::string& settings, const std::string& numerics) {
    const std::string folder = TRNSIM_TEST_DIR "/cli/checkpoints/" + name;
    const auto ran = run("run " + settings + " --model_id " + folder +
                         " --mode numeric --per_device_train_batch_size 2 --eval_strategy no --logging_steps 1 "
                         "--max_steps 8 --learning_rate 1e-2 -q --numerics " +
                         numerics + " --resume_from_checkpoint " + folder +
                         (numerics == "bf16" ? "/nearest" : "/checkpoint") + " --output_dir " + at("out"));
    EXPECT_EQ(ran.code, 0) << ran.err;
    std::istringstream lines{slurp(at("out/steps.jsonl"))};
    std::vector<std::string> out;
    for (std::string line; std::getline(lines, line);) {
      const std::size_t begin = line.find("\"loss\":") + 7;
      out.push_back(line.substr(begin, line.find(',', begin) - begin));
    }
    return out;
  }

  std::vector<std::string> classifier(const std::string& numerics) {
    return losses("bert",
                  "bert_emotion --max_length 8 --nproc_per_node 2 --dataset_path " TRNSIM_TEST_DIR
                  "/cli/checkpoints/bert/data.csv",
                  numerics);
  }
  std::vector<std::string> decoder(const std::string& numerics) {
    return losses("llama",
                  "llama2_7b_dolly --nproc_per_node 4 --tensor_parallel_size 2 --zero_1 true --max_length 16 "
                  "--gradient_accumulation_steps 1 --dataset_path " TRNSIM_TEST_DIR
                  "/cli/checkpoints/llama/text.txt --vocab " TRNSIM_TEST_DIR "/workloads/data/tokenizers/tiny.model",
                  numerics);
  }
};

TEST_F(OldCheckpoints, TheOneFileOfAClassifierGoesOnToTheSameBits) {
  EXPECT_THAT(classifier("bf16"), testing::ElementsAre("0.6953437477350235", "0.7882759869098663", "0.7067072987556458",
                                                       "0.7508254200220108"));
}

TEST_F(OldCheckpoints, ShardsOfADecoderGoOnToTheSameBits) {
  EXPECT_THAT(decoder("bf16"),
              testing::ElementsAre("6.341919668018818", "6.237588174641132", "6.200687266886234", "6.229842320084572"));
}

// As 8a9f359 went through them, with its numbers: 0.6949, 0.7821, 0.7125, 0.7482.
TEST_F(OldCheckpoints, AClassifierGoesOnWithStochasticRounding) {
  EXPECT_THAT(classifier("bf16+sr"), testing::ElementsAre("0.7157845199108124", "0.81114062666893", "0.605645939707756",
                                                          "0.7820644527673721"));
}

// As 8a9f359: 6.3392, 6.2340, 6.1986, 6.2287.
TEST_F(OldCheckpoints, ADecoderGoesOnWithStochasticRounding) {
  EXPECT_THAT(decoder("bf16+sr"), testing::ElementsAre("6.338846251368523", "6.234359912574291", "6.197973266243935",
                                                       "6.2284136191010475"));
}

}  // namespace
