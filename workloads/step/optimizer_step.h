// One optimizer step as a graph: the part common to all model families, and how the host feeds it.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "workloads/data/batch.h"
#include "workloads/models/weights.h"
#include "workloads/step/step.h"
#include "workloads/step/step_graph.h"

namespace workloads {

/// The replica groups of a step: data-parallel ones, then tensor-parallel ones, both only of more than one rank; with
/// stages, the pairs between each and the next (the last one's next is the first), all stages, and the first with the
/// last; then the `head_sharing` neighbours that have the same key-value head. Models give them to their graph.
isa::GroupTables replica_groups(const Plan& plan, std::int64_t head_sharing = 1);
std::uint8_t data_group(const Plan& plan);
std::uint8_t tensor_group(const Plan& plan);
std::uint8_t link_group(const Plan& plan, std::int64_t from_stage);
std::uint8_t stages_group(const Plan& plan);
std::uint8_t ends_group(const Plan& plan);
std::uint8_t heads_group(const Plan& plan);

/// Facts of parameters that an update needs.
struct ParameterSets {
  std::set<runtime::ValueId> spared;  // biases and norms, which decay under no framework's rule but "all"
  /// The names of checkpoints' tensors that parameters are parts of, on this rank or over all.
  std::map<runtime::ValueId, std::string> parts;
  // How those of tensor-parallel ranks differ.
  std::set<runtime::ValueId> split;    // each rank has its own part; the others are the same on every rank
  std::set<runtime::ValueId> partial;  // the same, but gradients are sums over a rank's tokens only
  std::set<runtime::ValueId> shared;   // split, but `sharing` neighbours have the same part: gradients add up
  std::set<runtime::ValueId> tied;     // also on the other end of the pipeline: their gradients add up
  std::int64_t sharing = 1;
};

/// Adds gradients' reduction over ranks, clipping and the update of every weight. `blocks`: the prefixes in names in
/// front of a repeating number ("bert.encoder.layer."), so that equal layers share a block.
/// Returns the buckets of ZeRO, whose shards the host fills before the first step.
std::vector<ZeroBucket> add_update(runtime::Graph& graph, const std::map<runtime::ValueId, runtime::ValueId>& gradients,
                                   const Step& step, std::string_view repeated, const ParameterSets& sets);

/// The sets that follow from the weights alone, by the values that declare_weights() gave.
ParameterSets parameter_sets(const std::vector<WeightSpec>& specs,
                             const std::map<std::string, runtime::ValueId>& values);

/// The tensors that an optimizer keeps of each parameter, "STATE.NAME": of the shape of the parameter.
std::vector<std::string> optimizer_states(const OptimizerSpec& spec);

/// Adds each gradient to a tensor "sum.NAME" that outlives the program.
void add_accumulation(runtime::Graph& graph, const std::map<runtime::ValueId, runtime::ValueId>& gradients,
                      std::string_view repeated);

/// A tensor "grad.NAME" for each weight that is trained, when another program has computed them.
std::map<runtime::ValueId, runtime::ValueId> declare_gradients(runtime::Graph& graph,
                                                               const std::map<std::string, runtime::ValueId>& weights);

/// Declares the weights of a model as tensors of the graph, under their Hugging Face names, linear ones as [in, out].
/// `fold`: linear ones in the type that TensorE multiplies, because they are not updated.
std::map<std::string, runtime::ValueId> declare_weights(runtime::Graph& graph, const std::vector<WeightSpec>& specs,
                                                        bool fold = false);

/// Errors: Fault::kInternal for an adapter that no layer reads.
void require_read(const runtime::Graph& graph, const std::vector<WeightSpec>& specs,
                  const std::map<std::string, runtime::ValueId>& values);

/// The factors of one update, for the input "hyper". `step` counts from 1.
std::vector<float> hyper_values(const OptimizerSpec& spec, double learning_rate, std::int64_t step);

/// "input_ids.0": an input or output of a micro-batch.
std::string micro_name(std::string_view name, std::int64_t micro_batch);

/// Learning rate of step `step` (from 0) of `total`: linear warm-up, then constant, linear or cosine decay to 0.
/// Source: transformers, optimization.py. Errors: Fault::kUsage for an unknown schedule.
double scheduled_rate(std::string_view schedule, double rate, std::int64_t step, std::int64_t warmup,
                      std::int64_t total);

}  // namespace workloads
