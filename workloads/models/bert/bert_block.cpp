// The layers of BERT and its relatives: their architecture, their weights, and the tables that a host writes for them.
#include "workloads/models/bert/bert_block.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdlib>

#include "workloads/models/decoder/decoder_graph.h"
#include "workloads/models/layers/distances.h"

namespace workloads {
namespace {

std::string text(std::string_view name) { return std::string{name}; }

/// `factor`: of "ntk", which Alibaba-NLP's modeling.py applies at any length.
std::vector<double> frequencies(double theta, std::int64_t head, double factor = 1) {
  const auto size = static_cast<double>(head);
  std::vector<double> out;
  for (std::int64_t j = 0; j < head / 2; ++j)
    out.push_back(std::pow(theta * factor, -2 * static_cast<double>(j) / size) / std::pow(factor, 2 / size));
  return out;
}

RotaryArch rotary_of(const BertConfig& c) {
  if (!c.rotary || c.num_attention_heads == 0) return {};
  RotaryArch out{.frequencies = frequencies(c.global_theta, c.head_size(), c.rope_factor), .neighbours = c.neighbours};
  if (c.local_attention > 0) out.windowed = frequencies(c.local_theta, c.head_size());
  return out;
}

PlacesArch places_arch(const BertConfig& c) {
  if (!c.uses_places()) return {};
  return {.of_keys = c.of_keys, .of_queries = c.of_queries, .dropout = c.hidden_dropout_prob};
}

/// Scores of a content and of places count alike. 0: as attention has it.
double score_scale(const BertConfig& c) {
  if (c.query_scalar > 0) return 1 / std::sqrt(static_cast<double>(c.query_scalar));
  if (c.num_attention_heads == 0) return 0;
  const int terms = 1 + (c.of_keys ? 1 : 0) + (c.of_queries ? 1 : 0);
  return 1 / std::sqrt(static_cast<double>(c.head_size() * terms));
}

/// Where some of the rows of a file's tensor are: the `place`-th of `count` equal parts.
struct Part {
  std::string_view fused;  // empty: the file has them as a tensor of their own
  std::int64_t place = 0, count = 1;
  std::int64_t turned = 0;  // elements of a head whose neighbours turn in the file; 0: none do
  std::int64_t head = 0;    // elements of a head, where the parts are those of each head; 0: of all
  std::string_view bias{};  // the file's name of it, where that is none of the weight's
};

/// The weights of one layer, whose names begin with `prefix`.
class LayerSpecs {
 public:
  LayerSpecs(SpecList& list, std::string prefix) : list_{list}, prefix_{std::move(prefix)} {}

  void norm(std::string_view name, std::int64_t size, const BertConfig& c) { norm_weights(list_, full(name), size, c); }
  void linear(std::string_view name, std::array<std::int64_t, 2> in_out, bool bias, const Part& part = {}) {
    const auto [in, out] = in_out;
    list_.matrix(full(name), in, out, TensorSplit::kAxis0);
    stored(part, full(name) + ".weight", {part.count * out, in});
    if (!bias) return;
    list_.tensor(full(name) + ".bias", {out}, Init::kZeros, false, TensorSplit::kAxis0);
    if (!part.bias.empty()) return list_.stored_in({{full(part.bias), {out}, 0, out}});
    stored(part, full(name) + ".bias", {part.count * out});
  }
  /// A layer whose inputs could be split.
  void down(std::string_view name, std::int64_t in, std::int64_t out, bool bias, double deviation) {
    list_.matrix(full(name), in, out, TensorSplit::kAxis1);
    list_.deviation(deviation);
    if (bias) list_.tensor(full(name) + ".bias", {out}, Init::kZeros);
  }

