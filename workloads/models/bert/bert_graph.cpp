#include "workloads/models/bert/bert_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "runtime/graph/graph.h"
#include "runtime/ops/ops.h"
#include "workloads/models/bert/bert_block.h"
#include "workloads/models/encoder_graph.h"

namespace workloads {
namespace {

using runtime::ValueId;

std::vector<WeightSpec> weights_of(const BertConfig& config, const Step& step) {
  const BertDialect& names = dialect_of(config.kind);
  std::vector<WeightSpec> out;
  for (WeightSpec& w : weights_of_rank(config, step)) {
    const bool pooler = !names.pooled.empty() && w.name.starts_with(names.pooled);
    const bool last = !names.last_norm.empty() && w.name.starts_with(names.last_norm);
    const bool top = pooler || (w.layer == WeightSpec::kAfterLayers && !last);
    if (step.kind.head == Head::kNone && top) continue;
    if (step.kind.head == Head::kTokens && pooler && names.heads.norm.empty()) continue;
    out.push_back(std::move(w));
  }
  return out;
}

/// The embeddings of tokens.
class Embedder : protected EncoderGraph {
 protected:
  Embedder(const BertConfig& config, const Step& step)
      : EncoderGraph{step, weights_of(config, step), dialect_of(config.kind).layers, bert_block(config), config.lora},
        config_{config},
        names_{dialect_of(config.kind)} {}

  std::string embedding(std::string_view name) const { return fmt::format("{}{}", names_.prefix, name); }

  std::string token_table() const { return embedding(names_.embedding.tokens) + ".weight"; }
  bool of_heads(const std::string& weight) const override {
    const BertEmbeddingNames& names = names_.embedding;
    for (const std::string_view norm : {names_.in_layer.norms.query, names_.in_layer.norms.key})
      if (!norm.empty() && weight.ends_with(fmt::format(".{}.weight", norm))) return true;
    return !names.places.empty() &&
           (weight == embedding(names.places) + ".weight" || weight.starts_with(embedding(names.places_norm) + "."));
  }

  /// The embedding of token types: one per type, the same for all, or none.
  ValueId token_type(std::int64_t tokens) {
    if (!config_.has_types()) return runtime::kNoValue;
    const std::string table = embedding(names_.embedding.types) + ".weight";
    if (names_.embeds.one_type || config_.type_vocab_size == 1) return net_.w(table);
    return rows_of("token_type", table, net_.input("token_type_ids", tokens, 1, isa::Dtype::kInt32));
  }

  ValueId position(std::int64_t batch) {
    if (!config_.has_positions()) return runtime::kNoValue;
    return graph_.add1(runtime::kPositions, "position", {net_.w(embedding(names_.embedding.positions) + ".weight")},
                       runtime::PositionsAttrs{.batch = batch,
                                               .seq = step_.kind.length,
                                               .first = config_.first_position(),
                                               .dtype = net_.numerics().activation});
  }

  /// The sum of a token's embeddings, normed.
  ValueId embed(ValueId ids, std::int64_t batch) {
    const std::int64_t tokens = batch * step_.kind.length;
    ValueId x = rows_of("word", token_table(), ids);
    if (is_split(token_table())) {
      x = graph_.add1(runtime::kMul, "word.mine", {x, net_.input("vocabulary", tokens, 1, net_.numerics().activation)});
      enter("embeddings.sum");
      x = net_.summed(x);
      enter("embeddings.rest");
    }
    if (config_.scale_embedding) x = net_.times("scale", x, std::sqrt(static_cast<double>(config_.hidden_size)));
    if (config_.token_dropout)
      x = graph_.add1(runtime::kMul, "fade", {x, net_.input("token_factors", tokens, 1, net_.numerics().activation)});
    const ValueId type = token_type(tokens), place = position(batch);
    if (type != runtime::kNoValue) x = net_.add("add_type", x, type);
    if (place != runtime::kNoValue) x = net_.add("add_position", x, place);
    if (config_.use_task_id)  // no task is said, which is task 0
      x = net_.add("add_task", x,
                   graph_.add1(runtime::kTakeRows, "task", {net_.w(embedding(kTaskTypes) + ".weight")},
                               runtime::StrideAttrs{.stride = config_.task_type_vocab_size}));
    if (!names_.embedding.norm.empty() && config_.norm_before)
      x = norm("layernorm", x, embedding(names_.embedding.norm));
    const double p = std::max(names_.embeds.dropout ? config_.hidden_dropout_prob : 0, config_.embedding_dropout);
    x = net_.dropout("dropout", x, p);
    return has_projection(config_) ? net_.linear("projection", x, std::string{names_.projection}) : x;
  }

