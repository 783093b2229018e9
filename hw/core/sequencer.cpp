#include "hw/core/sequencer.h"

#include <algorithm>
#include <optional>

#include "hw/core/clock.h"
#include "hw/core/process.h"

namespace hw {

Sequencer::Sequencer(sc_core::sc_module_name name, isa::Engine engine, Engine& unit, Semaphores& semaphores,
                     IssueSink& sink, Fs exchange)
    : sc_module{name},
      engine_{engine},
      unit_{unit},
      tensor_{dynamic_cast<TensorEngine*>(&unit)},
      semaphores_{semaphores},
      sink_{sink},
      exchange_{exchange} {
  SC_METHOD(wake);
  sensitive << wake_;
  dont_initialize();
}

void Sequencer::run(const Stream& stream, Slots& slots, Fs begin, bool watched) {
  stream_ = &stream;
  slots_ = &slots;
  next_ = 0;
  free_ = met_ = begin;
  watched_ = watched;
  blocked_ = claimed_ = false;
  time_ = {};
  wake_.notify(sc_core::SC_ZERO_TIME);
}

void Sequencer::wake() {
  guarded([this] { step(); });
}

void Sequencer::step() {
  blocked_ = false;
  while (next_ < stream_->instrs.size()) {
    const TimedInstr& instr = stream_->instrs[next_];
    const Price& price = stream_->prices[instr.price];
    if (!resolve(instr, price)) return;
    if (price.kind == Price::Kind::kMeeting && !meets(instr, price)) return;
    if (price.ports != kNoPort && !owns_ports()) return;
    issue(instr, price);
    ++next_;
  }
  sink_.finished(engine_, free_, std::max(free_, unit_.done()));
}

/// Finds when the waits of `instr` are met. False when that is not known yet: step() runs again once it is.
bool Sequencer::resolve(const TimedInstr& instr, const Price& price) {
  ready_ = free_;
  late_ = 0;
  if (price.kind == Price::Kind::kCompute && price.load > 0) {  // the table is loaded before its operands are there
    ready_ += static_cast<Fs>(price.load);
    hold_ = Hold::kOwnEngine;
  }
  const isa::Wait* wait = stream_->waits.data() + instr.first_wait;
  const isa::Wait* const far = wait + instr.far_waits;
  for (const isa::Wait* end = wait + instr.wait_count; wait != end; ++wait) {
    const auto when = semaphores_.when(*wait);
    if (!when) {
      blocked_ = true;
      blocked_on_ = *wait;
      semaphores_.hold(*wait, wake_);
      return false;
    }
    Fs seen = *when + (wait->count > 0 && wait->sem < isa::kFirstCcSemaphore ? price.wake : 0);
    if (wait < far) seen += exchange_;
    met_ = std::max(met_, seen);
    if (seen <= ready_) continue;
    ready_ = seen;
    hold_ = hold_of(wait->sem);
  }
  return true;
}

/// Engines must request a port in order of time. False when it is not the instruction's turn: step() runs again.
bool Sequencer::owns_ports() {
  if (ready_ > time_now()) {
    next_trigger(time_until(ready_));
    return false;
  }
  if (claimed_ && !unit_.ports().yields(engine_)) {
    claimed_ = false;
    return true;
  }
  if (!claimed_) unit_.ports().claim(engine_);
  claimed_ = true;
  next_trigger(sc_core::SC_ZERO_TIME);
  return false;
}

/// The other core's semaphore is seen as late as one of this core. False when that core is not known to come yet.
bool Sequencer::meets(const TimedInstr& instr, const Price& price) {
  const auto other = sink_.meets(instr, ready_, wake_);
  if (!other) {
    blocked_ = true;
    blocked_on_.reset();
    return false;
  }
  const Fs seen = std::max(ready_, *other + price.wake);
  late_ = seen - ready_;
  ready_ = seen;
  return true;
}

void Sequencer::issue(const TimedInstr& instr, const Price& price) {
  const Fs before = time_.waited();
  const Fs alone = ready_ - late_;
  const Fs still_busy = std::clamp(unit_.busy_until(), free_, std::max(free_, alone)) - free_;
  time_.busy += still_busy;
  if (alone > free_) time_.waiting[static_cast<int>(hold_)] += alone - free_ - still_busy;
  time_.waiting[static_cast<int>(Hold::kBarrier)] += late_;
  Fs begin = ready_;
  Fs done = ready_ + price.latency;
  if (price.kind <= Price::Kind::kMatMul) {
    if (tensor_) tensor_->operands_at(met_);
    const auto issued = unit_.issue(price, ready_, time_);
    begin = issued.begin;
    done = issued.done;
  }
  slots_->waiting[instr.slot] += begin - free_;
  const Fs waited = time_.waited() - before;
  const Fs occupy = price.apart > 0 ? static_cast<Fs>(price.apart) : price.occupy;  // of the issue
  // Until a loop goes on with its next iteration, the engine does nothing.
  (price.still ? slots_->waiting : slots_->busy)[instr.slot] += occupy;
  (price.still ? time_.waiting[static_cast<int>(Hold::kBarrier)] : time_.busy) += occupy;
  ++time_.instructions;
  free_ = begin + occupy;
  if (instr.signal) semaphores_.raise(static_cast<int>(engine_), done);
  if (watched_) sink_.issued(engine_, instr, price, {.begin = begin, .done = done, .hold = hold_, .waited = waited});
  if (price.kind == Price::Kind::kDma) sink_.dma(instr, begin);
  if (price.kind == Price::Kind::kCollective) sink_.collective(instr, begin);
}

Hold Sequencer::hold_of(int semaphore) const {
  if (semaphore >= isa::kFirstCcSemaphore) return Hold::kCollective;
  if (semaphore >= isa::kFirstDmaSemaphore) return Hold::kDma;
  return semaphore == static_cast<int>(engine_) ? Hold::kOwnEngine : Hold::kOtherEngine;
}

std::optional<Sequencer::Stuck> Sequencer::stuck() const {
  if (!blocked_) return std::nullopt;
  return Stuck{&stream_->instrs[next_], blocked_on_};
}

}  // namespace hw
