// The semantics of instructions. exec never sees time.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "isa/instr.h"
#include "isa/memory.h"

namespace isa {

class Team;

/// The state that an instruction executes on: one core's memory, the registers of the call, and the source of random
/// bits. Random streams are keyed by (seed, step, rank, call rng, instruction) and the element: the same bits for any
/// number of host threads.
struct Context {
  Memory& memory;
  std::span<const std::uint64_t> bases;  // HBM registers of the call
  Rounding rounding = Rounding::kNearestEven;
  std::uint64_t seed = 0;
  std::uint32_t step = 0;
  std::uint32_t rank = 0;
  std::uint32_t call_rng = 0;
  Team* team = nullptr;  // host threads to split an instruction over (isa/exec/thread_team.h); never changes the result
};

/// Executes anything but a collective. `index`, its place in the block, keys stochastic rounding without Instr::rng.
void execute(const Instr& instr, std::uint32_t index, Context& context);

/// How many rows a scatter that adds names more than once.
std::uint64_t repeated_rows(const Instr& instr, Context& context);

/// The inputs that ScalarE's function is documented for, in words; empty when these are all numbers.
std::string documented_inputs(Fn fn);

/// A rank of a group, and its instruction: ranks that run different programs have their operands in other places.
struct Participant {
  const Instr* instr;
  Context* context;
};

/// Executes a collective for all ranks of one group at once; `group` in its order. The sum runs in rank order in fp32,
/// so that every rank gets the same bits. Errors: Fault::kProgram when shapes do not fit the group.
void execute_collective(std::span<const Participant> group);
/// As above, with one instruction for all. kSend and kRecv work in groups of two: the member that is not `peer` sends
/// to it or receives from it, messages in order. Errors: also when nothing was sent.
void execute_collective(const Instr& instr, std::span<Context*> contexts);

/// One side of a pair alone. A message waits in the receiver's inbox until it is received.
void execute_send(const Instr& instr, Context& sender, Memory& receiver);
/// Errors: Fault::kProgram when nothing is there, or it has another size than dst.
void execute_receive(const Instr& instr, std::uint32_t sender, Context& receiver);

}  // namespace isa
