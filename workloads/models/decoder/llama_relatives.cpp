// The relatives of Llama: the differences of each, and its names.
#include <algorithm>
#include <array>

#include "workloads/models/decoder/decoder_config.h"

namespace workloads {
namespace {

// clang-format off
constexpr std::array kDialects = {
    LlamaDialect{.kind = LlamaKind::kLlama, .family = "Llama", .type = "llama", .architecture = "LlamaForCausalLM"},
    LlamaDialect{.kind = LlamaKind::kMistral, .family = "Mistral", .type = "mistral",
                 .architecture = "MistralForCausalLM", .window = true},
    LlamaDialect{.kind = LlamaKind::kQwen2, .family = "Qwen2", .type = "qwen2", .architecture = "Qwen2ForCausalLM",
                 .qkv_bias = true},
    LlamaDialect{.kind = LlamaKind::kQwen3, .family = "Qwen3", .type = "qwen3", .architecture = "Qwen3ForCausalLM",
                 .head_norms = true},
    LlamaDialect{.kind = LlamaKind::kGemma, .family = "Gemma", .type = "gemma", .architecture = "GemmaForCausalLM",
                 .gemma = true, .tied = true, .activation = Activation::kGeluTanh},
    LlamaDialect{.kind = LlamaKind::kGemma2, .family = "Gemma 2", .type = "gemma2", .architecture = "Gemma2ForCausalLM",
                 .norms_around = true, .gemma = true, .window = true, .tied = true,
                 .activation = Activation::kGeluTanh, .full_every = 2},
    LlamaDialect{.kind = LlamaKind::kGemma3, .family = "Gemma 3", .type = "gemma3_text",
                 .architecture = "Gemma3ForCausalLM", .head_norms = true, .norms_around = true, .gemma = true,
                 .window = true, .tied = true, .activation = Activation::kGeluTanh, .theta = 1e6, .full_every = 6},
    LlamaDialect{.kind = LlamaKind::kGranite, .family = "Granite", .type = "granite",
                 .architecture = "GraniteForCausalLM", .multipliers = true},
    LlamaDialect{.kind = LlamaKind::kPhi3, .family = "Phi-3", .type = "phi3", .architecture = "Phi3ForCausalLM",
                 .window = true, .fused = true},
    LlamaDialect{.kind = LlamaKind::kMixtral, .family = "Mixtral", .type = "mixtral",
                 .architecture = "MixtralForCausalLM", .window = true,
                 .experts = {.count = "num_local_experts",
                             .router = "block_sparse_moe.gate", .prefix = "block_sparse_moe.experts.",
                             .gate = "w1", .up = "w3", .down = "w2"},
                 .eps = 1e-5},
    LlamaDialect{.kind = LlamaKind::kQwen3Moe, .family = "Qwen3-MoE", .type = "qwen3_moe",
                 .architecture = "Qwen3MoeForCausalLM", .head_norms = true,
                 .experts = {.count = "num_experts", .router = "mlp.gate",
                             .prefix = "mlp.experts.", .gate = "gate_proj", .up = "up_proj", .down = "down_proj"}},
    LlamaDialect{.kind = LlamaKind::kOlmo2, .family = "OLMo-2", .type = "olmo2", .architecture = "Olmo2ForCausalLM",
                 .joint_norms = true, .norms_behind = true},
    LlamaDialect{.kind = LlamaKind::kOlmoe, .family = "OLMoE", .type = "olmoe", .architecture = "OlmoeForCausalLM",
                 .joint_norms = true,
                 .experts = {.count = "num_experts", .router = "mlp.gate",
                             .prefix = "mlp.experts.", .gate = "gate_proj", .up = "up_proj", .down = "down_proj"},
                 .eps = 1e-5},
    LlamaDialect{.kind = LlamaKind::kSmolLm3, .family = "SmolLM3", .type = "smollm3",
                 .architecture = "SmolLM3ForCausalLM", .tied = true, .theta = 2e6},
    LlamaDialect{.kind = LlamaKind::kStableLm, .family = "StableLM", .type = "stablelm",
                 .architecture = "StableLmForCausalLM", .layer_norm = true, .eps = 1e-5},
};
// clang-format on

}  // namespace

const LlamaDialect& dialect_of(LlamaKind kind) { return *std::ranges::find(kDialects, kind, &LlamaDialect::kind); }

LlamaConfig blank_config(LlamaKind kind) {
  const LlamaDialect& dialect = dialect_of(kind);
  LlamaConfig c;
  c.kind = kind, c.hidden_act = dialect.activation, c.tie_word_embeddings = dialect.tied;
  c.full_every = dialect.full_every;
  return c;
}

ModelPtr blank_llama(LlamaKind kind) { return make_model(blank_config(kind)); }

}  // namespace workloads
