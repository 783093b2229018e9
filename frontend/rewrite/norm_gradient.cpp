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

/// Numbers of data for all elements that a gradient is made of.
std::vector<ValueId> NormGradients::data_behind(const NormUse& found, ValueId value) const {
  std::vector<ValueId> out;
  for (const ValueId v : origins(function_, producers_, value, kMostBehindGradient, true, found.x))
    if (v != found.eps && is_data(v)) out.push_back(v);
  return out;
}

Samples NormGradients::samples_with(const NormUse& found, const Numbers& at, const std::vector<ValueId>& data,
                                    const std::vector<double>& numbers) const {
  Samples out = samples_of(found.x, at, found.eps);
  for (std::size_t i = 0; i < data.size(); ++i) out.know(data[i], Numbers(at.size(), numbers[i]));
  return out;
}

/// The last value that is the gradient for x, of a value that x does not make.
std::optional<NormGradient> NormGradients::of(const NormUse& found, const std::vector<ValueId>& all,
                                              const Numbers& at) const {
  for (std::size_t i = all.size(); i-- > 0;) {
    if (!has_rows_of(all[i], found.x)) continue;
    const std::vector<ValueId> data = data_behind(found, all[i]);
    Samples samples = samples_with(found, at, data, std::vector<double>(data.size(), 1));
    if (!samples.of(all[i]) || samples.others().empty()) continue;
    std::vector<ValueId> from = origins(function_, producers_, all[i], kMostBehindGradient, true, found.x);
    std::ranges::sort(from);  // the furthest first: a gain is behind it
    for (const ValueId dy : from) {
      if (!has_rows_of(dy, found.x)) continue;
      const auto others = not_made_by(dy, samples.others(), found.x);
      if (!others || others->size() > 1) continue;
      NormGradient gradient{.dx = all[i], .dy = dy};
      if (!others->empty()) gradient.rest = others->front();
      if (gradient_by(found, gradient, at)) return gradient;
    }
  }
  return {};
}

bool NormGradients::has_rows_of(ValueId value, ValueId x) const {
  return is_float(function_.type(value).element) && function_.type(value).dims == function_.type(x).dims;
}

/// Those of these that a value is not computed of; none: it is computed of x.
std::optional<std::vector<ValueId>> NormGradients::not_made_by(ValueId value, const std::vector<ValueId>& all,
                                                               ValueId x) const {
  const std::vector<ValueId> from = origins(function_, producers_, value, kMostBehindGradient, true, x);
  const auto has = [&](ValueId v) { return std::ranges::find(from, v) != from.end(); };
  if (value == x || has(x)) return {};
  std::vector<ValueId> out;
  std::ranges::copy_if(all, std::back_inserter(out), [&](ValueId v) { return !has(v); });
  return out.size() < all.size() ? std::optional{out} : std::nullopt;
}

bool NormGradients::gradient_by(const NormUse& found, NormGradient& out, const Numbers& at) const {
  const std::vector<ValueId> data = data_behind(found, out.dx);
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
