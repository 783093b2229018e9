#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cctype>

#include "analysis/report/chart.h"
#include "analysis/report/page.h"
#include "analysis/report/report.h"
#include "analysis/report/report_parts.h"
#include "analysis/report/report_sections.h"
#include "base/param_file.h"
#include "base/text.h"

namespace analysis {
namespace {

using base::Align;

constexpr std::size_t kWideCard = 14;  // letters that fit into a card of one column
constexpr std::size_t kComparedOps = 50;

/// The lines that a run prints first; empty for a run by an older trnsim.
std::string answer_html(const ReportRun& run) {
  if (!run.figures.answer) return "";
  const AnswerFigures& answer = *run.figures.answer;
  std::string out = "<dl class=\"answer\">";
  const auto line = [&](std::string_view name, std::string_view text) {
    if (!text.empty()) out += fmt::format("<dt>{}</dt><dd>{}</dd>", name, sentence_html(text));
  };
  line("Time", answer.time);
  line("Dollars", answer.dollars);
  line("Memory", answer.memory);
  line("Bound by", answer.bound_by);
  line("Range", answer.sure);
  line("Cut off", answer.interrupted);
  if (!answer.changes) return out + "</dl>\n";
  for (const ChangeFigures& change : *answer.changes) {  // the command to paste, or its flags alone, and their gain
    const std::size_t gain = change.text.find(": ");
    out += fmt::format("<dt>Try</dt><dd><code>{}</code>{}</dd>",
                       command_html(change.command.empty() ? flags_of(change.settings) : change.command),
                       sentence_html(gain == std::string::npos ? change.text : change.text.substr(gain)));
  }
  if (answer.changes->empty()) line("Try", "nothing that was projected is faster for the same dollars, or cheaper");
  return out + "</dl>\n";
}

/// Which plan, format and software: "TP 8, PP 1, DP 4, ..., bf16, stack hf-trainer".
std::string setting_text(const ReportRun& run) {
  const PlanFigures& plan = run.figures.plan;
  std::string out;
  if (!plan.text.empty()) out = fmt::format("{}, {}", plan.text, plan.numerics);
  if (!run.figures.time.stack.empty()) out += fmt::format(", stack {}", run.figures.time.stack);
  return out;
}

/// The job, the version of trnsim, and the time of the run; a page is opened long after.
std::string origin_html(const ReportRun& run) {
  const RecordInfo& info = run.record.info;
  std::string out = "<p>";
  if (run.simulated())
    out += fmt::format("{} on {} {}; {} of {} cores simulated.", escape(info.workload), info.instances,
                       escape(info.instance_type), run.record.result.cores, run.record.program.ranks);
  else
    out +=
        fmt::format("{}, trained on {} simulated cores of {}; no job was projected.", escape(run.figures.workload.name),
                    run.figures.machine.cores.value_or(1), escape(run.figures.machine.instance_type));
  out += "</p>\n<p class=\"setting\">";
  if (!run.figures.command.empty()) out += fmt::format("<code>{}</code> ", command_html(run.figures.command));
  return out + fmt::format("with trnsim {}{}</p>\n", escape(run.figures.version),
                           run.figures.host.date.empty() ? "" : ", " + escape(run.figures.host.date));
}

std::string summary_html(const ReportRun& run) {
  std::string out = origin_html(run);
  if (const std::string setting = setting_text(run); !setting.empty())
    out += fmt::format("<p class=\"setting\">{}</p>\n", escape(setting));
  out += answer_html(run) + "<dl class=\"cards\">";
  for (const Headline& h : headlines(run))
    out += fmt::format("<div class=\"card{}\"><dt>{}</dt><dd data-v=\"{}\">{}</dd></div>",
                       h.text.size() > kWideCard ? " long" : "", escape(h.name), h.value, escape(h.text));
  return out + "</dl>\n" + published_html(run);
}

std::string warnings_html(const ReportRun& run) {
  std::string out;
  for (const std::string& warning : run.warnings) out += fmt::format("<p class=\"warn\">{}</p>\n", escape(warning));
  return out;
}

std::string machine_html(const ReportRun& run) {
  base::Table table{{{"key", ""}, {"value", "", Align::kRight}, {"text", "what"}, {"source", ""}}};
  const base::ParamFile file = base::ParamFile::parse(run.record.info.machine_toml, "machine");
  for (const std::string& key : file.keys()) {
    const base::Parameter& p = file.parameter(key);
    table.add_row({p.key, fmt::format("{}", fmt::join(p.values, ", ")), p.text, p.source});
  }
  return folded("every parameter of the machine", table);
}

/// The words of the page.
std::string words_html() {
  constexpr std::pair<const char*, const char*> kWords[] = {
      {"MFU",
       "model FLOPs utilisation: the model's arithmetic over the peak of the matrix engines; for the job over all of "
       "its time, for the device only over the device's time"},
      {"HFU", "hardware FLOPs utilisation: the same with everything that the matrix engine executes"},
      {"MBU", "memory bandwidth utilisation: bytes at HBM over its peak"},
      {"TP, PP, DP",
       "cores that share each layer (tensor parallel), stages of layers (pipeline), copies of the model that see "
       "other samples (data parallel)"},
      {"ZeRO-1", "data-parallel cores share the optimizer's state instead of each holding all of it"},
      {"micro-batch",
       "the samples that a core works on at once; a step may have several of them before the weights change"},
      {"recompute",
       "the backward pass computes activations again instead of keeping them; also gradient checkpointing"},
      {"collective", "an exchange between cores: all-reduce, all-gather, reduce-scatter"},
      {"stack",
       "the software around the device, which traces, launches and copies: torch-xla, Hugging Face's Trainer"}};
  std::string out = "<dl class=\"words\">";
  for (const auto& [word, text] : kWords) out += fmt::format("<dt>{}</dt><dd>{}</dd>", word, text);
  return out + "</dl>\n";
}

struct Part {
  const char *id, *title, *short_title;
  std::string body;
};

std::vector<Part> parts_of(const ReportRun& run, const std::string& id) {
  std::vector<Part> parts{{"summary", "Summary", "Summary", summary_html(run)}};
  const auto add = [&](Part part) {
    if (!part.body.empty()) parts.push_back(std::move(part));
  };
  if (run.simulated()) {
    add({"time", "Where the time goes", "Time", time_html(run, id)});
    add({"timeline", "One step from begin to end", "Step", timeline_html(run)});
    add({"engines", "Engines over time", "Engines", engines_html(run)});
    add({"layers", "Layers and cores", "Layers", layers_html(run)});
    add({"memory", "Memory", "Memory", memory_html(run)});
    add({"roofline", "Roofline", "Roofline", roofline_html(run, id)});
    add({"collectives", "Collectives", "Collectives", collectives_html(run)});
    add({"whatif", "What to change", "What if", what_if_html(run)});
  }
  if (!run.costs.empty()) add({"cost", "Cost", "Cost", cost_html(run)});
  add({"training", "Training", "Training", curves_html(run)});
  add({"warnings", "Notes", "Notes", warnings_html(run)});
  add({"words", "Words", "Words", words_html()});
  if (run.simulated()) add({"machine", "Machine", "Machine", machine_html(run)});
  return parts;
}

std::string run_html(const ReportRun& run, std::size_t index) {
  const std::string id = fmt::format("r{}", index);
  std::string navigation = fmt::format("<nav aria-label=\"{}\">", escape(run.name)), body;
  for (const Part& part : parts_of(run, id)) {
    navigation += fmt::format("<a href=\"#{}-{}\">{}</a>", id, part.id, part.short_title);
    body += section(fmt::format("{}-{}", id, part.id), part.title, part.body);
  }
  return fmt::format("{}</nav>\n<h1>{}</h1>\n{}", navigation, escape(run.name), body);
}

/// The first lines of the runs, next to each other.
std::string side_by_side_html(std::span<const ReportRun> runs) {
  using Line = std::string AnswerFigures::*;
  constexpr std::array<std::pair<const char*, Line>, 6> kLines = {{{"time", &AnswerFigures::time},
                                                                   {"dollars", &AnswerFigures::dollars},
                                                                   {"memory", &AnswerFigures::memory},
                                                                   {"bound by", &AnswerFigures::bound_by},
                                                                   {"range", &AnswerFigures::sure},
                                                                   {"cut off", &AnswerFigures::interrupted}}};
  std::string names;
  std::vector<base::Column> columns{{"answer", ""}};
  for (std::size_t i = 0; i < runs.size(); ++i) {
    columns.push_back({fmt::format("run_{}", i), runs[i].name});
    names += (i == 0 ? "" : i + 1 == runs.size() ? " and " : ", ") + runs[i].name;
  }
  base::Table table{columns};
  const auto add = [&](const std::string& name, const auto& text) {
    std::vector<base::Cell> cells{name};
    bool any = false;
    for (const ReportRun& run : runs) {
      const std::string one = text(run);
      any = any || !one.empty();
      cells.emplace_back(one);
    }
    if (any) table.add_row(std::move(cells));
  };
  add("plan", setting_text);
  for (const auto& [name, line] : kLines)
    add(name, [line = line](const ReportRun& run) {
      return run.figures.answer ? (*run.figures.answer).*line : std::string{};
    });
  return fmt::format("<h1>{}</h1>\n", escape(names)) +
         section("side-by-side", "Side by side", table_html("the answer of each run", table));
}

}  // namespace

std::string question(std::string_view text) {
  std::string out{text};
  out[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(out[0])));
  return fmt::format("<p class=\"question\">{}{}</p>\n", escape(out), text.ends_with('?') ? "" : ".");
}

/// A library's sentence: settings are in backquotes, and so are commands, which have several words.
std::string sentence_html(std::string_view text) {
  std::string out;
  bool inside = false;
  for (const std::string& part : base::split(text, '`')) {
    const bool setting = part.find(' ') == std::string::npos;
    out += inside ? fmt::format("<code>{}{}</code>", setting ? "--" : "", escape(part)) : escape(part);
    inside = !inside;
  }
  return out;
}

std::string report_html(std::span<const ReportRun> runs) {
  std::string body = runs.size() > 1 ? side_by_side_html(runs) : "";
  for (std::size_t i = 1; i < runs.size(); ++i) {
    const std::string title = fmt::format("{} against {}", runs[i].name, runs[0].name);
    body += section(fmt::format("against-{}", i), title,
                    table_html(title, difference_table(compare_runs(runs[0], runs[i]), kComparedOps)));
  }
  for (std::size_t i = 0; i < runs.size(); ++i) body += run_html(runs[i], i);
  std::string names;
  for (const ReportRun& run : runs) names += (names.empty() ? "" : ", ") + run.name;
  return page_html("trnsim: " + names, body, true);
}

}  // namespace analysis
