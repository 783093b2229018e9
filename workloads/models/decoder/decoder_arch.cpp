#include "workloads/models/decoder/decoder_arch.h"

#include "base/error.h"

namespace workloads {
namespace {

isa::Fn device_function(Activation a) {
  return a == Activation::kSilu ? isa::Fn::kSilu : a == Activation::kGelu ? isa::Fn::kGelu : isa::Fn::kGeluTanh;
}

DecoderForm form_of(const LlamaConfig& c) {
  return {.layers = c.num_hidden_layers,
          .hidden = c.hidden_size,
          .heads = c.num_attention_heads,
          .kv_heads = c.num_key_value_heads,
          .head = c.head_dim,
          .ffn = c.intermediate_size,
          .vocabulary = c.vocab_size,
          .positions = c.max_position_embeddings,
          .eps = c.rms_norm_eps,
          .rms = true,
          .gated = true,
          .rotary = true,
          .bias = false,
          .tied = c.tie_word_embeddings,
          .activation = device_function(c.hidden_act),
          .blocks = "model.layers.",
          .norm1 = "input_layernorm",
          .norm2 = "post_attention_layernorm",
          .last_norm = "model.norm",
          .query = "self_attn.q_proj",
          .key = "self_attn.k_proj",
          .value = "self_attn.v_proj",
          .out = "self_attn.o_proj",
          .up = "mlp.up_proj",
          .down = "mlp.down_proj",
          .embedding = "model.embed_tokens.weight"};
}

DecoderForm form_of(const GptConfig& c) {
  return {.layers = c.num_hidden_layers,
          .hidden = c.hidden_size,
          .heads = c.num_attention_heads,
          .kv_heads = c.num_attention_heads,
          .head = c.head_size(),
          .ffn = c.intermediate_size,
          .vocabulary = c.vocab_size,
          .positions = c.max_position_embeddings,
          .eps = c.layer_norm_eps,
          .rms = false,
          .gated = false,
          .rotary = false,
          .bias = true,
          .tied = c.tie_word_embeddings,
          .activation = device_function(c.hidden_act),
          .dropout = c.resid_pdrop,
          .embedding_dropout = c.embd_pdrop,
          .attention_dropout = c.attn_pdrop,
          .blocks = "transformer.h.",
          .norm1 = "ln_1",
          .norm2 = "ln_2",
          .last_norm = "transformer.ln_f",
          .query = "attn.c_attn.q",
          .key = "attn.c_attn.k",
          .value = "attn.c_attn.v",
          .out = "attn.c_proj",
          .up = "mlp.c_fc",
          .down = "mlp.c_proj",
          .embedding = "transformer.wte.weight"};
}

}  // namespace

DecoderForm decoder_form(const ModelConfig& config) {
  if (const auto* llama = std::get_if<LlamaConfig>(&config)) return form_of(*llama);
  if (const auto* gpt = std::get_if<GptConfig>(&config)) return form_of(*gpt);
  throw base::Error{base::Fault::kUsage, "model", "is an encoder, not a decoder", "choose a Llama or a GPT"};
}

}  // namespace workloads
