// Any x86-64 (or other) host: no vector code beyond the compiler's, fused multiply-adds by libm.
#include "isa/kernels/body_convert.h"
#include "isa/kernels/body_elementwise.h"
#include "isa/kernels/body_matmul.h"

namespace isa::kernels {
namespace {

struct Scalar {
  using Vector = float;
  using Operand = float;
  static constexpr int kWidth = 1, kRows = 4, kVectors = 4;
  static float zero() { return 0; }
  static float load_operand(const std::uint32_t* p) { return float_of(*p); }
  static float broadcast(std::uint32_t a) { return float_of(a); }
  static float multiply_add(float a, float b, float sum) { return fma1(a, b, sum); }
  static float load(const float* p) { return *p; }
  static float add(float a, float b) { return a + b; }
  static void store(float* p, float v) { *p = v; }
};

/// Products of the lower halves of 64-bit lanes.
struct Wide {
  using Vector [[gnu::vector_size(16)]] = std::uint64_t;
  static Vector multiply(Vector a, Vector b) { return (a & 0xffffffffu) * (b & 0xffffffffu); }
};

}  // namespace

Kernels generic_table() {
  Kernels table;
  table.level = Level::kGeneric;
  fill_elementwise(table);
  fill_convert<Wide>(table);
  table.matmul_bf16 = matmul_tile<Scalar, PackBf16AsFp32>;
  table.matmul_fp32 = matmul_tile<Scalar, PackFp32>;
  return table;
}

}  // namespace isa::kernels
