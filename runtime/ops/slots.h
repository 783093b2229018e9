// Shared by the ops of a mixture of experts.
#pragma once

#include <algorithm>

#include "runtime/compiler/emitter.h"

namespace runtime {

/// All rows of a tensor in HBM, as the target of a scatter or the source of a gather.
inline Tile table_of(Emitter& e, ValueId v) {
  const Value& value = e.value(v);
  Tile all = e.hbm(v, 0, 1);
  all.partitions = static_cast<std::uint16_t>(std::min<std::int64_t>(value.rows, 65535));
  all.pstep = value.cols * isa::size_of(value.dtype);
  return all;
}

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

}  // namespace runtime
