// One-node programs for the tests of operations: compiled, checked, run on a device, and compared with the reference.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "isa/check.h"
#include "isa/device.h"
#include "runtime/compiler/compile.h"
#include "runtime/graph/autodiff.h"
#include "runtime/ops/ops.h"
#include "runtime/step/session.h"
#include "tests/fails.h"
#include "tests/target.h"

namespace runtime_test {

using isa::Dtype;
using runtime::ActivationAttrs;
using runtime::AffineAttrs;
using runtime::AttentionAttrs;
using runtime::Attrs;
using runtime::CachedAttentionAttrs;
using runtime::CacheFillAttrs;
using runtime::ClipAttrs;
using runtime::CollectiveAttrs;
using runtime::DropoutAttrs;
using runtime::EmbeddingGradAttrs;
using runtime::Graph;
using runtime::Kind;
using runtime::LossAttrs;
using runtime::MatmulAttrs;
using runtime::MatmulTnAttrs;
using runtime::NormAttrs;
using runtime::Op;
using runtime::OptimizerAttrs;
using runtime::PositionsAttrs;
using runtime::PositionsGradAttrs;
using runtime::ReceiveAttrs;
using runtime::ResultAttrs;
using runtime::RopeAttrs;
using runtime::RunsAttrs;
using runtime::ScoreTerm;
using runtime::SendAttrs;
using runtime::SkinnyAttrs;
using runtime::StrideAttrs;
using runtime::Tensor;
using runtime::Tensors;
using runtime::ValueId;

/// Numbers of a standard normal distribution; equal for equal seeds.
inline Tensor random_normal(std::int64_t rows, std::int64_t cols, std::uint32_t seed, double scale = 1) {
  std::mt19937 bits{seed};
  std::normal_distribution<double> normal;
  return runtime::generate(rows, cols, [&](auto, auto) { return scale * normal(bits); });
}

/// Whole numbers in [0, below) as a column: ids, labels.
inline Tensor random_ids(std::int64_t rows, std::int64_t below, std::uint32_t seed) {
  std::mt19937 bits{seed};
  return runtime::generate(rows, 1, [&](auto, auto) { return static_cast<std::int64_t>(bits()) % below; });
}

/// The values rounded to that type.
inline Tensor rounded(Tensor t, Dtype dtype) {
  for (float& x : t.data) x = isa::decode(dtype, isa::encode(dtype, x));
  return t;
}

/// Bits behind the point of a number in [1, 2).
inline int mantissa_bits(Dtype dtype) { return dtype == Dtype::kBf16 ? 7 : dtype == Dtype::kFp16 ? 10 : 23; }

/// `ulps` steps of `dtype` at the wanted value, or at `floor` when that is larger: near 0 a step means nothing.
struct Tolerance {
  double ulps = 0;
  double floor = 0;
  Dtype dtype = Dtype::kFp32;
};

inline testing::AssertionResult close(const Tensor& got, const Tensor& want, Tolerance tolerance) {
  if (got.rows != want.rows || got.cols != want.cols)
    return testing::AssertionFailure() << fmt::format("[{}, {}] for [{}, {}]", got.rows, got.cols, want.rows,
                                                      want.cols);
  double worst = -1;
  std::size_t where = 0;
  for (std::size_t i = 0; i < want.data.size(); ++i) {
    const double scale = std::max<double>(std::abs(want.data[i]), tolerance.floor);
    const double ulp = scale == 0 ? 1e-45 : std::ldexp(1.0, std::ilogb(scale) - mantissa_bits(tolerance.dtype));
    double ulps = std::abs(static_cast<double>(got.data[i]) - want.data[i]) / ulp;
    if (std::isnan(ulps)) ulps = HUGE_VAL;
    if (ulps > worst) worst = ulps, where = i;
  }
  if (worst <= tolerance.ulps) return testing::AssertionSuccess();
  const auto cols = static_cast<std::size_t>(want.cols);
  return testing::AssertionFailure() << fmt::format("[{}, {}]: {} for {}, {:.3g} ulps, allowed {}", where / cols,
                                                    where % cols, got.data[where], want.data[where], worst,
                                                    tolerance.ulps);
}

/// Bit for bit.
inline testing::AssertionResult same(const Tensor& got, const Tensor& want) {
  return close(got, want, {.ulps = 0, .floor = 0});
}

inline double largest(const Tensor& t) {
  double most = 0;
  for (const float x : t.data) most = std::max<double>(most, std::abs(x));
  return most;
}

/// An operand: its values and its type in HBM.
struct Input {
  Input(Tensor t, Dtype d = Dtype::kFp32) : value{rounded(std::move(t), d)}, dtype{d} {}
  Tensor value;
  Dtype dtype;
};
using Inputs = std::vector<Input>;

inline Inputs in_type(Dtype dtype, const Tensors& tensors) {
  Inputs out;
  for (const Tensor& t : tensors) out.emplace_back(t, dtype);
  return out;
}

inline Tensors values(const Inputs& inputs) {
  Tensors out;
  for (const Input& i : inputs) out.push_back(i.value);
  return out;
}

/// A graph with named inputs and outputs, compiled and loaded.
class Running {
 public:
  explicit Running(Graph graph, const runtime::CompileOptions& options = {.name = "test"},
                   std::unique_ptr<isa::Device> device = isa::make_numeric_device())
      : compiled_{runtime::compile(std::move(graph), trn1_target(), options)}, device_{std::move(device)} {
    isa::check(compiled_.program, trn1_target());
    device_->load(compiled_.program);
  }
  void write(std::string_view name, const Tensor& t, std::uint32_t rank = 0) {
    runtime::Session session{*device_, compiled_.program};
    if (session.region(name).dtype == Dtype::kInt32)
      session.write(rank, name, std::vector<std::int32_t>(t.data.begin(), t.data.end()));
    else
      session.write(rank, name, t.data);
  }
  Tensor read(std::string_view name, std::uint32_t rank = 0) {
    runtime::Session session{*device_, compiled_.program};
    const auto& shape = session.region(name).shape;
    Tensor t(shape.at(0), shape.at(1));
    t.data = session.read(rank, name);
    return t;
  }
  void run(const isa::RunOptions& options = {.seed = 42, .step = 0, .host_threads = 2}) { device_->run(options); }
  const runtime::Compiled& compiled() const { return compiled_; }
  isa::Device& device() { return *device_; }

