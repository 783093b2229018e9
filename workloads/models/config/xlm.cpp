// The config.json of XLM and FlauBERT.
#include <array>

#include "workloads/models/config/bert_fields.h"

namespace workloads {
namespace {

using nlohmann::json;
using B = BertConfig;

bool is_flaubert(const BertConfig& c) { return c.kind == BertKind::kFlaubert; }

/// Old files call it "n_words". Layers are four times as wide inside as outside.
void read_vocabulary(const Keys& keys, BertConfig& c) {
  const char* key = keys.has("n_words") ? "n_words" : "vocab_size";
  keys.required(key, c.vocab_size);
}

void read_width(const Keys& keys, BertConfig& c) {
  keys.required("emb_dim", c.hidden_size);
  c.intermediate_size = 4 * c.hidden_size;
}

void read_activation(const Keys& keys, BertConfig& c) {
  bool gelu = true;
  keys.optional("gelu_activation", gelu);
  c.hidden_act = gelu ? Activation::kGelu : Activation::kRelu;
}

/// "pad_index" is where the embedding has its padding.
void read_pad(const Keys& keys, BertConfig& c) {
  for (const char* key : {"pad_token_id", "pad_index"}) keys.optional(key, c.pad_token_id);
}

// clang-format off
constexpr auto kXlmFields = std::to_array<Field<B>>({
    {.key = "n_words", .read = read_vocabulary, .write = [](const B& c) { return json(c.vocab_size); },
     .check = [](const Rules& r, const B& c) { r.positive("n_words", c.vocab_size, kVocabulary.most); }},
    {.key = "vocab_size", .write = [](const B& c) { return json(c.vocab_size); }},
    {.key = "emb_dim", .read = read_width, .write = [](const B& c) { return json(c.hidden_size); },
     .check = [](const Rules& r, const B& c) { r.positive("emb_dim", c.hidden_size, kWidth.most); }},
    {.key = "n_layers", .member = &B::num_hidden_layers, .required = true, .range = kLayers},
    {.key = "n_heads", .member = &B::num_attention_heads, .required = true, .range = kHeadCounts},
    {.key = "max_position_embeddings", .member = &B::max_position_embeddings},
    {.key = "pad_index", .read = read_pad, .write = [](const B& c) { return json(c.pad_token_id); },
     .check = [](const Rules& r, const B& c) { r.token("pad_index", c.pad_token_id, c.vocab_size); }},
    {.key = "pad_token_id", .write = [](const B& c) { return json(c.pad_token_id); }},
    {.key = "gelu_activation", .read = read_activation,
     .write = [](const B& c) { return json(c.hidden_act == Activation::kGelu); }},
    {.key = "layer_norm_eps", .member = &B::layer_norm_eps},
    {.key = "init_std", .member = &B::initializer_range},
    {.key = "dropout", .member = &B::hidden_dropout_prob, .range = kProbability},
    {.key = "attention_dropout", .member = &B::attention_probs_dropout_prob, .range = kProbability},
    {.key = "summary_first_dropout", .member = &B::classifier_dropout, .range = kProbability},
    {.key = "summary_type", .only = "first"},
    {.key = "summary_use_proj", .only = true},
    {.key = "summary_activation", .only = None{}, .written = kNever},
    {.key = "summary_proj_to_labels", .only = true},
    {.key = "pre_norm", .member = &B::norms_first, .when = is_flaubert},
    {.key = "layerdrop", .only = 0.0, .when = is_flaubert},
    {.key = "sinusoidal_embeddings", .only = false},
    {.key = "causal", .only = false},
    {.key = "asm", .only = false},
    {.key = "is_encoder", .only = true, .written = kNever},
    kTied, kLabels, kLabelIds, kTask, kProblem, kType, kTorchType,
});
// clang-format on

}  // namespace

std::span<const Field<B>> xlm_fields() { return kXlmFields; }

}  // namespace workloads
