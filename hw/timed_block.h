// A block as the timed machine reads it: five streams of compact records, with all constants precomputed.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "hw/memory/sram.h"
#include "hw/params.h"
#include "hw/trace.h"
#include "isa/program.h"

namespace hw {

/// A DMA as the engines see it.
struct Transfer {
  double work = 0;    // fs of one DMA engine, all descriptors together
  double width = 0;   // DMA engines that it can keep busy
  double shared = 0;  // fs of the path that all engines of the core share
  Fs tail = 0;        // from the last byte read to the raised semaphore
  std::uint64_t descriptors = 0;
  std::uint64_t read_bytes = 0;     // from HBM
  std::uint64_t written_bytes = 0;  // to HBM
  bool operator==(const Transfer&) const = default;
};

/// The cost of an instruction: among the hundred thousands in a block, few differ.
struct Price {
  enum class Kind : std::uint8_t { kCompute, kMatMul, kDma, kCollective, kWait, kMeeting };
  Fs occupy = 0;
  Fs latency = 0;             // >= occupy
  Fs wake = 0;                // from a semaphore to the start of the waiting instruction
  float load = 0;             // fs: kMatMul, to load the stationary tile; others: the activation table. 0: it is there
  float charge = 0;           // kMatMul: fs of a full PE array, for the power limit
  float apart = 0;            // kMatMul in part of the array: fs until one in another part may begin; 0: as occupy
  std::uint16_t squares = 0;  // kMatMul: which of the 4 x 4 squares of the array it keeps
  Kind kind = Kind::kCompute;
  std::uint8_t ports = kNoPort;  // shared ports that another engine of this block uses too
  bool still = false;            // kWait: behind it a loop's next iteration begins; the engine does nothing
  auto operator<=>(const Price&) const = default;
};

struct TimedInstr {
  std::uint32_t price = 0;       // in Stream::prices
  std::uint32_t index = 0;       // in Block::instrs
  std::uint32_t slot = 0;        // row of the block's statistics
  std::uint32_t first_wait = 0;  // in Stream::waits
  std::uint32_t transfer = 0;    // kDma: in TimedBlock::transfers
  std::uint8_t wait_count = 0;
  std::uint8_t far_waits = 0;  // the first ones: for an exchange between physical cores
  bool signal = false;
  std::uint8_t queue = 0;
};
static_assert(sizeof(TimedInstr) <= 24);

struct Stream {
  std::vector<TimedInstr> instrs;
  std::vector<Price> prices;
  std::vector<isa::Wait> waits;
  Fs min_busy = 0;  // the least time that its instructions occupy
};

/// Label, opcode and engine of a row of statistics.
struct Slot {
  std::uint32_t label = 0;
  isa::Opcode op = isa::Opcode::kWait;
  isa::Engine engine = isa::Engine::kSync;
  std::uint64_t count = 0;  // instructions per call
};

class KnownCalls;
struct BlockNews;

struct TimedBlock {
  std::array<Stream, isa::kEngineCount> streams;
  std::vector<Transfer> transfers;
  std::vector<Slot> slots;
  DmaTime dma;               // traffic of one call; times are zero
  double matmul_flops = 0;   // of its kMatMul instructions, one call
  bool collectives = false;  // issues or waits for one, or for the other core
  std::shared_ptr<KnownCalls> known{};
};

/// Errors: Fault::kProgram when an instruction cannot run on its engine or names a ring, queue or semaphore that is not
/// there.
TimedBlock time_block(const isa::Block& block, const MachineParams& machine);

/// Blocks in one machine's terms, with the known times of their calls: shared by all programs with the same
/// instructions. Later changes in place (Instrs::own) are not seen.
class BlockTimes {
 public:
  /// Errors: as time_block().
  std::shared_ptr<const TimedBlock> get(const isa::Block& block, const MachineParams& machine);
  std::size_t found() const { return found_; }  // without timing them

  /// A child process that is forked after mark() has news(), which its parent can learn().
  void mark();
  std::vector<BlockNews> news() const;
  void learn(std::vector<BlockNews> news);

 private:
  struct Entry {
    std::weak_ptr<const void> instrs;  // no other list has their identity while this is here
    std::shared_ptr<const TimedBlock> timed;
  };
  std::uint64_t machine_ = 0;  // the hash of its parameters
  std::map<const void*, Entry> entries_;
  std::size_t found_ = 0;
};

/// How the DMA engines move `instr` (a DMA): isa::dma_cost() in femtoseconds, and its HBM traffic.
Transfer plan_transfer(const isa::Instr& instr, const isa::DmaTiming& dma);

}  // namespace hw
