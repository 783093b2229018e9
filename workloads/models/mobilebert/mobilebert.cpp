#include "workloads/models/mobilebert/mobilebert.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "runtime/ops/ops.h"
#include "workloads/models/config_model.h"
#include "workloads/models/encoder_graph.h"
#include "workloads/models/spec_list.h"
#include "workloads/step/step_graph.h"

namespace workloads {
namespace {

using runtime::kNoValue;
using runtime::ValueId;
using C = MobileBertConfig;

constexpr std::string_view kLayers = "mobilebert.encoder.layer.";
constexpr const char *kEmbeddings = "mobilebert.embeddings.",
                     *kTrigram = "mobilebert.embeddings.embedding_transformation", *kPooled = "mobilebert.pooler.dense",
                     *kClassifier = "classifier";
constexpr std::int64_t kTrigramPlaces = 3;

/// The layer that a token, the one before and the one behind it share: a file has the columns of the last first.
void trigram(SpecList& list, const C& c) {
  const std::int64_t e = c.embedding_size, all = kTrigramPlaces * e;
  for (std::int64_t place = 0; place < kTrigramPlaces; ++place) {
    list.matrix(fmt::format("{}.{}", kTrigram, place), e, c.hidden_size);
    std::vector<FilePiece> rows;
    for (std::int64_t r = 0; r < c.hidden_size; ++r)
      rows.push_back({.name = fmt::format("{}.weight", kTrigram),
                      .shape = {c.hidden_size, all},
                      .first = r * all + (kTrigramPlaces - 1 - place) * e,
                      .rows = e,
                      .elements = true});
    list.stored_in(std::move(rows));
  }
  list.tensor(fmt::format("{}.bias", kTrigram), {c.hidden_size}, Init::kZeros);
}

void layer_weights(SpecList& list, const C& c, const std::string& p) {
  const std::int64_t h = c.hidden_size, i = c.intra_bottleneck_size, f = c.intermediate_size;
  const auto linear = [&](const std::string& name, std::int64_t in, std::int64_t out) {
    list.linear(p + name, in, out);
  };
  const auto normed = [&](const std::string& name, std::int64_t in, std::int64_t out) {
    list.linear(p + name + "dense", in, out), list.layer_norm(p + name + "LayerNorm", out);
  };
  const std::int64_t read = c.key_query_shared_bottleneck ? i : h;
  linear("attention.self.query", read, i), linear("attention.self.key", read, i), linear("attention.self.value", h, i);
  normed("attention.output.", i, i);
  linear("intermediate.dense", i, f), normed("output.", f, i), normed("output.bottleneck.", i, h);
  normed("bottleneck.input.", h, i);
  if (c.key_query_shared_bottleneck) normed("bottleneck.attention.", h, i);
  for (std::int64_t n = 0; n + 1 < c.num_feedforward_networks; ++n) {
    linear(fmt::format("ffn.{}.intermediate.dense", n), i, f);
    normed(fmt::format("ffn.{}.output.", n), f, i);
  }
}

std::string layer_of(std::int64_t layer) { return fmt::format("{}{}.", kLayers, layer); }

bool pools(const C& c) { return c.head == Head::kClassifier && c.classifier_activation; }

std::vector<WeightSpec> weights_of(const C& c) {
  SpecList list;
  const std::string embeddings = kEmbeddings;
  list.tensor(embeddings + "word_embeddings.weight", {c.vocab_size, c.embedding_size}, Init::kNormalPadZero);
  list.table();
  list.embedding(embeddings + "position_embeddings", c.max_position_embeddings, c.hidden_size);
  list.embedding(embeddings + "token_type_embeddings", c.type_vocab_size, c.hidden_size);
  trigram(list, c);
  list.layer_norm(embeddings + "LayerNorm", c.hidden_size);
  for (std::int64_t l = 0; l < c.num_hidden_layers; ++l) list.at(l), layer_weights(list, c, layer_of(l));
  list.at(WeightSpec::kAfterLayers);
  if (pools(c)) list.linear(kPooled, c.hidden_size, c.hidden_size);
  list.linear(kClassifier, c.hidden_size, std::ssize(c.label_names));
  return list.take();
}

std::vector<WeightSpec> weights_of(const C& c, const Step& step) {
  std::vector<WeightSpec> all = with_adapters(weights_of(c), c.lora);
  if (step.kind.head == Head::kNone)
    std::erase_if(all, [](const WeightSpec& w) { return w.layer == WeightSpec::kAfterLayers; });
  return all;
}

BlockArch block_of(const C& c) {
  return {.attention = {.heads = c.num_attention_heads,
                        .kv_heads = c.num_attention_heads,
                        .head = c.num_attention_heads > 0 ? c.head_size() : 0,
                        .causal = false,
                        .dropout = c.attention_probs_dropout_prob},
          .mlp = {.size = c.intermediate_size, .activation = device_function(c.hidden_act)}};
}

class MobileBert : EncoderGraph {
 public:
  MobileBert(const C& config, const Step& step)
      : EncoderGraph{step, weights_of(config, step), kLayers, block_of(config), config.lora}, config_{config} {}

