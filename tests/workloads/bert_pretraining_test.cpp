// BERT's pre-training step: both losses against plain C++, gradients against differences, and the step in two graphs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>

#include "isa/check.h"
#include "runtime/compiler/compile.h"
#include "runtime/step/session.h"
#include "tests/target.h"
#include "tests/workloads/models.h"
#include "tests/workloads/support.h"
#include "workloads/models/bert/bert_graph.h"
#include "workloads/step/optimizer_step.h"
#include "workloads/training/sharded_state.h"

namespace {

using namespace workloads_test;
using namespace workloads;

constexpr std::int64_t kPretrainVocabulary = 5000;  // more than a piece of the loss

BertConfig pretraining_config() {
  BertConfig config = read_bert_config(golden("bert_tiny"));
  config.hidden_dropout_prob = config.attention_probs_dropout_prob = 0;
  config.vocab_size = kPretrainVocabulary;
  config.head = Head::kPretraining;
  return config;
}

Step pretraining_spec() {
  return {.plan = {.micro_batch = 3, .numerics = runtime::numerics("fp32")},
          .kind = {.length = 32, .head = Head::kPretraining, .predictions = 5},
          .optimizer = {.name = "lamb", .weight_decay = 0.01, .max_grad_norm = 1}};
}

/// The host's inputs of a micro-batch.
struct PretrainBatch {
  std::vector<std::int32_t> ids, types, positions, masked_labels, next_labels;
  std::vector<float> mask, masked_weights, next_weights;

  PretrainBatch(const Step& spec, std::uint64_t seed) {
    std::uint64_t state = seed;
    const auto below = [&](std::int64_t n) {
      state = state * 6364136223846793005ULL + 1442695040888963407ULL;
      return static_cast<std::int32_t>((state >> 33) % static_cast<std::uint64_t>(n));
    };
    for (std::int64_t s = 0; s < spec.plan.micro_batch; ++s) {
      for (std::int64_t t = 0; t < spec.kind.length; ++t) {
        ids.push_back(below(kPretrainVocabulary));
        types.push_back(t > spec.kind.length / 2);
        mask.push_back(t < spec.kind.length - s ? 1.0F : 0.0F);
      }
      for (std::int64_t p = 0; p < spec.kind.predictions; ++p) {
        positions.push_back(static_cast<std::int32_t>(s * spec.kind.length) + below(spec.kind.length - s));
        masked_labels.push_back(below(kPretrainVocabulary));
        masked_weights.push_back(p == 0 ? 0.0F : 0.1F);  // not every sequence has all of its predictions
      }
      next_labels.push_back(below(2));
      next_weights.push_back(1.0F / 3);
    }
  }
};

class Pretrained {
 public:
  Pretrained(const BertConfig& config, const Step& spec)
      : config_{config},
        spec_{spec},
        compiled_{runtime::compile(bert_graph(config, spec).graph, trn1_target(),
                                   {.name = "pretraining", .ranks = spec.plan.data})},
        device_{isa::make_numeric_device()} {
    isa::check(compiled_.program, trn1_target());
    device_->load(compiled_.program);
    const Weights weights = initial_weights(config_, 3);
    for (const WeightSpec& w : bert_weights(config_))
      if (session().has(w.name)) session().write(0, w.name, weights.for_device(w));
  }

  void give(std::int64_t m, const PretrainBatch& batch) {
    const auto write = [&](const char* name, const auto& values) {
      if (session().has(micro_name(name, m))) session().write(0, micro_name(name, m), values);
    };
    write("input_ids", batch.ids), write("token_type_ids", batch.types), write("attention_mask", batch.mask);
    write("masked_positions", batch.positions), write("masked_labels", batch.masked_labels);
    write("masked_weights", batch.masked_weights);
    write("next_labels", batch.next_labels), write("next_weights", batch.next_weights);
  }
  void run() {
    if (session().has("hyper")) session().write(0, "hyper", hyper_values(spec_.optimizer, 1e-2, 1));
    device_->run({.seed = 5, .step = 0, .host_threads = 2});
  }
  double loss(const char* name) {
    const std::vector<float> rows = session().read(0, micro_name(name, 0));
    return std::accumulate(rows.begin(), rows.end(), 0.0);
  }
  double loss() { return loss("masked_loss") + loss("next_loss"); }
  runtime::Session session() { return {*device_, compiled_.program}; }

