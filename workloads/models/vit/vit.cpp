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

class Vit : EncoderGraph {
 public:
  Vit(const VitConfig& config, const Step& step)
      : EncoderGraph{step,
                     vit_weights(config),
                     kEncoderLayers,
                     {.hidden = config.hidden_size,
                      .heads = config.num_attention_heads,
                      .eps = config.layer_norm_eps,
                      .attention_dropout = config.attention_probs_dropout_prob}},
        config_{config} {}

  runtime::Graph run() {
    if (only_updates()) return std::move(graph_);
    std::vector<ValueId> losses;
    for (micro_ = 0; micro_ < step_.plan.micro_batches; ++micro_) {
      ValueId x = embed();
      for (std::int64_t l = 0; l < config_.num_hidden_layers; ++l) x = layer(l, x);
      losses.push_back(head(x));
    }
    train_on(losses);
    return std::move(graph_);
  }

 private:
  /// A sequence's first row is the class token, which has no pixels: what does not come from pixels is the same for
  /// every picture, so that it is made once for all of them, [length, hidden].
  ValueId embed() {
    enter("embeddings", micro_);
    const isa::Dtype type = step_.plan.numerics.activation;
    const std::int64_t length = step_.kind.length, batch = step_.plan.micro_batch;
    if (micro_ == 0) {
      is_class_ = graph_.tensor("is_class", length, 1, type, runtime::Kind::kInput);
      is_patch_ = graph_.tensor("is_patch", length, 1, type, runtime::Kind::kInput);
    }
    const ValueId patches =
        input("patches", batch * length, config_.num_channels * config_.patch_size * config_.patch_size, type);
    const ValueId x = matmul("patch", patches, w(fmt::format("{}.weight", kProjection)));
    ValueId same = matmul("patch.bias", is_patch_, w(fmt::format("{}.bias", kProjection)));
    same = graph_.add1(runtime::kAdd, "add_class", {same, matmul("class", is_class_, w("vit.embeddings.cls_token"))});
    same = graph_.add1(runtime::kAdd, "add_position", {same, w("vit.embeddings.position_embeddings")});
    const ValueId all = graph_.add1(runtime::kPositions, "position", {same},
                                    runtime::PositionsAttrs{.batch = batch, .seq = length, .dtype = type});
    return dropout("dropout", graph_.add1(runtime::kAdd, "add_patch", {x, all}), config_.hidden_dropout_prob);
  }

  ValueId layer(std::int64_t l, ValueId x) {
    enter("layer", micro_ * config_.num_hidden_layers + l, l);
    const std::string name = fmt::format("{}{}.", kEncoderLayers, l);
    const ValueId h = layernorm("attention.norm", x, name + "layernorm_before");
    const ValueId q = linear("attention.query", h, name + "attention.attention.query");
    const ValueId k = linear("attention.key", h, name + "attention.attention.key");
    const ValueId v = linear("attention.value", h, name + "attention.attention.value");
    const ValueId context = attention({q, k, v});
    ValueId y = linear("attention.output", context, name + "attention.output.dense");
    y = dropout("attention.dropout", y, config_.hidden_dropout_prob);
    x = graph_.add1(runtime::kAdd, "attention.residual", {y, x});
    y = linear("ffn.intermediate", layernorm("ffn.norm", x, name + "layernorm_after"), name + "intermediate.dense");
    y = activation("ffn.activation", y, config_.hidden_act);
    y = dropout("ffn.dropout", linear("ffn.output", y, name + "output.dense"), config_.hidden_dropout_prob);
    return graph_.add1(runtime::kAdd, "ffn.residual", {y, x});
  }

  /// The norm of the class tokens alone: nobody reads the others'.
  ValueId head(ValueId x) {
    enter("head", micro_);
    x = graph_.add1(runtime::kTakeRows, "class", {x}, runtime::StrideAttrs{.stride = step_.kind.length});
    const ValueId logits =
        linear("classifier", layernorm("norm", x, "vit.layernorm"), "classifier", {.dtype = isa::Dtype::kFp32});
    graph_.output(logits, micro_name("logits", micro_));
    return loss_of(logits, step_.plan.micro_batch, "labels", "weights", "loss");
  }

