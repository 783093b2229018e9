#include "runtime/allocate.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <numeric>

#include "base/error.h"
#include "isa/operands.h"

namespace runtime {
namespace {

constexpr std::int64_t kGrain = 64;     // bytes: what places begin at
constexpr std::uint32_t kStays = 1500;  // instructions from first to last use that make a buffer long-lived

std::int64_t rounded(std::int64_t bytes, std::int64_t grain) { return (bytes + grain - 1) / grain * grain; }

/// Free and used bytes of one memory.
class FreeSpace {
 public:
  FreeSpace(std::int64_t size, std::int64_t grain, bool rotate) : size_{size}, grain_{grain}, rotate_{rotate} {}

  /// A place for `bytes`, or -1. What stays long goes to the far end, so that it does not cut up the space that the
  /// others take turns in.
  std::int64_t take(std::int64_t bytes, bool stays) {
    bytes = rounded(bytes, grain_);
    std::int64_t at = stays ? find_last(bytes) : rotate_ ? find(cursor_, bytes) : -1;
    if (at < 0) at = find(0, bytes);
    if (at < 0) return -1;
    used_[at] = bytes;
    if (!stays) cursor_ = at + bytes;
    in_use_ += bytes;
    peak_ = std::max(peak_, in_use_);
    return at;
  }

  void give_back(std::int64_t at) {
    in_use_ -= used_.at(at);
    used_.erase(at);
  }
  std::int64_t peak() const { return peak_; }
  std::int64_t grain() const { return grain_; }

 private:
  std::int64_t find(std::int64_t from, std::int64_t bytes) const {
    auto next = used_.lower_bound(from);
    if (next != used_.begin()) {
      const auto before = std::prev(next);
      from = std::max(from, before->first + before->second);
    }
    for (; next != used_.end() && next->first - from < bytes; ++next) from = next->first + next->second;
    return size_ - from >= bytes ? from : -1;
  }

  std::int64_t find_last(std::int64_t bytes) const {
    std::int64_t end = size_;
    for (auto it = used_.rbegin(); it != used_.rend(); ++it) {
      if (end - (it->first + it->second) >= bytes) return end - bytes;
      end = it->first;
    }
    return end >= bytes ? end - bytes : -1;
  }

  const std::int64_t size_, grain_;
  const bool rotate_;
  std::map<std::int64_t, std::int64_t> used_;  // begin -> bytes
  std::int64_t cursor_ = 0, in_use_ = 0, peak_ = 0;
};

void for_buffers(auto& instr, const auto& f) {
  for (auto* tile : {&instr.dst, &instr.dst2, &instr.a, &instr.b, &instr.c})
    if (tile->space == isa::Space::kSbuf || tile->space == isa::Space::kPsum) f(*tile);
}

class Allocator {
 public:
  Allocator(const VirtualBlock& block, const isa::Geometry& geometry, bool rotate, std::span<const std::uint32_t> order,
            std::int64_t most_spills)
      : block_{block},
        save_ring_{static_cast<std::uint8_t>(geometry.dma_rings - 2)},
        order_{order},
        most_spills_{most_spills},
        registers_{block.registers},
        uses_(block.buffers.size() + 1),
        where_(block.buffers.size() + 1, kNowhere),
        slot_(block.buffers.size() + 1, kNowhere),
        next_(block.buffers.size() + 1, 0),
        sbuf_{geometry.sbuf_partition_bytes, kGrain, rotate},
        psum_{geometry.psum_partition_bytes, geometry.psum_bank_bytes, rotate} {
    for (std::uint32_t i = 0; i < order.size(); ++i)
      for_buffers(block.instrs[order[i]], [&](const Tile& t) {
        if (uses_[t.reg].empty() || uses_[t.reg].back() != i) uses_[t.reg].push_back(i);
      });
  }

