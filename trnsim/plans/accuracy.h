// The errors of predictions of published jobs, and whether they speak of another job.
#pragma once

#include <string>

#include "trnsim/job.h"

namespace trnsim {

/// The range around a predicted time that published jobs of the same kind and size call likely.
struct Likely {
  std::string regime;  // "training, one chip", as docs/accuracy.md calls it
  double error = 0;    // mean absolute error of its rows, of 1, each with its publisher left out of every fit; doubled
                       // when no row is like the job
  int rows = 0;        // of the regime
  int inside = 0;      // of them within the mean
  bool like = false;   // some row has about as many cores and tokens in a sequence, and a model of about that size
  std::string published;  // the row of the very job, if there is one
};

/// From trnsim/plans/accuracy.toml, as ./dev accuracy wrote it last. Errors: as base::data_path() and base::ParamFile.
Likely likely(const Job& job);

}  // namespace trnsim
