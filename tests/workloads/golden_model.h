// Requirements for every model with a golden trajectory: follow PyTorch under a plan, and write the folder that it
// read.
#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "tests/target.h"
#include "tests/workloads/support.h"
#include "workloads/checkpoints/json_file.h"
#include "workloads/checkpoints/safetensors.h"
#include "workloads/models/model.h"
#include "workloads/models/presets.h"
#include "workloads/models/weights.h"
#include "workloads/training/verify.h"

namespace workloads_test {

/// Decoders that train under every plan, and write texts of any length.
inline constexpr const char* kWritingDecoders[] = {"qwen2_tiny",
                                                   "qwen3_tiny",
                                                   "gemma_tiny",
                                                   "granite_tiny",
                                                   "llama_linear_tiny",
                                                   "qwen3_moe_tiny",
                                                   "qwen3_moe_step_tiny",
                                                   "llama_llama3_tiny",
                                                   "gpt_neox_tiny",
                                                   "gpt_neox_serial_tiny",
                                                   "opt_tiny",
                                                   "phi_tiny",
                                                   "smollm3_tiny",
                                                   "opt_350m_tiny",
                                                   "biogpt_tiny",
                                                   "stablelm_tiny",
                                                   "gpt_bigcode_tiny",
                                                   "falcon_tiny",
                                                   "falcon_40b_tiny",
                                                   "cohere_tiny",
                                                   "glm_tiny",
                                                   "glm4_tiny",
                                                   "helium_tiny",
                                                   "ernie4_5_tiny",
                                                   "nemotron_tiny",
                                                   "arcee_tiny",
                                                   "seed_oss_tiny",
                                                   "olmo_tiny",
                                                   "granitemoe_tiny",
                                                   "qwen2_moe_tiny",
                                                   "llama_bias_tiny",
                                                   "stablelm_parallel_tiny",
                                                   "gptj_tiny",
                                                   "codegen_tiny",
                                                   "bloom_tiny",
                                                   "mpt_tiny",
                                                   "dbrx_tiny",
                                                   "llama4_text_tiny",
                                                   "qwen2_yarn_tiny",
                                                   "phi_norms_tiny",
                                                   "cohere_norms_tiny",
                                                   "olmo_clip_tiny",
                                                   "stablelm_norms_tiny",
                                                   "deepseek_v2_tiny",
                                                   "deepseek_v3_tiny",
                                                   "deepseek_v2_groups_tiny",
                                                   "granitemoeshared_tiny",
                                                   "glm4_moe_tiny",
                                                   "dots1_tiny",
                                                   "falcon_rw_tiny",
                                                   "falcon_11b_tiny",
                                                   "deepseek_tiny",
                                                   "persimmon_tiny",
                                                   "internlm_tiny",
                                                   "internlm2_tiny",
                                                   "internlm3_tiny",
                                                   "baichuan_tiny",
                                                   "baichuan_slopes_tiny",
                                                   "exaone_tiny",
                                                   "qwen_tiny",
                                                   "chatglm_tiny",
                                                   "minicpm_tiny",
                                                   "minicpm3_tiny",
                                                   "orion_tiny",
                                                   "ernie4_5_moe_tiny",
                                                   "kimi_k2_tiny",
                                                   "ministral3_tiny",
                                                   "granitemoehybrid_tiny",
                                                   "granitemoehybrid_nope_tiny",
                                                   "hunyuan_v1_dense_tiny",
                                                   "minimax_m2_tiny",
                                                   "openai_gpt_tiny",
                                                   "apertus_tiny",
                                                   "bailing_moe_tiny",
                                                   "bailing_moe_v2_tiny"};

/// The same with a sliding window, with PyTorch's text.
inline constexpr const char* kWindowed[] = {
    "mistral_tiny",      "phi3_tiny",        "gemma2_tiny",  "gemma3_tiny",  "starcoder2_tiny",
    "gpt_neo_tiny",      "cohere2_tiny",     "exaone4_tiny", "gpt_oss_tiny", "modernbert-decoder_tiny",
    "qwen2_window_tiny", "qwen3_window_tiny"};

inline std::vector<const char*> decoders() {
  std::vector<const char*> all{std::begin(kWritingDecoders), std::end(kWritingDecoders)};
  all.insert(all.end(), std::begin(kWindowed), std::end(kWindowed));
  all.insert(all.end(), {"phi3_long_tiny", "phi3_partial_tiny"});  // whose angles change with the length of a text
  return all;
}

/// In fp32 only the order of sums differs, as in Verify.Fp32FollowsPyTorch. All of `plan` but the numerics counts.
inline void expect_pytorch(const char* model, const runtime::Plan& plan) {
  workloads::VerifyOptions options;
  options.target = trn1_target();
  options.plan = plan;
  options.plan.numerics = runtime::numerics("fp32");
  options.host_threads = 1;
  const workloads::VerifyReport report = workloads::verify(golden(model), options);
  EXPECT_LE(report.logits.norm, 1e-5);
  EXPECT_LE(report.worst_loss(), 1e-5);
  EXPECT_LE(report.worst_gradient().norm, 1e-4) << report.worst_gradient().name;
  EXPECT_LE(report.worst_weight().norm, 2e-4) << report.worst_weight().name;
  EXPECT_EQ(report.losses.size(), 6u);
}

/// Weights by name, shape and value, and the keys of config.json but those that the file says in another way.
inline void expect_same_folder(const char* name, const std::set<std::string>& reworded) {
  const Scratch s;
  const workloads::ModelPtr model = workloads::read_config(golden(name));
  const workloads::Weights weights = workloads::load_weights(golden(name), model, 1);
  EXPECT_TRUE(weights.notes.empty()) << name;
  workloads::write_config(model, s.path());
  workloads::save_weights(s.path(), model, weights);
  const auto before = workloads::Checkpoint::open(golden(name)), after = workloads::Checkpoint::open(s.path());
  EXPECT_EQ(after.names(), before.names()) << name;
  for (const std::string& tensor : before.names()) {
    EXPECT_EQ(after.info(tensor).shape, before.info(tensor).shape) << tensor;
    EXPECT_EQ(after.floats(tensor), before.floats(tensor)) << tensor;
  }
  EXPECT_EQ(workloads::read_config(s.path())->config_json(), model->config_json()) << name;
  const nlohmann::json file = workloads::read_json_file(s.path() / "config.json");
  const nlohmann::json want = workloads::read_json_file(golden(name) / "config.json");
  for (const auto& [key, value] : want.items())
    if (file.contains(key) && !reworded.contains(key)) {
      EXPECT_EQ(file.at(key), value) << name << " " << key;
    }
}

}  // namespace workloads_test
