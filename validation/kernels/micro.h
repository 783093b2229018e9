// Programs of published micro-benchmarks: matmuls, memory traffic, kernels, instruction chains. Real programs that
// compute real values for one core of `target`; the machine decides their time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "isa/program.h"
#include "isa/target.h"

namespace validation {

/// out [M, N] = lhs rhs, `batch` of them one after the other, all of type `dtype`, HBM to HBM.
struct Gemm {
  std::int64_t m = 0, k = 0, n = 0, batch = 1;
  isa::Dtype dtype = isa::Dtype::kBf16;
};
constexpr double flops(const Gemm& g) {
  return 2.0 * static_cast<double>(g.m) * static_cast<double>(g.k) * static_cast<double>(g.n) *
         static_cast<double>(g.batch);
}
/// The left operand is stored as its transpose, "lhs_t" [K, M], "rhs" [K, N]: no transposes are needed. Blocks of 2048
/// x 1024 results meet 1024 of K at a time and add up in SBUF. Batch 1. Source: AWS Neuron docs, NKI matrix
/// multiplication tutorial, the fully optimized kernel.
isa::Program tuned_gemm(const Gemm& gemm, const isa::Target& target);
/// "x" [M, K] and "0.matmul" [K, N] as a framework has them: the compiler's own matmul, a chain of one step.
isa::Program compiled_gemm(const Gemm& gemm, const isa::Target& target);

/// Steps one after the other on "x" [rows, cols], `batch` of them, HBM to HBM: matmuls by [.., n], and steps that work
/// by rows. Step i named s has its operands as "i.s" (layernorm's bias: "i.s.bias"); the result is "out". With a batch
/// every name is followed by ".b".
struct Chain {
  std::vector<std::string> steps;  // of chain_steps()
  std::int64_t rows = 0, cols = 0;
  std::int64_t n = 0;  // columns of a matmul's result
  std::int64_t batch = 1;
  isa::Dtype dtype = isa::Dtype::kFp32;
};
/// "matmul", "add" (of as many rows), "bias" (of one), "multiply", "rmsnorm", "softmax", "silu", ...
std::vector<std::string> chain_steps();
/// 2 x multiply-adds of its matmuls.
double flops(const Chain& chain);
/// Compiled. Errors: Fault::kUsage for a step that it does not know.
isa::Program chain_kernel(const Chain& chain, const isa::Target& target);

/// DMA between HBM ("data") and SBUF, or HBM and HBM, in rows of `row_bytes`.
enum class Traffic : std::uint8_t { kRead, kWrite, kCopy };
struct MemoryTest {
  Traffic traffic = Traffic::kRead;
  std::uint64_t bytes = 0;
  std::int64_t row_bytes = std::int64_t{16} * 1024;  // longer than a DMA packet: nothing is gained beyond
};
/// Errors: Fault::kUsage when a row for each partition does not fit in SBUF, or `bytes` is less than one row.
isa::Program memory_test(const MemoryTest& test, const isa::Target& target);

/// "out" [M, N] = x w + (x a) b: "x" [M, K], "w" [K, N], "a" [K, R], "b" [R, N]: compiled.
struct LoraProduct {
  std::int64_t m = 0, k = 0, n = 0, rank = 0;
  isa::Dtype dtype = isa::Dtype::kFp32;
};
double flops(const LoraProduct& lora);
isa::Program lora_kernel(const LoraProduct& lora, const isa::Target& target);

/// Heads of `batch` sequences of `seq` tokens: "q" [batch * seq, heads * size], "k" and "v" of kv_heads, "out" like q.
struct HeadsShape {
  std::int64_t batch = 1, seq = 0, heads = 1, kv_heads = 1, size = 64;
  isa::Dtype dtype = isa::Dtype::kFp32;
};
/// softmax(q k^T / sqrt(size)) v: compiled. `causal`: each query sees the keys up to its own; `flash`: keys that no
/// query of a tile sees are left out, and no probabilities are kept.
isa::Program attention_kernel(const HeadsShape& shape, bool causal, bool flash, const isa::Target& target);
double attention_flops(const HeadsShape& shape);
/// Rotary positions: "x" like q, "cos" and "sin" [seq, size / 2], "out": compiled.
isa::Program rope_kernel(const HeadsShape& shape, const isa::Target& target);

/// "out" [cols, rows] = "x" [rows, cols] transposed by TensorE, squares of 128, four to a PSUM bank.
isa::Program transpose_kernel(std::int64_t rows, std::int64_t cols, isa::Dtype dtype, const isa::Target& target);

/// One AdamW update with weight decay: "w" in place, and "m" and "v" when they stay; "g", "hyper", "clip": compiled.
isa::Program adamw_kernel(std::int64_t rows, std::int64_t cols, isa::Dtype dtype, const isa::Target& target,
                          bool moments_stay = true);
/// "out" [M, K] = (silu(x gate) * (x up)) down, x [M, K], gate and up [K, N], down [N, K]: compiled.
isa::Program swiglu_kernel(std::int64_t m, std::int64_t n, std::int64_t k, isa::Dtype dtype, const isa::Target& target);
/// "out" = "a" + "b", `elements` of them, one tile [parts, cols] after the other.
isa::Program vector_add_kernel(std::int64_t elements, std::int64_t parts, std::int64_t cols, isa::Dtype dtype,
                               const isa::Target& target);

/// A selective scan over `seq` for each channel and state, summed over the states: h = exp(delta a) h + delta u b,
/// "out" = sum of h c. "delta", "u", "out" [channels, seq], "a" [channels, states], "b", "c" [states, seq], fp32.
/// Source: AWS Neuron docs, fused Mamba tutorial, kernels 1 to 3: 1 has the states outermost and loads again for each;
/// 2 keeps a tile of channels; 3 also takes the sequence in pieces of 512.
struct MambaScan {
  std::int64_t seq = 512, channels = 128, states = 16;
  int version = 2;
};
isa::Program mamba_scan(const MambaScan& scan, const isa::Target& target);

/// `count` instructions of one kind on [parts, cols], each on the result of the one before (`dependent`) or on its own.
struct Stream {
  std::string name;  // of the instruction: see stream_names()
  std::int64_t parts = 1, cols = 1;
  isa::Dtype dtype = isa::Dtype::kFp32;
  bool dependent = false;
  int count = 128;
};
/// Label of the instructions to time: "stream". Errors: Fault::kUsage for a name that it does not know.
isa::Program instruction_stream(const Stream& stream, const isa::Target& target);
/// "activation", "tensor_tensor", ..., separated by commas.
std::string stream_names();

/// One matmul, "out" [M, N] = "lhs_t" [K, M] transposed times "rhs" [K, N]: loads, the instruction, a copy by ScalarE,
/// a store. Errors: Fault::kUsage for sizes beyond a single instruction.
isa::Program profiled_matmul(const Gemm& gemm, const isa::Target& target);
/// `count` such matmuls with two stationary tiles in turn, each to a bank of its own. Label "stream". Errors: the same.
isa::Program matmul_stream(const Gemm& gemm, int count, const isa::Target& target);
/// `count` activations of [128, cols] from PSUM (fp32) or SBUF, independent, two functions in turn. Label "stream".
struct ActivationStream {
  std::int64_t cols = 512;
  isa::Dtype dtype = isa::Dtype::kFp16;  // of the results
  bool psum = true;
  isa::Fn first = isa::Fn::kCopy, second = isa::Fn::kCopy;
  int count = 64;
};
isa::Program activation_stream(const ActivationStream& stream, const isa::Target& target);
/// One DMA of `bytes` from HBM to a partition of SBUF.
isa::Program descriptor(std::int64_t bytes, const isa::Target& target);

}  // namespace validation
