#include "runtime/compiler/synchronize.h"

#include <algorithm>
#include <array>
#include <bit>
#include <span>
#include <unordered_map>
#include <utility>

#include "isa/operands.h"
#include "runtime/compiler/rect_log.h"

namespace runtime {
namespace {

using isa::Space;

/// Queues that complete in order: the engines, the DMA rings, the collective queues. A lane's number is its
/// semaphore's.
constexpr std::size_t kLanes = isa::kSemaphores;
using Clock = std::array<std::uint32_t, kLanes>;  // how many of each lane are known to be complete

std::size_t lane_of(const Instr& i) {
  if (isa::is_dma(i.op)) return std::size_t{isa::kFirstDmaSemaphore} + i.queue;
  if (isa::is_collective(i.op)) return std::size_t{isa::kFirstCcSemaphore} + i.queue;
  return static_cast<std::size_t>(i.engine);
}

void merge(Clock& into, const Clock& from) {
  for (std::size_t l = 0; l < kLanes; ++l) into[l] = std::max(into[l], from[l]);
}

/// The last instructions that touched some bytes: the number in its lane (counted from 1) of the last writer, and of
/// the last reader of each lane since.
struct Cell {
  std::uint32_t writer = 0;
  std::uint8_t writer_lane = 0;
  std::uint32_t readers = 0;  // bit per lane
  std::array<std::uint32_t, kLanes> reader{};
};

/// A memory on the chip in pieces of equal state: bytes written together are one, until a part of it is touched.
class Pieces {
 public:
  explicit Pieces(std::size_t grains) : piece_of_(grains, 0), pieces_{{0, static_cast<std::uint32_t>(grains), {}}} {}

  /// visit(cell) for each piece that has grains from `begin` until `end`.
  void each(std::uint32_t begin, std::uint32_t end, const auto& visit) const {
    while (begin < end) {
      const Piece& piece = pieces_[piece_of_[begin]];
      visit(piece.cell);
      begin = piece.end;
    }
  }

  /// change(cell) for all of these grains, and for no others.
  void change(std::uint32_t begin, std::uint32_t end, const auto& change) {
    split(begin), split(end);
    while (begin < end) {
      Piece& piece = pieces_[piece_of_[begin]];
      change(piece.cell);
      begin = piece.end;
    }
  }

  /// The same state for all of these grains.
  void set(std::uint32_t begin, std::uint32_t end, const Cell& cell) {
    split(begin), split(end);
    const std::uint32_t first = piece_of_[begin];
    for (std::uint32_t at = pieces_[first].end; at < end; at = pieces_[piece_of_[at]].end)
      unused_.push_back(piece_of_[at]);
    std::fill(piece_of_.begin() + pieces_[first].end, piece_of_.begin() + std::max(end, pieces_[first].end), first);
    pieces_[first].end = end;
    pieces_[first].cell = cell;
  }

 private:
  struct Piece {
    std::uint32_t begin = 0, end = 0;  // grains
    Cell cell;
  };

  /// Makes a piece begin at `at`. The shorter part gets another number.
  void split(std::uint32_t at) {
    if (at >= piece_of_.size()) return;
    const std::uint32_t old = piece_of_[at];
    if (pieces_[old].begin == at) return;
    const bool left = at - pieces_[old].begin < pieces_[old].end - at;
    Piece part = pieces_[old];
    (left ? part.end : part.begin) = at;
    (left ? pieces_[old].begin : pieces_[old].end) = at;
    std::uint32_t number = static_cast<std::uint32_t>(pieces_.size());
    if (unused_.empty()) {
      pieces_.push_back(part);
    } else {
      number = unused_.back();
      unused_.pop_back();
      pieces_[number] = part;
    }
    std::fill(piece_of_.begin() + part.begin, piece_of_.begin() + part.end, number);
  }

  std::vector<std::uint32_t> piece_of_;  // per grain
  std::vector<Piece> pieces_;
  std::vector<std::uint32_t> unused_;  // numbers of pieces
};

class Synchronizer {
 public:
  Synchronizer(std::vector<Instr>& instrs, const isa::Geometry& geometry)
      : instrs_{instrs},
        sbuf_(static_cast<std::size_t>(geometry.sbuf_partition_bytes / kGrain + 1)),
        psum_(static_cast<std::size_t>(geometry.psum_partition_bytes / kGrain + 1)) {}

