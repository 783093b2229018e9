// Which part of which tensor a rank holds.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "workloads/checkpoints/shards.h"
#include "workloads/models/model.h"

namespace workloads {
namespace {

using base::Error;
using base::Fault;

std::int64_t rows_of_vocabulary(std::int64_t size, std::int64_t ranks) { return (size + ranks - 1) / ranks; }

/// Why the model cannot be split over that many tensor-parallel ranks; empty: it can.
std::string tensor_obstacle(const Sizes& sizes, const ShardPlan& plan, std::int64_t ranks) {
  const bool by_expert = sizes.experts > 0 && !plan.split_experts;
  if (ranks < 1) return "must be 1 or more";
  if (sizes.heads % ranks != 0) return fmt::format("does not divide the {} attention heads", sizes.heads);
  if (sizes.kv_heads % ranks != 0 && ranks % sizes.kv_heads != 0)
    return fmt::format("neither divides the {} key-value heads nor is a multiple of their number", sizes.kv_heads);
  if (by_expert && sizes.experts % ranks != 0) return fmt::format("does not divide the {} experts", sizes.experts);
  if (!by_expert && sizes.ffn % ranks != 0) return fmt::format("does not divide the feed-forward size {}", sizes.ffn);
  if (sizes.dense % ranks != 0) return fmt::format("does not divide the feed-forward size {}", sizes.dense);
  if (!by_expert && sizes.shared % ranks != 0)
    return fmt::format("does not divide the {} of the shared expert", sizes.shared);
  if (sizes.splits_vocabulary(ranks) && sizes.vocabulary > 0 &&
      (ranks - 1) * rows_of_vocabulary(sizes.vocabulary, ranks) >= sizes.vocabulary)
    return fmt::format("leaves a rank without any row of the vocabulary of {}", sizes.vocabulary);
  return {};
}

std::string use_one_of(const std::vector<std::int64_t>& legal) {
  return fmt::format("use {}{}", legal.size() > 1 ? "one of: " : "", fmt::join(legal, ", "));
}

/// AxisPart of an axis that is seen as [outer, size, inner]: `count` of `size` from `begin` on.
struct AxisPart {
  std::int64_t outer = 1, size = 1, inner = 1, begin = 0, count = 1;
};

bool splits_each(const WeightSpec& spec, const ShardPlan& plan) { return spec.expert_split && plan.split_experts; }

TensorSplit split_of(const WeightSpec& spec, const ShardPlan& plan) {
  if (spec.split == TensorSplit::kEvenVocabulary)
    return spec.shape.front() % plan.tensor_parallel_size == 0 ? TensorSplit::kVocabulary : TensorSplit::kNone;
  return splits_each(spec, plan) ? *spec.expert_split : spec.split;
}

/// Whether the rows of each part of a stack are split.
bool splits_rows_of_each(const WeightSpec& spec, const ShardPlan& plan) {
  return spec.stack > 0 && splits_each(spec, plan) && spec.expert_split == TensorSplit::kAxis0;
}

AxisPart part_of(const WeightSpec& spec, const ModelPtr& model, const ShardPlan& plan, std::int64_t rank) {
  const std::int64_t ranks = plan.tensor_parallel_size;
  const auto all = static_cast<std::int64_t>(element_count(spec.shape));
  const std::int64_t rows = spec.shape.empty() ? 1 : spec.shape.front(), row = all / rows;
  const auto equal = [&](std::int64_t outer, std::int64_t size, std::int64_t inner) {
    base::ensure(size % ranks == 0, spec.name, "the plan does not divide it");
    return AxisPart{outer, size, inner, rank * (size / ranks), size / ranks};
  };
  if (splits_rows_of_each(spec, plan)) return equal(rows / spec.stack, spec.stack, row);
  switch (split_of(spec, plan)) {
    case TensorSplit::kNone: return {1, 1, all, 0, 1};
    case TensorSplit::kAxis0: return equal(1, rows, row);
    case TensorSplit::kAxis1: return equal(rows, row, 1);
    case TensorSplit::kFused: return equal(all / spec.shape.back() * 3, spec.shape.back() / 3, 1);
    case TensorSplit::kEvenVocabulary: break;
    case TensorSplit::kVocabulary: {
      const std::int64_t begin = rank * rows_of_vocabulary(rows, ranks);
      return {1, rows, row, begin, std::min(rows - begin, rows_of_vocabulary(rows, ranks))};
    }
    case TensorSplit::kKeyValue: {
      const std::int64_t heads = model->sizes().kv_heads;
      if (heads % ranks == 0) return equal(1, rows, row);
      return {1, heads, all / heads, rank * heads / ranks, 1};  // neighbours share a head
    }
  }
  base::ensure(false, spec.name, "has no known split");
  return {};
}

Shape part_shape(const WeightSpec& spec, const ShardPlan& plan, const AxisPart& part) {
  Shape shape = spec.shape;
  const TensorSplit split = split_of(spec, plan);
  if (split == TensorSplit::kNone) return shape;
  const std::size_t axis = split == TensorSplit::kAxis1 ? 1 : split == TensorSplit::kFused ? shape.size() - 1 : 0;
  shape[axis] = shape[axis] / part.size * part.count;
  return shape;
}

/// Calls copy(offset in the whole, offset in the part, length) for every run of elements.
template <typename Copy>
void for_each_run(const AxisPart& part, Copy copy) {
  const std::int64_t length = part.count * part.inner;
  for (std::int64_t outer = 0; outer < part.outer; ++outer)
    copy((outer * part.size + part.begin) * part.inner, outer * length, length);
}

}  // namespace

ShardPlan shard_plan(const runtime::Plan& plan) {
  return {.tensor_parallel_size = plan.tensor,
          .pipeline_parallel_size = plan.pipeline,
          .virtual_pipeline_size = plan.chunks};
}

std::optional<Problem> problem(const ShardPlan& plan, const Sizes& sizes) {
  if (const std::string why = tensor_obstacle(sizes, plan, plan.tensor_parallel_size); !why.empty()) {
    std::vector<std::int64_t> legal;
    for (std::int64_t ranks = 1; ranks <= sizes.heads; ++ranks)
      if (tensor_obstacle(sizes, plan, ranks).empty()) legal.push_back(ranks);
    return Problem{"`tensor_parallel_size`", fmt::format("{} {}", plan.tensor_parallel_size, why), use_one_of(legal)};
  }
  const std::int64_t stages = plan.pipeline_parallel_size, chunks = plan.virtual_pipeline_size;
  if (chunks > 1 && stages < 2)
    return Problem{"`virtual_pipeline_size`",
                   fmt::format("{} of one stage cannot alternate", base::counted(chunks, "chunk")),
                   "use `pipeline_parallel_size` 2 or more"};
  if (stages >= 1 && chunks >= 1 && sizes.layers % (stages * chunks) == 0) return std::nullopt;
  std::vector<std::int64_t> legal;
  for (std::int64_t size = 1; size <= sizes.layers; ++size)
    if (sizes.layers % (size * std::max<std::int64_t>(chunks, 1)) == 0) legal.push_back(size);
  return Problem{"`pipeline_parallel_size`",
                 fmt::format("the {} cannot be divided into {} of {}", base::counted(sizes.layers, "layer"),
                             base::counted(stages, "stage"), base::counted(chunks, "chunk")),
                 legal.empty() ? "use another `virtual_pipeline_size`" : use_one_of(legal)};
}

std::optional<Problem> encoder_problem(const Plan& plan, const Sizes& sizes) {
  if (plan.pipeline > 1 || plan.chunks > 1)
    return Problem{plan.chunks > 1 ? "`virtual_pipeline_size`" : "`pipeline_parallel_size`",
                   "an encoder's layers are not cut into stages", "leave it out, or use `tensor_parallel_size`"};
  if (plan.tensor > 1 && plan.sequence)
    return Problem{"`disable_sequence_parallel`", "the tokens of an encoder are not split",
                   "give `disable_sequence_parallel`"};
  if (const auto found = problem(shard_plan(plan), sizes)) return found;
  if (sizes.kv_heads > 0 && sizes.kv_heads % plan.tensor != 0)
    return Problem{"`tensor_parallel_size`",
                   fmt::format("{} key-value heads are not divided by {}, and no core of an encoder has a copy of one",
                               sizes.kv_heads, plan.tensor),
                   "use a divisor of both numbers of heads"};
  return std::nullopt;
}

void check(const ShardPlan& plan, const ModelPtr& model) {
  if (const auto found = problem(plan, model->sizes()))
    throw Error{Fault::kUsage, found->where, found->what, found->fix};
}

bool is_on_stage(const WeightSpec& spec, const ModelPtr& model, const ShardPlan& plan, std::int64_t stage) {
  const std::int64_t stages = plan.pipeline_parallel_size;
  if (spec.layer == WeightSpec::kBeforeLayers) return stage == 0;
  if (spec.layer == WeightSpec::kAfterLayers) return stage == stages - 1;
  if (spec.layer == WeightSpec::kBeforeAndAfterLayers) return stage == 0 || stage == stages - 1;
  const std::int64_t per_chunk = model->sizes().layers / (stages * plan.virtual_pipeline_size);
  return spec.layer / per_chunk % stages == stage;
}

std::vector<WeightSpec> shard_specs(const ModelPtr& model, const ShardPlan& plan, ShardRank rank) {
  check(plan, model);
  std::vector<WeightSpec> specs;
  for (WeightSpec& spec : model->weights()) {
    if (!is_on_stage(spec, model, plan, rank.pipeline)) continue;
    const AxisPart part = part_of(spec, model, plan, rank.tensor);
    if (spec.split == TensorSplit::kEvenVocabulary) spec.split = split_of(spec, plan);
    spec.shape = part_shape(spec, plan, part);
    if (splits_rows_of_each(spec, plan)) spec.stack /= plan.tensor_parallel_size;
    specs.push_back(std::move(spec));
  }
  return specs;
}

std::vector<float> shard_of(const WeightSpec& whole, std::span<const float> values, const ModelPtr& model,
                            const ShardPlan& plan, std::int64_t tensor_rank) {
  base::ensure(values.size() == element_count(whole.shape), whole.name, "does not have as many values as its shape");
  const AxisPart part = part_of(whole, model, plan, tensor_rank);
  std::vector<float> out(static_cast<std::size_t>(part.outer * part.count * part.inner));
  for_each_run(part, [&](std::int64_t in_whole, std::int64_t in_part, std::int64_t length) {
    std::copy_n(values.begin() + in_whole, length, out.begin() + in_part);
  });
  return out;
}

void put_shard(const WeightSpec& whole, std::span<float> values, std::span<const float> part_values,
               const ModelPtr& model, const ShardPlan& plan, std::int64_t tensor_rank) {
  const AxisPart part = part_of(whole, model, plan, tensor_rank);
  base::ensure(values.size() == element_count(whole.shape) &&
                   part_values.size() == static_cast<std::size_t>(part.outer * part.count * part.inner),
               whole.name, "does not have as many values as its shape");
  for_each_run(part, [&](std::int64_t in_whole, std::int64_t in_part, std::int64_t length) {
    std::copy_n(part_values.begin() + in_part, length, values.begin() + in_whole);
  });
}

std::int64_t shard_offset(const WeightSpec& whole, const ModelPtr& model, const ShardPlan& plan,
                          std::int64_t tensor_rank) {
  return part_of(whole, model, plan, tensor_rank).begin;
}

std::vector<WeightSpec> of_state(std::vector<WeightSpec> specs, std::string_view state) {
  if (state != "model") std::erase_if(specs, [](const WeightSpec& spec) { return spec.frozen; });
  return specs;
}

Weights shard_of(const Weights& weights, const ModelPtr& model, const ShardPlan& plan, ShardRank rank,
                 std::string_view state) {
  check(plan, model);
  Weights part;
  for (const WeightSpec& spec : of_state(model->weights(), state)) {
    if (!is_on_stage(spec, model, plan, rank.pipeline)) continue;
    const auto at = weights.values.find(spec.name);
    base::ensure(at != weights.values.end(), spec.name, "is not among the weights");
    part.values[spec.name] = shard_of(spec, at->second, model, plan, rank.tensor);
  }
  return part;
}

}  // namespace workloads
