// What Llama and GPT share as models: everything but their names.
#pragma once

#include <algorithm>
#include <string>
#include <utility>

#include "workloads/checkpoints/shards.h"
#include "workloads/models/config_model.h"
#include "workloads/models/decoder/decoder_arch.h"
#include "workloads/models/decoder/decoder_graph.h"

namespace workloads {

/// Of one layer. `core`: of the forward operations, those between the projections of attention, which selective
/// recomputation repeats.
struct DecoderOps {
  double forward, backward, core;
};
/// Of `layers` of them with the plan's collectives, embedding and head.
FrameworkOps decoder_traced_ops(DecoderOps layer, std::int64_t layers, const Plan& plan);

/// With the adapters beside its linear layers, whose own weights have no gradient.
DecoderOps with_adapter_ops(DecoderOps layer, const Lora& lora, const std::vector<WeightSpec>& weights);

/// Model::kept_elements(): what enters the layer, or what enters each of its norms and matmuls, and the probabilities,
/// as the plan recomputes.
double decoder_kept_elements(const Sizes& sizes, const Plan& plan, std::int64_t length);

template <class Config>
class DecoderModel : public ConfigModel<Config> {
 public:
  using ConfigModel<Config>::ConfigModel;

  Sizes sizes() const final { return sizes_of(*this->decoder()); }
  StepGraph step(const Step& step) const final { return decoder_step(this->shared_from_this(), step); }
  isa::GroupTables groups(const Plan& plan) const final {
    return replica_groups(plan, std::max<std::int64_t>(1, plan.tensor / this->decoder()->kv_heads));
  }
  double flops(const Step& step) const final { return decoder_flops(*this->decoder(), step); }
  std::optional<Problem> refuses(const Plan& plan) const final { return problem(shard_plan(plan), sizes()); }

  Task task() const final { return Task::kNextToken; }
  bool splits() const final { return true; }
  double kept_elements(const Plan& plan, std::int64_t length) const final {
    if (!this->lora()) return decoder_kept_elements(sizes(), plan, length);
    Plan least = plan;  // what enters a frozen matmul need not be kept
    least.recompute = Recompute::kFull;
    return decoder_kept_elements(sizes(), least, length);
  }
  bool ends_text(std::int64_t id) const final { return std::ranges::count(this->decoder()->end_tokens, id) > 0; }

  std::optional<std::string> tied_to(std::string_view name) const final {
    if (this->decoder()->tied && name == "lm_head.weight") return this->decoder()->embedding;
    return std::nullopt;
  }
  ModelPtr with_own_head() const final {
    return this->changed([](Config& c) { c.tie_word_embeddings = false; });
  }

 protected:
  FrameworkOps decoder_ops(DecoderOps layer, const Step& step) const {
    const std::vector<WeightSpec> weights = this->weights();
    if (const auto lora = this->lora()) layer = with_adapter_ops(layer, *lora, weights);
    FrameworkOps ops = decoder_traced_ops(layer, sizes().layers, step.plan);
    ops.tensors = static_cast<double>(std::ranges::count(weights, false, &WeightSpec::frozen));
    return ops;
  }
};

}  // namespace workloads
