// One in-order sequencer: holds each instruction on its waits, gives it to the engine, raises its semaphores.
#pragma once

#include <optional>

#include <systemc>

#include "hw/core/engine.h"
#include "hw/core/semaphores.h"
#include "hw/timed_block.h"

namespace hw {

/// An instruction's issue, and the cause of its engine's wait before it.
struct Issue {
  Fs begin = 0, done = 0;
  Hold hold = Hold::kOwnEngine;
  Fs waited = 0;
};

/// Receives a sequencer's instructions: implemented by the core.
class IssueSink {
 public:
  virtual ~IssueSink() = default;
  virtual void dma(const TimedInstr& instr, Fs when) = 0;
  virtual void collective(const TimedInstr& instr, Fs when) = 0;
  /// The engine is at a meeting with the other core at `when`: when that one gets there; nothing when that is not known
  /// yet, and `wake` is notified then.
  virtual std::optional<Fs> meets(const TimedInstr& instr, Fs when, sc_core::sc_event& wake) = 0;
  /// Called for every issue when the core records or executes.
  virtual void issued(isa::Engine engine, const TimedInstr& instr, const Price& price, const Issue& issue) = 0;
  /// Called when everything is issued; the engine can take the next call at `free`, and its last result is ready at
  /// `done`.
  virtual void finished(isa::Engine engine, Fs free, Fs done) = 0;
};

/// Runs ahead of the simulation's clock wherever the future is known: it meets the clock only where engines compete for
/// a port, and where it waits for a semaphore that is not raised yet.
class Sequencer : public sc_core::sc_module {
 public:
  struct Slots {
    std::vector<Fs> busy, waiting;  // by row of the block's statistics
  };

  SC_HAS_PROCESS(Sequencer);
  /// `exchange`: an operation's result is whole so much later for another operation.
  Sequencer(sc_core::sc_module_name name, isa::Engine engine, Engine& unit, Semaphores& semaphores, IssueSink& sink,
            Fs exchange);

  /// A call begins at `begin` (not before now).
  void run(const Stream& stream, Slots& slots, Fs begin, bool watched);

  EngineTime& time() { return time_; }
  /// The instruction and wait that block it, a wait for no semaphore where it is the other core; nothing when it is not
  /// blocked.
  struct Stuck {
    const TimedInstr* instr;
    std::optional<isa::Wait> wait;
  };
  std::optional<Stuck> stuck() const;

 private:
  void wake();
  void step();
  bool resolve(const TimedInstr& instr, const Price& price);
  bool owns_ports();
  bool meets(const TimedInstr& instr, const Price& price);
  void issue(const TimedInstr& instr, const Price& price);
  Hold hold_of(int semaphore) const;

  const isa::Engine engine_;
  Engine& unit_;
  TensorEngine* const tensor_;
  Semaphores& semaphores_;
  IssueSink& sink_;
  const Fs exchange_;

  const Stream* stream_ = nullptr;
  Slots* slots_ = nullptr;
  std::size_t next_ = 0;
  Fs free_ = 0;   // the engine takes the next instruction
  Fs ready_ = 0;  // and its waits are met
  Fs met_ = 0;    // the waits alone
  Fs late_ = 0;   // how much later the other core comes, at a meeting
  Hold hold_ = Hold::kOwnEngine;
  bool watched_ = false;
  bool claimed_ = false;  // the ports of the next instruction
  bool blocked_ = false;
  std::optional<isa::Wait> blocked_on_{};
  EngineTime time_;
  sc_core::sc_event wake_;
};

}  // namespace hw