  const BertConfig& config_;
  const BertDialect& names_;
};

class Bert : Embedder {
 public:
  Bert(const BertConfig& config, const Step& step) : Embedder{config, step} {}

  StepGraph run() {
    if (only_updates()) return take();
    declare_tables();
    for (micro_ = 0; micro_ < step_.plan.micro_batches; ++micro_) {
      const ValueId hidden = encode();
      if (step_.kind.head == Head::kNone) {
        graph_.output(hidden, host_name("hidden"));
      } else if (step_.kind.head == Head::kPretraining) {
        add_losses(pretraining(hidden));
      } else {
        add_losses({step_.kind.head == Head::kMaskedTokens ? masked_tokens(hidden) : head(hidden)});
      }
    }
    train();
    return take();
  }

 private:
  /// Biases by distance: of all layers, and of those that see a window.
  struct Biases {
    ValueId all = runtime::kNoValue, windowed = runtime::kNoValue;
  };
  Biases biases() {
    Biases out;
    const std::int64_t length = step_.kind.length;
    const isa::Dtype type = net_.numerics().activation;
    const auto spread = [&](const char* label, ValueId by_distance) {
      return graph_.add1(runtime::kDiagonals, label, {by_distance}, runtime::DiagonalsAttrs{.rows = length});
    };
    if (!names_.relative.empty()) {
      enter("bias");
      const ValueId table = net_.w(fmt::format("{}.weight", names_.relative));
      out.all = spread("biases", net_.matmul("distances", table, distances_, {.dtype = type}));
    }
    if (near_ != runtime::kNoValue) {
      enter("window");
      out.windowed = spread("window", net_.hidden("far", near_, type));
    }
    return out;
  }

  void declare_tables() {
    const std::int64_t length = step_.kind.length;
    const auto table = [&](const char* name, std::int64_t rows) {
      return graph_.tensor(name, rows, 2 * length - 1, net_.numerics().activation, runtime::Kind::kInput);
    };
    net_.declare_rotary(arch_.rotary, length, runtime::Kind::kInput);
    if (!names_.relative.empty()) distances_ = table(kDistances, kMpnetBuckets.count);
    if (hides_far(arch_.attention, length)) near_ = table(kNear, 1);
    const auto ones = [&](const char* name) {
      return graph_.tensor(name, 2 * length - 1, 2 * places_of(config_).count, net_.numerics().activation,
                           runtime::Kind::kInput);
    };
    if (arch_.attention.places.of_keys) places_.forwards = ones(kForwards);
    if (arch_.attention.places.of_queries) places_.backwards = ones(kBackwards);
  }

  /// The relative places of a micro-batch, which its layers share.
  PlaceTable places_of_layers() {
    PlaceTable out = places_;
    if (!arch_.attention.places) return out;
    enter("places");
    out.rows = net_.w(embedding(names_.embedding.places) + ".weight");
    if (config_.normed_places) out.rows = norm("norm", out.rows, embedding(names_.embedding.places_norm));
    return out;
  }

  /// The first layer's output, x, and the convolution of its input, where padding is 0.
  ValueId with_neighbours(ValueId x, ValueId input, ValueId seen) {
    enter("convolution");
    const ValueId column =
        graph_.add1(runtime::kView, "seen", {seen}, runtime::ViewAttrs{.rows = graph_.value(x).rows});
    ValueId y = graph_.add1(runtime::kMul, "masked", {input, column});
    y = net_.convolved("convolution", y, {.places = config_.conv_kernel_size, .length = step_.kind.length},
                       embedding(names_.embedding.convolution));
    y = net_.active("activation", net_.dropout("dropout", y, config_.hidden_dropout_prob),
                    device_function(config_.conv_act));
    return norm("norm", net_.add("residual", y, x), embedding(names_.embedding.convolution_norm));
  }

  ValueId encode() {
    const std::int64_t batch = step_.plan.micro_batch, length = step_.kind.length;
    enter("embeddings");
    const ValueId ids = net_.input("input_ids", batch * length, 1, isa::Dtype::kInt32);
    const ValueId seen = net_.input("attention_mask", batch, length, net_.numerics().activation);
    mask_ = net_.hidden("mask", seen, net_.numerics().softmax);
    ValueId x = embed(ids, batch);
    const ValueId embedded = x;
    const Biases bias = biases();
    const PlaceTable places = places_of_layers();
    for (std::int64_t l = 0; l < config_.num_hidden_layers; ++l) {
      x = layer(x, l, config_.num_hidden_layers, names_.layer(l),
                {.mask = mask_, .bias = arch_.attention.window.of(l) > 0 ? bias.windowed : bias.all, .places = places});
      if (l == 0 && config_.conv_kernel_size > 0) x = with_neighbours(x, embedded, seen);
    }
    if (names_.last_norm.empty()) return x;
    enter("norm");
    return norm("norm", x, std::string{names_.last_norm});
  }

