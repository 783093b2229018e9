// The configurations of BERT and its relatives, as Hugging Face writes it in config.json.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "isa/program.h"
#include "workloads/models/config.h"
#include "workloads/models/registry.h"
#include "workloads/models/weights.h"
#include "workloads/step/step.h"

namespace workloads {

enum class BertKind { kBert, kRoberta, kDistilBert, kElectra, kAlbert, kXlmRoberta, kCamembert };

/// Names of the head for masked tokens: a dense layer, its norm, the bias behind the table of tokens; and the
/// copies of table and bias that a file may have.
struct MaskedHeadNames {
  std::string_view dense, norm, bias, table_copy, bias_copy;
};

/// Names of a layer's weights, after their prefix.
struct BertLayerNames {
  std::string_view query, key, value, out, out_norm, up, down, down_norm;
};

/// The differences of a relative of BERT, and its names for shared parts. Source: transformers, modeling_NAME.py.
struct BertDialect {
  BertKind kind;
  std::string_view family, type, architecture;  // "RoBERTa", "roberta", "Roberta"
  std::string_view prefix, layers;              // "roberta.", "roberta.encoder.layer."
  BertLayerNames in_layer;
  std::string_view pooled, classifier;  // the layers on the first token
  MaskedHeadNames masked;
  std::string_view projection{};  // from embeddings of embedding_size to hidden_size; empty: they are as wide
  isa::Fn pooled_fn = isa::Fn::kTanh;
  bool pooled_dropout = false;                // before that, too
  bool masked_gelu = false;                   // the head for masked tokens has GELU, independent of the layers
  bool token_types = true;                    // a table of them
  bool one_token_type = false;                // a table of a single one, that every token has
  bool places_after_pad = false;              // positions begin after pad_token_id
  bool own_keys = false;                      // config.json has DistilBERT's keys
  bool one_layer = false;                     // whose weights all layers have
  Activation activation = Activation::kGelu;  // when the file does not say

  /// The prefix of the names of a layer's weights.
  std::string layer(std::int64_t number) const;
};
const BertDialect& dialect_of(BertKind kind);

/// A BERT encoder with its head. The defaults are Hugging Face's, for keys that older files leave out.
struct BertConfig {
  BertKind kind = BertKind::kBert;
  std::int64_t vocab_size = 0;
  std::int64_t hidden_size = 0;
  std::int64_t embedding_size = 0;  // of the tables; 0: hidden_size
  std::int64_t num_hidden_layers = 0;
  std::int64_t num_attention_heads = 0;
  std::int64_t intermediate_size = 0;
  std::int64_t max_position_embeddings = 0;
  std::int64_t type_vocab_size = 2;
  std::int64_t pad_token_id = 0;
  Activation hidden_act = Activation::kGelu;
  double layer_norm_eps = 1e-12;
  double initializer_range = 0.02;
  double hidden_dropout_prob = 0.1;
  double attention_probs_dropout_prob = 0.1;
  std::optional<double> classifier_dropout;  // unset: hidden_dropout_prob
  std::vector<std::string> label_names{"LABEL_0", "LABEL_1"};
  /// A task's choice: config.json names the task that a model was saved from, not the one it is read for, so that
  /// reading gives kClassifier, or kTokens of a model that was saved from that.
  Head head = Head::kClassifier;

  std::int64_t num_labels() const { return static_cast<std::int64_t>(label_names.size()); }
  std::int64_t embedding_width() const { return embedding_size > 0 ? embedding_size : hidden_size; }
  std::int64_t head_size() const { return hidden_size / num_attention_heads; }
  std::int64_t first_position() const { return dialect_of(kind).places_after_pad ? pad_token_id + 1 : 0; }
  operator ModelPtr() const;  // make_model()
};

BertConfig read_bert(const Keys& keys, BertKind kind = BertKind::kBert);
/// Errors: Fault::kData also when the file is of another family.
BertConfig read_bert_config(const std::filesystem::path& file_or_folder);
/// Errors: Fault::kData at `where` for sizes that are not positive or do not divide, or probabilities outside [0, 1).
void check(const BertConfig& config, std::string_view where);
void apply(const ModelChange& change, BertConfig& config);
nlohmann::json to_json(const BertConfig& config);

ModelPtr blank_bert(BertKind kind);

/// Whether embeddings are projected to the width of the layers. ALBERT always does.
bool has_projection(const BertConfig& config);
/// The layer that gives the logits: relatives with two layers have only one for tokens.
std::string classifier_of(const BertConfig& config);

/// All tensors of the model, in its order. Source: transformers, modeling_bert.py.
std::vector<WeightSpec> bert_weights(const BertConfig& config);

ModelPtr make_model(BertConfig config);

}  // namespace workloads
