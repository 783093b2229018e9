#include "runtime/compiler/spill.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "isa/operands.h"
#include "runtime/compiler/allocate.h"
#include "runtime/compiler/engine_books.h"

namespace runtime {
namespace {

using isa::Space;
using isa::Tile;

/// Bytes of each partition of a buffer.
struct NamedBytes {
  std::int64_t low = std::numeric_limits<std::int64_t>::max(), high = 0;

  bool empty() const { return low >= high; }
  void add(const Tile& t) {
    std::int64_t first = t.offset, last = t.offset;
    for (int d = 0; d < t.rank; ++d) {
      const isa::Dim& dim = t.free[static_cast<std::size_t>(d)];
      const std::int64_t reach = std::int64_t{dim.step} * (std::int64_t{dim.size} - 1) * isa::size_of(t.dtype);
      (reach < 0 ? first : last) += reach;
    }
    low = std::min(low, first), high = std::max(high, last + isa::size_of(t.dtype));
  }
};

/// A buffer's time in SBUF, from when it is made or restored until it is given up: its uses [first, last).
struct Stay {
  std::size_t first = 0, last = 0;
};

/// In front of the instruction `at` a stay of a buffer begins or ends.
struct Change {
  std::uint32_t at = 0, buffer = 0;
  std::size_t stay = 0;
  bool ends = false;
};

/// Which buffers are in SBUF when: where there is no room, the one that is needed last gives its own up.
class Stays {
 public:
  Stays(const VirtualBlock& block, const Lists& named, std::int64_t sbuf_bytes)
      : block_{block}, named_{named}, room_{sbuf_bytes}, of_(block.buffers.size() + 1), states_(of_.size()) {
    for (std::uint32_t i = 0; i < named.size(); ++i)
      for (const std::uint32_t b : named[i]) states_[b].uses.push_back(i);
    for (at_ = 0; at_ < named.size(); ++at_) step();
  }

  const std::vector<Change>& changes() const { return changes_; }
  /// The instructions that name a buffer in one of its stays.
  std::span<const std::uint32_t> uses(const Change& c) const {
    const Stay& stay = of_[c.buffer][c.stay];
    const std::vector<std::uint32_t>& all = states_[c.buffer].uses;
    return std::span{all}.subspan(stay.first, (stay.last == 0 ? all.size() : stay.last) - stay.first);
  }

 private:
  struct State {
    std::vector<std::uint32_t> uses;  // the instructions that name it
    std::size_t done = 0;
    bool held = false;
  };

  bool in_sbuf(std::uint32_t b) const { return block_.buffers[b - 1].space == Space::kSbuf; }
  std::int64_t size(std::uint32_t b) const { return (block_.buffers[b - 1].bytes + kGrain - 1) / kGrain * kGrain; }

  void step() {
    for (const std::uint32_t b : named_[at_])
      if (in_sbuf(b) && !states_[b].held) hold(b);
    for (const std::uint32_t b : named_[at_])
      if (in_sbuf(b) && ++states_[b].done == states_[b].uses.size()) release(b);
  }

  void hold(std::uint32_t b) {
    while (room_ < size(b) && make_room()) {
    }
    room_ -= size(b), states_[b].held = true;
    held_.push_back(b);
    if (!of_[b].empty()) changes_.push_back({.at = at_, .buffer = b, .stay = of_[b].size()});
    of_[b].push_back({.first = states_[b].done});
  }

  void release(std::uint32_t b) {
    room_ += size(b), states_[b].held = false;
    held_.erase(std::ranges::find(held_, b));
  }

  /// False when there is none: the instruction needs them all.
  bool make_room() {
    const std::span<const std::uint32_t> busy = named_[at_];
    std::uint32_t victim = 0, latest = 0;
    for (const std::uint32_t b : held_) {
      if (std::ranges::find(busy, b) != busy.end()) continue;
      const std::uint32_t next = states_[b].uses[states_[b].done];
      if (next >= latest) victim = b, latest = next;
    }
    if (victim == 0) return false;
    of_[victim].back().last = states_[victim].done;
    changes_.push_back({.at = at_, .buffer = victim, .stay = of_[victim].size() - 1, .ends = true});
    release(victim);
    return true;
  }