 private:
  runtime::Compiled compiled_;
  std::unique_ptr<isa::Device> device_;
};

/// The results of one operation on a device.
inline Tensors run_on_device(const Op& op, const Inputs& inputs, const Attrs& attrs = {},
                             std::string_view numerics = "fp32",
                             std::unique_ptr<isa::Device> device = isa::make_numeric_device()) {
  Graph graph{runtime::numerics(numerics)};
  std::vector<ValueId> in;
  for (const Input& i : inputs)
    in.push_back(graph.tensor(fmt::format("in{}", in.size()), i.value.rows, i.value.cols, i.dtype, Kind::kInput));
  graph.enter({.name = "test"});
  const std::vector<ValueId> out = graph.add(op, std::string{op.name}, in, attrs);
  std::vector<std::string> names;
  for (const ValueId v : out) {
    if (graph.root(v) == v) graph.output(v, fmt::format("out{}", names.size()));
    names.push_back(graph.value(graph.root(v)).name);
  }
  Running running{std::move(graph), {.name = std::string{op.name}}, std::move(device)};
  for (std::size_t i = 0; i < inputs.size(); ++i) running.write(fmt::format("in{}", i), inputs[i].value);
  running.run();
  Tensors results;
  for (const std::string& name : names) results.push_back(running.read(name));
  return results;
}

/// On the device as by the reference; one tolerance per result.
inline void expect_reference(const Op& op, const Inputs& inputs, const Attrs& attrs,
                             const std::vector<Tolerance>& tolerances, std::string_view numerics = "fp32") {
  const Tensors got = run_on_device(op, inputs, attrs, numerics),
                want = op.forward(attrs.empty() ? op.attrs : attrs, values(inputs));
  ASSERT_EQ(got.size(), want.size());
  ASSERT_EQ(got.size(), tolerances.size());
  for (std::size_t o = 0; o < got.size(); ++o)
    EXPECT_TRUE(close(got[o], want[o], tolerances[o])) << op.name << ", result " << o;
}

using tests::fails;

}  // namespace runtime_test
