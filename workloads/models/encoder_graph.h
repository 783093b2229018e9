// Shared by the graphs of encoders of any input: their layers, a classifier's loss, and the end of a step.
// Tensor-parallel ranks share heads, columns and the vocabulary; each has all tokens, and what is outside of these is
// the same on each. Source: Shoeybi et al., arXiv:1909.08053, section 3.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/graph/autodiff.h"
#include "runtime/graph/graph.h"
#include "workloads/models/layers/block.h"
#include "workloads/models/weights.h"
#include "workloads/step/optimizer_step.h"
#include "workloads/step/step.h"
#include "workloads/step/step_graph.h"

namespace workloads {

/// The weights of an encoder on a rank of the plan.
std::vector<WeightSpec> weights_of_rank(const ModelPtr& model, const Step& step);

class EncoderGraph : protected Places {
 protected:
  using ValueId = runtime::ValueId;

  /// `layers`: the prefix of a layer's weights' names, before its number.
  EncoderGraph(const Step& step, const std::vector<WeightSpec>& weights, std::string_view layers, BlockArch arch,
               const std::optional<Lora>& lora);
  virtual ~EncoderGraph() = default;
  EncoderGraph(const EncoderGraph&) = delete;
  EncoderGraph& operator=(const EncoderGraph&) = delete;

  /// Whether the program only updates weights: then it is complete.
  bool only_updates();
  /// The losses of a micro-batch: adds its backward pass.
  void add_losses(const std::vector<ValueId>& losses);
  /// Adds the update, or the sums of gradients, as the step's part has them.
  void train();
  StepGraph take() { return {std::move(graph_), std::move(zero_)}; }

  void enter(const std::string& name) override { enter(name, micro_, -1); }
  /// The `number`-th place of that name in the program. `layer`: of the model, -1 outside of all.
  void enter(const std::string& name, std::int64_t number, std::int64_t layer);
  /// With one rank a layer is one block; ranks wait for each other between its parts.
  void enter_part(const std::string& part) override;
  /// A scope beside that of a collective, which holds nothing else.
  void enter_apart(const std::string& name) {
    if (net_.program().split()) enter(name);
  }
  std::string host_name(std::string_view name) const override { return micro_name(name, micro_); }

  /// x through layer `number` of `layers`, whose weights' names begin with `prefix`.
  ValueId layer(ValueId x, std::int64_t number, std::int64_t layers, const std::string& prefix,
                const LayerInputs& inputs = {});
  ValueId norm(const std::string& label, ValueId x, const std::string& name);
  /// The rows of a table that the host's numbers name.
  ValueId rows_of(const char* label, const std::string& table, ValueId ids);
  /// The mean of each sequence's tokens that `mask` shows: the context of a query that scores all of them alike.
  /// `first`: a row of each sequence.
  ValueId mean_of(ValueId x, ValueId first, ValueId mask);
  /// Logits of `rows` rows as an output, and their loss. For several heads, each on rows of its own, their mean.
  ValueId classified(const std::vector<ValueId>& xs, std::int64_t rows, std::span<const std::string_view> heads);
  ValueId classified(ValueId x, std::int64_t rows, const std::string& name);
  /// Whether each rank has its own part of the weight.
  bool is_split(const std::string& weight) const;
  /// Whether every rank holds the weight, but each reads it for its own heads alone.
  virtual bool of_heads(const std::string&) const { return false; }

  const Step& step_;
  const BlockArch arch_;
  runtime::Graph graph_;
  Layers net_;
  std::int64_t micro_ = 0;

 private:
  std::int32_t segment_of(const runtime::Node& node) const;
  ParameterSets sets() const;

  const std::string_view layers_;
  const std::vector<WeightSpec> specs_;
  Block block_;
  runtime::Backward backward_{graph_};
  std::int64_t number_ = 0, layer_ = 0;  // of the present layer: among those of all micro-batches, and of the model
  std::vector<ZeroBucket> zero_;
  std::uint32_t calls_ = 0;
};

}  // namespace workloads
