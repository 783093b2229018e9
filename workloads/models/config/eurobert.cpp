// The config.json of EuroBERT.
#include <fmt/format.h>

#include <array>

#include "workloads/models/config/bert_fields.h"

namespace workloads {
namespace {

using nlohmann::json;
using B = BertConfig;

/// The word of its publishers' files, and that of transformers.
void read_pooling(const Keys& keys, BertConfig& c) {
  const char* key = keys.has("clf_pooling") ? "clf_pooling" : "classifier_pooling";
  if (!keys.has(key)) return;
  const json& how = keys.at(key);
  c.mean_pooling = how == "mean", c.late_pooling = how == "late";
  if (!c.mean_pooling && !c.late_pooling) keys.only(key, "bos");
}
json pooling_of(const BertConfig& c) { return json(c.late_pooling ? "late" : c.mean_pooling ? "mean" : "bos"); }

/// transformers 5 moved it inside; any scaling would turn by other angles.
void read_theta(const Keys& keys, BertConfig& c) {
  keys.optional("rope_theta", c.global_theta);
  keys.only("rope_scaling", json());
  if (!keys.has("rope_parameters")) return;
  const Keys inside{keys, "rope_parameters"};
  inside.only("rope_type", "default");
  inside.optional("rope_theta", c.global_theta);
}

void read_head(const Keys& keys, BertConfig& c) {
  if (c.num_attention_heads > 0) keys.only("head_dim", c.head_size());
}

// clang-format off
constexpr auto kEuroFields = std::to_array<Field<B>>({
    {.key = "vocab_size", .member = &B::vocab_size, .required = true, .range = kVocabulary},
    {.key = "hidden_size", .member = &B::hidden_size, .required = true, .range = kWidth},
    {.key = "num_hidden_layers", .member = &B::num_hidden_layers, .required = true, .range = kLayers},
    {.key = "num_attention_heads", .member = &B::num_attention_heads, .required = true, .range = kHeadCounts},
    kKeyHeads,
    {.key = "head_dim", .written = kNever, .read = read_head},
    {.key = "intermediate_size", .member = &B::intermediate_size, .required = true, .range = kWidth},
    {.key = "max_position_embeddings", .member = &B::max_position_embeddings},
    {.key = "pad_token_id", .member = &B::pad_token_id, .range = kToken},
    {.key = "mask_token_id", .member = &B::mask_token_id, .range = kToken},
    {.key = "hidden_act", .member = &B::hidden_act, .choices = kSiluOnly},
    {.key = "rms_norm_eps", .member = &B::layer_norm_eps},
    {.key = "rope_theta", .member = &B::global_theta, .read = read_theta},
    {.key = "attention_bias", .member = &B::attention_bias},
    {.key = "mlp_bias", .only = false},  // the head for masked tokens would have one, too
    {.key = "attention_dropout", .member = &B::attention_probs_dropout_prob, .range = kProbability},
    {.key = "hidden_dropout", .only = 0.0, .written = kNever},
    {.key = "clf_pooling", .read = read_pooling, .write = pooling_of},
    {.key = "initializer_range", .member = &B::initializer_range},
    {.key = "tie_word_embeddings", .only = false},
    kLabels, kLabelIds, kTask, kProblem, kType, kTorchType,
});
// clang-format on

}  // namespace

std::span<const Field<B>> euro_fields() { return kEuroFields; }

}  // namespace workloads
