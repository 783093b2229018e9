#include "workloads/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "runtime/session.h"
#include "workloads/bert_graph.h"
#include "workloads/config.h"
#include "workloads/safetensors.h"
#include "workloads/weights.h"

namespace workloads {
namespace {

using base::Error;
using base::Fault;

/// What expected.json says of the run.
struct Recipe {
  std::vector<double> losses;
  double rate = 0, weight_decay = 0;
};

/// The number after `word` in "AdamW betas 0.9 0.999 eps 1e-8 weight_decay 0.01 on all".
double number_after(const std::string& text, const std::string& word, const std::filesystem::path& file) {
  const std::size_t at = text.find(word);
  if (at == std::string::npos)
    throw Error{Fault::kData, file.string() + ": optimizer", fmt::format("has no '{}'", word),
                "write for example \"AdamW betas 0.9 0.999 eps 1e-8 weight_decay 0.01 on all\""};
  return std::stod(text.substr(at + word.size()));
}

Recipe read_recipe(const std::filesystem::path& file) try {
  const auto json = nlohmann::json::parse(base::read_file(file));
  return {.losses = json.at("loss_per_step").get<std::vector<double>>(),
          .rate = json.at("lr").get<double>(),
          .weight_decay = number_after(json.at("optimizer").get<std::string>(), "weight_decay", file)};
} catch (const nlohmann::json::exception& e) {
  throw Error{Fault::kData, file.string(), e.what(), "export it as tests/golden/README.md says"};
} catch (const std::logic_error& e) {
  throw Error{Fault::kData, file.string(), "has no number where one must be",
              "export it as tests/golden/README.md says"};
}

/// How far a tensor is off, and how large it should be: root sum of squares, and the largest element.
struct Distance {
  std::string name;
  double difference = 0, norm = 0, largest = 0, magnitude = 0;
  double least = kSmallest;  // part of the largest one of its kind that its size counts as at least
};

Distance compare(std::string name, std::span<const float> got, std::span<const float> want) {
  if (got.size() != want.size())
    throw Error{Fault::kData, name, fmt::format("has {} elements, expected {}", got.size(), want.size()),
                "export the expected tensors from the same model"};
  Distance out{.name = std::move(name)};
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double d = static_cast<double>(got[i]) - want[i];
    out.difference += d * d;
    out.norm += static_cast<double>(want[i]) * want[i];
    out.largest = std::isnan(d) || std::isnan(out.largest) ? NAN : std::max(out.largest, std::abs(d));
    out.magnitude = std::max(out.magnitude, std::abs(static_cast<double>(want[i])));
  }
  out.difference = std::sqrt(out.difference), out.norm = std::sqrt(out.norm);
  return out;
}

/// Errors relative to the expected sizes.
std::vector<TensorError> relative(const std::vector<Distance>& kind) {
  double norm = 1e-30, magnitude = 1e-30;
  for (const Distance& d : kind) norm = std::max(norm, d.norm), magnitude = std::max(magnitude, d.magnitude);
  std::vector<TensorError> out;
  for (const Distance& d : kind)
    out.push_back({d.name, d.difference / std::max(d.norm, d.least * norm),
                   d.largest / std::max(d.magnitude, d.least * magnitude)});
  return out;
}

class Verifier {
 public:
  Verifier(const std::filesystem::path& folder, const VerifyOptions& options)
      : options_{options},
        config_{read_bert_config(folder)},
        recipe_{read_recipe(folder / "expected.json")},
        batches_{Checkpoint::open(folder / "batches.safetensors")},
        expected_{Checkpoint::open(folder / "expected.safetensors")},
        weights_{load_weights(folder, config_, options.seed)} {
    const Shape shape = batches_.info("step0.input_ids").shape;
    if (shape.size() != 2)
      throw Error{Fault::kData, "step0.input_ids", "must have two axes, is " + to_string(shape),
                  "export [batch, length]"};
    samples_ = shape[0];
    spec_ = {.batch = (samples_ + options.ranks - 1) / options.ranks,
             .length = shape[1],
             .micro_batches = 1,
             .ranks = options.ranks,
             .training = true,
             .head = Head::kClassifier,
             .numerics = options.numerics,
             .weight_decay = recipe_.weight_decay};
    config_.hidden_dropout_prob = config_.attention_probs_dropout_prob = 0;
    config_.classifier_dropout = 0;
  }

