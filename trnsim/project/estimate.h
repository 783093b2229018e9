// A model's training by its settings alone: fit of a plan, time of a step, cost of the job; no
// workload file, nothing is trained.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analysis/figures/figures.h"
#include "trnsim/plans/advice.h"
#include "trnsim/projection.h"

namespace trnsim {

/// `given` with defaults for settings that were not given: a trn1.32xlarge, one sequence in a
/// micro-batch (of an encoder eight, which jobs_of_model() knows), one epoch.
Settings estimate_settings(Settings given);

struct Estimate {
  Job job;
  Projection projection;                       // for a job that does not fit: the memory alone
  std::optional<std::vector<Change>> changes;  // that would help most; absent: not requested (`suggestions` 0)

  std::optional<Change> fitting_change;  // for a job that does not fit
  std::vector<std::string> typed{};      // words of the command, for a change of it

  bool fits() const { return projection.memory.fits(); }
};

/// The jobs of a model's training: of settings that estimate_settings() completed. `sequences` and `note` as below.
JobOf jobs_of_model(const std::string& model, const Settings& settings, double sequences = 0,
                    const std::function<void(const std::string&)>& note = {});

/// `model`: a preset ("llama2-7b") or a Hugging Face folder; `settings` of estimate_settings(); `sequences` of the
/// whole job, 0: those of the setting `dataset_path`, without it one step; `note`: notes for the user, one
/// sentence each. Errors: as data_size(), job_of() and project_if_it_fits().
Estimate estimate(const std::string& model, const Settings& settings, double sequences = 0,
                  const std::function<void(const std::string&)>& note = {});
/// Errors: Fault::kCapacity with the memory by kind and a fitting change, unless it fits.
void require_fit(const Estimate& estimate);

/// The JSON output of `trnsim estimate`; for one that fits.
analysis::Json to_json(const Estimate& estimate);

}  // namespace trnsim
