// Samples of several lengths: a job as jobs of one length each, and the gain over one length for all and
// over packing.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analysis/figures/figures.h"
#include "trnsim/projection.h"

namespace trnsim {

/// Those of the job's samples that are padded to its length number `i`, as a job of one length. It may have no steps
/// when the job has few.
Job of_length(const Job& job, std::size_t i);
/// The same samples, all padded to one length.
Job of_one_length(const Job& job);

/// A way to bring samples to lengths.
struct LengthPlan {
  std::string name;                  // "one length of 512", "128, 256, 512", "packed to 512"
  double programs = 0;               // that are compiled, without further ones of the stack's loop
  double compile_seconds = 0;        // once, with an empty cache
  double sequences = 0, tokens = 0;  // of an epoch; tokens with padding
  double padding = 0;                // of these, of 1
  double epoch_seconds = 0;          // without start and evaluation
};
/// One length, the job's lengths, and packing, of a projected job with lengths; without the first and the last when one
/// length does not fit into memory.
std::vector<LengthPlan> length_plans(const Job& job, const Projection& projection);

/// Lengths and plans as figures.
analysis::LengthsFigures lengths_figures(const Job& job, const Projection& projection);

}  // namespace trnsim
