#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "base/error.h"
#include "runtime/nki/view.h"

namespace runtime::nki {

Affine Affine::arange(std::int64_t begin, std::int64_t end, std::int64_t step) {
  Affine out{.constant = begin, .rank = 1};
  out.size[0] = std::max<std::int64_t>(0, (end - begin + step - (step > 0 ? 1 : -1)) / step);
  out.coef[0] = step;
  return out;
}

Affine Affine::scaled(std::int64_t factor) const {
  Affine out = *this;
  out.constant *= factor;
  for (auto& c : out.coef) c *= factor;
  return out;
}

Affine Affine::plus(const Affine& other, std::int64_t sign) const {
  Affine out{.constant = constant + sign * other.constant, .rank = std::max(rank, other.rank)};
  for (int d = 0; d < out.rank; ++d) {
    const int a = d - (out.rank - rank), b = d - (out.rank - other.rank);
    const std::int64_t mine = a < 0 ? 1 : size[a], theirs = b < 0 ? 1 : other.size[b];
    if (mine != theirs && mine != 1 && theirs != 1)
      throw base::Error{base::Fault::kProgram, "",
                        fmt::format("indices of {} and {} places do not go together", mine, theirs),
                        "give both the same size, or one of them size 1"};
    out.size[d] = mine == 1 ? theirs : mine;
    out.coef[d] = (a < 0 ? 0 : coef[a]) + sign * (b < 0 ? 0 : other.coef[b]);
  }
  return out;
}

std::optional<std::pair<Affine, Affine>> Affine::divided(std::int64_t divisor) const {
  std::vector<std::size_t> open;  // axes whose step is no multiple of the divisor
  for (std::size_t d = 0; d < static_cast<std::size_t>(rank); ++d)
    if (size[d] > 1 && coef[d] % divisor != 0) open.push_back(d);
  const auto floored = [&](std::int64_t a) { return a / divisor - (a % divisor != 0 && (a < 0) != (divisor < 0)); };
  for (std::size_t choice = 0; choice < std::size_t{1} << std::min<std::size_t>(open.size(), 8); ++choice) {
    Affine quotient = *this;
    quotient.constant = floored(constant);
    for (std::size_t d = 0; d < static_cast<std::size_t>(rank); ++d) quotient.coef[d] = floored(coef[d]);
    for (std::size_t i = 0; i < open.size() && i < 8; ++i)
      if (choice >> i & 1) ++quotient.coef[open[i]];
    const Affine remainder = plus(quotient.scaled(divisor), -1);
    const std::int64_t low = divisor > 0 ? remainder.least() : -remainder.most();
    const std::int64_t high = divisor > 0 ? remainder.most() : -remainder.least();
    // Whole multiples of the divisor in the remainder belong to the quotient.
    const std::int64_t more = low / std::abs(divisor) - (low % std::abs(divisor) < 0);
    if (high - more * std::abs(divisor) >= std::abs(divisor)) continue;
    quotient.constant += more;
    return std::pair{quotient, plus(quotient.scaled(divisor), -1)};
  }
  return std::nullopt;
}

std::int64_t Affine::least() const {
  std::int64_t out = constant;
  for (int d = 0; d < rank; ++d) out += std::min<std::int64_t>(0, coef[d] * (size[d] - 1));
  return out;
}

std::int64_t Affine::most() const {
  std::int64_t out = constant;
  for (int d = 0; d < rank; ++d) out += std::max<std::int64_t>(0, coef[d] * (size[d] - 1));
  return out;
}

}  // namespace runtime::nki
