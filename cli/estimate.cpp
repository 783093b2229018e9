// `trnsim estimate MODEL`: does a plan fit, how long does a step take, what does the job cost; nothing is trained.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "trnsim/decoder_report.h"

namespace cli {

using namespace trnsim;
namespace {

struct EstimateOptions {
  TrainOptions train;
  std::string model;
  double sequences = 0;
};

/// Exit code 3 with the memory and the nearest plan that fits.
[[noreturn]] void refuse(const DecoderJob& job, const DecoderMemory& memory, const TrainOptions& options) {
  const auto nearest = nearest_that_fits(job, options.instance_type, options.set);
  throw base::Error{
      base::Fault::kCapacity, "trnsim estimate",
      fmt::format("{} does not fit:\n{}", describe(job), decoder_memory_table(memory).render(base::Format::kTable)),
      nearest ? "this one does: " + flags_of(*nearest) : "no plan on these cores fits: use more --nnodes"};
}

std::string json_of(const DecoderJob& job, const DecoderProjection& p) {
  nlohmann::ordered_json out{
      {"plan", describe(job)},
      {"cores", job.cores()},
      {"sequences_per_step", job.sequences_per_step()},
      {"tokens_per_step", job.tokens_per_step()},
      {"model_flops", p.model_flops},
      {"device_step_seconds", p.time.device_step},
      {"device_step_by_one_stage_seconds", p.computed_seconds},
      {"pipeline_bubble_seconds", p.bubble_seconds},
      {"host_step_seconds", p.time.host_step},
      {"step_seconds", p.time.step},
      {"mfu", p.mfu},
      {"steps", p.steps},
      {"train_runtime", p.time.total},
      {"dollars", p.dollars ? nlohmann::ordered_json(*p.dollars) : nlohmann::ordered_json(nullptr)}};
  for (const auto& [kind, bytes] : p.memory.by_kind) out["memory"][kind] = bytes;
  out["memory"]["total"] = p.memory.total;
  out["memory"]["capacity"] = p.memory.capacity;
  return out.dump(2) + "\n";
}

void estimate(const EstimateOptions& options) {
  const TrainOptions& o = options.train;
  const base::Format form = base::parse_format(o.format);
  const DecoderJob job = decoder_job(o, decoder_config(options.model), options.sequences);
  const JobMachines machines = machines_of(job, o.instance_type, o.set);
  const std::uint64_t least = least_memory(job), there = machines.whole.hbm_bytes_per_core();
  if (least > there) refuse(job, {.by_kind = {{"at least", least}}, .total = least, .capacity = there}, o);
  const DecoderProjection p = project_if_it_fits(job, machines);
  if (!p.memory.fits()) refuse(job, p.memory, o);
  if (form == base::Format::kJson) return print(json_of(job, p));
  if (form == base::Format::kCsv) return print(decoder_table(job, p).render(form));
  print(fmt::format("{} on {} x {}: {}\n\n", options.model, job.instances, o.instance_type, describe(job)));
  print(decoder_table(job, p).render(form) + "\n" + decoder_memory_table(p.memory).render(form));
}

}  // namespace

void add_estimate(CLI::App& app) {
  auto options = std::make_shared<EstimateOptions>();
  app.add_option("MODEL", options->model, "a Llama or GPT by name (llama2-7b), or a Hugging Face folder")->required();
  app.add_option("--sequences", options->sequences, "sequences of the whole job; default: one step")
      ->check(CLI::PositiveNumber);
  add_train_options(app, "estimate", options->train);
  app.final_callback([options, &app] {
    settle(app, "estimate", options->train);
    if (!options->train.given.contains("instance_type")) options->train.instance_type = "trn1.32xlarge";
    if (!options->train.given.contains("per_device_train_batch_size")) options->train.per_device_train_batch_size = 1;
    estimate(*options);
  });
}

}  // namespace cli
