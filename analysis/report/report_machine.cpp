// The machine's limits: roofline, memory, collectives; and the curves of a training.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "analysis/profile/memory_use.h"
#include "analysis/report/chart.h"
#include "analysis/report/report_parts.h"
#include "analysis/report/report_sections.h"
#include "isa/names.h"

namespace analysis {
namespace {

using base::Align;
using base::Cell;

constexpr std::size_t kAreaSteps = 400;
constexpr std::size_t kNamedMarks = 9;
constexpr double kCutPlane = 1e3;  // an op that is further from the bend is drawn at this distance: the plane is empty
constexpr double kDrawnShare = 0.005;  // of the busy time: smaller ones say nothing about the step

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
    const double cut = knee / kCutPlane;
    std::string note = known ? "" : ", no HBM bytes of its own";
    if (known && p.intensity < cut) note = fmt::format(", at {:.2g} FLOP/B", p.intensity);
    marks.push_back({p.op + note, known ? std::max(p.intensity, cut) : knee * 10,
                     std::max(p.achieved, run.record.result.peaks.matmul_flops / kCutPlane), p.seconds / busy});
  }
  std::ranges::stable_sort(marks, std::greater{}, &Mark::weight);
  return marks;
}

base::Table memory_kinds_table(const ReportRun& run, const MemoryUse& memory) {
  base::Table table{{{"kind", ""},
                     {"peak_bytes", "peak in use", Align::kRight},
                     {"at_peak_bytes", "at the peak of all", Align::kRight},
                     {"reserved_bytes", "reserved", Align::kRight}}};
  for (std::size_t k = 0; k < memory.kinds.size(); ++k) {
    const double peak = *std::ranges::max_element(memory.bytes[k]), then = memory.bytes[k][memory.peak_call];
    const Maybe reserved = run.figures.memory.kind(memory.kinds[k]);
    table.add_row({memory.kinds[k], Cell{peak, readable(peak, "B")}, Cell{then, readable(then, "B")},
                   reserved ? Cell{*reserved, readable(*reserved, "B")} : Cell{}});
  }
  return table;
}

/// The peak of the memory: its time and contents.
std::string peak_html(const ReportRun& run, const MemoryUse& memory) {
  const hw::CallTime& call = run.record.result.calls[memory.peak_call];
  std::string parts;
  for (std::size_t k = 0; k < memory.kinds.size(); ++k) {
    const double bytes = memory.bytes[k][memory.peak_call];
    if (bytes >= 0.01 * memory.peak)
      parts += fmt::format("{}{} {:.0f} %", parts.empty() ? "" : ", ", memory.kinds[k], 100 * bytes / memory.peak);
  }
  const std::string layer = call.layer >= 0 ? fmt::format(" of layer {}", call.layer) : "";
  return fmt::format("<p>Fullest at {}, in {}{} ({}): {}: {}.</p>\n", readable(hw::seconds(call.begin), "s"),
                     escape(run.record.program.blocks[call.block].name), layer, isa::name_of(call.phase),
                     readable(memory.peak, "B"), escape(parts));
}

/// The largest parts of the activations at their peak, and the weights' companions beside them.
std::string fullest_html(const ReportRun& run) {
  std::vector<Bar> bars;
  for (const auto& [kind, bytes] : run.figures.memory.kinds)
    if (kind != "activations" && bytes > 0)
      bars.push_back({.name = kind,
                      .value = static_cast<double>(bytes),
                      .text = readable(static_cast<double>(bytes), "B"),
                      .css = "soft"});
  for (const HeldFigures& held : run.figures.memory.fullest)
    bars.push_back({.name = held.count > 1 ? fmt::format("{} x {}", held.count, held.name) : held.name,
                    .value = static_cast<double>(held.bytes),
                    .text = readable(static_cast<double>(held.bytes), "B")});
  std::ranges::stable_sort(bars, std::greater{}, &Bar::value);
  return run.figures.memory.fullest.empty()
             ? ""
             : bars_html("what fills the memory at its peak: activations by the operation that wrote them", bars);
}

}  // namespace

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
  return question(
             "how near is each operation to the machine's limits? Left of the bend the HBM bytes are the limit, right "
             "of it the FLOPs; below the line the machine waits for something else") +
         scatter_chart("matmul rate of each op against the limit of its HBM bytes", marks, roof,
                       {"matmul FLOPs per HBM byte", "", true}, {"FLOP/s", "FLOP/s", true}, kNamedMarks) +
         fmt::format(
             "<p>A larger circle took more of the engines' time; ops with less than {:g} % of it, and those "
             "without a matmul, are in the table only.</p>\n",
             kDrawnShare * 100) +
         folded("every op", roofline_table(run), {"", fmt::format("{}-op", id)});
}

