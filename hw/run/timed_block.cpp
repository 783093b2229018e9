#include "hw/timed_block.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/error.h"
#include "hw/run/exchanges.h"
#include "hw/run/extent.h"
#include "isa/asm.h"
#include "isa/flops.h"
#include "isa/names.h"
#include "isa/operands.h"

namespace hw {
namespace {

[[noreturn]] void refuse(const isa::Block& block, std::uint32_t index, std::string_view what, std::string_view fix) {
  throw base::Error{base::Fault::kProgram,
                    fmt::format("{} #{}: {}", block.name, index, isa::print(block.instrs[index], block)), what, fix};
}

/// Tracks the table that ScalarE holds. A block loads the first one that it needs: its predecessor is not known.
class ActivationTable {
 public:
  /// True when `instr` needs another table than the one that is there.
  bool loads(const isa::Instr& instr) {
    const std::optional<isa::Fn> needed = isa::activation_table(instr);
    if (!needed || held_ == needed) return false;
    held_ = needed;
    return true;
  }

 private:
  std::optional<isa::Fn> held_;
};

constexpr int kSquares = 4;  // a PE tile is made of quarters of the array's rows and of its columns

/// The squares of the array that a matmul keeps, a bit each.
std::uint16_t squares_of(const isa::PeTile& pe, const isa::Geometry& geometry) {
  if (!pe) return 0xffff;
  const std::int64_t high = geometry.array_rows / kSquares, wide = geometry.array_columns / kSquares;
  unsigned out = 0;
  for (int r = 0; r < kSquares; ++r)
    for (int c = 0; c < kSquares; ++c)
      if (r * high >= pe.row && r * high < pe.row + pe.rows && c * wide >= pe.column &&
          c * wide < pe.column + pe.columns)
        out |= 1u << (r * kSquares + c);
  return static_cast<std::uint16_t>(out);
}

/// Follows which stationary tiles the PE array holds. One is held until another one is loaded in its place; when
/// anything writes to its bytes in between, the compiler means the new bytes, so it is loaded again.
class Stationary {
 public:
  /// True when `instr`, which keeps `squares` of the array, finds its stationary tile there.
  bool holds(const isa::Instr& instr, std::uint16_t squares) {
    if (instr.op != isa::Opcode::kMatMul && instr.op != isa::Opcode::kPeTranspose) {
      forget_if_written(instr);
      return false;
    }
    const auto is_there = [&](const Held& h) { return h.squares == squares && *h.tile == instr.a; };
    const bool held = std::ranges::any_of(held_, is_there);
    std::erase_if(held_, [&](const Held& h) { return (h.squares & squares) != 0; });
    held_.push_back({&instr.a, Extent{instr.a}, squares});
    return held;
  }

 private:
  struct Held {
    const isa::Tile* tile;
    Extent extent;
    std::uint16_t squares;
  };
  void forget_if_written(const isa::Instr& instr) {
    for (const isa::Tile* tile : isa::writes(instr)) {
      if (held_.empty() || tile->space != isa::Space::kSbuf) continue;
      const Extent written{*tile};
      std::erase_if(held_, [&](const Held& h) { return written.overlaps(h.extent); });
    }
  }
  std::vector<Held> held_;
};

class BlockTimer {
 public:
  BlockTimer(const isa::Block& block, const MachineParams& machine)
      : block_{block},
        target_{machine.target()},
        table_load_{fs_of(machine.scalar_table_load.value)},
        wake_{fs_of(target_.timing.semaphore)},
        wake_dma_{fs_of(target_.timing.dma.wake)},
        joined_{machine.exchange.value > 0} {
    find_shared_ports(machine);
  }

  TimedBlock run() {
    for (std::uint32_t i = 0; i < block_.instrs.size(); ++i) add(i);
    return std::move(out_);
  }

 private:
  void find_shared_ports(const MachineParams& machine) {
    bool vector_sbuf = false, gpsimd_sbuf = false, vector_psum = false, scalar_psum = false;
    for (const isa::Instr& instr : block_.instrs) {
      if (!is_compute(instr)) continue;
      vector_sbuf |= instr.engine == isa::Engine::kVector && isa::uses_sbuf(instr);
      gpsimd_sbuf |= instr.engine == isa::Engine::kGpSimd && isa::uses_sbuf(instr);
      vector_psum |= instr.engine == isa::Engine::kVector && isa::uses_psum(instr);
      scalar_psum |= instr.engine == isa::Engine::kScalar && isa::uses_psum(instr);
      if (vector_sbuf && gpsimd_sbuf && vector_psum && scalar_psum) break;  // a block is long, and far away in memory
    }
    sbuf_shared_ = machine.sbuf_shared_port.value > 0 && vector_sbuf && gpsimd_sbuf;
    psum_shared_ = machine.psum_shared_port.value > 0 && vector_psum && scalar_psum;
  }