 private:
  const BertConfig& config_;
  const Step& spec_;
  runtime::Compiled compiled_;
  std::unique_ptr<isa::Device> device_;
};

using Row = std::vector<double>;

Row affine(const Weights& weights, const std::string& name, const std::string& bias, const Row& x) {
  const std::vector<float>&w = weights.values.at(name), &b = weights.values.at(bias);
  Row y(b.begin(), b.end());
  for (std::size_t o = 0; o < y.size(); ++o)
    for (std::size_t i = 0; i < x.size(); ++i) y[o] += static_cast<double>(w[o * x.size() + i]) * x[i];
  return y;
}

double entropy(const Row& logits, std::int32_t label) {
  double sum = 0;
  for (const double x : logits) sum += std::exp(x);
  return std::log(sum) - logits[static_cast<std::size_t>(label)];
}

Row transformed(const Weights& weights, const Row& x) {
  const std::string name = "cls.predictions.transform.";
  Row y = affine(weights, name + "dense.weight", name + "dense.bias", x);
  double mean = 0, variance = 0;
  for (double& v : y) v = v * 0.5 * (1 + std::erf(v / std::sqrt(2.0))), mean += v / static_cast<double>(y.size());
  for (const double v : y) variance += (v - mean) * (v - mean) / static_cast<double>(y.size());
  const auto &gain = weights.values.at(name + "LayerNorm.weight"), &bias = weights.values.at(name + "LayerNorm.bias");
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = (y[i] - mean) / std::sqrt(variance + 1e-12) * gain[i] + bias[i];
  return y;
}

// BertForPreTraining's heads in double precision on the encoder's own last hidden states; fp32 against it: 1e-5.
TEST(BertPretraining, LossesAreThoseOfPlainArithmetic) {
  const BertConfig config = pretraining_config();
  Step spec = pretraining_spec(), encoder = spec;
  spec.kind.training = encoder.kind.training = false, encoder.kind.head = Head::kNone;
  const PretrainBatch batch{spec, 1};
  Pretrained whole{config, spec}, trunk{config, encoder};
  for (Pretrained* p : {&whole, &trunk}) p->give(0, batch), p->run();
  const std::vector<float> hidden = trunk.session().read(0, micro_name("hidden", 0));
  const Weights weights = initial_weights(config, 3);
  const auto row = [&](std::int64_t r) {
    const auto begin = hidden.begin() + r * config.hidden_size;
    return Row(begin, begin + config.hidden_size);
  };
  double masked = 0, next = 0;
  for (std::size_t p = 0; p < batch.positions.size(); ++p) {
    const Row logits = affine(weights, "bert.embeddings.word_embeddings.weight", "cls.predictions.bias",
                              transformed(weights, row(batch.positions[p])));
    masked += batch.masked_weights[p] * entropy(logits, batch.masked_labels[p]);
  }
  for (std::int64_t s = 0; s < spec.plan.micro_batch; ++s) {
    Row pooled = affine(weights, "bert.pooler.dense.weight", "bert.pooler.dense.bias", row(s * spec.kind.length));
    for (double& v : pooled) v = std::tanh(v);
    const Row logits = affine(weights, "cls.seq_relationship.weight", "cls.seq_relationship.bias", pooled);
    next += entropy(logits, batch.next_labels[static_cast<std::size_t>(s)]) / 3;
  }
  EXPECT_NEAR(whole.loss("masked_loss") / masked, 1, 1e-5);
  EXPECT_NEAR(whole.loss("next_loss") / next, 1, 1e-5);
}

// Along a gradient the loss changes by its norm. Central differences: the error falls with the square of the step.
TEST(BertPretraining, GradientsAreThoseOfDifferences) {
  const BertConfig config = pretraining_config();
  Step training = pretraining_spec(), forward = training;
  forward.kind.training = false, training.kind.part = Part::kMicroStep;
  const PretrainBatch batch{training, 2};
  Pretrained gradients{config, training}, losses{config, forward};
  gradients.give(0, batch), gradients.run();
  losses.give(0, batch);
  for (const char* name :
       {"bert.embeddings.word_embeddings.weight", "cls.predictions.bias", "cls.predictions.transform.dense.weight",
        "cls.predictions.transform.dense.bias", "cls.predictions.transform.LayerNorm.weight",
        "cls.seq_relationship.weight", "cls.seq_relationship.bias", "bert.pooler.dense.weight",
        "bert.encoder.layer.0.attention.self.value.weight"}) {
    const std::vector<float> gradient = gradients.session().read(0, std::string{"sum."} + name);
    double norm = 0;
    for (const float g : gradient) norm += static_cast<double>(g) * g;
    norm = std::sqrt(norm);
    const std::vector<float> weights = losses.session().read(0, name);
    constexpr double kStep = 0.05;
    const auto loss = [&](double sign) {
      std::vector<float> moved = weights;
      for (std::size_t i = 0; i < moved.size(); ++i)
        moved[i] = static_cast<float>(moved[i] + sign * kStep * gradient[i] / norm);
      losses.session().write(0, name, moved);
      losses.run();
      return losses.loss();
    };
    const double change = (loss(1) - loss(-1)) / (2 * kStep);
    losses.session().write(0, name, weights);
    ASSERT_GT(norm, 1e-4) << name;
    EXPECT_NEAR(change / norm, 1, 0.02) << name;
  }
}

double apart(const std::vector<float>& a, const std::vector<float>& b) {
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference += (static_cast<double>(a[i]) - b[i]) * (static_cast<double>(a[i]) - b[i]);
    norm += static_cast<double>(b[i]) * b[i];
  }
  return std::sqrt(difference / std::max(norm, 1e-300));
}

