// Fourier transforms by their definition, Cholesky factors, triangular systems; all in complex fp64.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "frontend/graph/indices.h"
#include "frontend/interpret/product.h"

namespace trnsim::frontend::evaluate {
namespace {

Value complex_or_real(const Type& type, Complexes numbers) {
  if (is_complex(type.element)) return value_of(type, std::move(numbers));
  Reals out;
  for (const Complex& x : numbers) out.push_back(x.real());
  return value_of(type, std::move(out));
}

/// X[k] = sum x[n] exp(sign 2 pi i k n / size) along one dimension.
Complexes transformed(const Complexes& from, const Dims& dims, std::size_t along, int sign) {
  const std::int64_t size = dims[along], stride = strides_of(dims)[along];
  Complexes out(from.size()), roots;
  for (std::int64_t k = 0; k < size; ++k) {
    const double angle = sign * 2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(size);
    roots.emplace_back(std::cos(angle), std::sin(angle));
  }
  for (std::size_t i = 0; i < from.size(); ++i) {
    const std::int64_t k = static_cast<std::int64_t>(i) / stride % size;
    const std::size_t base = i - at(k * stride);
    Complex sum;
    for (std::int64_t n = 0; n < size; ++n) sum += from[base + at(n * stride)] * roots[at(k * n % size)];
    out[i] = sum;
  }
  return out;
}

/// The second half of a real signal's spectrum mirrors the first.
Complexes completed(const Complexes& half, const Dims& half_dims, const Dims& dims, std::size_t transforms) {
  const Ints strides = strides_of(half_dims);
  Complexes out;
  Ints position(dims.size());
  do {
    const bool mirrored = position.back() >= half_dims.back();
    std::int64_t index = 0;
    for (std::size_t d = 0; d < dims.size(); ++d) {
      const bool mirror = mirrored && d + transforms >= dims.size();
      index += (mirror ? (dims[d] - position[d]) % dims[d] : position[d]) * strides[d];
    }
    out.push_back(mirrored ? std::conj(half[at(index)]) : half[at(index)]);
  } while (next_position(position, dims));
  return out;
}

/// The first of the last dimension's elements.
Complexes cut(const Complexes& from, std::int64_t row, std::int64_t keep) {
  Complexes out;
  for (std::size_t i = 0; i < from.size(); ++i)
    if (static_cast<std::int64_t>(i) % row < keep) out.push_back(from[i]);
  return out;
}

/// A matrix within a batch, with transposed or conjugated reading.
struct Matrix {
  const Complexes& numbers;
  std::int64_t base, columns;
  bool transposed = false, conjugated = false;

  Complex operator()(std::int64_t i, std::int64_t j) const {
    const Complex x = numbers[at(base + (transposed ? j * columns + i : i * columns + j))];
    return conjugated ? std::conj(x) : x;
  }
};

/// x of A x = b for one column; rows from the top when A is lower triangular.
void solve(const Matrix& a, std::int64_t n, bool lower, bool unit, std::vector<Complex>& b) {
  for (std::int64_t step = 0; step < n; ++step) {
    const std::int64_t i = lower ? step : n - 1 - step;
    Complex sum = b[at(i)];
    for (std::int64_t j = lower ? 0 : i + 1; j < (lower ? i : n); ++j) sum -= a(i, j) * b[at(j)];
    b[at(i)] = unit ? sum : sum / a(i, i);
  }
}

}  // namespace

void fft(Evaluation& e) {
  const std::string kind = e.attributes().text("fft_type");
  const auto transforms = e.attributes().ints("fft_length").size();
  const Type result = e.result_type();
  if (result.rank() == 0 || element_count(result.dims) == 0) return e.put(zeros(result));
  const bool inverse = kind == "IFFT" || kind == "IRFFT";
  const Dims dims = kind == "IRFFT" ? result.dims : e.operand(0).type.dims;
  Complexes numbers = numbers_as<Complexes>(e.operand(0));
  if (kind == "IRFFT") numbers = completed(numbers, e.operand(0).type.dims, dims, transforms);
  for (std::size_t d = dims.size() - transforms; d < dims.size(); ++d) {
    numbers = transformed(numbers, dims, d, inverse ? 1 : -1);
    if (inverse)
      for (Complex& x : numbers) x /= static_cast<double>(dims[d]);
  }
  if (kind == "RFFT") numbers = cut(numbers, dims.back(), result.dims.back());
  e.put(complex_or_real(result, std::move(numbers)));
}

void cholesky(Evaluation& e) {
  const bool lower = e.attributes().flag("lower");
  const Type type = e.result_type();
  const std::int64_t n = type.dims.back();
  const Complexes a = numbers_as<Complexes>(e.operand(0));
  Complexes out(a.size());
  for (std::int64_t base = 0; base < static_cast<std::int64_t>(a.size()); base += n * n) {
    const Matrix from{a, base, n, !lower, !lower};
    std::vector<Complex> l(at(n * n));
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j <= i; ++j) {
        Complex sum = from(i, j);
        for (std::int64_t k = 0; k < j; ++k) sum -= l[at(i * n + k)] * std::conj(l[at(j * n + k)]);
        l[at(i * n + j)] = i == j ? Complex{std::sqrt(sum.real())} : sum / l[at(j * n + j)];
      }
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j <= i; ++j)
        out[at(base + (lower ? i * n + j : j * n + i))] = lower ? l[at(i * n + j)] : std::conj(l[at(i * n + j)]);
  }
  e.put(complex_or_real(type, std::move(out)));
}

void triangular_solve(Evaluation& e) {
  const Attributes& of = e.attributes();
  const std::string form = of.text("transpose_a", "NO_TRANSPOSE");
  const bool left = of.flag("left_side"), unit = of.flag("unit_diagonal");
  const bool transposed = (form == "TRANSPOSE" || form == "ADJOINT") == left;  // x A = b is A^T x^T = b^T
  const bool lower = of.flag("lower") != transposed;
  const Type type = e.result_type();
  const std::int64_t n = e.operand(0).type.dims.back(), columns = type.dims.back(),
                     rows = type.dims[type.dims.size() - 2];
  const Complexes a = numbers_as<Complexes>(e.operand(0)), b = numbers_as<Complexes>(e.operand(1));
  Complexes out(b.size());
  const std::int64_t others = left ? columns : rows;
  for (std::int64_t batch = 0; batch * rows * columns < static_cast<std::int64_t>(b.size()); ++batch) {
    const Matrix matrix{a, batch * n * n, n, transposed, form == "ADJOINT"};
    for (std::int64_t other = 0; other < others; ++other) {
      const auto place = [&](std::int64_t i) {
        return at(batch * rows * columns + (left ? i * columns + other : other * columns + i));
      };
      std::vector<Complex> x;
      for (std::int64_t i = 0; i < n; ++i) x.push_back(b[place(i)]);
      solve(matrix, n, lower, unit, x);
      for (std::int64_t i = 0; i < n; ++i) out[place(i)] = x[at(i)];
    }
  }
  e.put(complex_or_real(type, std::move(out)));
}

}  // namespace trnsim::frontend::evaluate
