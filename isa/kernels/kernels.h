// The host's inner loops: one table of functions per instruction set, chosen once at run time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "isa/instr.h"

namespace isa::kernels {

/// Host instruction sets, each a superset of the one before. Results have the same bits on all of them, and with any
/// number of threads. For that, how TensorE adds is defined once. AWS does not say how it does; this is how AMX's
/// TDPBF16PS does (Intel SDM), which alone of the hosts' instructions cannot be told to add otherwise:
///   bf16: k is filled with zeros to a multiple of 32. In each group of 32, the products of even k are added up in
///   order, and so are those of odd k, each product with one rounding to nearest even, from +0; then the two sums, then
///   that to the sum of the groups before, from +0, and all to the accumulator. Subnormal operands and results are
///   zeros of their sign. fp32: the products are added in order of k, each with one rounding, then all to the
///   accumulator. Subnormal numbers count.
/// A NaN is always 0x7fc00000.
enum class Level : std::uint8_t { kGeneric, kAvx2, kAvx512, kAvx512Bf16, kAmx };
inline constexpr std::size_t kLevelCount = 5;

/// Key of a stream of random numbers, from Context by random_stream() of isa/exec/random.h.
struct Stream {
  std::array<std::uint32_t, 2> key{};
  std::array<std::uint32_t, 2> nonce{};  // upper two counter words
};

/// Rows of n numbers, in_stride and out_stride bytes apart.
struct Rows {
  std::size_t count = 1, n = 0;
  std::int64_t in_stride = 0, out_stride = 0;
};

/// Random bits: of rows `row` and after, of columns from the begin of the block of 128 that `first` is in; see
/// random16() in isa/exec/random.h.
struct Draw {
  Stream stream;
  std::uint32_t row = 0, first = 0;
};

/// A dropout: the threshold below which elements are dropped, and the factor for the rest.
struct Dropout {
  std::uint32_t threshold = 0;  // random bits below it drop a number
  float scale = 1;
};

/// One matmul on packed host memory: c[M, N] (+)= a[K, M]^T b[K, N]. Strides in bytes from row to row.
struct MatMul {
  int k = 0, m = 0, n = 0;  // k, m <= 128
  const std::byte* a = nullptr;
  std::int64_t a_stride = 0;
  const std::byte* b = nullptr;
  std::int64_t b_stride = 0;
  float* c = nullptr;
  std::int64_t c_stride = 0;
  bool accumulate = false;
  bool falling = false;  // rows of c from the last to the first; changes no result

  /// bf16: where to add how many operands are taken for zero; null: nowhere. Calls that have a or b in common divide
  /// them: this one counts a, or not, and of each `turns` panels of b those from `turn` to before `turns_end`.
  std::size_t* flushed = nullptr;
  bool counts_a = true;
  int turn = 0, turns_end = 1, turns = 1;
};

/// The input range that a function of ScalarE is documented for.
struct Range {
  float least, most;
  bool of_magnitude = false;  // of either sign
  bool zero_too = false;
};

inline constexpr int kMaxK = 128;
inline constexpr int kMaxM = 128;
inline constexpr std::size_t kMostStatistics = 512;  // AWS Neuron docs, nki.isa.bn_stats

struct Kernels {
  Level level = Level::kGeneric;
  std::string_view name;

  // out[i] = a[i] op b[i]; by the scalar s: a[i] op s, s op a[i]. Arrays may be the same, not overlap otherwise.
  // Null for the bitwise operations and kNone.
  using Binary = void (*)(const float* a, const float* b, float* out, std::size_t n);
  using WithScalar = void (*)(const float* a, float s, float* out, std::size_t n);
  std::array<Binary, kAluCount> binary{};
  std::array<WithScalar, kAluCount> with_scalar{};
  std::array<WithScalar, kAluCount> scalar_first{};
  /// out[i] = fn(fma(a[i], scale, bias)).
  std::array<void (*)(const float* a, float scale, float bias, float* out, std::size_t n), kFnCount> unary{};
  /// Folds x into 64 running lanes, element i into lane i % 64 (`n` a multiple of 64 but in the last call); kAdd, kMul,
  /// kMax, kMin, null for the others.
  std::array<void (*)(const float* x, std::size_t n, float* lanes), kAluCount> fold{};