  StepGraph run() {
    if (only_updates()) return take();
    for (micro_ = 0; micro_ < step_.plan.micro_batches; ++micro_) {
      ValueId x = embed();
      for (std::int64_t l = 0; l < config_.num_hidden_layers; ++l) x = one_layer(x, l);
      if (step_.kind.head == Head::kNone)
        graph_.output(x, host_name("hidden"));
      else
        add_losses({head(x)});
    }
    train();
    return take();
  }

 private:
  std::string of_embeddings(const char* name) const { return fmt::format("{}{}", kEmbeddings, name); }
  isa::Dtype type() const { return net_.numerics().activation; }

  /// A product and a sum with weights, which stand for a norm.
  ValueId scaled(const std::string& label, ValueId x, const std::string& name) {
    const ValueId y = graph_.add1(runtime::kMul, label, {x, net_.w(name + ".weight")});
    return net_.add(label + ".bias", y, net_.w(name + ".bias"));
  }

  ValueId embed() {
    enter("embeddings");
    const std::int64_t batch = step_.plan.micro_batch, length = step_.kind.length, tokens = batch * length;
    const ValueId ids = net_.input("input_ids", tokens, 1, isa::Dtype::kInt32);
    mask_ = net_.hidden("mask", net_.input("attention_mask", batch, length, type()), net_.numerics().softmax);
    ValueId x = net_.convolved("trigram", rows_of("word", of_embeddings("word_embeddings.weight"), ids),
                               {.places = kTrigramPlaces, .length = length}, kTrigram);
    const ValueId types = net_.input("token_type_ids", tokens, 1, isa::Dtype::kInt32);
    x = net_.add("add_type", x, rows_of("token_type", of_embeddings("token_type_embeddings.weight"), types));
    const ValueId places =
        graph_.add1(runtime::kPositions, "position", {net_.w(of_embeddings("position_embeddings.weight"))},
                    runtime::PositionsAttrs{.batch = batch, .seq = length, .dtype = type()});
    x = scaled("norm", net_.add("add_position", x, places), of_embeddings("LayerNorm"));
    return net_.dropout("dropout", x, config_.hidden_dropout_prob);
  }

  /// A linear layer, a sum with another value, and its scaling. `name`: of both, with a dot behind it.
  ValueId part(const std::string& label, ValueId x, const std::string& name, ValueId added = kNoValue,
               double dropout = 0) {
    ValueId y = net_.dropout(label + ".dropout", net_.linear(label, x, name + "dense"), dropout);
    if (added != kNoValue) y = net_.add(label + ".residual", y, added);
    return scaled(label + ".norm", y, name + "LayerNorm");
  }

