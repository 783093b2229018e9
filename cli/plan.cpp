// `trnsim plan MODEL`: every legal way to share a model's training between the cores, ranked by time and by dollars.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <thread>

#include "analysis/sweep.h"
#include "base/error.h"
#include "base/log.h"
#include "base/table.h"
#include "cli/decoder_report.h"
#include "cli/output.h"
#include "cli/verbs.h"

namespace cli {
namespace {

struct PlanOptions {
  TrainOptions train;
  std::string model;
  std::int64_t batch = 256, limit = 20;
};

/// All mixes of degrees, ZeRO and recomputation whose batch for the optimizer is the wanted one.
std::vector<DecoderJob> candidates(const PlanOptions& options) {
  std::vector<DecoderJob> out;
  const workloads::ModelConfig config = decoder_config(options.model);
  const std::int64_t micro = options.train.per_device_train_batch_size;
  for (std::int64_t tensor = 1; tensor <= 32; tensor *= 2)
    for (std::int64_t pipeline = 1; pipeline <= 16; pipeline *= 2)
      for (const bool zero : {true, false})
        for (const char* recompute : {"none", "selective", "full"}) {
          TrainOptions o = options.train;
          o.tensor_parallel_size = tensor;
          o.pipeline_parallel_size = pipeline;
          o.zero_1 = zero;
          o.recompute = recompute;
          try {
            DecoderJob job = decoder_job(o, config, 0);
            const std::int64_t samples = micro * static_cast<std::int64_t>(job.step.ranks);
            if (options.batch % samples != 0 || (zero && job.step.ranks == 1)) continue;
            job.step.micro_batches = options.batch / samples;
            if (job.step.micro_batches < pipeline) continue;  // stages would never be all at work
            job.sequences = job.sequences_per_step();
            job.simulated_micro_batches = 3;
            out.push_back(std::move(job));
          } catch (const base::Error& e) {
            if (e.fault() != base::Fault::kUsage) throw;
          }
        }
  return out;
}

/// Names of what is known of a candidate.
constexpr const char *kSeconds = "seconds", *kMfu = "mfu", *kExposed = "exposed", *kHbmBytes = "memory",
                     *kTooLarge = "too_large", *kIllegal = "illegal";

analysis::Metrics try_out(const DecoderJob& job, const TrainOptions& o) {
  try {
    const hw::MachineParams stage = stage_machine(job, o.instance_type, o.set);
    if (least_memory(job) > stage.hbm_bytes_per_core()) return {{kTooLarge, 1}};
    const DecoderProjection p = project(job, stage);
    return {{kSeconds, p.time.step},
            {kMfu, p.mfu},
            {kExposed, hw::seconds(p.device.collective_exposed)},
            {kHbmBytes, static_cast<double>(p.memory.total)}};
  } catch (const base::Error& e) {
    if (e.fault() == base::Fault::kCapacity) return {{kTooLarge, 1}};
    if (e.fault() == base::Fault::kUsage) return {{kIllegal, 1}};
    throw;
  }
}

/// A sweep whose points are the candidates by number, and whose results nobody keeps.
analysis::SweepRun try_all(const std::vector<DecoderJob>& all, const TrainOptions& o) {
  std::vector<analysis::SweepPoint> points;
  for (std::size_t i = 0; i < all.size(); ++i) points.push_back({{"candidate", std::to_string(i)}});
  const auto number = [](const analysis::SweepPoint& point) { return std::stoull(point.front().second); };
  const analysis::SweepModel model{
      .hash = number,
      .evaluate = [&](const analysis::SweepPoint& point) { return try_out(all[number(point)], o); },
      .name = "plan"};
  const auto processes = o.host_threads > 0 ? static_cast<int>(o.host_threads)
                                            : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  analysis::SweepRun run = analysis::run_sweep(points, model, ":memory:", processes);
  for (std::size_t i = 0; i < all.size(); ++i)
    if (const std::string& error = run.results[i].error; !error.empty())
      throw base::Error{base::Fault::kInternal, describe(all[i]), error, "report it with the command"};
  return run;
}

void plan(const PlanOptions& options) {
  const base::Format form = base::parse_format(options.train.format);
  const std::vector<DecoderJob> all = candidates(options);
  if (all.empty())
    throw base::Error{base::Fault::kUsage, "trnsim plan " + options.model,
                      fmt::format("no plan makes a batch of {} sequences on these cores", options.batch),
                      "use another --global_batch_size or --nnodes"};
  const analysis::SweepRun run = try_all(all, options.train);
  if (run.interrupted)
    throw base::Error{base::Fault::kUsage, "trnsim plan", "was interrupted", "let it end, or try fewer --nnodes"};
  struct Tried {
    const DecoderJob& job;
    const analysis::Metrics& metrics;
    double at(const char* name) const { return metrics.at(name); }
  };
  std::vector<Tried> good;
  std::size_t large = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const analysis::Metrics& metrics = run.results[i].metrics;
    if (metrics.contains(kSeconds)) good.push_back({all[i], metrics});
    large += metrics.contains(kTooLarge);
  }
  // On one and the same cluster the cheapest plan is the fastest.
  std::vector<std::size_t> order(good.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return good[i].at(kSeconds); });
  const double price =
      hw::load_machine(options.train.instance_type, options.train.set).price_on_demand.value * options.train.nnodes;
  base::Table table{{{"rank", ""},
                     {"plan", ""},
                     {"step", "step s"},
                     {"rate", "sequences/s"},
                     {"mfu", "MFU %"},
                     {"exposed", "collectives exposed s"},
                     {"memory", "HBM GiB"},
                     {"dollars", "$ per million tokens"},
                     {"flags", ""}}};
  for (std::size_t i = 0; i < order.size() && i < static_cast<std::size_t>(options.limit); ++i) {
    const Tried& r = good[order[i]];
    const double seconds = r.at(kSeconds);
    table.add_row({fmt::format("{}", i + 1), describe(r.job), fmt::format("{:.4g}", seconds),
                   fmt::format("{:.2f}", r.job.sequences_per_step() / seconds), fmt::format("{:.1f}", 100 * r.at(kMfu)),
                   fmt::format("{:.3g}", r.at(kExposed)), fmt::format("{:.1f}", r.at(kHbmBytes) / (1 << 30)),
                   fmt::format("{:.3f}", seconds / 3600 * price / r.job.tokens_per_step() * 1e6), flags_of(r.job)});
  }
  print(table.render(form));
  base::log_info("{} plans tried, {} fit, {} do not, {} cannot be formed on this machine", all.size(), good.size(),
                 large, all.size() - good.size() - large);
  if (good.empty())
    throw base::Error{base::Fault::kCapacity, "trnsim plan " + options.model, "no plan fits", "use more --nnodes"};
}

}  // namespace

void add_plan(CLI::App& app) {
  auto options = std::make_shared<PlanOptions>();
  app.add_option("MODEL", options->model, "a Llama or GPT by name (llama2-7b), or a Hugging Face folder")->required();
  app.add_option("--global_batch_size", options->batch, "sequences of an optimizer step, over all cores")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--limit", options->limit, "plans to show")->check(CLI::PositiveNumber)->capture_default_str();
  add_train_options(app, "plan", options->train);
  app.final_callback([options, &app] {
    settle(app, "plan", options->train);
    if (!options->train.given.contains("instance_type")) options->train.instance_type = "trn1.32xlarge";
    if (!options->train.given.contains("per_device_train_batch_size")) options->train.per_device_train_batch_size = 1;
    plan(*options);
  });
}

}  // namespace cli
