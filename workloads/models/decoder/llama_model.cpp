// Llama and its relatives as models: tensors, names, architecture.
#include <cmath>

#include "base/error.h"
#include "workloads/models/decoder/decoder_config.h"
#include "workloads/models/decoder/decoder_model.h"

namespace workloads {
namespace {

SharedExpertArch shared_expert(const LlamaConfig& c) {
  const ExpertNames& names = dialect_of(c.kind).experts;
  const std::string prefix = names.shared, down = names.shared_down;
  return {.size = c.shared_size,
          .gate = prefix + "gate_proj",
          .up = prefix + "up_proj",
          .down = down.empty() ? prefix + "down_proj" : down,
          .share = names.shared_share,
          .fused = names.shared_fused};
}

std::optional<MixtureArch> mixture_of(const LlamaConfig& c) {
  if (c.num_experts == 0) return std::nullopt;
  const ExpertNames& names = dialect_of(c.kind).experts;
  return MixtureArch{.experts = c.num_experts,
                     .top_k = c.num_experts_per_tok,
                     .normalised = c.norm_topk_prob,
                     .capacity_factor = c.capacity_factor,
                     .balance = c.output_router_logits ? c.router_aux_loss_coef : 0,
                     .router = names.router,
                     .prefix = names.prefix,
                     .gate = names.gate,
                     .up = names.up,
                     .down = names.down,
                     .fused = {.wide = names.fused_wide,
                               .down = names.fused_down,
                               .by_inputs = names.fused_by_inputs,
                               .halves = names.fused_halves},
                     .bias = names.have_bias,
                     .shared = shared_expert(c),
                     .choice = {.sigmoid = names.sigmoid || (*names.bias != '\0' && !names.bias_of_softmax),
                                .groups = c.groups,
                                .top_groups = c.top_groups,
                                .bias = names.bias,
                                .bias_is_row = names.bias_of_softmax,
                                .scales_inputs = names.scale_inputs},
                     .scale = c.routed_scale,
                     .first = c.first_dense,
                     .every = c.expert_every,
                     .without = c.mlp_only_layers,
                     .dense_size = c.dense_size};
}

/// Where a norm is before and behind each part, the second one of a layer has another name.
void name_norms(const LlamaConfig& c, BlockNames& names) {
  const DialectNorms& norms = dialect_of(c.kind).norms;
  const bool behind = norms.place == NormPlace::kBehind;
  const DialectNames& own = names_of(dialect_of(c.kind));
  names.norm1 = behind ? "post_attention_layernorm" : own.norm1;
  names.norm2 = behind ? "post_feedforward_layernorm" : own.norm2;
  if (norms.place == NormPlace::kAround)
    names.behind1 = norms.behind, names.norm2 = norms.before, names.behind2 = norms.last;
  if (c.parallel) names.norm2.clear();  // both parts read the first
}

/// A file's two tensors of keys and values are two each on the device.
void name_latents(const LlamaConfig& c, AttentionNames& names) {
  names.low_fused = "self_attn.kv_a_proj_with_mqa", names.fused = "self_attn.kv_b_proj";
  names.low = "self_attn.kv_a_proj", names.turned = "self_attn.k_rope_proj",
  names.low_norm = "self_attn.kv_a_layernorm";
  names.key = "self_attn.k_b_proj", names.value = "self_attn.v_b_proj";
  if (c.q_lora_rank == 0) return;
  names.query_low = "self_attn.q_a_proj", names.query_low_norm = "self_attn.q_a_layernorm";
  names.query = "self_attn.q_b_proj";
}

BlockNames names_of(const LlamaConfig& c) {
  const LlamaDialect& dialect = dialect_of(c.kind);
  const std::string layer{dialect.mlp.layer};
  const DialectNames& own = names_of(dialect);
  BlockNames names{.attention = {.query = own.query, .key = own.key, .value = own.value, .out = own.out},
                   .mlp = {.gate = layer + own.gate, .up = layer + own.up, .down = layer + own.down}};
  name_norms(c, names);
  if (c.head_norms || dialect.norms.joint || c.own_norms)
    names.attention.query_norm = dialect.norms.query ? dialect.norms.query : "self_attn.q_norm",
    names.attention.key_norm = dialect.norms.query ? dialect.norms.key_name : "self_attn.k_norm";
  names.attention.listed_norms = dialect.norms.listed;
  if (dialect.heads.sinks) names.attention.sinks = "self_attn.sinks";
  if (dialect.heads.latent) name_latents(c, names.attention);
  if (dialect.fused.qkv) names.attention.fused = own.qkv, names.attention.fused_groups = own.groups;
  if (dialect.fused.mlp) names.mlp.fused = layer + own.wide;
  if (c.hidden_act == Activation::kXielu) names.mlp.curve = layer + "act_fn";
  return names;
}

RotaryArch rotary_of(const LlamaConfig& c) {
  const DialectPositions& positions = dialect_of(c.kind).positions;
  if (c.alibi) return {};
  RotaryArch rotary{.frequencies = rope_frequencies(c),
                    .magnitude = rope_magnitude(c),
                    .none_every = positions.only_windowed && c.sliding_window > 0 ? c.full_every : c.no_rope_every,
                    .neighbours = dialect_of(c.kind).heads.latent ? c.rope_interleave : positions.neighbours};
  if (c.local_theta > 0 || (positions.scaled_full && c.rope_scaling)) {
    LlamaConfig local = c;
    if (c.local_theta > 0) local.rope_theta = c.local_theta;
    local.rope_scaling.reset();
    rotary.windowed = rope_frequencies(local);
  }
  if (c.rope_scaling && c.rope_scaling->query_growth > 0)
    rotary.query_growth = c.rope_scaling->query_growth,
    rotary.query_span = c.rope_scaling->original_max_position_embeddings;
  if (c.rope_scaling && c.rope_scaling->type == RopeScaling::Type::kLong)
    rotary.long_frequencies = rope_frequencies(c, true),
    rotary.long_from = c.rope_scaling->original_max_position_embeddings;
  return rotary;
}

/// With latents and YaRN scores grow by the square of a magnitude, as DeepSeek's own modeling_deepseek.py has it and
/// transformers' modeling_deepseek_v3.py; its modeling_deepseek_v2.py leaves it out.
double score_scale(const LlamaConfig& c) {
  if (c.query_scalar > 0) return 1 / std::sqrt(static_cast<double>(c.query_scalar));
  if (c.kv_lora_rank == 0 || !c.rope_scaling || c.rope_scaling->mscale_all_dim == 0) return c.attention_multiplier;
  const double magnitude = yarn_magnitude(c.rope_scaling->factor, c.rope_scaling->mscale_all_dim);
  return magnitude * magnitude / std::sqrt(static_cast<double>(c.head_dim));
}

HeadNorms head_norms_of(const LlamaConfig& c) {
  if (dialect_of(c.kind).norms.joint) return HeadNorms::kJoint;
  if (c.own_norms) return HeadNorms::kOwn;
  return c.bare_norms ? HeadNorms::kBare : HeadNorms::kShared;
}

AttentionArch attention_of(const LlamaConfig& c) {
  AttentionArch out{.heads = c.num_attention_heads,
                    .kv_heads = c.num_key_value_heads,
                    .head = c.head_dim,
                    .scale = score_scale(c),
                    .dropout = c.attention_dropout,
                    .soft_cap = c.score_cap,
                    .window = {.tokens = c.sliding_window,
                               .first = c.windowed_from,
                               .full_every = c.full_every,
                               .full_first = c.full_first},
                    .fp32_softmax = true,  // as modeling_llama has it
                    .qkv_bias = c.qkv_bias,
                    .out_bias = c.out_bias,
                    .norms = head_norms_of(c),
                    .norms_turned = dialect_of(c.kind).norms.turned,
                    .clip = c.clip_qkv,
                    .latent = {.queries = c.q_lora_rank, .keys = c.kv_lora_rank, .values = c.v_head_dim}};
  if (c.alibi) out.slopes = slopes_of_heads(c.num_attention_heads, 8);
  if (c.own_norms) out.norm = {.bias = false, .eps = c.rms_norm_eps};
  return out;
}

double residual_scale(const LlamaConfig& c) {
  if (c.scale_depth == 0) return c.residual_multiplier;
  return c.scale_depth / std::sqrt(static_cast<double>(c.num_hidden_layers));
}

BlockArch block_of(const LlamaConfig& c) {
  const LlamaDialect& dialect = dialect_of(c.kind);
  const DialectNorms& norms = dialect.norms;
  return {.norm = {.rms = !norms.layer,
                   .gain = norms.gain,
                   .bias = norms.bias,
                   .eps = c.rms_norm_eps,
                   .offset = norms.offset},
          .attention = attention_of(c),
          .rotary = rotary_of(c),
          .mlp = {.size = c.intermediate_size,
                  .gated = dialect.mlp.gated,
                  .activation = device_function(c.hidden_act),
                  .squared = c.hidden_act == Activation::kRelu2,
                  .xielu = c.hidden_act == Activation::kXielu,
                  .bias = c.mlp_bias,
                  .limit = c.swiglu_limit,
                  .slope = dialect.mlp.slope,
                  .shift = dialect.mlp.shift},
          .residual = {.norms = norms.place,
                       .bare_first = *names_of(dialect).first != '\0',
                       .parallel = c.parallel,
                       .scale = residual_scale(c),
                       .dropout = c.residual_dropout},
          .mixture = mixture_of(c),
          .names = names_of(c)};
}

/// For a classifier as modeling_llama's LlamaForSequenceClassification: one layer without a bias.
HeadArch head_of(const LlamaConfig& c) {
  const DialectNames& names = names_of(dialect_of(c.kind));
  const std::string norm = std::string{names.prefix} + names.last;
  if (c.classes) return {.norm = norm, .name = "score", .classes = static_cast<std::int64_t>(c.classes->names.size())};
  double scale = c.logit_scale / c.logits_scaling;
  if (c.dim_model_base > 0) scale *= static_cast<double>(c.dim_model_base) / static_cast<double>(c.hidden_size);
  return {.norm = norm,
          .name = names.head,
          .dense = names.dense,
          .dense_norm = names.dense_norm,
          .tied = c.tie_word_embeddings,
          .bias = c.head_bias,
          .unit_rows = c.norm_head,
          .scale = scale,
          .soft_cap = c.logit_cap};
}

/// As LlamaChunks says.
std::int64_t positions_of(const LlamaConfig& c) {
  std::int64_t most = c.max_position_embeddings;
  for (const std::int64_t other : {c.attention_chunk_size, c.floor_scale})
    if (other > 0) most = std::min(most, other);
  return most;
}

DecoderArch arch_of(const LlamaConfig& c) {
  const DialectNames& names = names_of(dialect_of(c.kind));
  const std::string prefix = names.prefix;
  const std::string first = names.first;
  DecoderArch arch{.layers = c.num_hidden_layers,
                   .hidden = c.hidden_size,
                   .vocabulary = c.vocab_size,
                   .positions = positions_of(c),
                   .blocks = prefix + names.layers,
                   .block = block_of(c),
                   .embedding = {.name = prefix + names.tokens,
                                 .norm = first.empty() ? first : prefix + first,
                                 .scale = dialect_of(c.kind).gemma ? std::sqrt(static_cast<double>(c.hidden_size))
                                                                   : c.embedding_multiplier},
                   .head = head_of(c),
                   .end_tokens = c.eos_token_ids};
  return arch;
}

/// Beyond a Llama's layer, of norms that multiply by 1 + weight in fp32, of two or four of them, with those of heads,
/// and of scores under a cap. Counted on modeling_gemma.py, modeling_gemma2.py and modeling_gemma3.py:
/// tests/golden/make/count_ops.py.
void add_gemma_ops(const LlamaConfig& c, LayerOps& layer) {
  const LlamaDialect& dialect = dialect_of(c.kind);
  layer.forward += 4, layer.backward += 2;
  if (dialect.norms.place == NormPlace::kAround) layer.forward += 22, layer.backward += 42;
  if (dialect.norms.of_heads) layer.forward += 22, layer.backward += 42;
  if (c.score_cap > 0) layer.forward += 4, layer.backward += 4, layer.core += 4;
}

/// Those of keys of config.json that few models have. Norms in a list of modules are one call each, between a split and
/// a concatenation.
void add_part_ops(const LlamaConfig& c, LayerOps& layer) {
  if (c.q_lora_rank > 0) layer.forward += 13, layer.backward += 29;
  if (c.alibi) layer.forward -= 22, layer.backward -= 19;
  if (c.clip_qkv > 0) layer.forward += 3, layer.backward += 12;
  if (c.own_norms && dialect_of(c.kind).norms.listed) {
    const auto norms = static_cast<double>(c.num_attention_heads + c.num_key_value_heads);
    layer.forward += norms + 4, layer.backward += 2 * norms + 4;
  } else if (c.own_norms) {
    layer.forward += 26, layer.backward += 58;
  }
}

/// Operations of a layer, counted as FrameworkOps says.
LayerOps layer_ops(const LlamaConfig& c) {
  LayerOps layer{.forward = 109, .backward = 157, .core = 22};
  if (c.num_key_value_heads != c.num_attention_heads)  // heads share keys and values
    layer.forward += 14, layer.backward += 14;
  const LlamaDialect& dialect = dialect_of(c.kind);
  layer.forward += dialect.more.forward, layer.backward += dialect.more.backward;
  if (dialect.gemma)
    add_gemma_ops(c, layer);
  else if (c.head_norms || dialect.norms.joint)
    layer.forward += 2 * 9, layer.backward += 2 * 25;  // two more norms
  add_part_ops(c, layer);
  if (c.num_experts == 0) return layer;
  // Beyond a dense feed-forward part, of a router and experts that are one tensor each of gate, up and down, as
  // neuronx-distributed's ExpertMLPs has them: their number does not matter. transformers' loop over experts, whose
  // shapes depend on the data, would have 19 more for each of them. The router's loss is of all layers.
  layer.forward += c.norm_topk_prob ? 42 : 40, layer.backward += c.norm_topk_prob ? 20 : 12;
  return layer;
}

ModelInfo info_of(const LlamaConfig& c) {
  const DialectNames& names = names_of(dialect_of(c.kind));
  ModelInfo info = decoder_info(dialect_of(c.kind).family, arch_of(c),
                                {.prefix = names.prefix,
                                 .tops = {std::string{names.tokens} + ".", names.layers, std::string{names.last} + "."},
                                 .left_out = {"*.inv_freq"}});
  info.initializer_range = c.initializer_range;
  if (c.first_dense > 0 &&
      c.expert_every == 1)  // a layer behind the last that predicts a second token, which transformers leaves out
    info.names.left_out.push_back("model.layers." + std::to_string(c.num_hidden_layers) + ".*");
  if (c.classes) {
    info.label_names = c.classes->names;
    info.names.left_out.push_back(std::string{names.head} + ".*"), info.names.drawn = {"score."};
  }
  info.free_heads = true;
  return info;
}

class LlamaModel final : public DecoderModel<LlamaConfig> {
 public:
  explicit LlamaModel(const LlamaConfig& config) : DecoderModel{config, info_of(config), layer_ops(config)} {}

