// Checkpoints that earlier versions wrote: a run goes on from them to the bits that it would have had.
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
  std::vector<std::string> losses(const std::string& name, const std::string& workload, const std::string& data,
                                  const std::string& more) const {
    const std::string folder = TRNSIM_TEST_DIR "/cli/checkpoints/" + name;
    const auto ran = run("run " + workload + " --model_id " + folder + " --dataset_path " + folder + "/" + data +
                         " --mode numeric --per_device_train_batch_size 2 --numerics bf16+sr --eval_strategy no "
                         "--logging_steps 1 --max_steps 8 --learning_rate 1e-2 -q " +
                         more + " --resume_from_checkpoint " + folder + "/checkpoint --output_dir " + at("out"));
    EXPECT_EQ(ran.code, 0) << ran.err;
    std::istringstream lines{slurp(at("out/steps.jsonl"))};
    std::vector<std::string> out;
    for (std::string line; std::getline(lines, line);) {
      const std::size_t begin = line.find("\"loss\":") + 7;
      out.push_back(line.substr(begin, line.find(',', begin) - begin));
    }
    return out;
  }
};

TEST_F(OldCheckpoints, TheOneFileOfAClassifierGoesOn) {
  EXPECT_THAT(
      losses("bert", "bert_emotion", "data.csv", "--max_length 8 --nproc_per_node 2"),
      testing::ElementsAre("0.6946959495544434", "0.7818915694952011", "0.7127730995416641", "0.747284397482872"));
}

TEST_F(OldCheckpoints, ShardsOfADecoderGoOn) {
  const std::string plan = "--nproc_per_node 4 --tensor_parallel_size 2 --zero_1 true --gradient_accumulation_steps 1";
  EXPECT_THAT(losses("llama", "llama2_7b_dolly", "text.txt",
                     plan + " --max_length 16 --vocab " TRNSIM_TEST_DIR "/workloads/data/tokenizers/tiny.model"),
              testing::ElementsAre("6.339048370718956", "6.23416418582201", "6.198609076440334", "6.2285142838954926"));
}

}  // namespace
