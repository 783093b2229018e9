// A matrix of fp32 on the host: what the reference semantics of ops compute on.
#pragma once

#include <cstdint>
#include <vector>

namespace runtime {

struct Tensor {
  std::int64_t rows = 0, cols = 0;
  std::vector<float> data{};

  Tensor() = default;
  Tensor(std::int64_t r, std::int64_t c) : rows{r}, cols{c}, data(static_cast<std::size_t>(r * c)) {}
  float& at(std::int64_t r, std::int64_t c) { return data[static_cast<std::size_t>(r * cols + c)]; }
  float at(std::int64_t r, std::int64_t c) const { return data[static_cast<std::size_t>(r * cols + c)]; }
  const float* row(std::int64_t r) const { return data.data() + r * cols; }
  float* row(std::int64_t r) { return data.data() + r * cols; }
  /// Element (r, c) where a single row or column stands for all of them.
  float broadcast(std::int64_t r, std::int64_t c) const { return at(rows == 1 ? 0 : r, cols == 1 ? 0 : c); }
};

using Tensors = std::vector<Tensor>;

/// [rows, cols] of values f(r, c).
template <class F>
Tensor generate(std::int64_t rows, std::int64_t cols, const F& f) {
  Tensor out(rows, cols);
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < cols; ++c) out.at(r, c) = static_cast<float>(f(r, c));
  return out;
}

/// a[0] * b[0] + ... of n products in fp64, added in their order; elements are `step` apart.
double dot(const float* a, const float* b, std::int64_t n, std::int64_t a_step = 1, std::int64_t b_step = 1);
/// to[i] += scale * from[i], the product rounded to fp32 before it is added.
void add_scaled(float* to, double scale, const float* from, std::int64_t n);

}  // namespace runtime
