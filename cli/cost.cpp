// `trnsim cost RUN`, `trnsim cost WORKLOAD` or `--runtime TIME --instance_type TYPE`: a job priced on every instance
// type.
#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <memory>

#include "analysis/cost/job_cost.h"
#include "analysis/figures/json_fields.h"
#include "analysis/record/result.h"
#include "base/error.h"
#include "base/log.h"
#include "base/units.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "trnsim/job/settings.h"
#include "trnsim/run/run.h"

namespace cli {
namespace {

using base::Error;
using base::Fault;

struct CostOptions {
  std::string run, runtime, instance_type, prices, flops, hbm_bytes,
      efficiency = fmt::format("{:g}%", analysis::kRooflineEfficiency * 100), format = "table";
  std::vector<int> instances;
  double epochs = 0, samples = 0, tokens = 0;
  bool largest_batch = false;
};

/// "8:30", "2:14:09", or a time with its unit ("510 s").
double duration(const std::string& text) {
  if (text.find(':') == std::string::npos) return base::parse_as(text, base::Dimension::kTime, "--runtime");
  double seconds = 0;
  int parts = 0;
  for (std::size_t begin = 0; begin <= text.size(); ++parts) {
    const std::size_t end = std::min(text.find(':', begin), text.size());
    double part = -1;
    const auto [rest, error] = std::from_chars(text.data() + begin, text.data() + end, part);
    const bool whole = error == std::errc{} && rest == text.data() + end && part >= 0 && (parts == 0 || part < 60);
    if (!whole || parts > 2) {
      throw Error{Fault::kUsage, "--runtime", fmt::format("'{}' is not a time", text),
                  "write 8:30, 2:14:09 or \"510 s\""};
    }
    seconds = seconds * 60 + part;
    begin = end + 1;
  }
  return seconds;
}

analysis::JobToPrice job_of(const CostOptions& options) {
  const bool given = !options.runtime.empty();
  if (given == !options.run.empty()) {
    throw Error{Fault::kUsage, "trnsim cost", given ? "has a run and --runtime" : "has no job to price",
                "give a run folder or a workload, or --runtime and --instance_type"};
  }
  analysis::JobToPrice job = given ? analysis::JobToPrice{} : trnsim::job_to_price(options.run);
  if (given) {
    job.seconds = duration(options.runtime);
    job.instance_type = options.instance_type.empty() ? "trn1.2xlarge" : options.instance_type;
    if (!options.instances.empty()) job.instances = options.instances.front();
  }
  if (options.epochs > 0) job.epochs = options.epochs;
  if (options.samples > 0) job.samples = options.samples;
  if (options.tokens > 0) job.tokens = options.tokens;
  if (!options.flops.empty()) job.flops = base::parse_as(options.flops, base::Dimension::kFlopCount, "--flops");
  if (!options.hbm_bytes.empty())
    job.hbm_bytes = base::parse_as(options.hbm_bytes, base::Dimension::kBytes, "--hbm_bytes");
  return job;
}

/// The job that a run's folder tells of, or a workload.
trnsim::Job program_of(const std::string& run) {
  if (run.empty())
    throw Error{Fault::kUsage, "--largest_batch", "needs the job's program", "give a run folder or a workload"};
  if (!std::filesystem::is_directory(run)) return trnsim::load_job(run);
  const analysis::WorkloadFigures workload = analysis::read_result(run).workload;
  if (workload.name.empty() || workload.options.empty())
    throw Error{Fault::kData, run, "does not say which workload it is", "run the job again with this trnsim"};
  return projected_job(workloads::load_workload(workload.name),
                       trnsim::settings_from(analysis::json_of(workload.options)));
}

/// The largest batch of a core, found by compiling the job's step with ever larger ones.
std::int64_t searched_batch(const std::string& run) {
  const trnsim::Job job = program_of(run);
  const std::int64_t batch = largest_batch(job);
  base::log_info("largest batch that fits into a core: {}; the job has {}", batch, job.step.plan.micro_batch);
  return batch;
}

void cost(const CostOptions& options) {
  const base::Format format = base::parse_format(options.format);
  const auto prices = analysis::load_prices(std::string_view{options.prices});
  const analysis::JobToPrice job = job_of(options);
  const double efficiency = base::parse_as(options.efficiency, base::Dimension::kRatio, "--efficiency");
  auto rows = price_job(job, prices, options.instances, efficiency);
  if (options.largest_batch) {
    const std::int64_t batch = searched_batch(options.run);
    for (analysis::CostRow& row : rows) {  // the instances that are simulated have the same memory per core
      if (row.basis != analysis::Basis::kRoofline) row.largest_batch = batch;
    }
  }
  print(cost_table(rows, efficiency).render(format, columns()));
  const analysis::PricedInstance& own = find_instance(prices, job.instance_type);
  base::log_info("prices of {} on {}; spot prices are samples", own.region, own.date);
  if (job.flops <= 0)
    base::log_info("instances that trnsim does not simulate need the job's work: give a run folder, or --flops");
}

}  // namespace

void add_cost(CLI::App& app) {
  auto options = std::make_shared<CostOptions>();
  app.add_option("RUN", options->run, "folder of a run, or a workload");
  app.add_option("--runtime", options->runtime, "time of a job without a run folder, as in 8:30 or \"2.5 h\"");
  app.add_option("--instance_type", options->instance_type, "that it ran on [trn1.2xlarge]");
  app.add_option("--instances", options->instances, "numbers of instances, with commas; with --runtime the job's first")
      ->delimiter(',');
  app.add_option("--epochs", options->epochs, "in the job")->check(CLI::NonNegativeNumber);
  app.add_option("--samples", options->samples, "trained on in the job")->check(CLI::NonNegativeNumber);
  app.add_option("--tokens", options->tokens, "trained on in the job")->check(CLI::NonNegativeNumber);
  app.add_option("--flops", options->flops, "model FLOPs of the job, as in \"1.2 EFLOP\"");
  app.add_option("--hbm_bytes", options->hbm_bytes, "bytes moved at device memory in the job, as in \"3 PB\"");
  app.add_option("--efficiency", options->efficiency, "of the peaks in roofline estimates")->capture_default_str();
  app.add_flag("--largest_batch", options->largest_batch, "also search the largest batch that fits into a core");
  app.add_option("--prices", options->prices, "price file [analysis/cost/prices/aws.toml]");
  app.add_option("--format", options->format, "form of the table")
      ->type_name("table|json|csv|md")
      ->capture_default_str();
  app.final_callback([options] { cost(*options); });
}

}  // namespace cli
