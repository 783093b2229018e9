#include "runtime/compiler/dependences.h"

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_map>
#include <utility>

#include "isa/operands.h"
#include "runtime/compiler/rect_log.h"

namespace runtime {
namespace {

constexpr std::uint32_t kNone = ~0U;

bool sets_generator(const Instr& i) { return i.op == isa::Opcode::kSetRngSeed || i.op == isa::Opcode::kRandSetState; }

/// An access to a buffer, and the place of the next of its list.
struct Access {
  std::int64_t low = 0, high = 0;
  std::uint32_t instr = 0, next = kNone;
  std::uint32_t followed = kNone;  // of a read: the last write that follows it

  bool meets(const Access& o) const { return low < o.high && o.low < high; }
  bool covers(const Access& o) const { return low <= o.low && o.high <= high; }
};

/// Accesses to a buffer: the first of a list. Once they are many, those inside of one stretch of bytes have a list of
/// their own: those that meet an access are in the stretches that it reaches.
struct AccessLog {
  std::uint32_t wide = kNone, count = 0;
  int shift = 0;                      // a stretch has 2^shift bytes
  std::vector<std::uint32_t> narrow;  // by stretch

  static constexpr std::uint32_t kMany = 64, kStretches = 256;

  std::size_t stretch(std::int64_t byte) const {
    return std::min(static_cast<std::size_t>(byte) >> shift, narrow.size() - 1);
  }
  std::uint32_t& list_of(const Access& a) {
    if (narrow.empty() || stretch(a.low) != stretch(a.high - 1)) return wide;
    return narrow[stretch(a.low)];
  }
  /// visit(list) for each that may have an access that meets `a`.
  void lists(const Access& a, const auto& visit) {
    visit(wide);
    if (narrow.empty()) return;
    for (std::size_t s = stretch(a.low); s <= stretch(a.high - 1); ++s) visit(narrow[s]);
  }
};

/// The instructions that touched a buffer. A write that covers an earlier access represents it: later instructions
/// follow both.
struct BufferLog {
  AccessLog writes, reads;
  std::uint32_t followed = kNone;  // the last write that follows a read
};

struct InstrRect : HbmRect {
  std::uint32_t instr = 0;
};
struct HbmLog {
  RectLog<InstrRect> writes, reads;
};

class Finder {
 public:
  explicit Finder(const VirtualBlock& block)
      : block_{block},
        buffers_(block.buffers.size() + 1),
        is_written_(written_tensors(block)),
        meets_{std::ranges::any_of(block.instrs, [](const Instr& i) { return i.op == isa::Opcode::kWait; })},
        chained_{std::ranges::any_of(block.instrs, [](const Instr& i) {
          return i.registers != isa::Registers::kDefault || sets_generator(i) || i.op == isa::Opcode::kRandGetState ||
                 i.op == isa::Opcode::kCoreBarrier;
        })} {}

  Lists run() {
    Lists out;
    out.begin.reserve(block_.instrs.size() + 1);
    for (std::uint32_t i = 0; i < block_.instrs.size(); ++i) {
      const Instr& instr = block_.instrs[i];
      found_.clear();
      read_.clear(), written_.clear();
      for (const Tile* t : isa::reads(instr)) read_.emplace_back(*t, i);
      for (const Tile* t : isa::writes(instr)) written_.emplace_back(*t, i);
      for (const Operand& o : read_) follow_writes(o);
      for (const Operand& o : written_) follow_writes(o), follow_reads(o);
      for (const Operand& o : read_) note_read(o);
      for (const Operand& o : written_) note_write(o);
      if (chained_) follow_state(instr, i);
      if (meets_) follow_meeting(instr, i);
      std::ranges::sort(found_);
      found_.erase(std::unique(found_.begin(), found_.end()), found_.end());
      out.items.insert(out.items.end(), found_.begin(), found_.end());
      out.end_list();
    }
    return out;
  }

 private:
  /// The bytes that an instruction touches, in HBM or of a buffer.
  struct Operand {
    std::uint32_t reg;
    bool in_hbm;
    HbmRect rect;
    Access access;

    Operand(const Tile& t, std::uint32_t i) : reg{t.reg}, in_hbm{t.space == isa::Space::kHbm}, access{.instr = i} {
      if (in_hbm) {
        rect = HbmRect::of(t);
        return;
      }
      const ByteRange range = ByteRange::of(t);
      access.low = t.offset + range.low, access.high = t.offset + range.high;
    }
  };

  /// Accumulator registers and the generator's state have no address: instructions of one engine that use them keep
  /// their order. So do its meetings with the other core, which has them in the same order.
  void follow_state(const Instr& instr, std::uint32_t i) {
    const bool random =
        sets_generator(instr) || instr.op == isa::Opcode::kRng || instr.op == isa::Opcode::kRandGetState;
    if (!random && !uses_registers(instr) && instr.op != isa::Opcode::kCoreBarrier) return;
    auto& last = last_[static_cast<std::size_t>(instr.engine)];
    if (last) found_.push_back(*last);
    last = i;
  }

  /// Waits that are written in a row follow all that came since the ones before; the instructions behind follow them.
  void follow_meeting(const Instr& instr, std::uint32_t i) {
    if (instr.op != isa::Opcode::kWait) {
      found_.insert(found_.end(), meeting_.begin(), meeting_.end());
      since_.push_back(i);
      return;
    }
    if (!since_.empty()) met_ = std::exchange(since_, {}), meeting_.clear();
    found_.insert(found_.end(), met_.begin(), met_.end());
    meeting_.push_back(i);
  }

