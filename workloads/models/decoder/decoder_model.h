// Shared by the decoder models: everything but their names.
#pragma once

#include <algorithm>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "workloads/checkpoints/shards.h"
#include "workloads/models/config_model.h"
#include "workloads/models/decoder/decoder_arch.h"
#include "workloads/models/decoder/decoder_graph.h"
#include "workloads/step/step_graph.h"

namespace workloads {

/// A layer's operations with the collectives of the plan's tensor-parallel ranks.
LayerOps with_collectives(LayerOps layer, const Plan& plan);
/// Operations of `layers` layers with the plan's collectives, embedding and head.
FrameworkOps decoder_traced_ops(LayerOps layer, std::int64_t layers, const Plan& plan);

/// Beyond a model's layers, where the router's loss is a part of the loss.
inline constexpr FrameworkOps kRouterLossOps{.forward = 19, .backward = 16};

/// Model::kept_elements(): the layer's input, or the inputs of its norms and matmuls, and the probabilities,
/// as the plan recomputes.
double decoder_kept_elements(const Sizes& sizes, const Plan& plan, std::int64_t length);

/// The ModelInfo of a model that continues a text.
ModelInfo decoder_info(std::string_view family, DecoderArch arch, TensorNames names);

/// decoder_specs() with the adapters that the model has.
std::vector<WeightSpec> decoder_weights_of(const DecoderArch& arch);

/// Model::traced_ops() of a decoder whose layers have these operations, without adapters.
FrameworkOps decoder_ops(const Model& model, LayerOps layer, const Step& step);

template <class Config>
class DecoderModel : public ConfigModel<Config> {
 public:
  DecoderModel(Config config, ModelInfo info, LayerOps layer)
      : ConfigModel<Config>{std::move(config), std::move(info)}, layer_{layer} {}

  std::vector<WeightSpec> weights() const override {
    std::call_once(listed_, [this] { weights_ = decoder_weights_of(*this->decoder()); });
    return weights_;
  }
  StepGraph step(const Step& step) const final { return decoder_step(this->shared_from_this(), step); }
  double flops(const Step& step) const final {
    return decoder_flops(*this->decoder(), step, adapter_flops(this->weights()));
  }
  std::optional<Problem> refuses(const Plan& plan) const final { return problem(shard_plan(plan), this->sizes()); }
  FrameworkOps traced_ops(const Step& step) const override { return decoder_ops(*this, layer_, step); }

 private:
  const LayerOps layer_;
  mutable std::once_flag listed_;
  mutable std::vector<WeightSpec> weights_;  // once they were asked for: a search asks for them by the thousand
};

}  // namespace workloads