  static bool is_compute(const isa::Instr& instr) {
    return !isa::is_dma(instr.op) && !isa::is_collective(instr.op) && instr.op != isa::Opcode::kWait &&
           instr.op != isa::Opcode::kCoreBarrier;
  }

  /// Cycles from a matmul to the next one in another part of the array. Assumed: the initiation interval of TensorE,
  /// nki.isa.nc_matmul's 64, which holds for small matmuls in the whole array; nothing is published for tiles.
  static constexpr double kApart = 64;

  Fs to_fs(double cycles, isa::Engine engine) const { return fs_of(target_.seconds(cycles, engine)); }

  void add(std::uint32_t index) {
    const isa::Instr& instr = block_.instrs[index];
    if (!isa::runs_on(instr.engine, instr.op, target_))
      refuse(block_, index,
             fmt::format("{} does not run on the {} engine", isa::name_of(instr.op), isa::name_of(instr.engine)),
             "give it an engine that the instruction table names");
    Stream& stream = out_.streams[static_cast<std::size_t>(instr.engine)];
    const std::uint16_t squares = squares_of(instr.pe, target_.geometry);
    const bool held = stationary_.holds(instr, squares);

    TimedInstr timed{.index = index, .signal = instr.signal, .queue = instr.queue};
    timed.slot = slot_of(instr);
    add_waits(index, stream, timed);
    if (isa::is_dma(instr.op)) time_dma(index, timed);
    if (isa::is_collective(instr.op)) check_collective(index);
    if (instr.op == isa::Opcode::kCoreBarrier) out_.collectives = true;
    timed.price = number_of(price_of(instr, held, squares), timed.slot);
    const Price& price = stream.prices[timed.price];
    if (!price.still) stream.min_busy += price.apart > 0 ? static_cast<Fs>(price.apart) : price.occupy;
    stream.instrs.push_back(timed);
  }

  /// `held`: it finds its stationary tile in these squares of the PE array.
  Price price_of(const isa::Instr& instr, bool held, std::uint16_t squares) {
    using Kind = Price::Kind;
    Price price{.wake = isa::is_dma(instr.op) ? wake_dma_ : wake_};
    const isa::Cost cost = isa::cost_of(instr, target_);
    double slowdown = isa::port_slowdown(instr);
    if (instr.op == isa::Opcode::kMatMul || instr.op == isa::Opcode::kPeTranspose) {
      slowdown = time_matmul(instr, held, price);
    } else if (isa::is_dma(instr.op)) {
      price.kind = Kind::kDma;
    } else if (isa::is_collective(instr.op)) {
      price.kind = Kind::kCollective;
    } else if (instr.op == isa::Opcode::kWait) {
      price.kind = Kind::kWait;
      price.still = instr.imm0 > 0;
    } else if (instr.op == isa::Opcode::kCoreBarrier) {
      price.kind = Kind::kMeeting;
    } else {
      price.ports = ports_of(instr);
      if (table_.loads(instr)) price.load = static_cast<float>(table_load_);
    }
    price.occupy = to_fs(cost.occupy * slowdown, instr.engine);
    price.latency = std::max(price.occupy, to_fs(cost.latency + cost.occupy * (slowdown - 1), instr.engine));
    if (price.kind == Kind::kMatMul) {
      price.charge = static_cast<float>(used_ * price.occupy);
      price.squares = squares;
      if (instr.pe) price.apart = static_cast<float>(std::min(price.occupy, to_fs(kApart, instr.engine)));
    }
    return price;
  }

  /// Its place among those of the stream.
  std::uint32_t number_of(const Price& price, std::uint32_t slot) {
    const auto engine = static_cast<std::size_t>(out_.slots[slot].engine);
    Stream& stream = out_.streams[engine];
    std::uint32_t& last = last_[slot].price;
    if (last != kNone && stream.prices[last] == price) return last;
    const auto [known, is_new] = prices_[engine].try_emplace(price, static_cast<std::uint32_t>(stream.prices.size()));
    if (is_new) stream.prices.push_back(price);
    return last = known->second;
  }

  /// Returns how much longer the moving operand takes because of its stride.
  double time_matmul(const isa::Instr& instr, bool held, Price& price) {
    constexpr std::int64_t kFullRateBytes = 16;
    const auto factor = [](const isa::Tile& t) {
      return t && isa::inner_stride_bytes(t) >= kFullRateBytes ? 2.0 : 1.0;
    };
    price.kind = Price::Kind::kMatMul;
    if (!held) {
      const double cycles = isa::stationary_load_cycles(instr, target_.timing) * factor(instr.a);
      price.load = static_cast<float>(to_fs(cycles, instr.engine));
    }
    used_ = static_cast<double>(instr.a.partitions) * static_cast<double>(instr.a.cols()) /
            static_cast<double>(target_.geometry.array_rows * target_.geometry.array_columns);
    out_.matmul_flops += isa::matmul_flops(instr);
    return std::max(factor(instr.b), factor(instr.dst));
  }

