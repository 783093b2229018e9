#include "workloads/training/sharded_state.h"

#include <algorithm>
#include <span>

#include "base/error.h"
#include "runtime/ops/optimizer_inputs.h"
#include "workloads/checkpoints/number_formats.h"
#include "workloads/models/decoder/decoder_weights.h"
#include "workloads/step/pipeline.h"
#include "workloads/training/zero_io.h"

namespace workloads {

ElementType element_type(isa::Dtype type) {
  switch (type) {
    case isa::Dtype::kFp32: return ElementType::kF32;
    case isa::Dtype::kBf16: return ElementType::kBf16;
    case isa::Dtype::kFp16: return ElementType::kF16;
    default: throw base::Error{base::Fault::kInternal, "checkpoint", "a state of an unexpected type", "report it"};
  }
}

ShardedState::ShardedState(const ModelPtr& model, const Step& step, std::vector<std::vector<ZeroBucket>> zero)
    : model_{model}, step_{step}, zero_{std::move(zero)}, plan_{shard_plan(step.plan)}, whole_{model->weights()} {
  base::ensure(zero_.size() == static_cast<std::size_t>(step.plan.pipeline), "training", "a stage has no buckets");
  for (std::int64_t stage = 0; stage < step.plan.pipeline; ++stage)
    parts_.push_back(decoder_weights(model, of_stage(step, stage)));
}

bool ShardedState::has_masters() const {
  return step_.plan.master_weights && step_.plan.numerics.weight != isa::Dtype::kFp32;
}

std::vector<std::string> ShardedState::states() const {
  std::vector<std::string> out{"model"};
  for (std::string& state : optimizer_states(step_.optimizer)) out.push_back(std::move(state));
  if (has_masters()) out.emplace_back("master");
  return out;
}

ElementType ShardedState::type_of(const std::string& state) const {
  if (state == "model") return element_type(step_.plan.numerics.weight);
  return state == "master" ? ElementType::kF32 : element_type(step_.plan.numerics.optimizer);
}

/// "exp_avg.NAME"; the master weights of a bucket are the bucket itself.
std::string ShardedState::region_of(const std::string& state, const std::string& tensor) const {
  return state == "model" || (state == "master" && is_shared(state)) ? tensor : state + "." + tensor;
}

const std::vector<ZeroBucket>& ShardedState::zero_of(ShardRank place) const {
  return zero_[static_cast<std::size_t>(place.pipeline)];
}

const std::vector<WeightSpec>& ShardedState::parts_of(ShardRank place) const {
  return parts_[static_cast<std::size_t>(place.pipeline)];
}

const WeightSpec& ShardedState::part_of(ShardRank place, const std::string& name) const {
  const auto found = std::ranges::find(parts_of(place), name, &WeightSpec::name);
  base::ensure(found != parts_of(place).end(), name, "no rank holds it");
  return *found;
}

void ShardedState::take_bucket(runtime::Session& session, const std::string& state, const ZeroBucket& bucket,
                               ShardRank place, Weights& out) const {
  const std::vector<float> all =
      read_bucket(session, step_, {region_of(state, bucket.name), place.tensor, place.pipeline});
  std::size_t at = 0;
  for (const std::string& name : bucket.weights) {
    const WeightSpec& part = part_of(place, name);
    const std::size_t size = element_count(part.shape);
    put_device_values(out, part, std::span<const float>{all}.subspan(at, size));
    at += runtime::aligned(size);
  }
}

Weights ShardedState::read(runtime::Session& session, const std::string& state, ShardRank place) const {
  Weights out;
  if (is_shared(state)) {
    for (const ZeroBucket& bucket : zero_of(place)) take_bucket(session, state, bucket, place, out);
    return out;
  }
  for (const WeightSpec& part : of_state(parts_of(place), state))
    put_device_values(out, part,
                      session.read(step_.plan.rank_of(0, place.tensor, place.pipeline), region_of(state, part.name)));
  return out;
}

void ShardedState::write_place(runtime::Session& session, const std::string& state, ShardRank place,
                               const Weights& shard) const {
  if (is_shared(state)) {
    for (const ZeroBucket& bucket : zero_of(place))
      write_bucket(session, step_, bucket, {region_of(state, bucket.name), place.tensor, place.pipeline},
                   [&](const std::string& name) { return device_values(shard, part_of(place, name)); });
    return;
  }
  for (const WeightSpec& part : of_state(parts_of(place), state)) {
    const std::vector<float> values = device_values(shard, part);
    for (std::uint32_t d = 0; d < step_.plan.data; ++d)
      session.write(step_.plan.rank_of(d, place.tensor, place.pipeline), region_of(state, part.name), values);
  }
}

void ShardedState::write(runtime::Session& session, const std::string& state, const Weights& whole) const {
  for_each_rank(plan_, [&](ShardRank place) {
    write_place(session, state, place, shard_of(whole, model_, plan_, place, state));
  });
}

/// ZeRO's shards are weights, too, without master weights.
void ShardedState::write_weights(runtime::Session& session, const Weights& weights) const {
  write(session, "model", weights);
  if (has_masters() || is_shared("master")) write(session, "master", weights);
}

std::vector<float> ShardedState::read_part(runtime::Session& session, const WeightSpec& part, ShardRank place,
                                           bool gradient) const {
  const std::string name = (gradient ? "grad." : "") + part.name;
  std::vector<float> out = session.read(step_.plan.rank_of(0, place.tensor, place.pipeline), name);
  // ZeRO sums gradients on their way to the shards: each rank still has its own.
  if (gradient && !zero_of(place).empty())
    for (std::uint32_t d = 1; d < step_.plan.data; ++d) {
      const std::vector<float> more = session.read(step_.plan.rank_of(d, place.tensor, place.pipeline), name);
      for (std::size_t i = 0; i < more.size(); ++i) out[i] += more[i];
    }
  return out;
}

std::vector<float> ShardedState::read(runtime::Session& session, const WeightSpec& tensor, bool gradient) const {
  std::vector<float> out(element_count(tensor.shape));
  for_each_rank(plan_, [&](ShardRank place) {
    if (!is_on_stage(tensor, model_, plan_, place.pipeline)) return;
    Weights shard;
    for (const WeightSpec& part : parts_of(place))
      if (part.in_file() == tensor.name) put_device_values(shard, part, read_part(session, part, place, gradient));
    put_shard(tensor, out, shard.values.at(tensor.name), model_, plan_, place.tensor);
  });
  return out;
}

}  // namespace workloads
