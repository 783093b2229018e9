#include "runtime/ops/element_numbers.h"

#include <algorithm>
#include <cmath>

namespace runtime {

using isa::Alu;
using isa::Fn;

double computed(Alu alu, double a, double b) {
  switch (alu) {
    case Alu::kAdd: return a + b;
    case Alu::kSub: return a - b;
    case Alu::kMul: return a * b;
    case Alu::kDiv: return a / b;
    case Alu::kMax: return std::isnan(a) || std::isnan(b) ? std::nan("") : std::max(a, b);
    case Alu::kMin: return std::isnan(a) || std::isnan(b) ? std::nan("") : std::min(a, b);
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
    case Alu::kLogicalNot: return a == 0;
    case Alu::kNot: return static_cast<double>(~static_cast<std::int64_t>(a));
    case Alu::kAbs: return std::abs(a);
    case Alu::kRsqrt: return 1 / std::sqrt(a);
    case Alu::kAnd: return static_cast<double>(static_cast<std::int64_t>(a) & static_cast<std::int64_t>(b));
    case Alu::kOr: return static_cast<double>(static_cast<std::int64_t>(a) | static_cast<std::int64_t>(b));
    case Alu::kXor: return static_cast<double>(static_cast<std::int64_t>(a) ^ static_cast<std::int64_t>(b));
    case Alu::kShl: return std::ldexp(a, static_cast<int>(b));
    case Alu::kShr: return std::floor(std::ldexp(a, -static_cast<int>(b)));
    default: return a;
  }
}

namespace {

double value_of(Fn fn, double x) {
  switch (fn) {
    case Fn::kSquare: return x * x;
    case Fn::kSigmoid: return 1 / (1 + std::exp(-x));
    case Fn::kRelu: return std::max(x, 0.0);
    case Fn::kTanh: return std::tanh(x);
    case Fn::kSoftplus: return std::log1p(std::exp(x));
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

double computed(const ElementAttrs& a, double p, double q, double r) {
  switch (a.form) {
    case ElementForm::kPair: return computed(a.alu, p, q);
    case ElementForm::kNumbers: return computed(a.then, computed(a.alu, p, a.x), a.y);
    case ElementForm::kFunction: return value_of(a.fn, p * a.x + a.y);
    case ElementForm::kSelect: return p != 0 ? q : r;
    case ElementForm::kFloor: return std::floor(p);
    case ElementForm::kDual: return computed(a.then, computed(a.alu, p, r), q);
    case ElementForm::kRest: return std::fmod(p, q);
  }
  return p;
}

}  // namespace runtime
