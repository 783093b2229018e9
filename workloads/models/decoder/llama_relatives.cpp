// The relatives of Llama: the differences of each, and its names.
#include <algorithm>
#include <array>

#include "workloads/models/decoder/decoder_config.h"
#include "workloads/models/decoder/llama_names.h"

namespace workloads {
namespace {

constexpr ExpertNames kExperts{.count = "num_experts",
                               .router = "mlp.gate",
                               .prefix = "mlp.experts.",
                               .gate = "gate_proj",
                               .up = "up_proj",
                               .down = "down_proj"};
/// Beside them an expert of all tokens whose share is that of a gate.
constexpr ExpertNames with_shared_gate(ExpertNames names) {
  names.shared = "mlp.shared_expert.", names.shared_share = "mlp.shared_expert_gate";
  return names;
}
constexpr ExpertNames kGraniteExperts{.count = "num_local_experts",
                                      .router = "block_sparse_moe.router.layer",
                                      .prefix = "block_sparse_moe.experts.",
                                      .gate = "gate",
                                      .up = "up",
                                      .down = "down",
                                      .fused_wide = "block_sparse_moe.input_linear",
                                      .fused_down = "block_sparse_moe.output_linear"};
constexpr ExpertNames kGptOssExperts{.count = "num_local_experts",
                                     .router = "mlp.router",
                                     .prefix = "mlp.experts.",
                                     .gate = "gate_proj",
                                     .up = "up_proj",
                                     .down = "down_proj",
                                     .fused_wide = "mlp.experts.gate_up_proj",
                                     .fused_down = "mlp.experts.down_proj",
                                     .fused_by_inputs = true,
                                     .have_bias = true};
constexpr ExpertNames kLlama4Experts{.count = "num_local_experts",
                                     .router = "feed_forward.router",
                                     .prefix = "feed_forward.experts.",
                                     .gate = "gate_proj",
                                     .up = "up_proj",
                                     .down = "down_proj",
                                     .fused_wide = "feed_forward.experts.gate_up_proj",
                                     .fused_down = "feed_forward.experts.down_proj",
                                     .fused_by_inputs = true,
                                     .fused_halves = true,
                                     .sigmoid = true,
                                     .scale_inputs = true,
                                     .shared = "feed_forward.shared_expert."};
constexpr ExpertNames granite_with_shared() {
  ExpertNames names = kGraniteExperts;
  names.shared = "shared_mlp.", names.shared_fused = "shared_mlp.input_linear";
  names.shared_down = "shared_mlp.output_linear";
  return names;
}
constexpr ExpertNames deepseek_experts(const char* bias) {
  ExpertNames names = kExperts;
  names.count = "n_routed_experts", names.shared = "mlp.shared_experts.", names.bias = bias;
  return names;
}
constexpr ExpertNames minimax_experts() {
  return {.count = "num_local_experts",
          .router = "block_sparse_moe.gate",
          .prefix = "block_sparse_moe.experts.",
          .gate = "w1",
          .up = "w3",
          .down = "w2",
          .bias = "block_sparse_moe.e_score_correction_bias"};
}
constexpr const char* kChoiceBias = "mlp.gate.e_score_correction_bias";
constexpr ExpertNames ernie_experts() {
  ExpertNames names = deepseek_experts("mlp.moe_statics.e_score_correction_bias");
  names.bias_of_softmax = true;
  return names;
}
/// Where the file says so, of attention's four layers, and of the MLP's too.
constexpr DialectBiases kAttentionBias{.attention = true, .out = true},
    kAnyBias{.attention = true, .out = true, .mlp = true};

// clang-format off

constexpr std::array kDialects = {
    LlamaDialect{.kind = LlamaKind::kLlama, .family = "Llama", .type = "llama", .architecture = "LlamaForCausalLM",
                 .biases = kAnyBias},
    LlamaDialect{.kind = LlamaKind::kMistral, .family = "Mistral", .type = "mistral",
                 .architecture = "MistralForCausalLM", .positions = {.window = true, .span = 4096}, .heads = {.kv = 8}},
    LlamaDialect{.kind = LlamaKind::kQwen2, .family = "Qwen2", .type = "qwen2", .architecture = "Qwen2ForCausalLM",
                 .positions = {.switched = true}, .biases = {.qkv = true}, .heads = {.kv = 32}},
    LlamaDialect{.kind = LlamaKind::kQwen3, .family = "Qwen3", .type = "qwen3", .architecture = "Qwen3ForCausalLM",
                 .norms = {.of_heads = true}, .positions = {.switched = true}, .biases = kAttentionBias,
                 .heads = {.size = 128, .kv = 32}},
    LlamaDialect{.kind = LlamaKind::kGemma, .family = "Gemma", .type = "gemma", .architecture = "GemmaForCausalLM",
                 .norms = {.offset = 1}, .biases = kAttentionBias, .gemma = true, .tied = true,
                 .mlp = {.activation = Activation::kGeluTanh}, .heads = {.size = 256, .kv = 16}},
    LlamaDialect{.kind = LlamaKind::kGemma2, .family = "Gemma 2", .type = "gemma2", .architecture = "Gemma2ForCausalLM",
                 .norms = {.place = NormPlace::kAround, .offset = 1},
                 .positions = {.window = true, .span = 4096, .full_every = 2}, .biases = kAttentionBias, .gemma = true,
                 .tied = true, .mlp = {.activation = Activation::kGeluTanh}, .heads = {.size = 256, .kv = 4}},
    LlamaDialect{.kind = LlamaKind::kGemma3, .family = "Gemma 3", .type = "gemma3_text",
                 .architecture = "Gemma3ForCausalLM",
                 .norms = {.place = NormPlace::kAround, .of_heads = true, .offset = 1},
                 .positions = {.theta = 1e6, .window = true, .span = 4096, .full_every = 6, .pattern = true},
                 .biases = kAttentionBias, .gemma = true, .tied = true, .mlp = {.activation = Activation::kGeluTanh},
                 .heads = {.size = 256, .kv = 4}},
    LlamaDialect{.kind = LlamaKind::kGranite, .family = "Granite", .type = "granite",
                 .architecture = "GraniteForCausalLM", .biases = kAnyBias, .multipliers = true, .classifies = false},
    LlamaDialect{.kind = LlamaKind::kPhi3, .family = "Phi-3", .type = "phi3", .architecture = "Phi3ForCausalLM",
                 .norms = {.eps = 1e-5}, .positions = {.share = 1, .window = true},
                 .fused = {.qkv = true, .mlp = true}},
    LlamaDialect{.kind = LlamaKind::kMixtral, .family = "Mixtral", .type = "mixtral",
                 .architecture = "MixtralForCausalLM", .norms = {.eps = 1e-5},
                 .positions = {.theta = 1e6, .window = true}, .heads = {.kv = 8},
                 .experts = {.count = "num_local_experts",
                             .router = "block_sparse_moe.gate", .prefix = "block_sparse_moe.experts.",
                             .gate = "w1", .up = "w3", .down = "w2"}},
    LlamaDialect{.kind = LlamaKind::kQwen3Moe, .family = "Qwen3-MoE", .type = "qwen3_moe",
                 .architecture = "Qwen3MoeForCausalLM", .norms = {.of_heads = true}, .biases = kAttentionBias,
                 .heads = {.kv = 4}, .experts = kExperts},
    LlamaDialect{.kind = LlamaKind::kOlmo2, .family = "OLMo-2", .type = "olmo2", .architecture = "Olmo2ForCausalLM",
                 .norms = {.place = NormPlace::kBehind, .joint = true, .eps = 1e-5}, .biases = kAttentionBias,
                 .classifies = false},
    LlamaDialect{.kind = LlamaKind::kOlmoe, .family = "OLMoE", .type = "olmoe", .architecture = "OlmoeForCausalLM",
                 .norms = {.joint = true, .eps = 1e-5}, .biases = kAttentionBias, .classifies = false,
                 .experts = kExperts},
    LlamaDialect{.kind = LlamaKind::kSmolLm3, .family = "SmolLM3", .type = "smollm3",
                 .architecture = "SmolLM3ForCausalLM", .positions = {.theta = 2e6}, .biases = kAnyBias, .tied = true,
                 .heads = {.kv = 4}},
    LlamaDialect{.kind = LlamaKind::kStableLm, .family = "StableLM", .type = "stablelm",
                 .architecture = "StableLmForCausalLM",
                 .norms = {.heads_key = "qk_layernorm", .query = "self_attn.q_layernorm",
                           .key_name = "self_attn.k_layernorm", .listed = true, .layer = true,
                           .key = "layer_norm_eps", .eps = 1e-5},
                 .positions = {.share = 0.25},
                 .heads = {.kv = 32}, .more = {.forward = -12, .backward = -24}},
    LlamaDialect{.kind = LlamaKind::kCohere, .family = "Cohere", .type = "cohere", .architecture = "CohereForCausalLM",
                 .norms = {.heads_key = "use_qk_norm", .layer = true, .bias = false, .key = "layer_norm_eps",
                           .eps = 1e-5},
                 .positions = {.neighbours = true, .theta = 5e5}, .biases = kAttentionBias, .tied = true,
                 .parallel = true, .classifies = false,
                 .more = {.forward = 1, .backward = -5}},
    LlamaDialect{.kind = LlamaKind::kCohere2, .family = "Cohere 2", .type = "cohere2",
                 .architecture = "Cohere2ForCausalLM",
                 .norms = {.layer = true, .bias = false, .key = "layer_norm_eps", .eps = 1e-5},
                 .positions = {.neighbours = true, .only_windowed = true, .window = true, .span = 4096,
                               .full_every = 4, .pattern = true},
                 .biases = kAttentionBias, .tied = true, .parallel = true, .classifies = false,
                 .more = {.forward = 1, .backward = -5}},
    LlamaDialect{.kind = LlamaKind::kGlm, .family = "GLM", .type = "glm", .architecture = "GlmForCausalLM",
                 .norms = {.eps = 1.5625e-7}, .positions = {.neighbours = true, .share = 0.5},
                 .biases = {.qkv = true, .attention = true}, .fused = {.mlp = true}, .heads = {.size = 128, .kv = 2},
                 .more = {.forward = 17, .backward = 3}},
    LlamaDialect{.kind = LlamaKind::kGlm4, .family = "GLM-4", .type = "glm4", .architecture = "Glm4ForCausalLM",
                 .norms = {.place = NormPlace::kAround, .eps = 1.5625e-7, .behind = "post_self_attn_layernorm",
                           .before = "post_attention_layernorm", .last = "post_mlp_layernorm"},
                 .positions = {.neighbours = true, .share = 0.5}, .biases = {.qkv = true, .attention = true},
                 .fused = {.mlp = true}, .heads = {.size = 128, .kv = 2},
                 .more = {.forward = 35, .backward = 43}},
    LlamaDialect{.kind = LlamaKind::kHelium, .family = "Helium", .type = "helium", .architecture = "HeliumForCausalLM",
                 .norms = {.eps = 1e-8}, .positions = {.neighbours = true, .theta = 1e5},
                 .biases = {.attention = true, .mlp = true}, .heads = {.size = 128, .kv = 20},
                 .more = {.forward = 16, .backward = 2}},
    LlamaDialect{.kind = LlamaKind::kErnie45, .family = "ERNIE 4.5", .type = "ernie4_5",
                 .architecture = "Ernie4_5ForCausalLM", .norms = {.eps = 1e-5},
                 .positions = {.neighbours = true, .theta = 5e5}, .tied = true, .classifies = false,
                 .heads = {.size = 128, .kv = 2},
                 .more = {.forward = 22, .backward = 8}},
    LlamaDialect{.kind = LlamaKind::kNemotron, .family = "Nemotron", .type = "nemotron",
                 .architecture = "NemotronForCausalLM",
                 .norms = {.layer = true, .offset = 1, .key = "norm_eps", .eps = 1e-5}, .positions = {.share = 0.5},
                 .biases = kAnyBias, .mlp = {.gated = false, .activation = Activation::kRelu2},
                 .more = {.forward = -13, .backward = -32}},
    LlamaDialect{.kind = LlamaKind::kArcee, .family = "Arcee", .type = "arcee", .architecture = "ArceeForCausalLM",
                 .norms = {.eps = 1e-5}, .biases = kAnyBias, .mlp = {.gated = false, .activation = Activation::kRelu2},
                 .more = {.forward = -3, .backward = -8}},
    LlamaDialect{.kind = LlamaKind::kSeedOss, .family = "Seed-OSS", .type = "seed_oss",
                 .architecture = "SeedOssForCausalLM", .biases = {.qkv = true, .attention = true, .mlp = true},
                 .heads = {.size = 128, .kv = 8}},
    LlamaDialect{.kind = LlamaKind::kExaone4, .family = "EXAONE 4", .type = "exaone4",
                 .architecture = "Exaone4ForCausalLM",
                 .norms = {.place = NormPlace::kBehind, .of_heads = true, .eps = 1e-5},
                 .positions = {.only_windowed = true, .window = true, .span = 4096, .full_every = 4, .pattern = true,
                               .listed = true}, .heads = {.kv = 32}},
    LlamaDialect{.kind = LlamaKind::kOlmo, .family = "OLMo", .type = "olmo", .architecture = "OlmoForCausalLM",
                 .norms = {.layer = true, .gain = false, .bias = false, .key = "", .eps = 1e-5},
                 .biases = kAttentionBias, .classifies = false,
                 .more = {.forward = -12, .backward = -34}},
    LlamaDialect{.kind = LlamaKind::kOlmo3, .family = "OLMo-3", .type = "olmo3", .architecture = "Olmo3ForCausalLM",
                 .norms = {.place = NormPlace::kBehind, .joint = true, .eps = 1e-5},
                 .positions = {.window = true, .span = 4096, .full_every = 4, .listed = true, .scaled_full = true},
                 .biases = kAttentionBias, .classifies = false},
    LlamaDialect{.kind = LlamaKind::kGraniteMoe, .family = "GraniteMoE", .type = "granitemoe",
                 .architecture = "GraniteMoeForCausalLM", .biases = kAttentionBias, .multipliers = true,
                 .classifies = false,
                 .experts = kGraniteExperts},
    LlamaDialect{.kind = LlamaKind::kGraniteMoeShared, .family = "GraniteMoE with shared experts",
                 .type = "granitemoeshared", .architecture = "GraniteMoeSharedForCausalLM", .biases = kAttentionBias,
                 .multipliers = true, .classifies = false, .experts = granite_with_shared(),
                 .more = {.forward = 12, .backward = 23}},
    LlamaDialect{.kind = LlamaKind::kDeepseek, .family = "DeepSeekMoE", .type = "deepseek",
                 .architecture = "DeepseekForCausalLM", .biases = kAttentionBias, .classifies = false,
                 .experts = deepseek_experts(""), .more = {.forward = 12, .backward = 23}},
    LlamaDialect{.kind = LlamaKind::kDeepseekV2, .family = "DeepSeek-V2", .type = "deepseek_v2",
                 .architecture = "DeepseekV2ForCausalLM", .biases = kAttentionBias, .classifies = false,
                 .heads = {.latent = true},
                 .experts = deepseek_experts(""),
                 .more = {.forward = 32, .backward = 56}},
    LlamaDialect{.kind = LlamaKind::kDeepseekV3, .family = "DeepSeek-V3", .type = "deepseek_v3",
                 .architecture = "DeepseekV3ForCausalLM", .biases = kAttentionBias, .classifies = false,
                 .heads = {.latent = true},
                 .experts = deepseek_experts(kChoiceBias),
                 .more = {.forward = 32, .backward = 56}},
    LlamaDialect{.kind = LlamaKind::kGlm4Moe, .family = "GLM-4-MoE", .type = "glm4_moe",
                 .architecture = "Glm4MoeForCausalLM", .norms = {.heads_key = "use_qk_norm", .eps = 1e-5},
                 .positions = {.share = 0.5}, .biases = {.attention = true}, .classifies = false,
                 .heads = {.kv = 8}, .experts = deepseek_experts(kChoiceBias), .more = {.forward = 16, .backward = 33}},
    LlamaDialect{.kind = LlamaKind::kDots1, .family = "dots.llm1", .type = "dots1",
                 .architecture = "Dots1ForCausalLM", .norms = {.of_heads = true}, .biases = kAttentionBias,
                 .classifies = false, .heads = {.kv = 32}, .experts = deepseek_experts(kChoiceBias),
                 .more = {.forward = 12, .backward = 23}},
    LlamaDialect{.kind = LlamaKind::kFlexOlmo, .family = "FlexOlmo", .type = "flex_olmo",
                 .architecture = "FlexOlmoForCausalLM", .norms = {.place = NormPlace::kBehind, .joint = true},
                 .positions = {.theta = 5e5}, .biases = kAttentionBias, .classifies = false, .experts = kExperts},
    LlamaDialect{.kind = LlamaKind::kGptOss, .family = "GPT-OSS", .type = "gpt_oss",
                 .architecture = "GptOssForCausalLM", .norms = {.eps = 1e-5},
                 .positions = {.theta = 150000, .window = true, .span = 128, .full_every = 2, .listed = true},
                 .biases = {.qkv = true, .attention = true, .out = true},
                 .mlp = {.limit = 7, .slope = 1.702, .shift = 1}, .heads = {.size = 64, .kv = 8, .sinks = true},
                 .experts = kGptOssExperts},
    LlamaDialect{.kind = LlamaKind::kLlama4, .family = "Llama 4", .type = "llama4_text",
                 .architecture = "Llama4ForCausalLM", .norms = {.eps = 1e-5},
                 .positions = {.neighbours = true, .theta = 5e5}, .classifies = false,
                 .mlp = {.layer = "feed_forward."}, .heads = {.size = 128, .kv = 8}, .experts = kLlama4Experts,
                 .more = {.forward = 23.5, .backward = 43.25}},  // three of four layers turn
    LlamaDialect{.kind = LlamaKind::kQwen2Moe, .family = "Qwen2-MoE", .type = "qwen2_moe",
                 .architecture = "Qwen2MoeForCausalLM", .biases = {.qkv = true},
                 .heads = {.kv = 16}, .experts = with_shared_gate(kExperts),
                 .more = {.forward = 14, .backward = 41}},
    LlamaDialect{.kind = LlamaKind::kInternLm, .family = "InternLM", .type = "internlm",
                 .architecture = "InternLMForCausalLM", .biases = {.qkv = true, .out = true}, .classifies = false},
    LlamaDialect{.kind = LlamaKind::kInternLm2, .family = "InternLM2", .type = "internlm2",
                 .architecture = "InternLM2ForCausalLM", .biases = {.qkv = true, .out = true}, .classifies = false,
                 .fused = {.qkv = true}, .mlp = {.layer = "feed_forward."}, .more = {.forward = -3, .backward = -16},
                 .names = &kInternLm2Names},
    LlamaDialect{.kind = LlamaKind::kInternLm3, .family = "InternLM3", .type = "internlm3",
                 .architecture = "InternLM3ForCausalLM", .classifies = false, .heads = {.kv = 32}},
    LlamaDialect{.kind = LlamaKind::kBaichuan, .family = "Baichuan", .type = "baichuan",
                 .architecture = "BaichuanForCausalLM", .classifies = false, .fused = {.qkv = true},
                 .more = {.forward = -1, .backward = -10}, .names = &kBaichuanNames, .keys = kBaichuanKeys},
    LlamaDialect{.kind = LlamaKind::kExaone, .family = "EXAONE 3", .type = "exaone",
                 .architecture = "ExaoneForCausalLM", .norms = {.eps = 1e-5}, .classifies = false,
                 .names = &kExaoneNames, .keys = kExaoneKeys},
    LlamaDialect{.kind = LlamaKind::kChatGlm, .family = "ChatGLM", .type = "chatglm",
                 .architecture = "ChatGLMForConditionalGeneration", .norms = {.eps = 1e-5},
                 .positions = {.neighbours = true, .share = 0.5}, .biases = {.attention = true}, .classifies = false,
                 .fused = {.qkv = true, .mlp = true}, .heads = {.size = 128, .kv = 1},
                 .more = {.forward = 10, .backward = -13},
                 .names = &kChatGlmNames, .keys = kChatGlmKeys},
    LlamaDialect{.kind = LlamaKind::kQwen, .family = "Qwen", .type = "qwen", .architecture = "QWenLMHeadModel",
                 .biases = {.qkv = true}, .classifies = false, .fused = {.qkv = true}, .heads = {.size = 128},
                 .more = {.forward = -7, .backward = -16}, .names = &kQwenNames, .keys = kQwenKeys},
    LlamaDialect{.kind = LlamaKind::kMiniCpm, .family = "MiniCPM", .type = "minicpm",
                 .architecture = "MiniCPMForCausalLM", .biases = kAttentionBias, .tied = true, .classifies = false,
                 .more = {.forward = 2, .backward = 2}},
    LlamaDialect{.kind = LlamaKind::kMiniCpm3, .family = "MiniCPM3", .type = "minicpm3",
                 .architecture = "MiniCPM3ForCausalLM", .biases = kAttentionBias, .tied = true, .classifies = false,
                 .heads = {.latent = true}, .more = {.forward = 14, .backward = 27}},
    LlamaDialect{.kind = LlamaKind::kOrion, .family = "Orion", .type = "orion", .architecture = "OrionForCausalLM",
                 .norms = {.layer = true, .eps = 1e-5}, .biases = kAttentionBias, .classifies = false,
                 .heads = {.kv = 40}, .more = {.forward = -16, .backward = -34}},
    LlamaDialect{.kind = LlamaKind::kAquila, .family = "Aquila", .type = "aquila",
                 .architecture = "AquilaForCausalLM", .classifies = false},
    LlamaDialect{.kind = LlamaKind::kXverse, .family = "XVERSE", .type = "xverse",
                 .architecture = "XverseForCausalLM", .classifies = false},
    LlamaDialect{.kind = LlamaKind::kYi, .family = "Yi", .type = "Yi", .architecture = "YiForCausalLM",
                 .norms = {.eps = 1e-5}, .positions = {.theta = 5e6}, .classifies = false,
                 .heads = {.kv = 4}, .names = &kYiNames},
    LlamaDialect{.kind = LlamaKind::kErnie45Moe, .family = "ERNIE 4.5 with experts", .type = "ernie4_5_moe",
                 .architecture = "Ernie4_5_MoeForCausalLM", .norms = {.eps = 1e-5},
                 .positions = {.neighbours = true, .theta = 5e5}, .tied = true, .classifies = false,
                 .heads = {.kv = 4}, .experts = ernie_experts(), .more = {.forward = 34, .backward = 31},
                 .keys = kErnieMoeKeys},
    LlamaDialect{.kind = LlamaKind::kKimiK2, .family = "Kimi K2", .type = "kimi_k2",
                 .architecture = "DeepseekV3ForCausalLM", .biases = kAttentionBias, .classifies = false,
                 .heads = {.latent = true}, .experts = deepseek_experts(kChoiceBias),
                 .more = {.forward = 32, .backward = 56}},
    LlamaDialect{.kind = LlamaKind::kMinistral3, .family = "Ministral 3", .type = "ministral3",
                 .architecture = "Ministral3ForCausalLM", .norms = {.eps = 1e-5},
                 .positions = {.window = true, .growth = true}, .heads = {.size = 128, .kv = 8},
                 .more = {.forward = 9, .backward = 1}},
    LlamaDialect{.kind = LlamaKind::kGranite4, .family = "Granite 4", .type = "granitemoehybrid",
                 .architecture = "GraniteMoeHybridForCausalLM", .biases = kAttentionBias, .multipliers = true,
                 .fused = {.mlp = true}, .mlp = {.layer = "shared_mlp."}, .names = &kGranite4Names,
                 .keys = kGranite4Keys},
    LlamaDialect{.kind = LlamaKind::kHunyuan, .family = "Hunyuan", .type = "hunyuan_v1_dense",
                 .architecture = "HunYuanDenseV1ForCausalLM",
                 .norms = {.of_heads = true, .query = "self_attn.query_layernorm",
                           .key_name = "self_attn.key_layernorm", .turned = true, .eps = 1e-5},
                 .positions = {.alpha = true}, .biases = kAttentionBias},
    LlamaDialect{.kind = LlamaKind::kMiniMaxM2, .family = "MiniMax-M2", .type = "minimax_m2",
                 .architecture = "MiniMaxM2ForCausalLM", .norms = {.joint = true},
                 .positions = {.theta = 5e6, .share = 1}, .classifies = false, .heads = {.size = 128, .kv = 8},
                 .experts = minimax_experts(), .more = {.forward = 4, .backward = 10}},
    LlamaDialect{.kind = LlamaKind::kApertus, .family = "Apertus", .type = "apertus",
                 .architecture = "ApertusForCausalLM", .norms = {.of_heads = true, .eps = 1e-5},
                 .positions = {.theta = 12e6}, .biases = kAttentionBias, .classifies = false,
                 .mlp = {.gated = false, .activation = Activation::kXielu}, .more = {.forward = 10, .backward = 21},
                 .names = &kApertusNames},
    LlamaDialect{.kind = LlamaKind::kBailing, .family = "Ling", .type = "bailing_moe",
                 .architecture = "BailingMoeForCausalLM", .norms = {.eps = 1e-5}, .biases = {.attention = true},
                 .classifies = false, .fused = {.qkv = true}, .experts = deepseek_experts(""),
                 .more = {.forward = 5, .backward = 7}, .names = &kBailingNames, .keys = kBailingKeys},
    LlamaDialect{.kind = LlamaKind::kBailing2, .family = "Ling 2", .type = "bailing_moe_v2",
                 .architecture = "BailingMoeV2ForCausalLM",
                 .norms = {.of_heads = true, .query = "attention.query_layernorm",
                           .key_name = "attention.key_layernorm", .eps = 1e-6},
                 .positions = {.share = 1}, .biases = {.attention = true}, .classifies = false,
                 .fused = {.qkv = true}, .experts = deepseek_experts("mlp.gate.expert_bias"),
                 .more = {.forward = 9, .backward = 17}, .names = &kBailingNames, .keys = kBailingKeys},
    LlamaDialect{.kind = LlamaKind::kModernBertDecoder, .family = "ModernBERT's decoder", .type = "modernbert-decoder",
                 .architecture = "ModernBertDecoderForCausalLM",
                 .norms = {.layer = true, .bias = false, .key = "norm_eps", .eps = 1e-5},
                 .positions = {.theta = 160000}, .biases = kAnyBias, .tied = true, .classifies = false,
                 .fused = {.mlp = true}, .mlp = {.activation = Activation::kGelu},
                 .more = {.forward = -15, .backward = -39}, .names = &kModernNames, .keys = kModernKeys},
};
// clang-format on

}  // namespace

const LlamaDialect& dialect_of(LlamaKind kind) { return *std::ranges::find(kDialects, kind, &LlamaDialect::kind); }

const DialectNames& names_of(const LlamaDialect& dialect) { return dialect.names ? *dialect.names : kLlamaNames; }

LlamaConfig blank_config(LlamaKind kind) {
  const LlamaDialect& dialect = dialect_of(kind);
  LlamaConfig c;
  c.kind = kind, c.hidden_act = dialect.mlp.activation, c.swiglu_limit = dialect.mlp.limit,
  c.tie_word_embeddings = dialect.tied;
  c.rms_norm_eps = dialect.norms.eps, c.full_every = dialect.positions.full_every, c.qkv_bias = dialect.biases.qkv,
  c.out_bias = c.qkv_bias && dialect.biases.out, c.parallel = dialect.parallel, c.head_norms = dialect.norms.of_heads;
  if (kind == LlamaKind::kErnie45Moe || kind == LlamaKind::kGlm4Moe) c.first_dense = 1;
  if (kind == LlamaKind::kDeepseekV2) c.q_lora_rank = 1536;
  if (kind == LlamaKind::kDeepseekV3 || kind == LlamaKind::kKimiK2)
    c.q_lora_rank = 1536, c.first_dense = 3, c.groups = 8, c.top_groups = 4;
  if (kind == LlamaKind::kMiniCpm3) c.q_lora_rank = 768, c.rope_interleave = false;
  if (kind == LlamaKind::kModernBertDecoder) c.bos_token_id = 50281, c.eos_token_ids = {50282};
  if (kind == LlamaKind::kNemotron) c.initializer_range = 0.0134;
  if (kind == LlamaKind::kLlama4) c.norm_topk_prob = false, c.bare_norms = true;
  const bool keeps_gates = kind == LlamaKind::kDeepseek || kind == LlamaKind::kDeepseekV2 || kind == LlamaKind::kDots1;
  if (keeps_gates) c.norm_topk_prob = false;
  return c;
}

ModelPtr blank_llama(LlamaKind kind) { return make_model(blank_config(kind)); }

}  // namespace workloads
