// Memory in the compiler's words is the same memory, and has a verdict; a compilation has a price and known refusals.
#include "trnsim/project/compiler_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "analysis/host/stack.h"
#include "hw/params.h"
#include "trnsim/job/settings.h"
#include "trnsim/project/compile_cost.h"
#include "trnsim/project/memory.h"
#include "trnsim/project/stages.h"
#include "trnsim/projection.h"

namespace trnsim {
namespace {

Job small_job(bool master) {
  Settings given;
  given.data.max_length = 64, given.plan.tensor_parallel_size = 2, given.plan.optimizer_use_master_weights = master;
  return job_of(given, load_model_config("llama-small"), 1000);
}

Memory memory_with(std::uint64_t total, std::uint64_t capacity) {
  Memory memory;
  memory.total = total, memory.capacity = capacity;
  return memory;
}

Memory memory_of(const Job& job) {
  SharedBlocks shared{job.machine.target()};
  return compile_stages(job, shared).memory;
}

std::uint64_t sum_of(const auto& parts) {
  const auto add = [](std::uint64_t total, const auto& part) { return total + part.second; };
  return std::accumulate(parts.begin(), parts.end(), std::uint64_t{0}, add);
}

TEST(CompilerMemory, KindsAndPartsAddUpToTheByte) {
  const auto holds = [](const char* model, auto change) {
    Settings given;
    given.data.max_length = 64, given.machine.instance_type = "trn1.32xlarge";
    change(given);
    const Memory memory = memory_of(job_of(given, load_model_config(model), 1000));
    EXPECT_EQ(sum_of(memory.by_kind), memory.total) << model;
    EXPECT_EQ(sum_of(compiler_parts(memory)), memory.total) << model;
    return memory.by_kind.contains("alignment");
  };
  int aligned = 0;
  for (const char* model : {"bert-small", "vit-mnist", "llama-small", "gpt-small"})
    for (const std::int64_t cores : {1, 2, 8})
      aligned += holds(model, [&](Settings& s) {
        s.machine.nproc_per_node = cores;
        if (model == std::string_view{"vit-mnist"}) s.data.max_length = 17;
      });
  for (const char* model : {"llama-small", "gpt-small"}) {
    aligned += holds(model, [](Settings& s) {
      s.machine.nproc_per_node = 8, s.plan.zero_1 = true, s.plan.tensor_parallel_size = 2;
    });
    aligned += holds(model, [](Settings& s) {
      s.machine.nproc_per_node = 8, s.plan.pipeline_parallel_size = 2, s.training.gradient_accumulation_steps = 4;
      s.plan.optimizer_use_master_weights = true;
    });
  }
  EXPECT_GT(aligned, 3);
}

TEST(CompilerMemory, PartsAreTheWhole) {
  const Memory memory = memory_of(small_job(true));
  const auto parts = compiler_parts(memory);
  std::vector<std::string> names;
  for (const auto& [name, bytes] : parts) names.push_back(name);
  EXPECT_THAT(names, testing::ElementsAre("io_tensors", "scratchpad", "spills", "dma_rings", "constants", "runtime",
                                          "alignment"));
  const analysis::Stack stack = analysis::load_stack("torch-xla");
  EXPECT_EQ(static_cast<double>(parts[5].second), std::floor(stack.runtime_bytes.value));
  EXPECT_NEAR(static_cast<double>(parts[3].second), static_cast<double>(parts[1].second) * stack.ring_share.value, 1);
}

TEST(CompilerMemory, AnUpdateOfMasterWeightsNeedsRoomForThem) {
  const Memory plain = memory_of(small_job(false)), master = memory_of(small_job(true));
  EXPECT_FALSE(plain.by_kind.contains("update"));
  // Gradient and new weight in fp32, of 12 bytes of state.
  EXPECT_NEAR(static_cast<double>(master.by_kind.at("update")),
              static_cast<double>(master.by_kind.at("optimizer")) * 8 / 12, 8);
}

TEST(CompilerMemory, VerdictKnowsATightFit) {
  EXPECT_EQ(verdict(memory_with(94, 100)), "fits");
  EXPECT_EQ(verdict(memory_with(95, 100)), "tight");
  EXPECT_EQ(verdict(memory_with(100, 100)), "tight");
  EXPECT_EQ(verdict(memory_with(101, 100)), "does not fit");
}

TEST(CompileCost, ColdWarmAndRefused) {
  const Job job = small_job(false);
  const CompileCost cost = compile_cost(job, project(job));
  EXPECT_GT(cost.cold_seconds, cost.first_seconds);
  EXPECT_GT(cost.first_seconds, cost.warm_seconds);
  EXPECT_GT(cost.instructions, 100);
  EXPECT_EQ(cost.refusal(), "");
  CompileCost large = cost;
  large.instructions = 5'000'001;
  EXPECT_THAT(large.refusal(), testing::HasSubstr("NCC_EBVF030"));
  large = cost;
  large.host_bytes = 2 * large.host_capacity;
  EXPECT_THAT(large.refusal(), testing::HasSubstr("F137"));
}

TEST(AutoCast, Fp32MeansTheMachinesFp32) {
  const auto settled = [](auto change) {
    Settings given;
    change(given);
    resolve_numerics(given);
    return given.numerics.name;
  };
  EXPECT_EQ(settled([](Settings& s) { s.numerics.name = "fp32"; }), "fp32+bf16-matmul");
  EXPECT_EQ(settled([](Settings& s) { s.numerics.name = "fp32", s.numerics.auto_cast = "none"; }), "fp32");
  EXPECT_EQ(settled([](Settings& s) { s.numerics.name = "fp32", s.numerics.auto_cast = "all"; }), "fp32+bf16-all");
  EXPECT_EQ(settled([](Settings& s) { s.numerics.name = "fp32", s.numerics.auto_cast_type = "tf32"; }), "tf32");
  EXPECT_EQ(settled([](Settings& s) { s.numerics.name = "fp32", s.numerics.auto_cast_type = "fp8_e4m3"; }),
            "fp32+fp8_e4m3-matmul");
  EXPECT_EQ(settled([](Settings& s) { s.numerics.name = "bf16"; }), "bf16");
  EXPECT_EQ(settled([](Settings& s) { s.numerics.xla_use_bf16 = true; }), "bf16+sr");
  EXPECT_EQ(settled([](Settings& s) { s.numerics.name = "fp32", s.numerics.xla_downcast_bf16 = true; }), "bf16+sr");
  EXPECT_ANY_THROW(settled([](Settings& s) { s.numerics.name = "fp16", s.numerics.xla_use_bf16 = true; }));
}

TEST(AutoCast, CastsCostTimeAsTheirTypesDo) {
  const auto seconds = [](const char* numerics) {
    Settings given;
    given.data.max_length = 64, given.numerics.name = numerics;
    return project(job_of(given, load_model_config("bert-small"), 0)).device_seconds;
  };
  EXPECT_LT(seconds("fp32+bf16-matmul"), seconds("fp32"));  // one pass of TensorE instead of four
  EXPECT_LT(seconds("fp32+bf16-all"), seconds("fp32+bf16-matmul"));
}

}  // namespace
}  // namespace trnsim
