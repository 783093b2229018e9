// The answers of the verbs, figure by figure, as they were last agreed on (tests/integration/frozen). A change of one
// is either a mistake or has a line in CHANGELOG.md; TRNSIM_UPDATE_FROZEN=1 writes the files anew.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "base/files.h"
#include "tests/cli/run_binary.h"
#include "tests/sanitized.h"

namespace cli_test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// The JSON output of `trnsim ARGUMENTS`; for a run, its result.json.
struct Frozen {
  std::string name;
  std::string arguments;

  friend void PrintTo(const Frozen& frozen, std::ostream* out) { *out << frozen.name; }
};

/// Members that differ between hosts or versions, or name a folder.
const std::vector<std::string> kOfTheHost = {"/host", "/command", "/trnsim", "/workload/options/output_dir",
                                             "/machine/hash"};

json answer(const Frozen& frozen) {
  std::string pattern = (fs::temp_directory_path() / "trnsim_frozen_XXXXXX").string();
  const fs::path folder = mkdtemp(pattern.data());
  const bool is_run = frozen.arguments.starts_with("run ");
  const Ran ran = run(frozen.arguments + (is_run ? " --output_dir " + (folder / "run").string() : " --format json"));
  EXPECT_EQ(ran.code, 0) << ran.err;
  json out = json::parse(is_run ? slurp(folder / "run" / "result.json") : ran.out);
  fs::remove_all(folder);
  for (const std::string& path : kOfTheHost) {
    const json::json_pointer pointer{path};
    if (out.is_object() && out.contains(pointer)) out[pointer.parent_pointer()].erase(pointer.back());
  }
  return out;
}

/// Sums are made in one order on every host; a mathematical function may differ in its last bit.
bool same(const json& got, const json& want) {
  if (!got.is_number() || !want.is_number()) return got == want;
  const auto a = got.get<double>(), b = want.get<double>();
  return a == b || std::abs(a - b) <= 1e-12 * std::max(std::abs(a), std::abs(b));
}

std::vector<std::string> differences(const json& got, const json& want) {
  const json a = got.flatten(), b = want.flatten();
  std::vector<std::string> out;
  for (const auto& [path, value] : a.items())
    if (!b.contains(path))
      out.push_back(fmt::format("{} is new: {}", path, value.dump()));
    else if (!same(value, b.at(path)))
      out.push_back(fmt::format("{}: {}, was {}", path, value.dump(), b.at(path).dump()));
  for (const auto& [path, value] : b.items())
    if (!a.contains(path)) out.push_back(fmt::format("{} is gone, was {}", path, value.dump()));
  return out;
}

class FrozenAnswer : public testing::TestWithParam<Frozen> {};

TEST_P(FrozenAnswer, IsTheSame) {
  const bool slow = GetParam().name == "validate_training" || GetParam().name == "ablate_bert_emotion";
  if (slow && without_slow()) GTEST_SKIP() << kSlow;
  const fs::path file = fs::path{TRNSIM_TEST_DIR} / "integration/frozen" / (GetParam().name + ".json");
  const json got = answer(GetParam());
  if (std::getenv("TRNSIM_UPDATE_FROZEN")) return base::write_file(file, got.dump(1) + "\n");
  const std::vector<std::string> changed = differences(got, json::parse(base::read_file(file)));
  std::string text;
  for (std::size_t i = 0; i < std::min<std::size_t>(changed.size(), 20); ++i) text += "\n  " + changed[i];
  EXPECT_TRUE(changed.empty()) << changed.size() << " figures of `trnsim " << GetParam().arguments
                               << "` differ:" << text;
}

const std::string kTables = TRNSIM_SOURCE_DIR "/validation/tables/";

INSTANTIATE_TEST_SUITE_P(
    Frozen, FrozenAnswer,
    testing::Values(Frozen{"run_bert_emotion", "run bert_emotion --mode timed"},
                    Frozen{"run_bert_imdb", "run bert_imdb --mode timed"},
                    Frozen{"run_bert_tweets", "run bert_tweets --mode timed"},
                    Frozen{"run_bert_training_compiler", "run bert_training_compiler --mode timed"},
                    Frozen{"run_llama2_7b_dolly", "run llama2_7b_dolly --mode timed"},
                    Frozen{"run_llama2_7b_pipeline",
                           "run llama2_7b_dolly --mode timed --tensor_parallel_size 8 --pipeline_parallel_size 2"},
                    Frozen{"validate_training", "validate " + kTables + "training.csv"},
                    Frozen{"validate_micro", "validate " + kTables + "micro.csv"},
                    Frozen{"estimate_pipeline",
                           "estimate llama2-13b --nnodes 4 --tensor_parallel_size 8 --pipeline_parallel_size 4 "
                           "--zero_1 --recompute full --gradient_accumulation_steps 8"},
                    Frozen{"estimate_chunks",
                           "estimate llama2-13b --nnodes 4 --tensor_parallel_size 8 --pipeline_parallel_size 4 "
                           "--virtual_pipeline_size 2 --gradient_accumulation_steps 16"},
                    Frozen{"plan_llama_small",
                           "plan llama-small --nproc_per_node 8 --global_batch_size 64 --max_length 256 "
                           "--limit 100"},
                    Frozen{"plan_gpt2",
                           "plan gpt2 --nproc_per_node 8 --global_batch_size 64 --max_length 512 --limit 100"},
                    Frozen{"generate_llama2_7b", "generate llama2-7b --tensor_parallel_size 8 --max_new_tokens 64"},
                    Frozen{"ablate_bert_emotion", "ablate bert_emotion --per_device_train_batch_size 4"},
                    Frozen{"cost", "cost --runtime 8:30 --instance_type trn1.2xlarge --epochs 3"}),
    [](const testing::TestParamInfo<Frozen>& info) { return info.param.name; });

}  // namespace
}  // namespace cli_test
