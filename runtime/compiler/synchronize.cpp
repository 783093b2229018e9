#include "runtime/synchronize.h"

#include <algorithm>
#include <array>
#include <bit>
#include <span>
#include <unordered_map>

#include "isa/operands.h"
#include "runtime/compiler/dependences.h"

namespace runtime {
namespace {

using isa::Space;

/// What completes in order: the engines, the DMA rings, the collective queues. A lane's number is its semaphore's.
constexpr std::size_t kLanes = isa::kSemaphores;
using Clock = std::array<std::uint32_t, kLanes>;  // how many of each lane are known to be complete

std::size_t lane_of(const Instr& i) {
  if (isa::is_dma(i.op)) return static_cast<std::size_t>(isa::kFirstDmaSemaphore + i.queue);
  if (isa::is_collective(i.op)) return static_cast<std::size_t>(isa::kFirstCcSemaphore + i.queue);
  return static_cast<std::size_t>(i.engine);
}

void merge(Clock& into, const Clock& from) {
  for (std::size_t l = 0; l < kLanes; ++l) into[l] = std::max(into[l], from[l]);
}

/// Who touched some bytes last: the number in its lane (counted from 1) of the last writer, and of the last reader of
/// each lane since.
struct Cell {
  std::uint32_t writer = 0;
  std::uint8_t writer_lane = 0;
  bool writer_adds = false;
  std::uint32_t readers = 0;  // bit per lane
  std::array<std::uint32_t, kLanes> reader{};
};

class Synchronizer {
 public:
  Synchronizer(std::vector<Instr>& instrs, const isa::Geometry& geometry)
      : instrs_{instrs},
        sbuf_(static_cast<std::size_t>(geometry.sbuf_partition_bytes / kGrain + 1)),
        psum_(static_cast<std::size_t>(geometry.psum_partition_bytes / kGrain + 1)) {}

  std::size_t run() {
    needs_.resize(instrs_.size());
    clocks_.resize(instrs_.size());
    for (std::size_t i = 0; i < instrs_.size(); ++i) visit(i);
    return write();
  }

 private:
  static constexpr std::int64_t kGrain = 64;

  struct Rect : HbmRect {
    std::uint32_t number = 0;
    std::uint8_t lane = 0;
    bool adds = false;
  };

  void visit(std::size_t i) {
    Instr& instr = instrs_[i];
    const std::size_t lane = lane_of(instr), issuer = static_cast<std::size_t>(instr.engine);
    need_.fill(0);
    const std::uint32_t number = static_cast<std::uint32_t>(order_[lane].size() + 1);
    for (const Tile* t : isa::reads(instr)) read(*t, lane, instr.accumulate && t == &instr.dst);
    for (const Tile* t : isa::writes(instr)) before_write(*t, lane);
    Clock& known = known_[issuer];
    found_.clear();
    for (std::size_t l = 0; l < kLanes; ++l) {
      if (need_[l] <= known[l]) continue;
      found_.push_back({static_cast<std::uint16_t>(l), 0, need_[l]});
    }
    // What one wait implies may make another superfluous.
    for (const isa::Wait& w : found_) merge(known, clocks_[order_[w.sem][w.count - 1]]);
    prune(found_);
    needs_[i] = {static_cast<std::uint32_t>(waits_.size()), static_cast<std::uint32_t>(found_.size())};
    waits_.insert(waits_.end(), found_.begin(), found_.end());
    clocks_[i] = known;
    clocks_[i][lane] = number;
    order_[lane].push_back(static_cast<std::uint32_t>(i));
    for (const Tile* t : isa::reads(instr)) mark_read(*t, lane, number);
    for (const Tile* t : isa::writes(instr)) mark_write(*t, lane, number, instr.accumulate);
  }

  /// Leaves out waits that the completion of another awaited instruction implies.
  void prune(std::vector<isa::Wait>& waits) {
    for (std::size_t a = 0; a < waits.size();) {
      const bool implied = std::ranges::any_of(waits, [&](const isa::Wait& b) {
        return b.sem != waits[a].sem && clocks_[order_[b.sem][b.count - 1]][waits[a].sem] >= waits[a].count;
      });
      if (implied)
        waits.erase(waits.begin() + static_cast<std::ptrdiff_t>(a));
      else
        ++a;
    }
  }

  template <class F>
  void cells(const Tile& t, const F& f) {
    const ByteRange e = ByteRange::of(t);
    std::vector<Cell>& all = t.space == Space::kSbuf ? sbuf_ : psum_;
    const auto first = static_cast<std::size_t>((t.offset + e.low) / kGrain);
    const auto last = static_cast<std::size_t>((t.offset + e.high - 1) / kGrain);
    for (std::size_t c = first; c <= last; ++c) f(all[c]);
  }

  void require(std::size_t lane, std::uint32_t number) { need_[lane] = std::max(need_[lane], number); }

  /// `adds`: the operand is what the instruction adds to; its lane adds in order by itself.
  void read(const Tile& t, std::size_t lane, bool adds) {
    const auto after = [&](std::uint32_t number, std::uint8_t writer_lane, bool) {
      if (number != 0 && !(adds && writer_lane == lane)) require(writer_lane, number);
    };
    if (t.space != Space::kHbm) {
      cells(t, [&](const Cell& c) { after(c.writer, c.writer_lane, c.writer_adds); });
      return;
    }
    const HbmRect r = HbmRect::of(t);
    for (const Rect& w : hbm_[t.reg].writes)
      if (r.meets(w)) after(w.number, w.lane, w.adds);
  }