  void time_dma(std::uint32_t index, TimedInstr& timed) {
    const isa::Instr& instr = block_.instrs[index];
    if (instr.queue >= target_.geometry.dma_rings)
      refuse(block_, index, fmt::format("names DMA ring {}", instr.queue),
             fmt::format("use rings 0 to {}", target_.geometry.dma_rings - 1));
    const Transfer transfer = plan_transfer(instr, target_.timing.dma);
    std::uint32_t& last = last_[timed.slot].transfer;
    if (last == kNone || out_.transfers[last] != transfer) {
      last = static_cast<std::uint32_t>(out_.transfers.size());
      out_.transfers.push_back(transfer);
    }
    timed.transfer = last;
    out_.dma += {.transfers = 1,
                 .descriptors = transfer.descriptors,
                 .read_bytes = transfer.read_bytes,
                 .written_bytes = transfer.written_bytes,
                 .engine_busy = std::max(transfer.work, transfer.shared * target_.timing.dma.engines)};
  }

  void check_collective(std::uint32_t index) {
    if (block_.instrs[index].queue >= isa::kCcQueues)
      refuse(block_, index, fmt::format("names collective queue {}", block_.instrs[index].queue), "use queue 0 or 1");
    out_.collectives = true;
  }

  std::uint8_t ports_of(const isa::Instr& instr) const {
    const bool vector = instr.engine == isa::Engine::kVector;
    int ports = kNoPort;
    if (sbuf_shared_ && (vector || instr.engine == isa::Engine::kGpSimd) && isa::uses_sbuf(instr)) ports |= kSbufPort;
    if (psum_shared_ && (vector || instr.engine == isa::Engine::kScalar) && isa::uses_psum(instr)) ports |= kPsumPort;
    return static_cast<std::uint8_t>(ports);
  }

  void add_waits(std::uint32_t index, Stream& stream, TimedInstr& timed) {
    const isa::Instr& instr = block_.instrs[index];
    if (instr.wait_count > isa::kMaxWaits)
      refuse(block_, index, fmt::format("has {} waits", instr.wait_count), "put wait instructions before it");
    timed.first_wait = static_cast<std::uint32_t>(stream.waits.size());
    timed.wait_count = instr.wait_count;
    for (int w = 0; w < instr.wait_count; ++w) {
      if (instr.waits[w].sem >= isa::kSemaphores)
        refuse(block_, index, fmt::format("waits for semaphore {}", instr.waits[w].sem), "use semaphores 0 to 22");
      if (instr.waits[w].sem >= isa::kFirstCcSemaphore) out_.collectives = true;
      stream.waits.push_back(instr.waits[w]);
    }
    if (joined_) timed.far_waits = exchanges_.sort(instr, std::span{stream.waits}.last(instr.wait_count));
  }

  std::uint32_t slot_of(const isa::Instr& instr) {
    if (instr.label >= slots_.size()) slots_.resize(instr.label + 1);
    std::vector<std::uint32_t>& of_label = slots_[instr.label];
    const auto known = std::ranges::find_if(of_label, [&](std::uint32_t s) {
      return out_.slots[s].op == instr.op && out_.slots[s].engine == instr.engine;
    });
    const std::uint32_t slot = known == of_label.end() ? static_cast<std::uint32_t>(out_.slots.size()) : *known;
    if (known == of_label.end()) {
      of_label.push_back(slot);
      out_.slots.push_back({.label = instr.label, .op = instr.op, .engine = instr.engine});
      last_.emplace_back();
    }
    ++out_.slots[slot].count;
    return slot;
  }

  static constexpr std::uint32_t kNone = ~0U;
  /// Cost and traffic of the last instruction of a slot: most instructions repeat the previous one.
  struct Last {
    std::uint32_t price = kNone, transfer = kNone;
  };

  const isa::Block& block_;
  const isa::Target target_;
  const Fs table_load_, wake_, wake_dma_;  // from a semaphore to an instruction, and to a DMA
  const bool joined_;  // a core of two physical ones, which see each other's part of an operation later
  TimedBlock out_;
  ActivationTable table_;
  Stationary stationary_;
  Exchanges exchanges_;
  std::vector<std::vector<std::uint32_t>> slots_;  // per label: their numbers
  std::vector<Last> last_;                         // of each slot
  std::array<std::map<Price, std::uint32_t>, isa::kEngineCount> prices_;
  bool sbuf_shared_ = false;
  bool psum_shared_ = false;
  double used_ = 0;  // part of the PE array that the last matmul keeps busy
};

}  // namespace

TimedBlock time_block(const isa::Block& block, const MachineParams& machine) {
  return BlockTimer{block, machine}.run();
}

}  // namespace hw
