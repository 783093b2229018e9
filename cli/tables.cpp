#include "cli/tables.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/stats.h"
#include "base/progress.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/options.h"
#include "trnsim/compile_cost.h"
#include "trnsim/compiler_memory.h"

namespace cli {
namespace {

using base::Cell;
using base::Table;
using trnsim::Projection;

std::string show(const std::string& name, double value) {
  if (name == "train_runtime" || name == "compile" || name == "end_to_end") return base::clock_text(value);
  if (name.starts_with("dollars")) return fmt::format("${:.3f}", value);
  if (name == "core_utilisation") return fmt::format("{:.0f} %", 100 * value);
  return fmt::format("{:.2f}", value);
}

std::string show(const workloads::Published& figure) {
  if (figure.low == figure.high) return show(figure.name, figure.value);
  return fmt::format("{} to {}", show(figure.name, figure.low), show(figure.name, figure.high));
}

std::string bytes_text(double n) { return base::readable(n, base::Dimension::kBytes); }

}  // namespace

std::string dollars(const std::optional<double>& value, int digits) {
  return value ? fmt::format("${:.{}f}", *value, digits) : "no price";
}

std::string setting_of(const trnsim::Job& job) {
  return fmt::format("{} x {}, {}, {}, {}, stack {}", job.instances(), job.machine.name,
                     base::counted(job.cores(), "core"), describe(job),
                     flags_in(trnsim::describe(job.step.plan.numerics)), job.stack);
}

std::string plan_flags(const trnsim::Job& job) {
  std::string out;
  for (const auto& [name, value] : plan_settings(job))
    out += fmt::format("{}--{}{}{}", out.empty() ? "" : " ", name, value.empty() ? "" : " ", value);
  return out;
}

std::string answer_text(const trnsim::Answer& answer) {
  std::string out = fmt::format("time     {}\ndollars  {}\nmemory   {}\nbound by {}\n", answer.time, answer.dollars,
                                answer.memory, answer.bound);
  for (std::size_t i = 0; i < answer.changes.size(); ++i)
    out += fmt::format("{}{}\n", i == 0 ? "try      " : "         ", flags_in(answer.changes[i]));
  return out;
}

Table job_table(const trnsim::RunResult& run) {
  Table table{{{"figure", ""}, {"predicted", ""}, {"published", ""}, {"error", "error %"}, {"source", ""}}};
  for (const workloads::Published& published : run.published) {
    const auto value = trnsim::predicted(published.name, run);
    if (!value) {
      table.add_row({published.name, "not trained", show(published), "", published.source});
      continue;
    }
    const double error = published.error(*value);
    const bool inside = published.low < published.high && error == 0;
    table.add_row({published.name, show(published.name, *value), show(published),
                   inside ? "inside" : fmt::format("{:+.1f}", 100 * error), published.source});
  }
  for (const char* name : {"train_samples_per_second", "train_runtime", "dollars"}) {
    const auto known = [&](const workloads::Published& published) { return published.name == name; };
    if (std::ranges::any_of(run.published, known)) continue;
    const auto value = trnsim::predicted(name, run);
    table.add_row({name, value ? show(name, *value) : "no price", "", "", ""});
  }
  return table;
}

Table figure_table(const trnsim::Job& job, const Projection& p) {
  Table table{{{"figure", ""}, {"value", ""}, {"unit", ""}}};
  const auto row = [&](const char* name, std::string value, const char* unit) {
    table.add_row({name, std::move(value), unit});
  };
  const double per_step = p.time.total / p.steps;
  row("parameters", fmt::format("{:.3f}", job.parameters() / 1e9), "1e9");
  if (job.model->lora())
    row("trained_parameters",
        fmt::format("{:.2f}", static_cast<double>(workloads::trained_count(job.model->weights())) / 1e6), "1e6");
  row("cores", fmt::format("{}", job.cores()), "");
  row("sequences_per_step", fmt::format("{:.0f}", job.sequences_per_step()), "sequences");
  row("tokens_per_step", fmt::format("{:.0f}", job.tokens_per_step()), "tokens");
  row("model_flops_per_step", fmt::format("{:.4g}", p.model_flops / 1e12), "TFLOP");
  row("device_step", fmt::format("{:.4f}", p.time.device_step), "s");
  if (job.step.plan.pipeline > 1) row("pipeline_bubble", fmt::format("{:.4f}", p.bubble_seconds), "s");
  row("collectives_exposed", fmt::format("{:.4f}", hw::seconds(p.stage().device.collective_exposed)), "s per step");
  row("host_step", fmt::format("{:.4f}", p.time.host_step), "s");
  row("step", fmt::format("{:.4f}", p.time.step), "s");
  row("device_mfu", fmt::format("{:.1f}", 100 * p.mfu), "% of the device's time");
  row("job_mfu", fmt::format("{:.1f}", 100 * p.job_mfu), "% of the step's time");
  row("sequences_per_second", fmt::format("{:.2f}", job.sequences_per_step() / per_step), "1/s");
  row("tokens_per_second", fmt::format("{:.0f}", job.tokens_per_step() / per_step), "1/s");
  row("steps", fmt::format("{:.0f}", p.steps), "");
  row("train_runtime", base::clock_text(p.time.total), "h:mm:ss");
  const trnsim::CompileCost compile = compile_cost(job, p);
  row("start", fmt::format("{:.1f}", compile.warm_seconds), "s until cached graphs are loaded");
  row("compile", base::clock_text(compile.cold_seconds), "h:mm:ss, once, with an empty cache");
  row("compile_first", base::clock_text(compile.first_seconds), "h:mm:ss of it until the first step");
  row("end_to_end", base::clock_text(p.time.total + compile.cold_seconds), "h:mm:ss with an empty cache");
  row("largest_module", fmt::format("{:.0f}", compile.instructions),
      fmt::format("instructions; refused above {:.0f}", compile.limit).c_str());
  row("host_memory", fmt::format("{:.1f}", compile.host_bytes / 1e9),
      fmt::format("GB at least, of {:.0f}", compile.host_capacity / 1e9).c_str());
  row("dollars", p.dollars ? fmt::format("{:.2f}", *p.dollars) : "no price", "$");
  return table;
}

Table engine_table(const Projection& projection) {
  Table table{{{"engine", ""}, {"busy", "busy %"}, {"waiting", "waiting %"}, {"idle", "idle %"}, {"instructions", ""}}};
  for (const analysis::EngineShare& e : analysis::engine_shares(projection.stage().device))
    table.add_row({e.engine, fmt::format("{:.1f}", e.busy), fmt::format("{:.1f}", e.waited()),
                   fmt::format("{:.1f}", e.idle), fmt::format("{}", e.instructions)});
  return table;
}

Table time_table(const Projection& projection) {
  Table table{{{"part", "part of train_runtime"}, {"seconds", ""}, {"share", "%"}}};
  for (const analysis::TimeItem& part : projection.time.parts)
    table.add_row({part.name, fmt::format("{:.2f}", part.seconds),
                   fmt::format("{:.1f}", 100 * part.seconds / projection.time.total)});
  return table;
}

Table memory_table(const trnsim::Memory& memory) {
  Table table{{{"kind", "HBM per core"}, {"bytes", ""}}};
  for (const auto& [kind, n] : memory.by_kind) table.add_row({kind, bytes_text(static_cast<double>(n))});
  if (!memory.least) {
    for (const auto& [name, n] : compiler_parts(memory))
      table.add_row({fmt::format("compiler: {}", name), bytes_text(static_cast<double>(n))});
  }
  table.add_row({"total", bytes_text(static_cast<double>(memory.total))});
  if (memory.capacity == 0) return table;
  table.add_row({"capacity", bytes_text(static_cast<double>(memory.capacity))});
  if (!memory.least) table.add_row({"verdict", std::string{verdict(memory)}});
  return table;
}

Table compiler_table(const trnsim::CompilerGain& gain) {
  Table table{{{"compiler", ""},
               {"batch", "batch per core"},
               {"learning_rate", "learning rate"},
               {"device_step_seconds", "device ms"},
               {"step_seconds", "step ms"},
               {"samples_per_second", "samples/s"},
               {"speed_up_percent", "speed-up %"},
               {"hbm_bytes", "HBM per core"}}};
  const double first = gain.cases.front().samples_per_second();
  for (const trnsim::CompilerCase& c : gain.cases) {
    const analysis::JobTime& time = c.projection.time;
    const double rate = c.samples_per_second(), faster = 100 * (rate / first - 1);
    const auto bytes = static_cast<double>(c.projection.memory.total);
    table.add_row({c.name, c.job.step.plan.micro_batch, Cell{c.learning_rate, fmt::format("{:.2e}", c.learning_rate)},
                   Cell{time.device_step, fmt::format("{:.1f}", time.device_step * 1e3)},
                   Cell{time.step, fmt::format("{:.1f}", time.step * 1e3)}, Cell{rate, fmt::format("{:.2f}", rate)},
                   Cell{faster, fmt::format("{:+.1f}", faster)}, Cell{bytes, bytes_text(bytes)}});
  }
  return table;
}

}  // namespace cli