  /// One lane writes in order, and reads before it writes: only others must be waited for.
  void before_write(const Tile& t, std::size_t lane) {
    if (t.space != Space::kHbm) {
      cells(t, [&](const Cell& c) {
        if (c.writer != 0 && c.writer_lane != lane) require(c.writer_lane, c.writer);
        for (std::uint32_t set = c.readers; set != 0; set &= set - 1) {
          const auto l = static_cast<std::size_t>(std::countr_zero(set));
          if (l != lane) require(l, c.reader[l]);
        }
      });
      return;
    }
    const HbmRect r = HbmRect::of(t);
    for (const auto* list : {&hbm_[t.reg].writes, &hbm_[t.reg].reads})
      for (const Rect& o : *list)
        if (o.lane != lane && r.meets(o)) require(o.lane, o.number);
  }

  void mark_read(const Tile& t, std::size_t lane, std::uint32_t number) {
    if (t.space != Space::kHbm) {
      cells(t, [&](Cell& c) { c.readers |= 1u << lane, c.reader[lane] = number; });
      return;
    }
    Rect r{HbmRect::of(t)};
    r.number = number, r.lane = static_cast<std::uint8_t>(lane);
    hbm_[t.reg].reads.push_back(r);
  }

  void mark_write(const Tile& t, std::size_t lane, std::uint32_t number, bool adds) {
    if (t.space != Space::kHbm) {
      cells(t, [&](Cell& c) {
        c.writer = number, c.writer_lane = static_cast<std::uint8_t>(lane), c.writer_adds = adds, c.readers = 0;
      });
      return;
    }
    Rect r{HbmRect::of(t)};
    r.number = number, r.lane = static_cast<std::uint8_t>(lane), r.adds = adds;
    hbm_[t.reg].writes.push_back(r);
  }

  /// Turns places in lanes into semaphore counts; what does not fit into four waits goes in front.
  std::size_t write() {
    for (const isa::Wait& w : waits_)
      if (w.sem < isa::kEngineCount) instrs_[order_[w.sem][w.count - 1]].signal = true;
    std::array<std::vector<std::uint32_t>, isa::kEngineCount> counts;
    for (std::size_t e = 0; e < isa::kEngineCount; ++e) {
      std::uint32_t count = 0;
      for (const std::uint32_t i : order_[e]) counts[e].push_back(count += instrs_[i].signal);
    }
    std::size_t holds = 0;
    for (Needs& need : needs_) {
      for (isa::Wait& w : waits_of(need))
        if (w.sem < isa::kEngineCount) w.count = counts[w.sem][w.count - 1];
      holds += need.count == 0 ? 0 : (need.count - 1) / isa::kMaxWaits;
    }
    // From the back on, so that what moves behind finds its place free: the list is long, and its copy would be too.
    instrs_.resize(instrs_.size() + holds);
    for (std::size_t i = needs_.size(); i-- > 0;) {
      if (holds > 0) instrs_[i + holds] = instrs_[i];
      Instr& instr = instrs_[i + holds];
      std::span<const isa::Wait> waits = waits_of(needs_[i]);
      const std::size_t in_front = waits.empty() ? 0 : (waits.size() - 1) / isa::kMaxWaits;
      for (std::size_t h = 0; h < in_front; ++h) {
        Instr hold{.op = Opcode::kWait, .engine = instr.engine, .label = instr.label};
        take(waits, hold);
        instrs_[i + holds - in_front + h] = hold;
      }
      take(waits, instr);
      holds -= in_front;
    }
    return waits_.size();
  }

  /// The last of `waits`, as many as an instruction has room for.
  static void take(std::span<const isa::Wait>& waits, Instr& instr) {
    while (!waits.empty() && instr.wait_count < isa::kMaxWaits) {
      instr.waits[instr.wait_count++] = waits.back();
      waits = waits.first(waits.size() - 1);
    }
  }

  struct HbmTensor {
    std::vector<Rect> writes, reads;
  };
  /// An instruction's part of waits_.
  struct Needs {
    std::uint32_t first = 0, count = 0;
  };
  std::span<isa::Wait> waits_of(const Needs& need) { return std::span{waits_}.subspan(need.first, need.count); }

  std::vector<Instr>& instrs_;
  std::vector<Cell> sbuf_, psum_;
  std::unordered_map<std::uint32_t, HbmTensor> hbm_;
  std::array<std::vector<std::uint32_t>, kLanes> order_;  // instructions of each lane
  std::array<Clock, isa::kEngineCount> known_{};
  Clock need_{};
  std::vector<Clock> clocks_;
  std::vector<Needs> needs_;  // of each instruction
  std::vector<isa::Wait> waits_, found_;
};

}  // namespace

std::size_t synchronize(std::vector<Instr>& instrs, const isa::Geometry& geometry) {
  return Synchronizer{instrs, geometry}.run();
}

}  // namespace runtime
