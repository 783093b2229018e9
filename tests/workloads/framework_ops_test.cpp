// The operations that a host traces follow from layers, heads, plan and recomputation.
#include <gtest/gtest.h>

#include "workloads/models/model.h"
#include "workloads/models/presets.h"

namespace {

using workloads::FrameworkOps;

FrameworkOps ops_of(const char* preset, const workloads::Step& spec) {
  return workloads::model_preset(preset)->traced_ops(spec);
}

TEST(FrameworkOps, BertHasLayersEmbeddingsAndHead) {
  const FrameworkOps classifier = ops_of("bert-base", {});
  EXPECT_DOUBLE_EQ(classifier.forward, 12 * 70 + 33 + 18);
  EXPECT_DOUBLE_EQ(classifier.backward, 12 * 118 + 19 + 38);
  EXPECT_DOUBLE_EQ(ops_of("bert-base", {.kind = {.head = workloads::Head::kTokens}}).forward, 12 * 70 + 33 + 13);
}

// tests/golden/make/count_ops.py prints the operations of a layer beyond a BERT's.
TEST(FrameworkOps, OfDebertaAreCountedOnItsOwnLayer) {
  EXPECT_DOUBLE_EQ(ops_of("deberta-v3-base", {}).forward - ops_of("bert-base", {}).forward, 12 * 68);
  EXPECT_DOUBLE_EQ(ops_of("deberta-v3-base", {}).backward - ops_of("bert-base", {}).backward, 12 * 66);
}

TEST(FrameworkOps, RecomputationIsTracedAgain) {
  using runtime::Recompute;
  const FrameworkOps none = ops_of("llama2-7b", {});
  workloads::Step spec;
  spec.plan.recompute = Recompute::kFull;
  const FrameworkOps full = ops_of("llama2-7b", spec);
  EXPECT_DOUBLE_EQ(full.forward, none.forward);
  EXPECT_DOUBLE_EQ(full.backward - none.backward, 32 * 109);
  spec.plan.recompute = Recompute::kSelective;
  const FrameworkOps selective = ops_of("llama2-7b", spec);
  EXPECT_GT(selective.backward, none.backward);
  EXPECT_LT(selective.backward, full.backward);
}

TEST(FrameworkOps, RanksAddCollectives) {
  const FrameworkOps one = ops_of("gpt3-6.7b", {}), two = ops_of("gpt3-6.7b", {.plan = {.tensor = 2}});
  const FrameworkOps sequence = ops_of("gpt3-6.7b", {.plan = {.tensor = 2, .sequence = true}});
  EXPECT_LT(one.forward, two.forward);
  EXPECT_LT(two.forward, sequence.forward);
  EXPECT_LT(two.backward, sequence.backward);
  EXPECT_DOUBLE_EQ(one.tensors, two.tensors);
}

// Router, slots and experts in addition to a dense layer's operations; the number of experts does not matter.
TEST(FrameworkOps, ExpertsAreCounted) {
  const auto llama = workloads::model_preset("llama3-8b");
  const auto mixtral = workloads::model_preset("mixtral-8x7b");  // as many layers and heads
  const FrameworkOps dense = llama->traced_ops({}), experts = mixtral->traced_ops({});
  EXPECT_DOUBLE_EQ(experts.forward - dense.forward, 32 * 42 + 19);
  EXPECT_DOUBLE_EQ(experts.backward - dense.backward, 32 * 20 + 16);
  EXPECT_DOUBLE_EQ(experts.tensors - dense.tensors, 32);  // the routers: experts are three tensors as well
}

// tests/golden/make/count_ops.py prints what a layer dispatches beyond a Llama's; Gemma's have grouped queries too.
TEST(FrameworkOps, OfGemmaAndPhiAreCountedOnTheirOwnLayers) {
  const auto layer_of = [](const char* preset) {
    const auto model = workloads::model_preset(preset);
    const auto sizes = model->sizes();
    const FrameworkOps more = model->with_sizes({.layers = sizes.layers + 12})->traced_ops({}),
                       ops = model->traced_ops({});
    return std::pair{(more.forward - ops.forward) / 12, (more.backward - ops.backward) / 12};
  };
  const double grouped = 14;
  EXPECT_EQ(layer_of("gemma2-2b"), std::pair(109 + grouped + 30, 157 + grouped + 48));
  EXPECT_EQ(layer_of("gemma3-1b"), std::pair(109 + grouped + 48, 157 + grouped + 86));
  EXPECT_EQ(layer_of("stablelm-3b-4e1t"), std::pair(109 - 12.0, 157 - 24.0));
  EXPECT_EQ(layer_of("phi-2"), std::pair(109 - 17.0, 157 - 20.0));
  EXPECT_EQ(layer_of("command-r"), std::pair(109 + 1.0, 157 - 5.0));
  EXPECT_EQ(layer_of("glm-4-9b"), std::pair(109 + grouped + 17, 157 + grouped + 3));
  EXPECT_EQ(layer_of("helium-1-2b"), std::pair(109 + 16.0, 157 + 2.0));
  EXPECT_EQ(layer_of("olmo-7b"), std::pair(109 - 12.0, 157 - 34.0));
  EXPECT_EQ(layer_of("gpt-j-6b"), std::pair(109 + 30.0, 157 - 17.0));
  EXPECT_EQ(layer_of("bloom-7b1"), std::pair(109 - 43.0, 157 - 55.0));
}

TEST(FrameworkOps, GroupedQueriesAreSpread) {
  EXPECT_GT(ops_of("llama3-8b", {}).forward, ops_of("llama2-7b", {}).forward);
}

}  // namespace
