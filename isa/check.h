// Refuses programs that a machine could not run, before anything runs them.
#pragma once

#include <map>
#include <memory>

#include "isa/program.h"
#include "isa/target.h"

namespace isa {

struct BlockFacts;

/// Each throws Fault::kProgram at the first broken rule. `where` names the program, block, index and the instruction's
/// text; then the rule that is broken, and how to mend it. Source of the rules: AWS Neuron SDK 2.26.1, nki.isa and
/// NKI architecture guide v2; the table's limits column (isa/table.h) has them per instruction.
void check(const Instr& instr, const Target& target);

/// Also registers, labels, and waits: each must be fulfilled by earlier instructions in program order. A wait that
/// never ends is told apart from a deadlock, for which the error lists every waiting engine and its semaphore.
void check(const Block& block, const Target& target);

/// Also calls, replica groups, element counts of collectives, regions, and that no HBM operand of any call leaves the
/// program's HBM.
void check(const Program& program, const Target& target);

/// Checks programs for one target, and reads shared blocks once: those of the stages of a pipeline or of
/// several plans. Later changes in place (Instrs::own) are not seen.
class Checker {
 public:
  explicit Checker(const Target& target) : target_{target} {}

  /// As isa::check().
  void check(const Program& program);

 private:
  using Facts = std::shared_ptr<const BlockFacts>;
  Facts read(const Block& block, const Program& program);

  const Target target_;
  std::map<std::weak_ptr<const void>, Facts, std::owner_less<>> known_;
};

}  // namespace isa
