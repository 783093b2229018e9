#include "runtime/compiler/allocate.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "isa/operands.h"

namespace runtime {
namespace {

constexpr std::uint32_t kStays = 1500;  // instructions from first to last use that make a buffer long-lived

std::int64_t rounded(std::int64_t bytes, std::int64_t grain) { return (bytes + grain - 1) / grain * grain; }

/// Free and used bytes of one memory.
class FreeSpace {
 public:
  FreeSpace(std::int64_t size, std::int64_t grain, bool rotate) : size_{size}, grain_{grain}, rotate_{rotate} {}

  /// A place for `bytes`, or -1. Buffers that stay long go to the far end, so that it does not cut up the space that
  /// the others take turns in.
  std::int64_t take(std::int64_t bytes, bool stays) {
    bytes = rounded(bytes, grain_);
    std::int64_t at = stays ? find_last(bytes) : rotate_ ? find(cursor_, bytes) : -1;
    if (at < 0) at = find(0, bytes);
    if (at < 0) return -1;
    used_.insert(from(at), {at, at + bytes});
    if (!stays) cursor_ = at + bytes;
    in_use_ += bytes;
    peak_ = std::max(peak_, in_use_);
    return at;
  }

  void give_back(std::int64_t at) {
    const auto place = from(at);
    in_use_ -= place->end - place->begin;
    used_.erase(place);
  }
  std::int64_t peak() const { return peak_; }
  std::int64_t grain() const { return grain_; }

 private:
  struct Range {
    std::int64_t begin, end;
  };

  /// The first used range that begins at `at` or behind it.
  std::vector<Range>::const_iterator from(std::int64_t at) const {
    return std::ranges::lower_bound(used_, at, {}, &Range::begin);
  }

  std::int64_t find(std::int64_t at, std::int64_t bytes) const {
    auto next = from(at);
    if (next != used_.begin()) at = std::max(at, std::prev(next)->end);
    for (; next != used_.end() && next->begin - at < bytes; ++next) at = next->end;
    return size_ - at >= bytes ? at : -1;
  }

  std::int64_t find_last(std::int64_t bytes) const {
    std::int64_t end = size_;
    for (auto it = used_.rbegin(); it != used_.rend(); ++it) {
      if (end - it->end >= bytes) return end - bytes;
      end = it->begin;
    }
    return end >= bytes ? end - bytes : -1;
  }

  const std::int64_t size_, grain_;
  const bool rotate_;
  std::vector<Range> used_;  // from the lowest on; tens of them
  std::int64_t cursor_ = 0, in_use_ = 0, peak_ = 0;
};

void for_buffers(auto& instr, const auto& f) {
  for (auto* tile : {&instr.dst, &instr.dst2, &instr.a, &instr.b, &instr.c})
    if (tile->space == isa::Space::kSbuf || tile->space == isa::Space::kPsum) f(*tile);
}

class Allocator {
 public:
  /// The order is read no further ahead than places depend on it, unless spills, which do on all of it, are allowed.
  Allocator(const VirtualBlock& block, const Lists& named, const isa::Geometry& geometry, bool rotate, NextInstr next,
            bool may_spill)
      : block_{block},
        named_{named},
        save_ring_{static_cast<std::uint8_t>(geometry.dma_rings - 2)},
        next_instr_{std::move(next)},
        may_spill_{may_spill},
        registers_{block.registers},
        uses_(block.buffers.size() + 1),
        where_(block.buffers.size() + 1, kNowhere),
        slot_(block.buffers.size() + 1, kNowhere),
        sbuf_{geometry.sbuf_partition_bytes, kGrain, rotate},
        psum_{geometry.psum_partition_bytes, geometry.psum_bank_bytes, rotate} {
    std::uint32_t count = 0;
    for (const std::uint32_t b : named.items) ++uses_[b].count;
    for (Uses& u : uses_) u.begin = std::exchange(count, count + u.count);
    places_.resize(count);
    order_.reserve(block.instrs.size());
  }