  double head_dropout() const {
    const bool apart = names_.pooled.empty() && step_.kind.head == Head::kTokens;  // as the layers
    return apart ? config_.hidden_dropout_prob : config_.classifier_dropout.value_or(config_.hidden_dropout_prob);
  }

  ValueId head(ValueId x) {
    enter("head");
    std::int64_t rows = step_.plan.micro_batch * step_.kind.length;
    if (step_.kind.head == Head::kClassifier) {
      rows = step_.plan.micro_batch;
      x = pooled(x);
    } else if (!names_.heads.norm.empty()) {
      x = transformed(x);
    }
    return classified(net_.dropout("classifier.dropout", x, head_dropout()), rows, classifier_of(config_));
  }

  ValueId pooled(ValueId x) {
    if (config_.late_pooling) return mean(dense(x));  // the last layer's outputs have the same mean
    x = config_.mean_pooling
            ? mean(x)
            : graph_.add1(runtime::kTakeRows, "pooler.first", {x}, runtime::StrideAttrs{.stride = step_.kind.length});
    if (names_.pooled.empty()) return x;
    if (!names_.heads.norm.empty()) return transformed(x);
    if (names_.heads.pooled_dropout) x = net_.dropout("pooler.dropout", x, head_dropout());
    return dense(x);
  }

  ValueId dense(ValueId x) {
    return net_.active("pooler.tanh", net_.linear("pooler.dense", x, std::string{names_.pooled}),
                       names_.heads.pooled_fn);
  }

  ValueId mean(ValueId x) {
    const runtime::StrideAttrs firsts{.stride = step_.kind.length};
    return mean_of(x, graph_.add1(runtime::kTakeRows, "mean.first", {x}, firsts), mask_);
  }

  /// ModernBERT's dense layer, activation and norm, of texts and of tokens.
  ValueId transformed(ValueId x) {
    x = net_.linear("head.dense", x, std::string{names_.pooled});
    x = net_.active("head.activation", x, device_function(config_.classifier_activation));
    return norm("head.norm", x, std::string{names_.heads.norm});
  }

  /// The two losses of BertForPreTraining. Source: Devlin et al., section 3.1; only masked tokens meet the decoder.
  std::vector<ValueId> pretraining(ValueId x) {
    enter("pretraining");
    const std::int64_t rows = step_.plan.micro_batch * step_.kind.predictions;
    const ValueId places = net_.input("masked_positions", rows, 1, isa::Dtype::kInt32);
    const ValueId t = graph_.add1(runtime::kEmbedding, "mlm.gather", {x, places},
                                  runtime::ResultAttrs{.dtype = net_.numerics().activation});
    const ValueId masked = loss_of(token_logits(t), rows, {"masked_labels", "masked_weights", "masked_loss"});
    enter_apart("pretraining.next");
    const ValueId next = net_.linear("nsp", pooled(x), "cls.seq_relationship", {.dtype = isa::Dtype::kFp32});
    return {masked, net_.class_loss(next, step_.plan.micro_batch, {"next_labels", "next_weights", "next_loss"})};
  }

  /// BertForMaskedLM: every token meets the table of tokens, as in transformers, also those whose loss does not count.
  ValueId masked_tokens(ValueId x) {
    enter("head");
    const ValueId logits = token_logits(x);
    if (step_.kind.keep_logits) graph_.output(logits, host_name("logits"));
    return loss_of(logits, step_.plan.micro_batch * step_.kind.length, {});
  }

  std::string head_table() const {
    return names_.masked.own_table ? std::string{names_.masked.table_copy} : token_table();
  }

  ValueId loss_of(ValueId logits, std::int64_t rows, const LossNames& names) {
    if (!is_split(head_table())) return net_.token_loss(logits, rows, 0, names, Across::kSame);
    return net_.token_loss(logits, rows, config_.vocab_size, names);
  }

