#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <utility>
#include <vector>

#include "base/error.h"
#include "runtime/nki/view.h"

namespace runtime::nki {

Affine Affine::arange(std::int64_t begin, std::int64_t end, std::int64_t step) {
  Affine out{.constant = begin, .rank = 1};
  out.size[0] = std::max<std::int64_t>(0, (end - begin + step - (step > 0 ? 1 : -1)) / step);
  if (out.size[0] > 1) out.coef[0] = step;  // one place has no step: another index may repeat it along this axis
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
                        fmt::format("indices of {} and {} elements do not broadcast", mine, theirs),
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
namespace {

constexpr std::size_t kMostParts = 8;

/// The axes that the inequality depends on.
std::vector<std::size_t> axes_of(const Affine& rule) {
  std::vector<std::size_t> out;
  for (std::size_t d = 0; d < static_cast<std::size_t>(rule.rank); ++d)
    if (rule.coef[d] != 0 && rule.size[d] > 1) out.push_back(d);
  return out;
}

/// low <= index of the axis < high
void add_range(Mask& mask, const Affine& like, std::size_t axis, std::pair<std::int64_t, std::int64_t> range) {
  Affine from = like;
  from.coef = {};
  Affine to = from;
  from.coef[axis] = 1, from.constant = -range.first;
  to.coef[axis] = -1, to.constant = range.second - 1;
  mask.push_back(from);
  mask.push_back(to);
}

/// The indices of an axis for which coef * index + constant >= 0.
std::pair<std::int64_t, std::int64_t> indices(std::int64_t coef, std::int64_t constant, std::int64_t size) {
  std::int64_t low = 0, high = size;
  while (low < high && coef * low + constant < 0) ++low;
  while (high > low && coef * (high - 1) + constant < 0) --high;
  return {low, high};
}

/// Columns with the same rows go together: rows of a tile begin where they would without the mask. An axis of `whole`
/// is the rows.
std::vector<Mask> parts_of(const Affine& rule, std::span<const std::size_t> whole) {
  std::vector<std::size_t> axes = axes_of(rule);
  if (axes.size() != 2 || rule.least() >= 0 || rule.most() < 0) return {{rule}};
  const auto is_whole = [&](std::size_t axis) { return std::ranges::find(whole, axis) != whole.end(); };
  if (is_whole(axes[1])) std::swap(axes[0], axes[1]);
  if (is_whole(axes[1])) return {{rule}};
  const std::size_t rows = axes[0], columns = axes[1];
  std::vector<Mask> out;
  std::int64_t first = 0;
  std::pair<std::int64_t, std::int64_t> before{0, 0};
  for (std::int64_t i = 0; i <= rule.size[columns]; ++i) {
    std::pair<std::int64_t, std::int64_t> now{0, 0};
    if (i < rule.size[columns]) now = indices(rule.coef[rows], rule.constant + rule.coef[columns] * i, rule.size[rows]);
    if (now == before) continue;
    if (before.first < before.second) {
      add_range(out.emplace_back(), rule, rows, before);
      add_range(out.back(), rule, columns, {first, i});
    }
    if (out.size() > kMostParts) return {{rule}};
    first = i, before = now;
  }
  return out;
}

}  // namespace

std::vector<Mask> rectangles(const Mask& mask, std::span<const std::size_t> whole) {
  std::vector<Mask> out{{}};
  for (const Affine& rule : mask) {
    std::vector<Mask> next;
    for (const Mask& part : parts_of(rule, whole))
      for (const Mask& before : out) {
        next.push_back(before);
        next.back().insert(next.back().end(), part.begin(), part.end());
      }
    out = std::move(next);
  }
  return out;
}

}  // namespace runtime::nki
