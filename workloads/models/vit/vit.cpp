#include "workloads/models/vit/vit.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "runtime/ops/ops.h"
#include "workloads/models/config_model.h"
#include "workloads/models/decoder/decoder_model.h"
#include "workloads/models/encoder_graph.h"
#include "workloads/models/spec_list.h"
#include "workloads/step/step_graph.h"

namespace workloads {
namespace {

using runtime::ValueId;

/// Where the host says which rows of a sequence a special token has.
constexpr std::array<const char*, 2> kIsSpecial = {"is_class", "is_distillation"};
/// And, with registers, of which number each row has, among them and among the others.
constexpr const char *kIsRegister = "is_register", *kIsPlace = "is_place";

std::string whole(const VitConfig& c, std::string_view name) {
  return fmt::format("{}{}", dialect_of(c.kind).prefix, name);
}
std::string layers_of(const VitConfig& c) { return whole(c, dialect_of(c.kind).names.layers); }
std::string token_of(const VitConfig& c, std::string_view name) { return whole(c, fmt::format("embeddings.{}", name)); }
std::string positions_of(const VitConfig& c) { return whole(c, dialect_of(c.kind).names.positions); }
std::string projection_of(const VitConfig& c) { return whole(c, dialect_of(c.kind).names.projection); }
std::string norm_of(const VitConfig& c) { return whole(c, dialect_of(c.kind).names.last_norm); }

std::int64_t tokens_of(const VitConfig& c) { return image_of(c).tokens(); }
/// Registers have no position.
std::int64_t places_of(const VitConfig& c) { return tokens_of(c) - c.num_register_tokens; }
std::int64_t head_width(const VitConfig& c) {
  return dialect_of(c.kind).reads == VitReads::kBoth ? 2 * c.hidden_size : c.hidden_size;
}

/// The MLP of a layer whose names begin with the prefix.
void mlp_weights(SpecList& list, const VitConfig& c, const std::string& prefix) {
  const VitNames& names = dialect_of(c.kind).names;
  const std::int64_t h = c.hidden_size, f = c.intermediate_size;
  const auto named = [&](std::string_view name) { return fmt::format("{}{}", prefix, name); };
  if (!c.use_swiglu_ffn) {
    list.linear(named(names.up), h, f, TensorSplit::kAxis0);
    return list.linear(named(names.down), f, h, TensorSplit::kAxis1);
  }
  const auto stored = [&](const char* kind, const Shape& shape, std::int64_t first) {
    if (!names.fused.empty()) list.stored_in({{named(names.fused) + kind, shape, first, f}});
  };
  for (const auto& [name, first] : {std::pair{names.gate, std::int64_t{0}}, {names.gated_up, f}}) {
    list.matrix(named(name), h, f, TensorSplit::kAxis0), stored(".weight", {2 * f, h}, first);
    list.tensor(named(name) + ".bias", {f}, Init::kZeros, false, TensorSplit::kAxis0), stored(".bias", {2 * f}, first);
  }
  list.linear(named(names.out_gated), f, h, TensorSplit::kAxis1);
}

/// Attention's layers of a layer whose names begin with the prefix.
void attention_weights(SpecList& list, const VitConfig& c, const std::string& prefix) {
  const VitDialect& dialect = dialect_of(c.kind);
  const VitNames& names = dialect.names;
  const std::int64_t h = c.hidden_size;
  for (const auto& [name, bias] : {std::pair{names.query, !dialect.turned || c.query_bias},
                                   {names.key, !dialect.turned},
                                   {names.value, !dialect.turned || c.value_bias}}) {
    const std::string layer = fmt::format("{}{}", prefix, name);
    bias ? list.linear(layer, h, h, TensorSplit::kAxis0) : list.matrix(layer, h, h, TensorSplit::kAxis0);
  }
  list.linear(fmt::format("{}{}", prefix, names.out), h, h, TensorSplit::kAxis1);
}

std::vector<WeightSpec> vit_weights(const VitConfig& c) {
  const std::int64_t h = c.hidden_size;
  const VitDialect& dialect = dialect_of(c.kind);
  const VitNames& names = dialect.names;
  SpecList list;
  for (const std::string_view token : dialect.tokens)
    list.tensor(token_of(c, token), dialect.flat ? Shape{h} : Shape{1, 1, h}, Init::kNormal);
  if (c.num_register_tokens > 0)
    list.tensor(token_of(c, dialect.registers), {1, c.num_register_tokens, h}, Init::kNormal);
  if (!names.positions.empty())
    list.tensor(positions_of(c), dialect.flat ? Shape{places_of(c), h} : Shape{1, places_of(c), h}, Init::kNormal);
  list.tensor(projection_of(c) + ".weight", {h, c.num_channels, c.patch_size, c.patch_size}, Init::kNormal, true);
  if (dialect.patch_bias) list.tensor(projection_of(c) + ".bias", {h}, Init::kZeros);
  if (!names.first_norm.empty()) list.layer_norm(whole(c, names.first_norm), h);
  for (std::int64_t l = 0; l < c.num_hidden_layers; ++l) {
    const std::string layer = fmt::format("{}{}.", layers_of(c), l);
    list.at(l);
    const auto named = [&](std::string_view name) { return fmt::format("{}{}", layer, name); };
    list.layer_norm(named(names.norm1), h);
    attention_weights(list, c, layer);
    list.layer_norm(named(names.norm2), h);
    mlp_weights(list, c, layer);
    for (const std::string_view scale : {names.scale1, names.scale2})
      if (!scale.empty()) list.tensor(named(scale), {h}, Init::kOnes);
  }
  list.at(WeightSpec::kAfterLayers);
  if (!names.last_norm.empty()) list.layer_norm(norm_of(c), h);
  for (const std::string_view head : dialect.heads)
    list.linear(std::string{head}, head_width(c), static_cast<std::int64_t>(c.label_names.size()));
  return list.take();
}

BlockArch block_of(const VitConfig& c) {
  const VitNames& names = dialect_of(c.kind).names;
  const auto own = [](std::string_view name) { return std::string{name}; };
  const bool gated = c.use_swiglu_ffn;
  return {.norm = {.eps = c.layer_norm_eps},
          .attention = {.heads = c.num_attention_heads,
                        .kv_heads = c.num_attention_heads,
                        .head = c.hidden_size / c.num_attention_heads,
                        .causal = false,
                        .dropout = c.attention_probs_dropout_prob},
          .rotary = {.frequencies = angles_of(c)},
          .mlp = {.size = c.intermediate_size,
                  .gated = gated,
                  .activation = gated && !names.fused.empty() ? isa::Fn::kSilu : device_function(c.hidden_act)},
          .residual = {.dropout = c.hidden_dropout_prob},
          .names = {.attention = {.query = own(names.query),
                                  .key = own(names.key),
                                  .value = own(names.value),
                                  .out = own(names.out)},
                    .mlp = {.gate = own(gated ? names.gate : ""),
                            .up = own(gated ? names.gated_up : names.up),
                            .down = own(gated ? names.out_gated : names.down)},
                    .norm1 = own(names.norm1),
                    .norm2 = own(names.norm2),
                    .scale1 = own(names.scale1),
                    .scale2 = own(names.scale2)}};
}

class Vit : EncoderGraph {
 public:
  /// `layers`: layers_of(config), which the graph refers to.
  Vit(const ModelPtr& model, const VitConfig& config, const Step& step, std::string_view layers)
      : EncoderGraph{step, weights_of_rank(model, step), layers, block_of(config), config.lora},
        config_{config},
        dialect_{dialect_of(config.kind)},
        layers_{layers} {}