// A graph for each micro-batch and one for the update do what one graph for all does.
TEST(BertPretraining, TwoGraphsMakeTheStepOfOne) {
  const BertConfig config = pretraining_config();
  Step all = pretraining_spec(), micro = all, update = all;
  all.plan.micro_batches = 2;
  micro.kind.part = Part::kMicroStep, update.kind.part = Part::kUpdate;
  Pretrained one{config, all}, steps{config, micro}, last{config, update};
  for (std::int64_t m = 0; m < 2; ++m) {
    const PretrainBatch batch{all, static_cast<std::uint64_t>(m) + 7};
    one.give(m, batch), steps.give(0, batch), steps.run();
  }
  one.run();
  for (const WeightSpec& w : bert_weights(config))
    last.session().write(0, "grad." + w.name, steps.session().read(0, "sum." + w.name));
  last.run();
  const Weights before = initial_weights(config, 3);
  for (const WeightSpec& w : bert_weights(config)) {
    if (w.name.ends_with("key.bias")) continue;  // its gradient is zero in theory: rounding only
    EXPECT_LT(apart(steps.session().read(0, "sum." + w.name), one.session().read(0, "grad." + w.name)), 1e-5) << w.name;
    EXPECT_LT(apart(last.session().read(0, w.name), one.session().read(0, w.name)), 1e-4) << w.name;
    EXPECT_GT(apart(last.session().read(0, w.name), before.for_device(w)), 1e-4) << w.name << " has not moved";
  }
}

/// The step on ranks that share tensors and vocabulary, or on one.
class Shared {
 public:
  Shared(const BertConfig& config, const Step& spec)
      : spec_{spec},
        compiled_{runtime::compile(bert_graph(config, spec).graph, trn1_target(),
                                   {.name = "pretraining", .ranks = spec.plan.world()})},
        state_{config, spec, {{}}},
        device_{isa::make_numeric_device()} {
    device_->load(compiled_.program);
    runtime::Session s = session();
    state_.write_weights(s, initial_weights(config, 3));
  }

