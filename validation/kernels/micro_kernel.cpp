#include "validation/kernels/micro_kernel.h"

#include <fmt/format.h>

#include "base/error.h"
#include "runtime/compiler/lower.h"
#include "runtime/compiler/memory_plan.h"

namespace validation {

using runtime::Kind;
using runtime::ValueId;

HandKernel::HandKernel(std::string name, const isa::Target& target)
    : target_{target}, graph_{runtime::numerics("fp32")} {
  program_.name = std::move(name);
}

ValueId HandKernel::input(std::string name, std::int64_t rows, std::int64_t cols, isa::Dtype dtype) {
  return graph_.tensor(std::move(name), rows, cols, dtype, Kind::kInput);
}

ValueId HandKernel::output(std::string name, std::int64_t rows, std::int64_t cols, isa::Dtype dtype) {
  return graph_.tensor(std::move(name), rows, cols, dtype, Kind::kOutput);
}

std::uint32_t HandKernel::block(std::string name, const std::function<void(runtime::Emitter&)>& write) {
  runtime::Emitter emitter{graph_, target_, std::move(name)};
  emitter.label("kernel");
  write(emitter);
  runtime::Lowered made = runtime::lower(emitter.finish(), target_, {.reorder = false});
  if (made.allocation.spill_bytes != 0)
    throw base::Error{base::Fault::kCapacity, made.block.name, "its tiles do not fit in SBUF together",
                      "use smaller sizes"};
  program_.blocks.push_back(std::move(made.block));
  registers_.push_back(std::move(made.registers));
  return static_cast<std::uint32_t>(program_.blocks.size() - 1);
}

void HandKernel::call(std::uint32_t block, const std::map<ValueId, std::uint64_t>& offsets) {
  uses_.push_back({block, offsets});
}

isa::Program HandKernel::finish(double matmul_flops) {
  const runtime::MemoryPlan memory = runtime::plan_memory(graph_, {}, std::vector<bool>(graph_.value_count(), true));
  double executed = 0;
  for (const Use& use : uses_) {
    isa::Call call{.block = use.block, .bases = {}};
    for (const ValueId v : registers_[use.block]) {
      const auto offset = use.offsets.find(v);
      call.bases.push_back(memory.address.at(v) + (offset == use.offsets.end() ? 0 : offset->second));
    }
    program_.calls.push_back(std::move(call));
    executed += program_.blocks[use.block].matmul_flops;
  }
  base::ensure(executed == matmul_flops, program_.name,
               fmt::format("TensorE would do {} FLOPs, the mathematics needs {}", executed, matmul_flops));
  program_.model_flops = matmul_flops;
  program_.regions = memory.regions;
  program_.hbm_bytes = memory.total;
  return std::move(program_);
}

}  // namespace validation
