#include <fmt/format.h>

#include "analysis/profile/memory_use.h"
#include "analysis/report/report.h"
#include "analysis/report/report_parts.h"

namespace analysis {
namespace {

constexpr std::size_t kOps = 15;

std::string inline_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '|' || c == '<' || c == '`' || c == '*' || c == '_' || c == '[' || c == '\\') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

std::string run_markdown(const ReportRun& run) {
  const auto md = base::Format::kMarkdown;
  const RecordInfo& info = run.record.info;
  std::string out = fmt::format("## {}\n\n{}\n\n| | |\n|---|---|\n", inline_text(run.name),
                                run.simulated() ? fmt::format("{} on {} {}", inline_text(info.workload), info.instances,
                                                              inline_text(info.instance_type))
                                                : inline_text(run.figures.workload.name));
  for (const Headline& h : headlines(run)) out += fmt::format("| {} | {} |\n", h.name, inline_text(h.text));
  if (!run.simulated()) return out + "\n";
  const MemoryUse memory = memory_use(run.record);
  out += fmt::format("| HBM of a core | {} of {} |\n\n", readable(hbm_needed(run, memory.peak), "B"),
                     readable(static_cast<double>(run.record.info.hbm_bytes_per_core), "B"));
  for (const std::string& warning : run.warnings) out += fmt::format("- {}\n", inline_text(warning));
  out += "\n### Time by phase\n\n" + table_by("phase", run.record).render(md);
  out += "\n### Time by op\n\n" + table_by("op", run.record, kOps).render(md);
  if (!run.record.result.collectives.empty())
    out += "\n### Collectives\n\n" + table_by("collective", run.record).render(md);
  if (!run.costs.empty()) out += "\n### Cost\n\n" + cost_table(run.costs, run.efficiency).render(md);
  return out + "\n";
}

}  // namespace

std::string report_markdown(std::span<const ReportRun> runs) {
  std::string out = "# trnsim\n\n";
  for (std::size_t i = 1; i < runs.size(); ++i) {
    out += fmt::format("## {} against {}\n\n", inline_text(runs[i].name), inline_text(runs[0].name));
    out += difference_table(compare_runs(runs[0], runs[i]), kOps).render(base::Format::kMarkdown) + "\n";
  }
  for (const ReportRun& run : runs) out += run_markdown(run);
  return out;
}

}  // namespace analysis
