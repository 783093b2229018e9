#include "trnsim/plans/answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/profile/stats.h"
#include "base/progress.h"
#include "base/text.h"
#include "base/units.h"
#include "hw/trace.h"
#include "trnsim/plans/accuracy.h"
#include "trnsim/project/compiler_memory.h"

namespace trnsim {
namespace {

/// Without samples or steps a job is one step, and the question is its time.
bool is_one_step(const Projection& p) { return p.steps <= 1 || p.generation; }

std::string dollars_text(const Projection& p, const std::optional<double>& dollars) {
  if (dollars && is_one_step(p)) return fmt::format("${:.2g}", *dollars);
  return dollars ? fmt::format("${:.3f}", *dollars) : "no price";
}

std::string duration_text(const Projection& p, double seconds) {
  return is_one_step(p) ? fmt::format("{:.1f} ms", seconds * 1e3) : base::clock_text(seconds);
}

std::string generation_text(const Job& job, const Projection& p) {
  const GenerationTime& g = *p.generation;
  const std::string tokens = base::counted(job.generation->new_tokens, "token");
  const std::string sequences = base::counted(job.step.plan.micro_batch, "sequence");
  const std::string next = g.tokens.empty() ? "" : fmt::format(", a further one {:.2f} ms", g.per_token * 1e3);
  return fmt::format("{:.1f} ms for {} of {}: the first {:.2f} ms{}; {:.1f} tokens/s with stack {}", p.time.total * 1e3,
                     tokens, sequences, g.first_token * 1e3, next, p.samples * p.steps / p.time.total, job.stack);
}

std::string time_text(const Job& job, const Projection& p) {
  if (p.generation) return generation_text(job, p);
  if (is_one_step(p))
    return fmt::format("{:.1f} ms a step, {:.2f} samples/s with stack {}", p.time.step * 1e3, p.samples_per_second(),
                       job.stack);
  return fmt::format("{} (h:mm:ss): {} of {:.1f} ms, {:.2f} samples/s with stack {}", base::clock_text(p.time.total),
                     base::counted(static_cast<std::int64_t>(p.steps), "step"), p.time.step * 1e3,
                     p.samples_per_second(), job.stack);
}

std::string cost_text(const Job& job, const Projection& p) {
  if (!p.dollars) return fmt::format("no price of {} is published", job.machine.name);
  if (p.generation)
    return fmt::format("${:.3g} for a million tokens: {} x {} at ${:.2f} an hour",
                       *p.dollars * 1e6 / (p.samples * p.steps), job.instances(), job.machine.name, *p.price_per_hour);
  if (is_one_step(p))
    return fmt::format(
        "${:.3g} for a thousand samples: {} x {} at ${:.2f} an hour; compiling takes {} more, once, while no cache has "
        "the programs",
        *p.price_per_hour * static_cast<double>(job.instances()) / 3.6 / p.samples_per_second(), job.instances(),
        job.machine.name, *p.price_per_hour, base::clock_text(p.time.compile));
  return fmt::format(
      "${:.3f}: {} x {} at ${:.2f} an hour; compiling takes {} more, once, while no cache has the programs", *p.dollars,
      job.instances(), job.machine.name, *p.price_per_hour, base::clock_text(p.time.compile));
}

std::string memory_text(const Memory& memory) {
  const auto bytes = [](std::uint64_t n) { return base::readable(static_cast<double>(n), base::Dimension::kBytes); };
  return fmt::format("{}: {} of {} on the core that needs most", verdict(memory), bytes(memory.total),
                     bytes(memory.capacity));
}

std::string bound_text(const Projection& p) {
  const analysis::Resource busiest = analysis::resources(p.stage().device()).front();
  const std::string mfu =
      fmt::format("MFU of the job {:.1f} %, of the device's time {:.1f} %", 100 * p.job_mfu, 100 * p.mfu);
  if (p.time.host_step > p.time.device_step)
    return fmt::format("the host: {:.1f} ms of a step{}, the device {:.1f} ms; {}", p.time.host_step * 1e3,
                       p.time.overlapped ? ", the device works beside it" : "", p.time.device_step * 1e3, mfu);
  return fmt::format("the device: {:.1f} ms of a step, the host {:.1f} ms{}; busiest is {} ({:.1f} %); {}",
                     p.time.device_step * 1e3, p.time.host_step * 1e3, p.time.overlapped ? " beside it" : "",
                     busiest.name, busiest.busy, mfu);
}

/// The time with the mean error of published jobs of its kind and size on both sides: predicted = published * (1 +-
/// error).
std::string confidence_text(const Job& job, const Projection& p) {
  const Likely range = likely(job);
  std::string out = fmt::format(
      "likely {} to {}: {} of {} published jobs of {} lay within {:.1f} % of their prediction, each without its "
      "publisher's part in the fit (docs/accuracy.md)",
      duration_text(p, p.time.total / (1 + range.error)),
      duration_text(p, p.time.total / (1 - std::min(0.9, range.error))), range.inside, range.rows, range.regime,
      100 * (range.like ? range.error : range.error / 2));
  if (!range.published.empty()) return out + fmt::format("; this very job was published ({})", range.published);
  return range.like ? out : out + "; none of them is like this job, so the range is twice as wide";
}

std::string faster_text(const Change& change) {
  constexpr double kSame = 0.005;
  if (std::abs(change.speed_up) < kSame) return "as many samples/s";
  return fmt::format("{:+.0f} % samples/s", 100 * change.speed_up);
}

}  // namespace

std::string settings_text(const Change& change) {
  std::string out;
  for (const auto& [name, value] : change.settings)
    out += fmt::format("{}`{}` {}", out.empty() ? "" : " ", name, value);
  return out;
}

Answer answer(const Job& job, const Projection& p, const std::optional<std::vector<Change>>& changes,
              const std::vector<std::string>& typed) {
  Answer out{time_text(job, p), cost_text(job, p), memory_text(p.memory), bound_text(p), confidence_text(job, p), {}};
  if (!changes) return out;
  for (const Change& c : *changes)
    out.changes.push_back({.text = fmt::format("{}: {}, {} and {} ({})", settings_text(c), faster_text(c),
                                               duration_text(p, c.seconds), dollars_text(p, c.dollars), c.text),
                           .command = command_with(typed, c, FolderIs::kTaken),
                           .replaces = replaces(typed, c)});
  if (changes->empty())
    out.changes.push_back({.text = "nothing that was projected is faster for the same dollars, or cheaper"});
  return out;
}

}  // namespace trnsim
