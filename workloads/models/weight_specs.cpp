// Which tensors each model has. Source: transformers, modeling_bert.py, modeling_llama.py, modeling_gpt2.py.
#include <fmt/format.h>

#include "workloads/weights.h"

namespace workloads {
namespace {

/// Appends the tensors of one kind of layer.
class SpecList {
 public:
  /// What follows belongs to this layer, or to a place before or after the layers.
  void at(std::int64_t layer) { layer_ = layer; }

  void tensor(std::string name, Shape shape, Init init, bool transposed = false,
              TensorSplit split = TensorSplit::kNone) {
    specs_.push_back({std::move(name), std::move(shape), init, transposed, split, layer_});
  }
  void embedding(const std::string& name, std::int64_t rows, std::int64_t cols,
                 TensorSplit split = TensorSplit::kNone) {
    tensor(name + ".weight", {rows, cols}, Init::kNormal, false, split);
  }
  void matrix(const std::string& name, std::int64_t in, std::int64_t out, TensorSplit split = TensorSplit::kNone) {
    tensor(name + ".weight", {out, in}, Init::kNormal, true, split);
  }
  /// A weight and a bias. A bias is split with the outputs of its weight; after split inputs every rank holds it.
  void linear(const std::string& name, std::int64_t in, std::int64_t out, TensorSplit split = TensorSplit::kNone) {
    matrix(name, in, out, split);
    tensor(name + ".bias", {out}, Init::kZeros, false, split == TensorSplit::kAxis1 ? TensorSplit::kNone : split);
  }
  /// GPT-2's Conv1D, [in, out].
  void conv1d(const std::string& name, std::int64_t in, std::int64_t out, TensorSplit split,
              Init init = Init::kNormal) {
    tensor(name + ".weight", {in, out}, init, false, split);
    const TensorSplit bias = split == TensorSplit::kAxis1   ? TensorSplit::kAxis0
                             : split == TensorSplit::kAxis0 ? TensorSplit::kNone
                                                            : split;
    tensor(name + ".bias", {out}, Init::kZeros, false, bias);
  }
  void layer_norm(const std::string& name, std::int64_t size) {
    tensor(name + ".weight", {size}, Init::kOnes);
    tensor(name + ".bias", {size}, Init::kZeros);
  }
  void rms_norm(const std::string& name, std::int64_t size) { tensor(name + ".weight", {size}, Init::kOnes); }

  std::vector<WeightSpec> take() { return std::move(specs_); }