  StepGraph run() {
    if (only_updates()) return take();
    for (micro_ = 0; micro_ < step_.plan.micro_batches; ++micro_) {
      ValueId x = embed();
      for (std::int64_t l = 0; l < config_.num_hidden_layers; ++l)
        x = layer(x, l, config_.num_hidden_layers, fmt::format("{}{}.", layers_, l));
      add_losses({head(x)});
    }
    train();
    return take();
  }

 private:
  /// A sequence's first rows are the special tokens, which have no pixels: everything that does not depend on pixels is
  /// the same for every picture and computed once for all, [length, hidden].
  ValueId embed() {
    enter("embeddings");
    const isa::Dtype type = net_.numerics().activation;
    const std::int64_t length = step_.kind.length, batch = step_.plan.micro_batch;
    if (micro_ == 0) {
      for (std::size_t i = 0; i < dialect_.tokens.size(); ++i)
        is_special_.push_back(graph_.tensor(kIsSpecial.at(i), length, 1, type, runtime::Kind::kInput));
      is_patch_ = graph_.tensor("is_patch", length, 1, type, runtime::Kind::kInput);
      if (const std::int64_t registers = config_.num_register_tokens; registers > 0) {
        is_register_ = graph_.tensor(kIsRegister, length, registers, type, runtime::Kind::kInput);
        if (!dialect_.names.positions.empty())
          is_place_ = graph_.tensor(kIsPlace, length, length - registers, type, runtime::Kind::kInput);
      }
      net_.declare_rotary(arch_.rotary, length, runtime::Kind::kInput);
    }
    const ValueId patches = net_.input("patches", batch * length, image_of(config_).patch_elements(), type);
    const ValueId x = net_.matmul("patch", patches, net_.w(projection_of(config_) + ".weight"));
    ValueId same = runtime::kNoValue;
    if (dialect_.patch_bias) same = net_.matmul("patch.bias", is_patch_, net_.w(projection_of(config_) + ".bias"));
    for (std::size_t i = 0; i < dialect_.tokens.size(); ++i) {
      const std::string label = i == 0 ? "class" : "distillation";
      const ValueId token = net_.matmul(label, is_special_[i], net_.w(token_of(config_, dialect_.tokens[i])));
      same = same == runtime::kNoValue ? token : net_.add("add_" + label, same, token);
    }
    same = with_places(same);
    const ValueId all = graph_.add1(runtime::kPositions, "position", {same},
                                    runtime::PositionsAttrs{.batch = batch, .seq = length, .dtype = type});
    const ValueId sum = net_.dropout("dropout", net_.add("add_patch", x, all), config_.hidden_dropout_prob);
    const std::string_view first = dialect_.names.first_norm;
    return first.empty() ? sum : norm("norm", sum, whole(config_, first));
  }

