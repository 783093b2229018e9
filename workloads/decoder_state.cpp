#include "workloads/decoder_state.h"

#include <algorithm>
#include <span>

#include "base/error.h"
#include "runtime/hyper.h"
#include "workloads/train_checkpoint.h"
#include "workloads/zero_io.h"

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

void DecoderState::take_bucket(runtime::Session& session, const std::string& state, const ZeroBucket& bucket,
                               std::int64_t rank, Weights& out) const {
  const std::vector<float> all = read_bucket(session, spec_, {region_of(state, bucket.name), rank});
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
    for (const ZeroBucket& bucket : zero_) take_bucket(session, state, bucket, tensor_rank, out);
    return out;
  }
  for (const WeightSpec& part : parts_)
    out.set_from_device(part, session.read(spec_.rank_of(0, tensor_rank, 0), region_of(state, part.name)));
  return out;
}

void DecoderState::write(runtime::Session& session, const std::string& state, const Weights& whole) const {
  for (std::int64_t t = 0; t < spec_.tensor_parallel; ++t) {
    const Weights part = shard_of(whole, config_, plan_, {.tensor = t});
    if (is_shared(state)) {
      for (const ZeroBucket& bucket : zero_)
        write_bucket(session, spec_, bucket, {region_of(state, bucket.name), t},
                     [&](const std::string& name) { return part.for_device(part_of(name)); });
      continue;
    }
    for (const WeightSpec& spec : parts_) {
      const std::vector<float> values = part.for_device(spec);
      for (std::uint32_t d = 0; d < spec_.ranks; ++d)
        session.write(spec_.rank_of(d, t, 0), region_of(state, spec.name), values);
    }
  }
}

}  // namespace workloads
