// Shared by the graphs of encoders of any input: their layers, a classifier's loss, and the end of a step.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/graph/graph.h"
#include "workloads/models/layers/block.h"
#include "workloads/models/weights.h"
#include "workloads/step/optimizer_step.h"
#include "workloads/step/step.h"
#include "workloads/step/step_graph.h"

namespace workloads {

class EncoderGraph : protected Places {
 protected:
  using ValueId = runtime::ValueId;

  /// `layers`: the prefix of a layer's weights' names, before its number.
  EncoderGraph(const Step& step, const std::vector<WeightSpec>& weights, std::string_view layers, BlockArch arch,
               const std::optional<Lora>& lora);
  ~EncoderGraph() = default;
  EncoderGraph(const EncoderGraph&) = delete;
  EncoderGraph& operator=(const EncoderGraph&) = delete;

  /// Whether the program only updates weights: then it is complete.
  bool only_updates();
  /// Adds backward and update, as far as the step's part has them.
  void train_on(const std::vector<ValueId>& losses);
  StepGraph take() { return {std::move(graph_), std::move(zero_)}; }

  void enter(const std::string& name) override { enter(name, micro_, -1); }
  void enter_part(const std::string&) override {}  // a layer is one block
  std::string host_name(std::string_view name) const override { return micro_name(name, micro_); }

  /// x through layer `number` of `layers`, whose weights' names begin with `prefix`.
  ValueId layer(ValueId x, std::int64_t number, std::int64_t layers, const std::string& prefix,
                const LayerInputs& inputs = {});
  ValueId norm(const std::string& label, ValueId x, const std::string& name);
  /// Logits of `rows` rows as an output, and their loss. For several heads, each on rows of its own, their mean.
  ValueId classified(const std::vector<ValueId>& xs, std::int64_t rows, std::span<const std::string_view> heads);
  ValueId classified(ValueId x, std::int64_t rows, const std::string& name);

  const Step& step_;
  const BlockArch arch_;
  runtime::Graph graph_;
  Layers net_;
  std::int64_t micro_ = 0;

 private:
  void enter(const std::string& name, std::int64_t number, std::int64_t layer);
  std::int32_t segment_of(const runtime::Node& node) const;

  const std::string_view layers_;
  const std::vector<WeightSpec> specs_;
  const ParameterSets sets_;
  Block block_;
  std::vector<ZeroBucket> zero_;
  std::uint32_t calls_ = 0;
};

}  // namespace workloads