  /// Registers are behind the other special tokens, and positions those of all other tokens.
  ValueId with_places(ValueId same) {
    const bool registers = config_.num_register_tokens > 0;
    if (!dialect_.names.positions.empty()) {
      ValueId table = net_.w(positions_of(config_));
      if (registers) table = net_.matmul("position.rows", is_place_, table);
      same = same == runtime::kNoValue ? table : net_.add("add_position", same, table);
    }
    if (!registers) return same;
    const ValueId rows = net_.w(token_of(config_, dialect_.registers));
    return net_.add("add_register", same, net_.matmul("register", is_register_, rows));
  }

  /// All tokens but special ones.
  ValueId mean_of_patches(ValueId x, ValueId first) {
    const std::int64_t batch = step_.plan.micro_batch, length = step_.kind.length;
    const runtime::RampAttrs all_one{.rows = batch, .start = 1, .dtype = graph_.value(is_patch_).dtype};
    const ValueId ones = graph_.add1(runtime::kRamp, "mean.ones", {}, all_one);
    const ValueId row = graph_.add1(runtime::kView, "mean.row", {is_patch_}, runtime::ViewAttrs{.cols = length});
    const ValueId seen = net_.matmul("mean.seen", ones, row);
    return mean_of(x, first, net_.hidden("mean.mask", seen, net_.numerics().softmax));
  }

  /// Where heads read special tokens alone, nothing reads the norm of the others.
  ValueId head(ValueId x) {
    enter("head");
    std::vector<ValueId> read;
    const bool special = dialect_.reads == VitReads::kSpecial, normed = !dialect_.names.last_norm.empty();
    if (!special && normed) x = norm("norm", x, norm_of(config_));
    for (std::size_t i = 0; i < dialect_.heads.size(); ++i) {
      ValueId rows =
          graph_.add1(runtime::kTakeRows, i == 0 ? "class" : "distillation", {x},
                      runtime::StrideAttrs{.stride = step_.kind.length, .first = static_cast<std::int64_t>(i)});
      const std::string label = i == 0 ? "norm" : "norm.distillation";
      if (special && normed) rows = norm(label, rows, norm_of(config_));
      const ValueId mean = special ? runtime::kNoValue : mean_of_patches(x, rows);
      read.push_back(special ? rows : dialect_.reads == VitReads::kMeanOfPatches ? mean : joined(rows, mean));
    }
    return classified(read, step_.plan.micro_batch, dialect_.heads);
  }

  ValueId joined(ValueId first, ValueId second) {
    return graph_.add1(runtime::kJoinColumns, "class.mean", {first, second}, runtime::JoinAttrs{.blocks = 1});
  }

