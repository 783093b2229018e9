#include "trnsim/project/estimate.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/error.h"
#include "base/units.h"
#include "trnsim/job/data_size.h"
#include "trnsim/job/lengths.h"
#include "trnsim/project/compile_cost.h"
#include "trnsim/project/compiler_memory.h"
#include "trnsim/run/run.h"

namespace trnsim {

Settings estimate_settings(Settings given) {
  if (!given.given.contains("instance_type")) given.machine.instance_type = "trn1.32xlarge";
  if (!given.given.contains("per_device_train_batch_size")) given.training.per_device_train_batch_size = 1;
  if (!given.given.contains("eval_strategy")) given.training.eval_strategy = "no";
  given.training.num_train_epochs = 1;  // the sequences are those of the whole job
  return given;
}

Estimate estimate(const std::string& name, const Settings& settings, double sequences,
                  const std::function<void(const std::string&)>& note) {
  workloads::ModelPtr model = load_model_config(name);
  DataSize data;
  if (!settings.data.dataset_path.empty()) {
    Settings own = settings;  // the tokenizer may lie beside the model
    if (own.data.vocab.empty() && std::filesystem::exists(name)) own.data.model_id = name;
    data = data_size(own, model, nullptr, {.workload = nullptr, .note = note});
    if (data.of_words) model = model->with_head(workloads::Head::kTokens);
  }
  if (sequences <= 0) sequences = data.samples;
  const auto job = [&](const Settings& s) { return job_of(s, model, sequences, data.eval_samples, data.lengths); };
  Estimate out{.job = job(settings), .projection = {}, .changes = {}, .remedy = {}};
  out.projection = project_if_it_fits(out.job, {.exact = settings.machine.exact});
  const auto most = static_cast<std::size_t>(settings.output.suggestions);
  if (out.fits() && most > 0) out.changes = advise(settings, job, out.projection, most);
  if (!out.fits()) out.remedy = remedy(settings, job);
  return out;
}

void require_fit(const Estimate& e) {
  if (!e.fits()) require_fit(e.job, e.projection.memory, fix_text(e.remedy, e.typed));
}

nlohmann::ordered_json to_json(const Estimate& e) {
  const auto& [job, p, changes, remedy, typed] = e;
  const CompileCost compile = compile_cost(job, p);
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
  out["answer"] = answer_json(answer(job, p, changes, typed), changes);
  if (!p.lengths.empty()) out["lengths"] = lengths_json(job, p);
  for (const auto& [kind, bytes] : p.memory.by_kind) out["memory"][kind] = bytes;
  out["memory"]["total"] = p.memory.total;
  out["memory"]["capacity"] = p.memory.capacity;
  for (const auto& [part, bytes] : compiler_parts(p.memory)) out["memory"]["compiler"][part] = bytes;
  out["memory"]["verdict"] = verdict(p.memory);
  return out;
}

}  // namespace trnsim
