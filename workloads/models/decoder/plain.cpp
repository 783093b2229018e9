#include "workloads/models/decoder/plain.h"

#include <algorithm>
#include <cmath>

namespace workloads {
namespace {

/// Columns of a head that are rotated: an even number.
std::int64_t rotary_columns(const PlainConfig& c) {
  const std::int64_t head = c.num_attention_heads > 0 ? c.hidden_size / c.num_attention_heads : 0;
  if (c.rotary_dim > 0) return c.rotary_dim / 2 * 2;
  return static_cast<std::int64_t>(c.rotary_share * static_cast<double>(head)) / 2 * 2;
}

RotaryArch rotary_of(const PlainConfig& c) {
  RotaryArch rotary{.neighbours = c.family->neighbours};
  for (std::int64_t j = 0; j < rotary_columns(c); j += 2)
    rotary.frequencies.push_back(
        std::pow(c.rope_theta, -static_cast<double>(j) / static_cast<double>(rotary_columns(c))));
  return rotary;
}

BlockNames names_of(const PlainConfig& c) {
  BlockNames names = c.family->block;
  if (!c.qk_layernorm) names.attention.query_norm.clear(), names.attention.key_norm.clear();
  return names;
}

MlpArch mlp_of(const PlainConfig& c) {
  return {.size = c.intermediate_size,
          .gated = c.experts > 0,
          .activation = device_function(c.hidden_act),
          .squared = c.hidden_act == Activation::kRelu2,
          .bias = c.family->mlp_bias || c.bias};
}

std::optional<MixtureArch> mixture_of(const PlainConfig& c) {
  if (c.experts == 0) return std::nullopt;
  MixtureArch mixture = c.family->experts;
  mixture.experts = c.experts, mixture.top_k = c.top_k, mixture.normalised = c.normalised;
  mixture.capacity_factor = c.capacity_factor, mixture.balance = c.output_router_logits ? c.balance : 0;
  return mixture;
}

DecoderArch arch_of(const PlainConfig& c) {
  const PlainFamily& family = *c.family;
  DecoderArch arch{
      .layers = c.num_hidden_layers,
      .hidden = c.hidden_size,
      .vocabulary = c.vocab_size,
      .positions = c.max_position_embeddings,
      .blocks = family.blocks,
      .block = {.norm = {.bias = family.norm_bias, .eps = c.layer_norm_eps},
                .attention = {.heads = c.num_attention_heads,
                              .kv_heads = c.kv_heads(),
                              .head = c.num_attention_heads > 0 ? c.hidden_size / c.num_attention_heads : 0,
                              .scale = family.scores.scale,
                              .dropout = c.attention_dropout,
                              .window = {.tokens = c.sliding_window, .full_every = c.full_every, .full_first = true},
                              .fp32_softmax = family.scores.fp32_softmax,
                              .qkv_bias = family.qkv_bias || c.bias,
                              .out_bias = family.out_bias || c.bias,
                              .slopes = slopes_of_heads(c.num_attention_heads, c.alibi_bias_max)},
                .rotary = rotary_of(c),
                .mlp = mlp_of(c),
                .residual = {.parallel = c.block == PlainBlock::kParallel, .dropout = c.dropout},
                .mixture = mixture_of(c),
                .names = names_of(c)},
      .embedding = family.embedding,
      .head = family.head,
      .end_tokens = {c.eos_token_id}};
  arch.head.tied = c.tie_word_embeddings;
  arch.block.attention.clip = c.clip_qkv;
  if (family.scores.scaled_slopes)
    for (double& slope : arch.block.attention.slopes) slope *= arch.block.attention.score_scale();
  arch.embedding.dropout = c.embedding_dropout;
  if (c.scale_embedding) arch.embedding.scale = std::sqrt(static_cast<double>(c.hidden_size));
  if (c.block == PlainBlock::kNormOfSum) arch.block.residual.norms = NormPlace::kAfterSum, arch.head.norm.clear();
  if (arch.embedding.width = c.embedding_size; c.embedding_size == 0 || c.embedding_size == c.hidden_size)
    arch.embedding.projection.clear(), arch.head.projection.clear();
  return arch;
}

ModelInfo info_of(const PlainConfig& c) {
  ModelInfo info = decoder_info(c.family->name, arch_of(c), c.family->names);
  info.initializer_range = c.initializer_range;
  return info;
}

/// The key of a size in the files of the family; null when they have none.
const char* key_of(const PlainFamily& family, std::int64_t PlainConfig::*size) {
  const auto field = std::ranges::find(family.fields, Member<PlainConfig>{size}, &Field<PlainConfig>::member);
  return field == family.fields.end() ? nullptr : field->key;
}

class PlainModel final : public DecoderModel<PlainConfig> {
 public:
  explicit PlainModel(const PlainConfig& config) : DecoderModel{config, info_of(config), config.family->layer} {}

