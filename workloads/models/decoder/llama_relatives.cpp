// The relatives of Llama: what each has otherwise, its presets, and the words of its names.
#include <algorithm>
#include <array>

#include "base/error.h"
#include "workloads/models/decoder/decoder_config.h"

namespace workloads {
namespace {

// clang-format off
constexpr std::array kDialects = {
    LlamaDialect{.kind = LlamaKind::kLlama, .family = "Llama", .type = "llama", .architecture = "LlamaForCausalLM"},
    LlamaDialect{.kind = LlamaKind::kMistral, .family = "Mistral", .type = "mistral",
                 .architecture = "MistralForCausalLM", .window = true,
                 .source = "Jiang et al., arXiv:2310.06825, table 1; config.json of mistralai/Mistral-7B-*"},
    LlamaDialect{.kind = LlamaKind::kQwen2, .family = "Qwen2", .type = "qwen2", .architecture = "Qwen2ForCausalLM",
                 .qkv_bias = true,
                 .source = "Yang et al., arXiv:2407.10671 and 2412.15115, table 1; config.json of Qwen/Qwen2*"},
    LlamaDialect{.kind = LlamaKind::kQwen3, .family = "Qwen3", .type = "qwen3", .architecture = "Qwen3ForCausalLM",
                 .head_norms = true,
                 .source = "Yang et al., arXiv:2505.09388, table 1; config.json of Qwen/Qwen3-*"},
    LlamaDialect{.kind = LlamaKind::kGemma, .family = "Gemma", .type = "gemma", .architecture = "GemmaForCausalLM",
                 .gemma = true, .tied = true, .activation = Activation::kGeluTanh,
                 .source = "Mesnard et al., arXiv:2403.08295, table 1; config.json of google/gemma-*"},
    LlamaDialect{.kind = LlamaKind::kGranite, .family = "Granite", .type = "granite",
                 .architecture = "GraniteForCausalLM", .multipliers = true,
                 .source = "config.json of ibm-granite/granite-3.0-*-base"},
    LlamaDialect{.kind = LlamaKind::kPhi3, .family = "Phi-3", .type = "phi3", .architecture = "Phi3ForCausalLM",
                 .window = true, .fused = true,
                 .source = "Abdin et al., arXiv:2404.14219 and 2412.08905; config.json of microsoft/[Pp]hi-*"},
    LlamaDialect{.kind = LlamaKind::kMixtral, .family = "Mixtral", .type = "mixtral",
                 .architecture = "MixtralForCausalLM", .window = true,
                 .experts = {.count = "num_local_experts", .size = "intermediate_size",
                             .router = "block_sparse_moe.gate", .prefix = "block_sparse_moe.experts.",
                             .gate = "w1", .up = "w3", .down = "w2"},
                 .eps = 1e-5,
                 .source = "Jiang et al., arXiv:2401.04088, table 1; config.json of mistralai/Mixtral-*"},
    LlamaDialect{.kind = LlamaKind::kQwen3Moe, .family = "Qwen3-MoE", .type = "qwen3_moe",
                 .architecture = "Qwen3MoeForCausalLM", .head_norms = true,
                 .experts = {.count = "num_experts", .size = "moe_intermediate_size", .router = "mlp.gate",
                             .prefix = "mlp.experts.", .gate = "gate_proj", .up = "up_proj", .down = "down_proj"},
                 .source = "Yang et al., arXiv:2505.09388, table 2; config.json of Qwen/Qwen3-*-A*"},
    LlamaDialect{.kind = LlamaKind::kOlmo2, .family = "OLMo-2", .type = "olmo2", .architecture = "Olmo2ForCausalLM",
                 .joint_norms = true,
                 .source = "OLMo et al., arXiv:2501.00656, table 1; config.json of allenai/OLMo-2-*"},
};

struct Kin {
  LlamaKind kind;
  std::string_view name;
  std::int64_t vocab, hidden, layers, heads, kv_heads, head, ffn, positions;
  double theta, eps;
  bool tied;
  std::int64_t bos, eos = 151643;  // <|endoftext|> of Qwen's base models
  std::int64_t window = 0;
  double logits_scaling = 1;
  std::int64_t experts = 0, top_k = 0;
  double balance = 0;  // weight of the router's loss
  std::string_view source{};  // where it is not the family's
};
using K = LlamaKind;
constexpr std::array kRelatives = {
    Kin{K::kMistral, "mistral-7b",      32000,  4096, 32, 32, 8, 128, 14336,  32768, 1e4, 1e-5, false, 1, 2, 4096},
    Kin{K::kMistral, "mistral-7b-v0.3", 32768,  4096, 32, 32, 8, 128, 14336,  32768, 1e6, 1e-5, false, 1, 2},
    Kin{K::kQwen2, "qwen2-0.5b",     151936,   896, 24, 14, 2,  64,  4864, 131072, 1e6, 1e-6, true,  151643},
    Kin{K::kQwen2, "qwen2-1.5b",     151936,  1536, 28, 12, 2, 128,  8960, 131072, 1e6, 1e-6, true,  151643},
    Kin{K::kQwen2, "qwen2-7b",       152064,  3584, 28, 28, 4, 128, 18944, 131072, 1e6, 1e-6, false, 151643},
    Kin{K::kQwen2, "qwen2.5-14b",    152064,  5120, 48, 40, 8, 128, 13824, 131072, 1e6, 1e-5, false, 151643},
    Kin{K::kQwen2, "qwen2.5-72b",    152064,  8192, 80, 64, 8, 128, 29568, 131072, 1e6, 1e-5, false, 151643},
    Kin{K::kQwen3, "qwen3-0.6b",     151936,  1024, 28, 16, 8, 128,  3072, 40960, 1e6, 1e-6, true,  151643, 151645},
    Kin{K::kQwen3, "qwen3-1.7b",     151936,  2048, 28, 16, 8, 128,  6144, 40960, 1e6, 1e-6, true,  151643, 151645},
    Kin{K::kQwen3, "qwen3-4b",       151936,  2560, 36, 32, 8, 128,  9728, 40960, 1e6, 1e-6, true,  151643, 151645},
    Kin{K::kQwen3, "qwen3-8b",       151936,  4096, 36, 32, 8, 128, 12288, 40960, 1e6, 1e-6, false, 151643, 151645},
    Kin{K::kQwen3, "qwen3-14b",      151936,  5120, 40, 40, 8, 128, 17408, 40960, 1e6, 1e-6, false, 151643, 151645},
    Kin{K::kQwen3, "qwen3-32b",      151936,  5120, 64, 64, 8, 128, 25600, 40960, 1e6, 1e-6, false, 151643, 151645},
    Kin{K::kGranite, "granite-3.0-2b",  49155,  2048, 40, 32, 8,  64,  8192,   4096, 1e4, 1e-5, true,  0, 0, 0, 8},
    Kin{K::kPhi3, "phi3-mini",       32064,  3072, 32, 32, 32, 96,  8192,   4096, 1e4, 1e-5, false, 1, 32000, 2047},
    Kin{K::kPhi3, "phi3-medium",     32064,  5120, 40, 40, 10, 128, 17920,  4096, 1e4, 1e-5, false, 1, 32000, 2047},
    Kin{K::kPhi3, "phi-4",          100352,  5120, 40, 40, 10, 128, 17920, 16384, 2.5e5, 1e-5, false, 100257, 100265},
    Kin{K::kMixtral, "mixtral-8x7b",  32000,  4096, 32, 32, 8, 128, 14336,  32768, 1e6, 1e-5, false, 1, 2, 0, 1,
        8, 2, 0.02},
    Kin{K::kMixtral, "mixtral-8x22b", 32768,  6144, 56, 48, 8, 128, 16384,  65536, 1e6, 1e-5, false, 1, 2, 0, 1,
        8, 2, 0.001},
    Kin{K::kMixtral, "mixtral-small",   512,   128,  2,  8, 8,  16,   128,   2048, 1e4, 1e-5, false, 1, 2, 0, 1,
        4, 2, 0.02, "ours, for quick runs"},
    Kin{K::kQwen3Moe, "qwen3-30b-a3b",   151936, 2048, 48, 32, 4, 128,  768, 40960, 1e6, 1e-6, false, 151643, 151645,
        0, 1, 128, 8, 0.001},
    Kin{K::kQwen3Moe, "qwen3-235b-a22b", 151936, 4096, 94, 64, 4, 128, 1536, 40960, 1e6, 1e-6, false, 151643, 151645,
        0, 1, 128, 8, 0.001},
    Kin{K::kGemma, "gemma-2b",       256000,  2048, 18,  8, 1, 256, 16384,  8192, 1e4, 1e-6, true, 2, 1},
    Kin{K::kGemma, "gemma-7b",       256000,  3072, 28, 16, 16, 256, 24576, 8192, 1e4, 1e-6, true, 2, 1},
    Kin{K::kPhi3, "phi3.5-mini",      32064,  3072, 32, 32, 32, 96,  8192, 131072, 1e4, 1e-5, false, 1, 32000, 262144},
    Kin{K::kOlmo2, "olmo2-1b",       100352,  2048, 16, 16, 16, 128,  8192,  4096, 5e5, 1e-6, false, 100257, 100257},
    Kin{K::kOlmo2, "olmo2-7b",       100352,  4096, 32, 32, 32, 128, 11008,  4096, 5e5, 1e-6, false, 100257, 100257},
    Kin{K::kOlmo2, "olmo2-13b",      100352,  5120, 40, 40, 40, 128, 13824,  4096, 5e5, 1e-6, false, 100257, 100257},
    Kin{K::kGranite, "granite-3.0-8b",  49155,  4096, 40, 32, 8, 128, 12800,   4096, 1e4, 1e-5, true,  0, 0, 0, 16},
};
// clang-format on

/// Of Phi-3.5-mini. Source: config.json of microsoft/Phi-3.5-mini-instruct.
// clang-format off
constexpr std::array kPhiLong = {
    1.08, 1.11, 1.14, 1.34, 1.59, 1.6, 1.62, 2.62, 3.23, 3.23, 4.79, 7.4, 7.7, 9.09, 12.2, 17.67,
    24.46, 28.57, 30.42, 30.84, 32.59, 32.93, 42.32, 44.96, 50.34, 50.45, 57.55, 57.93, 58.21, 60.14, 62.61, 62.62,
    62.71, 63.14, 63.14, 63.77, 63.93, 63.96, 63.97, 64.03, 64.07, 64.08, 64.12, 64.41, 64.48, 64.51, 64.53, 64.84};
constexpr std::array kPhiShort = {
    1.0, 1.02, 1.03, 1.03, 1.05, 1.05, 1.05, 1.05, 1.05, 1.07, 1.1, 1.11, 1.16, 1.16, 1.17, 1.29,
    1.34, 1.68, 1.79, 1.82, 1.85, 1.88, 1.91, 1.94, 1.99, 2.02, 2.02, 2.02, 2.02, 2.02, 2.02, 2.03,
    2.03, 2.03, 2.03, 2.03, 2.03, 2.03, 2.03, 2.03, 2.08, 2.09, 2.19, 2.22, 2.59, 2.73, 2.75, 2.84};
// clang-format on

LlamaConfig make(const Kin& row) {
  LlamaConfig c{.kind = row.kind,
                .vocab_size = row.vocab,
                .hidden_size = row.hidden,
                .num_hidden_layers = row.layers,
                .num_attention_heads = row.heads,
                .num_key_value_heads = row.kv_heads,
                .head_dim = row.head,
                .intermediate_size = row.ffn,
                .max_position_embeddings = row.positions,
                .hidden_act = dialect_of(row.kind).activation,
                .rms_norm_eps = row.eps,
                .rope_theta = row.theta,
                .tie_word_embeddings = row.tied,
                .sliding_window = row.window,
                .logits_scaling = row.logits_scaling,
                .num_experts = row.experts,
                .num_experts_per_tok = row.top_k,
                .router_aux_loss_coef = row.balance,
                .output_router_logits = row.experts > 0,
                .bos_token_id = row.bos,
                .eos_token_ids = {row.eos}};
  if (row.kind == LlamaKind::kGranite)
    c.embedding_multiplier = 12, c.residual_multiplier = 0.22,
    c.attention_multiplier = 1.0 / static_cast<double>(row.head);
  if (row.kind == LlamaKind::kPhi3 && row.positions == 131072)
    c.rope_scaling = RopeScaling{.type = RopeScaling::Type::kLong,
                                 .factor = 32,
                                 .short_factor = {kPhiShort.begin(), kPhiShort.end()},
                                 .long_factor = {kPhiLong.begin(), kPhiLong.end()},
                                 .original_max_position_embeddings = 4096};
  return c;
}

}  // namespace

const LlamaDialect& dialect_of(LlamaKind kind) { return *std::ranges::find(kDialects, kind, &LlamaDialect::kind); }

ModelPtr blank_llama(LlamaKind kind) {
  const LlamaDialect& dialect = dialect_of(kind);
  return make_model(LlamaConfig{.kind = kind, .hidden_act = dialect.activation, .tie_word_embeddings = dialect.tied});
}

std::vector<Preset> llama_presets(LlamaKind kind) {
  std::vector<Preset> out;
  for (const Kin& row : kRelatives)
    if (row.kind == kind)
      out.push_back({row.name, row.source.empty() ? dialect_of(kind).source : row.source, make_model(make(row))});
  return out;
}

}  // namespace workloads
