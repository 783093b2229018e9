#include "workloads/models/bart/bart.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "workloads/models/decoder/decoder_arch.h"
#include "workloads/models/decoder/decoder_model.h"
#include "workloads/models/pairs/pair_model.h"
#include "workloads/models/spec_list.h"

namespace workloads {

namespace {

constexpr std::array kBartDialects = {
    BartDialect{.kind = BartKind::kBart, .family = "BART", .type = "bart", .architecture = "Bart"},
    BartDialect{.kind = BartKind::kMbart,
                .family = "mBART",
                .type = "mbart",
                .architecture = "MBart",
                .norms_first = true,
                .last_first = true},
    BartDialect{
        .kind = BartKind::kMarian, .family = "Marian", .type = "marian", .architecture = "Marian", .waves = true},
    BartDialect{.kind = BartKind::kPegasus,
                .family = "Pegasus",
                .type = "pegasus",
                .architecture = "Pegasus",
                .norms_first = true,
                .waves = true},
    BartDialect{.kind = BartKind::kM2m100,
                .family = "M2M-100",
                .type = "m2m_100",
                .architecture = "M2M100",
                .norms_first = true,
                .waves = true,
                .of_fairseq = true},
    BartDialect{.kind = BartKind::kBlenderbot,
                .family = "Blenderbot",
                .type = "blenderbot",
                .architecture = "Blenderbot",
                .norms_first = true,
                .bare = true},
    BartDialect{
        .kind = BartKind::kPlbart, .family = "PLBART", .type = "plbart", .architecture = "PLBart", .last_first = true},
    BartDialect{.kind = BartKind::kWhisper,
                .family = "Whisper",
                .type = "whisper",
                .architecture = "Whisper",
                .norms_first = true,
                .bare = true,
                .hears = true}};

bool norms_first(const BartConfig& c) { return dialect_of(c.kind).norms_first; }
/// Rows of a table of positions before that of a text's first token. Source: transformers, modeling_bart.py,
/// BartLearnedPositionalEmbedding, and modeling_blenderbot.py.
std::int64_t first_row(const BartConfig& c) { return dialect_of(c.kind).bare ? 0 : 2; }
bool hears(const BartConfig& c) { return dialect_of(c.kind).hears; }
bool has_waves(const BartConfig& c) { return dialect_of(c.kind).waves; }
bool has_bias(const BartConfig& c) { return !dialect_of(c.kind).of_fairseq && !hears(c); }
/// The table of the tokens of both texts, or of the one that is written.
const char* table_of(const BartConfig& c) { return hears(c) ? "model.decoder.embed_tokens" : "model.shared"; }
/// Source: transformers, modeling_m2m_100.py, M2M100SinusoidalPositionalEmbedding, and modeling_whisper.py,
/// sinusoids().
WaveArch waves_of(const BartConfig& c) {
  if (hears(c)) return {.size = c.d_model, .closed = true};
  if (!has_waves(c)) return {};
  if (!dialect_of(c.kind).of_fairseq) return {.size = c.d_model};
  return {.size = c.d_model, .first = c.pad_token_id + 1, .closed = true};
}

DecoderArch arch_of(const BartConfig& c) {
  return {.layers = c.encoder_layers + c.decoder_layers,
          .hidden = c.d_model,
          .vocabulary = c.vocab_size,
          .positions = c.max_position_embeddings,
          .blocks = ".layers.",
          .block = {.norm = {.eps = 1e-5},
                    .attention = {.heads = c.heads,
                                  .kv_heads = c.heads,
                                  .head = c.heads > 0 ? c.d_model / c.heads : 0,
                                  .dropout = c.attention_dropout},
                    .mlp = {.size = c.ffn,
                            .activation = device_function(c.activation_function),
                            .dropout = c.activation_dropout,
                            .bias = true},
                    .residual = {.norms = norms_first(c) ? NormPlace::kBefore : NormPlace::kAfterSum,
                                 .dropout = c.dropout}},
          .embedding = {.name = table_of(c),
                        .first_position = first_row(c),
                        .trains_padding = false,
                        .scale = c.scale_embedding ? std::sqrt(static_cast<double>(c.d_model)) : 1,
                        .dropout = c.dropout},
          .head = {.norm = norms_first(c) ? "model.decoder.layer_norm" : "",
                   .name = "lm_head",
                   .tied = true,
                   .bias = has_bias(c)},
          .end_tokens = {c.eos_token_id}};
}

void attention(SpecList& list, const BartConfig& c, const std::string& name) {
  const auto key = [&](const std::string& weight) {
    hears(c) ? list.matrix(weight, c.d_model, c.d_model, TensorSplit::kAxis0)
             : list.linear(weight, c.d_model, c.d_model, TensorSplit::kAxis0);
  };
  key(name + "k_proj");
  for (const char* part : {"v_proj", "q_proj"}) list.linear(name + part, c.d_model, c.d_model, TensorSplit::kAxis0);
  list.linear(name + "out_proj", c.d_model, c.d_model, TensorSplit::kAxis1);
}

void stack(SpecList& list, const BartConfig& c, const PairStack& stack) {
  list.at(stack.first == 0 ? WeightSpec::kBeforeLayers : stack.first);
  if (!stack.positions.empty()) list.embedding(stack.positions, first_row(c) + c.max_position_embeddings, c.d_model);
  if (!stack.embedding_norm.empty()) list.layer_norm(stack.embedding_norm, c.d_model);
  for (std::int64_t l = stack.first; l < stack.first + stack.layers; ++l) {
    const std::string layer = stack.prefix(l);
    list.at(l);
    attention(list, c, layer + "self_attn.");
    list.layer_norm(layer + stack.self.norm, c.d_model);
    if (stack.first > 0) {
      attention(list, c, layer + "encoder_attn.");
      list.layer_norm(layer + stack.cross.norm, c.d_model);
    }
    list.linear(layer + "fc1", c.d_model, c.ffn, TensorSplit::kAxis0);
    list.linear(layer + "fc2", c.ffn, c.d_model, TensorSplit::kAxis1);
    list.layer_norm(layer + stack.mlp_norm, c.d_model);
  }
  if (stack.last_norm.empty()) return;
  if (stack.first > 0) list.at(WeightSpec::kAfterLayers);
  list.layer_norm(stack.last_norm, c.d_model);
}

ModelInfo info_of(const BartConfig& c) {
  std::map<std::string, std::string> copies;
  if (!hears(c))
    for (const char* copy : {"model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight"})
      copies.emplace(copy, "model.shared.weight");
  std::vector<std::string> left_out{"classification_head.*", "qa_outputs.*", "model.*.embed_positions.weight",
                                    "model.*.embed_positions.weights"};
  const BartDialect& dialect = dialect_of(c.kind);
  ModelInfo info = decoder_info(dialect.family, arch_of(c),
                                {.prefix = "model.",
                                 .tops = {"shared.", "encoder.", "decoder."},
                                 .left_out = std::move(left_out),
                                 .drawn = {"lm_head.bias"},
                                 .copies = std::move(copies)});
  info.task = Task::kTextToText;
  info.initializer_range = c.init_std;
  info.pad_row = c.pad_token_id;
  if (hears(c)) info.sound = c.sound;
  info.pairs = {.start = c.decoder_start_token_id,
                .end = c.eos_token_id,
                .pad = c.pad_token_id,
                .layers = c.decoder_layers,
                .last_first = dialect.last_first,
                .forced = c.written.first,
                .never = c.written.never};
  return info;
}

class BartModel final : public PairModel<BartConfig> {
 public:
  explicit BartModel(const BartConfig& config) : PairModel{config, info_of(config)} {}

