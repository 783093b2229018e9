// How much a job trains on and evaluates: the user's data, or what a workload says of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "trnsim/job/job.h"
#include "trnsim/run/train.h"

namespace trnsim {

struct DataSize {
  double samples = 0;  // of an epoch
  std::int64_t eval_samples = 0;
  bool of_words = false;              // labels are of words
  workloads::TokenLengths lengths{};  // of training samples, where the settings pad them to lengths of their own
};

/// What is known beside the settings; each may be empty.
struct DataSource {
  const workloads::Workload* workload = nullptr;
  std::function<void(const std::string&)> note;  // what a user should know, one sentence each
};

/// `loaded`: the data of a training of this model, or null: then files are read for what is counted. Packed texts
/// without a validation file are held out as load_language_modelling() does. Errors: as the readers; Fault::kData for
/// texts that fill no sequence; Fault::kUsage for lengths of data that nobody has.
DataSize data_size(const Settings& settings, const workloads::ModelPtr& model, const workloads::TrainingData* loaded,
                   const DataSource& source);

}  // namespace trnsim
