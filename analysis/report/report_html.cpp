#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "analysis/profile/memory_use.h"
#include "analysis/report.h"
#include "analysis/report/chart.h"
#include "analysis/report/report_parts.h"
#include "analysis/report/report_style.h"
#include "base/param_file.h"

namespace analysis {
namespace {

using base::Align;
using base::Cell;
using Json = nlohmann::ordered_json;

constexpr std::size_t kColumns = 180;  // of the heat map
constexpr std::size_t kAreaSteps = 400;
constexpr std::size_t kWideCard = 14;  // letters that fit into a card of one column
constexpr std::size_t kComparedOps = 50;
constexpr std::size_t kNamedMarks = 9;
constexpr double kDrawnShare = 0.005;  // of the busy time: what has less says nothing about the step

/// A library's sentence: settings stand in backquotes.
std::string sentence_html(std::string_view text) {
  std::string out;
  bool inside = false;
  for (const char c : text) {
    if (c == '`')
      out += (inside = !inside) ? "<code>--" : "</code>";
    else
      out += escape(std::string_view{&c, 1});
  }
  return out;
}

/// The five lines that a run prints first; empty for a run by an older trnsim.
std::string answer_html(const ReportRun& run) {
  const Json answer = run.result.value("answer", Json{});
  if (!answer.is_object()) return "";
  std::string out = "<dl class=\"answer\">";
  const auto line = [&](std::string_view name, std::string_view text) {
    out += fmt::format("<dt>{}</dt><dd>{}</dd>", name, sentence_html(text));
  };
  for (const auto& [key, name] :
       {std::pair{"time", "Time"}, {"dollars", "Dollars"}, {"memory", "Memory"}, {"bound_by", "Bound by"}})
    line(name, answer.value(key, ""));
  const Json changes = answer.value("changes", Json{});
  if (changes.is_array())
    for (const Json& change : changes) line("Try", change.value("text", ""));
  return out + "</dl>\n";
}

/// What somebody measured beside what is predicted; empty when nobody published this very job.
std::string published_html(const ReportRun& run) {
  base::Table table{{{"figure", ""},
                     {"published", "", Align::kRight},
                     {"predicted", "", Align::kRight},
                     {"error_percent", "error", Align::kRight},
                     {"source", ""}}};
  for (const Json& row : run.result.value("published", Json::array())) {
    if (!row.is_object() || !row.value("published", Json{}).is_number() || !row.value("predicted", Json{}).is_number())
      continue;
    const double error = row.value("error_percent", 0.0);
    table.add_row({row.value("name", ""), row["published"].get<double>(), row["predicted"].get<double>(),
                   Cell{error, fmt::format("{:+.1f} %", error)}, row.value("source", "")});
  }
  return table.rows() == 0 ? "" : table_html("this very job as it was published", table);
}

std::string summary_html(const ReportRun& run) {
  const RecordInfo& info = run.record.info;
  std::string out =
      fmt::format("<p>{} on {} {}; {} of {} cores simulated; trnsim {}.</p>\n{}<dl class=\"cards\">",
                  escape(info.workload), info.instances, escape(info.instance_type), run.record.result.cores,
                  run.record.program.ranks, escape(info.trnsim), answer_html(run));
  for (const Headline& h : headlines(run))
    out += fmt::format("<div class=\"card{}\"><dt>{}</dt><dd data-v=\"{}\">{}</dd></div>",
                       h.text.size() > kWideCard ? " long" : "", escape(h.name), *h.value, escape(h.text));
  return out + "</dl>\n" + published_html(run);
}

std::string warnings_html(const ReportRun& run) {
  std::string out;
  for (const std::string& warning : run.warnings) out += fmt::format("<p class=\"warn\">{}</p>\n", escape(warning));
  return out.empty() ? "<p>None.</p>\n" : out;
}

std::string job_html(const ReportRun& run) {
  std::vector<std::pair<std::string, double>> parts;
  const Json parts_list = run.result.contains("job") ? run.result["job"].value("parts", Json::array()) : Json::array();
  for (const Json& part : parts_list) {
    if (part.is_object() && part.value("seconds", Json{}).is_number())
      parts.emplace_back(part.value("name", ""), part["seconds"].get<double>());
  }
  std::string out = "<h3>The job</h3>\n" + share_bar("time of the job by part", parts, "s");
  std::vector<std::pair<std::string, double>> phases;
  for (const Group& g : time_by(By::kPhase, run.record.result, run.record.program)) phases.emplace_back(g.key, g.busy);
  return out + "<h3>One device step</h3>\n" + share_bar("time of a device step by phase", phases, "s");
}

std::string breakdown_html(const ReportRun& run, std::string_view id) {
  std::string out = job_html(run);
  for (const auto& [by, caption] : {std::pair{"phase", "by phase"}, std::pair{"layer", "by layer"},
                                    std::pair{"block", "by block"}, std::pair{"opcode", "by instruction"}})
    out += table_html(caption, table_by(by, run.record));
  return out + table_html("by op: time of the engines", table_by("op", run.record), {fmt::format("{}-op", id), ""});
}

/// How long each simulated core took, where they differ.
std::string cores_html(const ReportRun& run) {
  const hw::SimResult& r = run.record.result;
  const std::size_t ranks = run.record.program.ranks;
  if (ranks < 2) return "";
  const std::string same =
      fmt::format("<p>{} cores run the same program; what is shown is core {}, {}.</p>\n", ranks, r.rank,
                  r.cores > 1 ? fmt::format("the slowest of the {} simulated", r.cores) : "the one that was simulated");
  const auto [least, most] = std::ranges::minmax_element(r.rank_total);
  if (r.rank_total.size() < 2 || *least == *most) return same;
  std::vector<std::string> rows;
  std::vector<std::vector<double>> shares;
  for (std::size_t rank = 0; rank < r.rank_total.size(); ++rank) {
    rows.push_back(fmt::format("core {}", rank));
    shares.push_back({static_cast<double>(r.rank_total[rank]) / static_cast<double>(r.total)});
  }
  return same + heat_map("time of each simulated core against the slowest", rows, shares, hw::seconds(r.total),
                         {.title = "step", .unit = "s"});
}

std::string engines_html(const ReportRun& run) {
  const hw::SimResult& r = run.record.result;
  const BusyMap map = busy_map(r, kColumns);
  std::string out = heat_map("busy share of each engine over one step", map.rows, map.values, hw::seconds(r.total),
                             {.title = "simulated time of one step; fuller colour: busier", .unit = "s"});
  base::Table table{{{"engine", ""},
                     {"busy", "", Align::kRight},
                     {"waiting", "", Align::kRight},
                     {"idle", "", Align::kRight},
                     {"instructions", "", Align::kRight},
                     {"waits_for", "waits for most"}}};
  for (const EngineShare& e : engine_shares(r)) {
    const auto most = std::ranges::max_element(e.waiting);
    const std::string cause =
        *most > 0 ? fmt::format("{} ({:.1f} %)", hw::kHoldNames[most - e.waiting.begin()], *most) : std::string{};
    table.add_row({e.engine, Cell{e.busy, readable(e.busy, "%")}, Cell{e.waited(), readable(e.waited(), "%")},
                   Cell{e.idle, readable(e.idle, "%")}, e.instructions, cause});
  }
  out += table_html("engines of the slowest core, per cent of the step", table);
  return out + cores_html(run);
}

base::Table roofline_table(const ReportRun& run) {
  base::Table table{{{"op", ""},
                     {"engine", ""},
                     {"seconds", "busy", Align::kRight},
                     {"matmul_flops", "matmul FLOPs", Align::kRight},
                     {"hbm_bytes", "HBM bytes", Align::kRight},
                     {"intensity", "FLOP/B", Align::kRight},
                     {"achieved", "", Align::kRight},
                     {"share_of_roof", "of its roof", Align::kRight}}};
  for (const RoofPoint& p : run.record.roofline)
    table.add_row({p.op, p.engine, Cell{p.seconds, readable(p.seconds, "s")},
                   Cell{p.matmul_flops, readable(p.matmul_flops, "FLOP")},
                   Cell{p.hbm_bytes, readable(p.hbm_bytes, "B")}, Cell{p.intensity, fmt::format("{:.3g}", p.intensity)},
                   Cell{p.achieved, readable(p.achieved, "FLOP/s")},
                   p.roof > 0 ? Cell{p.share_of_roof, readable(p.share_of_roof, "%")} : Cell{}});
  return table;
}

/// Ops that multiply and take a part of the time that one can see, the longest first.
std::vector<Mark> roofline_marks(const ReportRun& run, double knee) {
  double busy = 0;
  for (const RoofPoint& p : run.record.roofline) busy += p.seconds;
  std::vector<Mark> marks;
  for (const RoofPoint& p : run.record.roofline) {
    if (p.achieved <= 0 || p.seconds < kDrawnShare * busy) continue;
    const bool known = p.intensity > 0;  // else its bytes are booked under other labels: nothing but FLOPs binds
    if (!known && !(knee > 0)) continue;
    marks.push_back({p.op + (known ? "" : ", no HBM bytes of its own"), known ? p.intensity : knee * 10, p.achieved,
                     p.seconds / busy});
  }
  std::ranges::stable_sort(marks, std::greater{}, &Mark::weight);
  return marks;
}

std::string roofline_html(const ReportRun& run, std::string_view id) {
  const hw::Peaks& peaks = run.record.result.peaks;
  const double knee = peaks.hbm_bandwidth > 0 ? peaks.matmul_flops / peaks.hbm_bandwidth : 0;
  const std::vector<Mark> marks = roofline_marks(run, knee);
  std::vector<std::pair<double, double>> roof;
  if (!marks.empty() && knee > 0) {
    const auto [low, high] = std::ranges::minmax_element(marks, {}, &Mark::x);
    const double from = std::min(low->x, knee / 10);
    roof = {{from, from * peaks.hbm_bandwidth},
            {knee, peaks.matmul_flops},
            {std::max(high->x, knee * 10), peaks.matmul_flops}};
  }
  return scatter_chart("matmul rate of each op against what its HBM bytes allow", marks, roof,
                       {"matmul FLOPs per HBM byte", "", true}, {"FLOP/s", "FLOP/s", true}, kNamedMarks) +
         fmt::format(
             "<p>A larger circle took more of the engines' time; ops with less than {:g} % of it, and those "
             "without a matmul, are in the table only.</p>\n",
             kDrawnShare * 100) +
         table_html("every op", roofline_table(run), {"", fmt::format("{}-op", id)});
}

base::Table memory_kinds_table(const ReportRun& run, const MemoryUse& memory) {
  base::Table table{{{"kind", ""},
                     {"peak_bytes", "peak in use", Align::kRight},
                     {"at_peak_bytes", "at the peak of all", Align::kRight},
                     {"reserved_bytes", "reserved", Align::kRight}}};
  for (std::size_t k = 0; k < memory.kinds.size(); ++k) {
    const double peak = *std::ranges::max_element(memory.bytes[k]), then = memory.bytes[k][memory.peak_call];
    const double reserved = reserved_bytes(run, memory.kinds[k]);
    table.add_row({memory.kinds[k], Cell{peak, readable(peak, "B")}, Cell{then, readable(then, "B")},
                   std::isfinite(reserved) ? Cell{reserved, readable(reserved, "B")} : Cell{}});
  }
  return table;
}

std::string memory_html(const ReportRun& run) {
  const MemoryUse memory = memory_use(run.record);
  const auto& calls = run.record.result.calls;
  const auto capacity = static_cast<double>(run.record.info.hbm_bytes_per_core);
  const std::size_t step = calls.size() / kAreaSteps + 1;  // each shown with the largest of its calls
  std::vector<double> at;
  std::vector<std::vector<double>> values(memory.kinds.size());
  for (std::size_t c = 0; c < calls.size(); c += step) {
    at.push_back(hw::seconds(calls[c].begin));
    const std::size_t end = std::min(c + step, calls.size());
    for (std::size_t k = 0; k < values.size(); ++k)
      values[k].push_back(*std::max_element(memory.bytes[k].begin() + static_cast<std::ptrdiff_t>(c),
                                            memory.bytes[k].begin() + static_cast<std::ptrdiff_t>(end)));
  }
  const double needed = hbm_needed(run, memory.peak);
  const auto limit = capacity > 0 ? std::optional<Limit>{{"capacity of a core", capacity}} : std::nullopt;
  return area_chart("HBM of a core in use over one step, by kind", memory.kinds, values, at,
                    hw::seconds(run.record.result.total), limit, {"simulated time of one step", "s"}, {"bytes", "B"}) +
         fmt::format(
             "<p>Needs <b data-v=\"{}\">{}</b> of {}{}.</p>\n", needed, readable(needed, "B"), readable(capacity, "B"),
             needed > memory.peak ? "; the chart has the tensors of the program, without what the software holds"
                                  : "") +
         table_html("HBM of a core by kind", memory_kinds_table(run, memory));
}

std::string collectives_html(const ReportRun& run) {
  const hw::SimResult& r = run.record.result;
  if (r.collectives.empty()) return "<p class=\"none\">The step has no collective.</p>\n";
  const double active = hw::seconds(r.collective_active), exposed = std::min(active, hw::seconds(r.collective_exposed));
  return share_bar("time of collectives, exposed and hidden behind the engines",
                   {{"exposed", exposed}, {"hidden", active - exposed}}, "s") +
         table_html("collectives by kind", table_by("collective", run.record));
}

std::string curves_html(const ReportRun& run) {
  if (run.steps.empty()) return "<p class=\"none\">The run computed no numerics.</p>\n";
  const auto value = [](const Json& line, const char* key) {
    const auto found = line.find(key);
    return found != line.end() && found->is_number() ? found->get<double>() : NAN;
  };
  Series loss{"loss"}, rate{"learning rate"}, norm{"gradient norm"};
  for (const Json& line : run.steps) {
    const double step = value(line, "step");
    loss.points.emplace_back(step, value(line, "loss"));
    rate.points.emplace_back(step, value(line, "learning_rate"));
    norm.points.emplace_back(step, value(line, "grad_norm"));
  }
  std::string out = line_chart("loss by step", {loss}, {"step", "", false, true}, {"loss", ""});
  out += line_chart("learning rate by step", {rate}, {"step", "", false, true}, {"learning rate", ""});
  out += line_chart("gradient norm by step", {norm}, {"step", "", false, true}, {"norm", ""});
  const Json metrics = run.result.value("metrics", Json{});
  if (!metrics.is_object() || !metrics.value("epochs", Json{}).is_array()) return out;
  std::map<std::string, std::vector<Series>> splits;
  for (const Json& epoch : metrics["epochs"]) {
    if (!epoch.is_object()) continue;
    std::vector<Series>& series = splits[epoch.value("split", "eval")];
    const bool language = epoch.contains("perplexity");
    if (series.empty())
      series = language ? std::vector<Series>{{"perplexity"}} : std::vector<Series>{{"accuracy"}, {"macro F1"}};
    series[0].points.emplace_back(value(epoch, "epoch"), value(epoch, language ? "perplexity" : "accuracy"));
    if (!language) series[1].points.emplace_back(value(epoch, "epoch"), value(epoch, "f1_macro"));
  }
  for (const auto& [split, series] : splits)
    if (series[0].points.size() > 1)
      out += line_chart(fmt::format("{} on the split {} by epoch", series.size() == 1 ? "perplexity" : "score", split),
                        series, {"epoch", "", false, true}, {series.size() == 1 ? "perplexity" : "score", ""});
  return out;
}

std::string machine_html(const ReportRun& run) {
  base::Table table{{{"key", ""}, {"value", "", Align::kRight}, {"text", "what"}, {"source", ""}}};
  const base::ParamFile file = base::ParamFile::parse(run.record.info.machine_toml, "machine");
  for (const std::string& key : file.keys()) {
    const base::Parameter& p = file.parameter(key);
    table.add_row({p.key, fmt::format("{}", fmt::join(p.values, ", ")), p.text, p.source});
  }
  return table_html("every parameter of the machine", table);
}

std::string run_html(const ReportRun& run, std::size_t index) {
  const std::string id = fmt::format("r{}", index);
  const auto part = [&](std::string_view name, std::string_view title, const std::string& body) {
    return section(fmt::format("{}-{}", id, name), title, body);
  };
  std::string out = fmt::format("<h1>{}</h1>\n", escape(run.name));
  out += part("summary", "Summary", summary_html(run)) + part("warnings", "Notes", warnings_html(run));
  out += part("time", "Where the time goes", breakdown_html(run, id));
  out += part("engines", "Engines over time", engines_html(run));
  out += part("roofline", "Roofline", roofline_html(run, id)) + part("memory", "Memory", memory_html(run));
  out += part("collectives", "Collectives", collectives_html(run)) + part("training", "Training", curves_html(run));
  if (!run.costs.empty())
    out += part("cost", "Cost", table_html("the job on every instance type", cost_table(run.costs, run.efficiency)));
  return out + part("machine", "Machine", machine_html(run));
}

std::string navigation(const ReportRun& run, std::size_t index) {
  std::string out = fmt::format("<nav aria-label=\"{}\">", escape(run.name));
  for (const auto& [id, title] : {std::pair{"summary", "Summary"},
                                  {"warnings", "Notes"},
                                  {"time", "Time"},
                                  {"engines", "Engines"},
                                  {"roofline", "Roofline"},
                                  {"memory", "Memory"},
                                  {"collectives", "Collectives"},
                                  {"training", "Training"},
                                  {"cost", "Cost"},
                                  {"machine", "Machine"}}) {
    if (std::string_view{id} == "cost" && run.costs.empty()) continue;
    out += fmt::format("<a href=\"#r{}-{}\">{}</a>", index, id, title);
  }
  return out + "</nav>\n";
}

}  // namespace

std::string report_html(std::span<const ReportRun> runs) {
  std::string body;
  for (std::size_t i = 1; i < runs.size(); ++i) {
    const std::string title = fmt::format("{} against {}", runs[i].name, runs[0].name);
    body += section(fmt::format("against-{}", i), title,
                    table_html(title, difference_table(compare_runs(runs[0], runs[i]), kComparedOps)));
  }
  for (std::size_t i = 0; i < runs.size(); ++i) body += navigation(runs[i], i) + run_html(runs[i], i);
  std::string names;
  for (const ReportRun& run : runs) names += (names.empty() ? "" : ", ") + run.name;
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
      "content=\"width=device-width,initial-scale=1\"><title>trnsim: {}</title>\n<style>{}</style>"
      "</head>\n<body><main>\n{}</main>\n<script>{}</script></body></html>\n",
      escape(names), kReportStyle, body, kReportScript);
}

}  // namespace analysis
