// `trnsim cost NAME`, of a run, a workload or a model, or `--runtime TIME --instance_type TYPE`: a job priced on every
// instance type, simulated where trnsim has the machine.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>

#include "analysis/cost/job_cost.h"
#include "base/error.h"
#include "base/log.h"
#include "base/progress.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/add_count.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/tables.h"
#include "cli/verbs.h"
#include "trnsim/job/settings.h"
#include "trnsim/run/buyers_job.h"

namespace cli {
namespace {

using base::Error;
using base::Fault;

struct CostOptions {
  trnsim::Settings settings;
  std::string name, runtime, prices, flops, hbm_bytes,
      efficiency = fmt::format("{:g}%", analysis::kRooflineEfficiency * 100);
  std::vector<int> instances;
  double epochs = 0, samples = 0, tokens = 0;
  bool largest_batch = false;
  Tables tables;
};

/// A job of which only the time is known, and perhaps its work.
analysis::JobToPrice job_of_runtime(const CostOptions& options) {
  analysis::JobToPrice job;
  job.seconds = base::parse_duration(options.runtime, "--runtime");
  job.instance_type = options.settings.machine.instance_type;
  if (!options.instances.empty()) job.instances = options.instances.front();
  return job;
}

/// Adds the user's own figures of the job, which come first.
void add_given(analysis::JobToPrice& job, const CostOptions& options) {
  if (options.epochs > 0) job.epochs = options.epochs;
  if (options.samples > 0) job.samples = options.samples;
  if (options.tokens > 0) job.tokens = options.tokens;
  if (!options.flops.empty()) job.flops = base::parse_as(options.flops, base::Dimension::kFlopCount, "--flops");
  if (!options.hbm_bytes.empty())
    job.hbm_bytes = base::parse_as(options.hbm_bytes, base::Dimension::kBytes, "--hbm_bytes");
}

/// The largest batch of a core, found by compiling the job's step with ever larger ones.
std::int64_t searched_batch(const trnsim::BuyersJob& buyers) {
  if (!buyers.job_of)
    throw Error{Fault::kUsage, "--largest_batch", "needs the job's program", "give a run folder or a workload"};
  const trnsim::Job job = buyers.job_of(buyers.settings);
  const std::int64_t batch = largest_batch(job);
  base::log_info("largest batch that fits on a core: {}; the job has {}", batch, job.step.plan.micro_batch);
  return batch;
}

/// One line for each reason, with all instances that it keeps out. A reason that names its instance first does so once.
/// Several reasons are too much beside an answer of a few rows: there the instances alone are named.
void note_left_out(const std::vector<std::string>& sentences, bool brief) {
  std::map<std::string, std::string> by_reason;
  for (const std::string& sentence : sentences) {
    const std::size_t end = sentence.find(": ");
    const std::string place = sentence.substr(0, end), type = place.substr(place.find_last_of(' ') + 1) + ": ";
    std::string reason = end == sentence.npos ? "" : sentence.substr(end + 2);
    if (reason.starts_with(type)) reason.erase(0, type.size());
    std::string& places = by_reason[reason];
    places += (places.empty() ? "" : ", ") + place;
  }
  if (brief && by_reason.size() > 1) {
    std::string all;
    for (const auto& [reason, places] : by_reason) all += (all.empty() ? "" : ", ") + places;
    return base::log_info("left out: {}; --tables says why", all);
  }
  for (const auto& [reason, places] : by_reason)
    base::log_info("left out: {}{}{}", places, reason.empty() ? "" : ": ", flags_in(reason));
}

trnsim::BuyersJob job_of(const CostOptions& options) {
  const bool given = !options.runtime.empty();
  if (given == !options.name.empty()) {
    throw Error{Fault::kUsage, "trnsim cost", given ? "has both a job and --runtime" : "has no job to price",
                "give a run folder, a workload or a model, or --runtime and --instance_type"};
  }
  trnsim::BuyersJob out;
  if (given) {
    refuse_known_time(options.settings);
    out.price = job_of_runtime(options);
  } else {
    out = trnsim::buyers_job(options.name, options.settings, options.samples,
                             [](const std::string& note) { base::log(base::LogLevel::kWarning, flags_in(note)); });
    note_left_out(place(out, options.instances, processes_of(options.settings)),
                  on_terminal() && !options.tables.wanted());
  }
  add_given(out.price, options);
  return out;
}

/// "cheapest  $0.115 in 3:04 on 1 x trn2.3xlarge, 8 cores, 128 sequences a step".
std::string line_of(std::string_view name, const analysis::CostRow* row) {
  if (!row) return "";
  std::string out = fmt::format("{}: {}{} on {} x {}", name, row->paid() ? dollars(row->paid()) + " in " : "no price, ",
                                base::duration_text(row->seconds), row->instances, row->instance_type);
  if (row->cores > 0)
    out += fmt::format(", {}, {:g} {} a step", base::counted(static_cast<std::int64_t>(row->cores), "core"),
                       row->sequences_per_step, row->sequences_per_step == 1 ? "sequence" : "sequences");
  for (const auto& [setting, value] : row->settings)
    out += fmt::format("{}--{} {}", setting == row->settings.front().first ? ": " : " ", setting, value);
  return paragraph(out);
}

/// The cheapest of those that were simulated: as many as a terminal has room for.
std::vector<analysis::CostRow> first_rows(const std::vector<analysis::CostRow>& rows) {
  constexpr std::size_t kMost = 5;
  std::vector<analysis::CostRow> out;
  for (const analysis::CostRow& row : rows)
    if (row.basis != analysis::Basis::kRoofline && row.paid()) out.push_back(row);
  std::ranges::stable_sort(out, {}, [](const analysis::CostRow& row) { return *row.paid(); });
  out.resize(std::min(out.size(), kMost));
  return out;
}

void print_for_people(const trnsim::BuyersJob& job, const std::vector<analysis::CostRow>& rows, Tables tables) {
  if (!job.text.empty()) print(paragraph(fmt::format("{}: {}", job.name, job.text)) + "\n");
  print(line_of("this job", &rows.front()));
  if (rows.size() > 1) print(line_of("cheapest", cheapest_of(rows)) + line_of("fastest", fastest_of(rows)));
  if (const analysis::CostRow* row = cheapest_interrupted(rows))
    print(paragraph(fmt::format("cut off every {}: at least {} in {} {} on {} x {}, by a checkpoint every {}",
                                job.settings.output.interrupted_every, dollars(row->interrupted->dollars),
                                base::duration_text(row->interrupted->seconds),
                                analysis::bought_text(analysis::bought_when_interrupted(row->purchase)), row->instances,
                                row->instance_type,
                                base::counted(static_cast<std::int64_t>(row->interrupted->save_steps), "step"))));
  if (tables.wanted()) return print("\n" + brief_cost_table(rows).render(base::Format::kTable, columns()));
  print("\n" + brief_cost_table(first_rows(rows)).render(base::Format::kTable, columns()));
  print_next(
      fmt::format("trnsim {} with these flags for one of them, or --tables for all instances, GPUs too", job.verb));
}

void cost(const CostOptions& options) {
  const base::Format format = base::parse_format(options.settings.output.format);
  const auto prices = analysis::load_prices(std::string_view{options.prices});
  const double efficiency = analysis::parse_efficiency(options.efficiency, "--efficiency");
  const trnsim::BuyersJob job = job_of(options);
  auto rows = price_job(job.price, prices, options.instances, efficiency);
  if (options.largest_batch) {
    const std::int64_t batch = searched_batch(job);
    for (analysis::CostRow& row : rows) {  // of this machine: another one may have other memory
      if (row.instance_type == job.price.instance_type) row.largest_batch = batch;
    }
  }
  if (format == base::Format::kTable && !options.largest_batch)
    print_for_people(job, rows, options.tables);
  else
    print(cost_table(rows, efficiency).render(format, columns()));
  const std::vector<analysis::PricedInstance> with_own = prices_of(job.price, prices);
  const analysis::PricedInstance& own = find_instance(with_own, job.price.instance_type);
  base::log_info("prices of {} on {}; spot prices are samples; all prices: --format md", own.region, own.date);
  if (job.requests > 0 && !job.settings.given.contains("batch_size"))
    base::log_info("each copy answers one request at a time; larger batches can cost less: trnsim choose {} --task {}",
                   options.name, job.settings.data.task);
  const bool with_gpus = format != base::Format::kTable || options.largest_batch || options.tables.wanted();
  if (job.price.flops > 0 && with_gpus)
    base::log_info(
        "roofline: only the steps, at {:g} % of the GPUs' peaks or as fast as the host dispatches; no start, "
        "evaluation or communication",
        efficiency * 100);
  else if (!(job.price.flops > 0))
    base::log_info("instances that trnsim does not simulate need the job's work: give a run folder, or --flops");
}

}  // namespace

void add_cost(CLI::App& app) {
  auto options = std::make_shared<CostOptions>();
  app.add_option("NAME", options->name, "folder of a run, a workload, or a model (a name, or a Hugging Face folder)");
  app.add_option("--runtime", options->runtime, "time of a job without a run folder, as in 8:30 or \"2.5 h\"");
  add_counts(app, "--instances", options->instances,
             "numbers of instances to price, with commas; with --runtime the first is the job's own");
  add_amount(app, "--epochs", options->epochs, "passes over the data; adds the dollars of one pass");
  add_count(app, "--samples,--sequences", options->samples, "samples of the whole job; needed where a model is named");
  add_count(app, "--tokens", options->tokens, "tokens of the whole job; adds the dollars of a million tokens");
  app.add_option("--flops", options->flops, "model FLOPs of the job, as in \"1.2 EFLOP\"");
  app.add_option("--hbm_bytes", options->hbm_bytes,
                 "bytes that the job reads from and writes to device memory, as in \"3 PB\"");
  app.add_option("--efficiency", options->efficiency, "share of the peaks that roofline estimates assume")
      ->capture_default_str();
  app.add_flag("--largest_batch", options->largest_batch, "also search for the largest batch that fits on a core");
  app.add_option("--prices", options->prices, "price file [analysis/cost/prices/aws.toml]");
  add_tables_flag(app, options->tables.asked);
  act_with_settings(app, "cost", options, cost);
}

}  // namespace cli
