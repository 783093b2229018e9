// Shared by the ops of a mixture of experts.
#pragma once

#include <algorithm>
#include <vector>

#include "runtime/graph/tensor.h"
#include "runtime/ops/indexed.h"

namespace runtime {

inline constexpr float kBelowAll = 1e30F;  // below every logit when subtracted

/// The largest of `left` in each row, by number, and no longer in `left`: [P, 1].
inline Tile take_largest(Emitter& e, const Tile& left, const Tile& ramp, const Tile& which) {
  const std::int64_t experts = left.cols();
  const Tile most = e.sbuf(Dtype::kFp32, left.partitions, 1), hot = e.sbuf(Dtype::kFp32, left.partitions, experts);
  const Tile numbers = e.sbuf(Dtype::kFp32, left.partitions, experts), first = e.sbuf(Dtype::kFp32, left.partitions, 1);
  e.reduce(most, Alu::kMax, left);
  e.tensor_scalar(hot, left, Alu::kEq, most);
  e.tensor_scalar(numbers, ramp, Alu::kSub, static_cast<float>(experts));  // below 0, the first one the least
  e.tensor_tensor(numbers, numbers, Alu::kMul, hot);
  e.reduce(first, Alu::kMin, numbers);
  e.tensor_scalar(which, first, Alu::kAdd, static_cast<float>(experts));
  e.tensor_scalar(hot, ramp, Alu::kEq, which);
  e.scalar_tensor_tensor(left, hot, Alu::kMul, -kBelowAll, Alu::kAdd, left);
  return hot;
}

/// 1 where one of the `count` largest of a row is, the first ones of equals, and 0 elsewhere: [P, cols].
Tile largest_of(Emitter& e, const Tile& numbers, std::int64_t count);

/// A row's scores, and the numbers by which its experts are chosen.
struct RouterRow {
  std::vector<double> scores, choice;
};

/// Scores of groups that are not among the best are 0 in the choice. `bias`: added for it; null: none.
RouterRow router_row(const RouteAttrs& a, const Tensor& logits, std::int64_t row, const Tensor* bias);

/// Whether the choice goes by other numbers than the logits.
inline bool chooses_by_scores(const RouteAttrs& a, bool biased) { return a.sigmoid || biased || a.groups > 1; }
/// These numbers, of `scores` [P, E].
Tile choice_of(Emitter& e, const RouteAttrs& a, const Tile& scores, const Tile* bias);

}  // namespace runtime
