// The calls of a decoder's program: the layer of each, and the FLOPs that are the model's.
#include <gmock/gmock.h>

#include <map>

#include "runtime/compiler/compile.h"
#include "tests/target.h"
#include "tests/workloads/models.h"
#include "workloads/models/decoder/decoder_graph.h"
#include "workloads/models/presets.h"

namespace {

using runtime::Recompute;

isa::Program decoder_program(Recompute recompute, std::int64_t micro_batches) {
  const workloads::ModelPtr config = workloads::model_preset("llama-small");
  workloads::Step spec;
  spec.plan.micro_batch = 1, spec.kind.length = 32, spec.plan.micro_batches = micro_batches, spec.kind.training = true;
  spec.plan.numerics = runtime::numerics("bf16");
  spec.plan.recompute = recompute;
  return runtime::compile(config->step(spec).graph, trn1_target(), {.name = "step"}).program;
}

TEST(DecoderLayers, EveryLayerHasTheSameCallsForAnyMicroBatch) {
  const isa::Program program = decoder_program(Recompute::kFull, 3);
  std::map<std::int32_t, std::map<std::string, int>> calls;
  for (const isa::Call& call : program.calls) {
    const std::string& block = program.blocks[call.block].name;
    if (block.starts_with("layer")) ++calls[call.layer][block];
    if (block.starts_with("embeddings") || block.starts_with("head")) {
      EXPECT_EQ(call.layer, -1) << block;
    }
  }
  const auto config = workloads::model_preset("llama-small")->sizes();
  ASSERT_EQ(calls.size(), static_cast<std::size_t>(config.layers));
  for (std::int32_t layer = 0; layer < config.layers; ++layer) {
    EXPECT_EQ(calls[layer], calls[0]) << layer;
    EXPECT_EQ(calls[layer]["layer"], 3);  // forward, once for each micro-batch
    EXPECT_EQ(calls[layer]["layer.again"], 3);
    EXPECT_EQ(calls[layer]["layer.bwd"], 3);
  }
}

TEST(DecoderLayers, RecomputationIsNotCountedAsModelFlops) {
  const isa::Program none = decoder_program(Recompute::kNone, 1), full = decoder_program(Recompute::kFull, 1);
  const auto executed = [](const isa::Program& program) {
    double flops = 0;
    for (const isa::Call& call : program.calls) flops += program.blocks[call.block].matmul_flops;
    return flops;
  };
  EXPECT_LT(none.model_flops, executed(none));  // sums of gradients
  EXPECT_NEAR(executed(none) / none.model_flops, 1, 0.001);
  EXPECT_EQ(full.model_flops, none.model_flops);
  EXPECT_GT(executed(full), 1.2 * full.model_flops);  // most of a forward pass, of three
}

}  // namespace
