#include "cli/tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "analysis/figures/figure_table.h"
#include "analysis/profile/stats.h"
#include "base/error.h"
#include "base/progress.h"
#include "base/table_text.h"
#include "base/terminal.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/options.h"
#include "cli/output.h"
#include "trnsim/job/lengths.h"
#include "trnsim/project/compiler_memory.h"

namespace cli {
namespace {

using base::Cell;
using base::Table;
using trnsim::Projection;

/// A number with its text.
Cell number(double value, std::string text) { return {value, std::move(text)}; }

/// A figure by its name or an earlier one.
const analysis::Figure& figure_of(std::string_view name) {
  const analysis::Figure* figure = analysis::find_figure(name);
  base::ensure(figure != nullptr, name, "no figure has that name");
  return *figure;
}

std::string show(const workloads::Published& published) {
  const auto text = [&](double value) { return analysis::figure_text(figure_of(published.name).unit, value); };
  if (published.low == published.high) return text(published.value);
  return fmt::format("{} to {}", text(published.low), text(published.high));
}

Cell shown(const analysis::Figure& figure, double value) { return {value, analysis::figure_text(figure.unit, value)}; }

Cell percent(double value) { return number(value, fmt::format("{:.1f}", value)); }

Cell bytes_cell(double n) { return {n, base::readable(n, base::Dimension::kBytes)}; }

/// The number format. A program states its types, and only those that are fp32 are cast.
std::string number_format(const trnsim::Job& job) {
  const runtime::Numerics& n = job.step.plan.numerics;
  if (!job.model->is_given() || !n.name.starts_with("fp32+")) return trnsim::describe(n);
  return fmt::format("{}: the program's types, {} of fp32 cast to {} by the compiler, unless `auto_cast` is none",
                     n.name, n.activation != n.weight ? "all arithmetic" : "matmuls", isa::name_of(n.operand));
}

}  // namespace

std::string dollars(const std::optional<double>& value) { return value ? base::money_text(*value) : "no price"; }

std::string setting_of(const trnsim::Job& job) {
  return fmt::format("{} x {}, {}, {}, {}, stack {}", job.instances(), job.machine.name,
                     base::counted(job.cores(), "core"), describe(job), flags_in(number_format(job)), job.stack);
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

constexpr std::size_t kNames = 9;  // columns of a line's name

/// A labelled line of the answer, in lines of the terminal.
std::string labelled(std::string name, const std::string& text) {
  std::string out;
  const int width = columns() > 0 ? std::max(columns() - static_cast<int>(kNames), 20) : 0;
  for (const std::string& part : base::wrapped(text, width)) {
    out += fmt::format("{:<{}}{}\n", name, kNames, part);
    name.clear();
  }
  return out;
}

}  // namespace

std::string answer_text(const trnsim::Answer& answer) {
  std::string out = labelled("time", answer.time) + labelled("dollars", answer.dollars) +
                    labelled("memory", answer.memory) + labelled("bound by", answer.bound) +
                    labelled("range", answer.sure);
  return answer.interrupted.empty() ? out : out + labelled("cut off", answer.interrupted);
}

namespace {

/// A change, with the whole command where it replaces what was typed.
std::string change_text(const trnsim::Suggestion& change, bool first) {
  constexpr std::string_view kInFull = "in full: ";
  std::string out = labelled(first ? "try" : "", flags_in(change.text));
  if (change.replaces)
    out += fmt::format("{:{}}{}{}\n", "", kNames, kInFull, over_lines(change.command, kNames + kInFull.size()));
  return out;
}

}  // namespace

namespace {

/// Rows of the terminal: a word that is longer than one, such as a path, takes several.
std::ptrdiff_t rows_of(const std::string& text) {
  const std::ptrdiff_t width = std::max(columns(), 1);
  std::ptrdiff_t sum = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    sum += std::max<std::ptrdiff_t>(1, (base::display_width(text.substr(begin, end - begin)) + width - 1) / width);
    begin = end + 1;
  }
  return sum;
}

}  // namespace

std::string changes_text(const trnsim::Answer& answer, const std::string& above, const std::string& below,
                         const Tables& tables) {
  const std::ptrdiff_t room = rows() - rows_of(above) - rows_of(below) - 1;  // a row is the shell's prompt
  const bool all = tables.wanted() || rows() == 0;
  std::string out;
  for (std::size_t i = 0; i < answer.changes.size(); ++i) {
    const std::string next = change_text(answer.changes[i], i == 0);
    const std::size_t left = answer.changes.size() - i;
    const auto fits = [&](const std::string& more, std::ptrdiff_t behind) {
      return all || rows_of(out + more) + behind <= room;
    };
    if (!fits(next, left > 1 ? 1 : 0)) {
      const std::string rest =
          labelled(i == 0 ? "try" : "", fmt::format("{} with --tables", base::counted(left, "change")));
      return fits(rest, 0) ? out + rest : out;
    }
    out += next;
  }
  return out;
}

