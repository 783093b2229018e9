// The number format of each kind of tensor, as named by `--numerics`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "isa/dtype.h"

namespace runtime {

using isa::Dtype;

struct Numerics {
  std::string name;
  Dtype weight = Dtype::kFp32;      // parameters in HBM
  Dtype activation = Dtype::kFp32;  // tensors between operations
  Dtype operand = Dtype::kFp32;     // type that TensorE multiplies; it always accumulates in fp32
  Dtype softmax = Dtype::kFp32;     // scores and exponentials inside of attention
  Dtype gradient = Dtype::kFp32;    // of parameters
  Dtype optimizer = Dtype::kFp32;   // moments
  isa::Rounding rounding = isa::Rounding::kNearestEven;
  double loss_scale = 1;  // fp16 gradients underflow without one (Micikevicius et al., arXiv:1710.03740)
  bool operator==(const Numerics&) const = default;
};

/// "fp32", "tf32" (operands of matmuls alone), "bf16", "fp16" (with fp32 weights and moments, and a loss scale),
/// "fp8_e4m3", "fp8_e5m2", "fp8_e3m4" (operands alone, the rest bf16), "fp32+bf16-matmul" (neuronx-cc's default
/// auto-cast of an fp32 model; also of fp16 and fp8_e4m3, and "-all" where all computation is cast),
/// "bf16+fp32-softmax", "bf16+fp32-optimizer"; each also with "+sr" for stochastic rounding. Errors: Fault::kUsage with
/// the nearest name.
Numerics numerics(std::string_view name);
std::vector<std::string> numerics_names();

}  // namespace runtime
