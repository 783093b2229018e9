#include "runtime/graph/numerics.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/suggest.h"

namespace runtime {
namespace {

using enum Dtype;

Numerics uniform(std::string name, Dtype type) {
  return {.name = std::move(name),
          .weight = type,
          .activation = type,
          .operand = type,
          .softmax = type,
          .gradient = type,
          .optimizer = type};
}

/// Matmuls take another type than the one in memory.
Numerics with_operand(const char* name, Dtype type, Dtype operand) {
  Numerics n = uniform(name, type);
  n.operand = operand;
  return n;
}

/// The compiler's treatment of fp32 weights when it casts all computation: inputs and outputs of a graph (weights,
/// gradients, optimizer state) stay fp32. VectorE and ScalarE have no use for fp8.
Numerics everything(const char* name, Dtype operand, Dtype between) {
  Numerics n = with_operand(name, kFp32, operand);
  n.activation = n.softmax = between;
  return n;
}

std::vector<Numerics> all() {
  Numerics mixed = uniform("bf16+fp32-softmax", kBf16);
  mixed.softmax = kFp32;
  Numerics master = uniform("bf16+fp32-optimizer", kBf16);
  master.optimizer = kFp32;
  Numerics half = uniform("fp16", kFp16);
  half.optimizer = kFp32;  // squares of gradients leave fp16's range
  half.weight = kFp32;     // and updates vanish beside fp16 weights
  half.loss_scale = 1024;
  Numerics tf32 = uniform("tf32", kFp32);
  tf32.operand = kTf32;
  return {uniform("fp32", kFp32),
          tf32,
          uniform("bf16", kBf16),
          half,
          with_operand("fp8_e4m3", kBf16, kFp8E4m3),
          with_operand("fp8_e5m2", kBf16, kFp8E5m2),
          with_operand("fp8_e3m4", kBf16, kFp8E3m4),
          with_operand("fp32+bf16-matmul", kFp32, kBf16),
          with_operand("fp32+fp16-matmul", kFp32, kFp16),
          with_operand("fp32+fp8_e4m3-matmul", kFp32, kFp8E4m3),
          everything("fp32+bf16-all", kBf16, kBf16),
          everything("fp32+fp16-all", kFp16, kFp16),
          everything("fp32+fp8_e4m3-all", kFp8E4m3, kBf16),
          mixed,
          master};
}

}  // namespace

Numerics numerics(std::string_view name) {
  const bool stochastic = name.ends_with("+sr");
  const std::string_view base = stochastic ? name.substr(0, name.size() - 3) : name;
  for (Numerics& n : all()) {
    if (n.name != base) continue;
    if (stochastic) n.rounding = isa::Rounding::kStochastic;
    n.name = name;
    return n;
  }
  const std::vector<std::string> names = numerics_names();
  throw base::Error{base::Fault::kUsage, "`numerics`", fmt::format("'{}' is not known", name),
                    base::suggest_fix(name, names)};
}

std::vector<std::string> numerics_names() {
  std::vector<std::string> names;
  for (const Numerics& n : all()) {
    names.push_back(n.name);
    names.push_back(n.name + "+sr");
  }
  return names;
}

}  // namespace runtime
