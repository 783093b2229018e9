// GPT-J (Wang and Komatsuzaki, 2021) and CodeGen (Nijkamp et al., arXiv:2203.13474): attention without biases and MLP
// side by side behind one norm, rotary positions of neighbouring elements. Names and keys as in transformers'
// modeling_gptj.py and modeling_codegen.py.
#include <array>

#include "workloads/models/decoder/plain.h"

namespace workloads {
namespace {

using P = PlainConfig;

/// Heads in one tensor are in so many groups, as the TPUs were that CodeGen was trained on.
constexpr std::int64_t kCodegenGroups = 4;

bool is_codegen(const P& c) { return !c.family->block.attention.fused.empty(); }
bool is_gptj(const P& c) { return !is_codegen(c); }

void check_turned(const Rules& rules, const P& c) {
  rules.positive("rotary_dim", c.rotary_dim);
  rules.divides("rotary_dim", 2, "rotary_dim", c.rotary_dim);
}

void check_heads(const Rules& rules, const P& c) {
  rules.positive("n_head", c.num_attention_heads, kHeadCounts.most);
  if (is_codegen(c) && c.num_attention_heads % kCodegenGroups != 0)
    rules.fail("n_head", "is not a multiple of the 4 groups of heads in a file");
}

// clang-format off
constexpr auto kGptjFields = std::to_array<Field<P>>({
    {.key = "vocab_size", .member = &P::vocab_size, .required = true, .range = kVocabulary},
    {.key = "n_embd", .member = &P::hidden_size, .required = true, .range = kWidth},
    {.key = "n_layer", .member = &P::num_hidden_layers, .required = true, .range = kLayers},
    {.key = "n_head", .member = &P::num_attention_heads, .required = true, .check = check_heads},
    {.key = "n_positions", .member = &P::max_position_embeddings, .required = true},
    {.key = "rotary_dim", .member = &P::rotary_dim, .range = kPositiveOrNone, .check = check_turned},
    {.key = "n_inner", .member = &P::intermediate_size, .range = kWidth,
     .otherwise = [](P& c) { c.intermediate_size = 4 * c.hidden_size; }},
    {.key = "activation_function", .member = &P::hidden_act, .choices = kGelus, .write = gpt_activation},
    {.key = "layer_norm_epsilon", .member = &P::layer_norm_eps},
    {.key = "initializer_range", .member = &P::initializer_range},
    {.key = "resid_pdrop", .member = &P::dropout, .range = kProbability},
    {.key = "embd_pdrop", .only = 0.0},
    {.key = "attn_pdrop", .member = &P::attention_dropout, .range = kProbability},
    {.key = "scale_attn_weights", .only = true, .written = kNever},
    {.key = "tie_word_embeddings", .only = false},
    {.key = "bos_token_id", .member = &P::bos_token_id, .range = kToken},
    {.key = "eos_token_id", .member = &P::eos_token_id, .range = kToken},
    {.key = "architectures", .always = Listed{"GPTJForCausalLM"}, .when = is_gptj},
    {.key = "architectures", .always = Listed{"CodeGenForCausalLM"}, .when = is_codegen},
    {.key = "model_type", .write = [](const P& c) { return nlohmann::json(c.family->type); }},
    {.key = "torch_dtype", .always = "float32"},
});
// clang-format on

/// `layer`: counted on the modeling files beside a Llama's layer (tests/golden/make/count_ops.py).
PlainFamily family_of(std::string_view name, std::string_view type, AttentionNames attention, LayerOps layer) {
  return {
      .name = name,
      .type = type,
      .defaults =
          [](P& c) {
            c.hidden_act = Activation::kGeluTanh, c.rotary_dim = 64, c.block = PlainBlock::kParallel,
            c.bos_token_id = 50256, c.eos_token_id = 50256;
          },
      .fields = kGptjFields,
      .blocks = "transformer.h.",
      .block = {.attention = std::move(attention), .mlp = {.up = "mlp.fc_in", .down = "mlp.fc_out"}, .norm1 = "ln_1"},
      .embedding = {.name = "transformer.wte"},
      .head = {.norm = "transformer.ln_f", .name = "lm_head", .bias = true},
      .qkv_bias = false,
      .out_bias = false,
      .scores = {.fp32_softmax = true},
      .neighbours = true,
      .names = {.prefix = "transformer.",
                .tops = {"wte.", "h.", "ln_f."},
                .left_out = {"*.attn.bias", "*.attn.masked_bias", "*.attn.causal_mask", "*.attn.embed_positions"}},
      .layer = layer};
}

}  // namespace

const PlainFamily& gptj_family() {
  static const PlainFamily family = family_of(
      "GPT-J", "gptj", {.query = "attn.q_proj", .key = "attn.k_proj", .value = "attn.v_proj", .out = "attn.out_proj"},
      {.forward = 139, .backward = 140, .core = 24});
  return family;
}

const PlainFamily& codegen_family() {
  static const PlainFamily family = family_of("CodeGen", "codegen",
                                              {.query = "attn.query",
                                               .key = "attn.key",
                                               .value = "attn.value",
                                               .out = "attn.out_proj",
                                               .fused = "attn.qkv_proj",
                                               .fused_groups = kCodegenGroups,
                                               .values_first = true},
                                              {.forward = 133, .backward = 121, .core = 24});
  return family;
}

}  // namespace workloads
