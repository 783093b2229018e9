// The config.json of EmbeddingGemma: that of a Gemma 3 whose tokens see each other on both sides.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "workloads/models/config/bert_fields.h"

namespace workloads {
namespace {

using nlohmann::json;
using B = BertConfig;

/// transformers 5 moved both inside; any scaling would turn by other angles.
void read_angles(const Keys& keys, B& c) {
  keys.optional("rope_theta", c.global_theta);
  keys.optional("rope_local_base_freq", c.local_theta);
  keys.only("rope_scaling", json());
  if (!keys.has("rope_parameters")) return;
  const Keys inside{keys, "rope_parameters"};
  for (const auto& [kind, theta] :
       {std::pair{"full_attention", &c.global_theta}, {"sliding_attention", &c.local_theta}}) {
    if (!inside.has(kind)) continue;
    const Keys angles{inside, kind};
    angles.only("rope_type", "default");
    angles.optional("rope_theta", *theta);
  }
}

constexpr std::int64_t kGemmaHead = 256;  // when a file does not say
void read_gemma_head(const Keys& keys, B& c) {
  if (c.num_attention_heads <= 0) return;
  if (keys.has("head_dim")) return keys.only("head_dim", c.head_size());
  if (c.head_size() != kGemmaHead)
    keys.fail(fmt::format("\"head_dim\" is not there, so {}, but only hidden_size / num_attention_heads {} is modelled",
                          kGemmaHead, c.head_size()),
              "use a model whose heads are as wide together as its layers");
}

/// One in so many layers sees all tokens, the last of them.
void read_kinds(const Keys& keys, B& c) {
  constexpr const char* kTypes = "layer_types";
  for (const char* key : {"sliding_window_pattern", "_sliding_window_pattern"}) keys.optional(key, c.full_every);
  if (!keys.has(kTypes)) return;
  const json& list = keys.at(kTypes);
  if (list.is_array()) c.full_every = std::find(list.begin(), list.end(), json("full_attention")) - list.begin() + 1;
  const auto kind = [&](std::int64_t l) {
    return json((l + 1) % c.full_every == 0 ? "full_attention" : "sliding_attention");
  };
  if (!keys.lists(kTypes, c.num_hidden_layers, kind))
    keys.fail(fmt::format("\"{}\" is {}; only every n-th layer may see all tokens", kTypes, list.dump()),
              "use a model whose layers alternate regularly");
}
json kinds_of(const B& c) {
  json list = json::array();
  for (std::int64_t l = 1; l <= c.num_hidden_layers; ++l)
    list.push_back(l % c.full_every == 0 ? "full_attention" : "sliding_attention");
  return list;
}

constexpr Field<B> of_gemma(Field<B> field) {
  field.otherwise = [](B& c) { c.num_key_value_heads = 4; };
  return field;
}

// clang-format off
constexpr auto kEmbeddingGemmaFields = std::to_array<Field<B>>({
    {.key = "vocab_size", .member = &B::vocab_size, .required = true, .range = kVocabulary},
    {.key = "hidden_size", .member = &B::hidden_size, .required = true, .range = kWidth},
    {.key = "num_hidden_layers", .member = &B::num_hidden_layers, .required = true, .range = kLayers},
    {.key = "num_attention_heads", .member = &B::num_attention_heads, .required = true, .range = kHeadCounts},
    of_gemma(kKeyHeads),
    {.key = "head_dim", .read = read_gemma_head,
     .write = [](const B& c) { return json(c.num_attention_heads > 0 ? c.head_size() : 0); }},
    {.key = "intermediate_size", .member = &B::intermediate_size, .required = true, .range = kWidth},
    {.key = "max_position_embeddings", .member = &B::max_position_embeddings},
    {.key = "pad_token_id", .member = &B::pad_token_id, .range = kToken},
    {.key = "hidden_activation", .member = &B::hidden_act, .choices = kGeluTanhOnly},
    {.key = "rms_norm_eps", .member = &B::layer_norm_eps},
    {.key = "rope_theta", .member = &B::global_theta, .read = read_angles},
    {.key = "rope_local_base_freq", .member = &B::local_theta, .read = [](const Keys&, B&) {}},
    {.key = "query_pre_attn_scalar", .member = &B::query_scalar},
    {.key = "sliding_window", .member = &B::local_attention},
    {.key = "layer_types", .read = read_kinds, .write = kinds_of},
    {.key = "attn_logit_softcapping", .only = None{}, .written = kNever},
    {.key = "final_logit_softcapping", .written = kNever, .read = [](const Keys&, B&) {}},  // of a head that writes
    {.key = "attention_bias", .member = &B::attention_bias},
    {.key = "attention_dropout", .member = &B::attention_probs_dropout_prob, .range = kProbability},
    {.key = "use_bidirectional_attention", .only = true},
    {.key = "initializer_range", .member = &B::initializer_range},
    kLabels, kLabelIds, kTask, kProblem, kType, kTorchType,
});
// clang-format on

}  // namespace

std::span<const Field<B>> embedding_gemma_fields() { return kEmbeddingGemmaFields; }

}  // namespace workloads
