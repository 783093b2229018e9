// `trnsim trace RUN`: the run on a time line.

#include <memory>

#include "analysis/neuron_tools/neuron_profile.h"
#include "analysis/trace/trace.h"
#include "base/log.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/output.h"
#include "cli/verbs.h"

namespace cli {
namespace {

struct TraceOptions {
  std::string run, format = "pftrace", output, from, until, limit = "50 MB";
  std::int64_t stage = -1;
  analysis::TraceOptions trace;
};

std::filesystem::path default_path(const TraceOptions& options) {
  const std::filesystem::path folder = std::filesystem::is_directory(options.run)
                                           ? std::filesystem::path{options.run}
                                           : std::filesystem::path{options.run}.parent_path();
  const std::string ending = options.format == "chakra"   ? "0.et"
                             : options.format == "neuron" ? "neuron-profile.json"
                                                          : options.format;
  return folder / ("trace." + ending);
}

void report(const analysis::TraceSummary& summary, const analysis::Record& record, const TraceOptions& options) {
  base::log_info("{}: {}, {}, {}, detail {}, {}", options.format, base::counted(summary.slices, "slice"),
                 base::counted(summary.flows, "flow"), base::counted(summary.counter_values, "counter value"),
                 summary.detail, base::readable(static_cast<double>(summary.bytes), base::Dimension::kBytes));
  if (options.format != "chakra" && record.result.events.empty())
    base::log_info("the run recorded no instructions; record them with trnsim run ... --trace_steps 1");
  const analysis::TraceCover cover = analysis::cover_of(record);
  if (cover.requested <= 0) return;
  const auto time = [](double seconds) { return base::readable(seconds, base::Dimension::kTime); };
  base::log_info("instructions of {} of the {} that were asked for", time(cover.recorded), time(cover.requested));
  if (cover.recorded < 0.999 * cover.requested)
    base::log_warning(
        "the record is full: each other call is drawn as one box; record less, with --trace_layer or --trace_until of "
        "trnsim run");
}

void trace(TraceOptions options) {
  if (!options.from.empty()) options.trace.from = base::parse_as(options.from, base::Dimension::kTime, "--from");
  if (!options.until.empty()) options.trace.until = base::parse_as(options.until, base::Dimension::kTime, "--until");
  options.trace.limit_bytes =
      static_cast<std::uint64_t>(base::parse_as(options.limit, base::Dimension::kBytes, "--limit"));
  const analysis::Record record = analysis::read_record(options.run, options.stage);
  const std::filesystem::path path =
      options.output.empty() ? default_path(options) : std::filesystem::path{options.output};
  if (options.format == "neuron") {
    analysis::write_neuron_profile(record, path);
    return print(path.string() + "\n");
  }
  const analysis::TraceSummary summary = options.format == "chakra"
                                             ? analysis::write_chakra(record, path)
                                             : write_trace(record, path, options.format, options.trace);
  report(summary, record, options);
  print(path.string() + "\n");
}

}  // namespace

void add_trace(CLI::App& app) {
  auto options = std::make_shared<TraceOptions>();
  app.add_option("RUN", options->run, "folder of a run")->required();
  app.add_option("--format", options->format,
                 "Perfetto's protobuf, Chrome's JSON, Chakra's execution trace or neuron-profile's JSON")
      ->type_name("pftrace|json|chakra|neuron")
      ->capture_default_str();
  app.add_option("--output", options->output, "file to write [RUN/trace.FORMAT]");
  app.add_option("--stage", options->stage, "stage of a pipeline, from 0 [the slowest]")->check(CLI::NonNegativeNumber);
  app.add_option("--from", options->from, "start of the window, simulated time, as in \"1.5 ms\"");
  app.add_option("--until", options->until, "end of the window");
  app.add_option("--lanes", options->trace.lanes, "only these lanes, with commas")
      ->type_name("tensor|vector|scalar|gpsimd|sync|dma|collective")
      ->delimiter(',');
  app.add_option("--detail", options->trace.detail, "auto: the finest that stays below --limit")
      ->type_name("auto|calls|ops|instructions")
      ->capture_default_str();
  app.add_option("--limit", options->limit, "size that auto stays below")->capture_default_str();
  app.final_callback([options] { trace(*options); });
}

}  // namespace cli