  FrameworkOps traced_ops(const Step& step) const override {
    FrameworkOps ops = DecoderModel::traced_ops(step);
    if (config_.num_experts > 0 && config_.output_router_logits)
      ops.forward += kRouterLossOps.forward, ops.backward += kRouterLossOps.backward;
    return ops;
  }
};

/// transformers classifies texts with most of the relatives; the others stay unchanged.
void change_head(const ModelChange& change, LlamaConfig& c) {
  const LlamaDialect& dialect = dialect_of(c.kind);
  if (change.head == Head::kClassifier && dialect.classifies && !c.classes)
    c.classes = {.names = {"LABEL_0", "LABEL_1"}};
  if (change.head == Head::kNone) c.classes.reset();
  if (change.labels && c.classes) c.classes->names = *change.labels;
}

void resize(const Sizes& s, LlamaConfig& c) {
  if (s.ffn > 0 && c.intermediate_size > 0)
    for (std::int64_t* size : {&c.shared_size, &c.dense_size}) *size = s.ffn * *size / c.intermediate_size;
  const bool latent = dialect_of(c.kind).heads.latent;
  set_common(c, s);
  set_size(c.vocab_size, s.vocabulary), set_size(c.max_position_embeddings, s.positions);
  if (c.num_experts > 0) set_size(c.num_experts, s.experts);
  if (s.kv_heads > 0 || c.num_key_value_heads == 0)
    c.num_key_value_heads = s.kv_heads > 0 ? s.kv_heads : c.num_attention_heads;
  if (latent) {
    if (s.heads > 0) c.num_key_value_heads = s.heads;  // each has its own keys
  } else if (s.head > 0)
    c.head_dim = s.head;
  else if ((s.hidden > 0 || s.heads > 0) && c.num_attention_heads > 0)
    c.head_dim = c.hidden_size / c.num_attention_heads;
}

}  // namespace

void apply(const ModelChange& change, LlamaConfig& c) {
  resize(change.sizes, c);
  if (const auto& ids = change.tokens) {
    c.vocab_size = ids->vocabulary;
    c.bos_token_id = ids->begin.value_or(c.bos_token_id);
    if (ids->end) c.eos_token_ids = {*ids->end};
    if (ids->pad && c.classes) c.classes->pad_token_id = *ids->pad;
  }
  change_head(change, c);
  if (change.own_head) c.tie_word_embeddings = false;
  if (change.no_dropout) c.attention_dropout = c.residual_dropout = 0;
  if (change.capacity_factor) c.capacity_factor = *change.capacity_factor;
}

LlamaConfig::operator ModelPtr() const { return make_model(*this); }

ModelPtr make_model(LlamaConfig config) { return std::make_shared<LlamaModel>(config); }

LlamaConfig read_llama_config(const std::filesystem::path& path) { return read_one<LlamaConfig>(path, "llama"); }

std::vector<WeightSpec> llama_weights(const LlamaConfig& c) { return decoder_specs(arch_of(c)); }

}  // namespace workloads
