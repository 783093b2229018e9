// GPT-Neo (Black et al., 2021): GPT-2's layer with linear layers of its own for queries, keys and values, which have no
// bias; scores are not scaled, and every other layer sees a window. Names and keys as in transformers'
// modeling_gpt_neo.py.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "workloads/models/decoder/plain.h"

namespace workloads {
namespace {

using P = PlainConfig;
using nlohmann::json;

/// Each layer's kind. A file lists kinds and how often they follow each other: [[["global", "local"], 6]].
std::vector<json> kinds_of(const json& types) {
  std::vector<json> kinds;
  for (const json& entry : types.is_array() ? types : json::array()) {
    if (!entry.is_array() || entry.size() != 2 || !entry[0].is_array() || !entry[1].is_number_integer()) return {};
    for (std::int64_t n = entry[1]; n > 0 && std::ssize(kinds) <= kLayers.most; --n)
      kinds.insert(kinds.end(), entry[0].begin(), entry[0].end());
  }
  return kinds;
}

/// One layer of each `full_every` sees everything, the first among them.
void read_attention_types(const Keys& keys, P& c) {
  keys.require("attention_types");
  const std::vector<json> kinds = kinds_of(keys.at("attention_types"));
  const auto second = kinds.empty() ? kinds.end() : std::find(kinds.begin() + 1, kinds.end(), "global");
  c.full_every = second - kinds.begin();
  bool regular = !kinds.empty() && std::ssize(kinds) == c.num_hidden_layers;
  for (std::int64_t l = 0; regular && l < c.num_hidden_layers; ++l)
    regular = kinds[static_cast<std::size_t>(l)] == (l % c.full_every == 0 ? "global" : "local");
  if (!regular)
    keys.fail(
        fmt::format("\"attention_types\" is {} of {} layers", keys.at("attention_types").dump(), c.num_hidden_layers),
        R"(use [[["global"], N]], or [[["global", "local", ...], N]] with "global" once, that add up to "num_layers")");
}

json attention_types(const P& c) {
  json types = json::array();
  const auto add = [&](json kinds, std::int64_t times) {
    if (times > 0) types.push_back(json::array({std::move(kinds), times}));
  };
  const auto period = [](std::int64_t layers) {
    json kinds(static_cast<std::size_t>(layers), "local");
    kinds[0] = "global";
    return kinds;
  };
  add(period(c.full_every), c.num_hidden_layers / c.full_every);
  if (const std::int64_t rest = c.num_hidden_layers % c.full_every; rest > 0) add(period(rest), 1);
  return types;
}

// clang-format off
constexpr auto kNeoFields = std::to_array<Field<P>>({
    {.key = "vocab_size", .member = &P::vocab_size, .required = true, .range = kVocabulary},
    {.key = "hidden_size", .member = &P::hidden_size, .required = true, .range = kWidth},
    {.key = "num_layers", .member = &P::num_hidden_layers, .required = true, .range = kLayers},
    {.key = "num_heads", .member = &P::num_attention_heads, .required = true, .range = kHeadCounts},
    {.key = "max_position_embeddings", .member = &P::max_position_embeddings, .required = true},
    {.key = "intermediate_size", .member = &P::intermediate_size, .range = kWidth,
     .otherwise = [](P& c) { c.intermediate_size = 4 * c.hidden_size; }},
    {.key = "window_size", .member = &P::sliding_window},
    {.key = "attention_types", .read = read_attention_types, .write = attention_types},
    {.key = "activation_function", .member = &P::hidden_act, .choices = kGelus,
     .write = gpt_activation},
    {.key = "layer_norm_epsilon", .member = &P::layer_norm_eps},
    {.key = "initializer_range", .member = &P::initializer_range},
    {.key = "resid_dropout", .member = &P::dropout, .range = kProbability},
    {.key = "embed_dropout", .member = &P::embedding_dropout, .range = kProbability},
    {.key = "attention_dropout", .member = &P::attention_dropout, .range = kProbability},
    {.key = "tie_word_embeddings", .member = &P::tie_word_embeddings},
    {.key = "bos_token_id", .member = &P::bos_token_id, .range = kToken},
    {.key = "eos_token_id", .member = &P::eos_token_id, .range = kToken},
    {.key = "architectures", .always = Listed{"GPTNeoForCausalLM"}},
    {.key = "model_type", .always = "gpt_neo"},
    {.key = "torch_dtype", .always = "float32"},
});
// clang-format on

}  // namespace

const PlainFamily& gpt_neo_family() {
  static const PlainFamily family{
      .name = "GPT-Neo",
      .type = "gpt_neo",
      .defaults =
          [](P& c) {
            c.hidden_act = Activation::kGeluTanh, c.sliding_window = 256, c.full_every = 2,
            c.tie_word_embeddings = true, c.bos_token_id = 50256, c.eos_token_id = 50256;
          },
      .fields = kNeoFields,
      .blocks = "transformer.h.",
      .block = {.attention = {.query = "attn.attention.q_proj",
                              .key = "attn.attention.k_proj",
                              .value = "attn.attention.v_proj",
                              .out = "attn.attention.out_proj"},
                .mlp = {.up = "mlp.c_fc", .down = "mlp.c_proj"},
                .norm1 = "ln_1",
                .norm2 = "ln_2"},
      .embedding = {.name = "transformer.wte", .positions = "transformer.wpe"},
      .head = {.norm = "transformer.ln_f", .name = "lm_head"},
      .qkv_bias = false,
      .scores = {.scale = 1},
      .names = {.prefix = "transformer.",
                .tops = {"wte.", "wpe.", "h.", "ln_f."},
                .left_out = {"*.attn.attention.bias", "*.attn.attention.masked_bias"}},
      // Counted on its modeling file beside a Llama's layer, without dropout (tests/golden/make/count_ops.py).
      .layer = {.forward = 80, .backward = 115, .core = 28}};
  return family;
}

}  // namespace workloads
