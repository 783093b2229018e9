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

Samples NormGradients::samples_with(const NormUse& found, const Numbers& at, const std::vector<ValueId>& data,
                                    const std::vector<double>& numbers) const {
  Samples out = samples_of(found.x, at, found.eps);
  for (std::size_t i = 0; i < data.size(); ++i) out.know(data[i], Numbers(at.size(), numbers[i]));
  return out;
}

std::optional<NormGradient> NormGradients::of(const NormUse& found, const std::vector<ValueId>& all,
                                              const Numbers& at) const {
  for (std::size_t i = all.size(); i-- > 0;) {
    if (!has_rows_of(all[i], found.x)) continue;
    std::vector<ValueId> from = origins(function_, producers_, all[i], kMostBehindGradient, true, found.x);
    std::ranges::sort(from);  // the furthest first: a gain is behind it
    for (const ValueId dy : from) {
      if (dy == found.x || !has_rows_of(dy, found.x)) continue;
      NormGradient gradient{.dx = all[i], .dy = dy};
      gradient.rest = rest_of(gradient, found.x);
      const auto data = data_of(gradient, found);
      if (data && gradient_by(found, gradient, at, *data)) return gradient;
    }
  }
  return {};
}

/// A summand of the value that dy does not make.
std::optional<ValueId> NormGradients::rest_of(const NormGradient& gradient, ValueId x) const {
  constexpr std::size_t kMostSummands = 8;
  std::vector<ValueId> summands{gradient.dx};
  for (std::size_t i = 0; i < summands.size() && summands.size() < kMostSummands; ++i) {
    const Node* node = producers_.of(summands[i]);
    const std::vector<ValueId> from = origins(function_, producers_, summands[i], kMostBehindGradient, true, x);
    if (std::ranges::find(from, gradient.dy) == from.end()) return summands[i];
    if (node && node->op->name == "add" && summands[i] != gradient.dy)
      summands.insert(summands.end(), node->operands.begin(), node->operands.end());
  }
  return {};
}

/// The numbers of data that the value is computed of besides x, dy, the rest, constants and rows; none: it is computed
/// of something else, too.
std::optional<std::vector<ValueId>> NormGradients::data_of(const NormGradient& gradient, const NormUse& found) const {
  std::vector<ValueId> all{gradient.dx}, out;
  bool has_x = false, has_dy = false;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const ValueId v = all[i];
    has_x = has_x || v == found.x, has_dy = has_dy || v == gradient.dy;
    if (v == found.x || v == gradient.dy || v == gradient.rest || v == found.eps) continue;
    if (is_data(v)) out.push_back(v);
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

bool NormGradients::gradient_by(const NormUse& found, NormGradient& out, const Numbers& at,
                                const std::vector<ValueId>& data) const {
  if (!data.empty() && found.norm.centred) return false;
  std::vector<double> numbers;
  for (std::size_t i = 0; i < data.size(); ++i) numbers.push_back(0.7 + 0.3 * static_cast<double>(i));
  const auto factor = mean_factor(found, out, at, data, numbers);
  if (!factor) return false;
  out.factor = *factor;
  for (std::size_t i = 0; i < data.size(); ++i) {
    std::vector<double> twice = numbers;
    twice[i] *= 2;
    const auto other = mean_factor(found, out, at, data, twice);
    const double power = other ? std::log2(*other / *factor) : 0.5, whole = std::round(power);
    if (!(std::abs(power - whole) < kSmall)) return false;
    if (whole != 0) out.powers.emplace_back(data[i], static_cast<int>(whole));
    out.factor /= std::pow(numbers[i], whole);
  }
  return true;
}

/// The number by which the mean's part of a gradient differs from a norm's, with these numbers as data; the gain that
/// it has is written to `out`. None: it is no such gradient. Layer norms have no such number: it is 1.
std::optional<double> NormGradients::mean_factor(const NormUse& found, NormGradient& out, const Numbers& at,
                                                 const std::vector<ValueId>& data,
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
  Numbers expected = norm_gradient(found.norm, given, cols);
  double factor = 1;
  if (!data.empty()) {  // expected = g * deviation - factor * part
    double along = 0, all = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const double whole = given[i] * found.norm.deviation[i], part = whole - expected[i];
      along += (whole + rest[i] - (*values)[i]) * part, all += part * part;
    }
    factor = along / all;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const double whole = given[i] * found.norm.deviation[i];
      expected[i] = whole - factor * (whole - expected[i]);
    }
  }
  for (std::size_t i = 0; i < expected.size(); ++i) expected[i] += rest[i];
  if (difference(*values, expected, kSmall) >= 4 * samples.tolerance()) return {};
  return factor;
}

}  // namespace trnsim::frontend::rewrite
