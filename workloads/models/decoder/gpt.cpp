// GPT-2 (Radford et al., 2019): learned positions, LayerNorm before each part, biases everywhere, and one product for
// queries, keys and values; and its predecessor (Radford et al., 2018), whose norms are of the sums, with none behind
// the layers. Names and keys as in transformers' modeling_gpt2.py and modeling_openai.py.
#include <fmt/format.h>

#include <array>

#include "workloads/models/decoder/plain.h"
#include "workloads/models/spec_list.h"

namespace workloads {
namespace {

using P = PlainConfig;

// clang-format off
constexpr auto kGptFields = std::to_array<Field<P>>({
    {.key = "vocab_size", .member = &P::vocab_size, .required = true, .range = kVocabulary},
    {.key = "n_embd", .member = &P::hidden_size, .required = true, .range = kWidth},
    {.key = "n_layer", .member = &P::num_hidden_layers, .required = true, .range = kLayers},
    {.key = "n_head", .member = &P::num_attention_heads, .required = true, .range = kHeadCounts},
    {.key = "n_positions", .member = &P::max_position_embeddings, .required = true},
    {.key = "n_inner", .member = &P::intermediate_size, .range = kWidth,
     .otherwise = [](P& c) { c.intermediate_size = 4 * c.hidden_size; }},
    {.key = "activation_function", .member = &P::hidden_act, .choices = kGelus, .write = gpt_activation},
    {.key = "layer_norm_epsilon", .member = &P::layer_norm_eps},
    {.key = "initializer_range", .member = &P::initializer_range},
    {.key = "embd_pdrop", .member = &P::embedding_dropout, .range = kProbability},
    {.key = "resid_pdrop", .member = &P::dropout, .range = kProbability},
    {.key = "attn_pdrop", .member = &P::attention_dropout, .range = kProbability},
    {.key = "tie_word_embeddings", .member = &P::tie_word_embeddings},
    {.key = "bos_token_id", .member = &P::bos_token_id, .range = kToken},
    {.key = "eos_token_id", .member = &P::eos_token_id, .range = kToken},
    {.key = "scale_attn_weights", .only = true},
    {.key = "scale_attn_by_inverse_layer_idx", .only = false, .written = kNever},
    {.key = "add_cross_attention", .only = false, .written = kNever},
    {.key = "architectures", .always = Listed{"GPT2LMHeadModel"}},
    {.key = "model_type", .always = "gpt2"},
    {.key = "torch_dtype", .always = "float32"},
});

void read_first_gpt_width(const Keys&, P& c) { c.intermediate_size = 4 * c.hidden_size; }
void check_first_gpt_width(const Rules& rules, const P& c) {
  if (c.intermediate_size != 4 * c.hidden_size) rules.fail("n_embd", "is not a fourth of the MLP's size");
}

/// The MLP is four times as wide as the layers. "gelu" is transformers' word for the tanh formula here.
constexpr auto kFirstGptFields = std::to_array<Field<P>>({
    {.key = "vocab_size", .member = &P::vocab_size, .required = true, .range = kVocabulary},
    {.key = "n_embd", .member = &P::hidden_size, .required = true, .range = kWidth},
    {.key = "n_layer", .member = &P::num_hidden_layers, .required = true, .range = kLayers},
    {.key = "n_head", .member = &P::num_attention_heads, .required = true, .range = kHeadCounts},
    {.key = "n_positions", .member = &P::max_position_embeddings, .required = true},
    {.key = "n_inner", .written = kNever, .read = read_first_gpt_width, .check = check_first_gpt_width},
    {.key = "afn", .only = "gelu"},
    {.key = "layer_norm_epsilon", .member = &P::layer_norm_eps},
    {.key = "initializer_range", .member = &P::initializer_range},
    {.key = "embd_pdrop", .member = &P::embedding_dropout, .range = kProbability},
    {.key = "resid_pdrop", .member = &P::dropout, .range = kProbability},
    {.key = "attn_pdrop", .member = &P::attention_dropout, .range = kProbability},
    {.key = "tie_word_embeddings", .member = &P::tie_word_embeddings},
    {.key = "architectures", .always = Listed{"OpenAIGPTLMHeadModel"}},
    {.key = "model_type", .always = "openai-gpt"},
    {.key = "torch_dtype", .always = "float32"},
});
// clang-format on

void gpt_layer(SpecList& list, const P& c, std::int64_t layer) {
  const std::string prefix = fmt::format("transformer.h.{}.", layer);
  list.at(layer);
  list.layer_norm(prefix + "ln_1", c.hidden_size);
  list.conv1d(prefix + "attn.c_attn", c.hidden_size, 3 * c.hidden_size, TensorSplit::kFused);
  list.conv1d(prefix + "attn.c_proj", c.hidden_size, c.hidden_size, TensorSplit::kAxis0, Init::kNormalDeep);
  list.layer_norm(prefix + "ln_2", c.hidden_size);
  list.conv1d(prefix + "mlp.c_fc", c.hidden_size, c.intermediate_size, TensorSplit::kAxis1);
  list.conv1d(prefix + "mlp.c_proj", c.intermediate_size, c.hidden_size, TensorSplit::kAxis0, Init::kNormalDeep);
}

/// Its Conv1D weights are [in, out] in the file already; an untied lm_head is [vocab, hidden].
std::vector<WeightSpec> gpt_weights(const P& c) {
  SpecList list;
  list.at(c.tie_word_embeddings ? WeightSpec::kBeforeAndAfterLayers : WeightSpec::kBeforeLayers);
  list.embedding(c.family->embedding.name, c.vocab_size, c.hidden_size, TensorSplit::kVocabulary);
  list.at(WeightSpec::kBeforeLayers);
  list.embedding(c.family->embedding.positions, c.max_position_embeddings, c.hidden_size);
  for (std::int64_t layer = 0; layer < c.num_hidden_layers; ++layer) gpt_layer(list, c, layer);
  list.at(WeightSpec::kAfterLayers);
  if (c.block != PlainBlock::kNormOfSum) list.layer_norm(c.family->head.norm, c.hidden_size);
  if (!c.tie_word_embeddings) list.matrix("lm_head", c.hidden_size, c.vocab_size, TensorSplit::kVocabulary);
  return list.take();
}

}  // namespace

nlohmann::json gpt_activation(const P& c) {
  return nlohmann::json(c.hidden_act == Activation::kGeluTanh ? "gelu_new" : name_of(c.hidden_act));
}

const PlainFamily& first_gpt_family() {
  static const PlainFamily family{
      .name = "GPT-1",
      .type = "openai-gpt",
      .defaults =
          [](P& c) {
            c.vocab_size = 40478, c.hidden_act = Activation::kGeluTanh, c.dropout = 0.1, c.attention_dropout = 0.1,
            c.embedding_dropout = 0.1, c.tie_word_embeddings = true, c.block = PlainBlock::kNormOfSum;
          },
      .fields = kFirstGptFields,
      .blocks = "transformer.h.",
      .block = gpt_family().block,
      .embedding = {.name = "transformer.tokens_embed", .positions = "transformer.positions_embed"},
      .head = {.norm = "", .name = "lm_head"},
      .expansion = 4,
      .names = {.prefix = "transformer.",
                .tops = {"tokens_embed.", "positions_embed.", "h."},
                .left_out = {"*.attn.bias", "*.position_ids"}},
      .layer = gpt_family().layer,
      .weights = gpt_weights};
  return family;
}

const PlainFamily& gpt_family() {
  static const PlainFamily family{
      .name = "GPT",
      .type = "gpt2",
      .defaults =
          [](P& c) {
            c.vocab_size = 50257, c.hidden_act = Activation::kGeluTanh, c.dropout = 0.1, c.attention_dropout = 0.1,
            c.embedding_dropout = 0.1, c.tie_word_embeddings = true, c.bos_token_id = 50256, c.eos_token_id = 50256;
          },
      .fields = kGptFields,
      .blocks = "transformer.h.",
      .block = {.attention =
                    {.query = "attn.c_attn.q", .key = "attn.c_attn.k", .value = "attn.c_attn.v", .out = "attn.c_proj"},
                .mlp = {.up = "mlp.c_fc", .down = "mlp.c_proj"},
                .norm1 = "ln_1",
                .norm2 = "ln_2"},
      .embedding = {.name = "transformer.wte", .positions = "transformer.wpe"},
      .head = {.norm = "transformer.ln_f", .name = "lm_head"},
      .names = {.prefix = "transformer.",
                .tops = {"wte.", "wpe.", "h.", "ln_f."},
                .left_out = {"*.attn.bias", "*.attn.masked_bias"}},  // causal masks of older files
      .layer = {.forward = 59, .backward = 89, .core = 24},
      .weights = gpt_weights};
  return family;
}

}  // namespace workloads
