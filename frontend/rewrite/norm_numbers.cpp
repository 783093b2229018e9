#include "frontend/rewrite/norm_numbers.h"

#include <cmath>

namespace trnsim::frontend::rewrite {

using Numbers = Samples::Numbers;

double fraction(double x) { return x - std::floor(x); }

/// Rows of numbers around 1 and of such as are small beside the usual eps, so
/// that eps shows.
Numbers rows_of(std::int64_t cols) {
  Numbers out;
  for (const double scale : {1.0, 2e-3})
    for (std::int64_t c = 0; c < cols; ++c)
      out.push_back(scale * (0.3 + 2 * fraction(0.6180339887498949 * static_cast<double>(c + 1))));
  return out;
}

Norm norm_of(const Numbers& x, std::int64_t cols, bool centred, double eps) {
  Norm out{.centred = centred, .eps = eps};
  const auto n = static_cast<std::size_t>(cols);
  for (std::size_t row = 0; row < x.size(); row += n) {
    double mean = 0, squares = 0;
    for (std::size_t c = row; c < row + n; ++c) mean += x[c] / static_cast<double>(n);
    if (!centred) mean = 0;
    for (std::size_t c = row; c < row + n; ++c) squares += (x[c] - mean) * (x[c] - mean);
    const double deviation = 1 / std::sqrt(squares / static_cast<double>(n) + eps);
    for (std::size_t c = row; c < row + n; ++c) {
      out.deviation.push_back(deviation);
      out.normal.push_back((x[c] - mean) * deviation);
    }
  }
  return out;
}

std::pair<Numbers, Numbers> norm_gradient_means(const Norm& norm, const Numbers& g, std::int64_t cols) {
  Numbers of_g(g.size()), of_product(g.size());
  const auto n = static_cast<std::size_t>(cols);
  for (std::size_t row = 0; row < g.size(); row += n) {
    double mean = 0, along = 0;
    for (std::size_t c = row; c < row + n; ++c) mean += g[c], along += g[c] * norm.normal[c];
    mean = norm.centred ? mean / static_cast<double>(n) : 0, along /= static_cast<double>(n);
    for (std::size_t c = row; c < row + n; ++c)
      of_g[c] = norm.deviation[c] * mean, of_product[c] = norm.deviation[c] * norm.normal[c] * along;
  }
  return {std::move(of_g), std::move(of_product)};
}

}  // namespace trnsim::frontend::rewrite
