// `trnsim plan MODEL`: every legal way to share a model's training between the cores, ranked by time and by dollars.
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <thread>

#include "base/error.h"
#include "base/log.h"
#include "base/progress.h"
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

/// What a child tells of its candidate.
struct Outcome {
  enum class Kind : std::int32_t { kUntried, kDone, kTooLarge, kIllegal } kind = Kind::kUntried;
  double seconds = 0, mfu = 0, exposed = 0, memory = 0;
};

struct Candidate {
  DecoderJob job;
  Outcome outcome;
};

/// All mixes of degrees, ZeRO and recomputation whose batch for the optimizer is the wanted one.
std::vector<Candidate> candidates(const PlanOptions& options) {
  std::vector<Candidate> out;
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
            out.push_back({.job = std::move(job), .outcome = {}});
          } catch (const base::Error& e) {
            if (e.fault() != base::Fault::kUsage) throw;
          }
        }
  return out;
}

Outcome try_out(const DecoderJob& job, const TrainOptions& o) {
  Outcome out;
  try {
    const hw::MachineParams stage = stage_machine(job, o.instance_type, o.set);
    if (least_memory(job) > stage.hbm_bytes_per_core()) return {.kind = Outcome::Kind::kTooLarge};
    const DecoderProjection p = project(job, stage);
    out = {Outcome::Kind::kDone, p.time.step, p.mfu, hw::seconds(p.device.collective_exposed),
           static_cast<double>(p.memory.total)};
  } catch (const base::Error& e) {
    if (e.fault() != base::Fault::kCapacity && e.fault() != base::Fault::kUsage) throw;
    out.kind = e.fault() == base::Fault::kCapacity ? Outcome::Kind::kTooLarge : Outcome::Kind::kIllegal;
  }
  return out;
}

/// Candidates are dealt to child processes: SystemC lives once in a process.
void try_all(std::vector<Candidate>& all, const TrainOptions& o, base::Progress& progress) {
  const std::size_t wanted =
      o.host_threads > 0 ? static_cast<std::size_t>(o.host_threads) : std::max(1u, std::thread::hardware_concurrency());
  const std::size_t workers = std::min(wanted, all.size());
  struct Worker {
    pid_t pid = 0;
    int from = -1;
  };
  std::vector<Worker> pool;
  for (std::size_t w = 0; w < workers; ++w) {
    int ends[2];
    base::ensure(pipe(ends) == 0, "plan", "no pipe");
    flush();
    const pid_t pid = fork();
    base::ensure(pid >= 0, "plan", "no process");
    if (pid == 0) {
      close(ends[0]);
      for (std::size_t i = w; i < all.size(); i += workers) {
        const Outcome outcome = try_out(all[i].job, o);
        if (write(ends[1], &outcome, sizeof outcome) != sizeof outcome) _exit(1);
      }
      _exit(0);
    }
    close(ends[1]);
    pool.push_back({pid, ends[0]});
  }
  std::uint64_t done = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (read(pool[i % workers].from, &all[i].outcome, sizeof(Outcome)) != sizeof(Outcome))
      throw base::Error{base::Fault::kInternal, describe(all[i].job), "could not be tried",
                        "report it with the command"};
    progress.update(++done);
  }
  for (const Worker& worker : pool) {
    close(worker.from);
    waitpid(worker.pid, nullptr, 0);
  }
}

void plan(const PlanOptions& options) {
  const base::Format form = base::parse_format(options.train.format);
  std::vector<Candidate> all = candidates(options);
  if (all.empty())
    throw base::Error{base::Fault::kUsage, "trnsim plan " + options.model,
                      fmt::format("no plan makes a batch of {} sequences on these cores", options.batch),
                      "use another --global_batch_size or --nnodes"};
  base::Progress progress{"plan", "plan", all.size()};
  try_all(all, options.train, progress);
  progress.finish();
  std::vector<const Candidate*> good;
  std::size_t large = 0;
  for (const Candidate& c : all) {
    if (c.outcome.kind == Outcome::Kind::kDone) good.push_back(&c);
    large += c.outcome.kind == Outcome::Kind::kTooLarge;
  }
  // On one and the same cluster the cheapest plan is the fastest.
  std::ranges::sort(good, {}, [](const Candidate* c) { return c->outcome.seconds; });
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
  for (std::size_t i = 0; i < good.size() && i < static_cast<std::size_t>(options.limit); ++i) {
    const Outcome& r = good[i]->outcome;
    const DecoderJob& job = good[i]->job;
    table.add_row({fmt::format("{}", i + 1), describe(job), fmt::format("{:.4g}", r.seconds),
                   fmt::format("{:.2f}", job.sequences_per_step() / r.seconds), fmt::format("{:.1f}", 100 * r.mfu),
                   fmt::format("{:.3g}", r.exposed), fmt::format("{:.1f}", r.memory / (1 << 30)),
                   fmt::format("{:.3f}", r.seconds / 3600 * price / job.tokens_per_step() * 1e6), flags_of(job)});
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