std::string memory_html(const ReportRun& run) {
  const MemoryUse memory = memory_use(run.record);
  const auto& calls = run.record.result.calls;
  if (calls.empty()) return "<p class=\"none\">The step has no call.</p>\n";
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
  return question(
             "does it fit, and what fills it? HBM is the memory of the device; weights and the optimizer's state stay, "
             "activations wait for the backward pass") +
         area_chart("HBM of a core in use over one step, by kind",
                    {memory.kinds, std::move(values), std::move(at), hw::seconds(run.record.result.total)}, limit,
                    {"simulated time of one step", "s"}, {"bytes", "B"}) +
         fmt::format("<p>Needs <b data-v=\"{}\">{}</b> of {}{}.</p>\n", needed, readable(needed, "B"),
                     readable(capacity, "B"),
                     needed > memory.peak ? "; the chart shows the tensors of this stage's program" : "") +
         peak_html(run, memory) + fullest_html(run) + folded("HBM of a core by kind", memory_kinds_table(run, memory));
}

std::string collectives_html(const ReportRun& run) {
  const hw::SimResult& r = run.record.result;
  if (r.collectives.empty()) return "";
  const double active = hw::seconds(r.collective_active), exposed = std::min(active, hw::seconds(r.collective_exposed));
  return question(
             "is communication hidden? Cores exchange data in collectives; exposed time makes the step longer, the "
             "rest overlaps with computation") +
         share_bar("time of collectives, exposed and hidden behind the engines",
                   {{"exposed", exposed}, {"hidden", active - exposed}}, "s") +
         folded("collectives by kind", table_by("collective", run.record));
}

std::string curves_html(const ReportRun& run) {
  if (run.steps.empty()) return "";
  Series loss{"loss"}, rate{"learning rate"}, norm{"gradient norm"};
  for (const StepFigures& one : run.steps) {
    const auto step = static_cast<double>(one.step);
    loss.points.emplace_back(step, one.loss.value_or(NAN));
    rate.points.emplace_back(step, one.learning_rate.value_or(NAN));
    norm.points.emplace_back(step, one.grad_norm.value_or(NAN));
  }
  std::string out =
      question("does it learn?") + line_chart("loss by step", {loss}, {"step", "", false, true}, {"loss", ""});
  out += line_chart("learning rate by step", {rate}, {"step", "", false, true}, {"learning rate", ""});
  out += line_chart("gradient norm by step", {norm}, {"step", "", false, true}, {"norm", ""});
  if (!run.figures.training) return out;
  const TrainingFigures& training = *run.figures.training;
  out +=
      fmt::format("<p>Numbers lost without an error: {}.</p>\n", escape(numeric_events_text(*training.numeric_events)));
  std::map<std::string, std::vector<Series>> splits;
  for (const EvaluationFigures& e : training.epochs) {
    std::vector<Series>& series = splits[e.split];
    const bool language = e.score("perplexity").has_value();
    if (series.empty())
      series = language ? std::vector<Series>{{"perplexity"}} : std::vector<Series>{{"accuracy"}, {"macro F1"}};
    const auto add = [&](Series& to, std::string_view name) {
      to.points.emplace_back(e.epoch.value_or(NAN), e.score(name).value_or(NAN));
    };
    add(series[0], language ? "perplexity" : "accuracy");
    if (!language && series.size() > 1) add(series[1], "f1_macro");
  }
  for (const auto& [split, series] : splits)
    if (series[0].points.size() > 1)
      out += line_chart(fmt::format("{} on the split {} by epoch", series.size() == 1 ? "perplexity" : "score", split),
                        series, {"epoch", "", false, true}, {series.size() == 1 ? "perplexity" : "score", ""});
  return out;
}

}  // namespace analysis
