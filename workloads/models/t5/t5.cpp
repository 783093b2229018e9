#include "workloads/models/t5/t5.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "workloads/models/decoder/decoder_arch.h"
#include "workloads/models/decoder/decoder_model.h"
#include "workloads/models/pairs/pair_model.h"
#include "workloads/models/spec_list.h"

namespace workloads {

namespace {

constexpr std::int64_t kMostWritten = 1 << 14;  // tokens: its biases have no end, caches have

DecoderArch arch_of(const T5Config& c) {
  return {.layers = c.num_layers + c.num_decoder_layers,
          .hidden = c.d_model,
          .vocabulary = c.vocab_size,
          .positions = kMostWritten,
          .blocks = ".block.",
          .block = {.norm = {.rms = true, .eps = c.layer_norm_epsilon},
                    .attention = {.heads = c.num_heads,
                                  .kv_heads = c.num_heads,
                                  .head = c.d_kv,
                                  .scale = 1,
                                  .dropout = c.dropout_rate,
                                  .fp32_softmax = true},  // as modeling_t5 has it
                    .mlp = {.size = c.d_ff,
                            .gated = c.gated,
                            .activation = c.gated ? isa::Fn::kGeluTanh : isa::Fn::kRelu,
                            .dropout = c.dropout_rate},
                    .residual = {.dropout = c.dropout_rate}},
          .embedding = {.name = "shared", .dropout = c.dropout_rate},
          .head = {.norm = "decoder.final_layer_norm",
                   .name = "lm_head",
                   .tied = c.tie_word_embeddings,
                   .scale = c.tie_word_embeddings ? 1 / std::sqrt(static_cast<double>(c.d_model)) : 1,
                   .dropout = c.dropout_rate},
          .end_tokens = {c.eos_token_id}};
}

/// Source of the first values: transformers, modeling_t5.py, _init_weights.
void attention(SpecList& list, const T5Config& c, const std::string& name) {
  const double hidden = 1 / std::sqrt(static_cast<double>(c.d_model));
  for (const char* part : {"q", "k", "v"}) {
    list.matrix(name + part, c.d_model, c.inner(), TensorSplit::kAxis0);
    list.deviation(c.initializer_range * (*part == 'q' ? hidden / std::sqrt(static_cast<double>(c.d_kv)) : hidden));
  }
  list.matrix(name + "o", c.inner(), c.d_model, TensorSplit::kAxis1);
  list.deviation(c.initializer_range / std::sqrt(static_cast<double>(c.inner())));
}

void feed_forward(SpecList& list, const T5Config& c, const std::string& name) {
  const auto up = [&](const char* part) {
    list.matrix(name + part, c.d_model, c.d_ff, TensorSplit::kAxis0);
    list.deviation(c.initializer_range / std::sqrt(static_cast<double>(c.d_model)));
  };
  if (c.gated)
    up("wi_0"), up("wi_1");
  else
    up("wi");
  list.matrix(name + "wo", c.d_ff, c.d_model, TensorSplit::kAxis1);
  list.deviation(c.initializer_range / std::sqrt(static_cast<double>(c.d_ff)));
}

void stack(SpecList& list, const T5Config& c, bool decoder) {
  const std::string name = decoder ? "decoder" : "encoder";
  for (std::int64_t l = 0; l < (decoder ? c.num_decoder_layers : c.num_layers); ++l) {
    list.at(decoder ? c.num_layers + l : l);
    const auto part = [&](int number) { return fmt::format("{}.block.{}.layer.{}.", name, l, number); };
    attention(list, c, part(0) + "SelfAttention.");
    if (l == 0 || c.kind == T5Kind::kUmt5) {  // [heads, buckets] on the device, because heads are rows of the scores
      list.tensor(part(0) + "SelfAttention.relative_attention_bias.weight",
                  {c.relative_attention_num_buckets, c.num_heads}, Init::kNormal, true, TensorSplit::kAxis1);
      list.table();
      list.deviation(c.initializer_range / std::sqrt(static_cast<double>(c.d_model)));
    }
    list.rms_norm(part(0) + "layer_norm", c.d_model);
    if (decoder) {
      attention(list, c, part(1) + "EncDecAttention.");
      list.rms_norm(part(1) + "layer_norm", c.d_model);
    }
    feed_forward(list, c, part(decoder ? 2 : 1) + "DenseReluDense.");
    list.rms_norm(part(decoder ? 2 : 1) + "layer_norm", c.d_model);
  }
  if (decoder) list.at(WeightSpec::kAfterLayers);
  list.rms_norm(name + ".final_layer_norm", c.d_model);
}

ModelInfo info_of(const T5Config& c) {
  ModelInfo info = decoder_info(
      c.kind == T5Kind::kMt5    ? "mT5"
      : c.kind == T5Kind::kUmt5 ? "UMT5"
                                : "T5",
      arch_of(c),
      {.left_out = {"decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight"},  // of the first release
       .copies = {{"encoder.embed_tokens.weight", "shared.weight"}, {"decoder.embed_tokens.weight", "shared.weight"}}});
  info.task = Task::kTextToText;
  info.initializer_range = c.initializer_range;
  info.pairs = {
      .start = c.decoder_start_token_id, .end = c.eos_token_id, .pad = c.pad_token_id, .layers = c.num_decoder_layers};
  return info;
}

class T5Model final : public PairModel<T5Config> {
 public:
  explicit T5Model(const T5Config& config) : PairModel{config, info_of(config)} {}