  VerifyReport run() {
    runtime::CompileOptions compile{.name = "verify", .ranks = options_.ranks, .groups = {}, .passes = options_.passes};
    std::vector<std::uint32_t> all;
    for (std::uint32_t r = 0; r < options_.ranks; ++r) all.push_back(r);
    if (options_.ranks > 1) compile.groups = {{all}};
    const runtime::Compiled compiled = runtime::compile(bert_graph(config_, spec_), compile);
    const auto device = options_.make_device();
    device->load(compiled.program);
    runtime::Session session{*device, compiled.program};
    for (const WeightSpec& w : bert_weights(config_))
      for (std::uint32_t r = 0; r < options_.ranks; ++r) session.write(r, w.name, weights_.for_device(w));
    for (const isa::Block& block : compiled.program.blocks) report_.instructions += block.instrs.size();
    report_.matmul_flops = compiled.program.model_flops;
    const auto steps = static_cast<std::int64_t>(recipe_.losses.size());
    for (std::int64_t step = 0; step < steps; ++step) {
      write_batch(session, step, steps);
      device->run(
          {.seed = options_.seed, .step = static_cast<std::uint32_t>(step), .host_threads = options_.host_threads});
      read_loss(session, step);
      if (step == 0) read_first(session);
      if (options_.progress) options_.progress(step + 1, steps);
    }
    report_.weights = relative(final_weights(session));
    return std::move(report_);
  }

 private:
  /// Sample `row` of rank r, or -1 for a row that only fills the batch.
  std::int64_t sample(std::uint32_t r, std::int64_t row) const {
    const std::int64_t s = static_cast<std::int64_t>(r) * spec_.batch + row;
    return s < samples_ ? s : -1;
  }

  void write_batch(runtime::Session& session, std::int64_t step, std::int64_t steps) {
    const std::string prefix = fmt::format("step{}.", step);
    const auto ids = batches_.integers(prefix + "input_ids"), mask = batches_.integers(prefix + "attention_mask");
    const auto labels = batches_.integers(prefix + "labels");
    std::vector<std::int64_t> types(ids.size());
    if (batches_.contains(prefix + "token_type_ids")) types = batches_.integers(prefix + "token_type_ids");
    if (ids.size() != static_cast<std::size_t>(samples_ * spec_.length) || mask.size() != ids.size() ||
        labels.size() != static_cast<std::size_t>(samples_))
      throw Error{Fault::kData, prefix + "input_ids", "has another shape than that of step 0", "export equal batches"};
    const double rate = scheduled_rate("linear", recipe_.rate, step, 0, steps);
    for (std::uint32_t r = 0; r < options_.ranks; ++r) {
      std::vector<std::int32_t> my_ids, my_types, my_labels;
      std::vector<float> my_mask, my_weights;
      for (std::int64_t row = 0; row < spec_.batch; ++row) {
        const std::int64_t s = sample(r, row);
        my_labels.push_back(s < 0 ? 0 : static_cast<std::int32_t>(labels[static_cast<std::size_t>(s)]));
        my_weights.push_back(s < 0 ? 0.0F : 1.0F / static_cast<float>(samples_));
        for (std::int64_t c = 0; c < spec_.length; ++c) {
          const auto at = static_cast<std::size_t>(std::max<std::int64_t>(s, 0) * spec_.length + c);
          my_ids.push_back(static_cast<std::int32_t>(ids[at]));
          my_types.push_back(static_cast<std::int32_t>(types[at]));
          my_mask.push_back(static_cast<float>(mask[at]));
        }
      }
      session.write(r, micro_name("input_ids", 0), my_ids);
      session.write(r, micro_name("token_type_ids", 0), my_types);
      session.write(r, micro_name("attention_mask", 0), my_mask);
      session.write(r, micro_name("labels", 0), my_labels);
      session.write(r, micro_name("weights", 0), my_weights);
      session.write(r, "hyper", hyper_values(spec_, rate, step + 1));
    }
  }