  /// Registers of HBM to which some instruction writes: nothing follows the reads of others.
  static std::vector<char> written_tensors(const VirtualBlock& block) {
    std::vector<char> out(block.registers.size() + 1, 0);
    for (const Instr& i : block.instrs)
      for (const Tile* t : isa::writes(i))
        if (t->space == isa::Space::kHbm) {
          if (t->reg >= out.size()) out.resize(t->reg + 1, 0);
          out[t->reg] = 1;
        }
    return out;
  }

  void follow(const HbmRect& rect, const RectLog<InstrRect>& list) {
    list.each(rect, [&](const InstrRect& other) { found_.push_back(other.instr); });
  }
  void each(AccessLog& log, const Access& access, const auto& visit) {
    log.lists(access, [&](std::uint32_t list) {
      for (; list != kNone; list = accesses_[list].next)
        if (access.meets(accesses_[list])) visit(accesses_[list]);
    });
  }
  void follow_writes(const Operand& o) {
    if (o.in_hbm) return follow(o.rect, hbm_[o.reg].writes);
    each(buffers_[o.reg].writes, o.access, [&](const Access& write) { found_.push_back(write.instr); });
  }
  void follow_reads(const Operand& o) {
    if (o.in_hbm) return follow(o.rect, hbm_[o.reg].reads);
    BufferLog& log = buffers_[o.reg];
    each(log.reads, o.access, [&](Access& read) {
      found_.push_back(read.instr);
      read.followed = log.followed = o.access.instr;
    });
  }

  /// A read that covers an earlier one, and follows a write that follows that one, represents it.
  void note_read(const Operand& o) {
    if (o.in_hbm) {
      if (o.reg < is_written_.size() && is_written_[o.reg]) hbm_[o.reg].reads.add({o.rect, o.access.instr});
      return;
    }
    BufferLog& log = buffers_[o.reg];
    const auto follows = [&](std::uint32_t write) { return std::ranges::find(found_, write) != found_.end(); };
    if (log.followed != kNone && follows(log.followed)) {
      drop(log.reads, o.access, [&](const Access& a) { return o.access.covers(a) && follows(a.followed); });
      log.followed = kNone;
    }
    put(log.reads, o);
  }

  void note_write(const Operand& o) {
    if (o.in_hbm) {
      HbmLog& log = hbm_[o.reg];
      log.writes.drop_covered(o.rect), log.reads.drop_covered(o.rect);
      log.writes.add({o.rect, o.access.instr});
      return;
    }
    BufferLog& log = buffers_[o.reg];
    const auto covered = [&](const Access& earlier) { return o.access.covers(earlier); };
    drop(log.writes, o.access, covered);
    drop(log.reads, o.access, covered);
    put(log.writes, o);
  }

  void put(AccessLog& log, const Operand& o) {
    if (++log.count > AccessLog::kMany && log.narrow.empty()) part(log, block_.buffers[o.reg - 1].bytes);
    Access access = o.access;
    std::uint32_t& list = log.list_of(access);
    access.next = list;
    if (unused_ == kNone) {
      list = static_cast<std::uint32_t>(accesses_.size());
      accesses_.push_back(access);
    } else {
      list = unused_;
      unused_ = std::exchange(accesses_[list], access).next;
    }
  }

  /// A long list by stretches of the buffer's bytes.
  void part(AccessLog& log, std::int64_t bytes) {
    while ((bytes >> log.shift) >= AccessLog::kStretches) ++log.shift;
    log.narrow.assign(static_cast<std::size_t>(bytes >> log.shift) + 1, kNone);
    for (std::uint32_t at = std::exchange(log.wide, kNone); at != kNone;) {
      std::uint32_t& list = log.list_of(accesses_[at]);
      const std::uint32_t next = std::exchange(accesses_[at].next, list);
      list = std::exchange(at, next);
    }
  }

  void drop(AccessLog& log, const Access& met, const auto& represented) {
    log.lists(met, [&](std::uint32_t& list) {
      for (std::uint32_t* link = &list; *link != kNone;) {
        Access& access = accesses_[*link];
        if (!represented(access)) {
          link = &access.next;
          continue;
        }
        const std::uint32_t dropped = std::exchange(*link, access.next);
        access.next = std::exchange(unused_, dropped);
        --log.count;
      }
    });
  }

  const VirtualBlock& block_;
  std::vector<BufferLog> buffers_;
  std::unordered_map<std::uint32_t, HbmLog> hbm_;
  std::vector<char> is_written_;         // registers of HBM
  std::vector<Access> accesses_;         // of all lists
  std::uint32_t unused_ = kNone;         // the first of those in no list any more
  std::vector<Operand> read_, written_;  // of this instruction
  std::vector<std::uint32_t> found_;
  bool meets_;                                        // some instruction is a wait that is written
  std::vector<std::uint32_t> since_, met_, meeting_;  // behind the last such waits; in front of them; they
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
  const std::int64_t low = t.offset + e.low, rows = t.pstep * (t.partitions - 1);  // which may go backwards
  HbmRect r{.pitch = t.pstep,
            .row0 = 0,
            .row1 = 1,
            .col0 = low,
            .col1 = t.offset + e.high,
            .low = low + std::min<std::int64_t>(rows, 0),
            .high = t.offset + e.high + std::max<std::int64_t>(rows, 0)};
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

bool HbmRect::covers(const HbmRect& o) const {
  if (low > o.low || o.high > high) return false;
  if (pitch == 0) return true;
  return pitch == o.pitch && row0 <= o.row0 && o.row1 <= row1 && col0 <= o.col0 && o.col1 <= col1;
}

bool uses_registers(const isa::Instr& instr) {
  const bool reads = instr.registers == isa::Registers::kIdle && instr.dst2;
  return reads || isa::command_of(instr) != isa::Registers::kIdle;
}

Lists dependences(const VirtualBlock& block) { return Finder{block}.run(); }

}  // namespace runtime
