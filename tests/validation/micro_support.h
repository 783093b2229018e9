// Shared by tests of kernels: inputs, a device to run them on, and the distance from the reference.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "isa/check.h"
#include "isa/device.h"
#include "isa/flops.h"
#include "runtime/step/session.h"
#include "tests/target.h"

namespace micro_test {

using Matrix = std::vector<float>;
using Named = std::vector<std::pair<const char*, const Matrix*>>;

inline Matrix random_matrix(std::int64_t elements, std::uint32_t seed, double scale = 1) {
  std::mt19937 bits{seed};
  std::normal_distribution<double> normal;
  Matrix out(static_cast<std::size_t>(elements));
  for (float& x : out) x = static_cast<float>(scale * normal(bits));
  return out;
}

/// Runs a program on the numeric device with the inputs by name.
class Running {
 public:
  explicit Running(isa::Program program) : program_{std::move(program)} {
    isa::check(program_, trn1_target());
    device_->load(program_);
  }
  void write(std::string_view name, const Matrix& values) {
    runtime::Session{*device_, program_}.write(0, name, std::span<const float>{values});
  }
  Matrix read(std::string_view name) { return runtime::Session{*device_, program_}.read(0, name); }
  void run() { device_->run({.seed = 42, .step = 0, .host_threads = 1}); }
  const isa::Program& program() const { return program_; }

 private:
  isa::Program program_;
  std::unique_ptr<isa::Device> device_ = isa::make_numeric_device();
};

/// The FLOPs of TensorE for the mathematics (not to put one row into all partitions).
inline double executed_flops(const isa::Program& program) {
  double sum = 0;
  for (const isa::Call& call : program.calls) sum += program.blocks[call.block].matmul_flops;
  return sum;
}

/// Largest difference over the largest magnitude.
inline double distance(const Matrix& got, const Matrix& want) {
  double difference = 0, largest = 0;
  EXPECT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < want.size(); ++i) {
    difference = std::max(difference, std::abs(static_cast<double>(got[i]) - want[i]));
    largest = std::max(largest, std::abs(static_cast<double>(want[i])));
  }
  return difference / largest;
}

/// a [m, k] b [k, n], or with `transposed` a [k, m].
inline Matrix product(const Matrix& a, const Matrix& b, std::int64_t m, std::int64_t k, std::int64_t n,
                      bool transposed) {
  Matrix out(static_cast<std::size_t>(m * n));
  std::vector<double> sums(static_cast<std::size_t>(n));
  for (std::int64_t r = 0; r < m; ++r) {
    std::ranges::fill(sums, 0.0);
    for (std::int64_t i = 0; i < k; ++i) {
      const double x = a[static_cast<std::size_t>(transposed ? i * m + r : r * k + i)];
      const float* row = b.data() + i * n;
      for (std::int64_t c = 0; c < n; ++c) sums[static_cast<std::size_t>(c)] += x * row[c];
    }
    std::ranges::copy(sums, out.begin() + r * n);
  }
  return out;
}

inline double silu(double x) { return x / (1 + std::exp(-x)); }

// fp32 sums of k terms in another order: sqrt(k) roundings of 2^-24, and the array's own fp32 (four passes).
inline constexpr double kFp32 = 2e-5;

}  // namespace micro_test