  const VitConfig& config_;
  const VitDialect& dialect_;
  const std::string_view layers_;
  std::vector<ValueId> is_special_;
  ValueId is_patch_ = runtime::kNoValue, is_register_ = runtime::kNoValue, is_place_ = runtime::kNoValue;
};

/// Weights that a file may have and a classifier has not: other heads', the model's of texts, and buffers.
std::vector<std::string> left_out(const VitConfig& c) {
  const std::string prefix{dialect_of(c.kind).prefix};
  std::vector<std::string> out{prefix + "pooler.*",
                               "pooler.*",
                               "*.position_ids",
                               "text_model.*",
                               "text_projection.*",
                               "visual_projection.*",
                               "logit_scale",
                               "logit_bias",
                               prefix + "head.*",
                               "head.*",
                               prefix + "embeddings.mask_token",
                               "embeddings.mask_token"};
  if (dialect_of(c.kind).names.last_norm != "post_layernorm") out.push_back(prefix + "post_layernorm.*");
  return out;
}

ModelInfo info_of(const VitConfig& c) {
  const std::int64_t heads = c.num_attention_heads;
  const VitDialect& dialect = dialect_of(c.kind);
  const std::string prefix{dialect.prefix};
  std::vector<std::string> drawn;
  for (const std::string_view head : dialect.heads) drawn.push_back(fmt::format("{}.", head));
  return {.family = dialect.family,
          .sizes = {.layers = c.num_hidden_layers,
                    .hidden = c.hidden_size,
                    .heads = heads,
                    .kv_heads = heads,
                    .head = heads > 0 ? c.hidden_size / heads : 0,
                    .ffn = c.intermediate_size,
                    .positions = tokens_of(c)},
          .head = Head::kClassifier,
          .initializer_range = c.initializer_range,
          .sharing = Sharing::kTensors,
          .label_names = c.label_names,
          .image = image_of(c),
          .names = {
              .prefix = prefix,
              .tops = {"embeddings.", "encoder.", "layernorm.", "pre_layrnorm.", "post_layernorm.", "layer.", "norm."},
              .left_out = left_out(c),
              .drawn = std::move(drawn)}};
}

/// Ones where the rows of a table are in a sequence: the first `before` at their own places, and from `row` on those
/// behind them.
HostTable placed(const char* name, std::int64_t length, std::int64_t columns, std::int64_t before, std::int64_t row) {
  HostTable table{name, std::vector<float>(static_cast<std::size_t>(length * columns))};
  for (std::int64_t c = 0; c < columns; ++c)
    table.values.at(static_cast<std::size_t>((c < before ? c : row + c - before) * columns + c)) = 1;
  return table;
}

class VitModel final : public ConfigModel<VitConfig> {
 public:
  explicit VitModel(const VitConfig& config) : ConfigModel{config, info_of(config)} {}

  std::vector<WeightSpec> weights() const override { return with_adapters(vit_weights(config_), config_.lora); }

  StepGraph step(const Step& step) const override {
    if (step.kind.length != tokens_of(config_))
      throw base::Error{base::Fault::kUsage, "length",
                        fmt::format("{} tokens, but an image has {}: the class and its patches", step.kind.length,
                                    tokens_of(config_)),
                        fmt::format("use a length of {}", tokens_of(config_))};
    if (step.kind.training && config_.pos_embed_rescale > 0)
      throw base::Error{
          base::Fault::kUsage, "pos_embed_rescale",
          fmt::format("{}: training with places that are scaled at random is not built in", config_.pos_embed_rescale),
          "write null in config.json to train with the places as they are"};
    const std::string layers = layers_of(config_);
    return Vit{shared_from_this(), config_, step, layers}.run();
  }

  double flops(const Step& step) const override {
    const auto h = static_cast<double>(config_.hidden_size), f = static_cast<double>(config_.intermediate_size);
    const auto patches = static_cast<double>(image()->patches()), tokens = static_cast<double>(image()->tokens());
    const auto heads = static_cast<double>(dialect_of(config_.kind).heads.size());
    const auto layers = static_cast<double>(config_.num_hidden_layers);
    const double projection = 2 * patches * h * static_cast<double>(image()->patch_elements());
    const auto wide = static_cast<double>(head_width(config_));
    const ForwardFlops rest{.linear = layers * 2 * tokens * (4 * h * h + (config_.use_swiglu_ffn ? 3 : 2) * h * f),
                            .others = layers * 4 * tokens * tokens * h + tokens * adapter_flops(weights()) +
                                      2 * heads * wide * static_cast<double>(config_.label_names.size())};
    // The gradient of pixels is not needed.
    const double picture =
        (step.kind.training && !lora() ? 2 : 1) * projection + step_flops(rest, step.kind.training, lora());
    return picture * static_cast<double>(step.plan.sequences_per_step());
  }

