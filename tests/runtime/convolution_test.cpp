// Windows that move over pictures, against their references: padding, strides, dilation, layouts and sizes that do not
// fit into SBUF at once.
#include <gtest/gtest.h>

#include "runtime/ops/picture_tiles.h"
#include "tests/runtime/run_op.h"
#include "tests/target.h"

namespace {

using namespace runtime_test;
using runtime::ConvolutionAttrs;
using runtime::kConvolution;
using runtime::kWindow;
using runtime::Pictures;
using runtime::WindowAttrs;
using runtime::WindowAxis;

/// With `high` places of padding behind the pixels.
WindowAxis axis(WindowAxis out, std::int64_t high = 0) {
  const std::int64_t wide = (out.size - 1) * out.apart + 1 + out.low + high - (out.window - 1) * out.dilation;
  out.places = (wide - 1) / out.stride + 1;
  return out;
}
WindowAxis axis(std::int64_t size, std::int64_t window, std::int64_t low = 0, std::int64_t high = 0,
                std::int64_t stride = 1) {
  return axis({.size = size, .window = window, .stride = stride, .low = low}, high);
}

/// Pictures as [picture, feature, row, column].
Pictures pictures(std::int64_t count, std::int64_t features, WindowAxis rows, WindowAxis cols) {
  rows.x_step = cols.size, cols.x_step = 1;
  const std::int64_t plane = rows.size * cols.size;
  return {.features = features,
          .count = count,
          .rows = rows,
          .cols = cols,
          .step = features * plane,
          .feature_step = plane};
}

/// A kernel as [output, feature, row, column].
ConvolutionAttrs convolution(Pictures x, std::int64_t outputs) {
  x.rows.w_step = x.cols.window, x.cols.w_step = 1;
  const std::int64_t taps = x.taps(), features = x.features;
  return {.x = x, .outputs = outputs, .w_output = features * taps, .w_feature = taps};
}

Inputs operands(const ConvolutionAttrs& a, Dtype type = Dtype::kFp32) {
  const Pictures& x = a.x;
  return in_type(type, {random_normal(a.outputs, x.features * x.taps(), 1),
                        random_normal(x.count * x.features * x.rows.size, x.cols.size, 2)});
}

void expect_right(const ConvolutionAttrs& a) {
  const double root = std::sqrt(static_cast<double>(a.x.features * a.x.taps()));
  expect_reference(kConvolution, operands(a), a, {{.ulps = 3 * root + 1, .floor = root}}, "fp32");
}

TEST(Convolution, PadsBothSidesAndSkipsRows) {
  expect_right(convolution(pictures(2, 20, axis(9, 3, 1, 1, 2), axis(7, 3, 1, 2)), 5));
}

TEST(Convolution, FewFeaturesShareThePartitionsWithPlacesOfTheWindow) {
  const auto a = convolution(pictures(1, 3, axis(30, 7, 3, 3, 2), axis(30, 7, 3, 3, 2)), 64);
  const runtime::Graph graph{runtime::numerics("bf16")};
  const runtime::Emitter emitter{graph, trn1_target(), "test"};
  EXPECT_GT(runtime::packing(emitter, a.x, a.outputs, Dtype::kBf16).count(), 1);
  expect_right(a);
}

TEST(Convolution, MoreFeaturesAndOutputsThanPartitions) {
  expect_right(convolution(pictures(3, 150, axis(6, 3, 1, 1), axis(5, 3, 1, 1)), 140));
}

TEST(Convolution, DilatedWindowsAndPictures) {
  expect_right(convolution(pictures(1, 4, axis({.size = 12, .window = 3, .dilation = 2, .low = 2}, 2),
                                    axis({.size = 11, .window = 2, .dilation = 3}, 1)),
                           6));
  expect_right(convolution(pictures(2, 4, axis({.size = 6, .window = 3, .apart = 2, .low = 2}, 1),
                                    axis({.size = 5, .window = 2, .apart = 3, .low = 1}, 1)),
                           6));
}

/// Pixels with zeros between them, of which TensorE sees none: each place of the window adds to places of its own.
TEST(Convolution, GapsBetweenPixelsAreLeftOut) {
  const auto twice = [](std::int64_t size, std::int64_t window, std::int64_t low, std::int64_t high) {
    return axis({.size = size, .window = window, .apart = 2, .low = low}, high);
  };
  expect_right(convolution(pictures(2, 140, twice(7, 2, 1, 1), twice(6, 2, 1, 1)), 9));
  expect_right(convolution(pictures(1, 5, twice(40, 4, 2, 2), twice(41, 3, 1, 2)), 7));
  // fewer places of the window than gaps: some places see no pixel
  expect_right(
      convolution(pictures(2, 3, axis({.size = 5, .window = 1, .apart = 3, .low = 0}, 2), twice(6, 1, 0, 1)), 4));
  expect_right(convolution(pictures(2, 3, axis({.size = 5, .window = 3, .dilation = 2, .apart = 2, .low = 3}, 1),
                                    axis({.size = 6, .window = 2, .dilation = 3, .apart = 2, .low = 5}, 4)),
                           4));
  expect_right(convolution(pictures(1, 3, axis({.size = 9, .window = 3, .stride = 2, .apart = 3, .low = 1}, 1),
                                    axis({.size = 8, .window = 3, .stride = 1, .apart = 3, .low = 0})),
                           4));
}

TEST(Convolution, GapsOfPicturesThatPassInBands) {
  const auto a = convolution(pictures(1, 130, axis({.size = 100, .window = 3, .apart = 2, .low = 1}, 1),
                                      axis({.size = 150, .window = 4, .apart = 2, .low = 2}, 1)),
                             3);
  ASSERT_GT(runtime::picture_bytes(a.x, Dtype::kFp32, runtime::whole_of(a.x)),
            3 * runtime::picture_bytes(a.x, Dtype::kFp32, runtime::whole_of(a.x), runtime::Gaps::kLeftOut));
  expect_right(a);
}

TEST(Convolution, ReversedKernelsWhoseOutputsAreNearerThanFeatures) {
  ConvolutionAttrs a = convolution(pictures(2, 130, axis(7, 3, 1, 1), axis(6, 2, 1, 0)), 9);
  a.x.rows.reversed = true;
  a.w_output = a.x.taps(), a.w_feature = a.outputs * a.x.taps();
  expect_right(a);
}

TEST(Convolution, PicturesThatDoNotFitPassInBands) {
  const auto a = convolution(pictures(2, 130, axis(200, 3, 1, 1), axis(150, 3, 1, 1)), 3);
  ASSERT_GT(runtime::picture_bytes(a.x, Dtype::kFp32, runtime::whole_of(a.x)),
            trn1_target().geometry.sbuf_partition_bytes / 2);
  expect_right(a);
}

TEST(Convolution, RowsLongerThanABank) {
  expect_right(convolution(pictures(1, 2, axis(3, 2), axis(1300, 3, 1, 1)), 4));
}

TEST(Convolution, ReachingBeyondTheKernelIsRefused) {
  const auto a = convolution(pictures(1, 2, axis(5, 3), axis(5, 3)), 4);
  ConvolutionAttrs wrong = a;
  wrong.w_first = 1;
  EXPECT_TRUE(tests::fails(base::Fault::kProgram, [&] { run_on_device(kConvolution, operands(a), wrong, "fp32"); },
                           {"beyond"}));
}

TEST(Window, LargestSmallestAndSum) {
  for (const isa::Alu alu : {isa::Alu::kMax, isa::Alu::kMin, isa::Alu::kAdd}) {
    WindowAttrs a{.x = pictures(2, 140, axis(9, 3, 1, 1, 2), axis(8, 2, 0, 1)), .alu = alu};
    a.border = alu == isa::Alu::kMax ? -3e38 : alu == isa::Alu::kMin ? 3e38 : 0;
    expect_reference(kWindow, in_type(Dtype::kFp32, {random_normal(2 * 140 * 9, 8, 1)}), a, {{.ulps = 8, .floor = 1}},
                     "fp32");
  }
}

TEST(Window, WeightsOfEachFeatureAndSeveralOutputs) {
  WindowAttrs a{.x = pictures(2, 130, axis(10, 3, 1, 1, 2), axis({.size = 9, .window = 3, .dilation = 2, .low = 2}, 2)),
                .weighted = true,
                .outputs = 2};
  a.x.rows.w_step = 3;
  a.w_output = 9, a.w_feature = 18;
  expect_reference(kWindow, in_type(Dtype::kFp32, {random_normal(2 * 130 * 10, 9, 1), random_normal(260, 9, 2)}), a,
                   {{.ulps = 12, .floor = 3}}, "fp32");
}

}  // namespace
