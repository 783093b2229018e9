// The config.json of ModernBERT.
#include <fmt/format.h>

#include <array>

#include "workloads/models/config/bert_fields.h"

namespace workloads {
namespace {

using nlohmann::json;
using B = BertConfig;

void read_pooling(const Keys& keys, BertConfig& c) {
  if (!keys.has("classifier_pooling")) return;
  const json& how = keys.at("classifier_pooling");
  c.mean_pooling = how == "mean";
  if (!c.mean_pooling) keys.only("classifier_pooling", "cls");
}

/// transformers 5 writes an entry for each layer.
void read_layer_types(const Keys& keys, BertConfig& c) {
  if (!keys.has("layer_types")) return;
  const auto entry = [&c](std::int64_t l) { return l % c.full_every == 0 ? "full_attention" : "sliding_attention"; };
  if (c.full_every <= 0 || !keys.lists("layer_types", c.num_hidden_layers, entry))
    keys.fail(fmt::format("\"layer_types\" is {}; only the first of every {} layers may see all tokens",
                          keys.at("layer_types").dump(), c.full_every),
              "use a model whose layers alternate regularly");
}

/// As transformers 5 writes the bases; any scaling would turn by other angles.
void read_rope(const Keys& keys, BertConfig& c) {
  keys.only("rope_scaling", json());
  if (!keys.has("rope_parameters")) return;
  const Keys both{keys, "rope_parameters"};
  const auto read = [&both](const char* layers, double& theta) {
    if (!both.has(layers)) return;
    const Keys one{both, layers};
    one.only("rope_type", "default");
    one.optional("rope_theta", theta);
  };
  read("full_attention", c.global_theta), read("sliding_attention", c.local_theta);
}

// clang-format off
constexpr auto kModernBertFields = std::to_array<Field<B>>({
    {.key = "vocab_size", .member = &B::vocab_size, .required = true, .range = kVocabulary},
    {.key = "hidden_size", .member = &B::hidden_size, .required = true, .range = kWidth},
    {.key = "num_hidden_layers", .member = &B::num_hidden_layers, .required = true, .range = kLayers},
    {.key = "num_attention_heads", .member = &B::num_attention_heads, .required = true, .range = kHeadCounts},
    {.key = "intermediate_size", .member = &B::intermediate_size, .required = true, .range = kWidth},
    {.key = "max_position_embeddings", .member = &B::max_position_embeddings},
    {.key = "pad_token_id", .member = &B::pad_token_id, .range = kToken},
    {.key = "hidden_activation", .member = &B::hidden_act, .choices = kGelus},
    {.key = "norm_eps", .member = &B::layer_norm_eps},
    {.key = "norm_bias", .member = &B::norm_bias},
    {.key = "attention_bias", .member = &B::attention_bias},
    {.key = "mlp_bias", .member = &B::mlp_bias},
    {.key = "decoder_bias", .member = &B::decoder_bias},
    {.key = "classifier_bias", .member = &B::classifier_bias},
    {.key = "classifier_activation", .member = &B::classifier_activation, .choices = kGelus},
    {.key = "classifier_pooling", .read = read_pooling,
     .write = [](const B& c) { return json(c.mean_pooling ? "mean" : "cls"); }},
    {.key = "classifier_dropout", .member = &B::classifier_dropout, .range = kProbability},
    {.key = "embedding_dropout", .member = &B::embedding_dropout, .range = kProbability},
    {.key = "mlp_dropout", .member = &B::mlp_dropout, .range = kProbability},
    {.key = "attention_dropout", .only = 0.0},  // it would drop attention's output, too
    {.key = "global_attn_every_n_layers", .member = &B::full_every},
    {.key = "local_attention", .member = &B::local_attention},
    {.key = "layer_types", .read = read_layer_types},
    {.key = "global_rope_theta", .member = &B::global_theta},
    {.key = "local_rope_theta", .member = &B::local_theta},
    {.key = "rope_scaling", .read = read_rope},
    {.key = "initializer_range", .member = &B::initializer_range},
    {.key = "tie_word_embeddings", .only = true},
    {.key = "position_embedding_type", .only = "absolute", .written = kNever},
    kLabels, kLabelIds, kTask, kProblem, kType, kTorchType,
});
// clang-format on

}  // namespace

std::span<const Field<B>> modern_bert_fields() { return kModernBertFields; }

}  // namespace workloads
