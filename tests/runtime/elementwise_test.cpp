// Operations that work element by element, against their references.
#include <gtest/gtest.h>

#include "tests/runtime/run_op.h"

namespace {

using namespace runtime_test;
using isa::Fn;

struct ElementwiseCase {
  std::int64_t rows, cols;
  Dtype dtype;

  friend void PrintTo(const ElementwiseCase& c, std::ostream* out) {
    *out << c.rows << "x" << c.cols << " " << int(c.dtype);
  }
};

class Elementwise : public testing::TestWithParam<ElementwiseCase> {
 protected:
  Tensor x() const { return random_normal(GetParam().rows, GetParam().cols, 1); }
  Tensor z() const { return random_normal(GetParam().rows, GetParam().cols, 2); }
  Dtype dtype() const { return GetParam().dtype; }
  Inputs in(const Tensors& tensors) const { return in_type(dtype(), tensors); }
  Tolerance within(double ulps, double floor = 0) const { return {.ulps = ulps, .floor = floor, .dtype = dtype()}; }
  std::string_view numerics() const { return dtype() == Dtype::kFp32 ? "fp32" : "bf16"; }
};

// One operation in fp32 and one rounding to the result's type: the very same number in fp32, half a step in bf16.
TEST_P(Elementwise, AddAndMul) {
  const std::int64_t rows = GetParam().rows, cols = GetParam().cols;
  const double ulps = dtype() == Dtype::kFp32 ? 0 : 0.5;
  for (const Op* op : {&runtime::kAdd, &runtime::kMul}) {
    expect_reference(*op, in({x(), z()}), {}, {within(ulps)}, numerics());
    expect_reference(*op, in({x(), random_normal(1, cols, 3)}), {}, {within(ulps)}, numerics());
    expect_reference(*op, in({x(), random_normal(rows, 1, 4)}), {}, {within(ulps)}, numerics());
    expect_reference(*op, in({x(), random_normal(1, 1, 5)}), {}, {within(ulps)}, numerics());
  }
}

// A product and a sum in fp32, each rounded.
TEST_P(Elementwise, Affine) {
  const double ulps = dtype() == Dtype::kFp32 ? 1 : 0.51;
  expect_reference(runtime::kAffine, in({x()}), AffineAttrs{.alpha = 0.37}, {within(ulps)}, numerics());
  expect_reference(runtime::kAffine, in({x()}), AffineAttrs{.alpha = 1e9, .beta = -1e9}, {within(ulps, 1e9)},
                   numerics());
  expect_reference(runtime::kAffine, in({x()}), AffineAttrs{.alpha = -1, .beta = 0.5, .dtype = Dtype::kFp32},
                   {{.ulps = 1}}, numerics());
}

// ScalarE's functions are polynomials within 2 steps of fp32 at numbers near 1 (isa/kernels); the derivative has a few
// more operations of magnitude 1.
TEST_P(Elementwise, ActivateAndItsGradient) {
  const bool fp32 = dtype() == Dtype::kFp32;
  for (const Fn fn : {Fn::kGelu, Fn::kGeluTanh, Fn::kGeluSigmoid, Fn::kTanh, Fn::kSilu, Fn::kSoftplus}) {
    expect_reference(runtime::kActivate, in({x()}), ActivationAttrs{.fn = fn}, {within(fp32 ? 8 : 0.55, 0.5)},
                     numerics());
    // In bf16 the derivative is rounded before it meets dy, and the product once more.
    expect_reference(runtime::kActivateGrad, in({z(), x()}), ActivationAttrs{.fn = fn}, {within(fp32 ? 16 : 1.6, 0.5)},
                     numerics());
  }
}

// Comparisons and selections round nothing; the limit is a number of every type.
TEST_P(Elementwise, ClampAndItsGradient) {
  const runtime::ClampAttrs attrs{.limit = 0.75};
  expect_reference(runtime::kClamp, in({x()}), attrs, {within(0.51)}, numerics());
  expect_reference(runtime::kClampGrad, in({z(), x()}), attrs, {within(0.51)}, numerics());
  runtime::ClampAttrs below = attrs;
  below.above_only = true;
  expect_reference(runtime::kClamp, in({x()}), below, {within(0.51)}, numerics());
  expect_reference(runtime::kClampGrad, in({z(), x()}), below, {within(0.51)}, numerics());
}

// The exponential is a number near 1, within 2 steps of fp32; its two sums round once each, whatever the type of x.
TEST_P(Elementwise, RestOfAnExponentialAndItsGradient) {
  expect_reference(runtime::kExpRest, in({x()}), ResultAttrs{}, {within(dtype() == Dtype::kFp32 ? 4 : 0.51, 1)},
                   numerics());
  expect_reference(runtime::kExpRestGrad, in({z(), x()}), ResultAttrs{},
                   {within(dtype() == Dtype::kFp32 ? 8 : 0.51, 1)}, numerics());
}

INSTANTIATE_TEST_SUITE_P(Sizes, Elementwise,
                         testing::Values(ElementwiseCase{5, 6, Dtype::kFp32}, ElementwiseCase{130, 192, Dtype::kFp32},
                                         ElementwiseCase{257, 600, Dtype::kBf16},
                                         ElementwiseCase{5, 9000, Dtype::kFp32},
                                         ElementwiseCase{130, 1100, Dtype::kBf16},
                                         ElementwiseCase{1, 320, Dtype::kFp32}));

TEST(Activate, RefusesAFunctionWithoutDerivative) {
  EXPECT_TRUE(fails(base::Fault::kProgram,
                    [] {
                      run_on_device(runtime::kActivateGrad, {random_normal(2, 2, 1), random_normal(2, 2, 2)},
                                    ActivationAttrs{.fn = Fn::kExp});
                    },
                    {"no derivative", "gelu"}));
}

// The gradients of broadcast operands are sums over their broadcast axes; a column's is not used by any model.
TEST(Add, RefusesTheGradientOfAColumn) {
  Graph graph{runtime::numerics("fp32")};
  const ValueId w = graph.tensor("w", 4, 1, Dtype::kFp32, Kind::kWeight);
  const ValueId x = graph.tensor("x", 4, 3, Dtype::kFp32, Kind::kInput);
  EXPECT_TRUE(fails(base::Fault::kProgram,
                    [&] {
                      const ValueId y = graph.add1(runtime::kAdd, "sum", {x, w});
                      const ValueId labels = graph.tensor("labels", 4, 1, Dtype::kInt32, Kind::kInput);
                      const ValueId weights = graph.tensor("weights", 4, 1, Dtype::kFp32, Kind::kInput);
                      differentiate(graph, graph.add(runtime::kCrossEntropy, "loss", {y, labels, weights})[0]);
                    },
                    {"add sum", "broadcast column"}));
}

}  // namespace