  /// False when something would spill and must not.
  bool run() {
    if (may_spill_) out_.reserve(block_.instrs.size());
    for (std::uint32_t i = 0; i < block_.instrs.size(); ++i) {
      look_ahead(may_spill_ ? block_.instrs.size() : std::size_t{i} + kStays + 1);
      const Instr& instr = block_.instrs[order_[i]];
      busy_ = named_[order_[i]];
      for (const std::uint32_t b : busy_)
        if (!ensure_placed(b, instr)) return false;
      result_.moved += order_[i] != i;
      if (may_spill_) place(out_.emplace_back(instr));
      for (const std::uint32_t b : busy_)
        if (++uses_[b].done == uses_[b].count) free(b);
    }
    return true;
  }

  Allocation take(VirtualBlock& block) {
    if (may_spill_)
      block.instrs = std::move(out_);
    else
      reorder(block.instrs);  // only now: an order that is given up need not be written
    block.registers = std::move(registers_);
    result_.sbuf_bytes = sbuf_.peak();
    result_.psum_bytes = psum_.peak();
    return result_;
  }

 private:
  static constexpr std::int64_t kNowhere = -1;

  void place(Instr& instr) {
    for_buffers(instr, [&](Tile& t) { t.offset += where_[t.reg], t.reg = 0; });
  }

  /// In place: a second list would take hundreds of megabytes. Uses order_ up.
  void reorder(std::vector<Instr>& instrs) {
    constexpr std::uint32_t kMoved = ~0U;
    for (std::uint32_t first = 0; first < order_.size(); ++first) {
      if (order_[first] == kMoved) continue;
      const Instr begun = instrs[first];
      std::uint32_t to = first;
      for (std::uint32_t from = 0; (from = std::exchange(order_[to], kMoved)) != first; to = from)
        place(instrs[to] = instrs[from]);
      place(instrs[to] = begun);
    }
  }

  /// The instructions that name a buffer: from `begin` on in places_, by their places in the order.
  struct Uses {
    std::uint32_t begin = 0, count = 0;
    std::uint32_t read = 0;  // of the order so far
    std::uint32_t done = 0;  // have an address
  };

  /// Reads the order as far as `end` instructions.
  void look_ahead(std::size_t end) {
    for (end = std::min(end, block_.instrs.size()); order_.size() < end;) {
      const auto place = static_cast<std::uint32_t>(order_.size());
      order_.push_back(next_instr_());
      for (const std::uint32_t b : named_[order_.back()]) {
        Uses& u = uses_[b];
        places_[u.begin + u.read++] = place;
      }
    }
  }

  /// Whether its last use is long after its first: behind all that was read of the order, or known to be.
  bool stays(std::uint32_t b) const {
    const Uses& u = uses_[b];
    return u.read < u.count || places_[u.begin + u.count - 1] - places_[u.begin] > kStays;
  }

  const Buffer& buffer(std::uint32_t b) const { return block_.buffers[b - 1]; }
  FreeSpace& space(std::uint32_t b) { return buffer(b).space == isa::Space::kSbuf ? sbuf_ : psum_; }

  /// False when there is no room and nothing may spill.
  bool ensure_placed(std::uint32_t b, const Instr& instr) {
    if (where_[b] != kNowhere) return true;
    const bool long_lived = stays(b);
    std::int64_t at = space(b).take(buffer(b).bytes, long_lived);
    while (at < 0) {
      if (!may_spill_) return false;
      spill_one(b, instr);
      at = space(b).take(buffer(b).bytes, long_lived);
    }
    where_[b] = at;
    if (may_spill_) live_.push_back(b);
    if (slot_[b] != kNowhere) out_.push_back(move(b, instr, false));
    return true;
  }

  void free(std::uint32_t b) {
    space(b).give_back(where_[b]);
    if (!may_spill_) return;  // addresses are final: they are written at the end
    where_[b] = kNowhere;
    live_.erase(std::ranges::find(live_, b));
  }

