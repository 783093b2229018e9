#include "trnsim/plans/answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/cost/prices.h"
#include "analysis/figures/figures.h"
#include "analysis/profile/stats.h"
#include "base/progress.h"
#include "base/text.h"
#include "base/units.h"
#include "hw/trace.h"
#include "trnsim/generate/generation_time.h"
#include "trnsim/plans/accuracy.h"
#include "trnsim/project/compiler_memory.h"

namespace trnsim {
namespace {

/// Without samples or steps a job is one step, and the question is its time.
bool is_one_step(const Projection& p) { return p.steps <= 1 || p.generation; }

/// To 0.1 % or better: "18.78 us", "310.12 ms", "23.41 s", "8:10.6", "2:20:04".
std::string exact(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.5g} us", seconds * 1e6);
  if (seconds < 1) return fmt::format("{:.5g} ms", seconds * 1e3);
  if (seconds < 60) return fmt::format("{:.5g} s", seconds);
  if (seconds >= 3600) return base::clock_text(seconds);
  const double tenths = std::round(seconds * 10);
  return fmt::format("{}:{:04.1f}", static_cast<int>(tenths / 600), std::fmod(tenths, 600) / 10);
}

/// Requests that are only read are counted, and the tokens that others write.
const char* amounts_of(const Job& job) { return job.generation->new_tokens == 0 ? "requests" : "tokens"; }

std::string dollars_text(const Job& job, const Projection& p, const Change& change) {
  if (!change.dollars) return "no price";
  if (p.generation)
    return fmt::format("{} for a million {}", base::money_text(*change.dollars * 1e6 / change.amount), amounts_of(job));
  if (is_one_step(p)) return base::money_text(*change.dollars * 1e3 / change.amount) + " for a thousand samples";
  return base::money_text(*change.dollars);
}

std::string duration_text(const Projection& p, double seconds) {
  if (p.generation) return exact(seconds);
  return is_one_step(p) ? exact(seconds) + " a step" : base::duration_text(seconds);
}

/// The unit of a time that exact() writes with colons.
const char* clock_unit(double seconds) { return seconds < 60 ? "" : seconds < 3600 ? " (m:ss)" : " (h:mm:ss)"; }

/// The steps, and what is not a step: together the time of the job.
std::string parts_text(const Projection& p) {
  std::string out =
      fmt::format("{} of {}", base::counted(static_cast<std::int64_t>(p.steps), "step"), exact(p.time.step));
  for (const auto& [part, text] : {std::pair{"start", "start"},
                                   {"evaluation", "evaluations"},
                                   {"checkpoints", "checkpoints"},
                                   {"logging", "reading the loss"}})
    if (const double seconds = p.time.part(part); seconds > 0) out += fmt::format(" + {} {}", text, exact(seconds));
  return out;
}

std::string generation_text(const Job& job, const Projection& p) {
  const GenerationTime& g = *p.generation;
  if (job.generation->new_tokens == 0)
    return fmt::format("{} for a batch of {} on each core; {:.1f} requests/s with stack {}", exact(p.time.step),
                       job.step.plan.micro_batch, job.sequences_per_step() / p.time.step, job.stack);
  const std::string tokens = base::counted(job.generation->new_tokens, "token");
  const std::string sequences = base::counted(job.step.plan.micro_batch, "sequence");
  const std::string next = g.tokens.empty() ? "" : ", a further one " + exact(g.per_token);
  return fmt::format("{}{} for {} of {}: the first {}{}; {:.1f} tokens/s with stack {}", exact(p.time.total),
                     clock_unit(p.time.total), tokens, sequences, exact(g.first_token), next,
                     p.samples * p.steps / p.time.total, job.stack);
}

/// Nothing says how many samples a program takes: its steps are counted.
const char* counted_by(const Job& job) { return job.model->is_given() ? "steps" : "samples"; }

/// By the second.
double rate(const Job& job, const Projection& p) {
  return p.samples_per_second() / (job.model->is_given() ? job.sequences_per_step() : 1);
}

std::string rate_text(const Job& job, const Projection& p) {
  return fmt::format("{:.2f} {}/s", rate(job, p), counted_by(job));
}

std::string time_text(const Job& job, const Projection& p) {
  if (p.generation) return generation_text(job, p);
  if (is_one_step(p)) return fmt::format("{} a step, {}", exact(p.time.step), rate_text(job, p));
  return fmt::format("{}{} = {}; {}", exact(p.time.total), clock_unit(p.time.total), parts_text(p), rate_text(job, p));
}

std::string cost_text(const Job& job, const Projection& p) {
  if (!p.dollars) return fmt::format("no price of {} is published", job.machine.name);
  if (p.generation)
    return fmt::format("{} for a million {}: {} x {} at ${:.2f} an hour{}",
                       base::money_text(*p.dollars * 1e6 / (p.samples * p.steps)), amounts_of(job), job.instances(),
                       job.machine.name, *p.price_per_hour,
                       copies_of(job) > 1 ? fmt::format(", with {:.0f} copies at work", copies_of(job)) : "");
  if (is_one_step(p))
    return fmt::format(
        "{} for a thousand {}: {} x {} at ${:.2f} an hour; a first run without cached programs takes {} more to "
        "compile",
        base::money_text(*p.price_per_hour * static_cast<double>(job.instances()) / 3.6 / rate(job, p)),
        counted_by(job), job.instances(), job.machine.name, *p.price_per_hour, base::clock_text(p.time.compile));
  return fmt::format("{}: {} x {} at ${:.2f} an hour; a first run without cached programs takes {} more to compile",
                     base::money_text(*p.dollars), job.instances(), job.machine.name, *p.price_per_hour,
                     base::clock_text(p.time.compile));
}

std::string memory_text(const Memory& memory) {
  const auto bytes = [](std::uint64_t n) { return base::readable(static_cast<double>(n), base::Dimension::kBytes); };
  return fmt::format("{}: the fullest core needs {} of its {}", verdict(memory), bytes(memory.total),
                     bytes(memory.capacity));
}

analysis::Binding binding(const Projection& p) {
  return analysis::binding_of(p.time.step, p.time.host_step, p.time.device_step,
                              analysis::resources(p.stage().device()));
}

std::string bound_text(const Projection& p) {
  const analysis::Binding most = binding(p);
  constexpr double kNone = 1e-6;  // of a step: sums of doubles differ by less, without an overlap
  const double both = p.time.host_step + p.time.device_step - p.time.step;
  const bool host = most.name == "host";
  return fmt::format(
      "{}: without its work a step would be up to {:.0f} % shorter. Of {} the host works {}, the device {}"
      "{}; MFU of the job {:.1f} %, of the device's time {:.1f} %",
      host ? "the host" : "the device's " + most.name, 100 * most.share, exact(p.time.step), exact(p.time.host_step),
      exact(p.time.device_step),
      both > kNone * p.time.step ? fmt::format(", {} of it at the same time", exact(both)) : "", 100 * p.job_mfu,
      100 * p.mfu);
}

std::string interrupted_text(const Job& job, const Projection& p) {
  if (!p.time.interrupted) return "";
  const analysis::InterruptedTime& cut = *p.time.interrupted;
  const auto steps = [](double n) { return base::counted(static_cast<std::int64_t>(n), "step"); };
  const std::string bought = analysis::bought_text(analysis::bought_when_interrupted(job.purchase));
  const std::string own =
      cut.as_saved
          ? fmt::format("; every {}, as asked, {}", steps(std::min(static_cast<double>(job.sizes.save.every), p.steps)),
                        exact(*cut.as_saved))
          : "";
  return fmt::format(
      "every {} on average: at best {} and {}, by a checkpoint every {} ({} each){}; without the wait for new "
      "instances",
      exact(job.sizes.save.interrupted_every), exact(cut.seconds),
      cut.dollars ? base::money_text(*cut.dollars) + " " + bought : "no price " + bought, steps(cut.save_steps),
      exact(cut.checkpoint), own);
}

std::string faster_text(const Change& change) {
  constexpr double kSame = 0.005;
  if (std::abs(change.speed_up) < kSame) return "the same samples/s";
  constexpr double kTimes = 2;  // from here on a factor is easier to read
  if (change.speed_up >= kTimes) return fmt::format("{:.3g} times the samples/s", 1 + change.speed_up);
  return fmt::format("{:+.0f} % samples/s", 100 * change.speed_up);
}

}  // namespace

