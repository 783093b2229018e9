// Text of Prometheus's node exporter (textfile collector): every figure of the run as a gauge under its name.
#include <fmt/format.h>

#include <cmath>

#include "analysis/export/export.h"
#include "analysis/figures/figure_table.h"

namespace analysis {
namespace {

/// A label's value: backslash, quote and line feed are escaped.
std::string label(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '\\' ? "\\\\" : c == '"' ? "\\\"" : c == '\n' ? "\\n" : std::string{c};
  return out;
}

std::vector<ExportFile> prometheus_files(const ExportRun& run) {
  const Figures& f = run.figures;
  const std::string labels = fmt::format("workload=\"{}\",instance_type=\"{}\",stack=\"{}\"", label(f.workload.name),
                                         label(f.machine.instance_type), label(f.time.stack));
  std::string out;
  for (const Figure& figure : figure_table()) {
    const Maybe value = figure.of(f);
    if (!value || !std::isfinite(*value)) continue;
    out += fmt::format("# HELP trnsim_{0} {1}\n# TYPE trnsim_{0} gauge\ntrnsim_{0}{{{2}}} {3}\n", figure.name,
                       figure.text, labels, *value);
  }
  if (!f.engines.empty())
    out += "# HELP trnsim_engine_busy_percent of the device's step\n# TYPE trnsim_engine_busy_percent gauge\n";
  for (const EngineFigures& engine : f.engines)
    out +=
        fmt::format("trnsim_engine_busy_percent{{{},engine=\"{}\"}} {}\n", labels, label(engine.engine), engine.busy);
  return {{"", out}};
}

}  // namespace

Exporter exporter_prometheus() { return {"prometheus", "metrics.prom", prometheus_files}; }

}  // namespace analysis
