// Norms of rows and their gradients, computed at samples.
#pragma once

#include <cstdint>
#include <utility>

#include "frontend/rewrite/samples.h"

namespace trnsim::frontend::rewrite {

/// A norm at the samples.
struct Norm {
  bool centred = false;
  double eps = 0;
  Samples::Numbers deviation{}, normal{};  // its reciprocal, and (x - mean) times that
};

double fraction(double x);
/// Rows of numbers around 1 and of such as are small beside the usual eps, so that eps shows.
Samples::Numbers rows_of(std::int64_t cols);
Norm norm_of(const Samples::Numbers& x, std::int64_t cols, bool centred, double eps);
/// The parts of a norm's gradient that are means, deviation * mean(g) and deviation * normal * mean(g * normal), which
/// are subtracted from deviation * g; the first is 0 where the norm is not centred.
std::pair<Samples::Numbers, Samples::Numbers> norm_gradient_means(const Norm& norm, const Samples::Numbers& g,
                                                                  std::int64_t cols);

}  // namespace trnsim::frontend::rewrite