Table job_table(const trnsim::RunResult& run, const analysis::Figures& figures) {
  Table table{{{"figure", ""}, {"predicted", ""}, {"published", ""}, {"error", "error %"}, {"source", ""}}};
  std::set<std::string_view> seen;
  for (const workloads::Published& published : run.published) {
    const analysis::Figure& figure = figure_of(published.name);
    seen.insert(figure.name);
    const analysis::Maybe value = figure.of(figures);
    if (!value) {
      table.add_row({figure.name, "not trained", Cell{published.value, show(published)}, "", published.source});
      continue;
    }
    const double error = 100 * published.error(*value);
    const bool inside = published.low < published.high && error == 0;
    table.add_row({figure.name, shown(figure, *value), Cell{published.value, show(published)},
                   number(error, inside ? "inside" : fmt::format("{:+.1f}", error)), published.source});
  }
  const std::vector<const char*> trains{"train_samples_per_second", "train_runtime", "dollars"},
      generates{"time_to_first_token_seconds", "time_per_output_token_p50_seconds", "tokens_per_second",
                "generate_runtime", "dollars"};
  for (const char* name : figures.generates() ? generates : trains) {
    if (seen.contains(name)) continue;
    const analysis::Maybe value = figure_of(name).of(figures);
    table.add_row({name, value ? shown(figure_of(name), *value) : Cell{"no price"}, "", "", ""});
  }
  return table;
}

Table figures_with_published(const trnsim::RunResult& run, const analysis::Figures& figures) {
  Table table{{{"figure", ""}, {"predicted", ""}, {"unit", ""}, {"published", ""}, {"error", ""}, {"source", ""}}};
  for (const char* section : {"job", "cost", "memory"})
    for (const auto& [figure, value] : figures_of_section(figures, section)) {
      const auto found = std::ranges::find(run.published, figure, [](const auto& p) { return &figure_of(p.name); });
      const bool has = found != run.published.end();
      table.add_row({figure->name, value, figure->unit, has ? Cell{found->value} : Cell{},
                     has ? Cell{100 * found->error(value)} : Cell{}, has ? Cell{found->source} : Cell{}});
    }
  return table;
}

Table figure_table(const analysis::Figures& figures) {
  Table table{{{"figure", ""}, {"value", ""}, {"text", "what it is"}}};
  for (const char* section : {"workload/model", "machine", "job", "plan", "cost"})
    for (const auto& [figure, value] : figures_of_section(figures, section))
      table.add_row({figure->name, shown(*figure, value), figure->text});
  return table;
}

namespace {

Cell with(double value, int digits) { return number(value, fmt::format("{:.{}f}", value, digits)); }
Cell clock(double seconds) { return number(seconds, base::duration_text(seconds)); }

}  // namespace

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
  Table table{{{"name", "samples padded to"},
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
  const hw::SimResult& device = projection.stage().device();
  for (const analysis::Resource& r : analysis::resources(device))
    if (r.name == "dma engines")
      table.add_row({r.name, percent(r.busy), Cell{}, percent(100 - r.busy), device.dma.transfers});
  return table;
}

Table time_table(const Projection& projection) {
  Table table{{{"part", projection.generation ? "part of generate_runtime" : "part of train_runtime"},
               {"seconds", ""},
               {"share", "%"}}};
  for (const analysis::TimeItem& part : projection.time.parts)
    table.add_row({part.name, number(part.seconds, fmt::format("{:.2f}", part.seconds)),
                   percent(100 * part.seconds / projection.time.total)});
  return table;
}

namespace {

/// The bytes of each kind of tensors, and of the software.
Table memory_kinds(const trnsim::Memory& memory) {
  Table table{{{"kind", "HBM per core"}, {"bytes", ""}}};
  for (const auto& [kind, n] : memory.by_kind) table.add_row({kind, bytes_cell(static_cast<double>(n))});
  table.add_row({"total", bytes_cell(static_cast<double>(memory.total))});
  if (memory.capacity > 0) table.add_row({"capacity", bytes_cell(static_cast<double>(memory.capacity))});
  if (memory.least) return table;
  if (memory.capacity > 0) table.add_row({"verdict", std::string{verdict(memory)}});
  return table;
}

}  // namespace

std::string memory_text(const trnsim::Memory& memory, base::Format form) {
  if (form == base::Format::kJson || form == base::Format::kCsv) return memory_table(memory).render(form, columns());
  std::string out = memory_kinds(memory).render(form, columns());
  if (memory.least) return out;
  Table again{{{"part", "the same bytes, as neuronx-cc counts them"}, {"bytes", ""}}};
  for (const auto& [name, n] : compiler_parts(memory)) again.add_row({name, bytes_cell(static_cast<double>(n))});
  return out + "\n" + again.render(form, columns());
}

Table memory_table(const trnsim::Memory& memory) {
  Table table = memory_kinds(memory);
  if (memory.least) return table;
  for (const auto& [name, n] : compiler_parts(memory))
    table.add_row({fmt::format("compiler: {}", name), bytes_cell(static_cast<double>(n))});
  return table;
}

std::string gain_text(const trnsim::CompilerGain& gain, const workloads::Published& published) {
  const double bare = gain.cases.at(0).samples_per_second(), passes = gain.cases.at(1).samples_per_second();
  return fmt::format(
      "speed-up {:.1f} % over the job without passes: {:.1f} % by the passes, the rest by the larger batch that then "
      "fits; published: up to {:.0f} %, over a GPU framework that fuses and reuses memory even without that compiler "
      "({})",
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
