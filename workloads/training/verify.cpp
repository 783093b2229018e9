#include "workloads/training/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "runtime/step/session.h"
#include "workloads/checkpoints/json_file.h"
#include "workloads/checkpoints/safetensors.h"
#include "workloads/models/config.h"
#include "workloads/models/decoder/decoder_weights.h"
#include "workloads/models/weights.h"
#include "workloads/step/pipeline.h"
#include "workloads/training/recipe.h"
#include "workloads/training/verify_model.h"

namespace workloads {
namespace {

using base::Error;
using base::Fault;

/// How far a tensor is off, and how large it should be: root sum of squares, and the largest element.
struct Distance {
  std::string name;
  double difference = 0, norm = 0, largest = 0, magnitude = 0;
  double least = kSmallest;  // part of the largest one of its kind that its size counts as at least
};

void require_same_size(const std::string& name, std::span<const float> got, std::span<const float> want) {
  if (got.size() == want.size()) return;
  throw Error{Fault::kData, name, fmt::format("has {} elements, expected {}", got.size(), want.size()),
              "export the expected tensors from the same model"};
}

Distance compare(std::string name, std::span<const float> got, std::span<const float> want) {
  require_same_size(name, got, want);
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

std::unique_ptr<VerifyModel> model_of(const std::filesystem::path& folder, const VerifyOptions& options,
                                      const Recipe& recipe) {
  const bool labels = read_config(folder)->task() == Task::kClassification;
  return labels ? verify_classifier(folder, options, recipe) : verify_decoder(folder, options, recipe);
}

class Verifier {
 public:
  Verifier(const std::filesystem::path& folder, const VerifyOptions& options)
      : options_{options},
        recipe_{read_recipe(folder / "expected.json")},
        expected_{Checkpoint::open(folder / "expected.safetensors")},
        model_{model_of(folder, options, recipe_)} {}

  VerifyReport run() {
    const Step& spec = model_->spec();
    const std::vector<runtime::Compiled> stages = compiled();
    isa::Programs programs;
    for (const runtime::Compiled& one : stages) programs.push_back(&one.program);
    const auto device = options_.make_device();
    device->load_all(programs);
    runtime::Session session{*device, programs};
    model_->write_weights(session);
    const auto steps = static_cast<std::int64_t>(recipe_.losses.size());
    for (std::int64_t step = 0; step < steps; ++step) {
      model_->write_batch(session, step);
      const std::vector<float> hyper = hyper_values(
          spec.optimizer, scheduled_rate(recipe_.schedule, recipe_.rate, step, recipe_.warmup, steps), step + 1);
      for (std::uint32_t r = 0; r < spec.plan.world(); ++r) session.write(r, "hyper", hyper);
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
  std::vector<runtime::Compiled> compiled() {
    std::vector<runtime::Compiled> out;
    for (runtime::Graph& graph : model_->graphs()) {
      const Step spec = of_stage(model_->spec(), static_cast<std::int64_t>(out.size()));
      out.push_back(runtime::compile(std::move(graph), options_.target,
                                     compile_options(spec, "verify", options_.passes, options_.cache)));
      const isa::Program& program = out.back().program;
      for (const isa::Block& block : program.blocks) report_.instructions += block.instrs.size();
      report_.matmul_flops += program.model_flops;
    }
    return out;
  }

  void read_loss(runtime::Session& session, std::int64_t step) {
    const double loss = model_->loss(session), want = recipe_.losses[static_cast<std::size_t>(step)];
    report_.losses.push_back(loss);
    report_.expected_losses.push_back(want);
    report_.loss_errors.push_back(std::abs(loss - want) / std::max(std::abs(want), 1e-6));
    if (recipe_.bf16_losses.empty()) return;
    const double bf16 = recipe_.bf16_losses[static_cast<std::size_t>(step)];
    report_.bf16_spread =
        std::max(report_.bf16_spread.value_or(0), std::abs(bf16 - want) / std::max(std::abs(want), 1e-6));
  }

  std::vector<WeightSpec> trained() const {
    std::vector<WeightSpec> out = model_->tensors();
    std::erase_if(out, [](const WeightSpec& w) { return w.frozen; });
    return out;
  }

  void read_first(runtime::Session& session) {
    report_.logits = relative({compare("logits", model_->logits(session), expected_.floats("step0.logits"))}).front();
    for (const WeightSpec& w : trained()) add_distances(gradients_, session, w, true);
    report_.gradients = relative(gradients_);
  }

  /// AdamW divides a gradient by its own size: one that has only rounding in it moves its weight by noise.
  std::vector<Distance> final_weights(runtime::Session& session) {
    double norm = 0;
    for (const Distance& g : gradients_) norm = std::max(norm, g.norm);
    std::vector<Distance> out;
    for (const WeightSpec& w : trained()) add_distances(out, session, w, false);
    for (std::size_t i = 0; i < out.size(); ++i)
      if (gradients_[i].norm < kSmallest * kSmallest * norm) out[i].least = 1;
    return out;
  }

  /// Of a tensor, or of query, key and value that the file has in one: a key's bias has no gradient, the others do.
  void add_distances(std::vector<Distance>& out, runtime::Session& session, const WeightSpec& w, bool gradient) {
    Weights got, want;
    std::vector<float>& values = got.values[w.name] = model_->whole(session, w, gradient);
    const double scale = gradient ? model_->spec().plan.numerics.loss_scale : 1;
    for (float& x : values) x = static_cast<float>(x / scale);
    want.values[w.name] = stored_values(expected_, gradient ? "step0.grad." : "final.", w);
    require_same_size(w.name, values, want.values[w.name]);
    for (const WeightSpec& part : device_parts(w))
      out.push_back(compare(part.name, device_values(got, part), device_values(want, part)));
  }

  const VerifyOptions& options_;
  Recipe recipe_;
  Checkpoint expected_;
  std::unique_ptr<VerifyModel> model_;
  std::vector<Distance> gradients_;  // of the first step
  VerifyReport report_;
};

const TensorError& worst(const std::vector<TensorError>& errors) {
  base::ensure(!errors.empty(), "verify", "nothing was compared");
  return *std::ranges::max_element(errors, {},
                                   [](const TensorError& e) { return std::isnan(e.norm) ? HUGE_VAL : e.norm; });
}

}  // namespace

Step verify_spec(const VerifyOptions& o, std::int64_t samples, std::int64_t length, const Recipe& recipe) {
  const std::int64_t parts = static_cast<std::int64_t>(o.plan.data) * o.plan.micro_batches;
  Step step{.plan = o.plan, .kind = {.length = length, .smoothing = recipe.smoothing}, .optimizer = recipe.optimizer};
  if (o.max_grad_norm > 0) step.optimizer.max_grad_norm = o.max_grad_norm;
  step.plan.micro_batch = (samples + parts - 1) / parts;
  return step;
}

VerifyBatches open_batches(const std::filesystem::path& folder, const ImageShape* image) {
  Checkpoint tensors = Checkpoint::open(folder / "batches.safetensors");
  if (image) {
    const Shape labels = tensors.info("step0.labels").shape;
    return {std::move(tensors), labels.at(0), 1 + image->patches()};
  }
  const Shape shape = tensors.info("step0.input_ids").shape;
  if (shape.size() != 2)
    throw Error{Fault::kData, "step0.input_ids", "must have two axes, is " + to_string(shape),
                "export [batch, length]"};
  return {std::move(tensors), shape[0], shape[1]};
}

double VerifyModel::loss(runtime::Session& session) const {
  double loss = 0;
  for (std::uint32_t d = 0; d < spec_.plan.data; ++d)
    for (std::int64_t m = 0; m < spec_.plan.micro_batches; ++m)
      for (const float x : session.read(spec_.plan.rank_of(d, 0, spec_.plan.last_stage()), micro_name("loss", m)))
        loss += x;
  return loss;
}

std::vector<float> VerifyModel::logits(runtime::Session& session) const {
  std::vector<float> out;
  for (std::uint32_t d = 0; d < spec_.plan.data; ++d)
    for (std::int64_t m = 0; m < spec_.plan.micro_batches; ++m) {
      const std::vector<float> part = logits_of(session, d, m);
      const auto row = static_cast<std::ptrdiff_t>(part.size()) / spec_.plan.micro_batch;
      for (std::int64_t r = 0; r < spec_.plan.micro_batch; ++r)
        if (sample(d, m, r) >= 0) out.insert(out.end(), part.begin() + r * row, part.begin() + (r + 1) * row);
    }
  return out;
}

void VerifyModel::require_batch(const std::string& name, std::size_t elements, std::int64_t of_sample) const {
  if (elements != static_cast<std::size_t>(samples_ * of_sample))
    throw Error{Fault::kData, name, "has another shape than that of step 0", "export equal batches"};
}

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
