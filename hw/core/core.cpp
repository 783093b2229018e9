#include "hw/core/core.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "hw/core/clock.h"
#include "hw/core/process.h"
#include "isa/asm.h"
#include "isa/names.h"

namespace hw {
namespace {

/// From the last engine's result to the first instruction of the next call: the Sync sequencer sees the semaphores,
/// clears them, and raises the one that the others wait for.
Fs semaphore_round_trip(const MachineParams& machine) {
  const double raise = (machine.min_interval.value + machine.sync_latency.value) / machine.sync_clock.value;
  return fs_of(2 * machine.semaphore.value + machine.semaphore_clear.value + raise);
}

}  // namespace

Core::Core(sc_core::sc_module_name name, std::uint32_t rank, const MachineParams& machine, CcCores& collectives,
           Meetings& meetings)
    : sc_module{name},
      rank_{rank},
      collectives_{collectives},
      meetings_{meetings},
      barrier_{semaphore_round_trip(machine)},
      hbm_{machine.hbm_bandwidth_per_core()},
      dma_{"dma",
           machine,
           hbm_,
           {.begins = [this](std::uint32_t index, std::uint8_t, Fs begin) { transfer_begins(index, begin); },
            .completes = [this](std::uint32_t index, std::uint8_t ring, Fs begin,
                                Fs end) { transfer_completes(index, ring, begin, end); }}},
      tensor_{ports_,
              {machine.power_utilisation.value, fs_of(machine.power_window.value)},
              {machine.power_cold.value, fs_of(machine.power_ramp.value)},
              fs_of(machine.tensor_swap.value / machine.tensor_clock.value)},
      vector_{ports_},
      scalar_{ports_},
      gpsimd_{ports_},
      sync_{ports_} {
  const std::array<Engine*, isa::kEngineCount> units{&tensor_, &vector_, &scalar_, &gpsimd_, &sync_};
  for (int e = 0; e < isa::kEngineCount; ++e) {
    const auto engine = static_cast<isa::Engine>(e);
    IssueSink& sink = *this;
    sequencers_[e] = std::make_unique<Sequencer>(std::string{isa::name_of(engine)}.c_str(), engine, *units[e],
                                                 semaphores_, sink, fs_of(machine.exchange.value));
  }
  SC_METHOD(next_call);
  sensitive << call_event_;
  dont_initialize();
}

void Core::start(const TimedProgram& program, const Options& options, Fs begin) {
  program_ = &program;
  options_ = options;
  finished_ = running_ = waits_for_collective_ = false;
  call_ = 0;
  origin_ = end_ = begin;
  for (auto& queue : completed_) queue.clear();
  collectives_open_ = simulated_ = replayed_ = dropped_ = 0;
  collectives_end_ = 0;
  windows_ = {};
  replay_.reset(program.blocks.size());
  totals_.assign(program.blocks.size(), {});
  calls_of_.assign(program.blocks.size(), 0);
  records_.clear();
  events_.clear();
  tail_ = {};
  call_event_.notify(time_until(begin));
}

void Core::next_call() {
  guarded([this] {
    const auto& calls = program_->program->calls;
    if (call_ == calls.size()) return finish();
    const isa::Call& call = calls[call_];
    if (!awaited(call)) return;
    call_begin_ = time_now();
    windows_.forget_before(call_begin_);
    if (options_.replay && !program_->blocks[call.block]->collectives) {
      const auto record = replay_.repeat(call.block, call_begin_, windows_);
      if (record && !records(call, record->time.end)) {
        ++replayed_;
        return close_call(*record);
      }
    }
    power_before_ = tensor_.power().level();
    tokens_before_ = tensor_.power().tokens(call_begin_);
    warmth_before_ = tensor_.cold().at(call_begin_);
    if (!repeats_known(call)) simulate(call);
  });
}

/// True when the collectives that `call` awaits are complete; otherwise next_call() runs again when they may be.
bool Core::awaited(const isa::Call& call) {
  Fs met = 0;
  for (int q = 0; q < isa::kCcQueues; ++q) {
    if (call.await[q] == 0) continue;
    if (completed_[q].size() < call.await[q]) {
      waits_for_collective_ = true;
      return false;
    }
    met = std::max(met, completed_[q][call.await[q] - 1]);
  }
  waits_for_collective_ = false;
  if (met > time_now()) call_event_.notify(time_until(met));
  return met <= time_now();
}

bool Core::in_window(const isa::Call& call, Fs begin, Fs end) const {
  const TraceWindow& window = options_.trace;
  return begin < window.until && end >= window.from && (window.layer < 0 || call.layer == window.layer);
}

/// Whether the call must be simulated for its events; once the record is full nothing more is.
bool Core::records(const isa::Call& call, Fs end) const {
  return events_.size() < options_.trace.limit && in_window(call, call_begin_, end);
}

/// Whether a call of the block that began like this one has been simulated: then this one has ended.
bool Core::repeats_known(const isa::Call& call) {
  const TimedBlock& block = *program_->blocks[call.block];
  if (!options_.replay || options_.observer || block.collectives || windows_.moving(call_begin_)) return false;
  const KnownCall* known = block.known->find(tokens_before_, warmth_before_);
  if (!known || records(call, call_begin_ + known->record.time.end)) return false;
  if (call_begin_ + known->record.time.end > windows_.next_change(call_begin_)) return false;
  for (const Stream& stream : block.streams) simulated_ += stream.instrs.size();
  Replay::Record record = known->record;
  record.time.block = call.block;
  record.time.begin += call_begin_;
  record.time.end += call_begin_;
  if (known->matmuls) {
    tensor_.power().set({known->power_after.tokens, call_begin_ + known->power_after.at});
    const ColdStart::State& cold = known->cold_after;
    tensor_.cold().set({cold.warm, call_begin_ + cold.end, cold.hot});
  }
  end_simulated(record);
  return true;
}

void Core::simulate(const isa::Call& call) {
  const TimedBlock& block = *program_->blocks[call.block];
  running_ = true;
  call_end_ = call_begin_;
  const bool watched = options_.observer || in_window(call, call_begin_, std::numeric_limits<Fs>::max());
  semaphores_.reset();
  slots_.busy.assign(block.slots.size(), 0);
  slots_.waiting.assign(block.slots.size(), 0);
  sequencers_left_ = isa::kEngineCount;
  for (int e = 0; e < isa::kEngineCount; ++e) {
    sequencers_[e]->run(block.streams[e], slots_, call_begin_, watched);
    simulated_ += block.streams[e].instrs.size();
  }
}

void Core::dma(const TimedInstr& instr, Fs when) {
  const TimedBlock& block = *program_->blocks[program_->program->calls[call_].block];
  dma_.submit(instr.queue, block.transfers[instr.transfer], instr.index, when);
}

void Core::collective(const TimedInstr& instr, Fs when) {
  const isa::Block& block = program_->program->blocks[program_->program->calls[call_].block];
  ++collectives_open_;
  collectives_.submit(rank_, call_, block.instrs[instr.index], instr.index, when);
}

std::optional<Fs> Core::meets(const TimedInstr& instr, Fs when, sc_core::sc_event& wake) {
  const isa::Block& block = program_->program->blocks[program_->program->calls[call_].block];
  return meetings_.arrive(rank_, {call_, isa::integer_of(block.instrs[instr.index], 0)}, when, wake);
}

void Core::collective_known(const CcCores::Done& done) {
  --collectives_open_;
  completed_[done.queue].push_back(done.end);
  collectives_end_ = std::max(collectives_end_, done.end);
  windows_.add(done.data_begin, done.end);
  dma_.book(done.data_begin, done.end, done.dma_width);
  hbm_.book(done.data_begin, done.end, done.hbm_bandwidth);
  dma_.retune();
  if (running_ && done.call == call_) semaphores_.raise(isa::kFirstCcSemaphore + done.queue, done.end);
  if (waits_for_collective_) call_event_.notify(sc_core::SC_ZERO_TIME);
}

void Core::issued(isa::Engine engine, const TimedInstr& instr, const Price& price, const Issue& issue) {
  record_event({.begin = issue.begin,
                .end = issue.begin + price.occupy,
                .instr = instr.index,
                .track = TraceEvent::Track::kEngine,
                .lane = static_cast<std::uint8_t>(engine),
                .hold = issue.waited > 0 ? issue.hold : Hold::kOwnEngine,
                .waited = issue.waited});
  if (!options_.observer || price.kind > Price::Kind::kMatMul) return;
  options_.observer->begins(rank_, call_, instr.index, issue.begin);
  options_.observer->retires(rank_, call_, instr.index, issue.done);
}

void Core::transfer_begins(std::uint32_t index, Fs begin) {
  if (options_.observer) options_.observer->begins(rank_, call_, index, begin);
}

void Core::transfer_completes(std::uint32_t index, std::uint8_t ring, Fs begin, Fs end) {
  record_event({.begin = begin, .end = end, .instr = index, .track = TraceEvent::Track::kDmaRing, .lane = ring});
  if (options_.observer) options_.observer->retires(rank_, call_, index, end);
  semaphores_.raise(isa::kFirstDmaSemaphore + ring, end);
  call_end_ = std::max(call_end_, end);
  maybe_end_call();
}

void Core::finished(isa::Engine engine, Fs free, Fs done) {
  free_[static_cast<std::size_t>(engine)] = free;
  call_end_ = std::max(call_end_, done);
  --sequencers_left_;
  maybe_end_call();
}

void Core::maybe_end_call() {
  if (sequencers_left_ > 0 || !dma_.idle()) return;
  running_ = false;
  const isa::Call& call = program_->program->calls[call_];
  const TimedBlock& block = *program_->blocks[call.block];
  Replay::Record record{.time = {.block = call.block,
                                 .layer = call.layer,
                                 .phase = call.phase,
                                 .begin = call_begin_,
                                 .end = call_end_,
                                 .dma = block.dma},
                        .slots = slots_};
  record.time.dma.active = dma_.take_active_time();
  for (int e = 0; e < isa::kEngineCount; ++e) {
    EngineTime& time = record.time.engines[e] = sequencers_[e]->time();
    time.idle = call_end_ - free_[e];
    base::ensure(time.total() == call_end_ - call_begin_, "accounting", "an engine's parts do not add up to the call");
    base::ensure(time.busy >= block.streams[e].min_busy, "accounting", "an engine was busy for less than its costs");
  }
  if (options_.replay && !block.collectives && windows_.overlap(call_begin_, call_end_) == 0) {
    const PowerLimit::State power = tensor_.power().state();
    KnownCall known{
        .record = record, .tokens = tokens_before_, .warmth = warmth_before_, .matmuls = power.at >= call_begin_};
    known.record.time.begin = 0;
    known.record.time.end = call_end_ - call_begin_;
    if (known.matmuls) {
      known.power_after = {power.tokens, power.at - call_begin_};
      const ColdStart::State& cold = tensor_.cold().state();
      known.cold_after = {cold.warm, cold.end - call_begin_, cold.hot};
    }
    block.known->add(std::move(known));
  }
  end_simulated(record);
}

/// A call whose times are those of a simulation.
void Core::end_simulated(const Replay::Record& record) {
  const bool settled = tensor_.power().level() >= power_before_ - 0.01;
  if (options_.replay && !program_->blocks[record.time.block]->collectives) replay_.learn(record, windows_, settled);
  close_call(record);
}

/// The engines' times from the end of the previous call to `begin`.
EngineTimes Core::gap_times(Fs begin) const {
  const Fs gap = begin - end_;
  const Fs step = call_ == 0 ? 0 : std::min(gap, barrier_);
  EngineTimes times{};
  for (EngineTime& time : times) {
    time.waiting[static_cast<int>(Hold::kBarrier)] = step;
    time.waiting[static_cast<int>(Hold::kCollective)] = gap - step;
  }
  return times;
}

void Core::close_call(const Replay::Record& record) {
  const isa::Call& call = program_->program->calls[call_];
  CallTime time = record.time;
  time.layer = call.layer;
  time.phase = call.phase;
  const EngineTimes gap = gap_times(time.begin);
  for (int e = 0; e < isa::kEngineCount; ++e) time.engines[e] += gap[e];
  records_.push_back(time);

  auto& totals = totals_[call.block];
  totals.busy.resize(record.slots.busy.size());
  totals.waiting.resize(record.slots.waiting.size());
  for (std::size_t s = 0; s < totals.busy.size(); ++s) {
    totals.busy[s] += record.slots.busy[s];
    totals.waiting[s] += record.slots.waiting[s];
  }
  ++calls_of_[call.block];
  end_ = time.end;
  ++call_;
  const bool last = call_ == program_->program->calls.size();
  call_event_.notify(time_until(last ? end_ : end_ + barrier_));
}

/// After the last call: the program ends when its collectives have.
void Core::finish() {
  waits_for_collective_ = collectives_open_ > 0;
  if (waits_for_collective_) return;
  if (collectives_end_ > time_now()) return call_event_.notify(time_until(collectives_end_));
  for (EngineTime& time : tail_) time.waiting[static_cast<int>(Hold::kCollective)] = time_now() - end_;
  end_ = time_now();
  finished_ = true;
}

void Core::record_event(TraceEvent event) {
  const TraceWindow& window = options_.trace;
  if (!in_window(program_->program->calls[call_], event.begin, event.end)) return;
  if (events_.size() >= window.limit) {
    ++dropped_;
    return;
  }
  event.call = call_;
  event.rank = static_cast<std::uint16_t>(rank_);
  events_.push_back(event);
}

}  // namespace hw
