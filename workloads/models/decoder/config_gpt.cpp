// GPT-2's config.json.
#include "workloads/models/config_keys.h"
#include "workloads/models/decoder/decoder_config.h"

namespace workloads {

using nlohmann::json;

GptConfig read_gpt(const Keys& keys) {
  GptConfig c;
  keys.required("vocab_size", c.vocab_size);
  keys.required("n_embd", c.hidden_size);
  keys.required("n_layer", c.num_hidden_layers);
  keys.required("n_head", c.num_attention_heads);
  keys.required("n_positions", c.max_position_embeddings);
  c.intermediate_size = 4 * c.hidden_size;
  keys.optional("n_inner", c.intermediate_size);
  keys.optional("activation_function", c.hidden_act, {Activation::kGelu, Activation::kGeluTanh});
  keys.optional("layer_norm_epsilon", c.layer_norm_eps);
  keys.optional("initializer_range", c.initializer_range);
  keys.optional("embd_pdrop", c.embd_pdrop);
  keys.optional("resid_pdrop", c.resid_pdrop);
  keys.optional("attn_pdrop", c.attn_pdrop);
  keys.optional("tie_word_embeddings", c.tie_word_embeddings);
  c.bos_token_id = c.eos_token_id = c.vocab_size - 1;  // a small vocabulary without them in the file
  keys.optional("bos_token_id", c.bos_token_id);
  keys.optional("eos_token_id", c.eos_token_id);
  keys.only("scale_attn_weights", true);
  keys.only("scale_attn_by_inverse_layer_idx", false);
  keys.only("add_cross_attention", false);
  check(c, keys.where());
  return c;
}

void check(const GptConfig& c, std::string_view where) {
  const Rules rules{where};
  rules.positive("vocab_size", c.vocab_size);
  rules.positive("n_embd", c.hidden_size);
  rules.positive("n_layer", c.num_hidden_layers, 10'000);
  rules.positive("n_head", c.num_attention_heads);
  rules.positive("n_inner", c.intermediate_size);
  rules.positive("n_positions", c.max_position_embeddings);
  rules.divides("n_head", c.num_attention_heads, "n_embd", c.hidden_size);
  rules.positive("layer_norm_epsilon", c.layer_norm_eps);
  rules.positive("initializer_range", c.initializer_range);
  rules.probability("embd_pdrop", c.embd_pdrop);
  rules.probability("resid_pdrop", c.resid_pdrop);
  rules.probability("attn_pdrop", c.attn_pdrop);
  rules.token("bos_token_id", c.bos_token_id, c.vocab_size);
  rules.token("eos_token_id", c.eos_token_id, c.vocab_size);
}

json to_json(const GptConfig& c) {
  return {{"activation_function", c.hidden_act == Activation::kGeluTanh ? "gelu_new" : name_of(c.hidden_act)},
          {"architectures", {"GPT2LMHeadModel"}},
          {"attn_pdrop", c.attn_pdrop},
          {"bos_token_id", c.bos_token_id},
          {"embd_pdrop", c.embd_pdrop},
          {"eos_token_id", c.eos_token_id},
          {"initializer_range", c.initializer_range},
          {"layer_norm_epsilon", c.layer_norm_eps},
          {"model_type", "gpt2"},
          {"n_embd", c.hidden_size},
          {"n_head", c.num_attention_heads},
          {"n_inner", c.intermediate_size},
          {"n_layer", c.num_hidden_layers},
          {"n_positions", c.max_position_embeddings},
          {"resid_pdrop", c.resid_pdrop},
          {"scale_attn_weights", true},
          {"tie_word_embeddings", c.tie_word_embeddings},
          {"torch_dtype", "float32"},
          {"vocab_size", c.vocab_size}};
}

}  // namespace workloads
