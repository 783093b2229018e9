#include "frontend/rewrite/norm_gradient.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "frontend/ops/operator.h"

namespace trnsim::frontend::rewrite {

using Numbers = Samples::Numbers;

namespace {

constexpr std::size_t kMostBehindGradient = 64;

}  // namespace

/// Whether a value is a number of data for all elements.
bool NormGradients::is_data(ValueId value) const {
  const Node* node = producers_.of(value);
  return node && node->op->name == "broadcast_in_dim" && function_.type(node->operands[0]).dims.empty() &&
         !number_of(function_, producers_, value);
}

Samples NormGradients::samples_of(ValueId x, const Numbers& at, const std::optional<ValueId>& eps) const {
  Samples out{module_, function_, producers_, x, at, {.by_rows = true}};
  if (eps) out.know(*eps, Numbers(at.size(), kEpsAtSamples));
  return out;
}

Samples NormGradients::samples_with(const NormUse& found, const Numbers& at, const Data& data,
                                    const std::vector<double>& numbers) const {
  Samples out = samples_of(found.x, at, found.eps);
  for (std::size_t i = 0; i < data.size(); ++i)
    for (const ValueId v : data[i].spread) out.know(v, Numbers(at.size(), numbers[i]));
  return out;
}

/// A residual's gradient is part of it only where the sum is in between: else readers of the gradient alone keep it.
std::optional<NormGradient> NormGradients::of(const NormUse& found, const std::vector<ValueId>& all,
                                              const Numbers& at) const {
  Behind behind;
  for (const bool with_rest : {false, true})
    for (std::size_t i = all.size(); i-- > 0;) {
      if (!has_rows_of(all[i], found.x)) continue;
      for (const ValueId dy : origins_of(all[i], found.x, behind)) {  // the furthest first: a gain is behind it
        if (dy == found.x || !has_rows_of(dy, found.x)) continue;
        NormGradient gradient{.dx = all[i], .dy = dy};
        gradient.rest = rest_of(gradient, found.x, behind);
        if (gradient.rest.has_value() != with_rest) continue;
        const auto data = data_of(gradient, found);
        if (data && gradient_by(found, gradient, at, *data)) return gradient;
      }
    }
  return {};
}

/// In order; `behind` has those that were asked for.
const std::vector<ValueId>& NormGradients::origins_of(ValueId value, ValueId x, Behind& behind) const {
  const auto [place, is_new] = behind.try_emplace(value);
  if (is_new) {
    place->second = origins(function_, producers_, value, kMostBehindGradient, true, x);
    std::ranges::sort(place->second);
  }
  return place->second;
}

/// A summand of the value that dy does not make.
std::optional<ValueId> NormGradients::rest_of(const NormGradient& gradient, ValueId x, Behind& behind) const {
  constexpr std::size_t kMostSummands = 8;
  std::vector<ValueId> summands{gradient.dx};
  for (std::size_t i = 0; i < summands.size() && summands.size() < kMostSummands; ++i) {
    if (!std::ranges::binary_search(origins_of(summands[i], x, behind), gradient.dy)) return summands[i];
    const Node* node = producers_.of(summands[i]);
    if (node && node->op->name == "add" && summands[i] != gradient.dy)
      summands.insert(summands.end(), node->operands.begin(), node->operands.end());
  }
  return {};
}

/// The numbers of data that the value is computed of besides x, dy, the rest, constants and rows; none: it is computed
/// of something else, too.
std::optional<NormGradients::Data> NormGradients::data_of(const NormGradient& gradient, const NormUse& found) const {
  std::vector<ValueId> all{gradient.dx};
  Data out;
  bool has_x = false, has_dy = false;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const ValueId v = all[i];
    has_x = has_x || v == found.x, has_dy = has_dy || v == gradient.dy;
    if (v == found.x || v == gradient.dy || v == gradient.rest || v == found.eps) continue;
    if (is_data(v)) {
      const ValueId scalar = producers_.of(v)->operands[0];
      auto known = std::ranges::find(out, scalar, &Datum::scalar);
      if (known == out.end()) known = out.insert(out.end(), {scalar, {}});
      known->spread.push_back(v);
    }
    if (is_data(v) || number_of(function_, producers_, v)) continue;
    const Node* node = producers_.of(v);
    if (function_.type(v).rank() <= 1 && !(node && node->op->name == "reduce")) continue;
    if (!node || !is_followed(*node, true) || all.size() > kMostBehindGradient) return {};
    for (const ValueId operand : node->operands)
      if (std::ranges::find(all, operand) == all.end()) all.push_back(operand);
  }
  return has_x && has_dy ? std::optional{out} : std::nullopt;
}