  void read_loss(runtime::Session& session, std::int64_t step) {
    double loss = 0;
    for (std::uint32_t r = 0; r < options_.ranks; ++r)
      for (const float x : session.read(r, micro_name("loss", 0))) loss += x;
    const double want = recipe_.losses[static_cast<std::size_t>(step)];
    report_.losses.push_back(loss);
    report_.expected_losses.push_back(want);
    report_.loss_errors.push_back(std::abs(loss - want) / std::max(std::abs(want), 1e-6));
  }

  void read_first(runtime::Session& session) {
    std::vector<float> logits;
    for (std::uint32_t r = 0; r < options_.ranks; ++r) {
      const std::vector<float> part = session.read(r, micro_name("logits", 0));
      for (std::int64_t row = 0; row < spec_.batch; ++row)
        if (sample(r, row) >= 0)
          logits.insert(logits.end(), part.begin() + row * config_.num_labels(),
                        part.begin() + (row + 1) * config_.num_labels());
    }
    report_.logits = relative({compare("logits", logits, expected_.floats("step0.logits"))}).front();
    for (const WeightSpec& w : bert_weights(config_))
      gradients_.push_back(distance(session, w, "grad." + w.name, "step0.grad." + w.name));
    report_.gradients = relative(gradients_);
  }

  /// AdamW divides a gradient by its own size: one that has only rounding in it moves its weight by noise.
  std::vector<Distance> final_weights(runtime::Session& session) {
    double norm = 0;
    for (const Distance& g : gradients_) norm = std::max(norm, g.norm);
    std::vector<Distance> out;
    for (const WeightSpec& w : bert_weights(config_)) {
      out.push_back(distance(session, w, w.name, "final." + w.name));
      if (gradients_[out.size() - 1].norm < kSmallest * kSmallest * norm) out.back().least = 1;
    }
    return out;
  }

  Distance distance(runtime::Session& session, const WeightSpec& w, const std::string& tensor,
                    const std::string& expected) {
    std::vector<float> got = session.read(0, tensor);
    const double scale = tensor.starts_with("grad.") ? spec_.numerics.loss_scale : 1;
    for (float& x : got) x = static_cast<float>(x / scale);
    Weights on_host = weights_;
    on_host.set_from_device(w, got);
    return compare(w.name, on_host.values.at(w.name), expected_.floats(expected));
  }

  const VerifyOptions& options_;
  BertConfig config_;
  Recipe recipe_;
  Checkpoint batches_, expected_;
  Weights weights_;
  std::int64_t samples_ = 0;
  StepSpec spec_;
  std::vector<Distance> gradients_;  // of the first step
  VerifyReport report_;
};

const TensorError& worst(const std::vector<TensorError>& errors) {
  base::ensure(!errors.empty(), "verify", "nothing was compared");
  return *std::ranges::max_element(errors, {},
                                   [](const TensorError& e) { return std::isnan(e.norm) ? HUGE_VAL : e.norm; });
}

}  // namespace

double VerifyReport::worst_loss() const {
  double out = 0;
  for (const double e : loss_errors) out = std::isnan(e) ? e : std::max(out, e);
  return out;
}
const TensorError& VerifyReport::worst_gradient() const { return worst(gradients); }
const TensorError& VerifyReport::worst_weight() const { return worst(weights); }

VerifyReport verify(const std::filesystem::path& folder, const VerifyOptions& options) {
  return Verifier{folder, options}.run();
}

}  // namespace workloads