  std::vector<WeightSpec> weights() const override { return with_adapters(t5_weights(config_), config_.lora); }
  FrameworkOps traced_ops(const Step& step) const override;
};

void resize(const Sizes& s, T5Config& c) {
  set_layers(s.layers, c.num_layers, c.num_decoder_layers);
  set_size(c.d_model, s.hidden), set_size(c.num_heads, s.heads), set_size(c.d_kv, s.head), set_size(c.d_ff, s.ffn);
  set_size(c.vocab_size, s.vocabulary);
}

}  // namespace

void apply(const ModelChange& change, T5Config& c) {
  resize(change.sizes, c);
  if (const auto& ids = change.tokens) {
    c.vocab_size = ids->vocabulary;
    c.eos_token_id = ids->end.value_or(c.eos_token_id);
    c.pad_token_id = ids->pad.value_or(c.pad_token_id);
    c.decoder_start_token_id = ids->begin.value_or(c.pad_token_id);
  }
  if (change.own_head) c.tie_word_embeddings = false;
  if (change.no_dropout) c.dropout_rate = 0;
}

namespace {

/// modeling_t5 in bf16, with dropout, counted as FrameworkOps says; for both ends, only the part that two decoders' do
/// not have.
FrameworkOps T5Model::traced_ops(const Step& step) const {
  const LayerOps encoder{
      .forward = config_.gated ? 104.0 : 92.0, .backward = config_.gated ? 160.0 : 138.0, .core = 34};
  const LayerOps decoder{.forward = encoder.forward + 64, .backward = encoder.backward + 93, .core = 2 * encoder.core};
  constexpr double kEndsForward = 81, kEndsBackward = -10;
  const FrameworkOps both = pair_ops({.encoder = encoder, .decoder = decoder}, step.plan);
  return {both.forward + kEndsForward, both.backward + kEndsBackward, both.tensors};
}

}  // namespace

PairArch pair_of(const T5Config& c) {
  const bool each = c.kind == T5Kind::kUmt5;
  const auto attention = [](int place, const char* name) {
    const std::string part = fmt::format("layer.{}.{}.", place, name);
    return PairAttention{.names = {.query = part + "q", .key = part + "k", .value = part + "v", .out = part + "o"},
                         .norm = fmt::format("layer.{}.layer_norm", place)};
  };
  const auto stack = [&](const std::string& name, std::int64_t layers, int mlp) {
    const std::string part = fmt::format("layer.{}.DenseReluDense.", mlp);
    return PairStack{.name = name,
                     .blocks = name + ".block.",
                     .layers = layers,
                     .self = attention(0, "SelfAttention"),
                     .mlp = {.gate = part + "wi_0", .up = part + (c.gated ? "wi_1" : "wi"), .down = part + "wo"},
                     .mlp_norm = fmt::format("layer.{}.layer_norm", mlp),
                     .relative = (each ? "" : name + ".block.0.") + "layer.0.SelfAttention.relative_attention_bias",
                     .each_relative = each,
                     .last_norm = name + ".final_layer_norm"};
  };
  PairArch pair{.encoder = stack("encoder", c.num_layers, 1),
                .decoder = stack("decoder", c.num_decoder_layers, 2),
                .buckets = c.buckets()};
  pair.decoder.first = c.num_layers;
  pair.decoder.cross = attention(1, "EncDecAttention");
  return pair;
}

std::vector<WeightSpec> t5_weights(const T5Config& c) {
  SpecList list;
  list.at(WeightSpec::kBeforeAndAfterLayers);  // of the source and of the target
  list.embedding("shared", c.vocab_size, c.d_model, TensorSplit::kVocabulary);
  stack(list, c, false);
  stack(list, c, true);
  if (!c.tie_word_embeddings) list.matrix("lm_head", c.d_model, c.vocab_size, TensorSplit::kVocabulary);
  std::vector<WeightSpec> specs = list.take();
  for (WeightSpec& spec : specs)  // keys and values of the source are computed once, too
    spec.once = spec.name.starts_with("encoder.") || spec.name.ends_with("EncDecAttention.k.weight") ||
                spec.name.ends_with("EncDecAttention.v.weight");
  return specs;
}

ModelPtr make_model(T5Config config) { return std::make_shared<T5Model>(config); }

}  // namespace workloads