  /// False when too many buffers spill.
  bool run() {
    out_.reserve(order_.size());
    for (std::uint32_t i = 0; i < order_.size(); ++i) {
      const Instr& instr = block_.instrs[order_[i]];
      std::array<std::uint32_t, 5> names{};
      std::size_t count = 0;
      for_buffers(instr, [&](const Tile& t) { names[count++] = t.reg; });
      busy_.assign(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(count));
      for (const std::uint32_t b : busy_) ensure_placed(b, instr);
      if (result_.spills > most_spills_) return false;
      out_.push_back(instr);
      for_buffers(out_.back(), [&](Tile& t) { t.offset += where_[t.reg], t.reg = 0; });
      for (const std::uint32_t b : busy_) release_after(b, i);
    }
    return true;
  }

  Allocation take(VirtualBlock& block) {
    block.instrs = std::move(out_);
    block.registers = std::move(registers_);
    result_.sbuf_bytes = sbuf_.peak();
    result_.psum_bytes = psum_.peak();
    return result_;
  }

 private:
  static constexpr std::int64_t kNowhere = -1;

  const Buffer& buffer(std::uint32_t b) const { return block_.buffers[b - 1]; }
  FreeSpace& space(std::uint32_t b) { return buffer(b).space == isa::Space::kSbuf ? sbuf_ : psum_; }

  void ensure_placed(std::uint32_t b, const Instr& instr) {
    if (where_[b] != kNowhere) return;
    const bool stays = uses_[b].back() - uses_[b].front() > kStays;
    std::int64_t at = space(b).take(buffer(b).bytes, stays);
    while (at < 0) {
      spill_one(b, instr);
      at = space(b).take(buffer(b).bytes, stays);
    }
    where_[b] = at;
    live_.push_back(b);
    if (slot_[b] != kNowhere) out_.push_back(move(b, instr, false));
  }

  void release_after(std::uint32_t b, std::uint32_t i) {
    while (next_[b] < uses_[b].size() && uses_[b][next_[b]] <= i) ++next_[b];
    if (next_[b] < uses_[b].size() || where_[b] == kNowhere) return;
    free(b);
  }

  void free(std::uint32_t b) {
    space(b).give_back(where_[b]);
    where_[b] = kNowhere;
    live_.erase(std::ranges::find(live_, b));
  }

  /// Moves the buffer that is needed last to HBM.
  void spill_one(std::uint32_t wanted, const Instr& instr) {
    std::uint32_t victim = 0, latest = 0;
    for (const std::uint32_t b : live_) {
      if (buffer(b).space != buffer(wanted).space || std::ranges::find(busy_, b) != busy_.end()) continue;
      const std::uint32_t next = uses_[b][next_[b]];
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
    chip.partitions = static_cast<std::uint16_t>(buffer(b).parts);
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
  const std::uint8_t save_ring_;
  const std::span<const std::uint32_t> order_;
  const std::int64_t most_spills_;
  std::vector<ValueId> registers_;
  std::vector<std::vector<std::uint32_t>> uses_;  // of each buffer: instructions that name it
  std::vector<std::int64_t> where_, slot_;        // address; place in the spill area
  std::vector<std::size_t> next_;
  FreeSpace sbuf_, psum_;
  std::vector<std::uint32_t> live_, busy_;
  std::vector<Instr> out_;
  std::int64_t spill_register_ = -1;
  Allocation result_;
};

}  // namespace

Allocation allocate(VirtualBlock& block, const isa::Geometry& geometry, bool rotate) {
  std::vector<std::uint32_t> order(block.instrs.size());
  std::iota(order.begin(), order.end(), 0u);
  return *allocate(block, geometry, rotate, order, std::numeric_limits<std::int64_t>::max());
}

std::optional<Allocation> allocate(VirtualBlock& block, const isa::Geometry& geometry, bool rotate,
                                   std::span<const std::uint32_t> order, std::int64_t most_spills) {
  Allocator allocator{block, geometry, rotate, order, most_spills};
  if (!allocator.run()) return std::nullopt;
  return allocator.take(block);
}

}  // namespace runtime
