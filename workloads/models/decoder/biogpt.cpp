// BioGPT (Luo et al., arXiv:2210.10341): OPT's positions and norms, scaled embeddings, GELU. Names and keys as in
// transformers' modeling_biogpt.py, whose norms have PyTorch's eps whatever the file says.
#include <array>

#include "workloads/models/decoder/plain.h"

namespace workloads {
namespace {

using P = PlainConfig;

/// One key for the sum of embeddings and the outputs of a layer's parts.
void read_dropout(const Keys& keys, P& c) {
  keys.optional("hidden_dropout_prob", c.dropout);
  c.embedding_dropout = c.dropout;
}

// clang-format off
constexpr auto kBioGptFields = std::to_array<Field<P>>({
    {.key = "vocab_size", .member = &P::vocab_size, .required = true, .range = kVocabulary},
    {.key = "hidden_size", .member = &P::hidden_size, .required = true, .range = kWidth},
    {.key = "num_hidden_layers", .member = &P::num_hidden_layers, .required = true, .range = kLayers},
    {.key = "num_attention_heads", .member = &P::num_attention_heads, .required = true, .range = kHeadCounts},
    {.key = "intermediate_size", .member = &P::intermediate_size, .required = true, .range = kWidth},
    {.key = "max_position_embeddings", .member = &P::max_position_embeddings, .required = true},
    {.key = "hidden_act", .member = &P::hidden_act, .choices = kGelus},
    {.key = "hidden_dropout_prob", .member = &P::dropout, .range = kProbability, .read = read_dropout},
    {.key = "attention_probs_dropout_prob", .member = &P::attention_dropout, .range = kProbability},
    {.key = "activation_dropout", .only = 0.0, .written = kNever},
    {.key = "layerdrop", .only = 0.0, .written = kNever},
    {.key = "initializer_range", .member = &P::initializer_range},
    {.key = "scale_embedding", .member = &P::scale_embedding},
    {.key = "tie_word_embeddings", .member = &P::tie_word_embeddings},
    {.key = "bos_token_id", .member = &P::bos_token_id, .range = kToken},
    {.key = "eos_token_id", .member = &P::eos_token_id, .range = kToken},
    {.key = "architectures", .always = Listed{"BioGptForCausalLM"}},
    {.key = "model_type", .always = "biogpt"},
    {.key = "torch_dtype", .always = "float32"},
});
// clang-format on

}  // namespace

const PlainFamily& biogpt_family() {
  static const PlainFamily family{
      .name = "BioGPT",
      .type = "biogpt",
      .defaults =
          [](P& c) {
            c.dropout = c.embedding_dropout = c.attention_dropout = 0.1, c.scale_embedding = true;
            c.tie_word_embeddings = true, c.bos_token_id = 0, c.eos_token_id = 2;
          },
      .fields = kBioGptFields,
      .blocks = "biogpt.layers.",
      .block = opt_family().block,
      .embedding = {.name = "biogpt.embed_tokens", .positions = "biogpt.embed_positions", .first_position = 2},
      .head = {.norm = "biogpt.layer_norm", .name = "output_projection"},
      .names = {.prefix = "biogpt.", .tops = {"embed_tokens.", "embed_positions.", "layers.", "layer_norm."}},
      .layer = opt_family().layer};  // whose parts it has
  return family;
}

}  // namespace workloads