  void run(const PretrainBatch& batch) {
    runtime::Session s = session();
    for (std::uint32_t rank = 0; rank < spec_.plan.world(); ++rank) {
      const auto write = [&](const char* name, const auto& values) { s.write(rank, micro_name(name, 0), values); };
      std::vector<float> mine;
      for (const std::int32_t id : batch.ids) mine.push_back(here(id, rank) >= 0 ? 1.0F : 0.0F);
      if (spec_.plan.tensor > 1) write("vocabulary", mine);
      write("input_ids", counted(batch.ids, rank, 0)), write("token_type_ids", batch.types);
      write("attention_mask", batch.mask), write("masked_positions", batch.positions);
      write("masked_labels", counted(batch.masked_labels, rank, -1)), write("masked_weights", batch.masked_weights);
      write("next_labels", batch.next_labels), write("next_weights", batch.next_weights);
      s.write(rank, "hyper", hyper_values(spec_.optimizer, 1e-2, 1));
    }
    device_->run({.seed = 5, .step = 0, .host_threads = 2});
  }
  std::vector<float> read(const WeightSpec& w, bool gradient) {
    runtime::Session s = session();
    return state_.read(s, w, gradient);
  }

 private:
  runtime::Session session() { return {*device_, compiled_.program}; }
  /// The token in the rank's part of the vocabulary; -1: in another's.
  std::int32_t here(std::int32_t id, std::uint32_t rank) const {
    const auto part = static_cast<std::int32_t>(kPretrainVocabulary / spec_.plan.tensor);
    return id / part == static_cast<std::int32_t>(rank) ? id % part : -1;
  }
  std::vector<std::int32_t> counted(std::vector<std::int32_t> ids, std::uint32_t rank, std::int32_t other) const {
    for (std::int32_t& id : ids) id = std::max(here(id, rank), other);
    return ids;
  }

  const Step& spec_;
  runtime::Compiled compiled_;
  ShardedState state_;
  std::unique_ptr<isa::Device> device_;
};

// With LAMB, whose ratios are of whole tensors, and a limit of the norm over all of them.
TEST(BertPretraining, TwoRanksMakeTheStepOfOne) {
  const BertConfig config = pretraining_config();
  const Step alone = pretraining_spec();
  Step two = alone;
  two.plan.tensor = 2, two.plan.recompute = runtime::Recompute::kFull;
  const PretrainBatch batch{alone, 3};
  Shared one{config, alone}, both{config, two};
  one.run(batch), both.run(batch);
  for (const WeightSpec& w : bert_weights(config)) {
    if (w.name.ends_with("key.bias")) continue;  // as above
    EXPECT_LT(apart(both.read(w, true), one.read(w, true)), 1e-5) << w.name;
    EXPECT_LT(apart(both.read(w, false), one.read(w, false)), 1e-5) << w.name;
  }
}

// The textbook's work, the decoder's on masked tokens alone.
TEST(BertPretraining, FlopsAreTheTextbooksWithBothHeads) {
  BertConfig config = workloads_test::bert_preset("bert-large-uncased");
  config.num_hidden_layers = 2, config.head = Head::kPretraining;
  Step spec = pretraining_spec();
  spec.plan.micro_batch = 4, spec.kind.length = 128, spec.kind.predictions = 20,
  spec.plan.numerics = runtime::numerics("bf16+sr");
  const runtime::Compiled compiled =
      runtime::compile(bert_graph(config, spec).graph, trn1_target(), {.name = "pretraining"});
  EXPECT_NEAR(compiled.program.model_flops / bert_flops(config, spec), 1, 0.02);
}

TEST(BertPretraining, RefusesAnOptimizerThatIsNotKnown) {
  const BertConfig config = pretraining_config();
  Step spec = pretraining_spec();
  spec.optimizer.name = "lam";
  EXPECT_TRUE(fails(base::Fault::kUsage, [&] { bert_graph(config, spec).graph; }, {"optimizer", "lam", "lamb"}));
}

}  // namespace
