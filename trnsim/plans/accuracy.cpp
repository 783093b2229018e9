#include "trnsim/plans/accuracy.h"

#include "base/files.h"
#include "base/param_file.h"

namespace trnsim {

namespace {

struct Errors {
  double training = 0, generation = 0;
};

Errors errors() {
  base::ParamFile file = base::ParamFile::load(base::data_path("trnsim/plans/accuracy.toml"));
  const Errors out{file.read("training.mean_error", base::Dimension::kRatio).value,
                   file.read("generation.mean_error", base::Dimension::kRatio).value};
  file.reject_unread();
  return out;
}

}  // namespace

double training_error() { return errors().training; }
double generation_error() { return errors().generation; }

}  // namespace trnsim