  std::vector<WeightSpec> weights() const override {
    return config_.family->weights ? with_adapters(config_.family->weights(config_), config_.lora)
                                   : DecoderModel::weights();
  }

  FrameworkOps traced_ops(const Step& step) const override {
    FrameworkOps ops = DecoderModel::traced_ops(step);
    if (config_.output_router_logits) ops.forward += kRouterLossOps.forward, ops.backward += kRouterLossOps.backward;
    return ops;
  }
};

}  // namespace

PlainConfig::operator ModelPtr() const { return make_model(*this); }

ModelPtr make_model(PlainConfig config) { return std::make_shared<PlainModel>(config); }

PlainConfig blank(const PlainFamily& family) {
  PlainConfig config;
  config.family = &family;
  family.defaults(config);
  return config;
}

namespace {

/// transformers 5 has the angles in an object of their own. Their scaling is modelled for Llama's relatives alone.
void read_rotary(const Keys& keys, PlainConfig& c) {
  if (c.rotary_share == 0 && c.rotary_dim == 0) return;
  for (const char* key : {"rope_scaling", "rope_parameters"}) {
    if (!keys.has(key)) continue;
    const Keys rope{keys, key};
    rope.only(rope.has("rope_type") ? "rope_type" : "type", "default");
    rope.optional("rope_theta", c.rope_theta);
    rope.optional("partial_rotary_factor", c.rotary_share);
  }
}

}  // namespace

ModelPtr read_plain(const Keys& keys, const PlainFamily& family) {
  PlainConfig config = read_fields<PlainConfig>(family.fields, keys, blank(family));
  read_rotary(keys, config);
  check(config, keys.where());
  return make_model(config);
}

void check(const PlainConfig& c, std::string_view where) {
  const Rules rules{where};
  check_fields<PlainConfig>(c.family->fields, c, rules);
  const char* const heads = key_of(*c.family, &PlainConfig::num_attention_heads);
  rules.divides(heads, c.num_attention_heads, key_of(*c.family, &PlainConfig::hidden_size), c.hidden_size);
  if (const char* shared = key_of(*c.family, &PlainConfig::num_key_value_heads))
    rules.divides(shared, c.kv_heads(), heads, c.num_attention_heads);
  const std::int64_t turned = rotary_columns(c), head = c.hidden_size / c.num_attention_heads;
  if ((c.rotary_share > 0 || c.rotary_dim > 0) && (turned > head || turned == 0))
    rules.fail(heads, "leaves a head without a pair of rotary elements");
}

void apply(const ModelChange& change, PlainConfig& c) {
  if (c.embedding_size == c.hidden_size) set_size(c.embedding_size, change.sizes.hidden);
  set_common(c, change.sizes);
  if (c.family->expansion > 0 && change.sizes.hidden > 0 && change.sizes.ffn == 0)
    c.intermediate_size = c.family->expansion * c.hidden_size;
  if (c.rotary_dim > 0 && c.num_attention_heads > 0)  // a narrower head turns as a whole
    c.rotary_dim = std::min(c.rotary_dim, c.hidden_size / c.num_attention_heads);
  if (c.num_key_value_heads > 0) set_size(c.num_key_value_heads, change.sizes.kv_heads);
  if (c.experts > 0) set_size(c.experts, change.sizes.experts);
  if (change.capacity_factor) c.capacity_factor = *change.capacity_factor;
  set_size(c.vocab_size, change.sizes.vocabulary), set_size(c.max_position_embeddings, change.sizes.positions);
  if (const auto& ids = change.tokens) {
    c.vocab_size = ids->vocabulary;
    c.bos_token_id = ids->begin.value_or(c.bos_token_id);
    c.eos_token_id = ids->end.value_or(c.bos_token_id);
  }
  if (change.own_head) c.tie_word_embeddings = false;
  if (change.no_dropout) c.dropout = c.attention_dropout = c.embedding_dropout = 0;
}

nlohmann::json to_json(const PlainConfig& c) { return write_fields<PlainConfig>(c.family->fields, c); }

}  // namespace workloads
