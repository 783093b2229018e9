// The state of a decoder's training: weights, moments, master weights. Between ranks it is shared in many ways; here it
// is taken apart and put together, so that another plan can go on with it.
#pragma once

#include <string>
#include <vector>

#include "runtime/session.h"
#include "workloads/decoder_graph.h"
#include "workloads/safetensors.h"
#include "workloads/shards.h"

namespace workloads {

class DecoderState {
 public:
  /// `zero`: the buckets of decoder_step(). The spec and the session's program must be of the same step.
  DecoderState(const ModelConfig& config, const StepSpec& spec, std::vector<ZeroBucket> zero);

  /// "model", "exp_avg", "exp_avg_sq", and "master" when the optimizer keeps copies of the weights.
  std::vector<std::string> states() const;
  /// What one number of a state is on the device.
  ElementType type_of(const std::string& state) const;
  ShardPlan plan() const { return plan_; }

  /// What one tensor-parallel rank has of a state, put together from the data-parallel ranks if they share it; in the
  /// shapes of shard_specs().
  Weights read(runtime::Session& session, const std::string& state, std::int64_t tensor_rank) const;
  /// Gives every rank its part of a state of the whole model; the weights themselves are DecoderIo's.
  void write(runtime::Session& session, const std::string& state, const Weights& whole) const;

 private:
  bool is_shared(const std::string& state) const { return !zero_.empty() && state != "model"; }
  bool has_masters() const;
  std::string region_of(const std::string& state, const std::string& tensor) const;
  const WeightSpec& part_of(const std::string& name) const;
  void take_bucket(runtime::Session& session, const std::string& state, const ZeroBucket& bucket, std::int64_t rank,
                   Weights& out) const;

  const ModelConfig config_;
  const StepSpec spec_;
  const std::vector<ZeroBucket> zero_;
  const ShardPlan plan_;
  const std::vector<WeightSpec> parts_;
};

}  // namespace workloads