 private:
  std::vector<WeightSpec> specs_;
  std::int64_t layer_ = WeightSpec::kBeforeLayers;
};

void bert_layer(SpecList& list, const BertConfig& c, std::int64_t layer) {
  const std::string prefix = fmt::format("bert.encoder.layer.{}.", layer);
  list.at(layer);
  for (const char* name : {"query", "key", "value"})
    list.linear(prefix + "attention.self." + name, c.hidden_size, c.hidden_size, TensorSplit::kAxis0);
  list.linear(prefix + "attention.output.dense", c.hidden_size, c.hidden_size, TensorSplit::kAxis1);
  list.layer_norm(prefix + "attention.output.LayerNorm", c.hidden_size);
  list.linear(prefix + "intermediate.dense", c.hidden_size, c.intermediate_size, TensorSplit::kAxis0);
  list.linear(prefix + "output.dense", c.intermediate_size, c.hidden_size, TensorSplit::kAxis1);
  list.layer_norm(prefix + "output.LayerNorm", c.hidden_size);
}

void llama_layer(SpecList& list, const LlamaConfig& c, std::int64_t layer) {
  const std::string prefix = fmt::format("model.layers.{}.", layer);
  const std::int64_t query = c.num_attention_heads * c.head_dim, key = c.num_key_value_heads * c.head_dim;
  list.at(layer);
  list.matrix(prefix + "self_attn.q_proj", c.hidden_size, query, TensorSplit::kAxis0);
  list.matrix(prefix + "self_attn.k_proj", c.hidden_size, key, TensorSplit::kKeyValue);
  list.matrix(prefix + "self_attn.v_proj", c.hidden_size, key, TensorSplit::kKeyValue);
  list.matrix(prefix + "self_attn.o_proj", query, c.hidden_size, TensorSplit::kAxis1);
  list.matrix(prefix + "mlp.gate_proj", c.hidden_size, c.intermediate_size, TensorSplit::kAxis0);
  list.matrix(prefix + "mlp.up_proj", c.hidden_size, c.intermediate_size, TensorSplit::kAxis0);
  list.matrix(prefix + "mlp.down_proj", c.intermediate_size, c.hidden_size, TensorSplit::kAxis1);
  list.rms_norm(prefix + "input_layernorm", c.hidden_size);
  list.rms_norm(prefix + "post_attention_layernorm", c.hidden_size);
}

void gpt_layer(SpecList& list, const GptConfig& c, std::int64_t layer) {
  const std::string prefix = fmt::format("transformer.h.{}.", layer);
  list.at(layer);
  list.layer_norm(prefix + "ln_1", c.hidden_size);
  list.conv1d(prefix + "attn.c_attn", c.hidden_size, 3 * c.hidden_size, TensorSplit::kFused);
  list.conv1d(prefix + "attn.c_proj", c.hidden_size, c.hidden_size, TensorSplit::kAxis0, Init::kNormalDeep);
  list.layer_norm(prefix + "ln_2", c.hidden_size);
  list.conv1d(prefix + "mlp.c_fc", c.hidden_size, c.intermediate_size, TensorSplit::kAxis1);
  list.conv1d(prefix + "mlp.c_proj", c.intermediate_size, c.hidden_size, TensorSplit::kAxis0, Init::kNormalDeep);
}

}  // namespace

std::vector<WeightSpec> bert_weights(const BertConfig& c) {
  const bool pretraining = c.head == BertHead::kPretraining;
  SpecList list;
  list.at(pretraining ? WeightSpec::kBeforeAndAfterLayers : WeightSpec::kBeforeLayers);
  list.tensor("bert.embeddings.word_embeddings.weight", {c.vocab_size, c.hidden_size}, Init::kNormalPadZero, false,
              TensorSplit::kVocabulary);
  list.at(WeightSpec::kBeforeLayers);
  list.embedding("bert.embeddings.position_embeddings", c.max_position_embeddings, c.hidden_size);
  list.embedding("bert.embeddings.token_type_embeddings", c.type_vocab_size, c.hidden_size);
  list.layer_norm("bert.embeddings.LayerNorm", c.hidden_size);
  for (std::int64_t layer = 0; layer < c.num_hidden_layers; ++layer) bert_layer(list, c, layer);
  list.at(WeightSpec::kAfterLayers);
  list.linear("bert.pooler.dense", c.hidden_size, c.hidden_size);
  if (pretraining) {
    list.tensor("cls.predictions.bias", {c.vocab_size}, Init::kZeros, false, TensorSplit::kVocabulary);
    list.linear("cls.predictions.transform.dense", c.hidden_size, c.hidden_size);
    list.layer_norm("cls.predictions.transform.LayerNorm", c.hidden_size);
    list.linear("cls.seq_relationship", c.hidden_size, 2);
  } else {
    list.linear("classifier", c.hidden_size, c.num_labels());
  }
  return list.take();
}

std::vector<WeightSpec> llama_weights(const LlamaConfig& c) {
  SpecList list;
  list.at(c.tie_word_embeddings ? WeightSpec::kBeforeAndAfterLayers : WeightSpec::kBeforeLayers);
  list.embedding("model.embed_tokens", c.vocab_size, c.hidden_size, TensorSplit::kVocabulary);
  for (std::int64_t layer = 0; layer < c.num_hidden_layers; ++layer) llama_layer(list, c, layer);
  list.at(WeightSpec::kAfterLayers);
  list.rms_norm("model.norm", c.hidden_size);
  if (!c.tie_word_embeddings) list.matrix("lm_head", c.hidden_size, c.vocab_size, TensorSplit::kVocabulary);
  return list.take();
}

std::vector<WeightSpec> gpt_weights(const GptConfig& c) {
  SpecList list;
  list.at(c.tie_word_embeddings ? WeightSpec::kBeforeAndAfterLayers : WeightSpec::kBeforeLayers);
  list.embedding("transformer.wte", c.vocab_size, c.hidden_size, TensorSplit::kVocabulary);
  list.at(WeightSpec::kBeforeLayers);
  list.embedding("transformer.wpe", c.max_position_embeddings, c.hidden_size);
  for (std::int64_t layer = 0; layer < c.num_hidden_layers; ++layer) gpt_layer(list, c, layer);
  list.at(WeightSpec::kAfterLayers);
  list.layer_norm("transformer.ln_f", c.hidden_size);
  if (!c.tie_word_embeddings) list.matrix("lm_head", c.hidden_size, c.vocab_size, TensorSplit::kVocabulary);
  return list.take();
}

std::vector<WeightSpec> model_weights(const ModelConfig& config) {
  if (const auto* llama = std::get_if<LlamaConfig>(&config)) return llama_weights(*llama);
  if (const auto* gpt = std::get_if<GptConfig>(&config)) return gpt_weights(*gpt);
  return bert_weights(std::get<BertConfig>(config));
}

}  // namespace workloads
