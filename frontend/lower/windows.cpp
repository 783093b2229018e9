#include "frontend/lower/windows.h"

#include <algorithm>
#include <numeric>

#include "runtime/ops/ops.h"

namespace trnsim::frontend {
namespace {

using isa::Alu;
using runtime::ElementAttrs;
using runtime::ElementForm;

constexpr std::int64_t kExact = std::int64_t{1} << 24;  // integers that fp32 has
constexpr std::int64_t kMostAlone = 4096;               // updates that meet what is there one after the other

/// a * x + b of integers: exact, also where fp32 would round.
View id_times(Lowerer& l, const View& a, std::int64_t x, bool large) {
  if (x == 1) return a;
  const auto number = static_cast<double>(x);
  if (a.is_number()) return number_view(a.number * number, a.dims, Dtype::kInt32);
  if (!large)
    return l.element({.form = ElementForm::kNumbers, .alu = Alu::kMul, .x = number}, {a}, a.dims, Dtype::kInt32);
  return l.element({.form = ElementForm::kPair, .alu = Alu::kMul}, {a, number_view(number, a.dims, Dtype::kInt32)},
                   a.dims, Dtype::kInt32);
}

View id_sum(Lowerer& l, const View& a, const View& b) {
  if (a.is_number() && a.number == 0) return b;
  if (b.is_number() && b.number == 0) return a;
  return l.element({.form = ElementForm::kPair}, {a, b}, a.dims, Dtype::kInt32);
}

/// The largest divisor of `run` that leaves pieces of `least` elements, up to `most`.
std::int64_t run_pieces(std::int64_t run, std::int64_t most, std::int64_t least) {
  for (std::int64_t k = std::min(most, run / least); k > 1; --k)
    if (run % k == 0) return k;
  return 1;
}

}  // namespace

View counted(Lowerer& l, const Dims& dims, std::size_t d, std::int64_t step) {
  if (dims[d] <= 1) return number_view(0, dims, Dtype::kInt32);
  const runtime::ValueId ramp = l.add(
      runtime::kRamp, {},
      runtime::RampAttrs{.rows = 1, .cols = dims[d], .by_col = static_cast<double>(step), .dtype = Dtype::kInt32});
  return broadcast(dense_view(ramp, {dims[d]}, Dtype::kInt32), dims, {static_cast<std::int64_t>(d)});
}

Windows::Windows(Dims table, Dims sizes, Dims batch, std::vector<Start> starts, Outside outside)
    : table_{std::move(table)},
      sizes_{std::move(sizes)},
      strides_{dense_strides(table_)},
      batch_{std::move(batch)},
      starts_{std::move(starts)},
      outside_{outside} {
  constexpr std::int64_t kRows = 128, kLeast = 512;  // of a transfer; elements that are worth a descriptor
  std::size_t first = table_.size();
  while (first > 0 && !by_element(first - 1)) {
    --first;
    run_ *= sizes_[first];
    if (!is_fixed(first)) break;
  }
  std::int64_t rows = element_count(batch_);
  for (std::size_t d = 0; d < first; ++d)
    if (sizes_[d] > 1) {
      outer_.push_back(sizes_[d]), outer_strides_.push_back(strides_[d]), outer_dims_.push_back(d);
      rows *= sizes_[d];
    }
  // Few long runs: in pieces, so that all rings share the work.
  if (const std::int64_t pieces = run_pieces(run_, kRows / std::max<std::int64_t>(rows, 1), kLeast); pieces > 1) {
    run_ /= pieces;
    outer_.push_back(pieces), outer_strides_.push_back(run_), outer_dims_.push_back(table_.size());
  }
}

const Start* Windows::by_element(std::size_t d) const {
  if (outside_ == Outside::kClamped || d >= sizes_.size() || sizes_[d] == 1) return nullptr;
  const auto found = std::ranges::find(starts_, static_cast<std::int64_t>(d), &Start::dim);
  return found == starts_.end() ? nullptr : &*found;
}

std::int64_t Windows::unit() const {
  std::int64_t out = 0;
  for (const Start& start : starts_)
    if (const auto d = static_cast<std::size_t>(start.dim); !is_fixed(d)) out = std::gcd(out, strides_[d]);
  for (const std::int64_t stride : outer_strides_) out = std::gcd(out, stride);
  return std::max<std::int64_t>(out, 1);
}

namespace {

/// A place along a dimension: within it, and 1 where it was, else 0.
struct Place {
  View inside, valid;
};

Place place_of(Lowerer& l, const View& index, double last, const Dims& dims, bool asks) {
  Place out;
  out.inside = l.element({.form = ElementForm::kNumbers, .alu = Alu::kMax, .then = Alu::kMin, .x = 0, .y = last},
                         {index}, dims, Dtype::kInt32);
  if (asks)
    out.valid = l.element({.form = ElementForm::kPair, .alu = Alu::kEq}, {out.inside, index}, dims, Dtype::kInt32);
  return out;
}

/// 0 where valid, else so much below that no place is reached.
View far_below(Lowerer& l, const View& valid) {
  const ElementAttrs far{.form = ElementForm::kNumbers,
                         .alu = Alu::kSub,
                         .then = Alu::kMul,
                         .x = 1,
                         .y = static_cast<double>(std::int64_t{1} << 28)};
  return l.element(far, {valid}, valid.dims, Dtype::kInt32);
}

}  // namespace

View Windows::batch_ids(Lowerer& l, std::int64_t unit) const {
  View sum = number_view(0, batch_, Dtype::kInt32);
  const bool large = element_count(table_) / unit > kExact, asks = outside_ == Outside::kSkipped;
  for (const Start& start : starts_) {
    const auto d = static_cast<std::size_t>(start.dim);
    if (by_element(d) || (is_fixed(d) && !asks)) continue;
    const Place place = place_of(l, start.index, static_cast<double>(table_[d] - sizes_[d]), batch_, asks);
    if (!is_fixed(d)) sum = id_sum(l, sum, id_times(l, place.inside, strides_[d] / unit, large));
    if (asks) sum = id_sum(l, sum, far_below(l, place.valid));
  }
  return sum;
}

View Windows::ids(Lowerer& l, std::int64_t unit) const {
  const View begin = batch_ids(l, unit);
  if (outer_.empty()) return begin;
  Dims dims = batch_, places(batch_.size());
  std::iota(places.begin(), places.end(), 0);
  dims.insert(dims.end(), outer_.begin(), outer_.end());
  const auto spread = [&](const View& view) {
    return view.is_number() ? number_view(view.number, dims, view.dtype) : broadcast(view, dims, places);
  };
  const bool large = element_count(table_) / unit > kExact;
  View sum = spread(begin);
  for (std::size_t o = 0; o < outer_.size(); ++o) {
    const std::size_t d = outer_dims_[o];
    const Start* start = by_element(d);
    if (!start) {
      sum = id_sum(l, sum, counted(l, dims, batch_.size() + o, outer_strides_[o] / unit));
      continue;
    }
    const View index = id_sum(l, counted(l, dims, batch_.size() + o, 1), spread(start->index));
    const Place place = place_of(l, index, static_cast<double>(table_[d] - 1), dims, true);
    sum = id_sum(l, id_sum(l, sum, id_times(l, place.inside, strides_[d] / unit, large)), far_below(l, place.valid));
  }
  return sum;
}

runtime::ValueId Windows::taken(Lowerer& l, const View& table) const {
  const std::int64_t step = unit(), rows = element_count(batch_) * element_count(outer_);
  return l.add(runtime::kTakeRuns, {l.matrix(table), l.matrix(ids(l, step), rows, 1)},
               runtime::RunsAttrs{.run = run_, .unit = step});
}

runtime::ValueId Windows::put(Lowerer& l, const View& whole, const View& updates, runtime::RunsAttrs how) const {
  const std::int64_t step = unit(), rows = element_count(batch_) * element_count(outer_);
  how.run = run_, how.unit = step;
  if (how.alu != Alu::kNone && how.alu != Alu::kAdd && !how.unique && rows > kMostAlone)
    l.refuse("has too many updates that may hit the same element one after the other",
             "declare its indices unique, or add");
  const runtime::ValueId out =
      l.add(runtime::kPutRuns, {whole.base, l.matrix(ids(l, step), rows, 1), l.matrix(updates, rows, run_)}, how);
  l.own(out);
  return out;
}

}  // namespace trnsim::frontend
