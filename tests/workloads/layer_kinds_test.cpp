// Models whose layers are not all alike: a window or experts in some of them, as their files say.
#include <gtest/gtest.h>

#include "runtime/graph/graph.h"
#include "runtime/ops/ops.h"
#include "tests/workloads/golden_model.h"
#include "tests/workloads/support.h"
#include "workloads/checkpoints/json_file.h"
#include "workloads/models/decoder/decoder_arch.h"
#include "workloads/models/presets.h"
#include "workloads/step/step_graph.h"

namespace workloads {
namespace {

using base::Fault;
using nlohmann::json;
using workloads_test::expect_pytorch;
using workloads_test::fails;
using workloads_test::golden;
using workloads_test::Scratch;

// Qwen2Config.__init__(): the layers from "max_window_layers" on, or those that are listed, if the window is on.
TEST(LayerKinds, LastLayersHaveTheWindowThatIsOn) {
  const Scratch s;
  const auto windows = [&](const json& keys) {
    json file = read_json_file(golden("qwen2_window_tiny") / "config.json");
    file.update(keys);
    const WindowArch window = decoder_arch(read_config(s.write("config.json", file.dump()))).block.attention.window;
    return std::vector{window.of(0), window.of(1), window.of(2), window.of(3)};
  };
  using Windows = std::vector<std::int64_t>;
  EXPECT_EQ(windows(json::object()), (Windows{0, 7, 7, 7}));
  EXPECT_EQ(windows({{"max_window_layers", 2}}), (Windows{0, 0, 7, 7}));
  EXPECT_EQ(windows({{"max_window_layers", 0}}), (Windows{7, 7, 7, 7}));
  EXPECT_EQ(windows({{"max_window_layers", 4}}), (Windows{0, 0, 0, 0}));
  EXPECT_EQ(windows({{"use_sliding_window", false}}), (Windows{0, 0, 0, 0}));
  EXPECT_EQ(windows({{"sliding_window", nullptr}}), (Windows{0, 0, 0, 0}));
  EXPECT_EQ(windows({{"layer_types", {"full_attention", "full_attention", "full_attention", "sliding_attention"}}}),
            (Windows{0, 0, 0, 7}));
}

// The multiplications of a token are twice its weights, of experts those that it has: tables of tokens are looked up.
TEST(LayerKinds, LayersWithoutExpertsCountAsWhatTheyAre) {
  for (const char* name : {"qwen3_moe_step_tiny", "qwen3_moe_listed_tiny", "llama4_text_tiny", "deepseek_tiny"}) {
    const ModelPtr model = read_config(golden(name));
    const MixtureArch& mixture = *decoder_arch(model).block.mixture;
    double weights = 0;
    for (const WeightSpec& w : model->weights()) {
      if (w.shape.size() < 2 || w.table) continue;
      const auto all = static_cast<double>(element_count(w.shape));
      weights += w.stack > 0 ? all * static_cast<double>(mixture.top_k) / static_cast<double>(mixture.experts) : all;
    }
    Step one;
    one.plan.micro_batch = 1, one.kind.length = 1, one.kind.training = false;
    const DecoderArch arch = decoder_arch(model);
    const auto scores = static_cast<double>(arch.layers * 2 * 2 * arch.block.attention.query_size());
    EXPECT_DOUBLE_EQ(model->flops(one), 2 * weights + scores) << name;
  }
}

// The classes of Qwen's mixtures have another rule for the window in each release of transformers, Llama's has none.
TEST(LayerKinds, WhatNoReleaseComputesIsRefused) {
  const Scratch s;
  const auto reading = [&](const char* name, const char* key, const json& value) {
    json file = read_json_file(golden(name) / "config.json");
    file[key] = value;
    return [path = s.write("config.json", file.dump())] { read_config(path); };
  };
  EXPECT_TRUE(fails(Fault::kData, reading("llama_linear_tiny", "use_sliding_window", true), {"use_sliding_window"}));
  EXPECT_TRUE(fails(Fault::kData, reading("qwen3_moe_tiny", "use_sliding_window", true), {"use_sliding_window"}));
  EXPECT_TRUE(fails(Fault::kData, reading("qwen2_window_tiny", "sliding_window", 0), {"sliding_window"}));
  const json holes{"full_attention", "sliding_attention", "full_attention", "sliding_attention"};
  EXPECT_TRUE(fails(Fault::kData, reading("qwen2_window_tiny", "layer_types", holes), {"layer_types", "sliding"}));
  EXPECT_TRUE(fails(Fault::kData, reading("qwen3_moe_tiny", "mlp_only_layers", {0, 1}), {"decoder_sparse_step"}));
  EXPECT_TRUE(fails(Fault::kData, reading("qwen3_moe_tiny", "mlp_only_layers", {-1}), {"mlp_only_layers"}));
  EXPECT_TRUE(fails(Fault::kData, reading("qwen3_moe_tiny", "decoder_sparse_step", 3), {"decoder_sparse_step", "3"}));
  EXPECT_TRUE(fails(Fault::kData, reading("qwen3_moe_tiny", "decoder_sparse_step", 0), {"decoder_sparse_step", "0"}));
  EXPECT_TRUE(fails(Fault::kData, reading("mixtral_tiny", "mlp_only_layers", {1}), {"mlp_only_layers"}));
}

// The router's loss is of a whole batch, over the layers that have experts, in any stage of a pipeline.
TEST(LayerKinds, TheRoutersLossIsOfLayersWithExperts) {
  expect_pytorch("qwen3_moe_listed_tiny", runtime::Plan{});
  expect_pytorch("qwen3_moe_listed_tiny", {.tensor = 2, .sequence = true, .recompute = runtime::Recompute::kSelective});
  expect_pytorch("qwen3_moe_listed_tiny", {.tensor = 2, .pipeline = 2, .sequence = true});
}

// A stage in front of the first router has no sums to hand on: of four layers the last alone has experts.
TEST(LayerKinds, AStageInFrontOfAllExpertsHandsOnNoSums) {
  json file = read_json_file(golden("qwen3_moe_listed_tiny") / "config.json");
  file["decoder_sparse_step"] = 4, file["mlp_only_layers"] = json::array();
  const Scratch s;
  const ModelPtr model = read_config(s.write("config.json", file.dump()));
  const auto messages = [&](std::int64_t stage) {
    Step step{.plan = {.pipeline = 2}, .kind = {.length = 8}, .stage = stage};
    const runtime::Graph graph = model->step(step).graph;
    std::int64_t count = 0;
    for (runtime::NodeId n = 0; n < graph.node_count(); ++n) count += graph.node(n).op == &runtime::kStageSend ? 1 : 0;
    return count;
  };
  EXPECT_EQ(messages(0), 1);  // hidden states forward,
  EXPECT_EQ(messages(1), 1);  // and their gradients back
}

}  // namespace
}  // namespace workloads
