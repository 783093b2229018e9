#include "isa/exec/operand.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>

#include "isa/exec.h"
#include "isa/names.h"

namespace isa::exec {
namespace {

constexpr std::size_t at(Alu op) { return static_cast<std::size_t>(op); }

/// Operations that reduce, but whose order or first element matters.
bool is_sequential(Alu op) { return op == Alu::kSub || (op >= Alu::kLogicalAnd && op <= Alu::kLogicalXor); }

/// A bound as one reads it: powers of two by their exponent.
std::string written(float bound) {
  int exponent = 0;
  return std::frexp(bound, &exponent) == 0.5f ? fmt::format("2^{}", exponent - 1) : fmt::format("{:.5g}", bound);
}

}  // namespace

std::optional<kernels::Range> documented_range(Fn fn) {
  constexpr float kPi = std::numbers::pi_v<float>;
  switch (fn) {
    case Fn::kLog: return kernels::Range{0x1p-64, 0x1p64};
    case Fn::kSin: return kernels::Range{-kPi, kPi};
    case Fn::kArctan: return kernels::Range{-kPi / 2, kPi / 2};
    case Fn::kSqrt: return kernels::Range{0x1p-116, 0x1p118, false, true};  // 0: moments that have had no gradient yet
    case Fn::kRsqrt: return kernels::Range{0x1p-87, 0x1p97};
    case Fn::kReciprocal: return kernels::Range{0x1p-42, 0x1p42, true};
    default: return {};
  }
}

float identity_of(Alu op) {
  if (op == Alu::kMul || op == Alu::kLogicalAnd) return 1;
  if (op == Alu::kMax) return -std::numeric_limits<float>::infinity();
  if (op == Alu::kMin) return std::numeric_limits<float>::infinity();
  return 0;
}

Operand::Operand(const Instr& instr, const Tile& tile, std::string_view name, float immediate, std::int64_t partitions,
                 Context& context)
    : immediate_{immediate} {
  if (!tile) return;
  view_ = view(instr, tile, name, context);
  need(instr, view_.partitions == partitions && view_.cols == 1, std::string{name} + " is not one number per partition",
       "give it the shape [P, 1]");
  kind_ = Kind::kColumn;
}

void Operand::flatten() {
  if (kind_ == Kind::kImmediate) return;
  view_ = flattened(view_);
  kind_ = Kind::kTile;
}

Values Operand::block(const Strip& strip, float* scratch) const {
  if (kind_ == Kind::kImmediate) return {nullptr, immediate_};
  if (kind_ == Kind::kTile) return {read(view_, strip, scratch), 0};
  const auto of_row = [&](std::int64_t p) {
    if (view_.dtype != Dtype::kFp32) return read_one(view_, p, 0);
    float value = 0;
    std::memcpy(&value, view_.row(p), sizeof(value));
    return value;
  };
  if (strip.rows == 1) return {nullptr, of_row(strip.p)};
  for (std::int64_t r = 0; r < strip.rows; ++r) std::fill_n(scratch + r * strip.n, strip.n, of_row(strip.p + r));
  return {scratch, 0};
}

void combine(const Instr& instr, AluStep step, const float* x, Values y, float* out, std::int64_t n) {
  const auto [op, reverse] = step;
  const kernels::Kernels& k = kernels::kernels();
  const auto count = static_cast<std::size_t>(n);
  if (!k.binary[at(op)])
    refuse(instr, "its ALU operation does not compute numbers", "use an arithmetic one or a comparison");
  if (!y.data)
    (reverse ? k.scalar_first : k.with_scalar)[at(op)](x, y.scalar, out, count);
  else if (reverse)
    k.binary[at(op)](y.data, x, out, count);
  else
    k.binary[at(op)](x, y.data, out, count);
}

std::uint32_t bitwise(const Instr& instr, Alu op, std::uint32_t x, std::uint32_t y, Dtype type) {
  const int width = 8 * size_of(type);
  const std::uint32_t mask = ~0u >> (32 - width);
  const auto compute = [&]() -> std::uint32_t {
    switch (op) {
      case Alu::kAnd: return x & y;
      case Alu::kOr: return x | y;
      case Alu::kXor: return x ^ y;
      case Alu::kNot: return ~x;
      case Alu::kShl: return y < static_cast<std::uint32_t>(width) ? x << y : 0;
      case Alu::kShr: return y < static_cast<std::uint32_t>(width) ? (x & mask) >> y : 0;
      default: refuse(instr, "it mixes bitwise and arithmetic operations", "split it into two instructions");
    }
  };
  const std::uint32_t bits = compute() & mask;
  const bool has_sign = type == Dtype::kInt16 || type == Dtype::kInt8;
  return has_sign && bits >> (width - 1) ? bits | ~mask : bits;
}

std::optional<std::uint32_t> whole(Alu op, std::int64_t x, std::int64_t y) {
  switch (op) {
    case Alu::kAdd: return static_cast<std::uint32_t>(x + y);
    case Alu::kSub: return static_cast<std::uint32_t>(x - y);
    case Alu::kMul: return static_cast<std::uint32_t>(x) * static_cast<std::uint32_t>(y);
    case Alu::kMax: return static_cast<std::uint32_t>(std::max(x, y));
    case Alu::kMin: return static_cast<std::uint32_t>(std::min(x, y));
    case Alu::kEq: return x == y;
    case Alu::kNe: return x != y;
    case Alu::kGt: return x > y;
    case Alu::kGe: return x >= y;
    case Alu::kLt: return x < y;
    case Alu::kLe: return x <= y;
    case Alu::kLogicalAnd: return x != 0 && y != 0;
    case Alu::kLogicalOr: return x != 0 || y != 0;
    case Alu::kLogicalXor: return (x != 0) != (y != 0);
    default: return {};
  }
}

Fold::Fold(const Instr& instr, Alu op)
    : instr_{instr}, op_{op}, identity_{identity_of(op)}, fold_{kernels::kernels().fold[at(op)]} {
  if (!fold_ && !is_sequential(op))
    refuse(instr, "its ALU operation does not reduce", "use add, sub, mul, max, min or a logical one");
  reset();
}

void Fold::reset() {
  std::fill_n(lanes_, 64, identity_);
  pending_ = 0;
  first_ = true;
  last_ = identity_;
}

void Fold::add(const float* x, std::int64_t n) {
  if (!fold_) {
    for (std::int64_t i = 0; i < n; ++i) {
      if (first_ && op_ == Alu::kSub)
        last_ = x[i];  // x0 - x1 - x2 ...
      else
        combine(instr_, {op_, false}, &last_, {nullptr, x[i]}, &last_, 1);
      first_ = false;
    }
    return;
  }
  while (n > 0 && (pending_ > 0 || n < 64)) {  // fill up the pending block
    const std::int64_t take = std::min(n, 64 - pending_);
    std::memcpy(held_ + pending_, x, static_cast<std::size_t>(take) * 4);
    pending_ += take, x += take, n -= take;
    if (pending_ < 64) return;
    fold_(held_, 64, lanes_);
    pending_ = 0;
  }
  const std::int64_t whole = n / 64 * 64;
  fold_(x, static_cast<std::size_t>(whole), lanes_);
  if (n > whole) {
    std::memcpy(held_, x + whole, static_cast<std::size_t>(n - whole) * 4);
    pending_ = n - whole;
  }
}

float Fold::result() const {
  if (!fold_) return last_;
  alignas(64) float lanes[64];
  std::memcpy(lanes, lanes_, sizeof(lanes));
  fold_(held_, static_cast<std::size_t>(pending_), lanes);
  const auto binary = kernels::kernels().binary[at(op_)];
  for (std::size_t half = 32; half > 0; half /= 2) binary(lanes, lanes + half, lanes, half);
  return lanes[0];
}

float reduce(const Instr& instr, Alu op, const float* x, std::int64_t n) {
  if (const auto all = kernels::kernels().reduce[at(op)]) return all(x, static_cast<std::size_t>(n));
  Fold fold{instr, op};
  fold.add(x, n);
  return fold.result();
}

}  // namespace isa::exec

namespace isa {

std::string documented_inputs(Fn fn) {
  const auto range = exec::documented_range(fn);
  if (!range) return "";
  return fmt::format("{}{} to {}{}", exec::written(range->least), range->of_magnitude ? " in magnitude" : "",
                     exec::written(range->most), range->zero_too ? ", and 0" : "");
}

}  // namespace isa
