#include "workloads/models/decoder/decoder_weights.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "workloads/models/decoder/decoder_arch.h"

namespace workloads {
namespace {

/// Calls copy(place in the fused tensor, place in the part, length) for each row of it, or for all of a part of a
/// stack.
template <class Copy>
void for_each_row(const WeightSpec& spec, const Copy& copy) {
  if (spec.stack > 0) {
    const auto size = static_cast<std::int64_t>(element_count(spec.shape));
    return copy(spec.third * size, std::int64_t{0}, size);
  }
  const auto all = static_cast<std::int64_t>(element_count(spec.shape)), length = spec.shape.back();
  for (std::int64_t row = 0; row < all / length; ++row) copy((3 * row + spec.third) * length, row * length, length);
}

/// "...experts.2.w1.weight" of "...experts.w1.weight". Where the file has tensors of each expert, a part keeps its own:
/// copies of all would be the square of the experts.
std::vector<WeightSpec> unstacked(WeightSpec spec) {
  const std::int64_t count = spec.shape.front() / spec.stack;
  spec.fused = spec.name, spec.shape.front() = spec.stack;
  const std::vector<FilePiece> pieces = std::move(spec.pieces);
  const auto each = static_cast<std::ptrdiff_t>(pieces.size()) / count;
  const bool own = each * count == static_cast<std::ptrdiff_t>(pieces.size());
  const std::size_t at = spec.fused.rfind('.', spec.fused.rfind('.') - 1) + 1;
  std::vector<WeightSpec> out;
  for (spec.third = 0; spec.third < count; ++spec.third) {
    spec.name = fmt::format("{}{}.{}", spec.fused.substr(0, at), spec.third, spec.fused.substr(at));
    const auto first = pieces.begin() + (own ? spec.third * each : 0);
    spec.pieces.assign(first, own ? first + each : pieces.end());
    out.push_back(spec);
  }
  return out;
}

}  // namespace

std::vector<WeightSpec> device_parts(WeightSpec spec) {
  if (spec.stack > 0) return unstacked(std::move(spec));
  if (spec.split != TensorSplit::kFused) return {std::move(spec)};
  spec.fused = spec.name;
  spec.shape.back() /= 3;
  spec.split = spec.shape.size() == 1 ? TensorSplit::kAxis0 : TensorSplit::kAxis1;
  const std::size_t at = spec.fused.rfind('.') + 1;
  std::vector<WeightSpec> out;
  for (const char* part : {"q.", "k.", "v."}) {
    spec.name = spec.fused.substr(0, at) + part + spec.fused.substr(at);
    out.push_back(spec);
    ++spec.third;
  }
  return out;
}

namespace {

std::vector<WeightSpec> parts_of_rank(const ModelPtr& model, const ShardPlan& plan, std::int64_t stage) {
  std::vector<WeightSpec> out;
  for (WeightSpec& whole : shard_specs(model, plan, {.pipeline = stage}))
    for (WeightSpec& part : device_parts(std::move(whole))) out.push_back(std::move(part));
  return out;
}

}  // namespace

std::vector<WeightSpec> decoder_weights(const ModelPtr& model, const Step& step) {
  return parts_of_rank(model, shard_plan(step.plan), step.stage);
}

std::vector<WeightSpec> decoder_weights(const ModelPtr& model, const ShardPlan& plan) {
  return parts_of_rank(model, plan, 0);
}

std::int64_t head_sharing(const ModelPtr& model, std::int64_t tensor_parallel) {
  return std::max<std::int64_t>(1, tensor_parallel / decoder_arch(model).block.attention.kv_heads);
}

std::vector<float> device_values(const Weights& shard, const WeightSpec& spec) {
  if (spec.fused.empty()) return shard.for_device(spec);
  const auto at = shard.values.find(spec.fused);
  const std::size_t size = element_count(spec.shape);
  const bool fits =
      at != shard.values.end() && (spec.stack > 0 ? at->second.size() % size == 0 : at->second.size() == 3 * size);
  base::ensure(fits, spec.fused, "does not have the size of its parts");
  std::vector<float> out(size);
  for_each_row(spec, [&](std::int64_t from, std::int64_t to, std::int64_t length) {
    std::copy_n(at->second.begin() + from, length, out.begin() + to);
  });
  return spec.stack > 0 && spec.shape.size() == 2
             ? transpose(out, static_cast<std::size_t>(spec.shape.at(0)), static_cast<std::size_t>(spec.shape.at(1)))
             : out;
}

void put_device_values(Weights& shard, const WeightSpec& spec, std::span<const float> values) {
  if (spec.fused.empty()) return shard.set_from_device(spec, values);
  base::ensure(values.size() == element_count(spec.shape), spec.name, "does not have as many values as its shape");
  std::vector<float>& whole = shard.values[spec.fused];
  std::vector<float> transposed;
  if (spec.stack > 0) {
    whole.resize(std::max(whole.size(), static_cast<std::size_t>(spec.third + 1) * values.size()));
    if (spec.shape.size() == 2) {
      transposed =
          transpose(values, static_cast<std::size_t>(spec.shape.at(1)), static_cast<std::size_t>(spec.shape.at(0)));
      values = transposed;
    }
  } else {
    whole.resize(3 * values.size());
  }
  for_each_row(spec, [&](std::int64_t to, std::int64_t from, std::int64_t length) {
    std::copy_n(values.begin() + from, length, whole.begin() + to);
  });
}

}  // namespace workloads
