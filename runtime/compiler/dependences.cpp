#include "runtime/compiler/dependences.h"

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_map>

#include "isa/operands.h"

namespace runtime {
namespace {

struct Access {
  std::int64_t low = 0, high = 0;
  std::uint32_t instr = 0;
};

/// Who touched a buffer. A write that covers an earlier access stands for it: what follows it follows that one too.
struct BufferLog {
  std::vector<Access> writes, reads;
};

struct HbmLog {
  std::vector<std::pair<HbmRect, std::uint32_t>> writes, reads;
};

class Finder {
 public:
  explicit Finder(const VirtualBlock& block)
      : block_{block},
        buffers_(block.buffers.size() + 1),
        chained_{std::ranges::any_of(block.instrs, [](const Instr& i) {
          return i.registers != isa::Registers::kDefault || i.op == isa::Opcode::kSetRngSeed;
        })} {}

  Lists run() {
    Lists out;
    for (std::uint32_t i = 0; i < block_.instrs.size(); ++i) {
      const Instr& instr = block_.instrs[i];
      found_.clear();
      for (const Tile* t : isa::reads(instr)) read(*t);
      for (const Tile* t : isa::writes(instr)) write(*t);
      for (const Tile* t : isa::reads(instr)) note_read(*t, i);
      for (const Tile* t : isa::writes(instr)) note_write(*t, i);
      if (chained_) follow_state(instr, i);
      std::ranges::sort(found_);
      found_.erase(std::unique(found_.begin(), found_.end()), found_.end());
      out.items.insert(out.items.end(), found_.begin(), found_.end());
      out.end_list();
    }
    return out;
  }

 private:
  static Access access(const Tile& t, std::uint32_t i) {
    const ByteRange range = ByteRange::of(t);
    return {t.offset + range.low, t.offset + range.high, i};
  }
  static bool meet(const Access& a, const Access& b) { return a.low < b.high && b.low < a.high; }

  /// Accumulator registers and the generator's state have no address: who uses them on one engine keeps its order.
  void follow_state(const Instr& instr, std::uint32_t i) {
    const bool random = instr.op == isa::Opcode::kSetRngSeed || instr.op == isa::Opcode::kRng;
    if (!random && isa::command_of(instr) == isa::Registers::kIdle) return;
    auto& last = last_[static_cast<std::size_t>(instr.engine)];
    if (last) found_.push_back(*last);
    last = i;
  }

  void read(const Tile& t) {
    if (t.space == isa::Space::kHbm) {
      const HbmRect r = HbmRect::of(t);
      for (const auto& [w, i] : hbm_[t.reg].writes)
        if (r.meets(w)) found_.push_back(i);
      return;
    }
    const Access a = access(t, 0);
    for (const Access& w : buffers_[t.reg].writes)
      if (meet(a, w)) found_.push_back(w.instr);
  }

  void write(const Tile& t) {
    read(t);
    if (t.space == isa::Space::kHbm) {
      const HbmRect r = HbmRect::of(t);
      for (const auto& [o, i] : hbm_[t.reg].reads)
        if (r.meets(o)) found_.push_back(i);
      return;
    }
    const Access a = access(t, 0);
    for (const Access& r : buffers_[t.reg].reads)
      if (meet(a, r)) found_.push_back(r.instr);
  }

  void note_read(const Tile& t, std::uint32_t i) {
    if (t.space == isa::Space::kHbm)
      hbm_[t.reg].reads.emplace_back(HbmRect::of(t), i);
    else
      buffers_[t.reg].reads.push_back(access(t, i));
  }

  void note_write(const Tile& t, std::uint32_t i) {
    if (t.space == isa::Space::kHbm) {
      hbm_[t.reg].writes.emplace_back(HbmRect::of(t), i);
      return;
    }
    const Access a = access(t, i);
    const auto covered = [&](const Access& b) { return a.low <= b.low && b.high <= a.high; };
    BufferLog& log = buffers_[t.reg];
    std::erase_if(log.writes, covered);
    std::erase_if(log.reads, covered);
    log.writes.push_back(a);
  }

  const VirtualBlock& block_;
  std::vector<BufferLog> buffers_;
  std::unordered_map<std::uint32_t, HbmLog> hbm_;
  std::vector<std::uint32_t> found_;
  bool chained_;  // some instruction continues what another one began in the state of its engine
  std::array<std::optional<std::uint32_t>, isa::kEngineCount> last_{};
};

}  // namespace

ByteRange ByteRange::of(const Tile& t) {
  ByteRange e{0, isa::size_of(t.dtype)};
  for (int d = 0; d < t.rank; ++d) {
    const auto [step, size] = t.free[static_cast<std::size_t>(d)];
    const std::int64_t span = std::int64_t{step} * (std::int64_t{size} - 1) * isa::size_of(t.dtype);
    (span < 0 ? e.low : e.high) += span;
  }
  return e;
}

HbmRect HbmRect::of(const Tile& t) {
  const ByteRange e = ByteRange::of(t);
  const std::int64_t low = t.offset + e.low;
  HbmRect r{.pitch = t.pstep,
            .row0 = 0,
            .row1 = 1,
            .col0 = low,
            .col1 = t.offset + e.high,
            .low = low,
            .high = t.offset + e.high + t.pstep * (t.partitions - 1)};
  if (t.pstep > 0 && low % t.pstep + (e.high - e.low) <= t.pstep) {
    r.row0 = low / t.pstep;
    r.row1 = r.row0 + t.partitions;
    r.col0 = low % t.pstep;
    r.col1 = r.col0 + (e.high - e.low);
  } else {
    r.pitch = 0;
  }
  return r;
}

bool HbmRect::meets(const HbmRect& o) const {
  if (low >= o.high || o.low >= high) return false;
  if (pitch == 0 || pitch != o.pitch) return true;
  return row0 < o.row1 && o.row0 < row1 && col0 < o.col1 && o.col0 < col1;
}

Lists dependences(const VirtualBlock& block) { return Finder{block}.run(); }

}  // namespace runtime
