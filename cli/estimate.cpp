// `trnsim estimate MODEL`: does a plan fit, how long does a step take, what does the job cost; nothing is trained.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/tables.h"
#include "cli/verbs.h"
#include "trnsim/compile_cost.h"
#include "trnsim/compiler_memory.h"

namespace cli {

namespace {

struct EstimateOptions {
  trnsim::Settings settings;
  std::string model;
  double sequences = 0;
};

/// Exit code 3 with the memory and the nearest plan that fits.
[[noreturn]] void refuse(const trnsim::Job& job, const trnsim::Memory& memory) {
  const auto nearest = nearest_that_fits(job);
  throw base::Error{
      base::Fault::kCapacity, "trnsim estimate",
      fmt::format("{} does not fit:\n{}", describe(job), memory_table(memory).render(base::Format::kTable)),
      nearest ? "this one does: " + plan_flags(*nearest) : "no plan on these cores fits: use more --nnodes"};
}

std::string json_of(const trnsim::Job& job, const trnsim::Projection& p,
                    const std::optional<std::vector<trnsim::Change>>& changes) {
  const trnsim::CompileCost compile = compile_cost(job, p);
  nlohmann::ordered_json out{{"plan", describe(job)},
                             {"instance_type", job.machine.name},
                             {"instances", job.instances()},
                             {"cores", job.cores()},
                             {"stack", job.stack},
                             {"numerics", job.step.plan.numerics.name},
                             {"sequences_per_step", job.sequences_per_step()},
                             {"tokens_per_step", job.tokens_per_step()},
                             {"model_flops", p.model_flops},
                             {"device_step_seconds", p.time.device_step},
                             {"pipeline_bubble_seconds", p.bubble_seconds},
                             {"host_step_seconds", p.time.host_step},
                             {"step_seconds", p.time.step},
                             {"device_mfu", p.mfu},
                             {"job_mfu", p.job_mfu},
                             {"steps", p.steps},
                             {"train_runtime", p.time.total},
                             {"start_seconds", compile.warm_seconds},
                             {"compile_seconds", compile.cold_seconds},
                             {"compile_first_seconds", compile.first_seconds},
                             {"largest_module", compile.instructions},
                             {"host_memory_bytes", compile.host_bytes},
                             {"refusal", compile.refusal()},
                             {"dollars", p.dollars ? nlohmann::ordered_json(*p.dollars) : nlohmann::ordered_json()}};
  out["answer"] = answer_json(answer(job, p, changes), changes);
  for (const auto& [kind, bytes] : p.memory.by_kind) out["memory"][kind] = bytes;
  out["memory"]["total"] = p.memory.total;
  out["memory"]["capacity"] = p.memory.capacity;
  for (const auto& [part, bytes] : compiler_parts(p.memory)) out["memory"]["compiler"][part] = bytes;
  out["memory"]["verdict"] = verdict(p.memory);
  return out.dump(2) + "\n";
}

void estimate(const EstimateOptions& options) {
  const base::Format form = base::parse_format(options.settings.format);
  const workloads::ModelPtr model = trnsim::load_model_config(options.model);
  const auto job_of = [&](const trnsim::Settings& s) { return trnsim::job_of(s, model, options.sequences); };
  const trnsim::Job job = job_of(options.settings);
  const trnsim::Memory least = least_memory(job);
  if (!least.fits()) refuse(job, least);
  const trnsim::Projection p = project_if_it_fits(job, {.exact = options.settings.exact});
  if (!p.memory.fits()) refuse(job, p.memory);
  const auto most = static_cast<std::size_t>(options.settings.suggestions);
  std::optional<std::vector<trnsim::Change>> changes;
  if (most > 0) changes = advise(options.settings, job_of, p, most);
  if (form == base::Format::kJson) return print(json_of(job, p, changes));
  if (form == base::Format::kCsv) return print(figure_table(job, p).render(form));
  print(fmt::format("{} on {}\n\n", options.model, setting_of(job)));
  print(answer_text(answer(job, p, changes)) + "\n");
  print(figure_table(job, p).render(form) + "\n" + memory_table(p.memory).render(form));
  if (const std::string why = compile_cost(job, p).refusal(); !why.empty()) print("\n" + why + "\n");
}

}  // namespace

void add_estimate(CLI::App& app) {
  auto options = std::make_shared<EstimateOptions>();
  app.add_option("MODEL", options->model, "a Llama or GPT by name (llama2-7b), or a Hugging Face folder")->required();
  app.add_option("--sequences", options->sequences, "sequences of the whole job; default: one step")
      ->check(CLI::PositiveNumber);
  add_settings(app, "estimate", options->settings);
  app.final_callback([options, &app] {
    settle(app, "estimate", options->settings);
    if (!options->settings.given.contains("instance_type")) options->settings.instance_type = "trn1.32xlarge";
    if (!options->settings.given.contains("per_device_train_batch_size"))
      options->settings.per_device_train_batch_size = 1;
    options->settings.num_train_epochs = 1;  // --sequences counts those of the whole job
    estimate(*options);
  });
}

}  // namespace cli
