// Formulas on whole tensors: functions that the engines do not have, composed of those that they have.
#pragma once

#include <initializer_list>

#include "frontend/lower/lowerer.h"

namespace trnsim::frontend {

/// A tensor within a formula. Results have the element type and the dimensions of the left operand.
class Formula {
 public:
  Formula(Lowerer& l, View view) : l_{&l}, view_{std::move(view)} {}

  const View& view() const { return view_; }
  Dtype dtype() const { return view_.dtype; }
  Formula number(double x) const { return {*l_, number_view(x, view_.dims, view_.dtype)}; }
  /// As another type: numbers are rounded to the nearest.
  Formula as(Dtype dtype) const;
  /// The same bits as a type of the same size.
  Formula bits_as(Dtype dtype) const;
  Formula with(isa::Alu alu, const Formula& other) const;
  Formula with(isa::Alu alu, double x, isa::Alu then = isa::Alu::kNone, double y = 0) const;
  /// fn(a * scale + bias)
  Formula fn(isa::Fn fn, double scale = 1, double bias = 0) const;
  Formula floor() const;

  Formula operator+(const Formula& o) const { return with(isa::Alu::kAdd, o); }
  Formula operator-(const Formula& o) const { return with(isa::Alu::kSub, o); }
  Formula operator*(const Formula& o) const { return with(isa::Alu::kMul, o); }
  Formula operator/(const Formula& o) const { return with(isa::Alu::kDiv, o); }
  Formula operator+(double x) const { return with(isa::Alu::kAdd, x); }
  Formula operator-(double x) const { return with(isa::Alu::kAdd, -x); }
  Formula operator*(double x) const { return with(isa::Alu::kMul, x); }
  Formula operator-() const { return with(isa::Alu::kMul, -1); }
  Formula abs() const { return with(isa::Alu::kAbs, 0); }
  Formula reciprocal() const { return fn(isa::Fn::kReciprocal); }
  /// 1 where it holds, else 0.
  Formula operator<(double x) const { return with(isa::Alu::kLt, x); }
  Formula operator>(double x) const { return with(isa::Alu::kGt, x); }
  Formula operator==(double x) const { return with(isa::Alu::kEq, x); }
  /// a where this is not 0, else b.
  Formula choose(const Formula& a, const Formula& b) const;
  /// c[0] + x (c[1] + x (...)).
  Formula polynomial(std::initializer_list<double> c) const;

 private:
  Lowerer* l_;
  View view_;
};

}  // namespace trnsim::frontend
