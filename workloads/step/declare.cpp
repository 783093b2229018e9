// The tensors that a step's graph has in common with others: weights, gradients, inputs of micro-batches.
#include <fmt/format.h>

#include "base/error.h"
#include "workloads/models/lora.h"
#include "workloads/step/optimizer_step.h"

namespace workloads {
namespace {

using runtime::Graph;
using runtime::Kind;
using runtime::ValueId;

}  // namespace

std::map<ValueId, ValueId> declare_gradients(Graph& graph, const std::map<std::string, ValueId>& weights) {
  std::map<ValueId, ValueId> out;
  for (const auto& [name, weight] : weights) {
    const runtime::Value like = graph.value(weight);
    if (like.frozen || out.contains(weight)) continue;
    out[weight] = graph.tensor("grad." + like.name, like.rows, like.cols, graph.numerics().gradient, Kind::kGradient);
  }
  return out;
}

std::map<std::string, ValueId> declare_weights(Graph& graph, const std::vector<WeightSpec>& specs, bool fold) {
  std::map<std::string, ValueId> out;
  for (const WeightSpec& spec : specs) {
    const auto [rows, cols] = device_shape(spec);
    const isa::Dtype type = spec.transposed && fold ? graph.numerics().operand : graph.numerics().weight;
    out[spec.name] = graph.tensor(spec.name, rows, cols, type, Kind::kWeight);
    if (spec.frozen) graph.freeze(out[spec.name]);
    for (const std::string& name : spec.also) out[name] = out[spec.name];
  }
  return out;
}

ParameterSets parameter_sets(const std::vector<WeightSpec>& specs, const std::map<std::string, ValueId>& values) {
  ParameterSets sets;
  for (const WeightSpec& spec : specs) {
    const ValueId v = values.at(spec.name);
    if (spec.is_spared()) sets.spared.insert(v);
    const bool apart = spec.stack > 0 && element_count(spec.pieces.front().shape) == element_count(spec.shape);
    if (apart) continue;  // an expert on one rank, and a tensor of its own in the file
    if (!spec.pieces.empty())
      sets.parts[v] = spec.file_tensor();
    else if (!spec.fused.empty() || spec.split != TensorSplit::kNone)
      sets.parts[v] = spec.in_file();
  }
  return sets;
}

void require_read(const Graph& graph, const std::vector<WeightSpec>& specs,
                  const std::map<std::string, ValueId>& values) {
  for (const WeightSpec& spec : specs)
    if (is_adapter(spec.name))
      base::ensure(!graph.users(values.at(spec.name)).empty(), spec.name, "is read by no layer");
}

std::string micro_name(std::string_view name, std::int64_t micro_batch) {
  return fmt::format("{}.{}", name, micro_batch);
}

}  // namespace workloads
