#include "trnsim/project/estimate.h"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "analysis/record/result.h"
#include "base/error.h"
#include "trnsim/job/data_size.h"
#include "trnsim/job/settings.h"
#include "trnsim/job/unread.h"
#include "trnsim/plans/known_blocks.h"
#include "trnsim/project/compile_cost.h"
#include "trnsim/project/figures.h"
#include "trnsim/project/memory.h"
#include "trnsim/run/run.h"
#include "workloads/models/model.h"
#include "workloads/models/presets.h"

namespace trnsim {

Settings estimate_settings(Settings given) {
  if (!given.given.contains("instance_type")) given.machine.instance_type = "trn1.32xlarge";
  if (!given.given.contains("per_device_train_batch_size")) given.training.per_device_train_batch_size = 1;
  if (!given.given.contains("eval_strategy")) given.training.eval_strategy = "no";
  if (!given.given.contains("num_train_epochs")) given.training.num_train_epochs = 1;
  return given;
}

namespace {

/// Errors: Fault::kUsage for a number of sequences that no job has.
void require_whole(double sequences) {
  constexpr double kMost = 9e15;
  if (sequences == std::floor(sequences) && sequences <= kMost) return;
  throw base::Error{base::Fault::kUsage, "`sequences`",
                    fmt::format("{:g} is not a whole number up to {:g}", sequences, kMost),
                    "give one, or leave it out"};
}

}  // namespace

JobOf jobs_of_model(const std::string& name, const Settings& settings, double sequences,
                    const std::function<void(const std::string&)>& note) {
  require_whole(sequences);
  workloads::ModelPtr model = load_model_config(name);
  DataSize data;
  if (settings.data.dataset_path.empty()) {
    if (!is_requests(settings)) require_lengths(settings, *headed(settings, model));  // no data would help
    refuse_unread(settings, Needs::kData, "dataset_path");
    if (sequences <= 0 && settings.data.task != kInference) refuse_unread(settings, Needs::kSteps, "sequences");
  }
  if (sequences > 0) refuse_amounts(settings);
  if (!settings.data.dataset_path.empty()) {
    Settings own = settings;  // the tokenizer may be beside the model
    if (own.data.vocab.empty() && !workloads::is_model_preset(name) && std::filesystem::exists(name))
      own.data.model_id = name;
    data = data_size(own, model, nullptr, {.workload = nullptr, .note = note});
    if (data.of_words) model = model->with_head(workloads::Head::kTokens);
  }
  if (sequences <= 0) sequences = data.samples;
  return [=](const Settings& s) {
    Settings own = s;  // an encoder's texts are short: a core takes as many at once as Hugging Face's Trainer does
    if (!model->splits() && !s.given.contains("per_device_train_batch_size"))
      own.training.per_device_train_batch_size = TrainingSettings{}.per_device_train_batch_size;
    return job_of(own, model, sequences, data.eval_samples, data.lengths);
  };
}

Estimate estimate(const std::string& name, const Settings& settings, double sequences,
                  const std::function<void(const std::string&)>& note) {
  const JobOf job = jobs_of_model(name, settings, sequences, note);
  Estimate out{.job = job(settings), .projection = {}, .changes = {}, .fitting_change = {}};
  tell_unread(out.job, settings, note);
  const auto most = static_cast<std::size_t>(settings.output.suggestions);
  KnownBlocks known;
  out.projection = project_if_it_fits(
      out.job, {.exact = settings.machine.exact, .shared = most > 0 ? &known.of(out.job.machine) : nullptr});
  if (out.fits() && most > 0) out.changes = advise(settings, job, out.projection, most, &known);
  if (!out.fits()) out.fitting_change = fitting_change(settings, job, &known);
  return out;
}

void require_fit(const Estimate& e) {
  if (!e.fits()) require_fit(e.job, e.projection.memory, fix_text(e.fitting_change, e.typed));
}

analysis::Json to_json(const Estimate& e) {
  analysis::Figures figures = figures_of(e.job, e.projection);
  analysis::Json out = flat_json(figures);
  out["refusal"] = compile_cost(e.job, e.projection).refusal();
  figures.answer = figures_of(answer(e.job, e.projection, e.changes, e.typed), e.changes);
  const analysis::Json whole = to_json(figures);
  for (const char* section : {"answer", "lengths"})
    if (whole.contains(section)) out[section] = whole[section];
  return analysis::with_schema(out);
}

}  // namespace trnsim
