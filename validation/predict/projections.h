// Projections of jobs that several predictions share.
#pragma once

#include <cstdint>
#include <map>

#include "trnsim/projection.h"
#include "validation/predict/predict.h"

namespace validation {

/// A job's work on the device does not depend on its host, and the rows of a job's first token and of its further
/// ones are of one job: both are projected once.
class Projections {
 public:
  /// As trnsim::project(), without programs.
  trnsim::Projection project(const trnsim::Job& job, const trnsim::ProjectOptions& options);
  /// From here on the last new one alone is kept, beside those that are there.
  void keep_last() { all_ = false; }

 private:
  bool all_ = true;
  std::map<std::uint64_t, trnsim::Projection> kept_, last_;
};

/// The job's projection: a known one of the context, or a new one. `any_memory`: also of a job that does not fit.
trnsim::Projection projected(const trnsim::Job& job, const PredictContext& context, bool any_memory);

}  // namespace validation
