// `trnsim report RUN...`: one page to look at, or Markdown for a pull request.
#include <fmt/format.h>

#include <memory>

#include "analysis/report/report.h"
#include "base/error.h"
#include "base/files.h"
#include "base/suggest.h"
#include "base/units.h"
#include "cli/output.h"
#include "cli/verbs.h"

namespace cli {
namespace {

struct ReportOptions {
  std::vector<std::string> runs;
  std::string output, format = "html", prices, efficiency = fmt::format("{:g}%", analysis::kRooflineEfficiency * 100);
  std::int64_t stage = -1;
};

void report(const ReportOptions& options) {
  const std::vector<std::string> formats = {"html", "md"};
  if (options.format != "html" && options.format != "md") {
    throw base::Error{base::Fault::kUsage, "--format", fmt::format("'{}' is not a format of reports", options.format),
                      base::suggest_fix(options.format, formats)};
  }
  const auto prices = analysis::load_prices(std::string_view{options.prices});
  const double efficiency = analysis::parse_efficiency(options.efficiency, "--efficiency");
  std::vector<analysis::ReportRun> runs;
  for (const std::string& folder : options.runs)
    runs.push_back(load_report_run(folder, prices, efficiency, options.stage));
  const bool html = options.format == "html";
  const std::string text = html ? report_html(runs) : report_markdown(runs);
  if (options.output == "-" || (!html && options.output.empty())) return print(text);
  const std::filesystem::path path = options.output.empty()
                                         ? std::filesystem::path{options.runs.front()} / "report.html"
                                         : std::filesystem::path{options.output};
  base::write_file(path, text);
  print(path.string() + "\n");
}

}  // namespace

void add_report(CLI::App& app) {
  auto options = std::make_shared<ReportOptions>();
  app.add_option("RUN", options->runs, "folders of runs; the others are compared with the first")->required();
  app.add_option("--format", options->format, "a page, or Markdown on stdout")
      ->type_name("html|md")
      ->capture_default_str();
  app.add_option("--output", options->output, "file to write, - for stdout [RUN/report.html]");
  app.add_option("--stage", options->stage, "stage of a pipeline, from 0 [the slowest]")->check(CLI::NonNegativeNumber);
  app.add_option("--prices", options->prices, "price file [analysis/cost/prices/aws.toml]");
  app.add_option("--efficiency", options->efficiency, "share of the peaks that roofline estimates assume")
      ->capture_default_str();
  app.final_callback([options] { report(*options); });
}

}  // namespace cli
