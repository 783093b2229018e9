#include <algorithm>

#include "runtime/ops/ops.h"
#include "workloads/models/layers/layers.h"

namespace workloads {

using runtime::ValueId;

namespace {

/// transformers-neuronx hands prompts from 4096 tokens on to a kernel that keeps scores on the chip; below it builds
/// attention operation by operation (layers/attention.py, flash_attention and context_combined). That the kernel
/// takes one head of a core is assumed: published prompts of 4096 tokens with two heads take three times as long.
bool has_kernel(std::int64_t tokens, std::int64_t heads) {
  constexpr std::int64_t kKernelFrom = 4096;
  return tokens >= kKernelFrom && heads == 1;
}

}  // namespace

ValueId Layers::heads(const std::string& label, const std::vector<ValueId>& qkv, const AttentionArch& arch,
                      const Seen& seen) {
  std::vector<ValueId> in = qkv;
  for (const ValueId more : {seen.mask, seen.bias})
    if (more != runtime::kNoValue) in.push_back(more);
  const std::int64_t heads = arch.heads / program_.ranks;
  const runtime::AttentionAttrs attrs{
      .scale = arch.score_scale(),
      .batch = program_.batch,
      .seq = seen.queries,
      .heads = heads,
      .kv_heads = std::max<std::int64_t>(1, arch.kv_heads / program_.ranks),
      .causal = seen.causal,
      .window = seen.window,
      .biased = seen.bias != runtime::kNoValue,
      .soft_cap = arch.soft_cap,
      .unfused = program_.mode == Mode::kPrompt && seen.causal && !has_kernel(seen.queries, heads),
      .p = program_.training ? arch.dropout : 0,
      .stream = stream_++,
      .operand = numerics().operand,
      .softmax = arch.fp32_softmax ? isa::Dtype::kFp32 : numerics().softmax};
  return graph_.add(runtime::kAttention, label, in, attrs)[0];
}

ValueId Layers::cached_heads(const std::string& label, std::vector<ValueId> qkv, const AttentionArch& arch,
                             const Caches& caches, std::int64_t window) {
  qkv.insert(qkv.end(), {caches.keys, caches.values, at_});
  const std::int64_t rows = graph_.value(caches.keys).rows / program_.batch;
  const bool windowed = window > 0 && window < program_.grown;
  if (windowed) qkv.push_back(rows < program_.grown ? slots_ : at_);
  return graph_.add(runtime::kCachedAttention, label, qkv,
                    runtime::CachedAttentionAttrs{.scale = arch.score_scale(),
                                                  .batch = program_.batch,
                                                  .seq = std::min(program_.cached, rows),
                                                  .heads = arch.heads / program_.ranks,
                                                  .kv_heads = std::max<std::int64_t>(1, arch.kv_heads / program_.ranks),
                                                  .window = windowed ? window : 0,
                                                  .soft_cap = arch.soft_cap,
                                                  .operand = numerics().operand})[0];
}

Caches Layers::filled(const std::string& label, const Caches& caches, ValueId keys, ValueId values) {
  const std::int64_t rows = graph_.value(caches.keys).rows / program_.batch;
  const auto fill = [&](const std::string& name, ValueId from, ValueId cache) {
    if (program_.length > rows) {
      if (kept_ == runtime::kNoValue)
        kept_ = graph_.tensor("kept", program_.batch * rows, 1, isa::Dtype::kInt32, runtime::Kind::kInput);
      from = graph_.add1(runtime::kEmbedding, name + ".kept", {from, kept_},
                         runtime::ResultAttrs{.dtype = graph_.value(cache).dtype});
    }
    return graph_.add1(runtime::kCacheFill, name, {from, cache},
                       runtime::CacheFillAttrs{.batch = program_.batch, .seq = std::min(program_.length, rows)});
  };
  const ValueId filled_keys = fill(label + ".keys", keys, caches.keys);
  return {filled_keys, fill(label + ".values", values, caches.values)};
}

}  // namespace workloads