  ValueId feed_forward(const std::string& label, ValueId x, const std::string& wide, const std::string& out) {
    const ValueId y =
        net_.active(label + ".activation", net_.linear(label + ".up", x, wide + "dense"), arch_.mlp.activation);
    return part(label + ".down", y, out, x);
  }

  ValueId attend(ValueId x, const std::string& p) {
    const ValueId narrow = part("bottleneck.input", x, p + "bottleneck.input.");
    const ValueId read =
        config_.key_query_shared_bottleneck ? part("bottleneck.attention", x, p + "bottleneck.attention.") : x;
    const std::string self = p + "attention.self.";
    const std::vector<ValueId> qkv{net_.linear("attention.q", read, self + "query"),
                                   net_.linear("attention.k", read, self + "key"),
                                   net_.linear("attention.v", x, self + "value")};
    const ValueId context =
        net_.heads("attention.heads", qkv, arch_.attention, {.queries = step_.kind.length, .mask = mask_});
    return part("attention.output", context, p + "attention.output.", narrow);
  }

  ValueId one_layer(ValueId x, std::int64_t number) {
    const std::string p = layer_of(number);
    enter("layer", micro_ * config_.num_hidden_layers + number, number);
    ValueId y = attend(x, p);
    for (std::int64_t n = 0; n + 1 < config_.num_feedforward_networks; ++n) {
      const std::string ffn = fmt::format("{}ffn.{}.", p, n);
      y = feed_forward(fmt::format("ffn.{}", n), y, ffn + "intermediate.", ffn + "output.");
    }
    y = feed_forward("mlp", y, p + "intermediate.", p + "output.");
    return part("bottleneck.output", y, p + "output.bottleneck.", x, config_.hidden_dropout_prob);
  }

  ValueId head(ValueId x) {
    enter("head");
    std::int64_t rows = step_.plan.micro_batch * step_.kind.length;
    if (config_.head == Head::kClassifier) {
      rows = step_.plan.micro_batch;
      x = graph_.add1(runtime::kTakeRows, "pooler.first", {x}, runtime::StrideAttrs{.stride = step_.kind.length});
      if (pools(config_)) x = net_.active("pooler.tanh", net_.linear("pooler.dense", x, kPooled), isa::Fn::kTanh);
    }
    const double p = config_.classifier_dropout.value_or(config_.hidden_dropout_prob);
    return classified(net_.dropout("classifier.dropout", x, p), rows, kClassifier);
  }

  const C& config_;
  ValueId mask_ = kNoValue;  // of the present micro-batch
};

ModelInfo info_of(const C& c) {
  std::vector<std::string> left_out{"cls.*", "qa_outputs.*", fmt::format("{}position_ids", kEmbeddings),
                                    "classifier.*"};
  if (!pools(c)) left_out.push_back(fmt::format("{}.*", kPooled));
  return {.family = "MobileBERT",
          .sizes = {.layers = c.num_hidden_layers,
                    .hidden = c.hidden_size,
                    .heads = c.num_attention_heads,
                    .kv_heads = c.num_attention_heads,
                    .head = c.num_attention_heads > 0 ? c.head_size() : 0,
                    .ffn = c.intermediate_size,
                    .vocabulary = c.vocab_size,
                    .positions = c.max_position_embeddings},
          .head = c.head,
          .initializer_range = c.initializer_range,
          .label_names = c.label_names,
          .pad_row = c.pad_token_id,
          .names = {.prefix = "mobilebert.",
                    .tops = {"embeddings.", "encoder.", "pooler."},
                    .left_out = std::move(left_out),
                    .drawn = {kClassifier, kPooled}}};
}

/// Counted as FrameworkOps says (tests/golden/make/count_ops.py): of a layer without its feed-forward parts, and of one
/// of them.
constexpr LayerOps kLayerOps{.forward = 67, .backward = 152, .core = 23};
constexpr double kFeedForward = 13, kFeedBackward = 35;
constexpr double kEndsForward = 41 + 13, kEndsBackward = 31 + 21;

class MobileBertModel final : public ConfigModel<C> {
 public:
  explicit MobileBertModel(const C& config) : ConfigModel{config, info_of(config)} {}

