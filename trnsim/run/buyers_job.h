// A job for a buyer: priced as it is, and simulated on other instances.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "analysis/cost/job_cost.h"
#include "trnsim/plans/placement.h"
#include "trnsim/plans/serving.h"

namespace trnsim {

struct BuyersJob {
  analysis::JobToPrice price;
  std::string name;          // of the workload, the model, or the run
  std::string text;          // its setting in a line; empty for a run
  std::string verb = "run";  // of trnsim, that answers for one instance
  Settings settings;
  JobOf job_of{};         // empty: a folder that does not say which job it was,
  std::string unknown{};  // for this reason
  ProjectOf project{};
  bool keeps_batch = true;         // false: its batch is searched for on each instance
  double requests = 0;             // to a trained model; 0: the model is trained
  std::optional<Served> served{};  // the model behind its own instance, where there are requests
};

/// The jobs of a workload or a model, before one of them is chosen.
struct JobSource {
  std::string name;
  Settings settings;
  JobOf job_of{};
  std::string model{};      // its name or folder
  std::int64_t batch = 64;  // sequences of an optimizer step, over all cores: a workload's own
};
/// As buyers_job(), but of a run's folder, which has its job already.
JobSource job_source(const std::string& name, const Settings& given, double samples,
                     const std::function<void(const std::string&)>& note = {});

/// `name`: a run's folder, a workload (name or file), a model (preset) or a Hugging Face folder with `sequences` in the
/// whole job; with the setting `task` inference these are requests, a million by default, which each instance answers
/// with as many copies of the model as its cores hold. `given`: settings on top, but of a run. Errors: Fault::kUsage
/// for a name of none of these, a model to train without sequences, or requests to something else; Fault::kCapacity for
/// a job that does not fit where it is; as projected_run() and estimate().
BuyersJob buyers_job(const std::string& name, const Settings& given = {}, double sequences = 0,
                     const std::function<void(const std::string&)>& note = {});

/// Simulates the job on each kind and number of instances. Answers why it is not on some of them, a sentence each.
std::vector<std::string> place(BuyersJob& job, const std::vector<int>& counts, int processes);

}  // namespace trnsim
