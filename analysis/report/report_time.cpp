// Time: of the job, of a step, of engines, layers and cores.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <span>

#include "analysis/report/chart.h"
#include "analysis/report/report_parts.h"
#include "analysis/report/report_sections.h"
#include "isa/names.h"

namespace analysis {
namespace {

using base::Align;
using base::Cell;

constexpr std::size_t kColumns = 180;    // of the heat map
constexpr double kDrawnPart = 0.005;     // of the whole: smaller ones are joined
constexpr std::size_t kLongestOps = 12;  // that are drawn
constexpr double kDifferent = 0.01;      // of the time of layers and cores

using Parts = std::vector<std::pair<std::string, double>>;

/// The small ones together.
Parts gathered(const Parts& parts) {
  double whole = 0, rest = 0;
  for (const auto& [name, value] : parts) whole += value;
  Parts out;
  for (const auto& [name, value] : parts) {
    if (value >= kDrawnPart * whole)
      out.emplace_back(name, value);
    else
      rest += value;
  }
  if (rest > 0) out.emplace_back("all others", rest);
  return out;
}

std::string job_html(const ReportRun& run) {
  Parts parts;
  for (const TimeItem& part : run.figures.time.parts) parts.emplace_back(part.name, part.seconds);
  std::string out = "<h3>The job</h3>\n" + share_bar("time of the job by part", gathered(parts), "s");
  Parts phases;  // in the order of their colours on the time line
  for (const auto phase :
       {isa::Phase::kForward, isa::Phase::kBackward, isa::Phase::kOptimizer, isa::Phase::kCommunication})
    phases.emplace_back(isa::name_of(phase), 0);
  for (const Group& g : time_by(By::kPhase, run.record.result, run.record.program)) {
    const auto known = std::ranges::find(phases, g.key, &Parts::value_type::first);
    if (known != phases.end())
      known->second = g.busy;
    else
      phases.emplace_back(g.key, g.busy);
  }
  return out + "<h3>One device step</h3>\n" + share_bar("time of a device step by phase", phases, "s");
}

std::string longest_ops(const ReportRun& run) {
  std::vector<Bar> bars;
  for (const Group& g : time_by(By::kOp, run.record.result, run.record.program)) {
    if (bars.size() == kLongestOps || g.busy <= 0) break;
    bars.push_back({.name = g.key, .value = g.busy, .text = readable(g.busy, "s")});
  }
  return bars_html("operations that keep the engines busy longest", bars);
}

/// Passes over a layer: seconds by phase and layer.
std::map<std::string, std::map<std::int32_t, double>> times_of_layers(const ReportRun& run) {
  std::map<std::string, std::map<std::int32_t, double>> out;
  for (const hw::CallTime& call : run.record.result.calls)
    if (call.layer >= 0) out[std::string{isa::name_of(call.phase)}][call.layer] += hw::seconds(call.end - call.begin);
  return out;
}

/// How long each simulated core took, where they differ.
std::string cores_html(const ReportRun& run) {
  const hw::SimResult& r = run.record.result;
  const std::size_t ranks = run.record.program.ranks;
  if (ranks < 2) return "";
  std::string same =
      fmt::format("<p>{} cores run the same program; core {} is shown, {}.</p>\n", ranks, r.rank,
                  r.cores > 1 ? fmt::format("the slowest of the {} simulated", r.cores) : "the one that was simulated");
  const auto [least, most] = std::ranges::minmax_element(r.rank_total);
  const auto whole = static_cast<double>(r.total);
  if (r.rank_total.size() < 2 || static_cast<double>(*most - *least) <= kDifferent * whole) return same;
  std::vector<std::string> rows;
  std::vector<std::vector<double>> shares;
  for (std::size_t rank = 0; rank < r.rank_total.size(); ++rank) {
    rows.push_back(fmt::format("core {}", rank));
    shares.push_back({static_cast<double>(r.rank_total[rank]) / static_cast<double>(r.total)});
  }
  return same + heat_map("time of each simulated core against the slowest", rows, shares, hw::seconds(r.total),
                         {.title = "step", .unit = "s"});
}

constexpr std::size_t kMostCalls = 6000;  // on the time line: neighbours are joined above it

/// [begin us, length us, name, layer, phase, busy of each engine in per cent, of the DMA engines].
Json call_json(const ReportRun& run, std::size_t first, std::size_t last, std::map<std::string, int>& names) {
  const auto& calls = run.record.result.calls;
  const hw::CallTime& call = calls[first];
  const auto number = [&](const std::string& name) {
    return names.try_emplace(name, static_cast<int>(names.size())).first->second;
  };
  const double length = hw::seconds(calls[last].end - call.begin);
  const auto micro = [](double seconds) { return std::round(seconds * 1e8) / 100; };
  Json row{micro(hw::seconds(call.begin)), micro(length), number(run.record.program.blocks[call.block].name),
           call.layer, number(std::string{isa::name_of(call.phase)})};
  for (std::size_t e = 0; e <= isa::kEngineCount; ++e) {
    hw::Fs busy = 0;
    for (std::size_t c = first; c <= last; ++c)
      busy += e < isa::kEngineCount ? calls[c].engines[e].busy : calls[c].dma.active;
    row.push_back(length > 0 ? std::lround(std::min(1.0, hw::seconds(busy) / length) * 100) : 0);
  }
  return row;
}

/// Groups of collectives that are drawn as one: begin and length in us, name, bytes, and the share of that time, in per
/// cent, in which one of them is under way.
Json collectives_json(std::span<const hw::CollectiveTime> list, std::map<std::string, int>& names) {
  const auto micro = [](hw::Fs time) { return std::round(hw::seconds(time) * 1e8) / 100; };
  std::string name = fmt::format("{} of {} ranks", isa::name_of(list.front().op), list.front().ranks);
  if (list.size() > 1) name += fmt::format(" and {} more", list.size() - 1);
  const hw::Fs begin = list.front().begin;
  hw::Fs end = begin, active = 0;
  std::uint64_t bytes = 0;
  for (const hw::CollectiveTime& c : list) {
    active += std::max(c.end, end) - std::max(c.begin, end);
    end = std::max(c.end, end), bytes += c.bytes;
  }
  const double share = end > begin ? hw::seconds(active) / hw::seconds(end - begin) : 1;
  return {micro(begin), micro(end - begin), names.try_emplace(name, static_cast<int>(names.size())).first->second,
          bytes, std::lround(100 * std::min(1.0, share))};
}

Json timeline_json(const ReportRun& run) {
  const hw::SimResult& r = run.record.result;
  std::map<std::string, int> names;
  Json calls = Json::array(), collectives = Json::array(), list = Json::array();
  const std::size_t together = r.calls.size() / kMostCalls + 1, apart = r.collectives.size() / kMostCalls + 1;
  for (std::size_t c = 0; c < r.calls.size(); c += together)
    calls.push_back(call_json(run, c, std::min(c + together, r.calls.size()) - 1, names));
  for (std::size_t i = 0; i < r.collectives.size(); i += apart)
    collectives.push_back(
        collectives_json(std::span{r.collectives}.subspan(i, std::min(apart, r.collectives.size() - i)), names));
  list = std::vector<std::string>(names.size());
  for (const auto& [name, i] : names) list[static_cast<std::size_t>(i)] = name;
  return {{"total", hw::seconds(r.total) * 1e6}, {"names", list}, {"calls", calls}, {"collectives", collectives}};
}

}  // namespace

std::string time_html(const ReportRun& run, std::string_view id) {
  std::string out = question(
                        "what is a step spent on? The host traces and launches it, the device computes it; exposed "
                        "collectives are waits for other cores that overlap with nothing") +
                    job_html(run) + longest_ops(run);
  for (const auto& [by, caption] : {std::pair{"phase", "by phase"}, std::pair{"layer", "by layer"},
                                    std::pair{"block", "by block"}, std::pair{"opcode", "by instruction"}})
    out += folded(caption, table_by(by, run.record));
  return out + folded("by op: time of the engines", table_by("op", run.record), {fmt::format("{}-op", id), ""});
}

namespace {

/// The host beside the device in one step of the job, of which the time line below shows the device's part: the device
/// ends the step, and as much of the host's work as is left of it goes before.
std::string host_lane_html(const ReportRun& run) {
  const TimeFigures& time = run.figures.time;
  if (!time.step_seconds || !time.host_step_seconds || !time.device_step_seconds || !(*time.step_seconds > 0))
    return "";
  const double step = *time.step_seconds, host = *time.host_step_seconds, device = *time.device_step_seconds;
  const auto lane = [&](const char* name, double begin, double length) {
    const double from = std::clamp(begin / step, 0.0, 1.0), part = std::clamp(length / step, 0.0, 1.0 - from);
    return fmt::format(
        "<li><span class=\"name\">{}</span><span class=\"track\"><span style=\"margin-left:{:.2f}%;width:{:.2f}%\">"
        "</span></span><span class=\"text\">{}</span></li>",
        name, 100 * from, 100 * part, escape(readable(length, "s")));
  };
  return fmt::format("<figure><figcaption>one step of the job, {}: host and device</figcaption><ul class=\"bars\">",
                     escape(readable(step, "s"))) +
         lane("host", 0, host) + lane("device", step - device, device) + "</ul></figure>\n";
}

}  // namespace

std::string timeline_html(const ReportRun& run) {
  if (run.record.result.calls.empty()) return "<p class=\"none\">The step has no call.</p>\n";
  std::string data = timeline_json(run).dump();
  for (std::size_t at = 0; (at = data.find('<', at)) != std::string::npos;) data.replace(at, 1, "\\u003c");
  return question(
             "what happens when? Each box is a call of a block of the program; the stronger the colour of an engine, "
             "the busier it is during the call") +
         host_lane_html(run) +
         R"(<figure class="timeline"><figcaption>one step of one core</figcaption><div class="tools">)"
         R"(<button type="button" data-do="in">zoom in</button><button type="button" data-do="out">zoom out</button>)"
         R"(<button type="button" data-do="left">earlier</button><button type="button" data-do="right">later</button>)"
         R"(<button type="button" data-do="all">all</button></div>)"
         R"(<canvas role="img" tabindex="0" )"
         R"(aria-label="time line of one step: phases, layers, engines, collectives"></canvas>)"
         R"(<output>Point at a box. Drag to move, turn the wheel with Ctrl or press + and - to zoom.</output>)"
         "<noscript><p>The time line needs scripts; the tables above have the same times.</p></noscript>"
         "<script type=\"application/json\">" +
         data + "</script></figure>\n";
}

std::string engines_html(const ReportRun& run) {
  const hw::SimResult& r = run.record.result;
  const BusyMap map = busy_map(r, kColumns);
  std::string out =
      question(
          "which engine works, which waits? A core has a matrix engine (tensor), three for vectors, one that "
          "starts transfers (sync), and DMA engines that move data") +
      heat_map("busy share of each engine over one step", map.rows, map.values, hw::seconds(r.total),
               {.title = "time of one step; stronger colour: busier", .unit = "s"});
  base::Table table{{{"engine", ""},
                     {"busy", "", Align::kRight},
                     {"waiting", "", Align::kRight},
                     {"idle", "", Align::kRight},
                     {"instructions", "", Align::kRight},
                     {"waits_for", "waits most for"}}};
  for (const EngineShare& e : engine_shares(r)) {
    const auto most = std::ranges::max_element(e.waiting);
    const std::string cause =
        *most > 0 ? fmt::format("{} ({:.1f} %)", hw::kHoldNames[most - e.waiting.begin()], *most) : std::string{};
    table.add_row({e.engine, Cell{e.busy, readable(e.busy, "%")}, Cell{e.waited(), readable(e.waited(), "%")},
                   Cell{e.idle, readable(e.idle, "%")}, e.instructions, cause});
  }
  return out + folded("engines of the slowest core, per cent of the step", table);
}

std::string layers_html(const ReportRun& run) {
  const auto times = times_of_layers(run);
  std::int32_t layers = 0;
  double most = 0, spread = 0;
  for (const auto& [phase, of] : times) {
    const auto [low, high] = std::ranges::minmax_element(of, {}, [](const auto& entry) { return entry.second; });
    layers = std::max(layers, of.rbegin()->first + 1);
    most = std::max(most, high->second);
    spread = std::max(spread, high->second > 0 ? 1 - low->second / high->second : 0);
  }
  if (most <= 0) return "<p class=\"none\">No call belongs to a layer.</p>\n" + cores_html(run);
  std::vector<std::string> rows;
  std::vector<std::vector<double>> values;
  std::string same;
  for (const auto& [phase, of] : times) {
    rows.push_back(phase);
    values.emplace_back(layers, 0);
    for (const auto& [layer, seconds] : of) values.back()[static_cast<std::size_t>(layer)] = seconds / most;
    same += fmt::format("{}{} {}", same.empty() ? "" : ", ", phase, readable(of.begin()->second, "s"));
  }
  const std::string text =
      spread <= kDifferent ? fmt::format("<p>All {} layers take the same time: {}.</p>\n", layers, escape(same))
                           : heat_map(fmt::format("time of each layer; 100 % is {}", readable(most, "s")), rows, values,
                                      layers, {.title = "layer", .unit = "", .logarithmic = false, .whole = true});
  return question("are layers and cores alike? Only differences are drawn") + text + cores_html(run);
}

}  // namespace analysis
