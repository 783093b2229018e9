#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/error.h"
#include "runtime/ops/elementwise.h"

namespace runtime {
namespace {

using isa::Fn;

double cdf(double x) { return 0.5 * (1 + std::erf(x / std::numbers::sqrt2)); }
double pdf(double x) { return std::exp(-0.5 * x * x) / std::sqrt(2 * std::numbers::pi); }
double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

/// tanh approximation of GELU (Hendrycks and Gimpel, arXiv:1606.08415) and its derivative.
constexpr double kA = 0.044715;
double inner(double x) { return std::sqrt(2 / std::numbers::pi) * (x + kA * x * x * x); }
double gelu_tanh(double x) { return 0.5 * x * (1 + std::tanh(inner(x))); }
double gelu_tanh_grad(double x) {
  const double t = std::tanh(inner(x)), slope = std::sqrt(2 / std::numbers::pi) * (1 + 3 * kA * x * x);
  return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * slope;
}

constexpr double kQuick = 1.702;  // Hendrycks and Gimpel, arXiv:1606.08415

struct Function {
  Fn fn, grad;
  double (*value)(double);
  double (*slope)(double);
  bool of_value = false;  // the derivative is `grad` of the function's value, not of its argument
};
const Function kFunctions[] = {
    {Fn::kGelu, Fn::kGeluGrad, [](double x) { return x * cdf(x); }, [](double x) { return cdf(x) + x * pdf(x); }},
    {Fn::kGeluTanh, Fn::kGeluTanhGrad, gelu_tanh, gelu_tanh_grad},
    {Fn::kGeluSigmoid, Fn::kGeluSigmoidGrad, [](double x) { return x * sigmoid(kQuick * x); },
     [](double x) {
       const double s = sigmoid(kQuick * x);
       return s * (1 + kQuick * x * (1 - s));
     }},
    {Fn::kTanh, Fn::kTanhGrad, [](double x) { return std::tanh(x); },
     [](double x) { return 1 - std::tanh(x) * std::tanh(x); }},
    {Fn::kSilu, Fn::kSiluGrad, [](double x) { return x * sigmoid(x); },
     [](double x) { return sigmoid(x) * (1 + x * (1 - sigmoid(x))); }},
    {Fn::kSoftplus, Fn::kSigmoid, [](double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); },
     sigmoid},
    {Fn::kRelu, Fn::kSign, [](double x) { return std::max(x, 0.0); }, [](double x) { return x > 0 ? 1.0 : 0.0; }, true},
};

const Function& function(Fn fn, std::string_view who) {
  for (const Function& f : kFunctions)
    if (f.fn == fn) return f;
  throw base::Error{base::Fault::kProgram, who, "has no derivative on ScalarE",
                    "choose gelu, gelu_tanh, gelu_sigmoid, tanh, silu, softplus or relu"};
}

/// y = fn(x). Shapes: [R, C] -> [R, C]. Functions: gelu (by erf), gelu_tanh, gelu_sigmoid, tanh, silu, softplus, relu.
/// Lowering: one ScalarE activation, also straight from PSUM.
Tensors activate_forward(const Attrs& attrs, std::span<const Tensor> in) {
  const isa::Fn fn = attrs.as<ActivationAttrs>().fn;
  return map(in, [&](float x, float) { return function(fn, "activate").value(x); });
}

void activate_backward(Backward& b, const Node& node) {
  b.add(node, 0,
        b.op(kActivateGrad, node, "grad", {b.grad(node), node.in[0]},
             ActivationAttrs{.fn = node.attrs.as<ActivationAttrs>().fn}));
}

void activate_lower(RowTiler& r, const Node& node, Span span) {
  r.e().activation(r.out(node, 0, span), node.attrs.as<ActivationAttrs>().fn, r.in(node, 0, span));
}

/// dx = dy * fn'(x). Shapes: dy, x [R, C] -> [R, C]. Lowering: ScalarE for fn', VectorE for the product.
Tensors activate_grad_forward(const Attrs& attrs, std::span<const Tensor> in) {
  const isa::Fn fn = attrs.as<ActivationAttrs>().fn;
  return map(in, [&](float dy, float x) { return dy * function(fn, "activate_grad").slope(x); });
}

void activate_grad_lower(RowTiler& r, const Node& node, Span span) {
  const Tile dy = r.in(node, 0, span), x = r.in(node, 1, span), y = r.out(node, 0, span);
  const Tile slope = r.scratch(x.dtype, span.size);
  const Function& f = function(node.attrs.as<ActivationAttrs>().fn, node.label);
  if (f.of_value) r.e().activation(slope, f.fn, x);
  r.e().activation(slope, f.grad, f.of_value ? slope : x);
  r.e().tensor_tensor(y, dy, Alu::kMul, slope);
}

}  // namespace

const Op kActivate{.name = "activate",
                   .text = "fn(x): gelu, gelu_tanh, gelu_sigmoid, tanh, silu, softplus, relu",
                   .attrs = ActivationAttrs{},
                   .infer = same_or_broadcast,
                   .forward = activate_forward,
                   .backward = activate_backward,
                   .lower_columns = activate_lower};
const Op kActivateGrad{.name = "activate_grad",
                       .text = "dy * fn'(x)",
                       .attrs = ActivationAttrs{},
                       .infer = same_or_broadcast,
                       .forward = activate_grad_forward,
                       .lower_columns = activate_grad_lower};

}  // namespace runtime
