// The common base of models that read one text and write another.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "workloads/models/config_model.h"
#include "workloads/models/decoder/decoder_model.h"
#include "workloads/models/pairs/pair_arch.h"
#include "workloads/step/step_graph.h"

namespace workloads {

/// Operations of a layer of each stack, without adapters.
struct PairOps {
  LayerOps encoder, decoder;
};

/// A model whose stacks are those of `pair_of(config)`.
template <class Config>
class PairModel : public ConfigModel<Config> {
 public:
  PairModel(const Config& config, ModelInfo info) : ConfigModel<Config>{config, std::move(info)} {}

  StepGraph step(const Step& step) const override { return pair_step(this->shared_from_this(), pair_, step); }
  double flops(const Step& step) const override { return pair_flops(*this, pair_, step); }
  std::optional<Problem> refuses(const Plan& plan) const override { return pair_problem(pair_, this->sizes(), plan); }
  std::vector<HostTable> host_tables(const StepKind& kind, std::optional<std::int64_t> position) const override {
    return pair_tables(pair_, kind, position);
  }
  runtime::Graph generation(const GenerationSpec& spec, bool prompt) const override {
    return pair_generation(this->shared_from_this(), pair_, spec, prompt);
  }

 protected:
  FrameworkOps pair_ops(const PairOps& layers, const Plan& plan) const {
    const std::vector<WeightSpec> weights = this->weights();
    const auto stack = [&](const LayerOps& layer, const PairStack& one) {
      return decoder_traced_ops(with_adapter_ops(layer, this->lora(), weights, one.first), one.layers, plan);
    };
    const FrameworkOps read = stack(layers.encoder, pair_.encoder), written = stack(layers.decoder, pair_.decoder);
    return {read.forward + written.forward, read.backward + written.backward,
            static_cast<double>(std::ranges::count(weights, false, &WeightSpec::frozen))};
  }

 private:
  const PairArch pair_ = pair_of(this->config_);
};

/// `layers` of both stacks: as many of each as the model has of all; 0: all stay.
inline void set_layers(std::int64_t layers, std::int64_t& encoder, std::int64_t& decoder) {
  if (layers == 0) return;
  const std::int64_t all = encoder + decoder;
  encoder = std::max<std::int64_t>(1, all > 0 ? layers * encoder / all : layers / 2);
  decoder = std::max<std::int64_t>(1, layers - encoder);
}

}  // namespace workloads
