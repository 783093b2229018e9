// One NeuronCore: five sequencers, four engines, its semaphores, SRAM ports and DMA engines, and the order of calls.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <systemc>

#include "hw/core/meetings.h"
#include "hw/core/sequencer.h"
#include "hw/memory/dma.h"
#include "hw/network/cc_core.h"
#include "hw/run/call_memo.h"
#include "hw/run/observer.h"
#include "hw/run/replay.h"
#include "hw/timed_block.h"

namespace hw {

/// A program with its blocks timed.
struct TimedProgram {
  const isa::Program* program = nullptr;
  std::vector<std::shared_ptr<const TimedBlock>> blocks;
};

struct TraceWindow {
  Fs from = 0;
  Fs until = 0;             // nothing is recorded when until <= from
  std::int32_t layer = -1;  // calls of this layer alone; -1: all
  std::size_t limit = 2'000'000;
};

class Core : public sc_core::sc_module, private IssueSink {
 public:
  struct Options {
    bool replay = true;
    TraceWindow trace;
    Observer* observer = nullptr;
  };

  SC_HAS_PROCESS(Core);
  Core(sc_core::sc_module_name name, std::uint32_t rank, const MachineParams& machine, CcCores& collectives,
       Meetings& meetings);

  /// Runs the calls of `program` from `begin` on; program and options must outlive the run.
  void start(const TimedProgram& program, const Options& options, Fs begin);
  /// A collective that this core issued in `done.call` has its times.
  void collective_known(const CcCores::Done& done);

  bool finished() const { return finished_; }
  std::uint32_t rank() const { return rank_; }
  Fs end() const { return end_; }
  /// Adds calls, operations, DMA and engine times of the run; times count from `origin`.
  void report(SimResult& result, Fs origin) const;
  Fs total(Fs origin) const { return end_ - origin; }
  std::uint64_t simulated() const { return simulated_; }
  /// The waiting engines and their semaphores; empty when the core has finished.
  std::string stuck() const;

 private:
  void dma(const TimedInstr& instr, Fs when) override;
  void collective(const TimedInstr& instr, Fs when) override;
  std::optional<Fs> meets(const TimedInstr& instr, Fs when, sc_core::sc_event& wake) override;
  void issued(isa::Engine engine, const TimedInstr& instr, const Price& price, const Issue& issue) override;
  void finished(isa::Engine engine, Fs free, Fs done) override;

  void transfer_begins(std::uint32_t index, Fs begin);
  void transfer_completes(std::uint32_t index, std::uint8_t ring, Fs begin, Fs end);

  void next_call();
  bool awaited(const isa::Call& call);
  void simulate(const isa::Call& call);
  bool repeats_known(const isa::Call& call);
  void end_simulated(const Replay::Record& record);
  void maybe_end_call();
  void close_call(const Replay::Record& record);
  void finish();
  bool in_window(const isa::Call& call, Fs begin, Fs end) const;  // its instructions are recorded
  bool records(const isa::Call& call, Fs end) const;
  void record_event(TraceEvent event);
  EngineTimes gap_times(Fs begin) const;

  const std::uint32_t rank_;
  CcCores& collectives_;
  Meetings& meetings_;
  const Fs barrier_;
  Semaphores semaphores_;
  Ports ports_;
  HbmStack hbm_;
  Dma dma_;
  TensorEngine tensor_;
  Engine vector_, scalar_, gpsimd_, sync_;
  std::array<std::unique_ptr<Sequencer>, isa::kEngineCount> sequencers_;
  sc_core::sc_event call_event_;

  // The run.
  const TimedProgram* program_ = nullptr;
  Options options_;
  bool finished_ = true;
  bool waits_for_collective_ = false;
  std::uint32_t call_ = 0;
  Fs origin_ = 0;
  Fs end_ = 0;                                             // of the call before, then of the program
  std::array<std::vector<Fs>, isa::kCcQueues> completed_;  // ends of this core's collectives, per queue
  std::uint64_t collectives_open_ = 0;                     // issued, end not known yet
  Fs collectives_end_ = 0;
  DataWindows windows_;
  Replay replay_;
  std::vector<Sequencer::Slots> totals_;  // by block
  std::vector<std::uint64_t> calls_of_;   // by block
  std::vector<CallTime> records_;
  std::vector<TraceEvent> events_;
  std::uint64_t dropped_ = 0;
  std::uint64_t simulated_ = 0;
  std::uint64_t replayed_ = 0;
  EngineTimes tail_{};  // waiting at the program's end

  // The call under way.
  bool running_ = false;
  int sequencers_left_ = 0;
  Fs call_begin_ = 0;
  Fs call_end_ = 0;
  std::array<Fs, isa::kEngineCount> free_{};
  double power_before_ = 0;
  double tokens_before_ = 0;  // of the power limit
  ColdStart::State warmth_before_{};
  Sequencer::Slots slots_;
};

}  // namespace hw
