// The config.json of BERT and its relatives.
#include <fmt/format.h>

#include <array>
#include <utility>

#include "workloads/models/bert/bert_block.h"
#include "workloads/models/config/bert_fields.h"

namespace workloads {
namespace {

using nlohmann::json;
using B = BertConfig;

}  // namespace

void read_task_of(const Keys& keys, BertConfig& c) {
  const std::string made = keys.has("architectures") ? keys.at("architectures").dump() : "";
  c.head = made.ends_with("ForTokenClassification\"]") ? Head::kTokens : Head::kClassifier;
}

json task_of(const BertConfig& c) {
  const BertDialect& dialect = dialect_of(c.kind);
  const std::string_view task = c.head == Head::kPretraining    ? "ForPreTraining"
                                : c.head == Head::kTokens       ? "ForTokenClassification"
                                : c.head == Head::kMaskedTokens ? dialect.heads.masked_suffix
                                                                : "ForSequenceClassification";
  return json::array({fmt::format("{}{}", dialect.architecture, task)});
}

namespace {

/// All tokens have the same type. Without the key transformers has a second one, but not in XLM-RoBERTa-XL.
void read_one_type(const Keys& keys, BertConfig& c) {
  if (c.kind != BertKind::kXlmRobertaXl) keys.require("type_vocab_size");
  keys.only("type_vocab_size", 1);
}

/// Tables may be narrower than the layers only where a projection follows.
void read_embedding_size(const Keys& keys, BertConfig& c) {
  if (dialect_of(c.kind).projection.empty()) return keys.only("embedding_size", c.hidden_size);
  c.embedding_size = c.kind == BertKind::kRoFormer ? c.hidden_size : 128;  // as transformers
  keys.optional("embedding_size", c.embedding_size);
}

void check_positions(const Rules& rules, const BertConfig& c) {
  rules.positive("max_position_embeddings", c.max_position_embeddings);
  if (c.max_position_embeddings <= c.first_position())
    rules.fail("max_position_embeddings", fmt::format("{} leaves none after pad_token_id", c.max_position_embeddings));
}

bool is_esm(const BertConfig& c) { return c.kind == BertKind::kEsm; }
bool is_not_esm(const BertConfig& c) { return !is_esm(c); }
bool is_roformer(const BertConfig& c) { return c.kind == BertKind::kRoFormer; }
bool has_position_type(const BertConfig& c) { return !is_roformer(c); }
bool is_mpnet(const BertConfig& c) { return c.kind == BertKind::kMpnet; }
bool is_ernie(const BertConfig& c) { return c.kind == BertKind::kErnie; }
bool is_rembert(const BertConfig& c) { return c.kind == BertKind::kRemBert; }
bool is_not_rembert(const BertConfig& c) { return !is_rembert(c); }
bool fades(const BertConfig& c) { return c.token_dropout; }
bool has_tasks(const BertConfig& c) { return c.use_task_id; }
bool has_projection_key(const BertConfig& c) { return !dialect_of(c.kind).projection.empty(); }
bool shares_layer(const BertConfig& c) { return dialect_of(c.kind).one_layer; }
bool has_dropout_prob(const BertConfig& c) { return shares_layer(c) || is_rembert(c); }
bool has_dropout_key(const BertConfig& c) { return !has_dropout_prob(c) && dialect_of(c.kind).heads.dropout_key; }
bool has_types(const BertConfig& c) { return !dialect_of(c.kind).embedding.types.empty(); }
bool has_one_type(const BertConfig& c) { return dialect_of(c.kind).embeds.one_type; }
json number_or_dropout(const BertConfig& c) { return json(c.classifier_dropout.value_or(c.hidden_dropout_prob)); }

}  // namespace

void read_tied(const Keys& keys, BertConfig& c) {
  keys.optional("tie_word_embeddings", c.tie_word_embeddings);
  if (keys.has("architectures") && keys.at("architectures").dump().find("ForMaskedLM") != std::string::npos)
    keys.only("tie_word_embeddings", true);
}

namespace {

/// ESM's may turn queries and keys; the others' are rows of a table. Positions relative to each other, which old
/// relatives may have ("relative_key"), are not computed.
void read_position_type(const Keys& keys, BertConfig& c) {
  constexpr const char* kKey = "position_embedding_type";
  const json type = keys.has(kKey) ? keys.at(kKey) : json("absolute");
  c.rotary = is_esm(c) && type == "rotary";
  if (is_esm(c) && !c.rotary && type != "absolute")
    keys.fail(fmt::format("\"{}\" is {}; only \"absolute\" and \"rotary\" are modelled", kKey, type.dump()),
              "use a model with one of these");
  if (!c.rotary) keys.only(kKey, "absolute");
}
json position_type(const BertConfig& c) { return json(c.rotary ? "rotary" : "absolute"); }

// clang-format off
constexpr auto kBertFields = std::to_array<Field<B>>({
    {.key = "vocab_size", .member = &B::vocab_size, .required = true, .range = kVocabulary},
    {.key = "hidden_size", .member = &B::hidden_size, .required = true, .range = kWidth},
    {.key = "num_hidden_layers", .member = &B::num_hidden_layers, .required = true, .range = kLayers},
    {.key = "num_attention_heads", .member = &B::num_attention_heads, .required = true, .range = kHeadCounts},
    {.key = "intermediate_size", .member = &B::intermediate_size, .required = true, .range = kWidth},
    {.key = "max_position_embeddings", .member = &B::max_position_embeddings, .required = true,
     .check = check_positions},
    {.key = "type_vocab_size", .member = &B::type_vocab_size, .when = has_types},
    {.key = "type_vocab_size", .when = has_one_type, .written = kNever, .read = read_one_type},
    {.key = "pad_token_id", .required = true, .when = is_esm, .written = kNever},
    {.key = "pad_token_id", .only = 1, .when = is_mpnet, .written = kNever},  // where its positions begin
    {.key = "pad_token_id", .member = &B::pad_token_id, .range = kToken},
    {.key = "hidden_act", .only = "gelu", .when = is_roformer, .written = kNever},  // the pooled layer has it, too
    {.key = "hidden_act", .member = &B::hidden_act, .choices = kGelus, .when = is_not_esm},
    {.key = "rotary_value", .only = false, .when = is_roformer, .written = kNever},
    {.key = "layer_norm_eps", .member = &B::layer_norm_eps},
    {.key = "initializer_range", .member = &B::initializer_range},
    {.key = "embedding_size", .member = &B::embedding_size, .range = kPositiveOrNone, .when = is_not_rembert,
     .written = has_projection_key, .read = read_embedding_size,
     .write = [](const B& c) { return json(c.embedding_width()); }},
    {.key = "input_embedding_size", .member = &B::embedding_size, .range = kWidth, .when = is_rembert},
    {.key = "output_embedding_size", .member = &B::output_embedding_size, .range = kWidth, .when = is_rembert},
    {.key = "classifier_dropout_prob", .member = &B::classifier_dropout, .range = kProbability,
     .when = has_dropout_prob, .write = number_or_dropout},
    {.key = "num_hidden_groups", .only = 1, .when = shares_layer},
    {.key = "inner_group_num", .only = 1, .when = shares_layer},
    {.key = "hidden_dropout_prob", .member = &B::hidden_dropout_prob, .range = kProbability},
    {.key = "attention_probs_dropout_prob", .member = &B::attention_probs_dropout_prob, .range = kProbability},
    {.key = "classifier_dropout", .member = &B::classifier_dropout, .range = kProbability, .when = has_dropout_key},
    {.key = "classifier_dropout", .when = shares_layer, .write = [](const B&) { return json(); }},
    {.key = "position_embedding_type", .when = has_position_type, .read = read_position_type, .write = position_type},
    {.key = "relative_attention_num_buckets", .only = kMpnetBuckets.count, .when = is_mpnet},
    {.key = "emb_layer_norm_before", .member = &B::norm_before, .when = is_esm},
    {.key = "token_dropout", .member = &B::token_dropout, .when = is_esm},
    {.key = "mask_token_id", .member = &B::mask_token_id, .required = true, .range = kToken, .when = fades},
    {.key = "is_folding_model", .only = false, .when = is_esm, .written = kNever},
    {.key = "use_task_id", .member = &B::use_task_id, .when = is_ernie},
    {.key = "task_type_vocab_size", .member = &B::task_type_vocab_size, .when = has_tasks},
    {.key = "is_decoder", .only = false, .written = kNever},
    {.key = "tie_word_embeddings", .when = is_not_rembert, .written = is_untied, .read = read_tied, .write = no_tie},
    kLabels, kLabelIds, kTask, kProblem, kType, kTorchType,
});

constexpr auto kDistilBertFields = std::to_array<Field<B>>({
    {.key = "vocab_size", .member = &B::vocab_size, .required = true, .range = kVocabulary},
    {.key = "dim", .member = &B::hidden_size, .required = true, .range = kWidth},
    {.key = "n_layers", .member = &B::num_hidden_layers, .required = true, .range = kLayers},
    {.key = "n_heads", .member = &B::num_attention_heads, .required = true, .range = kHeadCounts},
    {.key = "hidden_dim", .member = &B::intermediate_size, .required = true, .range = kWidth},
    {.key = "max_position_embeddings", .member = &B::max_position_embeddings, .required = true},
    {.key = "pad_token_id", .member = &B::pad_token_id, .range = kToken},
    {.key = "activation", .member = &B::hidden_act, .choices = kGelus},
    {.key = "initializer_range", .member = &B::initializer_range},
    {.key = "dropout", .member = &B::hidden_dropout_prob, .range = kProbability},
    {.key = "attention_dropout", .member = &B::attention_probs_dropout_prob, .range = kProbability},
    {.key = "seq_classif_dropout", .member = &B::classifier_dropout, .range = kProbability, .write = number_or_dropout},
    {.key = "sinusoidal_pos_embds", .only = false},
    kTied, kLabels, kLabelIds, kTask, kProblem, kType, kTorchType,
});
// clang-format on

std::span<const Field<B>> fields_of(BertKind kind) {
  switch (dialect_of(kind).keys) {
    case BertKeys::kBert: return kBertFields;
    case BertKeys::kDistilBert: return kDistilBertFields;
    case BertKeys::kModernBert: return modern_bert_fields();
    case BertKeys::kXlm: return xlm_fields();
    case BertKeys::kDeberta: return deberta_fields();
    case BertKeys::kNew: return new_fields();
    case BertKeys::kNomic: return nomic_fields();
    case BertKeys::kEuro: return euro_fields();
    case BertKeys::kEmbeddingGemma: return embedding_gemma_fields();
  }
  return {};
}

/// Names of the keys of heads and width.
std::pair<const char*, const char*> names_of_sizes(BertKind kind) {
  switch (dialect_of(kind).keys) {
    case BertKeys::kDistilBert: return {"n_heads", "dim"};
    case BertKeys::kXlm: return {"n_heads", "emb_dim"};
    case BertKeys::kNomic: return {"n_head", "n_embd"};
    default: return {"num_attention_heads", "hidden_size"};
  }
}

}  // namespace

BertConfig read_bert(const Keys& keys, BertKind kind) {
  const BertConfig c = read_fields<B>(fields_of(kind), keys, blank_bert_config(kind));
  check(c, keys.where());
  return c;
}

void check(const BertConfig& c, std::string_view where) {
  const Rules rules{where};
  check_fields<B>(fields_of(c.kind), c, rules);
  const auto [heads, width] = names_of_sizes(c.kind);
  rules.divides(heads, c.num_attention_heads, width, c.hidden_size);
  if (c.rotary) rules.divides(heads, 2 * c.num_attention_heads, width, c.hidden_size);  // it turns pairs
}

json to_json(const BertConfig& c) { return write_fields<B>(fields_of(c.kind), c); }

}  // namespace workloads
