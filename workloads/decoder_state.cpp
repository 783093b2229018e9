#include "workloads/decoder_state.h"

#include <algorithm>
#include <span>

#include "base/error.h"
#include "runtime/hyper.h"
#include "workloads/train_checkpoint.h"

namespace workloads {
DecoderState::DecoderState(const ModelConfig& config, const StepSpec& spec, std::vector<ZeroBucket> zero)
    : config_{config},
      spec_{spec},
      zero_{std::move(zero)},
      plan_{.tensor_parallel_size = spec.tensor_parallel},
      parts_{decoder_weights(config, spec.tensor_parallel)} {}

bool DecoderState::has_masters() const { return spec_.master_weights && spec_.numerics.weight != isa::Dtype::kFp32; }

std::vector<std::string> DecoderState::states() const {
  std::vector<std::string> out{"model", "exp_avg", "exp_avg_sq"};
  if (has_masters()) out.emplace_back("master");
  return out;
}

ElementType DecoderState::type_of(const std::string& state) const {
  if (state == "model") return element_type(spec_.numerics.weight);
  return state == "master" ? ElementType::kF32 : element_type(spec_.numerics.optimizer);
}

/// "exp_avg.NAME"; the master weights of a bucket are the bucket itself.
std::string DecoderState::region_of(const std::string& state, const std::string& tensor) const {
  return state == "model" || (state == "master" && is_shared(state)) ? tensor : state + "." + tensor;
}

const WeightSpec& DecoderState::part_of(const std::string& name) const {
  const auto found = std::ranges::find(parts_, name, &WeightSpec::name);
  base::ensure(found != parts_.end(), name, "no rank holds it");
  return *found;
}

void DecoderState::read_bucket(runtime::Session& session, const std::string& state, const ZeroBucket& bucket,
                               std::int64_t rank, Weights& out) const {
  std::vector<float> all;
  for (std::uint32_t d = 0; d < spec_.ranks; ++d) {
    const std::vector<float> shard = session.read(rank_of(d, rank), region_of(state, bucket.name));
    all.insert(all.end(), shard.begin(), shard.end());
  }
  std::size_t at = 0;
  for (const std::string& name : bucket.weights) {
    const WeightSpec& part = part_of(name);
    const std::size_t size = element_count(part.shape);
    out.set_from_device(part, std::span<const float>{all}.subspan(at, size));
    at += runtime::aligned(size);
  }
}

Weights DecoderState::read(runtime::Session& session, const std::string& state, std::int64_t tensor_rank) const {
  Weights out;
  if (is_shared(state)) {
    for (const ZeroBucket& bucket : zero_) read_bucket(session, state, bucket, tensor_rank, out);
    return out;
  }
  for (const WeightSpec& part : parts_)
    out.set_from_device(part, session.read(rank_of(0, tensor_rank), region_of(state, part.name)));
  return out;
}

void DecoderState::write_bucket(runtime::Session& session, const std::string& state, const ZeroBucket& bucket,
                                std::int64_t rank, const Weights& part) const {
  std::vector<float> all;
  for (const std::string& name : bucket.weights) {
    const std::vector<float> values = part.for_device(part_of(name));
    all.insert(all.end(), values.begin(), values.end());
    all.resize(runtime::aligned(all.size()));
  }
  const std::string region = region_of(state, bucket.name);
  const auto size = static_cast<std::size_t>(session.region(region).shape.at(1));
  all.resize(size * spec_.ranks);
  for (std::uint32_t d = 0; d < spec_.ranks; ++d)
    session.write(rank_of(d, rank), region, std::span<const float>{all}.subspan(d * size, size));
}

void DecoderState::write(runtime::Session& session, const std::string& state, const Weights& whole) const {
  for (std::int64_t t = 0; t < spec_.tensor_parallel; ++t) {
    const Weights part = shard_of(whole, config_, plan_, {.tensor = t});
    if (is_shared(state)) {
      for (const ZeroBucket& bucket : zero_) write_bucket(session, state, bucket, t, part);
      continue;
    }
    for (const WeightSpec& spec : parts_) {
      const std::vector<float> values = part.for_device(spec);
      for (std::uint32_t d = 0; d < spec_.ranks; ++d) session.write(rank_of(d, t), region_of(state, spec.name), values);
    }
  }
}

}  // namespace workloads