  std::size_t run() {
    needs_.reserve(instrs_.size());
    clocks_.reserve(instrs_.size());
    for (std::size_t i = 0; i < instrs_.size(); ++i) visit(i);
    return write();
  }

 private:
  static constexpr std::int64_t kGrain = 64;

  struct Rect : HbmRect {
    std::uint32_t number = 0;
    std::uint8_t lane = 0;
  };

  /// The places that an instruction touches: a part of a tensor in HBM, or grains of a memory on the chip.
  struct Operand {
    const Tile* tile;
    std::uint32_t begin = 0, end = 0;
    Rect rect{};

    explicit Operand(const Tile& t) : tile{&t} {
      if (t.space == Space::kHbm) {
        static_cast<HbmRect&>(rect) = HbmRect::of(t);
        return;
      }
      const ByteRange range = ByteRange::of(t);
      begin = static_cast<std::uint32_t>((t.offset + range.low) / kGrain);
      end = static_cast<std::uint32_t>((t.offset + range.high - 1) / kGrain) + 1;
    }
    bool in_hbm() const { return tile->space == Space::kHbm; }
  };

  void visit(std::size_t i) {
    Instr& instr = instrs_[i];
    const std::size_t lane = lane_of(instr), issuer = static_cast<std::size_t>(instr.engine);
    need_.fill(0), needed_ = 0;
    const std::uint32_t number = static_cast<std::uint32_t>(order_[lane].size() + 1);
    read_.clear(), written_.clear();
    for (const Tile* t : isa::reads(instr)) read_.emplace_back(*t);
    for (const Tile* t : isa::writes(instr)) written_.emplace_back(*t);
    for (const Operand& o : read_) read(o, lane, instr.accumulate && o.tile == &instr.dst);
    for (const Operand& o : written_) before_write(o, lane);
    meet(instr, lane);
    Clock& known = known_[issuer];
    found_.clear();
    for (std::uint32_t set = needed_; set != 0; set &= set - 1) {
      const auto l = static_cast<std::size_t>(std::countr_zero(set));
      if (need_[l] > known[l]) found_.push_back({static_cast<std::uint16_t>(l), 0, need_[l]});
    }
    // The others that one wait implies are superfluous.
    for (const isa::Wait& w : found_) merge(known, clocks_[order_[w.sem][w.count - 1]]);
    prune(found_);
    needs_.push_back({static_cast<std::uint32_t>(waits_.size()), static_cast<std::uint32_t>(found_.size())});
    waits_.insert(waits_.end(), found_.begin(), found_.end());
    clocks_.push_back(known);
    clocks_.back()[lane] = number;
    order_[lane].push_back(static_cast<std::uint32_t>(i));
    for (const Operand& o : read_) mark_read(o, lane, number);
    for (const Operand& o : written_) mark_write(o, lane, number);
  }