  std::vector<WeightSpec> weights() const override { return with_adapters(bart_weights(config_), config_.lora); }
  FrameworkOps traced_ops(const Step& step) const override;
};

/// modeling_bart in bf16, without dropout of attention, counted as FrameworkOps says: a layer's two or three parts.
/// tests/golden/make/count_ops.py prints them. core: from the scores to the context.
FrameworkOps BartModel::traced_ops(const Step& step) const {
  constexpr LayerOps kEncoder{.forward = 62, .backward = 117, .core = 24};
  constexpr LayerOps kDecoder{.forward = 109, .backward = 202, .core = 48};
  return pair_ops({.encoder = kEncoder, .decoder = kDecoder}, step.plan);
}

void resize(const Sizes& s, BartConfig& c) {
  set_layers(s.layers, c.encoder_layers, c.decoder_layers);
  set_size(c.d_model, s.hidden), set_size(c.heads, s.heads), set_size(c.ffn, s.ffn);
  set_size(c.vocab_size, s.vocabulary), set_size(c.max_position_embeddings, s.positions);
}

}  // namespace

void apply(const ModelChange& change, BartConfig& c) {
  resize(change.sizes, c);
  if (const auto& ids = change.tokens) {
    c.vocab_size = ids->vocabulary;
    c.eos_token_id = ids->end.value_or(std::min(c.eos_token_id, c.vocab_size - 1));
    c.pad_token_id = ids->pad.value_or(std::min(c.pad_token_id, c.vocab_size - 1));
    c.decoder_start_token_id = ids->begin.value_or(c.eos_token_id);
    c.written = {};
  }
  if (change.no_dropout) c.dropout = c.attention_dropout = c.activation_dropout = 0;
}

const BartDialect& dialect_of(BartKind kind) { return *std::ranges::find(kBartDialects, kind, &BartDialect::kind); }

PairArch pair_of(const BartConfig& c) {
  const auto attention = [](const std::string& name) {
    return PairAttention{.names = {.query = name + ".q_proj",
                                   .key = name + ".k_proj",
                                   .value = name + ".v_proj",
                                   .out = name + ".out_proj"},
                         .norm = name + "_layer_norm"};
  };
  const auto stack = [&](const std::string& name, std::int64_t layers) {
    const std::string prefix = fmt::format("model.{}.", name);
    return PairStack{.name = name,
                     .blocks = prefix + "layers.",
                     .layers = layers,
                     .self = attention("self_attn"),
                     .mlp = {.up = "fc1", .down = "fc2"},
                     .mlp_norm = "final_layer_norm",
                     .positions = has_waves(c) || (hears(c) && name == "encoder") ? "" : prefix + "embed_positions",
                     .embedding_norm = has_waves(c) || dialect_of(c.kind).bare ? "" : prefix + "layernorm_embedding",
                     .last_norm = norms_first(c) ? prefix + "layer_norm" : ""};
  };
  PairArch pair{.encoder = stack("encoder", c.encoder_layers),
                .decoder = stack("decoder", c.decoder_layers),
                .first_position = has_waves(c) ? 0 : first_row(c),
                .waves = waves_of(c),
                .positions = c.max_position_embeddings};
  if (hears(c)) pair.stem = {.first = "model.encoder.conv1", .second = "model.encoder.conv2", .sound = c.sound};
  pair.decoder.first = c.encoder_layers;
  pair.decoder.cross = attention("encoder_attn");
  return pair;
}

std::vector<WeightSpec> bart_weights(const BartConfig& c) {
  const PairArch pair = pair_of(c);
  SpecList list;
  list.at(hears(c) ? WeightSpec::kAfterLayers : WeightSpec::kBeforeAndAfterLayers);  // of the target, or of both
  list.tensor(std::string{table_of(c)} + ".weight", {c.vocab_size, c.d_model}, Init::kNormalPadZero, false,
              TensorSplit::kVocabulary);
  list.table();
  if (hears(c)) {
    list.at(WeightSpec::kBeforeLayers);
    list.convolution(pair.stem.first, c.sound.bands, c.d_model, 3);
    list.convolution(pair.stem.second, c.d_model, c.d_model, 3);
  }
  stack(list, c, pair.encoder);
  stack(list, c, pair.decoder);
  if (has_bias(c)) {
    list.at(WeightSpec::kAfterLayers);  // a buffer, which is not trained
    list.tensor("lm_head.bias", {c.vocab_size}, Init::kZeros, false, TensorSplit::kVocabulary);
    list.stored_in({{"final_logits_bias", {1, c.vocab_size}, 0, 1}});
    list.freeze();
  }
  std::vector<WeightSpec> specs = list.take();
  for (WeightSpec& spec : specs)  // keys and values of the source are computed once, too
    spec.once = spec.name.starts_with("model.encoder.") || spec.name.find("encoder_attn.k_proj") != std::string::npos ||
                spec.name.find("encoder_attn.v_proj") != std::string::npos;
  return specs;
}

ModelPtr make_model(BartConfig config) { return std::make_shared<BartModel>(config); }

}  // namespace workloads
