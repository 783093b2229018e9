// A row of the instruction table: its columns. The table itself (isa/table.h) is seen by isa/ alone.
#pragma once

#include <cstdint>
#include <string_view>

#include "isa/cost.h"
#include "isa/instr.h"

namespace isa {

struct Context;

/// A set of small enumerators, one bit each.
template <typename E>
struct Set {
  std::uint32_t bits = 0;
  constexpr bool contains(E e) const { return static_cast<unsigned>(e) < 32 && (bits >> static_cast<unsigned>(e)) & 1; }
  constexpr Set operator|(Set other) const { return {bits | other.bits}; }
  constexpr bool operator==(const Set&) const = default;
};
template <typename E, typename... Es>
constexpr Set<E> set_of(E e, Es... es) {
  return {((1u << static_cast<unsigned>(e)) | ... | (1u << static_cast<unsigned>(es)))};
}
using EngineSet = Set<Engine>;
using AluSet = Set<Alu>;
using SpaceSet = Set<Space>;  // with Space::kNone: the operand may be left out

/// Which operands, ALU steps and flags an instruction has.
struct Form {
  SpaceSet dst{1}, dst2{1}, a{1}, b{1}, c{1};
  AluSet alu0{1}, alu1{1};
  bool accumulate = false;  // may add to dst
  bool reverse = false;     // may exchange the operands of its ALU steps, or the cases of its predicate
  bool negate = false;
  bool skip = false;       // of indices out of range
  bool integers = false;   // as immediates
  bool registers = false;  // a command for the accumulator registers
  bool steps = false;
  bool tiled = false;    // may keep part of the PE array
  bool bitwise = false;  // may move bits unchanged
};

/// Arithmetic per input element, for analysis: a number, or one per ALU step.
inline constexpr int kPerAlu = -1;

struct Row {
  Opcode op;
  std::string_view name;
  EngineSet engines;
  void (*exec)(const Instr&, std::uint32_t index, Context&);  // its semantics: knows nothing of time
  Cost (*cost)(const Instr&, const Timing&);                  // how long it takes: never looks at data
  std::string_view formula;                                   // the same in words, cycles of the engine
  Form form;
  void (*rule)(const Instr&);  // shapes and types that fit each other (isa/check/rules.h)
  int flops;                   // element-wise arithmetic per element of a
  std::string_view limits;     // form and rule in words
  std::string_view source;     // the source of the cost
  std::string_view note;       // reasons and doubts; for a row that this machine lacks: why it is refused
};

}  // namespace isa