  /// Without dropout; transformers' modeling_vit with eager attention.
  FrameworkOps traced_ops(const Step& step) const override {
    const std::vector<WeightSpec> all = weights();
    const auto n = static_cast<double>(config_.num_hidden_layers),
               tensors = static_cast<double>(std::ranges::count(all, false, &WeightSpec::frozen));
    // With queries, keys and values in one product; the ends are embeddings and head.
    LayerOps kind = config_.of_torch ? LayerOps{.forward = 51, .backward = 84, .core = 18}
                                     : LayerOps{.forward = 57, .backward = 115, .core = 18};
    if (config_.hidden_act == Activation::kQuickGelu) kind.forward += 3, kind.backward += 5;  // written out
    if (!dialect_of(config_.kind).names.scale1.empty()) kind.forward += 2, kind.backward += 10;
    const bool one_layer = !dialect_of(config_.kind).names.fused.empty();
    if (config_.use_swiglu_ffn) kind.forward += one_layer ? 2 : 5, kind.backward += one_layer ? 3 : 15;
    if (dialect_of(config_.kind).turned) kind.forward += 16, kind.backward += 21, kind.core += 16;
    const LayerOps layer =
        with_recomputation(with_collectives(with_adapter_ops(kind, lora(), all), step.plan), step.plan.recompute);
    if (config_.of_torch) return {n * layer.forward + 18, n * layer.backward + 31, tensors - 4 * n};
    constexpr double kEndsForward = 6 + 11, kEndsBackward = 12 + 22;
    return {n * layer.forward + kEndsForward, n * layer.backward + kEndsBackward, tensors};
  }
  std::optional<Problem> refuses(const Plan& plan) const override { return encoder_problem(plan, sizes()); }
  /// Which rows of a sequence are special tokens, and which are patches.
  std::vector<HostTable> host_tables(const StepKind& kind, std::optional<std::int64_t>) const override {
    const std::vector<float> none(static_cast<std::size_t>(kind.length), 0);
    std::vector<float> is_patch(none.size(), 1);
    std::vector<HostTable> tables;
    for (std::size_t i = 0; i < dialect_of(config_.kind).tokens.size(); ++i) {
      tables.push_back({kIsSpecial.at(i), none});
      tables.back().values.at(i) = 1, is_patch.at(i) = 0;
    }
    const std::int64_t registers = config_.num_register_tokens;
    const std::int64_t first = std::ssize(dialect_of(config_.kind).tokens);
    for (std::int64_t r = 0; r < registers; ++r) is_patch.at(static_cast<std::size_t>(first + r)) = 0;
    tables.push_back({"is_patch", std::move(is_patch)});
    if (registers > 0) {
      tables.push_back(placed(kIsRegister, kind.length, registers, 0, first));
      if (dialect_of(config_.kind).names.positions.empty()) return with_turns(std::move(tables));
      tables.push_back(placed(kIsPlace, kind.length, kind.length - registers, first, first + registers));
    }
    return with_turns(std::move(tables));
  }

 private:
  std::vector<HostTable> with_turns(std::vector<HostTable> tables) const {
    if (!dialect_of(config_.kind).turned) return tables;
    for (HostTable& table : turn_tables(config_)) tables.push_back(std::move(table));
    return tables;
  }
};

}  // namespace

void apply(const ModelChange& change, VitConfig& c) {
  set_common(c, change.sizes);
  if (const auto& image = change.image)
    c.image_size = image->size, c.num_channels = image->channels, c.patch_size = image->patch;
  if (change.labels) c.label_names = *change.labels;
  if (change.no_dropout) c.hidden_dropout_prob = c.attention_probs_dropout_prob = 0;
}

ImageShape image_of(const VitConfig& c) {
  return {c.image_size, c.num_channels, c.patch_size, std::ssize(dialect_of(c.kind).tokens) + c.num_register_tokens};
}

ModelPtr make_model(VitConfig config) { return std::make_shared<VitModel>(config); }

}  // namespace workloads
