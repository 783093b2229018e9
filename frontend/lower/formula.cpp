#include "frontend/lower/formula.h"

#include <vector>

#include "runtime/ops/ops.h"

namespace trnsim::frontend {

using isa::Alu;
using runtime::ElementForm;

Formula Formula::as(Dtype dtype) const {
  if (dtype == view_.dtype) return *this;
  return {*l_, l_->element({.form = ElementForm::kFunction}, {view_}, view_.dims, dtype)};
}

Formula Formula::bits_as(Dtype dtype) const {
  if (dtype == view_.dtype) return *this;
  const auto [rows, cols] = matrix_form(view_.dims);
  const runtime::ValueId same =
      l_->add(runtime::kView, {l_->matrix(view_)}, runtime::ViewAttrs{.rows = rows, .cols = cols, .dtype = dtype});
  return {*l_, dense_view(same, view_.dims, dtype)};
}

Formula Formula::with(Alu alu, const Formula& other) const {
  return {*l_, l_->element({.form = ElementForm::kPair, .alu = alu}, {view_, other.view_}, view_.dims, view_.dtype)};
}

Formula Formula::with(Alu alu, double x, Alu then, double y) const {
  return {*l_, l_->element({.form = ElementForm::kNumbers, .alu = alu, .then = then, .x = x, .y = y}, {view_},
                           view_.dims, view_.dtype)};
}

Formula Formula::fn(isa::Fn fn, double scale, double bias) const {
  return {*l_, l_->element({.form = ElementForm::kFunction, .fn = fn, .x = scale, .y = bias}, {view_}, view_.dims,
                           view_.dtype)};
}

Formula Formula::floor() const {
  return {*l_, l_->element({.form = ElementForm::kFloor}, {view_}, view_.dims, view_.dtype)};
}

Formula Formula::choose(const Formula& a, const Formula& b) const {
  if (view_.is_number()) return view_.number != 0 ? a : b;
  return {*l_, l_->element({.form = ElementForm::kSelect}, {view_, a.view_, b.view_}, view_.dims, a.view_.dtype)};
}

Formula Formula::polynomial(std::initializer_list<double> c) const {
  const std::vector<double> all{c};
  Formula out = number(all.back());
  for (std::size_t i = all.size() - 1; i-- > 0;) out = out * *this + all[i];
  return out;
}

}  // namespace trnsim::frontend