  std::vector<WeightSpec> weights() const override { return with_adapters(weights_of(config_), config_.lora); }
  StepGraph step(const Step& step) const override {
    require_positions(step.kind.length, config_.max_position_embeddings);
    return MobileBert{config_, step}.run();
  }

  double flops(const Step& step) const override {
    const auto h = static_cast<double>(config_.hidden_size), i = static_cast<double>(config_.intra_bottleneck_size);
    const auto f = static_cast<double>(config_.intermediate_size), length = static_cast<double>(step.kind.length);
    const auto layers = static_cast<double>(config_.num_hidden_layers);
    const auto parts = static_cast<double>(config_.num_feedforward_networks);
    const double bottlenecks = (config_.key_query_shared_bottleneck ? 3 : 2) * h * i;
    const double queries = 2 * (config_.key_query_shared_bottleneck ? i : h) * i;
    const double layer = bottlenecks + queries + h * i + i * i + parts * 2 * i * f;
    const bool texts = config_.head == Head::kClassifier;
    const double labels = h * (static_cast<double>(config_.label_names.size()) + (pools(config_) ? h : 0));
    const ForwardFlops token{
        .linear = 2 * (layers * layer + kTrigramPlaces * static_cast<double>(config_.embedding_size) * h),
        .others = layers * 4 * length * i + adapter_flops(weights()) + 2 * labels / (texts ? length : 1)};
    return step_flops(token, step.kind.training, lora()) * length * static_cast<double>(step.plan.sequences_per_step());
  }

  FrameworkOps traced_ops(const Step& step) const override {
    const std::vector<WeightSpec> all = weights();
    LayerOps kind = kLayerOps;
    const auto parts = static_cast<double>(config_.num_feedforward_networks);
    kind.forward += parts * kFeedForward, kind.backward += parts * kFeedBackward;
    const LayerOps layer = with_recomputation(with_adapter_ops(kind, lora(), all), step.plan.recompute);
    const auto n = static_cast<double>(config_.num_hidden_layers);
    const auto tensors = static_cast<double>(std::ranges::count(all, false, &WeightSpec::frozen));
    return {n * layer.forward + kEndsForward, n * layer.backward + kEndsBackward, tensors - (kTrigramPlaces - 1)};
  }
  std::optional<Problem> refuses(const Plan& plan) const override {
    if (plan.tensor > 1)
      return Problem{"`tensor_parallel_size`", "each core holds all of a MobileBERT", "leave it out"};
    return encoder_problem(plan, sizes());
  }
};

}  // namespace

void apply(const ModelChange& change, MobileBertConfig& c) {
  if (change.head == Head::kMaskedTokens || change.head == Head::kPretraining)
    throw base::Error{base::Fault::kUsage, "model", "MobileBERT predicts no hidden tokens here",
                      "classify texts or tokens, or use a model of type bert"};
  set_common(c, change.sizes);
  set_size(c.vocab_size, change.sizes.vocabulary), set_size(c.max_position_embeddings, change.sizes.positions);
  if (const auto& ids = change.tokens) c.vocab_size = ids->vocabulary, c.pad_token_id = ids->pad.value_or(0);
  if (change.labels) c.label_names = *change.labels;
  if (change.head) c.head = *change.head == Head::kNone ? Head::kClassifier : *change.head;
  if (change.no_dropout) c.hidden_dropout_prob = c.attention_probs_dropout_prob = 0, c.classifier_dropout = 0;
}

ModelPtr make_model(MobileBertConfig config) { return std::make_shared<MobileBertModel>(config); }

}  // namespace workloads
