// What `trnsim validate` answers for a row: which kinds of published measurements are modelled, and how.
#pragma once

#include "analysis/validation_report.h"
#include "base/param_file.h"

namespace cli {

/// What the predictions of one table share.
struct PredictContext {
  base::ParamFile machine;  // the instance that --instance_type and --set describe
  bool exact = false;       // simulate every core and every call
  int host_threads = 0;
};

/// Kinds that nothing models are skipped with a reason.
analysis::Prediction predict(const analysis::Row& row, const PredictContext& context);

/// Kinds "launch" and "host": the host alone (analysis/host_model.h).
analysis::Prediction predict_launch(const analysis::Row& row, const PredictContext& context);
analysis::Prediction predict_host(const analysis::Row& row, const PredictContext& context);

}  // namespace cli
