// Llama and its relatives as models: tensors, names, architecture.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <tuple>
#include <utility>

#include "workloads/models/decoder/decoder_config.h"
#include "workloads/models/decoder/decoder_model.h"
#include "workloads/models/spec_list.h"

namespace workloads {
namespace {

void feed_forward(SpecList& list, const LlamaConfig& c, const std::string& prefix) {
  const LlamaDialect& dialect = dialect_of(c.kind);
  const std::int64_t hidden = c.hidden_size, ffn = c.intermediate_size;
  if (c.num_experts > 0) {
    const ExpertNames& names = dialect.experts;
    list.matrix(prefix + names.router, hidden, c.num_experts);
    list.stacked(prefix + names.prefix, names.gate, c.num_experts, hidden, ffn);
    list.stacked(prefix + names.prefix, names.up, c.num_experts, hidden, ffn);
    return list.stacked(prefix + names.prefix, names.down, c.num_experts, ffn, hidden, TensorSplit::kAxis1);
  }
  std::int64_t first = 0;
  for (const char* name : {"mlp.gate_proj", "mlp.up_proj"}) {
    list.matrix(prefix + name, hidden, ffn, TensorSplit::kAxis0);
    if (dialect.fused) list.stored_in({{prefix + "mlp.gate_up_proj.weight", {2 * ffn, hidden}, first, ffn}});
    first += ffn;
  }
  list.matrix(prefix + "mlp.down_proj", ffn, hidden, TensorSplit::kAxis1);
}

/// Of a layer's attention and of its feed-forward part.
std::pair<const char*, const char*> norms_of(const LlamaDialect& dialect) {
  if (dialect.joint_norms) return {"post_attention_layernorm", "post_feedforward_layernorm"};
  return {"input_layernorm", "post_attention_layernorm"};
}

void llama_layer(SpecList& list, const LlamaConfig& c, std::int64_t layer) {
  const std::string prefix = fmt::format("model.layers.{}.", layer);
  const std::int64_t query = c.num_attention_heads * c.head_dim, key = c.num_key_value_heads * c.head_dim;
  list.at(layer);
  const LlamaDialect& dialect = dialect_of(c.kind);
  const auto projection = [&](const char* name, std::int64_t out, TensorSplit split) {
    dialect.qkv_bias ? list.linear(prefix + name, c.hidden_size, out, split)
                     : list.matrix(prefix + name, c.hidden_size, out, split);
  };
  /// Where a fused layer of the file has the projection, from row `first` on.
  const auto fused = [&](const char* name, std::int64_t all, std::int64_t first, std::int64_t rows) {
    if (dialect.fused) list.stored_in({{prefix + name, {all, c.hidden_size}, first, rows}});
  };
  const char* qkv = "self_attn.qkv_proj.weight";
  const Init gain = dialect.gemma ? Init::kZeros : Init::kOnes;
  projection("self_attn.q_proj", query, TensorSplit::kAxis0);
  fused(qkv, query + 2 * key, 0, query);
  projection("self_attn.k_proj", key, TensorSplit::kKeyValue);
  fused(qkv, query + 2 * key, query, key);
  projection("self_attn.v_proj", key, TensorSplit::kKeyValue);
  fused(qkv, query + 2 * key, query + key, key);
  list.matrix(prefix + "self_attn.o_proj", query, c.hidden_size, TensorSplit::kAxis1);
  feed_forward(list, c, prefix);
  if (dialect.head_norms)
    for (const char* name : {"self_attn.q_norm", "self_attn.k_norm"}) list.rms_norm(prefix + name, c.head_dim);
  if (dialect.joint_norms)
    list.rms_norm(prefix + "self_attn.q_norm", query), list.rms_norm(prefix + "self_attn.k_norm", key);
  const auto [first, second] = norms_of(dialect);
  list.tensor(fmt::format("{}{}.weight", prefix, first), {c.hidden_size}, gain);
  list.tensor(fmt::format("{}{}.weight", prefix, second), {c.hidden_size}, gain);
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
                     .down = names.down};
}

/// Names and form, which all Llama-like models share.
DecoderArch shape_of(const LlamaConfig& c) {
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

DecoderArch arch_of(const LlamaConfig& c) {
  const LlamaDialect& dialect = dialect_of(c.kind);
  DecoderArch arch = shape_of(c);
  std::tie(arch.norm1, arch.norm2) = norms_of(dialect);
  arch.norms_behind = dialect.joint_norms;
  if (dialect.head_norms || dialect.joint_norms)
    arch.query_norm = "self_attn.q_norm", arch.key_norm = "self_attn.k_norm";
  arch.norm_offset = dialect.gemma ? 1.0 : 0.0;
  arch.embedding_scale = dialect.gemma ? std::sqrt(static_cast<double>(c.hidden_size)) : c.embedding_multiplier;
  arch.residual_scale = c.residual_multiplier;
  arch.logit_scale = 1 / c.logits_scaling;
  arch.score_scale = c.attention_multiplier;
  arch.window = c.sliding_window;
  arch.attention_dropout = c.attention_dropout;
  arch.frequencies = rope_frequencies(c);
  arch.rope_magnitude = rope_magnitude(c);
  if (c.rope_scaling && c.rope_scaling->type == RopeScaling::Type::kLong)
    arch.long_frequencies = rope_frequencies(c, true),
    arch.long_from = c.rope_scaling->original_max_position_embeddings;
  arch.end_tokens = c.eos_token_ids;
  arch.lora = c.lora;
  if (c.lora) arch.adapter_parameters = static_cast<double>(trained_count(with_adapters(llama_weights(c), c.lora)));
  arch.mixture = mixture_of(c);
  return arch;
}

class LlamaModel final : public DecoderModel<LlamaConfig> {
 public:
  explicit LlamaModel(LlamaConfig config) : DecoderModel{std::move(config)}, arch_{arch_of(config_)} {}

  std::string_view family() const override { return dialect_of(config_.kind).family; }
  std::vector<WeightSpec> weights() const override { return with_adapters(llama_weights(config_), config_.lora); }
  std::optional<Lora> lora() const override { return config_.lora; }
  ModelPtr with_lora(const std::optional<Lora>& lora) const override {
    return changed(
        [&](LlamaConfig& c) { c.lora = lora ? std::optional{settled(*lora, llama_weights(c))} : std::nullopt; });
  }
  const DecoderArch* decoder() const override { return &arch_; }
  FrameworkOps traced_ops(const Step& step) const override {
    DecoderOps layer{.forward = 109, .backward = 157, .core = 22};
    if (config_.num_key_value_heads != config_.num_attention_heads)  // heads share keys and values
      layer.forward += 14, layer.backward += 14;
    const LlamaDialect& dialect = dialect_of(config_.kind);
    if (dialect.head_norms || dialect.joint_norms) layer.forward += 2 * 9, layer.backward += 2 * 25;  // two more norms
    if (config_.num_experts == 0) return decoder_ops(layer, step);
    // Beyond a dense feed-forward part, of a router and experts that are one tensor each of gate, up and down, as
    // neuronx-distributed's ExpertMLPs has them: their number does not matter. transformers' loop over experts, whose
    // shapes depend on the data, would have 19 more for each of them. The router's loss is of all layers.
    layer.forward += config_.norm_topk_prob ? 42 : 40, layer.backward += config_.norm_topk_prob ? 20 : 12;
    FrameworkOps ops = decoder_ops(layer, step);
    if (config_.output_router_logits) ops.forward += 19, ops.backward += 16;
    return ops;
  }

  std::string canonical_name(std::string name) const override {
    return with_prefix(std::move(name), "model.", std::array<std::string_view, 3>{"embed_tokens.", "layers.", "norm."});
  }
  bool is_left_out(std::string_view name) const override { return name.ends_with(".rotary_emb.inv_freq"); }

  ModelPtr with_sizes(const Sizes& s) const override {
    return changed([&](LlamaConfig& c) {
      set_common(c, s);
      set(c.vocab_size, s.vocabulary), set(c.max_position_embeddings, s.positions);
      if (s.kv_heads > 0 || c.num_key_value_heads == 0)
        c.num_key_value_heads = s.kv_heads > 0 ? s.kv_heads : c.num_attention_heads;
      if (s.head > 0)
        c.head_dim = s.head;
      else if ((s.hidden > 0 || s.heads > 0) && c.num_attention_heads > 0)
        c.head_dim = c.hidden_size / c.num_attention_heads;
    });
  }
  ModelPtr without_dropout() const override {
    return changed([](LlamaConfig& c) { c.attention_dropout = 0; });
  }
  ModelPtr with_capacity_factor(double factor) const override {
    if (config_.num_experts == 0) return Model::with_capacity_factor(factor);
    return changed([&](LlamaConfig& c) { c.capacity_factor = factor; });
  }
  ModelPtr with_padded_heads(std::int64_t ranks) const override {
    const Sizes s = sizes();
    const std::int64_t heads = (s.heads + ranks - 1) / ranks * ranks;
    return with_sizes({.heads = heads, .kv_heads = s.kv_heads < s.heads ? s.kv_heads : heads, .head = s.head});
  }
  ModelPtr with_tokens(const TokenIds& ids) const override {
    return changed([&](LlamaConfig& c) {
      c.vocab_size = ids.vocabulary;
      c.bos_token_id = ids.begin.value_or(c.bos_token_id);
      if (ids.end) c.eos_token_ids = {*ids.end};
    });
  }

 private:
  const DecoderArch arch_;
};

}  // namespace

LlamaConfig::operator ModelPtr() const { return make_model(*this); }

ModelPtr make_model(LlamaConfig config) { return std::make_shared<LlamaModel>(std::move(config)); }

LlamaConfig read_llama_config(const std::filesystem::path& path) { return read_one<LlamaConfig>(path, "llama"); }

std::vector<WeightSpec> llama_weights(const LlamaConfig& c) {
  SpecList list;
  list.at(c.tie_word_embeddings ? WeightSpec::kBeforeAndAfterLayers : WeightSpec::kBeforeLayers);
  list.embedding("model.embed_tokens", c.vocab_size, c.hidden_size, TensorSplit::kVocabulary);
  for (std::int64_t layer = 0; layer < c.num_hidden_layers; ++layer) llama_layer(list, c, layer);
  list.at(WeightSpec::kAfterLayers);
  list.tensor("model.norm.weight", {c.hidden_size}, dialect_of(c.kind).gemma ? Init::kZeros : Init::kOnes);
  if (!c.tie_word_embeddings) list.matrix("lm_head", c.hidden_size, c.vocab_size, TensorSplit::kVocabulary);
  return list.take();
}

}  // namespace workloads