  /// Folds all of x into lanes that start at the operation's identity, then the lanes as a tree.
  std::array<float (*)(const float* x, std::size_t n), kAluCount> reduce{};
  /// Count, mean and sum of squared deviations of the elements of even places, then of odd ones; n at most
  /// kMostStatistics. Sums as `reduce`.
  void (*statistics)(const float* x, std::size_t n, float* out) = nullptr;

  void (*from_bf16)(const std::uint16_t* in, float* out, const Rows& rows) = nullptr;
  void (*from_fp16)(const std::uint16_t* in, float* out, std::size_t n) = nullptr;
  /// These return whether a result is infinite or NaN.
  bool (*to_bf16)(const float* in, std::uint16_t* out, const Rows& rows) = nullptr;
  bool (*to_fp16)(const float* in, std::uint16_t* out, std::size_t n) = nullptr;
  /// fp8_e4m3, fp8_e5m2, fp8_e3m4.
  std::array<void (*)(const float* in, std::uint8_t* out, std::size_t n), 3> to_fp8{};
  void (*to_tf32)(const float* in, float* out, std::size_t n) = nullptr;
  /// Stochastic: adds random bits below the kept mantissa, then truncates. Returns as to_bf16 does.
  bool (*to_bf16_stochastic)(const float* in, const Draw& draw, std::uint16_t* out, const Rows& rows) = nullptr;
  /// The random bits of n columns of one row; `out` has space for a multiple of 64.
  void (*random_row)(const Draw& draw, std::size_t n, std::uint16_t* out) = nullptr;
  /// out[r][i] = random bits >= drop.threshold ? a[r][i] * drop.scale : 0, for packed rows of `cols`.
  void (*dropout)(const float* a, const Draw& draw, const Dropout& drop, float* out, std::size_t rows,
                  std::size_t cols) = nullptr;
  /// out[i] = where[i] != 0 ? a[i] : b[i].
  void (*choose)(const float* where, const float* a, const float* b, float* out, std::size_t n) = nullptr;
  /// Copies rows of `bytes`, in_stride and out_stride bytes apart; a row may overlap the place that it goes to.
  void (*copy_rows)(const std::byte* in, std::int64_t in_stride, std::byte* out, std::int64_t out_stride,
                    std::size_t rows, std::size_t bytes) = nullptr;
  /// out[j][i] = in[i][j] for `rows` x `cols` elements; strides in bytes.
  void (*transpose16)(const std::byte* in, std::int64_t in_stride, std::byte* out, std::int64_t out_stride, int rows,
                      int cols) = nullptr;
  void (*transpose32)(const std::byte* in, std::int64_t in_stride, std::byte* out, std::int64_t out_stride, int rows,
                      int cols) = nullptr;
  /// Whether one of the numbers is infinite or NaN: all bits of `exponent` are set.
  bool (*special16)(const std::uint16_t* in, const Rows& rows, std::uint16_t exponent) = nullptr;
  bool (*special32)(const std::uint32_t* in, const Rows& rows, std::uint32_t exponent) = nullptr;
  /// How many of fma(a[i], scale, bias) are outside of `range`; NaN is.
  std::size_t (*outside)(const float* a, float scale, float bias, const Range& range, std::size_t n) = nullptr;
  void (*matmul_bf16)(const MatMul& args) = nullptr;
  void (*matmul_fp32)(const MatMul& args) = nullptr;
};

/// The best level that the host supports, or the one that TRNSIM_HOST_ISA names. Errors: Fault::kUsage when that is
/// unknown, Fault::kEnvironment when the host lacks it.
const Kernels& best_kernels();
[[gnu::always_inline]] inline const Kernels& kernels() {
  static const Kernels& kChosen = best_kernels();  // asked for with each row: no call
  return kChosen;
}
/// The table of one level. Errors: Fault::kEnvironment when the host lacks it.
const Kernels& kernels(Level level);
bool host_supports(Level level);
std::string_view name_of(Level level);  // "generic", "avx2", "avx512", "avx512bf16", "amx"

// One per instruction set, for dispatch.cpp alone, and only on a host that has it.
Kernels generic_table();
Kernels avx2_table();
Kernels avx512_table();
/// Leaves the table as it is where VDPBF16PS does not add as defined.
void add_avx512bf16(Kernels& table);
void add_amx(Kernels& table);

}  // namespace isa::kernels