bool NormGradients::has_rows_of(ValueId value, ValueId x) const {
  return is_float(function_.type(value).element) && function_.type(value).dims == function_.type(x).dims;
}

/// Each factor of a mean is a number times whole powers of data: doubling one of it says which.
bool NormGradients::gradient_by(const NormUse& found, NormGradient& out, const Numbers& at, const Data& data) const {
  std::vector<double> numbers;
  for (std::size_t i = 0; i < data.size(); ++i) numbers.push_back(0.7 + 0.3 * static_cast<double>(i));
  const auto means = mean_factors(found, out, at, data, numbers);
  if (!means) return false;
  for (std::size_t m = 0; m < 2; ++m) out.factors[m] = {.number = (*means)[m]};
  for (std::size_t i = 0; i < data.size(); ++i) {
    std::vector<double> twice = numbers;
    twice[i] *= 2;
    const auto other = mean_factors(found, out, at, data, twice);
    for (std::size_t m = found.norm.centred ? 0 : 1; m < 2; ++m) {
      const double power = other ? std::log2((*other)[m] / (*means)[m]) : 0.5, whole = std::round(power);
      if (!(std::abs(power - whole) < kSmall)) return false;
      if (whole != 0) out.factors[m].powers.emplace_back(data[i].scalar, static_cast<int>(whole));
      out.factors[m].number /= std::pow(numbers[i], whole);
    }
  }
  return true;
}

namespace {

/// The factors a and b that bring a x + b y nearest to z; b alone where x is zero.
std::array<double, 2> nearest(const Numbers& x, const Numbers& y, const Numbers& z) {
  double xx = 0, xy = 0, yy = 0, xz = 0, yz = 0;
  for (std::size_t i = 0; i < z.size(); ++i) {
    xx += x[i] * x[i], xy += x[i] * y[i], yy += y[i] * y[i];
    xz += x[i] * z[i], yz += y[i] * z[i];
  }
  const double all = xx * yy - xy * xy;
  if (xx == 0) return {1, yz / yy};
  return {(xz * yy - yz * xy) / all, (yz * xx - xz * xy) / all};
}

}  // namespace

/// The numbers by which the parts of a gradient that are means differ from a norm's, with these numbers as data; the
/// gain that it has is written to `out`. None: it is no such gradient. Without data they are 1.
std::optional<NormGradients::Means> NormGradients::mean_factors(const NormUse& found, NormGradient& out,
                                                                const Numbers& at, const Data& data,
                                                                const std::vector<double>& numbers) const {
  const std::int64_t cols = function_.type(found.x).dims.back();
  Samples samples = samples_with(found, at, data, numbers);
  Numbers given = rows_of(cols);
  for (std::size_t i = 0; i < given.size(); ++i)
    given[i] = fraction(0.7548776662466927 * static_cast<double>(i + 1)) - 0.4;
  samples.know(out.dy, given);
  const Numbers rest = out.rest ? Samples::Numbers(given.rbegin(), given.rend()) : Numbers(given.size());
  if (out.rest) samples.know(*out.rest, rest);
  const Numbers* values = samples.of(out.dx);
  if (!values || !samples.others().empty() || samples.rows().size() > 1) return {};
  if (samples.rows().size() == 1) {
    out.gain = samples.rows()[0];
    for (std::size_t i = 0; i < given.size(); ++i) given[i] *= samples.row(0)[i];
  }
  const auto [mean, along] = norm_gradient_means(found.norm, given, cols);
  Numbers whole(given.size()), left(given.size());
  for (std::size_t i = 0; i < given.size(); ++i) {
    whole[i] = given[i] * found.norm.deviation[i];
    left[i] = whole[i] + rest[i] - (*values)[i];
  }
  const Means means = data.empty() ? Means{1, 1} : nearest(mean, along, left);
  Numbers expected(given.size());
  for (std::size_t i = 0; i < expected.size(); ++i)
    expected[i] = whole[i] + rest[i] - means[0] * mean[i] - means[1] * along[i];
  if (difference(*values, expected, kSmall) >= 4 * samples.tolerance()) return {};
  return means;
}

}  // namespace trnsim::frontend::rewrite
