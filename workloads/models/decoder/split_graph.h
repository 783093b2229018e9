// Shared by graphs of models that are split over cores: ranks, stages, micro-batches, repeated parts, a
// table of tokens at both ends, and the loss of each token.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/graph/graph.h"
#include "workloads/models/decoder/decoder_arch.h"
#include "workloads/models/layers/layers.h"
#include "workloads/models/model.h"
#include "workloads/step/optimizer_step.h"
#include "workloads/step/pipeline.h"
#include "workloads/step/step.h"
#include "workloads/step/step_graph.h"

namespace workloads {

class SplitGraph : protected Places {
 public:
  using ValueId = runtime::ValueId;

  virtual ~SplitGraph() = default;
  SplitGraph(const SplitGraph&) = delete;
  SplitGraph& operator=(const SplitGraph&) = delete;

  /// Builds the graph of step.stage, with its update. Call once.
  StepGraph run();

 protected:
  /// `rows`: tokens of a micro-batch whose next ones are predicted. Keeps references to model and step.
  SplitGraph(const ModelPtr& model, const Step& step, std::int64_t rows);

  /// Declares the tables that all micro-batches read.
  virtual void declare_tables() {}
  /// The forward pass of the present micro-batch through a chunk of layers. Returns where gradients begin: the loss, or
  /// the output to the next stage, and others.
  virtual std::vector<ValueId> forward(std::int64_t chunk) = 0;
  /// Whether the weight is of single heads that every rank holds: each has only the gradient of its own heads.
  virtual bool of_heads(const WeightSpec&) const { return false; }

  // ---- places in the program

  void enter(std::string name, std::int64_t number);
  void enter(const std::string& name) override { enter(name, micro_); }
  /// A part of a layer. With one rank a layer is one block; ranks wait for each other between parts.
  void enter_part(const std::string& part, const char* layer);
  void enter_part(const std::string& part) override { enter_part(part, "layer"); }
  std::string host_name(std::string_view name) const override { return micro_name(name, micro_); }

  // ---- between stages

  /// Receives `rows` tokens from the previous stage. The output to the next one takes the place of the loss.
  ValueId receive(std::int64_t chunk, std::int64_t rows, std::uint8_t from);
  ValueId send(std::int64_t chunk, ValueId x, std::uint8_t to);

  /// Logits of the last norm of x, or with labels their loss.
  ValueId head(ValueId x);

  const ModelPtr& model_;
  const DecoderArch arch_;
  const Step& step_;
  runtime::Graph graph_;
  const std::vector<WeightSpec> specs_;
  Layers net_;
  const std::int64_t rows_;
  const bool split_, sequence_;
  std::int64_t micro_ = 0, layer_ = 0;

 private:
  /// The last token of each text: the host writes their rows as "last_tokens".
  ValueId last_tokens(ValueId x);
  std::int32_t segment_of(const runtime::Node& node) const;
  ParameterSets parameter_sets() const;
};

}  // namespace workloads
