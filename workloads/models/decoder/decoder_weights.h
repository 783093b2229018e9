// The weights of a decoder in the layout of its ranks on the device, and in that of a file.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "workloads/checkpoints/shards.h"
#include "workloads/step/optimizer_step.h"

namespace workloads {

/// The tensors of tensor-parallel rank 0 of step.stage as the graph has them; without stages, of the whole model. A
/// fused query-key-value of GPT is three, each a WeightSpec::third of the file's.
std::vector<WeightSpec> decoder_weights(const ModelPtr& model, const Step& step);
std::vector<WeightSpec> decoder_weights(const ModelPtr& model, const ShardPlan& plan);
/// Neighbours among tensor-parallel ranks that have the same key-value head: 1 when each rank has heads of its own.
std::int64_t head_sharing(const ModelPtr& model, std::int64_t tensor_parallel);

/// A tensor of the file as tensors of the device: itself, the thirds of a fused one, or the parts of a stack.
std::vector<WeightSpec> device_parts(WeightSpec spec);

/// One of decoder_weights() in the device's layout, from its rank's shard_of(). Errors: Fault::kInternal for a
/// tensor that is missing or of another size.
std::vector<float> device_values(const Weights& shard, const WeightSpec& spec);
/// The reverse; each third of a fused tensor fills its part.
void put_device_values(Weights& shard, const WeightSpec& spec, std::span<const float> values);

}  // namespace workloads
