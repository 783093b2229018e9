#include "runtime/compiler/spill.h"

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "isa/operands.h"
#include "runtime/compiler/allocate.h"
#include "runtime/compiler/engine_books.h"

namespace runtime {
namespace {

using isa::Space;

constexpr std::int64_t kNoSlot = -1;

class Spiller {
 public:
  Spiller(VirtualBlock& block, const isa::Target& target, std::int64_t sbuf_bytes)
      : block_{block},
        room_{sbuf_bytes},
        named_{named_buffers(block)},
        books_{target, kNkiPolicy},
        uses_(block.buffers.size() + 1),
        states_(block.buffers.size() + 1) {
    for (std::uint32_t i = 0; i < named_.size(); ++i)
      for (const std::uint32_t b : named_[i]) uses_[b].push_back(i);
    for (std::uint32_t b = 1; b < states_.size(); ++b) states_[b].name = b;
  }

  Spills run() {
    std::vector<Instr> all = std::move(block_.instrs);
    out_.reserve(all.size());
    for (std::uint32_t i = 0; i < all.size(); ++i) {
      busy_ = named_[i];
      for (const std::uint32_t b : busy_)
        if (in_sbuf(b)) hold(b, all[i].label);
      for (const isa::Tile* t : isa::writes(all[i]))
        if (t->space == Space::kSbuf) states_[t->reg].saved = false;
      out_.push_back(renamed(all[i]));
      for (const std::uint32_t b : busy_)
        if (++states_[b].done == uses_[b].size() && in_sbuf(b)) release(b);
    }
    block_.instrs = std::move(out_);
    return result_;
  }

 private:
  struct State {
    std::uint32_t name = 0;       // the buffer that has it now
    std::size_t done = 0;         // uses so far
    std::int64_t slot = kNoSlot;  // its place in the spill area
    bool held = false;            // has room in SBUF
    bool saved = false;           // the spill area has what it holds
  };

  bool in_sbuf(std::uint32_t b) const { return block_.buffers[b - 1].space == Space::kSbuf; }
  std::int64_t size(std::uint32_t b) const { return (block_.buffers[b - 1].bytes + kGrain - 1) / kGrain * kGrain; }

  void hold(std::uint32_t b, std::uint32_t label) {
    State& state = states_[b];
    if (state.held) return;
    while (room_ < size(b) && make_room(label)) {
    }
    room_ -= size(b), state.held = true;
    held_.push_back(b);
    if (state.slot == kNoSlot) return;
    state.name = block_.add(block_.buffers[b - 1]);
    out_.push_back(books_.load(move(b, label, false)));
    state.saved = true;
  }

  void release(std::uint32_t b) {
    room_ += size(b), states_[b].held = false;
    held_.erase(std::ranges::find(held_, b));
  }

  /// Gives up the room of the buffer that is needed last. False when there is none: an instruction needs them all.
  bool make_room(std::uint32_t label) {
    std::uint32_t victim = 0, latest = 0;
    for (const std::uint32_t b : held_) {
      if (std::ranges::find(busy_, b) != busy_.end()) continue;
      const std::uint32_t next = uses_[b][states_[b].done];
      if (next >= latest) victim = b, latest = next;
    }
    if (victim == 0) return false;
    State& state = states_[victim];
    if (state.slot == kNoSlot) {
      state.slot = result_.bytes;
      result_.bytes += size(victim) * block_.buffers[victim - 1].parts;
    }
    if (!state.saved) {
      out_.push_back(books_.store(move(victim, label, true)));
      ++result_.saves;
    }
    release(victim);
    return true;
  }

  /// The whole buffer to its slot in HBM, or back.
  Instr move(std::uint32_t b, std::uint32_t label, bool save) {
    if (!register_) {
      register_ = static_cast<std::uint32_t>(block_.registers.size());
      block_.registers.push_back(kSpillArea);
    }
    const Buffer& buffer = block_.buffers[b - 1];
    isa::Tile chip{};
    chip.space = Space::kSbuf, chip.dtype = isa::Dtype::kUint8, chip.reg = states_[b].name;
    chip.partitions = static_cast<std::int32_t>(buffer.parts);
    chip.free[0] = {.step = 1, .size = static_cast<std::uint32_t>(buffer.bytes)};
    isa::Tile hbm = chip;
    hbm.space = Space::kHbm, hbm.reg = *register_, hbm.offset = states_[b].slot, hbm.pstep = size(b);
    return {.op = Opcode::kDmaCopy, .label = label, .dst = save ? hbm : chip, .a = save ? chip : hbm};
  }

  Instr renamed(Instr instr) const {
    for (isa::Tile* t : {&instr.dst, &instr.dst2, &instr.a, &instr.b, &instr.c})
      if (t->space == Space::kSbuf) t->reg = states_[t->reg].name;
    return instr;
  }

  VirtualBlock& block_;
  std::int64_t room_;
  const Lists named_;
  EngineBooks books_;                             // of the rings
  std::vector<std::vector<std::uint32_t>> uses_;  // of a buffer, in order
  std::vector<State> states_;
  std::vector<std::uint32_t> held_;
  std::span<const std::uint32_t> busy_;  // buffers that the instruction names
  std::vector<Instr> out_;
  std::optional<std::uint32_t> register_;  // of the spill area
  Spills result_;
};

}  // namespace

Spills spill(VirtualBlock& block, const isa::Target& target, std::int64_t sbuf_bytes) {
  return Spiller{block, target, sbuf_bytes}.run();
}

}  // namespace runtime
