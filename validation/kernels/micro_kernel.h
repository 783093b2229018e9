// Kernels written by hand: tensors, blocks on the Emitter, calls; the compiler gives them addresses and waits.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "runtime/compiler/emitter.h"

namespace validation {

class HandKernel {
 public:
  /// Keeps a reference to `target`.
  HandKernel(std::string name, const isa::Target& target);

  /// A matrix in HBM; all of them before the first block.
  runtime::ValueId input(std::string name, std::int64_t rows, std::int64_t cols, isa::Dtype dtype);
  runtime::ValueId output(std::string name, std::int64_t rows, std::int64_t cols, isa::Dtype dtype);

  /// Adds a block with the instructions that `write` emits, in that order: nothing is moved. Returns its index.
  /// Errors: Fault::kCapacity when it does not fit in SBUF.
  std::uint32_t block(std::string name, const std::function<void(runtime::Emitter&)>& write);
  /// Runs a block, with tensors beginning `offsets` bytes later.
  void call(std::uint32_t block, const std::map<runtime::ValueId, std::uint64_t>& offsets = {});

  /// `matmul_flops`: 2 x multiply-adds of the mathematics. Errors: Fault::kInternal when TensorE would do others.
  isa::Program finish(double matmul_flops = 0);

 private:
  struct Use {
    std::uint32_t block = 0;
    std::map<runtime::ValueId, std::uint64_t> offsets;
  };

  const isa::Target& target_;
  runtime::Graph graph_;
  isa::Program program_;
  std::vector<std::vector<runtime::ValueId>> registers_;  // per block
  std::vector<Use> uses_;
};

}  // namespace validation
