#include "trnsim/plans/accuracy.h"

#include "base/files.h"
#include "base/param_file.h"

namespace trnsim {

double training_error() {
  base::ParamFile file = base::ParamFile::load(base::data_path("trnsim/plans/accuracy.toml"));
  const double error = file.read("training.mean_error", base::Dimension::kRatio).value;
  file.reject_unread();
  return error;
}

}  // namespace trnsim
