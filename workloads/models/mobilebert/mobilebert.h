// MobileBERT (Sun et al., arXiv:2004.02984): a deep BERT whose layers work on fewer elements between two bottlenecks,
// with several feed-forward parts each, and with products and sums in the place of norms. Tensor names and keys as in
// transformers' modeling_mobilebert.py. It classifies texts or tokens.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/models/config.h"
#include "workloads/models/config/keys.h"
#include "workloads/models/model.h"

namespace workloads {

/// The defaults are Hugging Face's.
struct MobileBertSizes {
  std::int64_t vocab_size = 0;
  std::int64_t hidden_size = 512;
  std::int64_t num_hidden_layers = 24;
  std::int64_t num_attention_heads = 4;
  std::int64_t intermediate_size = 512;
  std::int64_t embedding_size = 128;
  std::int64_t intra_bottleneck_size = 128;  // between the bottlenecks
  std::int64_t num_feedforward_networks = 4;
  std::int64_t max_position_embeddings = 512;
  std::int64_t type_vocab_size = 2;

  std::int64_t head_size() const { return intra_bottleneck_size / num_attention_heads; }
};

struct MobileBertConfig : MobileBertSizes {
  std::int64_t pad_token_id = 0;
  Activation hidden_act = Activation::kRelu;
  bool key_query_shared_bottleneck = true;  // queries and keys read a bottleneck of their own
  bool classifier_activation = true;        // a layer on the first token before the one that classifies
  double initializer_range = 0.02;
  double hidden_dropout_prob = 0;
  double attention_probs_dropout_prob = 0.1;
  std::optional<double> classifier_dropout{};  // unset: hidden_dropout_prob
  std::vector<std::string> label_names{"LABEL_0", "LABEL_1"};
  std::optional<Lora> lora{};
  Head head = Head::kClassifier;
};

MobileBertConfig read_mobilebert(const Keys& keys);
void check(const MobileBertConfig& config, std::string_view where);
/// Errors: Fault::kUsage for a head that predicts hidden tokens.
void apply(const ModelChange& change, MobileBertConfig& config);
nlohmann::json to_json(const MobileBertConfig& config);

/// Its step reads and leaves tensors as BERT's does (workloads/models/bert/bert_graph.h).
ModelPtr make_model(MobileBertConfig config);

}  // namespace workloads
