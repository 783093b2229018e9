// The full mode: executes each instruction when it retires, and looks for races.
#pragma once

#include <memory>
#include <vector>

#include "hw/memory/race_check.h"
#include "hw/run/executor.h"
#include "hw/run/observer.h"
#include "isa/device.h"
#include "isa/exec.h"
#include "isa/program.h"

namespace hw {

class FullMode final : public Observer {
 public:
  /// `memories`: by rank. Executes on the clock of `executor`.
  FullMode(const isa::Programs& programs, std::vector<isa::Memory*> memories, const isa::RunOptions& run,
           bool check_races, Executor& executor);

  void begins(std::uint32_t rank, std::uint32_t call, std::uint32_t index, Fs when) override;
  void retires(std::uint32_t rank, std::uint32_t call, std::uint32_t index, Fs when) override;
  void collective(std::span<const Member> members, Fs begin, Fs end) override;

 private:
  using Collective = std::vector<Member>;
  using Work = Executor::Work;

  void perform(const Work& work);
  void begin_collective(const Collective& collective);
  void end_collective(const Collective& collective);
  void exchange(const Member& member);
  const isa::Instr& instr(std::uint32_t rank, std::uint32_t call, std::uint32_t index) const;
  isa::Context context(std::uint32_t rank, std::uint32_t call) const;

  std::vector<const isa::Program*> programs_;  // by rank
  const std::vector<isa::Memory*> memories_;
  const isa::RunOptions run_;
  Executor& executor_;
  std::vector<RaceCheck> races_;  // by rank; empty when races are not looked for
  std::vector<Collective> collectives_;
};

}  // namespace hw
