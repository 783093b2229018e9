// Small programs, simulated, and a folder of one's own per test and process.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "analysis/record/record.h"
#include "tests/hw/tiny_programs.h"

namespace recorded {

inline std::filesystem::path folder() {
  const auto* test = testing::UnitTest::GetInstance()->current_test_info();
  std::string name = std::string{test->test_suite_name()} + "_" + test->name() + "_" + std::to_string(getpid());
  for (char& c : name) c = c == '/' ? '_' : c;
  std::filesystem::path path = std::filesystem::path{testing::TempDir()} / name;
  std::filesystem::create_directories(path);
  return path;
}

/// load (ring 3) -> matmul -> gelu -> store (ring 4).
inline isa::Block layer_block() {
  using tiny::Dtype, tiny::Engine, tiny::Fn, tiny::activate, tiny::after, tiny::dma, tiny::dma_sem, tiny::hbm;
  using tiny::matmul, tiny::psum, tiny::sbuf, tiny::sem, tiny::signal;
  isa::Block layer;
  layer.name = "layer_forward";
  layer.registers = 2;
  layer.labels = {"layer.load", "layer.mlp.matmul", "layer.mlp.gelu", "layer.store"};
  layer.sbuf_bytes = 6144;
  layer.psum_bytes = 2048;
  const isa::Tile weights = hbm(128, 128, 0, Dtype::kBf16), x = sbuf(128, 128, 0, Dtype::kBf16);
  isa::Tile out = hbm(128, 128);
  out.reg = 1;
  layer.instrs = {dma(x, weights, 3), signal(after(matmul(psum(128, 128), x, x), dma_sem(3), 1)),
                  signal(after(activate(sbuf(128, 128, 1024), psum(128, 128), Fn::kGelu), sem(Engine::kTensor), 1)),
                  after(dma(out, sbuf(128, 128, 1024), 4), sem(Engine::kScalar), 1)};
  for (std::uint32_t i = 0; i < 4; ++i) layer.instrs.own()[i].label = i;
  layer.matmul_flops = 2.0 * 128 * 128 * 128;
  return layer;
}

/// Waits for an all-reduce of the gradients.
inline isa::Block update_block() {
  isa::Block update;
  update.name = "optimizer";
  update.registers = 1;
  update.labels = {"all_reduce", "adamw"};
  const isa::Tile gradients = tiny::hbm(128, 128, 131'072);
  update.instrs = {tiny::all_reduce(gradients, gradients),
                   tiny::signal(tiny::fill(tiny::Engine::kVector, tiny::sbuf(128, 512), 0))};
  update.instrs.own()[1].label = 1;
  return update;
}

inline isa::Region region(const char* name, const char* kind, tiny::Dtype dtype, std::vector<std::int64_t> shape,
                          std::uint64_t offset, std::uint64_t bytes) {
  return {.name = name, .kind = kind, .dtype = dtype, .shape = std::move(shape), .offset = offset, .bytes = bytes};
}

/// A layer, twice, and an optimizer: every kind of track, flow and phase.
inline isa::Program layers(int layers = 2) {
  using tiny::Dtype;
  isa::Program program = tiny::program({}, 0, 2);
  program.name = "layers";
  program.blocks = {layer_block(), update_block()};
  for (int l = 0; l < layers; ++l)
    program.calls.push_back({.block = 0, .bases = {0, 65'536}, .layer = l, .phase = isa::Phase::kForward});
  program.calls.push_back({.block = 1, .bases = {0}, .layer = -1, .phase = isa::Phase::kOptimizer});
  program.regions = {region("w", "weights", Dtype::kBf16, {128, 128}, 0, 32'768),
                     region("y", "activations", Dtype::kFp32, {128, 128}, 65'536, 65'536),
                     region("dw", "gradients", Dtype::kFp32, {128, 128}, 131'072, 65'536),
                     region("spare", "workspace", Dtype::kFp32, {4}, 262'144, 16)};
  program.hbm_bytes = 1 << 20;
  program.model_flops = layers * program.blocks.front().matmul_flops;
  return program;
}

inline analysis::RecordInfo info(const hw::MachineParams& machine = tiny::trn1()) {
  return {.trnsim = "0.1.0",
          .workload = "layers",
          .command = "trnsim run layers",
          .instance_type = machine.name,
          .hbm_bytes_per_core = machine.hbm_bytes_per_core(),
          .machine_hash = machine.hash,
          .machine_toml = machine.toml};
}

/// All events of all instructions when `traced`.
inline hw::SimResult simulated(const isa::Program& program, bool traced = true,
                               const hw::MachineParams& machine = tiny::trn1()) {
  hw::SimOptions options;
  options.exact = true;
  if (traced) options.trace_until = 1;
  return tiny::run(program, machine, options);
}

inline analysis::Record record(bool traced = true) {
  const isa::Program program = layers();
  return analysis::make_record(simulated(program, traced), program, info());
}

}  // namespace recorded
