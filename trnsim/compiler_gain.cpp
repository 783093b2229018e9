#include "trnsim/compiler_gain.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/units.h"
#include "trnsim/largest_batch.h"

namespace trnsim {
namespace {

CompilerCase compiler_case(std::string name, const ProjectedJob& job, double rate, const hw::MachineParams& machine) {
  return {std::move(name), job, project(job, machine), rate};
}

}  // namespace

CompilerGain compiler_gain(const ProjectedJob& job, double learning_rate, const hw::MachineParams& machine) {
  ProjectedJob bare = job, same = job, large = job;
  for (const runtime::PassInfo& pass : runtime::kPasses) bare.passes.*pass.flag = false;
  bare.eval_each_epoch = same.eval_each_epoch = false;  // what is compared is training alone
  bare.trace = same.trace = {};
  large.step.plan.micro_batch =
      std::max(job.step.plan.micro_batch, largest_batch(step_target(job, machine), job.passes));
  const double scaled = learning_rate * static_cast<double>(large.step.plan.micro_batch) /
                        static_cast<double>(std::max<std::int64_t>(1, job.step.plan.micro_batch));
  CompilerGain gain;
  gain.cases.push_back(compiler_case("without passes", bare, learning_rate, machine));
  gain.cases.push_back(compiler_case("with passes", same, learning_rate, machine));
  gain.cases.push_back(compiler_case("with passes, largest batch", large, scaled, machine));
  return gain;
}

base::Table compiler_table(const CompilerGain& gain) {
  base::Table table{{{"compiler", ""},
                     {"batch", "batch per core"},
                     {"learning_rate", "learning rate"},
                     {"device_step_seconds", "device ms"},
                     {"step_seconds", "step ms"},
                     {"samples_per_second", "samples/s"},
                     {"speed_up_percent", "speed-up %"},
                     {"hbm_bytes", "HBM per core"}}};
  const double first = gain.cases.front().samples_per_second();
  for (const CompilerCase& c : gain.cases) {
    const analysis::JobTime& time = c.projection.time;
    const double rate = c.samples_per_second(), faster = 100 * (rate / first - 1);
    const auto bytes = static_cast<double>(c.projection.compiled.memory.total);
    table.add_row({c.name, c.job.step.plan.micro_batch,
                   base::Cell{c.learning_rate, fmt::format("{:.2e}", c.learning_rate)},
                   base::Cell{time.device_step, fmt::format("{:.1f}", time.device_step * 1e3)},
                   base::Cell{time.step, fmt::format("{:.1f}", time.step * 1e3)},
                   base::Cell{rate, fmt::format("{:.2f}", rate)}, base::Cell{faster, fmt::format("{:+.1f}", faster)},
                   base::Cell{bytes, base::readable(bytes, base::Dimension::kBytes)}});
  }
  return table;
}

}  // namespace trnsim
