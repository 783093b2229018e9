// The second operand of an element-wise operation: a tile, one number per partition, or an immediate. For
// isa/exec_*.cpp only.
#pragma once

#include <optional>

#include "isa/exec/view.h"

namespace isa::exec {

/// The operand of a block: numbers, or one number for all.
struct Values {
  const float* data = nullptr;
  float scalar = 0;
};

class Operand {
 public:
  explicit Operand(float immediate) : immediate_{immediate} {}
  explicit Operand(const View& view) : view_{view}, kind_{Kind::kTile} {}
  /// A [P, 1] tile for `partitions` rows, or `immediate` without a tile.
  Operand(const Instr& instr, const Tile& tile, std::string_view name, float immediate, std::int64_t partitions,
          Context& context);

  /// For partitions folded into one row (see fold_columns).
  void flatten();
  /// The strip's operand, in `scratch` (kBlock numbers; null will do for one row of a column) or in place.
  Values block(const Strip& strip, float* scratch) const;
  Values block(std::int64_t p, std::int64_t first, std::int64_t n, float* scratch) const {
    return block({p, first, n}, scratch);
  }
  /// Rows have a number each.
  bool is_column() const { return kind_ == Kind::kColumn; }

 private:
  enum class Kind { kImmediate, kColumn, kTile };
  float immediate_ = 0;
  View view_;
  Kind kind_ = Kind::kImmediate;
};

struct AluStep {
  Alu op;
  bool reverse;  // its operands are exchanged
};

/// out = x op y in fp32. Errors: Fault::kProgram for a bitwise operation or none.
void combine(const Instr& instr, AluStep step, const float* x, Values y, float* out, std::int64_t n);

/// One element of a bitwise operation on integers of `type`, which x and the result are, sign-extended when signed.
/// Shifts are logical; by the width of the type and more they give 0.
std::uint32_t bitwise(const Instr& instr, Alu op, std::uint32_t x, std::uint32_t y, Dtype type);

/// One element of GpSimdE's arithmetic on 32-bit integers; sums and products wrap. Nothing: it has no such operation.
std::optional<std::uint32_t> whole(Alu op, std::int64_t x, std::int64_t y);

/// The documented input range of a function of ScalarE. Source: AWS Neuron documentation, NKI, "Supported Activation
/// Functions".
std::optional<kernels::Range> documented_range(Fn fn);

/// The reduction of numbers that arrive block by block, as NumPy's ufunc.reduce, in an order that depends on their
/// places only: sums, products, maxima and minima by 64 running lanes, then a tree; others one after the other.
class Fold {
 public:
  Fold(const Instr& instr, Alu op);
  void add(const float* x, std::int64_t n);
  float result() const;
  void reset();

 private:
  const Instr& instr_;
  Alu op_;
  float identity_;
  void (*fold_)(const float*, std::size_t, float*);
  alignas(64) float lanes_[64];
  std::int64_t pending_ = 0;  // numbers held back until 64 are there
  alignas(64) float held_[64];
  bool first_ = true;  // without lanes: nothing arrived yet
  float last_ = 0;
};

/// Folds n numbers as Fold does. Errors: as Fold.
float reduce(const Instr& instr, Alu op, const float* x, std::int64_t n);

/// The initial accumulator of `op`: 0, 1 or an infinity.
float identity_of(Alu op);

}  // namespace isa::exec
