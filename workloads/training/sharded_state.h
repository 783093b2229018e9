// The state of a training: weights, moments, master weights. Ranks share it in many ways; here it is taken apart and
// put together, so that another plan can continue with it.
#pragma once

#include <string>
#include <vector>

#include "runtime/step/session.h"
#include "workloads/checkpoints/safetensors.h"
#include "workloads/checkpoints/shards.h"
#include "workloads/step/step_graph.h"

namespace workloads {

/// How a file names numbers of the device: weights and moments are fp32, bf16 or fp16. Errors: Fault::kInternal.
ElementType element_type(isa::Dtype type);

class ShardedState {
 public:
  /// `zero`: the buckets of each stage. The step and the session's programs must be of the same step.
  ShardedState(const ModelPtr& model, const Step& step, std::vector<std::vector<ZeroBucket>> zero = {{}});

  const std::vector<WeightSpec>& tensors() const { return whole_; }
  /// Weights in the shapes of the file, and the copies of them that the optimizer keeps.
  void write_weights(runtime::Session& session, const Weights& weights) const;
  /// A weight, or its gradient summed over the data-parallel ranks, in the shape of the file.
  std::vector<float> read(runtime::Session& session, const WeightSpec& tensor, bool gradient) const;

  /// "model", those of optimizer_states(), and "master" when the optimizer keeps copies of the weights.
  std::vector<std::string> states() const;
  /// The type of a state's numbers on the device.
  ElementType type_of(const std::string& state) const;
  ShardPlan plan() const { return plan_; }

  /// The part of a state at one place in the plan, assembled from its data-parallel ranks if they share it; in the
  /// shapes of shard_specs().
  Weights read(runtime::Session& session, const std::string& state, ShardRank place) const;
  /// Gives every rank its part of a state of the whole model.
  void write(runtime::Session& session, const std::string& state, const Weights& whole) const;

 private:
  bool is_shared(const std::string& state) const { return step_.plan.zero1 && step_.plan.data > 1 && state != "model"; }
  bool has_masters() const;
  std::string region_of(const std::string& state, const std::string& tensor) const;
  const std::vector<ZeroBucket>& zero_of(ShardRank place) const;
  const std::vector<WeightSpec>& parts_of(ShardRank place) const;
  const WeightSpec& part_of(ShardRank place, const std::string& name) const;
  std::vector<float> read_part(runtime::Session& session, const WeightSpec& part, ShardRank place, bool gradient) const;
  void take_bucket(runtime::Session& session, const std::string& state, const ZeroBucket& bucket, ShardRank place,
                   Weights& out) const;
  void write_place(runtime::Session& session, const std::string& state, ShardRank place, const Weights& shard) const;

  const ModelPtr model_;
  const Step step_;
  const std::vector<std::vector<ZeroBucket>> zero_;  // by stage
  const ShardPlan plan_;
  const std::vector<WeightSpec> whole_;
  std::vector<std::vector<WeightSpec>> parts_;  // by stage
};

}  // namespace workloads
