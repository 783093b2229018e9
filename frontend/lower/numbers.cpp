#include "frontend/lower/numbers.h"

#include <algorithm>
#include <cmath>

namespace trnsim::frontend {

using isa::Alu;
using isa::Fn;
using runtime::ElementForm;

double computed(Alu alu, double a, double b) {
  switch (alu) {
    case Alu::kAdd: return a + b;
    case Alu::kSub: return a - b;
    case Alu::kMul: return a * b;
    case Alu::kDiv: return a / b;
    case Alu::kMax: return std::max(a, b);
    case Alu::kMin: return std::min(a, b);
    case Alu::kPow: return std::pow(a, b);
    case Alu::kEq: return a == b;
    case Alu::kNe: return a != b;
    case Alu::kGt: return a > b;
    case Alu::kGe: return a >= b;
    case Alu::kLt: return a < b;
    case Alu::kLe: return a <= b;
    case Alu::kLogicalAnd: return a != 0 && b != 0;
    case Alu::kLogicalOr: return a != 0 || b != 0;
    case Alu::kLogicalXor: return (a != 0) != (b != 0);
    case Alu::kAnd: return static_cast<double>(static_cast<std::int64_t>(a) & static_cast<std::int64_t>(b));
    case Alu::kOr: return static_cast<double>(static_cast<std::int64_t>(a) | static_cast<std::int64_t>(b));
    case Alu::kXor: return static_cast<double>(static_cast<std::int64_t>(a) ^ static_cast<std::int64_t>(b));
    case Alu::kShl: return std::ldexp(a, static_cast<int>(b));
    case Alu::kShr: return std::floor(std::ldexp(a, -static_cast<int>(b)));
    case Alu::kNot: return static_cast<double>(~static_cast<std::int64_t>(a));
    case Alu::kLogicalNot: return a == 0;
    case Alu::kAbs: return std::abs(a);
    default: return a;
  }
}

namespace {

double computed(Fn fn, double x) {
  switch (fn) {
    case Fn::kSigmoid: return 1 / (1 + std::exp(-x));
    case Fn::kTanh: return std::tanh(x);
    case Fn::kErf: return std::erf(x);
    case Fn::kExp: return std::exp(x);
    case Fn::kLog: return std::log(x);
    case Fn::kSin: return std::sin(x);
    case Fn::kArctan: return std::atan(x);
    case Fn::kSqrt: return std::sqrt(x);
    case Fn::kRsqrt: return 1 / std::sqrt(x);
    case Fn::kReciprocal: return 1 / x;
    case Fn::kSign: return x > 0 ? 1 : x < 0 ? -1 : 0;
    case Fn::kAbs: return std::abs(x);
    default: return x;
  }
}

}  // namespace

double computed(const runtime::ElementAttrs& a, double p, double q, double r) {
  switch (a.form) {
    case ElementForm::kPair: return computed(a.alu, p, q);
    case ElementForm::kNumbers:
      return a.then == Alu::kNone ? computed(a.alu, p, a.x) : computed(a.then, computed(a.alu, p, a.x), a.y);
    case ElementForm::kFunction: return computed(a.fn, p * a.x + a.y);
    case ElementForm::kSelect: return p != 0 ? q : r;
    case ElementForm::kFloor: return std::floor(p);
    case ElementForm::kRest: return std::fmod(p, q);
  }
  return p;
}

}  // namespace trnsim::frontend
