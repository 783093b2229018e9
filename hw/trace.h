// The records of a simulation: plain data, no SystemC. All times are simulated femtoseconds since the program began.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "isa/program.h"

namespace hw {

using Fs = std::uint64_t;  // femtoseconds; 2^64 fs are 5 hours

constexpr double seconds(Fs time) { return static_cast<double>(time) * 1e-15; }
inline Fs fs_of(double seconds) { return static_cast<Fs>(std::llround(seconds * 1e15)); }

/// The cause of a sequencer's wait.
enum class Hold : std::uint8_t {
  kOwnEngine,    // the result of its own engine's earlier instruction: the cost of dependence
  kOtherEngine,  // the semaphore of another engine
  kDma,          // the semaphore of a DMA ring
  kCollective,   // the semaphore of a collective queue, or a call's `await`
  kPort,         // another engine on the shared SBUF or PSUM port
  kStationary,   // TensorE: the load of a stationary tile that the running matmul did not hide
  kPower,        // TensorE: the chip's power limit
  kBarrier,      // the step from one call to the next, or the other core of a logical one
};
inline constexpr int kHoldCount = 8;
inline constexpr std::array<const char*, kHoldCount> kHoldNames = {
    "own engine", "other engine", "dma", "collective", "port", "stationary load", "power", "barrier"};

/// One sequencer with its engine. busy + all waiting + idle is the whole time, to the femtosecond.
struct EngineTime {
  Fs busy = 0;
  std::array<Fs, kHoldCount> waiting{};
  Fs idle = 0;  // nothing left to issue in the call, or the program's lead-in
  std::uint64_t instructions = 0;

  Fs waited() const { return std::accumulate(waiting.begin(), waiting.end(), Fs{0}); }
  Fs total() const { return busy + waited() + idle; }
  EngineTime& operator+=(const EngineTime& other);
  bool operator==(const EngineTime&) const = default;
};
using EngineTimes = std::array<EngineTime, isa::kEngineCount>;

/// The DMA engines of one core.
struct DmaTime {
  std::uint64_t transfers = 0;
  std::uint64_t descriptors = 0;
  std::uint64_t read_bytes = 0;     // from HBM
  std::uint64_t written_bytes = 0;  // to HBM
  Fs active = 0;                    // at least one transfer moving
  double engine_busy = 0;           // fs, summed over the DMA engines

  DmaTime& operator+=(const DmaTime& other);
  bool operator==(const DmaTime&) const = default;
};

/// One call of a block. The transition from the previous call is before `begin` and counted in `engines`.
struct CallTime {
  std::uint32_t block = 0;
  std::int32_t layer = -1;
  isa::Phase phase = isa::Phase::kOther;
  bool replayed = false;  // not simulated itself: the time of an earlier call of the block
  Fs begin = 0;
  Fs end = 0;
  EngineTimes engines{};
  DmaTime dma;
  bool operator==(const CallTime&) const = default;
};

/// All instructions of a block with the same label, opcode and engine, summed over the calls.
struct OpTime {
  std::uint32_t block = 0;
  std::uint32_t label = 0;  // index into Block::labels
  isa::Opcode op = isa::Opcode::kWait;
  isa::Engine engine = isa::Engine::kSync;
  std::uint64_t count = 0;
  Fs busy = 0;
  Fs waiting = 0;
  bool operator==(const OpTime&) const = default;
};

struct CollectiveTime {
  isa::Opcode op = isa::Opcode::kBarrier;
  std::uint8_t queue = 0;
  std::uint32_t ranks = 0;
  std::uint32_t call = 0;        // that issued it
  std::uint64_t bytes = 0;       // of the larger of its operands, per rank
  std::uint64_t link_bytes = 0;  // that one rank sends
  Fs issued = 0;
  Fs begin = 0;  // all ranks are there and the queue is free
  Fs end = 0;
  bool operator==(const CollectiveTime&) const = default;
};

/// One interval on one line of the time chart; recorded on request only.
struct TraceEvent {
  enum class Track : std::uint8_t { kEngine, kDmaRing, kCollectiveQueue };
  Fs begin = 0;
  Fs end = 0;  // engine: until the next can issue
  std::uint32_t call = 0;
  std::uint32_t instr = 0;  // index into its block
  Track track = Track::kEngine;
  std::uint8_t lane = 0;  // engine, ring or queue
  std::uint16_t rank = 0;
  Hold hold = Hold::kOwnEngine;  // cause and length of the engine's wait before it
  Fs waited = 0;
  bool operator==(const TraceEvent&) const = default;
};

/// The machine's limits per core that the result is compared with.
struct Peaks {
  double matmul_flops = 0;                        // FLOP/s, one pass (bf16)
  double advertised_flops = 0;                    // FLOP/s that the vendor publishes, one pass
  double hbm_bandwidth = 0;                       // B/s
  double link_bandwidth = 0;                      // B/s sent by one core to the other
  double dma_bandwidth = 0;                       // B/s of all DMA engines of a core, reading
  double dma_engines = 0;                         // per core
  std::array<double, isa::kEngineCount> clock{};  // Hz
  bool operator==(const Peaks&) const = default;
};

struct SimResult {
  Fs total = 0;  // with the lead-in
  Fs lead_in = 0;
  std::uint32_t rank = 0;   // whose records these are: the slowest core simulated
  std::uint32_t cores = 0;  // simulated
  bool exact = false;
  std::uint64_t instructions = 0;  // simulated, all cores
  std::uint64_t replayed_calls = 0;
  double matmul_flops = 0;  // executed by TensorE for kMatMul, one core
  EngineTimes engines{};
  DmaTime dma;
  Fs collective_active = 0;   // at least one collective under way
  Fs collective_exposed = 0;  // engines waited for one: the longest of them
  std::vector<CallTime> calls;
  std::vector<OpTime> ops;
  std::vector<CollectiveTime> collectives;
  std::vector<TraceEvent> events;
  std::uint64_t dropped_events = 0;  // beyond SimOptions::trace_limit
  std::vector<Fs> rank_total;        // every simulated core
  Peaks peaks;
  bool operator==(const SimResult&) const = default;
};

inline EngineTime& EngineTime::operator+=(const EngineTime& other) {
  busy += other.busy;
  idle += other.idle;
  instructions += other.instructions;
  for (int h = 0; h < kHoldCount; ++h) waiting[h] += other.waiting[h];
  return *this;
}

inline DmaTime& DmaTime::operator+=(const DmaTime& other) {
  transfers += other.transfers;
  descriptors += other.descriptors;
  read_bytes += other.read_bytes;
  written_bytes += other.written_bytes;
  active += other.active;
  engine_busy += other.engine_busy;
  return *this;
}

}  // namespace hw
