// Replica groups of many cores, and programs over them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hw/collective.h"
#include "tests/hw/tiny_programs.h"

namespace tiny {

/// `sets` of `size` ranks, `stride` apart, that fill ranks 0 to size * sets - 1: tensor parallelism has stride 1, data
/// parallelism beside it the size of the other.
inline hw::ReplicaGroups strided(std::uint32_t size, std::uint32_t stride, std::uint32_t ranks) {
  hw::ReplicaGroups table;
  for (std::uint32_t first = 0; first < ranks; ++first) {
    if (first / stride % size != 0) continue;
    hw::Ranks set;
    for (std::uint32_t i = 0; i < size; ++i) set.push_back(first + i * stride);
    table.push_back(set);
  }
  return table;
}

inline Instr collective(Opcode op, std::uint64_t dst_bytes, std::uint64_t src_bytes, std::uint8_t group = 0,
                        std::uint8_t queue = 0) {
  Instr instr = all_reduce(hbm(1, static_cast<std::uint32_t>(dst_bytes / 4), 1 << 29),
                           hbm(1, static_cast<std::uint32_t>(src_bytes / 4)), queue);
  instr.op = op;
  instr.group = group;
  return instr;
}

inline hw::MachineParams instances(int count, std::string_view name = "trn1.32xlarge") {
  return hw::load_machine(name, std::vector<std::string>{"cluster.instances=" + std::to_string(count)});
}

}  // namespace tiny
