#include <fmt/format.h>

#include <algorithm>

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
