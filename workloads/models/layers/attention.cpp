#include <algorithm>

#include "runtime/ops/ops.h"
#include "workloads/models/layers/layers.h"

namespace workloads {

using runtime::ValueId;

namespace {

/// Whether a prompt goes to a kernel that keeps scores on the chip; otherwise attention is built operation by
/// operation (transformers-neuronx, layers/attention.py, flash_attention and context_combined). From 4096 tokens on it
/// does where the kernel can take queries, keys and mask as they are: as many heads of keys as of queries on a core, no
/// window, and one prompt, as the kernel knows nothing of padding in front (llama/hlo.py). That a single head goes for
/// any batch, and all prompts from 8192 tokens on, whose scores are too large, is assumed by published times. Other
/// libraries say from how many tokens on.
bool has_kernel(const Seen& seen, const LayerProgram& program, std::int64_t heads, std::int64_t kv_heads) {
  if (program.kernel_from > 0) return seen.queries >= program.kernel_from;
  if (!program.prompt_kernel) return false;
  constexpr std::int64_t kKernelFrom = 4096, kAlwaysFrom = 8192;
  if (seen.queries >= kAlwaysFrom) return true;
  const bool as_they_are = heads == kv_heads && seen.window == 0;
  return seen.queries >= kKernelFrom && as_they_are && (program.batch == 1 || heads == 1);
}

/// AttentionAttrs::tile_keys.
std::int64_t keys_at_a_time(const Seen& seen, const LayerProgram& program, bool has_kernel, bool in_blocks) {
  if (in_blocks) return runtime::AttentionAttrs::kByKernel;
  const bool unfused = program.mode == Mode::kPrompt && seen.causal && !has_kernel && program.kernel_from == 0;
  if (!unfused) return 0;
  return program.scores_together ? runtime::AttentionAttrs::kUnfusedTogether : runtime::AttentionAttrs::kUnfused;
}

}  // namespace

ValueId Layers::heads(const std::string& label, const std::vector<ValueId>& qkv, const AttentionArch& arch,
                      const Seen& seen) {
  std::vector<ValueId> in = qkv;
  for (const ValueId more : {seen.mask, seen.bias, slopes_, seen.sinks})
    if (more != runtime::kNoValue) in.push_back(more);
  const std::int64_t heads = arch.heads / program_.ranks;
  const std::int64_t kv_heads = std::max<std::int64_t>(1, arch.kv_heads / program_.ranks);
  const bool kernel = has_kernel(seen, program_, heads, kv_heads);
  // That of NxD Inference takes keys in blocks and leaves out those that no query sees, as published ones do.
  const bool in_blocks =
      kernel && program_.kernel_from > 0 && seen.bias == runtime::kNoValue && slopes_ == runtime::kNoValue;
  const runtime::AttentionAttrs attrs{
      .scale = arch.score_scale(),
      .batch = program_.batch,
      .seq = seen.queries,
      .heads = heads,
      .kv_heads = kv_heads,
      .causal = seen.causal,
      .window = seen.window,
      .flash = in_blocks,
      .term = seen.bias != runtime::kNoValue ? runtime::ScoreTerm::kBias : term(seen.sinks),
      .soft_cap = arch.soft_cap,
      .tile_keys = keys_at_a_time(seen, program_, kernel, in_blocks),
      .p = program_.training ? arch.dropout : 0,
      .stream = stream_++,
      .operand = numerics().operand,
      .softmax = arch.fp32_softmax ? isa::Dtype::kFp32 : numerics().softmax};
  return graph_.add(runtime::kAttention, label, in, attrs)[0];
}

ValueId Layers::place_scores(const std::vector<ValueId>& qkv, const AttentionArch& arch, const PlaceTable& table,
                             const std::string& key, const std::string& query) {
  const ValueId rows = dropout("attention.places.dropout", table.rows, arch.places.dropout);
  const runtime::MatmulAttrs spread{.alpha = arch.score_scale(), .dtype = numerics().activation};
  ValueId sum = runtime::kNoValue;
  if (arch.places.of_keys) {
    const ValueId places = linear("attention.place_key", rows, key);
    sum = by_distance("attention.key_places", qkv[0], matmul("attention.place_keys", table.forwards, places, spread),
                      arch, false);
  }
  if (arch.places.of_queries) {
    const ValueId places = linear("attention.place_query", rows, query);
    const ValueId more = by_distance("attention.query_places", qkv[1],
                                     matmul("attention.place_queries", table.backwards, places, spread), arch, true);
    sum = sum == runtime::kNoValue ? more : add("attention.places", sum, more);
  }
  return sum;
}

/// Products of each row of x with the places of all distances, of which the rows of scores, or their columns if
/// `turned`, begin one further left each.
ValueId Layers::by_distance(const std::string& label, ValueId x, ValueId places, const AttentionArch& arch,
                            bool turned) {
  const std::int64_t batch = program_.batch, length = program_.length;
  const std::int64_t heads = arch.heads / program_.ranks, width = heads * arch.head;
  const std::int64_t distances = 2 * length - 1, step = distances - 1, rows = batch * heads;
  const ValueId products = graph_.add1(runtime::kBatchMatmul, label, {x, places},
                                       runtime::BatchMatmulAttrs{.batch = {batch, heads},
                                                                 .m = length,
                                                                 .k = arch.head,
                                                                 .n = distances,
                                                                 .x = {length * width, arch.head, width, 1},
                                                                 .w = {0, arch.head, 1, width},
                                                                 .dtype = numerics().activation,
                                                                 .operand = numerics().operand});
  return graph_.add1(runtime::kMove, label + ".shift", {products},
                     runtime::MoveAttrs{.sizes = {rows, length, length},
                                        .strides = {length * distances, turned ? 1 : step, turned ? step : 1},
                                        .first = length - 1,
                                        .rows = rows * length,
                                        .cols = length,
                                        .dtype = numerics().activation});
}

ValueId Layers::clipped(const std::string& label, ValueId x, double limit, bool above_only) {
  if (limit <= 0) return x;
  return graph_.add1(runtime::kClamp, label, {x}, runtime::ClampAttrs{.limit = limit, .above_only = above_only});
}

ValueId Layers::with_shared_part(const std::string& label, ValueId shared, ValueId x, std::int64_t heads) {
  const runtime::ColumnsAttrs each{.sizes = {heads, graph_.value(shared).cols}, .strides = {0, 1}};
  const ValueId spread = graph_.add1(runtime::kTakeColumns, label + ".spread", {shared}, each);
  return graph_.add1(runtime::kJoinColumns, label, {spread, x}, runtime::JoinAttrs{.blocks = heads});
}

runtime::ScoreTerm Layers::term(ValueId sinks) const {
  if (sinks != runtime::kNoValue) return runtime::ScoreTerm::kSinks;
  return slopes_ != runtime::kNoValue ? runtime::ScoreTerm::kSlopes : runtime::ScoreTerm::kNone;
}

void Layers::declare_slopes(const AttentionArch& arch, runtime::Kind kind) {
  if (arch.slopes.empty()) return;
  slopes_ = graph_.tensor("slopes", 1, arch.heads / program_.ranks, isa::Dtype::kFp32, kind);
}

ValueId Layers::cached_heads(const std::string& label, std::vector<ValueId> qkv, const AttentionArch& arch,
                             const Caches& caches, const Seen& seen) {
  qkv.insert(qkv.end(), {caches.keys, caches.values, at_});
  const std::int64_t rows = graph_.value(caches.keys).rows / program_.batch;
  const bool windowed = seen.window > 0 && seen.window < program_.grown;
  if (windowed) qkv.push_back(rows < program_.grown ? slots_ : at_);
  for (const ValueId more : {slopes_, seen.sinks})
    if (more != runtime::kNoValue) qkv.push_back(more);
  return graph_.add(runtime::kCachedAttention, label, qkv,
                    runtime::CachedAttentionAttrs{.scale = arch.score_scale(),
                                                  .batch = program_.batch,
                                                  .seq = std::min(program_.cached, rows),
                                                  .heads = arch.heads / program_.ranks,
                                                  .kv_heads = std::max<std::int64_t>(1, arch.kv_heads / program_.ranks),
                                                  .window = windowed ? seen.window : 0,
                                                  .soft_cap = arch.soft_cap,
                                                  .term = term(seen.sinks),
                                                  .beside = program_.beside,
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
                       runtime::CacheFillAttrs{
                           .batch = program_.batch, .seq = std::min(program_.length, rows), .beside = program_.beside});
  };
  const ValueId filled_keys = fill(label + ".keys", keys, caches.keys);
  return {filled_keys, fill(label + ".values", values, caches.values)};
}

}  // namespace workloads
