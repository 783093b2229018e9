// The tensors of a decoder, from its architecture.
#include "workloads/models/decoder/decoder_arch.h"
#include "workloads/models/spec_list.h"

namespace workloads {
namespace {

/// A linear layer with inputs of one size.
struct Projection {
  std::string name;
  std::int64_t in = 0, out = 0;
  TensorSplit split = TensorSplit::kAxis0;
  bool bias = false;
};

/// Where the rows of one of several layers are that a file has as one tensor.
struct Fused {
  std::string name;                                 // empty: it has each of its own
  std::int64_t all = 0;                             // rows of the file's tensor
  std::vector<std::array<std::int64_t, 2>> rows{};  // of these: the first, and how many
};

void put(SpecList& list, const Projection& p, const Fused& fused = {}) {
  const auto stored = [&](const char* kind, Shape shape) {
    std::vector<FilePiece> pieces;
    for (const auto [first, rows] : fused.rows) pieces.push_back({fused.name + kind, shape, first, rows});
    if (!fused.name.empty()) list.stored_in(std::move(pieces));
  };
  list.matrix(p.name, p.in, p.out, p.split);
  stored(".weight", {fused.all, p.in});
  if (!p.bias) return;
  const TensorSplit split = p.split == TensorSplit::kAxis1 ? TensorSplit::kNone : p.split;
  list.tensor(p.name + ".bias", {p.out}, Init::kZeros, false, split);
  stored(".bias", {fused.all});
}

void norm(SpecList& list, const NormArch& arch, const std::string& name, std::int64_t size) {
  if (!arch.rms) return list.layer_norm(name, size);
  list.rms_norm(name, size, arch.offset != 0 ? Init::kZeros : Init::kOnes);
}

/// Queries, keys and values, of which `part` is the 0th, 1st or 2nd.
Fused fused_qkv(const AttentionArch& a, const AttentionNames& names, const std::string& prefix, std::int64_t part) {
  if (names.fused.empty()) return {};
  const std::int64_t query = a.query_size(), key = a.key_size();
  Fused out{prefix + names.fused, query + 2 * key, {}};
  if (names.fused_by_heads) {
    const std::int64_t queries = a.heads / a.kv_heads;  // of a head of keys
    for (std::int64_t h = 0; h < a.kv_heads; ++h) {
      const std::int64_t first = h * (queries + 2);
      out.rows.push_back(
          {(part == 0 ? first : first + queries + part - 1) * a.head, (part == 0 ? queries : 1) * a.head});
    }
  } else {
    out.rows.push_back({part == 0 ? 0 : query + (part - 1) * key, part == 0 ? query : key});
  }
  return out;
}

void attention(SpecList& list, const DecoderArch& arch, const std::string& prefix) {
  const AttentionArch& a = arch.block.attention;
  const AttentionNames& names = arch.block.names.attention;
  const std::int64_t query = a.query_size(), key = a.key_size();
  put(list, {prefix + names.query, arch.hidden, query, TensorSplit::kAxis0, a.qkv_bias},
      fused_qkv(a, names, prefix, 0));
  put(list, {prefix + names.key, arch.hidden, key, TensorSplit::kKeyValue, a.qkv_bias}, fused_qkv(a, names, prefix, 1));
  put(list, {prefix + names.value, arch.hidden, key, TensorSplit::kKeyValue, a.qkv_bias},
      fused_qkv(a, names, prefix, 2));
  put(list, {prefix + names.out, query, arch.hidden, TensorSplit::kAxis1, a.out_bias});
}

void experts(SpecList& list, const DecoderArch& arch, const std::string& prefix) {
  const MixtureArch& m = *arch.block.mixture;
  const std::int64_t hidden = arch.hidden, size = arch.block.mlp.size;
  list.matrix(prefix + m.router, hidden, m.experts);
  list.stacked(prefix + m.prefix, m.gate, m.experts, hidden, size);
  list.stacked(prefix + m.prefix, m.up, m.experts, hidden, size);
  list.stacked(prefix + m.prefix, m.down, m.experts, size, hidden, TensorSplit::kAxis1);
}

void mlp(SpecList& list, const DecoderArch& arch, const std::string& prefix) {
  if (arch.block.mixture) return experts(list, arch, prefix);
  const MlpArch& m = arch.block.mlp;
  const MlpNames& names = arch.block.names.mlp;
  const auto wide = [&](const std::string& name, std::int64_t first) {
    const Fused fused = names.fused.empty() ? Fused{} : Fused{prefix + names.fused, 2 * m.size, {{first, m.size}}};
    put(list, {prefix + name, arch.hidden, m.size, TensorSplit::kAxis0, m.bias}, fused);
  };
  if (m.gated) wide(names.gate, 0);
  wide(names.up, m.size);
  put(list, {prefix + names.down, m.size, arch.hidden, TensorSplit::kAxis1, m.bias});
}

void layer(SpecList& list, const DecoderArch& arch, const std::string& prefix) {
  const BlockNames& names = arch.block.names;
  attention(list, arch, prefix);
  mlp(list, arch, prefix);
  const AttentionArch& a = arch.block.attention;
  if (!names.attention.query_norm.empty()) {
    norm(list, arch.block.norm, prefix + names.attention.query_norm, a.joint_norms ? a.query_size() : a.head);
    norm(list, arch.block.norm, prefix + names.attention.key_norm, a.joint_norms ? a.key_size() : a.head);
  }
  for (const std::string& name : {names.norm1, names.behind1, names.norm2, names.behind2})
    if (!name.empty()) norm(list, arch.block.norm, prefix + name, arch.hidden);
}

}  // namespace

std::vector<WeightSpec> decoder_specs(const DecoderArch& arch) {
  SpecList list;
  list.at(arch.head.tied ? WeightSpec::kBeforeAndAfterLayers : WeightSpec::kBeforeLayers);
  const std::int64_t width = arch.token_width();
  list.embedding(arch.embedding.name, arch.vocabulary, width, TensorSplit::kVocabulary);
  list.at(WeightSpec::kBeforeLayers);
  if (!arch.embedding.projection.empty())
    put(list, {arch.embedding.projection, width, arch.hidden, TensorSplit::kNone});
  if (!arch.embedding.positions.empty())
    list.embedding(arch.embedding.positions, arch.embedding.first_position + arch.positions, arch.hidden);
  for (std::int64_t l = 0; l < arch.layers; ++l) {
    list.at(l);
    layer(list, arch, arch.layer_prefix(l));
  }
  list.at(WeightSpec::kAfterLayers);
  if (!arch.head.norm.empty()) norm(list, arch.block.norm, arch.head.norm, arch.hidden);
  if (!arch.head.projection.empty()) put(list, {arch.head.projection, arch.hidden, width, TensorSplit::kNone});
  if (arch.head.classes > 0)
    put(list, {arch.head.name, arch.hidden, arch.head.classes, TensorSplit::kNone, arch.head.bias});
  else if (!arch.head.tied)
    put(list, {arch.head.name, width, arch.vocabulary, TensorSplit::kVocabulary, arch.head.bias});
  return list.take();
}

}  // namespace workloads
