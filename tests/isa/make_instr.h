// Short ways to write instructions in tests of the table, the assembler and the checker.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "base/error.h"
#include "isa/program.h"

namespace {

inline isa::Tile on_chip(isa::Space space, int partitions, std::uint32_t cols, isa::Dtype dtype, std::int64_t offset) {
  isa::Tile tile{.space = space, .dtype = dtype};
  tile.partitions = static_cast<std::uint16_t>(partitions);
  tile.offset = offset;
  tile.free[0].size = cols;
  return tile;
}

inline isa::Tile sbuf(int partitions, std::uint32_t cols, isa::Dtype dtype = isa::Dtype::kFp32,
                      std::int64_t offset = 0) {
  return on_chip(isa::Space::kSbuf, partitions, cols, dtype, offset);
}

inline isa::Tile psum(int partitions, std::uint32_t cols, isa::Dtype dtype = isa::Dtype::kFp32,
                      std::int64_t offset = 0) {
  return on_chip(isa::Space::kPsum, partitions, cols, dtype, offset);
}

inline isa::Tile hbm(int partitions, std::uint32_t cols, isa::Dtype dtype = isa::Dtype::kFp32, std::uint32_t reg = 0) {
  isa::Tile tile = on_chip(isa::Space::kHbm, partitions, cols, dtype, 0);
  tile.reg = reg;
  tile.pstep = std::int64_t{cols} * isa::size_of(dtype);
  return tile;
}

inline isa::Instr make(isa::Opcode op, isa::Engine engine, isa::Tile dst = {}, isa::Tile a = {}, isa::Tile b = {},
                       isa::Tile c = {}) {
  isa::Instr instr;
  instr.op = op;
  instr.engine = engine;
  instr.dst = dst;
  instr.a = a;
  instr.b = b;
  instr.c = c;
  return instr;
}

inline isa::Instr matmul(std::uint32_t k, std::uint32_t m, std::uint32_t n, isa::Dtype dtype = isa::Dtype::kBf16) {
  return make(isa::Opcode::kMatMul, isa::Engine::kTensor, psum(static_cast<int>(m), n),
              sbuf(static_cast<int>(k), m, dtype), sbuf(static_cast<int>(k), n, dtype, 4096));
}

inline isa::Instr add(isa::Tile dst, isa::Tile a, isa::Tile b) {
  isa::Instr instr = make(isa::Opcode::kTensorTensor, isa::Engine::kVector, dst, a, b);
  instr.alu0 = isa::Alu::kAdd;
  return instr;
}

/// The message of the Error that `run` throws, which is `fault`'s; empty when it throws none.
template <typename Run>
std::string message_of(Run run, base::Fault fault = base::Fault::kProgram) {
  try {
    run();
  } catch (const base::Error& error) {
    EXPECT_EQ(error.fault(), fault) << error.what();
    return error.what();
  }
  return {};
}

}  // namespace
