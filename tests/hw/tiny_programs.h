// Programs small enough to time by hand.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "hw/params.h"
#include "hw/sim_device.h"
#include "isa/program.h"

namespace tiny {

using isa::Alu;
using isa::Dtype;
using isa::Engine;
using isa::Fn;
using isa::Instr;
using isa::Opcode;
using isa::Space;
using isa::Tile;

inline Tile row_tile(Space space, int partitions, std::uint32_t cols, std::int64_t offset, Dtype dtype) {
  Tile tile{
      .space = space, .dtype = dtype, .start = 0, .rank = 1, .partitions = static_cast<std::uint16_t>(partitions)};
  tile.offset = offset;
  tile.free[0] = {.step = 1, .size = cols};
  return tile;
}
inline Tile sbuf(int partitions, std::uint32_t cols, std::int64_t offset = 0, Dtype dtype = Dtype::kFp32) {
  return row_tile(Space::kSbuf, partitions, cols, offset, dtype);
}
inline Tile psum(int partitions, std::uint32_t cols, std::int64_t offset = 0) {
  return row_tile(Space::kPsum, partitions, cols, offset, Dtype::kFp32);
}
/// Rows one behind the other, or `pstep` bytes apart.
inline Tile hbm(int partitions, std::uint32_t cols, std::int64_t offset = 0, Dtype dtype = Dtype::kFp32,
                std::int64_t pstep = -1) {
  Tile tile = row_tile(Space::kHbm, partitions, cols, offset, dtype);
  tile.pstep = pstep >= 0 ? pstep : static_cast<std::int64_t>(cols) * isa::size_of(dtype);
  return tile;
}

inline Instr on(Engine engine, Opcode op) {
  Instr instr;
  instr.op = op;
  instr.engine = engine;
  return instr;
}
inline Instr matmul(const Tile& dst, const Tile& a, const Tile& b, bool accumulate = false) {
  Instr instr = on(Engine::kTensor, Opcode::kMatMul);
  instr.dst = dst;
  instr.a = a;
  instr.b = b;
  instr.accumulate = accumulate;
  return instr;
}
inline Instr copy(Engine engine, const Tile& dst, const Tile& a) {
  Instr instr = on(engine, Opcode::kTensorCopy);
  instr.dst = dst;
  instr.a = a;
  return instr;
}
inline Instr activate(const Tile& dst, const Tile& a, Fn fn = Fn::kCopy) {
  Instr instr = on(Engine::kScalar, Opcode::kActivation);
  instr.fn = fn;
  instr.imm0 = 1;
  instr.dst = dst;
  instr.a = a;
  return instr;
}
inline Instr fill(Engine engine, const Tile& dst, float value) {
  Instr instr = on(engine, Opcode::kMemset);
  instr.dst = dst;
  instr.imm0 = value;
  return instr;
}
inline Instr dma(const Tile& dst, const Tile& a, std::uint8_t ring, Engine engine = Engine::kSync) {
  Instr instr = on(engine, Opcode::kDmaCopy);
  instr.dst = dst;
  instr.a = a;
  instr.queue = ring;
  return instr;
}
inline Instr all_reduce(const Tile& dst, const Tile& a, std::uint8_t queue = 0) {
  Instr instr = on(Engine::kSync, Opcode::kAllReduce);
  instr.alu0 = Alu::kAdd;
  instr.dst = dst;
  instr.a = a;
  instr.queue = queue;
  return instr;
}

inline Instr signal(Instr instr) {
  instr.signal = true;
  return instr;
}
inline Instr after(Instr instr, int semaphore, std::uint32_t count) {
  instr.waits[instr.wait_count++] = {.sem = static_cast<std::uint16_t>(semaphore), .count = count};
  return instr;
}
constexpr int sem(Engine engine) { return static_cast<int>(engine); }
constexpr int dma_sem(int ring) { return isa::kFirstDmaSemaphore + ring; }
constexpr int cc_sem(int queue) { return isa::kFirstCcSemaphore + queue; }

/// One block, called `calls` times.
inline isa::Program program(std::vector<Instr> instrs, int calls = 1, std::uint32_t ranks = 1) {
  isa::Block block;
  block.name = "tiny";
  block.instrs = std::move(instrs);
  block.registers = 1;
  block.labels = {"tiny"};
  isa::Program program;
  program.name = "tiny";
  program.blocks = {std::move(block)};
  program.hbm_bytes = 1ull << 30;
  program.ranks = ranks;
  program.groups.resize(1);
  program.groups[0].resize(1);
  for (std::uint32_t r = 0; r < ranks; ++r) program.groups[0][0].push_back(r);
  for (int c = 0; c < calls; ++c) {
    isa::Call call;
    call.bases = {0};
    call.layer = c;
    program.calls.push_back(call);
  }
  return program;
}

inline hw::MachineParams trn1(const std::vector<std::string>& overrides = {}) {
  return hw::load_machine("trn1.2xlarge", overrides);
}
inline hw::SimOptions exact() {
  hw::SimOptions options;
  options.exact = true;
  return options;
}
inline hw::SimResult run(const isa::Program& program, const hw::MachineParams& machine = trn1(),
                         const hw::SimOptions& options = {}) {
  return hw::simulate_in_child(program, machine, options);
}
/// Seconds of the body: without the lead-in.
inline double body(const hw::SimResult& result) { return hw::seconds(result.total - result.lead_in); }

}  // namespace tiny
