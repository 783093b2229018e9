#include "workloads/models/vit/vit.h"

#include <fmt/format.h>

#include <array>

#include "runtime/ops/ops.h"
#include "workloads/models/config_model.h"
#include "workloads/models/encoder_graph.h"
#include "workloads/models/spec_list.h"

namespace workloads {
namespace {

using runtime::ValueId;

constexpr const char* kEncoderLayers = "vit.encoder.layer.";
constexpr const char* kProjection = "vit.embeddings.patch_embeddings.projection";

std::int64_t tokens_of(const VitConfig& c) { return 1 + image_of(c).patches(); }

std::vector<WeightSpec> vit_weights(const VitConfig& c) {
  const std::int64_t h = c.hidden_size;
  SpecList list;
  list.tensor("vit.embeddings.cls_token", {1, 1, h}, Init::kNormal);
  list.tensor("vit.embeddings.position_embeddings", {1, tokens_of(c), h}, Init::kNormal);
  list.tensor(fmt::format("{}.weight", kProjection), {h, c.num_channels, c.patch_size, c.patch_size}, Init::kNormal,
              true);
  list.tensor(fmt::format("{}.bias", kProjection), {h}, Init::kZeros);
  for (std::int64_t l = 0; l < c.num_hidden_layers; ++l) {
    const std::string layer = fmt::format("{}{}.", kEncoderLayers, l);
    list.at(l);
    list.layer_norm(layer + "layernorm_before", h);
    for (const char* name : {"query", "key", "value"}) list.linear(layer + "attention.attention." + name, h, h);
    list.linear(layer + "attention.output.dense", h, h);
    list.layer_norm(layer + "layernorm_after", h);
    list.linear(layer + "intermediate.dense", h, c.intermediate_size);
    list.linear(layer + "output.dense", c.intermediate_size, h);
  }
  list.at(WeightSpec::kAfterLayers);
  list.layer_norm("vit.layernorm", h);
  list.linear("classifier", h, static_cast<std::int64_t>(c.label_names.size()));
  return list.take();
}

BlockArch block_of(const VitConfig& c) {
  return {.norm = {.eps = c.layer_norm_eps},
          .attention = {.heads = c.num_attention_heads,
                        .kv_heads = c.num_attention_heads,
                        .head = c.hidden_size / c.num_attention_heads,
                        .causal = false,
                        .dropout = c.attention_probs_dropout_prob},
          .mlp = {.size = c.intermediate_size, .activation = device_function(c.hidden_act)},
          .residual = {.dropout = c.hidden_dropout_prob},
          .names = {.attention = {.query = "attention.attention.query",
                                  .key = "attention.attention.key",
                                  .value = "attention.attention.value",
                                  .out = "attention.output.dense"},
                    .mlp = {.up = "intermediate.dense", .down = "output.dense"},
                    .norm1 = "layernorm_before",
                    .norm2 = "layernorm_after"}};
}

class Vit : EncoderGraph {
 public:
  Vit(const VitConfig& config, const Step& step)
      : EncoderGraph{step, vit_weights(config), kEncoderLayers, block_of(config)}, config_{config} {}

  runtime::Graph run() {
    if (only_updates()) return std::move(graph_);
    std::vector<ValueId> losses;
    for (micro_ = 0; micro_ < step_.plan.micro_batches; ++micro_) {
      ValueId x = embed();
      for (std::int64_t l = 0; l < config_.num_hidden_layers; ++l)
        x = layer(x, l, config_.num_hidden_layers, fmt::format("{}{}.", kEncoderLayers, l));
      losses.push_back(head(x));
    }
    train_on(losses);
    return std::move(graph_);
  }

 private:
  /// A sequence's first row is the class token, which has no pixels: everything that does not depend on pixels is the
  /// same for every picture and computed once for all, [length, hidden].
  ValueId embed() {
    enter("embeddings");
    const isa::Dtype type = net_.numerics().activation;
    const std::int64_t length = step_.kind.length, batch = step_.plan.micro_batch;
    if (micro_ == 0) {
      is_class_ = graph_.tensor("is_class", length, 1, type, runtime::Kind::kInput);
      is_patch_ = graph_.tensor("is_patch", length, 1, type, runtime::Kind::kInput);
    }
    const ValueId patches = net_.input("patches", batch * length, image_of(config_).patch_elements(), type);
    const ValueId x = net_.matmul("patch", patches, net_.w(fmt::format("{}.weight", kProjection)));
    ValueId same = net_.matmul("patch.bias", is_patch_, net_.w(fmt::format("{}.bias", kProjection)));
    same = net_.add("add_class", same, net_.matmul("class", is_class_, net_.w("vit.embeddings.cls_token")));
    same = net_.add("add_position", same, net_.w("vit.embeddings.position_embeddings"));
    const ValueId all = graph_.add1(runtime::kPositions, "position", {same},
                                    runtime::PositionsAttrs{.batch = batch, .seq = length, .dtype = type});
    return net_.dropout("dropout", net_.add("add_patch", x, all), config_.hidden_dropout_prob);
  }

