// Keys that all relatives of BERT have, and the tables of those that have other keys than BERT.
#pragma once

#include <span>

#include "workloads/models/bert/bert_config.h"
#include "workloads/models/config/table.h"

namespace workloads {

/// The task that the model was saved from, where reading for another one would need another head.
void read_task_of(const Keys& keys, BertConfig& config);
nlohmann::json task_of(const BertConfig& config);

/// The head for hidden tokens is the table of tokens; RemBERT's is its own. Errors: Fault::kData for a file of that
/// head with another table.
void read_tied(const Keys& keys, BertConfig& config);
inline bool is_untied(const BertConfig& c) { return !c.tie_word_embeddings; }
inline nlohmann::json no_tie(const BertConfig&) { return nlohmann::json(false); }
inline constexpr Field<BertConfig> kTied{
    .key = "tie_word_embeddings", .written = is_untied, .read = read_tied, .write = no_tie};

/// Heads of keys, each of which several of queries share.
inline constexpr Field<BertConfig> kKeyHeads{
    .key = "num_key_value_heads",
    .member = &BertConfig::num_key_value_heads,
    .write = [](const BertConfig& c) { return nlohmann::json(c.key_heads()); },
    .check =
        [](const Rules& rules, const BertConfig& c) {
          rules.positive("num_key_value_heads", c.key_heads(), kHeadCounts.most);
          rules.divides("num_key_value_heads", c.key_heads(), "num_attention_heads", c.num_attention_heads);
        }};

/// Labels and task: behind the keys of a model.
inline constexpr Field<BertConfig> kLabels{
    .key = "id2label",
    .read = [](const Keys& keys, BertConfig& c) { c.label_names = keys.label_names(); },
    .write = [](const BertConfig& c) { return labels_by_id(c.label_names); },
    .check = [](const Rules& r, const BertConfig& c) { r.positive("num_labels", c.num_labels()); }};
inline constexpr Field<BertConfig> kLabelIds{.key = "label2id",
                                             .write = [](const BertConfig& c) { return ids_by_label(c.label_names); }};
inline constexpr Field<BertConfig> kTask{.key = "architectures", .read = read_task_of, .write = task_of};
// transformers computes another loss for the other problems.
inline constexpr Field<BertConfig> kProblem{.key = "problem_type",
                                            .only = "single_label_classification",
                                            .when = [](const BertConfig& c) { return c.head == Head::kClassifier; }};
inline constexpr Field<BertConfig> kType{
    .key = "model_type", .write = [](const BertConfig& c) { return nlohmann::json(dialect_of(c.kind).type); }};
inline constexpr Field<BertConfig> kTorchType{.key = "torch_dtype", .always = "float32"};

std::span<const Field<BertConfig>> modern_bert_fields();      // workloads/models/config/modern_bert.cpp
std::span<const Field<BertConfig>> new_fields();              // workloads/models/config/gated_bert.cpp
std::span<const Field<BertConfig>> nomic_fields();            // workloads/models/config/gated_bert.cpp
std::span<const Field<BertConfig>> euro_fields();             // workloads/models/config/eurobert.cpp
std::span<const Field<BertConfig>> embedding_gemma_fields();  // workloads/models/config/embedding_gemma.cpp
std::span<const Field<BertConfig>> xlm_fields();              // workloads/models/config/xlm.cpp
std::span<const Field<BertConfig>> deberta_fields();          // workloads/models/config/deberta.cpp

}  // namespace workloads
