#include <fmt/format.h>

#include <algorithm>

#include "analysis/profile/views.h"
#include "analysis/report/chart.h"
#include "analysis/report/kernel_report.h"
#include "analysis/report/page.h"
#include "analysis/report/report.h"
#include "analysis/report/report_parts.h"
#include "isa/names.h"

namespace analysis {
namespace {

using base::Align;

constexpr std::size_t kParts = 120;  // of the time, in the map of the engines

double share(double part, double whole) { return whole > 0 ? 100 * part / whole : 0; }

std::string kernel_cards(const KernelReport& kernel) {
  std::string out = "<dl class=\"cards\">";
  for (const auto& [name, text] : kernel.figures)
    out += fmt::format("<div class=\"card\"><dt>{}</dt><dd>{}</dd></div>", escape(name), escape(text));
  return out + "</dl>\n";
}

/// The share of each part of the time that an engine, or any DMA ring, was busy, and the launch in front. By events: a
/// kernel is one call.
BusyMap map_of(const hw::SimResult& r) {
  BusyMap map;
  for (int e = 0; e < isa::kEngineCount; ++e) map.rows.emplace_back(isa::name_of(static_cast<isa::Engine>(e)));
  map.rows.emplace_back("dma");
  map.rows.emplace_back("launch");
  map.values.assign(map.rows.size(), std::vector<double>(kParts, 0));
  const double part = static_cast<double>(r.total) / kParts;
  for (std::size_t i = 0; i < kParts; ++i)
    map.values.back()[i] = std::clamp(static_cast<double>(r.lead_in) / part - static_cast<double>(i), 0.0, 1.0);
  for (const hw::TraceEvent& event : r.events) {
    const bool engine = event.track == hw::TraceEvent::Track::kEngine;
    const auto begin = static_cast<double>(event.begin), end = static_cast<double>(event.end);
    std::vector<double>& row = map.values[engine ? event.lane : isa::kEngineCount];
    for (auto i = static_cast<std::size_t>(begin / part); i < kParts && static_cast<double>(i) * part < end; ++i) {
      const double low = static_cast<double>(i) * part;
      row[i] = std::min(1.0, row[i] + (std::min(end, low + part) - std::max(begin, low)) / part);
    }
  }
  return map;
}

/// Busy over time, then where the time of each engine goes.
std::string kernel_engines(const KernelReport& kernel) {
  const hw::SimResult& r = kernel.result;
  const BusyMap map = map_of(r);
  std::string out = heat_map("busy share of each engine", map.rows, map.values, hw::seconds(r.total),
                             {.title = "simulated time; stronger colour: busier", .unit = "s"});
  base::Table table{{{"engine", ""},
                     {"busy", "busy %", Align::kRight},
                     {"waiting", "waiting %", Align::kRight},
                     {"idle", "idle %", Align::kRight},
                     {"for", "waits for"}}};
  for (int e = 0; e < isa::kEngineCount; ++e) {
    const hw::EngineTime& t = r.engines[static_cast<std::size_t>(e)];
    if (t.instructions == 0) continue;
    std::string reasons;
    double waiting = 0;
    for (std::size_t h = 0; h < hw::kHoldCount; ++h) {
      const double part = share(static_cast<double>(t.waiting[h]), static_cast<double>(r.total));
      waiting += part;
      if (part >= 0.1) reasons += fmt::format("{}{} {:.1f} %", reasons.empty() ? "" : ", ", hw::kHoldNames[h], part);
    }
    const auto cell = [](double value) { return base::Cell{value, fmt::format("{:.1f}", value)}; };
    table.add_row({isa::name_of(static_cast<isa::Engine>(e)),
                   cell(share(static_cast<double>(t.busy), static_cast<double>(r.total))), cell(waiting),
                   cell(share(static_cast<double>(t.idle), static_cast<double>(r.total))), reasons});
  }
  const double dma = share(static_cast<double>(r.dma.active), static_cast<double>(r.total));
  table.add_row({"dma", base::Cell{dma, fmt::format("{:.1f}", dma)}, {}, {}, ""});
  return out + table_html("engines: shares of the kernel's time", table);
}

std::string kernel_roofline(const KernelReport& kernel) {
  const hw::Peaks& peaks = kernel.result.peaks;
  if (kernel.matmul_flops <= 0 || kernel.hbm_bytes <= 0 || peaks.hbm_bandwidth <= 0)
    return "<p>No matmul: the HBM's bandwidth is the only roof.</p>\n";
  const double knee = peaks.matmul_flops / peaks.hbm_bandwidth, at = kernel.matmul_flops / kernel.hbm_bytes;
  const double from = std::min(at, knee / 10);
  return scatter_chart(
      "matmul rate of the kernel against the limit of its HBM bytes",
      {{.name = kernel.name, .x = at, .y = kernel.matmul_flops / hw::seconds(kernel.result.total), .weight = 1}},
      {{from, from * peaks.hbm_bandwidth}, {knee, peaks.matmul_flops}, {std::max(at, knee * 10), peaks.matmul_flops}},
      {"matmul FLOPs per HBM byte", "", true}, {"FLOP/s", "FLOP/s", true}, 1);
}

std::string kernel_lines(const KernelReport& kernel) {
  base::Table table{{{"line", ""},
                     {"source", ""},
                     {"engine", ""},
                     {"instructions", "", Align::kRight},
                     {"critical", "critical %", Align::kRight},
                     {"busy", "", Align::kRight},
                     {"waiting", "", Align::kRight}}};
  for (const KernelLine& l : kernel.lines) {
    const double critical = share(l.critical, hw::seconds(kernel.result.total));
    table.add_row({l.place, l.source, l.engine, l.instructions, base::Cell{critical, fmt::format("{:.1f}", critical)},
                   base::Cell{l.busy, readable(l.busy, "s")}, base::Cell{l.waiting, readable(l.waiting, "s")}});
  }
  return table_html("lines of the kernel, by their share of the critical path", table);
}

}  // namespace

std::string kernel_html(const std::vector<KernelReport>& kernels) {
  std::string body, names;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const KernelReport& kernel = kernels[i];
    body += fmt::format("<h1>{}</h1>\n", escape(kernel.name)) + kernel_cards(kernel);
    body += section(fmt::format("k{}-engines", i), "Engines", kernel_engines(kernel));
    body += section(fmt::format("k{}-lines", i), "Lines", kernel_lines(kernel));
    body += section(fmt::format("k{}-roofline", i), "Roofline", kernel_roofline(kernel));
    names += (names.empty() ? "" : ", ") + kernel.name;
  }
  return page_html("trnsim nki: " + names, body);
}

}  // namespace analysis