  /// The norm of the class tokens alone: nothing reads that of the others.
  ValueId head(ValueId x) {
    enter("head");
    x = graph_.add1(runtime::kTakeRows, "class", {x}, runtime::StrideAttrs{.stride = step_.kind.length});
    return classified(norm("norm", x, "vit.layernorm"), step_.plan.micro_batch, "classifier");
  }

  const VitConfig& config_;
  ValueId is_class_ = runtime::kNoValue, is_patch_ = runtime::kNoValue;
};

ModelInfo info_of(const VitConfig& c) {
  const std::int64_t heads = c.num_attention_heads;
  return {.family = "ViT",
          .sizes = {.layers = c.num_hidden_layers,
                    .hidden = c.hidden_size,
                    .heads = heads,
                    .kv_heads = heads,
                    .head = heads > 0 ? c.hidden_size / heads : 0,
                    .ffn = c.intermediate_size,
                    .positions = tokens_of(c)},
          .head = Head::kClassifier,
          .initializer_range = c.initializer_range,
          .label_names = c.label_names,
          .image = image_of(c),
          .names = {.prefix = "vit.",
                    .tops = {"embeddings.", "encoder.", "layernorm."},
                    .left_out = {"vit.pooler.*", "pooler.*"},
                    .drawn = {"classifier."}}};
}

class VitModel final : public ConfigModel<VitConfig> {
 public:
  explicit VitModel(const VitConfig& config) : ConfigModel{config, info_of(config)} {}

  std::vector<WeightSpec> weights() const override { return vit_weights(config_); }

  StepGraph step(const Step& step) const override {
    if (step.kind.length != tokens_of(config_))
      throw base::Error{base::Fault::kUsage, "length",
                        fmt::format("{} tokens, but a picture has {}: the class and its patches", step.kind.length,
                                    tokens_of(config_)),
                        fmt::format("use a length of {}", tokens_of(config_))};
    return {Vit{config_, step}.run(), {}};
  }

  double flops(const Step& step) const override {
    const auto h = static_cast<double>(config_.hidden_size), f = static_cast<double>(config_.intermediate_size);
    const auto patches = static_cast<double>(image()->patches()), tokens = patches + 1;
    const double layer = 2 * tokens * (4 * h * h + 2 * h * f) + 4 * tokens * tokens * h;
    const double projection = 2 * patches * h * static_cast<double>(image()->patch_elements());
    const double rest = layer * static_cast<double>(config_.num_hidden_layers) +
                        2 * h * static_cast<double>(config_.label_names.size());
    // The gradient of pixels is not needed.
    const double picture = step.kind.training ? 2 * projection + 3 * rest : projection + rest;
    return picture * static_cast<double>(step.plan.sequences_per_step());
  }

  /// Without dropout; transformers' modeling_vit with eager attention.
  FrameworkOps traced_ops(const Step&) const override {
    const auto n = static_cast<double>(config_.num_hidden_layers), tensors = static_cast<double>(weights().size());
    // With queries, keys and values in one product; the ends are embeddings and head.
    if (config_.of_torch) return {n * 51 + 18, n * 84 + 31, tensors - 4 * n};
    constexpr double kLayerForward = 57, kLayerBackward = 115;
    constexpr double kEndsForward = 6 + 11, kEndsBackward = 12 + 22;
    return {n * kLayerForward + kEndsForward, n * kLayerBackward + kEndsBackward, tensors};
  }
  std::optional<Problem> refuses(const Plan& plan) const override { return encoder_problem(plan); }
  /// Which rows of a sequence are the class token, and which are patches.
  std::vector<HostTable> host_tables(const StepKind& kind, std::optional<std::int64_t>) const override {
    std::vector<float> is_class(static_cast<std::size_t>(kind.length), 0), is_patch(is_class.size(), 1);
    is_class.front() = 1, is_patch.front() = 0;
    return {{"is_class", std::move(is_class)}, {"is_patch", std::move(is_patch)}};
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

ImageShape image_of(const VitConfig& c) { return {c.image_size, c.num_channels, c.patch_size}; }

ModelPtr make_model(VitConfig config) { return std::make_shared<VitModel>(config); }

}  // namespace workloads
