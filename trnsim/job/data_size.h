// The size of a job's training and evaluation data: the user's, or as stated by a workload.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "trnsim/job.h"
#include "trnsim/run/train.h"
#include "workloads/data/lengths.h"
#include "workloads/jobs/workload.h"

namespace trnsim {

struct DataSize {
  double samples = 0;  // per epoch
  std::int64_t eval_samples = 0;
  bool of_words = false;              // labels are of words
  workloads::TokenLengths lengths{};  // of training samples, where the settings pad them to lengths of their own
};

/// Sources of the size besides the settings; each may be empty.
struct DataSource {
  const workloads::Workload* workload = nullptr;
  std::function<void(const std::string&)> note;  // notes for the user, one sentence each
};

/// Samples per epoch, and of an evaluation, of a workload's own data. Packed texts have so many tokens: shorter
/// sequences are more of them.
struct PublishedSamples {
  double train = 0;
  std::int64_t evaluation = 0;
};
PublishedSamples published_samples(const workloads::Workload& workload, const Settings& settings,
                                   const workloads::Model& model);

/// `loaded`: the data of a training of this model, or null: then files are read and counted. Packed texts
/// without a validation file are held out as load_language_modelling() does. Errors: as the readers; Fault::kData for
/// texts that fill no sequence; Fault::kUsage for lengths of data that is not available.
DataSize data_size(const Settings& settings, const workloads::ModelPtr& model, const workloads::TrainingData* loaded,
                   const DataSource& source);

}  // namespace trnsim
