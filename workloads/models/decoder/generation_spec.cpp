// The limits of a generation, and the lengths of its programs.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "base/error.h"
#include "base/text.h"
#include "workloads/checkpoints/shards.h"
#include "workloads/models/decoder/decoder_arch.h"
#include "workloads/models/decoder/generation_graph.h"

namespace workloads {

using base::Error;
using base::Fault;

void require_generator(const ModelPtr& model) {
  if (decoder_arch(model).head.classes > 0)
    throw Error{Fault::kUsage, "model", "classifies texts and does not generate any",
                "choose a model that predicts tokens"};
}

void check(const GenerationSpec& spec, const ModelPtr& model) {
  const DecoderArch arch = decoder_arch(model);
  if (model->pairs() && spec.tensor_parallel > 1)
    throw Error{Fault::kUsage, "`tensor_parallel_size`",
                fmt::format("{} generates text on one core only", model->family()), "use 1, or leave it out"};
  check(generation_plan(spec.tensor_parallel), model);
  constexpr std::int64_t kMostBatch = 128, kMostTokens = 65535;
  if (spec.batch < 1 || spec.batch > kMostBatch)
    throw Error{Fault::kUsage, "`batch_size`",
                fmt::format("{} at once: each has a partition of SBUF here", base::counted(spec.batch, "sequence")),
                fmt::format("use 1 to {}, several times", kMostBatch)};
  if (spec.length > cache_length(arch.positions))
    throw Error{Fault::kUsage, "`max_new_tokens`",
                fmt::format("prompt and new tokens need {}, but the model has {}",
                            base::counted(spec.length, "position"), arch.positions),
                "use a shorter prompt or fewer new tokens"};
  if (spec.prompt < 1 || (!model->pairs() && spec.prompt > spec.length))
    throw Error{Fault::kUsage, "`prompt`",
                fmt::format("{} do not fit in a cache of {}", base::counted(spec.prompt, "token"), spec.length),
                "use a shorter prompt or more `max_length`"};
  if (model->pairs() && spec.batch * spec.length > kMostTokens)
    throw Error{Fault::kUsage, "`batch_size`",
                fmt::format("{} of up to {}", base::counted(spec.batch, "text"), base::counted(spec.length, "token")),
                fmt::format("use a smaller one, or fewer `max_new_tokens`: at most {} tokens", kMostTokens)};
}

ShardPlan generation_plan(std::int64_t tensor_parallel) {
  return {.tensor_parallel_size = tensor_parallel, .split_experts = true};
}

std::int64_t loaded_experts(std::int64_t experts, std::int64_t top_k, std::int64_t tokens) {
  return std::min(experts, top_k * tokens);
}

std::int64_t loaded_experts(const ModelPtr& model, std::int64_t tokens) {
  const std::optional<MixtureArch> mixture = decoder_arch(model).block.mixture;
  return mixture ? loaded_experts(mixture->experts, mixture->top_k, tokens) : 0;
}

runtime::Numerics generation_numerics(std::string_view name) {
  if (name != "fp32" && name != "bf16" && name != "fp16")
    throw Error{Fault::kUsage, "`numerics`", fmt::format("'{}' is not a type for generation", name),
                "use fp32, bf16 or fp16"};
  runtime::Numerics numerics = runtime::numerics(name);
  numerics.weight = numerics.activation;  // they are not updated
  numerics.softmax = isa::Dtype::kFp32;
  return numerics;
}

std::int64_t cache_length(std::int64_t tokens) {
  constexpr std::int64_t kTile = isa::kPartitions;
  return tokens <= kTile ? tokens : (tokens + kTile - 1) / kTile * kTile;
}

std::int64_t GenerationSpec::cache_rows(std::int64_t window) const {
  return window > 0 ? std::min(length, cache_length(window)) : length;
}

std::int64_t prompt_bucket(std::int64_t tokens, std::int64_t length) {
  constexpr std::uint64_t kLeast = 128;
  const std::uint64_t bucket = std::bit_ceil(std::max(kLeast, static_cast<std::uint64_t>(tokens)));
  return std::min(static_cast<std::int64_t>(bucket), length);
}

std::vector<std::int64_t> token_buckets(std::int64_t first, std::int64_t last, std::int64_t length) {
  std::vector<std::int64_t> out;
  for (std::int64_t at = first;; at = out.back()) {
    out.push_back(prompt_bucket(at + 1, length));
    if (out.back() >= std::min(last + 1, length)) return out;
  }
}

std::int64_t GenerationSpec::experts_read(std::int64_t experts, std::int64_t top_k, std::int64_t tokens) const {
  return timed_experts ? loaded_experts(experts, top_k, tokens) : experts;
}

TokenWork token_work(const ModelPtr& model, const GenerationSpec& spec) {
  const DecoderArch arch = decoder_arch(model);
  TokenWork work;
  const auto batch = static_cast<double>(spec.batch), size = static_cast<double>(isa::size_of(spec.numerics.weight));
  for (const GenerationWeight& w : generation_weights(model, spec.tensor_parallel)) {
    if (!w.blocked || w.once) continue;  // of tables only rows are read
    auto elements = static_cast<double>(element_count(w.spec.shape));
    if (w.spec.stack > 0)
      elements *=
          static_cast<double>(spec.experts_read(arch.block.mixture->experts, arch.block.mixture->top_k, spec.batch)) /
          static_cast<double>(arch.block.mixture->experts);
    work.weight_bytes += elements * size;
    work.flops += 2 * batch * elements;
  }
  const auto ranks = static_cast<double>(spec.tensor_parallel), layers = static_cast<double>(arch.layers);
  const AttentionArch& attention = arch.block.attention;
  const double groups = std::max(1.0, static_cast<double>(attention.kv_heads) / ranks);
  double rows = 0;  // times the elements of a head's key and value
  for (std::int64_t l = 0; l < arch.layers; ++l) {
    const std::int64_t there = spec.cache_rows(attention.window.of(l));
    rows += batch * static_cast<double>(std::min(spec.rows_read(), there) * (attention.head + attention.value()));
  }
  if (model->pairs()) {  // each layer that writes has caches of both texts
    const double written = static_cast<double>(model->pairs()->layers) / layers;
    rows *= written * static_cast<double>(spec.length + spec.prompt) / static_cast<double>(spec.rows_read());
  }
  work.cache_bytes = rows * groups * static_cast<double>(isa::size_of(spec.numerics.activation));
  work.flops += 2 * rows * static_cast<double>(attention.heads) / ranks;
  return work;
}

}  // namespace workloads
