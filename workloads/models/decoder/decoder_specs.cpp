// The tensors of a decoder, from its architecture.
#include <cmath>

#include "workloads/models/decoder/decoder_arch.h"
#include "workloads/models/spec_list.h"

namespace workloads {
namespace {

/// A linear layer with inputs of one size.
struct Projection {
  std::string name{};
  std::int64_t in = 0, out = 0;
  TensorSplit split = TensorSplit::kAxis0;
  bool bias = false;
};

/// Rows of a tensor of a file.
struct Rows {
  std::int64_t first = 0, count = 0, step = 1;
};

/// Where the rows of a layer are that a file has otherwise.
struct Stored {
  std::string name;          // empty: it has the layer as it is
  std::int64_t all = 0;      // rows of the file's tensor
  std::vector<Rows> rows{};  // of these, in the layer's order
};

void put(SpecList& list, const Projection& p, const Stored& from = {}) {
  const auto stored = [&](const char* kind, Shape shape) {
    std::vector<FilePiece> pieces;
    for (const auto [first, rows, step] : from.rows) pieces.push_back({from.name + kind, shape, first, rows, step});
    if (!from.name.empty()) list.stored_in(std::move(pieces));
  };
  list.matrix(p.name, p.in, p.out, p.split);
  stored(".weight", {from.all, p.in});
  if (!p.bias) return;
  const TensorSplit split = p.split == TensorSplit::kAxis1 ? TensorSplit::kNone : p.split;
  list.tensor(p.name + ".bias", {p.out}, Init::kZeros, false, split);
  stored(".bias", {from.all});
}

/// `split`: of a root mean square's weights, where ranks share its columns.
void norm(SpecList& list, const NormArch& arch, const std::string& name, std::int64_t size,
          TensorSplit split = TensorSplit::kNone) {
  if (arch.rms) return list.rms_norm(name, size, arch.offset != 0 ? Init::kZeros : Init::kOnes, split);
  if (arch.gain) list.rms_norm(name, size);
  if (arch.bias) list.norm_bias(name, size);
}

/// Queries, keys and values in one tensor, of which `part` is the 0th, 1st or 2nd.
Stored fused_qkv(const AttentionArch& a, const AttentionNames& names, const std::string& prefix, std::int64_t part) {
  const std::int64_t groups = names.fused_groups > 0 ? names.fused_groups : a.kv_heads;
  if (names.fused.empty() || groups == 0) return {};
  const std::int64_t query = a.query_size() / groups, key = a.key_size() / groups, all = query + 2 * key;
  const bool behind = (part == 2) != names.values_first;  // of keys and values
  Stored out{prefix + names.fused, groups * all, {}};
  for (std::int64_t g = 0; g < groups; ++g)
    out.rows.push_back({g * all + (part == 0 ? 0 : query + (behind ? key : 0)), part == 0 ? query : key});
  return out;
}

/// Queries or keys whose pairs that turn are neighbours in the file: the device has the first elements of a head's
/// pairs, then the second ones, then those that do not turn. Products of queries and keys are the same.
Stored by_halves(const DecoderArch& arch, const Projection& p, Stored from) {
  const std::int64_t pairs = arch.block.rotary.pairs(), head = arch.block.attention.head;
  if (!arch.block.rotary.neighbours || pairs == 0) return from;
  if (from.name.empty()) from = {p.name, p.out, {{0, p.out}}};
  std::vector<Rows> rows;
  for (const Rows& heads : from.rows)
    for (std::int64_t first = heads.first; first < heads.first + heads.count; first += head) {
      rows.push_back({first, pairs, 2});
      rows.push_back({first + 1, pairs, 2});
      if (2 * pairs < head) rows.push_back({first + 2 * pairs, head - 2 * pairs});
    }
  from.rows = std::move(rows);
  return from;
}

/// The rows of `count` pairs from `first` on as the device has them.
void add_pairs(std::vector<Rows>& rows, std::int64_t first, std::int64_t count, bool neighbours) {
  if (!neighbours) return rows.push_back({first, 2 * count});
  rows.push_back({first, count, 2}), rows.push_back({first + 1, count, 2});
}

/// Heads of a file end with the elements that turn; on the device these come first. A file's tensor of keys and values
/// has each head's keys, then its values.
void latent_attention(SpecList& list, const DecoderArch& arch, const std::string& prefix) {
  const AttentionArch& a = arch.block.attention;
  const LatentArch& l = a.latent;
  const AttentionNames& names = arch.block.names.attention;
  const std::int64_t pairs = arch.block.rotary.pairs(), still = a.head - 2 * pairs, both = still + l.values;
  const bool neighbours = arch.block.rotary.neighbours;
  Stored queries{prefix + names.query, a.query_size(), {}}, keys{prefix + names.fused, a.heads * both, {}},
      values = keys;
  for (std::int64_t h = 0; h < a.heads; ++h) {
    add_pairs(queries.rows, h * a.head + still, pairs, neighbours), queries.rows.push_back({h * a.head, still});
    keys.rows.push_back({h * both, still}), values.rows.push_back({h * both + still, l.values});
  }
  Stored low{prefix + names.low_fused, l.keys + 2 * pairs, {{0, l.keys}}}, turned{low.name, low.all, {}};
  add_pairs(turned.rows, l.keys, pairs, neighbours);
  if (l.queries > 0) {
    put(list, {prefix + names.query_low, arch.hidden, l.queries, TensorSplit::kNone, a.qkv_bias});
    list.rms_norm(prefix + names.query_low_norm, l.queries);
  }
  put(list, {prefix + names.query, l.queries > 0 ? l.queries : arch.hidden, a.query_size()}, queries);
  put(list, {prefix + names.low, arch.hidden, l.keys, TensorSplit::kNone, a.qkv_bias}, low);
  put(list, {prefix + names.turned, arch.hidden, 2 * pairs, TensorSplit::kNone, a.qkv_bias}, turned);
  list.rms_norm(prefix + names.low_norm, l.keys);
  put(list, {prefix + names.key, l.keys, a.heads * still}, keys);
  put(list, {prefix + names.value, l.keys, a.heads * l.values}, values);
  put(list, {prefix + names.out, a.context_size(), arch.hidden, TensorSplit::kAxis1, a.out_bias});
}

void attention(SpecList& list, const DecoderArch& arch, const std::string& prefix) {
  const AttentionArch& a = arch.block.attention;
  if (a.latent.keys > 0) return latent_attention(list, arch, prefix);
  const AttentionNames& names = arch.block.names.attention;
  const std::int64_t query = a.query_size(), key = a.key_size();
  const Projection projections[] = {
      {prefix + names.query, arch.hidden, query, TensorSplit::kAxis0, a.qkv_bias},
      {prefix + names.key, arch.hidden, key, TensorSplit::kKeyValue, a.qkv_bias},
      {prefix + names.value, arch.hidden, key, TensorSplit::kKeyValue, a.qkv_bias},
  };
  for (std::int64_t part = 0; part < 3; ++part) {
    const Projection& p = projections[part];
    const Stored from = fused_qkv(a, names, prefix, part);
    put(list, p, part < 2 ? by_halves(arch, p, from) : from);
  }
  put(list, {prefix + names.out, query, arch.hidden, TensorSplit::kAxis1, a.out_bias});
  if (!names.sinks.empty()) list.tensor(prefix + names.sinks, {a.heads}, Init::kNormal, false, TensorSplit::kAxis0);
}

/// A layer of all experts: out rows [in] each.
struct ExpertLayer {
  const std::string& name;
  const std::string& fused;  // of all in a file; empty: each has a tensor of its own
  std::int64_t in = 0, out = 0;
  std::int64_t nth = 0, of = 1;  // of the layers that the file has as one
  TensorSplit split = TensorSplit::kAxis0;
};

/// Its part of each expert's part of the file's tensor.
std::vector<FilePiece> of_fused(const ExpertLayer& l, const MixtureArch& m, const std::string& prefix, bool bias) {
  std::vector<FilePiece> out;
  const std::int64_t all = l.of * l.out;
  const bool flat = m.fused.flat();
  for (std::int64_t e = 0; e < m.experts; ++e) {
    if (flat && l.split == TensorSplit::kAxis0) {
      out.push_back({prefix + l.fused, {m.experts * l.out, l.in}, e * l.out, l.out});
      continue;
    }
    if (!flat && !m.fused.by_inputs) {
      out.push_back({prefix + l.fused + ".weight", {m.experts, all, l.in}, e * all + l.nth * l.out, l.out});
      continue;
    }
    const std::int64_t begin = m.fused.halves ? l.nth * l.out : l.nth;
    FilePiece piece{.name = prefix + l.fused, .shape = {m.experts, l.in, all}, .elements = true};
    if (flat) piece.shape = {m.experts * l.in, all};
    piece.first = e * l.in * all + begin, piece.rows = l.in * l.out, piece.step = m.fused.halves ? 1 : l.of;
    piece.columns = l.out, piece.pitch = all;
    if (bias) piece.name += "_bias", piece.shape = {m.experts, all}, piece.columns = 0;
    if (bias) piece.first = e * all + begin, piece.rows = l.out;
    out.push_back(std::move(piece));
  }
  return out;
}

void put_experts(SpecList& list, const ExpertLayer& l, const MixtureArch& m, const std::string& prefix) {
  const auto stored = [&](bool bias) {
    if (!l.fused.empty()) list.stored_in(of_fused(l, m, prefix, bias));
  };
  list.stacked(prefix + m.prefix, l.name, m.experts, l.in, l.out, l.split), stored(false);
  if (!m.bias) return;
  const TensorSplit split = l.split == TensorSplit::kAxis1 ? TensorSplit::kNone : l.split;
  list.stacked_bias(prefix + m.prefix, l.name, m.experts, l.out, split), stored(true);
}

void experts(SpecList& list, const DecoderArch& arch, const std::string& prefix) {
  const MixtureArch& m = *arch.block.mixture;
  const std::int64_t hidden = arch.hidden, size = arch.block.mlp.size;
  put(list, {prefix + m.router, hidden, m.experts, TensorSplit::kNone, m.bias});
  const Shape bias = m.choice.bias_is_row ? Shape{1, m.experts} : Shape{m.experts};
  if (!m.choice.bias.empty()) list.tensor(prefix + m.choice.bias, bias, Init::kZeros), list.freeze();
  const FusedExperts& fused = m.fused;
  const std::int64_t both = fused.flat() ? 1 : 2;
  const std::string &gate = fused.flat() ? fused.gate : fused.wide, &up = fused.flat() ? fused.up : fused.wide;
  put_experts(list, {.name = m.gate, .fused = gate, .in = hidden, .out = size, .of = both}, m, prefix);
  put_experts(list, {.name = m.up, .fused = up, .in = hidden, .out = size, .nth = both - 1, .of = both}, m, prefix);
  put_experts(list, {.name = m.down, .fused = fused.down, .in = size, .out = hidden, .split = TensorSplit::kAxis1}, m,
              prefix);
  const SharedExpertArch& shared = m.shared;
  if (shared.size == 0) return;
  const auto wide = [&](const std::string& name, std::int64_t first) {
    const Stored from =
        shared.fused.empty() ? Stored{} : Stored{prefix + shared.fused, 2 * shared.size, {{first, shared.size}}};
    put(list, {prefix + name, hidden, shared.size, TensorSplit::kNone}, from), list.expert_split(TensorSplit::kAxis0);
  };
  wide(shared.gate, 0), wide(shared.up, shared.size);
  list.matrix(prefix + shared.down, shared.size, hidden), list.expert_split(TensorSplit::kAxis1);
  if (!shared.share.empty()) list.matrix(prefix + shared.share, hidden, 1);
}

/// The numbers of xIELU, and the buffers beside them.
void curve(SpecList& list, const std::string& name) {
  list.number(name + ".alpha_n", std::log(std::expm1(kXieluFirst - kXieluSlope)));
  list.number(name + ".alpha_p", std::log(std::expm1(kXieluFirst)));
  list.constant(name + ".beta", kXieluSlope), list.constant(name + ".eps", kXieluEps);
}

void mlp(SpecList& list, const DecoderArch& arch, std::int64_t number, const std::string& prefix) {
  const auto& mixture = arch.block.mixture;
  if (mixture && mixture->is_of(number)) return experts(list, arch, prefix);
  const MlpArch& m = arch.block.mlp;
  const MlpNames& names = arch.block.names.mlp;
  const std::int64_t size = mixture ? mixture->dense_size : m.size;
  const auto wide = [&](const std::string& name, std::int64_t first) {
    const Stored from = names.fused.empty() ? Stored{} : Stored{prefix + names.fused, 2 * size, {{first, size}}};
    put(list, {prefix + name, arch.hidden, size, TensorSplit::kAxis0, m.bias}, from);
  };
  if (m.gated) wide(names.gate, 0);
  wide(names.up, size);
  put(list, {prefix + names.down, size, arch.hidden, TensorSplit::kAxis1, m.bias});
  if (m.xielu) curve(list, prefix + names.curve);
}

/// Norms of queries or keys that each head has for itself: one tensor on the device, heads side by side.
void own_norms(SpecList& list, const DecoderArch& arch, const std::string& name, std::int64_t heads) {
  const AttentionArch& a = arch.block.attention;
  const std::int64_t pairs = arch.block.rotary.pairs();
  std::vector<FilePiece> pieces;
  for (std::int64_t h = 0; h < heads; ++h) {
    const bool listed = arch.block.names.attention.listed_norms;
    FilePiece piece{.name = name + (listed ? ".norms." + std::to_string(h) : "") + ".weight",
                    .shape = listed ? Shape{a.head} : Shape{heads, a.head},
                    .elements = true};
    std::vector<Rows> rows;
    add_pairs(rows, listed ? 0 : h * a.head, pairs, arch.block.rotary.neighbours);
    if (2 * pairs < a.head) rows.push_back({rows[0].first + 2 * pairs, a.head - 2 * pairs});
    for (const auto [first, count, step] : rows) {
      piece.first = first, piece.rows = count, piece.step = step;
      pieces.push_back(piece);
    }
  }
  list.rms_norm(name, heads * a.head, Init::kOnes, heads == a.heads ? TensorSplit::kAxis0 : TensorSplit::kKeyValue);
  list.stored_in(std::move(pieces));
}

void head_norms(SpecList& list, const DecoderArch& arch, const std::string& prefix) {
  const AttentionArch& a = arch.block.attention;
  const AttentionNames& names = arch.block.names.attention;
  if (names.query_norm.empty()) return;
  if (a.norms == HeadNorms::kOwn) {
    own_norms(list, arch, prefix + names.query_norm, a.heads);
    return own_norms(list, arch, prefix + names.key_norm, a.kv_heads);
  }
  const NormArch& of_heads = a.norm ? *a.norm : arch.block.norm;
  if (a.norms == HeadNorms::kJoint) {
    norm(list, of_heads, prefix + names.query_norm, a.query_size(), TensorSplit::kAxis0);
    return norm(list, of_heads, prefix + names.key_norm, a.key_size(), TensorSplit::kKeyValue);
  }
  norm(list, of_heads, prefix + names.query_norm, a.head);
  norm(list, of_heads, prefix + names.key_norm, a.head);
}

void layer(SpecList& list, const DecoderArch& arch, std::int64_t number, const std::string& prefix) {
  const BlockNames& names = arch.block.names;
  attention(list, arch, prefix);
  mlp(list, arch, number, prefix);
  head_norms(list, arch, prefix);
  const bool bare = arch.block.residual.bare_first && number == 0;
  for (const std::string& name : {bare ? std::string{} : names.norm1, names.behind1, names.norm2, names.behind2})
    if (!name.empty()) norm(list, arch.block.norm, prefix + name, arch.hidden);
}

}  // namespace

std::vector<WeightSpec> decoder_specs(const DecoderArch& arch) {
  SpecList list;
  list.at(arch.head.tied ? WeightSpec::kBeforeAndAfterLayers : WeightSpec::kBeforeLayers);
  const std::int64_t width = arch.token_width();
  list.embedding(arch.embedding.name, arch.vocabulary, width, TensorSplit::kVocabulary);
  list.at(WeightSpec::kBeforeLayers);
  if (!arch.embedding.norm.empty()) norm(list, arch.block.norm, arch.embedding.norm, arch.hidden);
  if (!arch.embedding.projection.empty())
    put(list, {arch.embedding.projection, width, arch.hidden, TensorSplit::kNone});
  if (!arch.embedding.positions.empty())
    list.embedding(arch.embedding.positions, arch.embedding.first_position + arch.positions, arch.hidden);
  for (std::int64_t l = 0; l < arch.layers; ++l) {
    list.at(l);
    layer(list, arch, l, arch.layer_prefix(l));
  }
  list.at(WeightSpec::kAfterLayers);
  if (!arch.head.norm.empty()) norm(list, arch.block.norm, arch.head.norm, arch.hidden);
  if (!arch.head.projection.empty()) put(list, {arch.head.projection, arch.hidden, width, TensorSplit::kNone});
  if (!arch.head.dense.empty()) {
    put(list, {arch.head.dense, arch.hidden, arch.hidden, TensorSplit::kNone});
    norm(list, arch.block.norm, arch.head.dense_norm, arch.hidden);
  }
  if (arch.head.classes > 0)
    put(list, {arch.head.name, arch.hidden, arch.head.classes, TensorSplit::kNone, arch.head.bias});
  else if (!arch.head.tied)
    put(list, {arch.head.name, width, arch.vocabulary, TensorSplit::kVocabulary, arch.head.bias});
  else if (arch.head.bias)
    list.tensor(arch.head.name + ".bias", {arch.vocabulary}, Init::kZeros, false, TensorSplit::kVocabulary);
  return list.take();
}

}  // namespace workloads