  const VirtualBlock& block_;
  const Lists& named_;
  std::int64_t room_;
  std::uint32_t at_ = 0;
  std::vector<std::vector<Stay>> of_;
  std::vector<State> states_;
  std::vector<std::uint32_t> held_;
  std::vector<Change> changes_;
};

class Spiller {
 public:
  Spiller(VirtualBlock& block, const isa::Target& target, std::int64_t sbuf_bytes)
      : block_{block},
        named_{named_buffers(block)},
        stays_{block, named_, sbuf_bytes},
        books_{target, kNkiPolicy},
        names_(block.buffers.size() + 1),
        slots_(names_.size(), kNoSlot) {
    for (std::uint32_t b = 0; b < names_.size(); ++b) names_[b] = b;
  }

  Spills run() {
    if (stays_.changes().empty()) return {};
    all_ = std::move(block_.instrs);
    out_.reserve(all_.size() + stays_.changes().size());
    auto change = stays_.changes().begin();
    for (std::uint32_t i = 0; i < all_.size(); ++i) {
      for (; change != stays_.changes().end() && change->at == i; ++change) apply(*change);
      out_.push_back(renamed(all_[i]));
    }
    block_.instrs = std::move(out_);
    return result_;
  }

 private:
  static constexpr std::int64_t kNoSlot = -1;

  void apply(const Change& c) {
    if (!c.ends) {
      names_[c.buffer] = block_.add(block_.buffers[c.buffer - 1]);
      out_.push_back(books_.load(move(c, touched(c, false), false)));
      return;
    }
    NamedBytes kept = touched(c, true);
    if (slots_[c.buffer] == kNoSlot) {
      const Buffer& buffer = block_.buffers[c.buffer - 1];
      slots_[c.buffer] = result_.bytes;
      result_.bytes += pitch(buffer) * buffer.parts;
      kept = {.low = 0, .high = buffer.bytes};
    }
    if (kept.empty()) return;  // the spill area has it already
    out_.push_back(books_.store(move(c, kept, true)));
    ++result_.saves;
  }

  /// The bytes that the instructions of a stay name, or those that they write.
  NamedBytes touched(const Change& c, bool written) const {
    NamedBytes out;
    for (const std::uint32_t i : stays_.uses(c))
      for (const isa::Operands& operands : {isa::writes(all_[i]), written ? isa::Operands{} : isa::reads(all_[i])})
        for (const Tile* t : operands)
          if (t->space == Space::kSbuf && t->reg == c.buffer) out.add(*t);
    return out;
  }

  static std::int64_t pitch(const Buffer& buffer) { return (buffer.bytes + kGrain - 1) / kGrain * kGrain; }

  /// These bytes of a buffer to its slot in HBM, or back.
  Instr move(const Change& c, const NamedBytes& bytes, bool save) {
    if (!register_) {
      register_ = static_cast<std::uint32_t>(block_.registers.size());
      block_.registers.push_back(kSpillArea);
    }
    const Buffer buffer = block_.buffers[c.buffer - 1];
    Tile chip{};
    chip.space = Space::kSbuf, chip.dtype = isa::Dtype::kUint8, chip.reg = names_[c.buffer], chip.offset = bytes.low;
    chip.partitions = static_cast<std::int32_t>(buffer.parts);
    chip.free[0] = {.step = 1, .size = static_cast<std::uint32_t>(bytes.high - bytes.low)};
    Tile hbm = chip;
    hbm.space = Space::kHbm, hbm.reg = *register_, hbm.pstep = pitch(buffer);
    hbm.offset = slots_[c.buffer] + bytes.low;
    Instr out{.op = Opcode::kDmaCopy, .label = all_[c.at].label};
    out.dst = save ? hbm : chip, out.a = save ? chip : hbm;
    return out;
  }

  Instr renamed(Instr instr) const {
    for (Tile* t : {&instr.dst, &instr.dst2, &instr.a, &instr.b, &instr.c})
      if (t->space == Space::kSbuf) t->reg = names_[t->reg];
    return instr;
  }

  VirtualBlock& block_;
  const Lists named_;
  const Stays stays_;
  EngineBooks books_;                 // of the rings
  std::vector<std::uint32_t> names_;  // the buffer that has it now
  std::vector<std::int64_t> slots_;   // places in the spill area
  std::vector<Instr> all_, out_;
  std::optional<std::uint32_t> register_;  // of the spill area
  Spills result_;
};

}  // namespace

Spills spill(VirtualBlock& block, const isa::Target& target, std::int64_t sbuf_bytes) {
  return Spiller{block, target, sbuf_bytes}.run();
}

}  // namespace runtime