  /// Moves the buffer that is needed last to HBM.
  void spill_one(std::uint32_t wanted, const Instr& instr) {
    std::uint32_t victim = 0, latest = 0;
    for (const std::uint32_t b : live_) {
      if (buffer(b).space != buffer(wanted).space || std::ranges::find(busy_, b) != busy_.end()) continue;
      const std::uint32_t next = places_[uses_[b].begin + uses_[b].done];
      if (next >= latest) victim = b, latest = next;
    }
    if (victim == 0 || buffer(wanted).space == isa::Space::kPsum)
      throw base::Error{base::Fault::kCapacity, fmt::format("block {}, {}", block_.name, block_.labels[instr.label]),
                        fmt::format("{} more bytes per partition do not fit in {}", buffer(wanted).bytes,
                                    buffer(wanted).space == isa::Space::kPsum ? "PSUM" : "SBUF"),
                        "use smaller tiles"};
    if (slot_[victim] == kNowhere) {
      slot_[victim] = result_.spill_bytes;
      result_.spill_bytes += rounded(buffer(victim).bytes, kGrain) * buffer(victim).parts;
    }
    out_.push_back(move(victim, instr, true));
    ++result_.spills;
    free(victim);
  }

  /// The whole buffer to its slot in HBM, or back.
  Instr move(std::uint32_t b, const Instr& cause, bool save) {
    if (spill_register_ < 0) {
      spill_register_ = static_cast<std::int64_t>(registers_.size());
      registers_.push_back(kSpillArea);
    }
    Tile chip{}, hbm{};
    chip.space = isa::Space::kSbuf;
    chip.dtype = Dtype::kUint8;
    chip.partitions = static_cast<std::int32_t>(buffer(b).parts);
    chip.free[0] = {.step = 1, .size = static_cast<std::uint32_t>(buffer(b).bytes)};
    hbm = chip;
    chip.offset = where_[b];
    hbm.space = isa::Space::kHbm;
    hbm.reg = static_cast<std::uint32_t>(spill_register_);
    hbm.offset = slot_[b];
    hbm.pstep = rounded(buffer(b).bytes, kGrain);
    Instr instr{.op = Opcode::kDmaCopy,
                .engine = save ? isa::Engine::kGpSimd : isa::Engine::kSync,
                .queue = save ? save_ring_ : std::uint8_t{0},
                .label = cause.label};
    instr.dst = save ? hbm : chip;
    instr.a = save ? chip : hbm;
    return instr;
  }

  const VirtualBlock& block_;
  const Lists& named_;
  const std::uint8_t save_ring_;
  const NextInstr next_instr_;
  const bool may_spill_;
  std::vector<ValueId> registers_;
  std::vector<Uses> uses_;  // per buffer
  std::vector<std::uint32_t> order_, places_;
  std::vector<std::int64_t> where_, slot_;  // address; place in the spill area
  FreeSpace sbuf_, psum_;
  std::vector<std::uint32_t> live_;      // have an address, if any may spill
  std::span<const std::uint32_t> busy_;  // the instruction names
  std::vector<Instr> out_;
  std::int64_t spill_register_ = -1;
  Allocation result_;
};

}  // namespace

Lists named_buffers(const VirtualBlock& block) {
  Lists out;
  out.begin.reserve(block.instrs.size() + 1);
  for (const Instr& instr : block.instrs) {
    const auto begin = static_cast<std::ptrdiff_t>(out.items.size());
    for_buffers(instr, [&](const Tile& t) {
      if (std::find(out.items.begin() + begin, out.items.end(), t.reg) == out.items.end()) out.items.push_back(t.reg);
    });
    out.end_list();
  }
  return out;
}

NextInstr in_turn() {
  return [i = 0u]() mutable { return i++; };
}

Allocation allocate(VirtualBlock& block, const isa::Geometry& geometry, bool rotate) {
  const Lists named = named_buffers(block);
  Allocator allocator{block, named, geometry, rotate, in_turn(), true};
  allocator.run();
  return allocator.take(block);
}

std::optional<Allocation> allocate_without_spills(VirtualBlock& block, const Lists& named,
                                                  const isa::Geometry& geometry, bool rotate, const NextInstr& next) {
  Allocator allocator{block, named, geometry, rotate, next, false};
  if (!allocator.run()) return std::nullopt;
  return allocator.take(block);
}

}  // namespace runtime
