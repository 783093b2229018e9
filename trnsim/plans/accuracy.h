// The errors of predictions of published jobs.
#pragma once

namespace trnsim {

/// Mean absolute error of published jobs that train, or that write text, of 1, as ./dev accuracy measured it last
/// (trnsim/plans/accuracy.toml). Errors: as base::data_path() and base::ParamFile.
double training_error();
double generation_error();

}  // namespace trnsim
