// The settings of nodes that route tokens to experts: part of attributes.h.
#pragma once

#include <cstdint>
#include <optional>

#include "isa/instr.h"
#include "runtime/graph/numerics.h"

namespace runtime {

using OptionalType = std::optional<Dtype>;

/// For a router: choices of a token, slots of an expert, and whether the gates of a token's choices add up to 1.
struct RouteAttrs {
  std::int64_t top_k = 1, capacity = 1;
  bool normalised = true;
  bool sigmoid = false;  // scores are sigmoids of the logits, not their softmax
  /// Experts are in `groups` of equal size, and a token's are of its best `top_groups` alone. The score of a group is
  /// that of its best expert, with `sigmoid` the sum of its best two.
  std::int64_t groups = 1, top_groups = 1;
  bool operator==(const RouteAttrs&) const = default;
};

/// For rows that go to the slots of experts, or back.
struct SlotAttrs {
  bool weighted = false;  // by the gates
  bool cleared = false;   // rows of slots without a token are 0 where they are not weighted
  OptionalType dtype{};
  bool operator==(const SlotAttrs&) const = default;
};

/// A gated MLP between its products: fn(slope * min(gate, limit)) / slope * (up within +-limit + shift); a limit of 0
/// is none.
struct GateAttrs {
  isa::Fn fn = isa::Fn::kSilu;
  double limit = 0, slope = 1, shift = 0;
  bool operator==(const GateAttrs&) const = default;
};

/// For blocks of tokens, each of one expert.
struct ExpertBlocksAttrs {
  std::int64_t block = 0;  // rows
  GateAttrs gate{};
  bool biased = false;         // each expert's three weights have a bias behind them
  bool scales_inputs = false;  // a gate multiplies what an expert reads, not what it writes
  OptionalType dtype{}, operand{};
  bool operator==(const ExpertBlocksAttrs&) const = default;
};

/// For the column of an expert.
struct ColumnAttrs {
  std::int64_t column = 0;
  OptionalType dtype{};
  bool operator==(const ColumnAttrs&) const = default;
};

/// For rows in blocks of equal parts.
struct BlocksAttrs {
  std::int64_t blocks = 1, parts = 1;
  bool operator==(const BlocksAttrs&) const = default;
};

/// For a router's loss: its weight, and the weight of its gradient.
struct BalanceAttrs {
  double alpha = 1, scale = 1;
  bool operator==(const BalanceAttrs&) const = default;
};

}  // namespace runtime
