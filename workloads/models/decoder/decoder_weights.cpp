#include "workloads/models/decoder/decoder_weights.h"

#include <algorithm>

#include "base/error.h"
#include "workloads/models/decoder/decoder_arch.h"

namespace workloads {
namespace {

/// Calls copy(place in the fused tensor, place in the third, length) for each row of it.
template <class Copy>
void for_each_row(const WeightSpec& spec, const Copy& copy) {
  const auto all = static_cast<std::int64_t>(element_count(spec.shape)), length = spec.shape.back();
  for (std::int64_t row = 0; row < all / length; ++row) copy((3 * row + spec.third) * length, row * length, length);
}

}  // namespace

std::vector<WeightSpec> device_parts(WeightSpec spec) {
  if (spec.split != TensorSplit::kFused) return {std::move(spec)};
  spec.fused = spec.name;
  spec.shape.back() /= 3;
  spec.split = spec.shape.size() == 1 ? TensorSplit::kAxis0 : TensorSplit::kAxis1;
  const std::string word = "c_attn.";
  const std::size_t at = spec.fused.find(word) + word.size();
  std::vector<WeightSpec> out;
  for (const char* part : {"q.", "k.", "v."}) {
    spec.name = spec.fused.substr(0, at) + part + spec.fused.substr(at);
    out.push_back(spec);
    ++spec.third;
  }
  return out;
}

std::vector<WeightSpec> decoder_weights(const ModelPtr& config, const Step& spec) {
  std::vector<WeightSpec> out;
  for (WeightSpec& whole : shard_specs(config, shard_plan(spec.plan), {.pipeline = spec.stage}))
    for (WeightSpec& part : device_parts(std::move(whole))) out.push_back(std::move(part));
  return out;
}

std::vector<WeightSpec> decoder_weights(const ModelPtr& config, std::int64_t tensor_parallel) {
  return decoder_weights(config, Step{.plan = {.tensor = tensor_parallel}});
}

std::int64_t head_sharing(const ModelPtr& config, std::int64_t tensor_parallel) {
  return std::max<std::int64_t>(1, tensor_parallel / decoder_arch(config).kv_heads);
}

std::vector<float> device_values(const Weights& shard, const WeightSpec& spec) {
  if (spec.fused.empty()) return shard.for_device(spec);
  const auto at = shard.values.find(spec.fused);
  const std::size_t size = element_count(spec.shape);
  base::ensure(at != shard.values.end() && at->second.size() == 3 * size, spec.fused, "has not the size of its parts");
  std::vector<float> out(size);
  for_each_row(spec, [&](std::int64_t from, std::int64_t to, std::int64_t length) {
    std::copy_n(at->second.begin() + from, length, out.begin() + to);
  });
  return out;
}

void put_device_values(Weights& shard, const WeightSpec& spec, std::span<const float> values) {
  if (spec.fused.empty()) return shard.set_from_device(spec, values);
  base::ensure(values.size() == element_count(spec.shape), spec.name, "has not as many values as its shape");
  std::vector<float>& whole = shard.values[spec.fused];
  whole.resize(3 * values.size());
  for_each_row(spec, [&](std::int64_t to, std::int64_t from, std::int64_t length) {
    std::copy_n(values.begin() + from, length, whole.begin() + to);
  });
}

}  // namespace workloads
