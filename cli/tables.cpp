#include "cli/tables.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/profile/stats.h"
#include "base/progress.h"
#include "base/table_text.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/options.h"
#include "cli/output.h"
#include "trnsim/job/lengths.h"
#include "trnsim/project/compile_cost.h"
#include "trnsim/project/compiler_memory.h"

namespace cli {
namespace {

using base::Cell;
using base::Table;
using trnsim::Projection;

/// A number with its text.
Cell number(double value, std::string text) { return {value, std::move(text)}; }

std::string show(const std::string& name, double value) {
  if (name == "train_runtime" || name == "compile" || name == "end_to_end") return base::clock_text(value);
  if (name.starts_with("dollars")) return fmt::format("${:.3f}", value);
  if (name.ends_with("_runtime")) return base::readable(value, base::Dimension::kTime);
  if (name == "core_utilisation") return fmt::format("{:.0f} %", 100 * value);
  return fmt::format("{:.2f}", value);
}

std::string show(const workloads::Published& figure) {
  if (figure.low == figure.high) return show(figure.name, figure.value);
  return fmt::format("{} to {}", show(figure.name, figure.low), show(figure.name, figure.high));
}

Cell percent(double value) { return number(value, fmt::format("{:.1f}", value)); }

Cell shown(const std::string& name, double value) { return {value, show(name, value)}; }

Cell bytes_cell(double n) { return {n, base::readable(n, base::Dimension::kBytes)}; }

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

std::string paragraph(const std::string& text) {
  std::string out;
  for (const std::string& line : base::wrapped(text, columns())) out += line + "\n";
  return out;
}

namespace {

/// A command in lines that a terminal shows whole and a shell takes as one, `indent` columns from its edge.
std::string over_lines(std::string_view command, std::size_t indent) {
  const std::size_t width = columns() > 0 ? static_cast<std::size_t>(columns()) : command.size() + indent + 2;
  std::string out;
  std::size_t at = indent;
  while (!command.empty()) {
    const std::string_view part = command.substr(0, command.find(" --", 1));
    if (at > indent && at + part.size() + 2 > width) out += " \\\n" + std::string(indent - 1, ' '), at = indent;
    out += part, at += part.size();
    command.remove_prefix(part.size());
  }
  return out;
}

}  // namespace

std::string answer_text(const trnsim::Answer& answer) {
  constexpr std::size_t kNames = 9;
  constexpr std::string_view kInFull = "in full: ";
  std::string out;
  const auto line = [&](std::string name, const std::string& text) {
    const int width = columns() > 0 ? std::max(columns() - static_cast<int>(kNames), 20) : 0;
    for (const std::string& part : base::wrapped(text, width)) {
      out += fmt::format("{:<{}}{}\n", name, kNames, part);
      name.clear();
    }
  };
  line("time", answer.time);
  line("dollars", answer.dollars);
  line("memory", answer.memory);
  line("bound by", answer.bound);
  line("sure", answer.sure);
  for (std::size_t i = 0; i < answer.changes.size(); ++i) {
    const trnsim::Suggestion& change = answer.changes[i];
    line(i == 0 ? "try" : "", flags_in(change.text));
    if (change.replaces)
      out += fmt::format("{:{}}{}{}\n", "", kNames, kInFull, over_lines(change.command, kNames + kInFull.size()));
  }
  return out;
}

Table job_table(const trnsim::RunResult& run) {
  Table table{{{"figure", ""}, {"predicted", ""}, {"published", ""}, {"error", "error %"}, {"source", ""}}};
  for (const workloads::Published& published : run.published) {
    const auto value = trnsim::predicted(published.name, run);
    if (!value) {
      table.add_row({published.name, "not trained", Cell{published.value, show(published)}, "", published.source});
      continue;
    }
    const double error = 100 * published.error(*value);
    const bool inside = published.low < published.high && error == 0;
    table.add_row({published.name, shown(published.name, *value), Cell{published.value, show(published)},
                   number(error, inside ? "inside" : fmt::format("{:+.1f}", error)), published.source});
  }
  for (const char* name : {"train_samples_per_second", "train_runtime", "dollars"}) {
    const auto known = [&](const workloads::Published& published) { return published.name == name; };
    if (std::ranges::any_of(run.published, known)) continue;
    const auto value = trnsim::predicted(name, run);
    table.add_row({name, value ? shown(name, *value) : Cell{"no price"}, "", "", ""});
  }
  return table;
}

namespace {

Cell with(double value, int digits) { return number(value, fmt::format("{:.{}f}", value, digits)); }
Cell clock(double seconds) { return number(seconds, base::clock_text(seconds)); }
/// Of seconds that people read as a clock's time.
Cell seconds(std::string shown) {
  Cell unit{"s"};
  unit.text = std::move(shown);
  return unit;
}

void add_compilation(Table& table, const trnsim::Job& job, const Projection& p) {
  const auto row = [&](const char* name, Cell value, Cell unit) {
    table.add_row({name, std::move(value), std::move(unit)});
  };
  const trnsim::CompileCost compile = compile_cost(job, p);
  row("start", with(compile.warm_seconds, 1), "s until cached graphs are loaded");
  row("compile", clock(compile.cold_seconds), seconds("h:mm:ss, once, with an empty cache"));
  row("compile_first", clock(compile.first_seconds), seconds("h:mm:ss of it until the first step"));
  row("end_to_end_cold", clock(p.time.total + compile.cold_seconds), seconds("h:mm:ss with an empty cache"));
  row("largest_module", with(compile.instructions, 0),
      fmt::format("instructions; refused above {:.0f}", compile.limit));
  row("host_memory", with(compile.host_bytes / 1e9, 1),
      fmt::format("GB at least, of {:.0f}", compile.host_capacity / 1e9));
}

}  // namespace

Table figure_table(const trnsim::Job& job, const Projection& p) {
  Table table{{{"figure", ""}, {"value", ""}, {"unit", ""}}};
  const auto row = [&](const char* name, Cell value, Cell unit) {
    table.add_row({name, std::move(value), std::move(unit)});
  };
  const bool small = job.parameters() < 1e9;
  row("parameters", with(job.parameters() / (small ? 1e6 : 1e9), 3), small ? "1e6" : "1e9");
  if (job.model->lora())
    row("trained_parameters", with(static_cast<double>(workloads::trained_count(job.model->weights())) / 1e6, 2),
        "1e6");
  row("cores", job.cores(), "");
  row("sequences_per_step", with(job.sequences_per_step(), 0), "sequences");
  row("tokens_per_step", with(job.tokens_per_step(), 0), "tokens");
  row("model_flops_per_step", number(p.model_flops / 1e12, fmt::format("{:.4g}", p.model_flops / 1e12)), "TFLOP");
  row("device_step", with(p.time.device_step, 4), "s");
  if (job.step.plan.pipeline > 1) row("pipeline_bubble", with(p.bubble_seconds, 4), "s");
  row("collectives_exposed", with(hw::seconds(p.stage().device().collective_exposed), 4), "s per step");
  row("host_step", with(p.time.host_step, 4), "s");
  row("step", with(p.time.step, 4), "s");
  row("device_mfu", with(100 * p.mfu, 1), "% of the device's time");
  row("job_mfu", with(100 * p.job_mfu, 1), "% of the step's time");
  row("sequences_per_second", with(p.samples_per_second(), 2), "1/s");
  row("tokens_per_second", with(p.samples_per_second() * job.tokens_per_step() / job.sequences_per_step(), 0), "1/s");
  row("steps", with(p.steps, 0), "");
  if (p.time.total < 60)
    row("train_runtime", with(p.time.total, 2), "s");
  else
    row("train_runtime", clock(p.time.total), seconds("h:mm:ss"));
  add_compilation(table, job, p);
  row("dollars", p.dollars ? with(*p.dollars, *p.dollars < 0.1 ? 5 : 3) : Cell{"no price"}, "$");
  return table;
}

Table length_table(const trnsim::Job& job, const Projection& p) {
  Table table{{{"length", ""},
               {"samples", ""},
               {"padding_percent", "padding %"},
               {"steps", ""},
               {"device_step_seconds", "device ms"},
               {"step_seconds", "step ms"},
               {"share", "% of time"}}};
  for (std::size_t i = 0; i < p.lengths.size(); ++i) {
    const trnsim::LengthShare& of = job.sizes.lengths.at(i);
    const trnsim::LengthTime& time = p.lengths[i];
    table.add_row({of.length, with(of.share * job.sizes.samples, 0),
                   percent(100 * (1 - of.tokens / static_cast<double>(of.length))), with(time.steps, 0),
                   number(time.device_seconds, fmt::format("{:.1f}", time.device_seconds * 1e3)),
                   number(time.step_seconds, fmt::format("{:.1f}", time.step_seconds * 1e3)),
                   percent(100 * time.seconds / p.time.total)});
  }
  return table;
}

Table length_plan_table(const trnsim::Job& job, const Projection& p) {
  Table table{{{"name", "samples are brought to"},
               {"programs", ""},
               {"compile_seconds", "compile h:mm:ss"},
               {"sequences", "sequences"},
               {"tokens", "Mtokens"},
               {"padding_percent", "padding %"},
               {"epoch_seconds", "epoch h:mm:ss"}}};
  for (const trnsim::LengthPlan& plan : length_plans(job, p))
    table.add_row({plan.name, with(plan.programs, 0), clock(plan.compile_seconds), with(plan.sequences, 0),
                   number(plan.tokens, fmt::format("{:.3f}", plan.tokens / 1e6)), percent(100 * plan.padding),
                   clock(plan.epoch_seconds)});
  return table;
}

std::string lengths_text(const trnsim::Job& job, const Projection& p, base::Format form) {
  if (p.lengths.empty()) return "";
  return length_table(job, p).render(form, columns()) + "\n" + length_plan_table(job, p).render(form, columns()) + "\n";
}

Table engine_table(const Projection& projection) {
  Table table{{{"engine", ""}, {"busy", "busy %"}, {"waiting", "waiting %"}, {"idle", "idle %"}, {"instructions", ""}}};
  for (const analysis::EngineShare& e : analysis::engine_shares(projection.stage().device()))
    table.add_row({e.engine, percent(e.busy), percent(e.waited()), percent(e.idle), e.instructions});
  return table;
}

Table time_table(const Projection& projection) {
  Table table{{{"part", "part of train_runtime"}, {"seconds", ""}, {"share", "%"}}};
  for (const analysis::TimeItem& part : projection.time.parts)
    table.add_row({part.name, number(part.seconds, fmt::format("{:.2f}", part.seconds)),
                   percent(100 * part.seconds / projection.time.total)});
  return table;
}

Table memory_table(const trnsim::Memory& memory) {
  Table table{{{"kind", "HBM per core"}, {"bytes", ""}}};
  for (const auto& [kind, n] : memory.by_kind) table.add_row({kind, bytes_cell(static_cast<double>(n))});
  if (!memory.least) {
    for (const auto& [name, n] : compiler_parts(memory))
      table.add_row({fmt::format("compiler: {}", name), bytes_cell(static_cast<double>(n))});
  }
  table.add_row({"total", bytes_cell(static_cast<double>(memory.total))});
  if (memory.capacity == 0) return table;
  table.add_row({"capacity", bytes_cell(static_cast<double>(memory.capacity))});
  if (!memory.least) table.add_row({"verdict", std::string{verdict(memory)}});
  return table;
}

std::string gain_text(const trnsim::CompilerGain& gain, const workloads::Published& published) {
  const double bare = gain.cases.at(0).samples_per_second(), passes = gain.cases.at(1).samples_per_second();
  return fmt::format(
      "speed-up {:.1f} % over no pass at all: {:.1f} % by the passes, the rest by the batch that then fits; published: "
      "up to {:.0f} %, over a framework on a GPU that fuses and reuses memory without that compiler too ({})",
      100 * gain.speed_up(), 100 * (passes / bare - 1), 100 * published.value, published.source);
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
                   Cell{faster, fmt::format("{:+.1f}", faster)}, bytes_cell(bytes)});
  }
  return table;
}

}  // namespace cli
