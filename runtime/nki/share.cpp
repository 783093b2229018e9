// Copies that ScalarE takes by rule are shared with VectorE where ScalarE has most to do.
#include <algorithm>
#include <array>
#include <vector>

#include "isa/operands.h"
#include "isa/target.h"
#include "runtime/nki/passes.h"

namespace runtime::nki {
namespace {

using isa::Engine;
using isa::Opcode;

constexpr auto kScalar = static_cast<std::size_t>(Engine::kScalar), kVector = static_cast<std::size_t>(Engine::kVector);

double seconds_of(const Instr& instr, const isa::Target& target) {
  return target.seconds(isa::cost_of(instr, target).occupy * isa::port_slowdown(instr), instr.engine);
}

}  // namespace

std::size_t share(VirtualBlock& block, const std::vector<std::uint32_t>& open, const isa::Target& target) {
  std::array<double, isa::kEngineCount> busy{};
  for (const Instr& instr : block.instrs)
    if (!isa::is_dma(instr.op)) busy[static_cast<std::size_t>(instr.engine)] += seconds_of(instr, target);
  if (*std::ranges::max_element(busy) > busy[kScalar]) return 0;
  double scalar = 0, vector = 0;  // seconds of the open copies on each
  std::vector<std::uint32_t> movable;
  for (const std::uint32_t i : open) {
    Instr instr = block.instrs[i];
    if (instr.op != Opcode::kTensorCopy || instr.engine != Engine::kScalar) continue;
    scalar += seconds_of(instr, target);
    instr.engine = Engine::kVector;
    vector += seconds_of(instr, target);
    movable.push_back(i);
  }
  if (movable.empty()) return 0;
  // So many of them go that both engines have the same work, evenly over the kernel.
  const double part = std::clamp((busy[kScalar] - busy[kVector]) / (scalar + vector), 0.0, 1.0);
  double due = 0;
  std::size_t count = 0;
  for (const std::uint32_t i : movable) {
    due += part;
    if (due < 1) continue;
    due -= 1, ++count;
    block.instrs[i].engine = Engine::kVector;
  }
  return count;
}

}  // namespace runtime::nki