  /// A transform of each token, then the table of tokens. The loss behind it is computed in pieces of columns: SBUF
  /// does not hold 128 rows of a vocabulary, a float and its gradient each.
  ValueId token_logits(ValueId x) {
    const MaskedHeadNames& masked = names_.masked;
    if (!names_.heads.norm.empty())
      x = transformed(x);
    else if (!masked.dense.empty())
      x = masked_transform(x);
    const isa::Dtype type = net_.numerics().activation;
    if (is_split(head_table())) {
      enter("head.share");
      x = net_.shared(x);
      enter("head.logits");
    }
    x = net_.matmul("mlm.decoder", x, net_.w(head_table()), {.trans_b = !masked.own_table, .dtype = type});
    return config_.decoder_bias ? net_.add("mlm.decoder.bias", x, net_.w(std::string{masked.bias})) : x;
  }

  ValueId masked_transform(ValueId x) {
    const Activation activation = names_.heads.masked_gelu ? Activation::kGelu : config_.hidden_act;
    x = net_.linear("mlm.transform", x, std::string{names_.masked.dense});
    x = net_.active("mlm.activation", x, device_function(activation));
    return norm("mlm.layernorm", x, std::string{names_.masked.norm});
  }

  ValueId distances_ = runtime::kNoValue, near_ = runtime::kNoValue;  // tables
  PlaceTable places_;                                                 // without its rows
  ValueId mask_ = runtime::kNoValue;                                  // of the present micro-batch
};

}  // namespace

StepGraph bert_graph(const BertConfig& config, const Step& step) {
  require_positions(step.kind.length, config.max_position_embeddings - config.first_position());
  if (step.kind.head == Head::kPretraining && config.kind != BertKind::kBert)
    throw base::Error{base::Fault::kUsage, "model", "cannot be pre-trained here", "pre-train a model of type bert"};
  const auto differs = [&](Head head) { return (step.kind.head == head) != (config.head == head); };
  if ((differs(Head::kPretraining) || differs(Head::kMaskedTokens)) && step.kind.head != Head::kNone)
    throw base::Error{base::Fault::kInternal, "bert", "the step's head is not the model's", "give both the same head"};
  return Bert{config, step}.run();
}

double bert_flops(const BertConfig& c, const Step& step, double adapters) {
  const auto h = static_cast<double>(c.hidden_size), f = static_cast<double>(c.intermediate_size);
  const auto tokens = static_cast<double>(step.plan.micro_batch * step.kind.length),
             length = static_cast<double>(step.kind.length);
  const double mlp = dialect_of(c.kind).in_layer.gate.empty() ? 2 : 3;
  const auto layers = static_cast<double>(c.num_hidden_layers), embedded = static_cast<double>(c.embedding_width());
  const double scores = 2 + (c.uses_places() ? (c.of_keys ? 1 : 0) + (c.of_queries ? 1 : 0) : 0);
  const auto keys = static_cast<double>(c.num_attention_heads > 0 ? c.key_heads() * c.head_size() : 0);
  ForwardFlops forward{.linear = layers * 2 * tokens * (2 * h * (h + keys) + mlp * h * f),
                       .others = layers * 2 * scores * tokens * length * h + tokens * adapters};
  forward.linear += layers * (scores - 2) * 4 * static_cast<double>(places_of(c).count) * h * h;
  forward.linear += 2 * tokens * static_cast<double>(c.conv_kernel_size) * h * h;
  if (has_projection(c)) forward.linear += 2 * tokens * h * embedded;
  const auto labels = static_cast<double>(c.num_labels());
  const BertDialect& dialect = dialect_of(c.kind);
  const double pooled = dialect.pooled.empty() ? 0 : h * h, transformed = dialect.heads.norm.empty() ? 0 : h * h;
  if (step.kind.head == Head::kClassifier)
    forward.others += 2 * (static_cast<double>(step.plan.micro_batch) * h * labels +
                           (c.late_pooling ? tokens : static_cast<double>(step.plan.micro_batch)) * pooled);
  if (step.kind.head == Head::kTokens) forward.others += 2 * tokens * (transformed + h * labels);
  if (step.kind.head == Head::kMaskedTokens)
    forward.linear += 2 * tokens * static_cast<double>(masked_width(c)) *
                      ((dialect.masked.dense.empty() ? 0 : h) + static_cast<double>(c.vocab_size));
  if (step.kind.head == Head::kPretraining) {
    const auto batch = static_cast<double>(step.plan.micro_batch),
               masked = batch * static_cast<double>(step.kind.predictions);
    forward.linear += 2 * masked * (h * h + h * static_cast<double>(c.vocab_size)) + 2 * batch * (h * h + 2 * h);
  }
  return step_flops(forward, step.kind.training, c.lora) * static_cast<double>(step.plan.micro_batches);
}

}  // namespace workloads