  /// Waits that are written in a row: each engine waits for all other lanes as they were at the first of them.
  void meet(const Instr& instr, std::size_t lane) {
    if (instr.op != Opcode::kWait) {
      meeting_ = false;
      return;
    }
    if (!std::exchange(meeting_, true))
      for (std::size_t l = 0; l < kLanes; ++l) met_[l] = static_cast<std::uint32_t>(order_[l].size());
    for (std::size_t l = 0; l < kLanes; ++l)
      if (l != lane && met_[l] != 0) require(l, met_[l]);
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

  Pieces& pieces(const Operand& o) { return o.tile->space == Space::kSbuf ? sbuf_ : psum_; }

  void require(std::size_t lane, std::uint32_t number) {
    need_[lane] = std::max(need_[lane], number);
    needed_ |= 1u << lane;
  }

  /// `adds`: the instruction accumulates to the operand; its lane accumulates in order by itself.
  void read(const Operand& o, std::size_t lane, bool adds) {
    const auto after = [&](std::uint32_t number, std::uint8_t writer_lane) {
      if (number != 0 && !(adds && writer_lane == lane)) require(writer_lane, number);
    };
    if (!o.in_hbm()) {
      pieces(o).each(o.begin, o.end, [&](const Cell& c) { after(c.writer, c.writer_lane); });
      return;
    }
    hbm_[o.tile->reg].writes.each(o.rect, [&](const Rect& w) { after(w.number, w.lane); });
  }

  /// One lane writes in order, and reads before it writes: only others must be waited for.
  void before_write(const Operand& o, std::size_t lane) {
    if (!o.in_hbm()) {
      pieces(o).each(o.begin, o.end, [&](const Cell& c) {
        if (c.writer != 0 && c.writer_lane != lane) require(c.writer_lane, c.writer);
        for (std::uint32_t set = c.readers; set != 0; set &= set - 1) {
          const auto l = static_cast<std::size_t>(std::countr_zero(set));
          if (l != lane) require(l, c.reader[l]);
        }
      });
      return;
    }
    const HbmTensor& tensor = hbm_[o.tile->reg];
    for (const auto* list : {&tensor.writes, &tensor.reads})
      list->each(o.rect, [&](const Rect& other) {
        if (other.lane != lane) require(other.lane, other.number);
      });
  }

  void mark_read(const Operand& o, std::size_t lane, std::uint32_t number) {
    if (!o.in_hbm()) {
      pieces(o).change(o.begin, o.end, [&](Cell& c) { c.readers |= 1u << lane, c.reader[lane] = number; });
      return;
    }
    Rect r = o.rect;
    r.number = number, r.lane = static_cast<std::uint8_t>(lane);
    hbm_[o.tile->reg].reads.add(r);
  }

  void mark_write(const Operand& o, std::size_t lane, std::uint32_t number) {
    if (!o.in_hbm()) {
      pieces(o).set(o.begin, o.end, {.writer = number, .writer_lane = static_cast<std::uint8_t>(lane)});
      return;
    }
    Rect r = o.rect;
    r.number = number, r.lane = static_cast<std::uint8_t>(lane);
    HbmTensor& tensor = hbm_[o.tile->reg];
    tensor.writes.drop_covered(r), tensor.reads.drop_covered(r);  // to wait for this one is to wait for them
    tensor.writes.add(r);
  }

  /// Turns places in lanes into semaphore counts; waits beyond four go in front.
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
    // From the back, so that moved instructions find their place free: the list is long, and its copy would be too.
    instrs_.reserve(instrs_.size() + holds);  // not twice as much
    instrs_.resize(instrs_.size() + holds);
    std::size_t moved = needs_.size();  // instructions from here on have moved
    std::vector<Instr> in_front;
    for (std::size_t i = needs_.size(); i-- > 0;) {
      Instr& instr = instrs_[i];
      std::span<const isa::Wait> waits = waits_of(needs_[i]);
      in_front.clear();
      while (waits.size() > isa::kMaxWaits)
        take(waits, in_front.emplace_back(Instr{.op = Opcode::kWait, .engine = instr.engine, .label = instr.label}));
      take(waits, instr);
      if (in_front.empty()) continue;
      const auto at = [&](std::size_t n) { return instrs_.begin() + static_cast<std::ptrdiff_t>(n); };
      std::move_backward(at(i), at(moved), at(moved + holds));
      std::ranges::copy(in_front, at(i + holds - in_front.size()));
      holds -= in_front.size(), moved = i;
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
    RectLog<Rect> writes, reads;
  };
  /// An instruction's part of waits_.
  struct Needs {
    std::uint32_t first = 0, count = 0;
  };
  std::span<isa::Wait> waits_of(const Needs& need) { return std::span{waits_}.subspan(need.first, need.count); }

  std::vector<Instr>& instrs_;
  Pieces sbuf_, psum_;
  std::vector<Operand> read_, written_;  // of this instruction
  std::unordered_map<std::uint32_t, HbmTensor> hbm_;
  std::array<std::vector<std::uint32_t>, kLanes> order_;  // instructions of each lane
  std::array<Clock, isa::kEngineCount> known_{};
  Clock need_{};
  std::uint32_t needed_ = 0;  // lanes of need_, a bit each
  bool meeting_ = false;      // the instruction before was a written wait
  Clock met_{};
  std::vector<Clock> clocks_;
  std::vector<Needs> needs_;  // per instruction
  std::vector<isa::Wait> waits_, found_;
};

}  // namespace

std::size_t synchronize(std::vector<Instr>& instrs, const isa::Geometry& geometry) {
  return Synchronizer{instrs, geometry}.run();
}

}  // namespace runtime
