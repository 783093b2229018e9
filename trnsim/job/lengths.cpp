#include "trnsim/job/lengths.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "workloads/tasks/task.h"

namespace trnsim {
namespace {

/// A job of one length, with any share of the samples.
Job with_length(const Job& job, const LengthShare& of) {
  Job one = job;
  one.sizes.lengths = {}, one.sizes.one_length = {};
  one.step.kind.length = of.length, one.passes = of.passes;
  return one;
}

double training_seconds(const analysis::JobTime& time) {
  double sum = 0;
  for (const analysis::TimeItem& part : time.parts)
    if (part.name != "start" && part.name != "evaluation") sum += part.seconds;
  return sum;
}

/// The plan for a job of one length whose device time is known.
LengthPlan plan_of(std::string name, const Job& job, const Projection& device, double tokens) {
  const Projection p = with_host_of(job, device);
  const double epochs = p.samples / job.sizes.samples;
  const double computed = job.sizes.samples * static_cast<double>(job.step.kind.length);
  return {.name = std::move(name),
          .programs = job.sizes.eval_samples > 0 ? 2.0 : 1.0,
          .compile_seconds = p.time.compile,
          .sequences = job.sizes.samples,
          .tokens = computed,
          .padding = std::max(0.0, 1 - tokens / computed),
          .epoch_seconds = training_seconds(p.time) / epochs};
}

/// Steps of one epoch, as the trainer deals them (workloads::Dealer). Its last one may be smaller, as the next epoch
/// begins with a step of its own; where each rank draws its own micro-batches, those that fill no step are left out.
double steps_of_epoch(const Job& job) {
  if (job.sizes.samples <= 0) return 1;
  constexpr double kRounding = 1e-9;  // a share of the samples is no exact number
  const double accumulated = static_cast<double>(job.step.plan.micro_batches);
  const double of_micro_batches = job.sizes.samples * accumulated / job.sequences_per_step();
  if (job.sizes.among_lengths || workloads::task_row(job.model->task()).dealing == workloads::Dealing::kByStep)
    return std::ceil(of_micro_batches / accumulated - kRounding);
  return std::max(1.0, std::floor(std::ceil(of_micro_batches - kRounding) / accumulated));
}

}  // namespace

double Job::mean_length() const {
  if (generation) return 1;
  if (sizes.lengths.empty()) return static_cast<double>(step.kind.length);
  double sum = 0;
  for (const LengthShare& one : sizes.lengths) sum += one.share * static_cast<double>(one.length);
  return sum;
}

double Job::evaluations() const {
  if (sizes.eval_samples <= 0) return 0;
  const double first = sizes.eval_on_start ? 1 : 0;
  if (sizes.max_steps >= 0 && sizes.samples > 0)
    return first + std::ceil(static_cast<double>(sizes.max_steps) / steps_of_epoch(*this));
  return first + std::ceil(sizes.epochs);
}

double Job::steps() const {
  if (generation && generation->new_tokens == 0) return std::max(1.0, std::ceil(sizes.samples / sequences_per_step()));
  if (generation) return static_cast<double>(generation->new_tokens);
  double steps = 0;  // per length those that its samples fill
  for (std::size_t i = 0; i < sizes.lengths.size(); ++i) steps += of_length(*this, i).steps();
  if (!sizes.lengths.empty()) return steps;
  if (sizes.max_steps >= 0) return static_cast<double>(sizes.max_steps);
  return std::max(1.0, std::ceil(steps_of_epoch(*this) * sizes.epochs));
}

double Job::samples() const {
  if (generation) return std::max(sequences_per_step(), generation->new_tokens == 0 ? sizes.samples : 0);
  if (sizes.max_steps >= 0 || sizes.samples <= 0) return steps() * sequences_per_step();
  return sizes.samples * sizes.epochs;
}

Job of_length(const Job& job, std::size_t i) {
  const LengthShare& of = job.sizes.lengths.at(i);
  Job one = with_length(job, of);
  one.sizes.among_lengths = true;
  one.sizes.samples = job.sizes.samples * of.share;
  one.sizes.eval_samples =
      static_cast<std::int64_t>(std::ceil(static_cast<double>(job.sizes.eval_samples) * of.share - 1e-9));
  if (job.sizes.max_steps < 0) return one;
  double before = 0;
  for (std::size_t k = 0; k < i; ++k) before += job.sizes.lengths[k].share;
  const auto steps = static_cast<double>(job.sizes.max_steps);
  one.sizes.max_steps = std::llround(steps * (before + of.share)) - std::llround(steps * before);
  return one;
}

Job of_one_length(const Job& job) { return with_length(job, job.sizes.one_length); }

std::vector<LengthPlan> length_plans(const Job& job, const Projection& p) {
  std::vector<LengthPlan> out;
  const Job one = of_one_length(job);
  const double tokens = job.sizes.samples * job.sizes.one_length.tokens;
  Projection device = p;
  device.lengths = {};
  if (p.one_length) {
    device.device_seconds = p.one_length->device_seconds, device.eval_seconds = p.one_length->eval_seconds;
    out.push_back(plan_of(fmt::format("one length of {}", one.step.kind.length), one, device, tokens));
  }
  LengthPlan buckets{.name = {},
                     .programs = static_cast<double>(p.lengths.size()) * (job.sizes.eval_samples > 0 ? 2 : 1),
                     .compile_seconds = p.time.compile,
                     .sequences = job.sizes.samples,
                     .tokens = job.sizes.samples * job.mean_length()};
  double real = 0;
  for (const LengthShare& of : job.sizes.lengths) {
    buckets.name += fmt::format("{}{}", buckets.name.empty() ? "lengths " : ", ", of.length);
    real += job.sizes.samples * of.share * of.tokens;
  }
  buckets.padding = 1 - real / buckets.tokens;
  buckets.epoch_seconds = training_seconds(p.time) * job.sizes.samples / p.samples;
  const bool several = p.lengths.size() > 1 || !p.one_length || p.lengths.back().length != p.one_length->length;
  if (several) out.push_back(std::move(buckets));
  if (!p.one_length) return out;
  Job packed = one;
  packed.sizes.samples = std::max(1.0, std::floor(tokens / static_cast<double>(one.step.kind.length)));
  packed.sizes.max_steps = -1;
  out.push_back(plan_of(fmt::format("packed to {}", one.step.kind.length), packed, device, tokens));
  return out;
}

analysis::LengthsFigures lengths_figures(const Job& job, const Projection& p) {
  analysis::LengthsFigures out;
  for (std::size_t i = 0; i < p.lengths.size(); ++i) {
    const LengthShare& of = job.sizes.lengths.at(i);
    const LengthTime& time = p.lengths[i];
    out.of.push_back({.length = of.length,
                      .samples = of.share * job.sizes.samples,
                      .padding_percent = 100 * (1 - of.tokens / static_cast<double>(of.length)),
                      .steps = time.steps,
                      .device_step_seconds = time.device_seconds,
                      .step_seconds = time.step_seconds,
                      .seconds = time.seconds});
  }
  for (const LengthPlan& plan : length_plans(job, p))
    out.plans.push_back({.name = plan.name,
                         .programs = plan.programs,
                         .compile_seconds = plan.compile_seconds,
                         .sequences = plan.sequences,
                         .tokens = plan.tokens,
                         .padding_percent = 100 * plan.padding,
                         .epoch_seconds = plan.epoch_seconds});
  return out;
}

}  // namespace trnsim