std::string confidence_text(const Job& job, const Projection& p) {
  const Likely range = likely(job);
  const auto time = is_one_step(p) ? exact : base::duration_text;
  std::string out = fmt::format(
      "likely {} to {}: {} of {} published jobs ({}) were within {:.1f} % of their prediction (docs/accuracy.md)",
      time(p.time.total / (1 + range.error)), time(p.time.total / (1 - std::min(0.9, range.error))), range.inside,
      range.rows, range.regime, 100 * (range.like ? range.error : range.error / 2));
  if (!range.published.empty()) return out + fmt::format("; row {} there has the same size and cores", range.published);
  return range.like ? out : out + "; none of them is like this job, so the range is twice as wide";
}

std::string settings_text(const Change& change) {
  std::string out;
  for (const auto& [name, value] : change.settings)
    out += fmt::format("{}`{}` {}", out.empty() ? "" : " ", name, value);
  return out;
}

Answer answer(const Job& job, const Projection& p, const std::optional<std::vector<Change>>& changes,
              const std::vector<std::string>& typed) {
  Answer out{time_text(job, p),       cost_text(job, p),        memory_text(p.memory), bound_text(p),
             confidence_text(job, p), interrupted_text(job, p), binding(p).name,       {}};
  if (!changes) return out;
  for (const Change& c : *changes)
    out.changes.push_back({.text = fmt::format("{}: {}, {} and {} ({})", settings_text(c), faster_text(c),
                                               duration_text(p, c.seconds), dollars_text(job, p, c), c.text),
                           .command = command_with(typed, c, FolderIs::kTaken),
                           .replaces = replaces(typed, c)});
  if (changes->empty())
    out.changes.push_back({.text = "nothing that was projected is faster for the same dollars, or cheaper"});
  return out;
}

}  // namespace trnsim
