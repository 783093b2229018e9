#include "workloads/training/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "runtime/graph/graph.h"
#include "runtime/step/session.h"
#include "workloads/checkpoints/model_files.h"
#include "workloads/checkpoints/safetensors.h"
#include "workloads/models/decoder/decoder_weights.h"
#include "workloads/models/weights.h"
#include "workloads/step/pipeline.h"
#include "workloads/training/host_io.h"
#include "workloads/training/programs.h"
#include "workloads/training/recipe.h"
#include "workloads/training/sharded_state.h"
#include "workloads/training/verify_batches.h"

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

LoadedModel trained_model(const std::filesystem::path& folder, const VerifyOptions& options) {
  auto [model, weights] = load_model(folder, options.seed, saved_head(folder));
  model = model->without_dropout();
  require_plan(*model, options.plan);
  return {std::move(model), std::move(weights)};
}

Step step_of(const VerifyOptions& o, const Model& model, const VerifyBatches& batches, const Recipe& recipe) {
  const std::int64_t parts = static_cast<std::int64_t>(o.plan.data) * o.plan.micro_batches;
  Step step{.plan = o.plan,
            .kind = {.length = batches.length(), .keep_logits = true, .smoothing = recipe.smoothing},
            .optimizer = recipe.optimizer};
  if (model.pairs()) step.kind.target_length = batches.labels();
  if (model.head() != Head::kNone) step.kind.head = model.head();
  if (o.max_grad_norm > 0) step.optimizer.max_grad_norm = o.max_grad_norm;
  step.plan.micro_batch = (batches.samples() + parts - 1) / parts;
  return step;
}

class Verifier {
 public:
  Verifier(const std::filesystem::path& folder, const VerifyOptions& options)
      : options_{options},
        recipe_{read_recipe(folder / "expected.json")},
        expected_{Checkpoint::open(folder / "expected.safetensors")},
        trained_{trained_model(folder, options)},
        batches_{folder, trained_.config},
        step_{step_of(options, *trained_.config, batches_, recipe_)},
        stages_{stage_graphs(*trained_.config, step_)},
        state_{trained_.config, step_, stages_.zero},
        io_{trained_.config, step_} {}

  VerifyReport run() {
    const std::vector<runtime::Compiled> stages = compiled();
    isa::Programs programs;
    for (const runtime::Compiled& one : stages) programs.push_back(&one.program);
    const auto device = options_.make_device();
    device->load_all(programs);
    runtime::Session session{*device, programs};
    state_.write_weights(session, trained_.weights);
    io_.write_tables(session);
    const auto steps = static_cast<std::int64_t>(recipe_.losses.size());
    const std::int64_t taken = options_.steps > 0 ? std::min(options_.steps, steps) : steps;
    for (std::int64_t step = 0; step < taken; ++step) {
      write_batches(session, step);
      io_.write_hyper(
          session, hyper_values(step_.optimizer,
                                scheduled_rate(recipe_.schedule, recipe_.rate, step, recipe_.warmup, steps), step + 1));
      device->run(
          {.seed = options_.seed, .step = static_cast<std::uint32_t>(step), .host_threads = options_.host_threads});
      read_loss(session, step);
      if (step == 0) read_first(session);
      if (options_.progress) options_.progress(step + 1, taken);
    }
    if (taken == steps) report_.weights = relative(final_weights(session));
    return std::move(report_);
  }

 private:
  std::vector<runtime::Compiled> compiled() {
    std::vector<runtime::Compiled> out;
    for (runtime::Graph& graph : stages_.graphs) {
      const Step step = of_stage(step_, static_cast<std::int64_t>(out.size()));
      out.push_back(runtime::compile(std::move(graph), options_.target,
                                     compile_options(step, "verify", options_.passes, options_.cache)));
      const isa::Program& program = out.back().program;
      for (const isa::Block& block : program.blocks) report_.instructions += block.instrs.size();
      report_.matmul_flops += program.model_flops;
    }
    return out;
  }

  /// The samples of micro-batch m of data-parallel rank d, -1 for a row that only fills the batch.
  std::vector<std::int64_t> rows_of(std::uint32_t d, std::int64_t m) const {
    std::vector<std::int64_t> rows;
    for (std::int64_t row = 0; row < step_.plan.micro_batch; ++row) {
      const std::int64_t s =
          (static_cast<std::int64_t>(d) * step_.plan.micro_batches + m) * step_.plan.micro_batch + row;
      rows.push_back(s < batches_.samples() ? s : -1);
    }
    return rows;
  }

  void write_batches(runtime::Session& session, std::int64_t step) const {
    for (std::uint32_t d = 0; d < step_.plan.data; ++d)
      for (std::int64_t m = 0; m < step_.plan.micro_batches; ++m)
        io_.write_batch(session, d, m, batches_.batch(step, rows_of(d, m)));
  }

  /// The logits of all samples, in their order.
  std::vector<float> logits(runtime::Session& session) const {
    std::vector<float> out;
    for (std::uint32_t d = 0; d < step_.plan.data; ++d)
      for (std::int64_t m = 0; m < step_.plan.micro_batches; ++m) {
        const std::vector<float> part = io_.logits(session, d, m);
        const auto width = static_cast<std::ptrdiff_t>(part.size()) / step_.plan.micro_batch;
        auto row = part.begin();
        for (const std::int64_t sample : rows_of(d, m)) {
          if (sample >= 0) out.insert(out.end(), row, row + width);
          row += width;
        }
      }
    return out;
  }

  void read_loss(runtime::Session& session, std::int64_t step) {
    const double loss = io_.loss(session), want = recipe_.losses[static_cast<std::size_t>(step)];
    report_.losses.push_back(loss);
    report_.expected_losses.push_back(want);
    report_.loss_errors.push_back(std::abs(loss - want) / std::max(std::abs(want), 1e-6));
    if (recipe_.bf16_losses.empty()) return;
    const double bf16 = recipe_.bf16_losses[static_cast<std::size_t>(step)];
    report_.bf16_spread =
        std::max(report_.bf16_spread.value_or(0), std::abs(bf16 - want) / std::max(std::abs(want), 1e-6));
  }

  std::vector<WeightSpec> trained() const {
    std::vector<WeightSpec> out = state_.tensors();
    std::erase_if(out, [](const WeightSpec& w) { return w.frozen; });
    return out;
  }

  void read_first(runtime::Session& session) {
    report_.logits = relative({compare("logits", logits(session), expected_.floats("step0.logits"))}).front();
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

  /// The distances of a tensor, or of query, key and value that the file has in one: a key's bias has no gradient, the
  /// others do.
  void add_distances(std::vector<Distance>& out, runtime::Session& session, const WeightSpec& w, bool gradient) {
    Weights got, want;
    std::vector<float>& values = got.values[w.name] = state_.read(session, w, gradient);
    const double scale = gradient ? step_.plan.numerics.loss_scale : 1;
    for (float& x : values) x = static_cast<float>(x / scale);
    want.values[w.name] = stored_values(expected_, gradient ? "step0.grad." : "final.", w);
    require_same_size(w.name, values, want.values[w.name]);
    for (const WeightSpec& part : device_parts(w))
      out.push_back(compare(part.name, device_values(got, part), device_values(want, part)));
  }

  const VerifyOptions& options_;
  Recipe recipe_;
  Checkpoint expected_;
  const LoadedModel trained_;
  const VerifyBatches batches_;
  const Step step_;
  StageGraphs stages_;
  const ShardedState state_;
  const HostIo io_;
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
