// What the graphs of encoders share, whatever they read: linear layers with a bias, dropout, attention over all
// positions, a classifier's loss, and the end of a step.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/graph/graph.h"
#include "workloads/models/weights.h"
#include "workloads/step/optimizer_step.h"
#include "workloads/step/step.h"

namespace workloads {

class EncoderGraph {
 protected:
  using ValueId = runtime::ValueId;

  struct Sizes {
    std::int64_t hidden = 0, heads = 0;
    double eps = 0, attention_dropout = 0;
  };

  /// `layers`: what names of a layer's weights begin with, before its number.
  EncoderGraph(const Step& step, const std::vector<WeightSpec>& weights, std::string_view layers, const Sizes& sizes);
  ~EncoderGraph() = default;

  /// Whether the program only updates weights: then it is complete.
  bool only_updates();
  /// Backward and update, or what the step's part leaves of them.
  void train_on(const std::vector<ValueId>& losses);

  /// Where the next nodes stand: instance `number` of a scope.
  void enter(const char* name, std::int64_t number, std::int64_t layer = -1);

  ValueId w(const std::string& name) const { return weights_.at(name); }
  /// A tensor that the host writes for the present micro-batch.
  ValueId input(const char* name, std::int64_t rows, std::int64_t cols, isa::Dtype type);
  ValueId matmul(const std::string& label, ValueId x, ValueId weight, runtime::MatmulAttrs attrs = {});
  ValueId linear(const std::string& label, ValueId x, const std::string& name, runtime::MatmulAttrs attrs = {});
  ValueId layernorm(const std::string& label, ValueId x, const std::string& name);
  ValueId dropout(const std::string& label, ValueId x, double p);
  ValueId activation(const std::string& label, ValueId x, Activation fn);
  /// The heads' contexts, side by side. `in`: queries, keys, values, and a mask if there is one.
  ValueId attention(const std::vector<ValueId>& in);
  /// The share of each row in the loss, an output as well.
  ValueId loss_of(ValueId logits, std::int64_t rows, const char* label, const char* weight, const char* name);

  const Step& step_;
  runtime::Graph graph_;
  std::int64_t micro_ = 0;

 private:
  const std::map<std::string, ValueId> weights_;
  const std::string_view layers_;
  const Sizes sizes_;
  std::uint32_t calls_ = 0, stream_ = 0;
};

}  // namespace workloads