 private:
  std::string full(std::string_view name) const { return fmt::format("{}{}", prefix_, name); }
  void stored(const Part& part, const std::string& name, const Shape& whole) {
    const std::int64_t rows = whole.front() / part.count;
    if (!part.fused.empty()) {
      const std::string fused = full(part.fused) + name.substr(name.rfind('.'));
      const std::int64_t size = part.head > 0 ? part.head : rows;
      std::vector<FilePiece> pieces;
      for (std::int64_t i = 0; i < rows / size; ++i)
        pieces.push_back({fused, whole, (i * part.count + part.place) * size, size});
      list_.stored_in(std::move(pieces));
    }
    if (part.turned == 0) return;
    // The device has the first elements of a head's pairs, then the second ones: products of queries and keys are the
    // same.
    std::vector<FilePiece> halves;
    for (std::int64_t first = 0; first < rows; first += part.turned)
      for (const std::int64_t second : {0, 1}) halves.push_back({name, whole, first + second, part.turned / 2, 2});
    list_.stored_in(std::move(halves));
  }

  SpecList& list_;
  const std::string prefix_;
};

}  // namespace

BlockArch bert_block(const BertConfig& c) {
  const BertDialect& dialect = dialect_of(c.kind);
  const BertLayerNames& names = dialect.in_layer;
  return {.norm = {.rms = c.rms, .bias = c.norm_bias, .eps = c.layer_norm_eps, .offset = c.norm_offset},
          .attention = {.heads = c.num_attention_heads,
                        .kv_heads = c.key_heads(),
                        .head = c.num_attention_heads > 0 ? c.head_size() : 0,
                        .causal = false,
                        .scale = score_scale(c),
                        .dropout = c.attention_probs_dropout_prob,
                        .window = {.tokens = c.local_attention > 0 ? c.local_attention / 2 * 2 + 1 : 0,
                                   .full_every = c.full_every,
                                   .full_first = c.full_first},
                        .places = places_arch(c)},
          .rotary = rotary_of(c),
          .mlp = {.size = c.intermediate_size,
                  .gated = !names.gate.empty(),
                  .activation = device_function(c.hidden_act),
                  .dropout = names.drops_inside ? c.hidden_dropout_prob : c.mlp_dropout},
          .residual = {.norms = c.norms_first ? NormPlace::kBefore : dialect.norms,
                       .bare_first = dialect.embeds.norm_is_first,
                       .dropout = c.hidden_dropout_prob},
          .names = {.attention = {.query = text(names.query),
                                  .key = text(names.key),
                                  .value = text(names.value),
                                  .out = text(names.out),
                                  .query_norm = text(names.norms.query),
                                  .key_norm = text(names.norms.key),
                                  .place_key = text(c.shared_projections ? names.key : names.place_key),
                                  .place_query = text(c.shared_projections ? names.query : names.place_query)},
                    .mlp = {.gate = text(names.gate), .up = text(names.up), .down = text(names.down)},
                    .norm1 = text(names.norm1),
                    .norm2 = text(names.norm2),
                    .behind1 = text(names.norms.behind1),
                    .behind2 = text(names.norms.behind2)}};
}

void norm_weights(SpecList& list, const std::string& name, std::int64_t size, const BertConfig& c) {
  list.rms_norm(name, size, c.norm_offset != 0 ? Init::kZeros : Init::kOnes);
  if (c.norm_bias) list.norm_bias(name, size);
}

void bert_layer(SpecList& list, const BertConfig& c, std::int64_t layer) {
  const BertDialect& dialect = dialect_of(c.kind);
  const BertLayerNames& names = dialect.in_layer;
  const std::int64_t h = c.hidden_size, f = c.intermediate_size;
  const double deviation = out_deviation(c);
  LayerSpecs specs{list, dialect.layer(layer)};
  list.at(layer);
  std::int64_t place = 0;
  const std::int64_t keys = c.key_heads() * c.head_size();
  for (const auto& [part, bias] :
       {std::pair{names.query, names.query_bias}, {names.key, std::string_view{}}, {names.value, names.value_bias}})
    specs.linear(part, {h, part == names.query ? h : keys},
                 c.attention_bias && (names.query_bias.empty() || !bias.empty()),
                 {.fused = names.fused,
                  .place = place++,
                  .count = names.fused.empty() ? 1 : 3,
                  .turned = c.neighbours && part != names.value ? c.head_size() : 0,
                  .head = names.query_bias.empty() ? 0 : c.head_size(),
                  .bias = bias});
  if (c.uses_places() && !c.shared_projections) {
    if (c.of_keys) specs.linear(names.place_key, {h, h}, names.query_bias.empty());
    if (c.of_queries) specs.linear(names.place_query, {h, h}, true);
  }
  specs.down(names.out, h, h, c.attention_bias, deviation);
  if (layer > 0 || !dialect.embeds.norm_is_first) specs.norm(names.norm1, h, c);
  const std::int64_t gate = names.gate_last ? 1 : 0, both = names.fused_gate.empty() ? 1 : 2;
  if (!names.gate.empty()) specs.linear(names.gate, {h, f}, c.mlp_bias, {names.fused_gate, gate, both});
  specs.linear(names.up, {h, f}, c.mlp_bias, {names.fused_gate, 1 - gate, both});
  specs.down(names.down, f, h, c.down_bias.value_or(c.mlp_bias), deviation);
  specs.norm(names.norm2, h, c);
  for (const std::string_view name : {names.norms.behind1, names.norms.behind2})
    if (!name.empty()) specs.norm(name, h, c);
  for (const std::string_view name : {names.norms.query, names.norms.key})
    if (!name.empty()) specs.norm(name, c.head_size(), c);
}

double out_deviation(const BertConfig& c) {
  if (dialect_of(c.kind).keys != BertKeys::kModernBert) return 0;
  return c.initializer_range / std::sqrt(2 * static_cast<double>(c.num_hidden_layers));
}

void number_behind(std::vector<WeightSpec>& specs, const BertDialect& dialect) {
  if (!dialect.in_layer.numbered_behind) return;
  for (WeightSpec& spec : specs) {
    if (spec.layer < 0) continue;
    const std::string part = spec.name.substr(dialect.layer(spec.layer).size());
    const std::size_t dot = part.find('.');
    spec.pieces = {{fmt::format("{}{}.{}{}", dialect.prefix, part.substr(0, dot), spec.layer, part.substr(dot)),
                    spec.shape, 0, spec.shape.front()}};
  }
}

std::vector<HostTable> bert_tables(const BertConfig& c, std::int64_t length) {
  const BlockArch block = bert_block(c);
  std::vector<HostTable> out = rope_tables(block.rotary, length);
  if (!dialect_of(c.kind).relative.empty())
    out.push_back({kDistances, by_bucket(kMpnetBuckets, true, 2 * length - 1, 1 - length)});
  if (c.uses_places())
    for (const auto& [name, backwards] : {std::pair{kForwards, false}, {kBackwards, true}})
      if (backwards ? c.of_queries : c.of_keys)
        out.push_back({name, by_place(places_of(c), c.position_buckets > 0, length, backwards)});
  if (!hides_far(block.attention, length)) return out;
  HostTable& near = out.emplace_back(HostTable{kNear, {}});
  for (std::int64_t d = 1 - length; d < length; ++d)
    near.values.push_back(std::abs(d) <= block.attention.window.tokens / 2 ? 1.0F : 0.0F);
  return out;
}

Buckets places_of(const BertConfig& c) {
  const std::int64_t most = c.max_relative_positions > 0 ? c.max_relative_positions : c.max_position_embeddings;
  return {.count = c.position_buckets > 0 ? c.position_buckets : most, .most = most};
}

bool hides_far(const AttentionArch& attention, std::int64_t length) {
  return !attention.causal && attention.window.tokens > 0 && attention.window.tokens / 2 < length - 1;
}

}  // namespace workloads