  const VitConfig& config_;
  ValueId is_class_ = runtime::kNoValue, is_patch_ = runtime::kNoValue;
};

class VitModel final : public ConfigModel<VitConfig> {
 public:
  explicit VitModel(VitConfig config) : ConfigModel{std::move(config)}, image_{image_of(config_)} {}

  std::string_view family() const override { return "ViT"; }
  Sizes sizes() const override {
    const std::int64_t heads = config_.num_attention_heads;
    return {.layers = config_.num_hidden_layers,
            .hidden = config_.hidden_size,
            .heads = heads,
            .kv_heads = heads,
            .head = heads > 0 ? config_.hidden_size / heads : 0,
            .ffn = config_.intermediate_size,
            .positions = tokens_of(config_)};
  }
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
    const auto patches = static_cast<double>(image_.patches()), tokens = patches + 1;
    const double layer = 2 * tokens * (4 * h * h + 2 * h * f) + 4 * tokens * tokens * h;
    const double projection = 2 * patches * h * static_cast<double>(image_.patch_elements());
    const double rest = layer * static_cast<double>(config_.num_hidden_layers) +
                        2 * h * static_cast<double>(config_.label_names.size());
    // Nobody needs the gradient of pixels.
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

  const ImageShape* image() const override { return &image_; }
  /// Which rows of a sequence are the class token, and which are patches.
  std::vector<HostTable> tables(const StepKind& kind) const override {
    std::vector<float> is_class(static_cast<std::size_t>(kind.length), 0), is_patch(is_class.size(), 1);
    is_class.front() = 1, is_patch.front() = 0;
    return {{"is_class", std::move(is_class)}, {"is_patch", std::move(is_patch)}};
  }
  std::vector<std::string> label_names() const override { return config_.label_names; }
  Head head() const override { return Head::kClassifier; }

  std::string canonical_name(std::string name) const override {
    return with_prefix(std::move(name), "vit.",
                       std::array<std::string_view, 3>{"embeddings.", "encoder.", "layernorm."});
  }
  bool is_left_out(std::string_view name) const override {
    return name.starts_with("vit.pooler.") || name.starts_with("pooler.");
  }
  bool may_be_missing(std::string_view name) const override { return name.starts_with("classifier."); }

  ModelPtr with_sizes(const Sizes& s) const override {
    return changed([&](VitConfig& c) { set_common(c, s); });
  }
  ModelPtr with_labels(std::vector<std::string> names) const override {
    return changed([&](VitConfig& c) { c.label_names = std::move(names); });
  }
  ModelPtr with_published(const PublishedModel& published, std::vector<std::string>& assumed) const override {
    const auto config = published_vit(config_, published, assumed);
    return config ? make_model(*config) : nullptr;
  }
  ModelPtr without_dropout() const override {
    return changed([](VitConfig& c) { c.hidden_dropout_prob = c.attention_probs_dropout_prob = 0; });
  }

 private:
  const ImageShape image_;
};

}  // namespace

ImageShape image_of(const VitConfig& c) { return {c.image_size, c.num_channels, c.patch_size}; }

ModelPtr make_model(VitConfig config) { return std::make_shared<VitModel>(std::move(config)); }

std::vector<FamilyWord> vit_words() {
  std::vector<FamilyWord> out{
      {"vit"}, {"vision transformer"}, {.word = "deit", .differs = "as a ViT: no token of distillation"}};
  for (const char* other : {"mobilevit", "levit", "maxvit", "convit", "crossvit", "vivit", "vitdet", "vit-mae", "swin"})
    out.push_back({.word = other, .other = true});
  return out;
}

}  // namespace workloads
