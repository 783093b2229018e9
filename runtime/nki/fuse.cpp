// Loops that fill and read buffers are fused where PSUM does not hold the buffers otherwise: each buffer's readers
// follow its writers at once.
#include <algorithm>
#include <deque>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "isa/operands.h"
#include "runtime/compiler/dependences.h"
#include "runtime/nki/live.h"
#include "runtime/nki/passes.h"

namespace runtime::nki {
namespace {

using isa::Opcode;
using isa::Space;

/// Bytes of PSUM that a buffer takes: matmuls write inside of a bank.
std::int64_t psum_bytes(const Buffer& buffer, const isa::Geometry& geometry) {
  const std::int64_t bank = geometry.psum_bank_bytes;
  return buffer.bytes > bank / 2 ? (buffer.bytes + bank - 1) / bank * bank : buffer.bytes;
}

/// The most of PSUM that the order needs at a time.
std::int64_t psum_peak(const VirtualBlock& block, const isa::Geometry& geometry) {
  std::vector<std::uint32_t> first(block.buffers.size() + 1, kNever), last(first.size(), 0);
  for (std::uint32_t i = 0; i < block.instrs.size(); ++i)
    for (const Tile* t :
         {&block.instrs[i].dst, &block.instrs[i].dst2, &block.instrs[i].a, &block.instrs[i].b, &block.instrs[i].c})
      if (t->space == Space::kPsum) first[t->reg] = std::min(first[t->reg], i), last[t->reg] = i;
  std::vector<std::int64_t> change(block.instrs.size() + 1);
  for (std::size_t b = 1; b < first.size(); ++b)
    if (first[b] != kNever) {
      const std::int64_t bytes = psum_bytes(block.buffers[b - 1], geometry);
      change[first[b]] += bytes, change[last[b] + 1] -= bytes;
    }
  std::int64_t now = 0, most = 0;
  for (const std::int64_t c : change) most = std::max(most, now += c);
  return most;
}

class Fuser {
 public:
  explicit Fuser(const VirtualBlock& block)
      : block_{block},
        before_{dependences(block)},
        done_(block.instrs.size(), false),
        users_(block.buffers.size() + 1) {
    for (std::uint32_t i = 0; i < block.instrs.size(); ++i)
      for (const Tile* t :
           {&block.instrs[i].dst, &block.instrs[i].dst2, &block.instrs[i].a, &block.instrs[i].b, &block.instrs[i].c})
        if (t->space == Space::kPsum && (users_[t->reg].empty() || users_[t->reg].back() != i))
          users_[t->reg].push_back(i);
  }

  std::vector<Instr> run() {
    for (std::uint32_t i = 0; i < block_.instrs.size(); ++i) {
      issue(i);
      while (!begun_.empty()) {
        const std::uint32_t buffer = begun_.front();
        begun_.pop_front();
        for (const std::uint32_t user : users_[buffer]) issue(user);
      }
    }
    return std::move(out_);
  }

 private:
  /// The instruction, after all that it must follow.
  void issue(std::uint32_t wanted) {
    if (done_[wanted]) return;
    open_.assign(1, {wanted, 0});
    while (!open_.empty()) {
      auto& [at, next] = open_.back();
      const auto before = before_[at];
      while (next < before.size() && done_[before[next]]) ++next;
      if (next < before.size()) {
        const std::uint32_t predecessor = before[next++];
        open_.emplace_back(predecessor, 0);
        continue;
      }
      const std::uint32_t ready = at;
      open_.pop_back();
      if (!done_[ready]) put(ready);
    }
  }

  void put(std::uint32_t i) {
    done_[i] = true;
    out_.push_back(block_.instrs[i]);
    for (const Tile* t : isa::writes(block_.instrs[i]))
      if (t->space == Space::kPsum && users_[t->reg].front() == i) begun_.push_back(t->reg);
  }

  const VirtualBlock& block_;
  const Lists before_;
  std::vector<bool> done_;
  std::vector<std::vector<std::uint32_t>> users_;  // of each buffer in PSUM, in program order
  std::vector<std::pair<std::uint32_t, std::size_t>> open_;
  std::deque<std::uint32_t> begun_;  // buffers that something has been written to
  std::vector<Instr> out_;
};

/// Loads come right before their first reader and stores right after their last writer, as far as dependences let them:
/// tiles that one loop fills and a later one empties are in SBUF for a short time.
class Closer {
 public:
  explicit Closer(const VirtualBlock& block) : block_{block}, before_{dependences(block)} {}

  std::vector<Instr> run() {
    const std::size_t n = block_.instrs.size();
    std::vector<std::uint32_t> left(n, 0);
    std::vector<std::vector<std::uint32_t>> after(n);
    for (std::uint32_t i = 0; i < n; ++i)
      for (const std::uint32_t p : before_[i]) after[p].push_back(i), ++left[i];
    const std::vector<std::uint64_t> place = places();
    using Ready = std::pair<std::uint64_t, std::uint32_t>;
    std::priority_queue<Ready, std::vector<Ready>, std::greater<>> ready;
    for (std::uint32_t i = 0; i < n; ++i)
      if (left[i] == 0) ready.emplace(place[i], i);
    std::vector<Instr> out;
    out.reserve(n);
    while (!ready.empty()) {
      const std::uint32_t i = ready.top().second;
      ready.pop();
      out.push_back(block_.instrs[i]);
      for (const std::uint32_t next : after[i])
        if (--left[next] == 0) ready.emplace(place[next], next);
    }
    return out;
  }

 private:
  /// Where each instruction wants to be; between two of the order there are places for fills and stores.
  std::vector<std::uint64_t> places() const {
    std::vector<std::uint64_t> out(block_.instrs.size());
    std::vector<std::uint32_t> wrote(block_.buffers.size() + 1, kNever);
    for (std::uint32_t i = 0; i < block_.instrs.size(); ++i) {
      const Instr& instr = block_.instrs[i];
      out[i] = kGap * (std::uint64_t{i} + 1);
      if (isa::is_dma(instr.op) && instr.dst.space == Space::kHbm && instr.a.space == Space::kSbuf &&
          wrote[instr.a.reg] != kNever)
        out[i] = kGap * (std::uint64_t{wrote[instr.a.reg]} + 1) + 1;
      for (const Tile* t : isa::writes(instr))
        if (t->space == Space::kSbuf) wrote[t->reg] = i;
    }
    std::vector<std::uint64_t> next(block_.buffers.size() + 1, 0);  // where the buffer is needed next; 0: nowhere
    for (auto i = static_cast<std::uint32_t>(block_.instrs.size()); i-- > 0;) {
      const Instr& instr = block_.instrs[i];
      const bool load = instr.op == Opcode::kDmaCopy && instr.a.space == Space::kHbm;
      const bool fills = (load || instr.op == Opcode::kMemset) && instr.dst.space == Space::kSbuf;
      if (fills && next[instr.dst.reg] != 0) out[i] = next[instr.dst.reg] - 1;
      for (const Tile* t : {&instr.dst, &instr.dst2, &instr.a, &instr.b, &instr.c})
        if (t->space == Space::kSbuf) next[t->reg] = out[i];
    }
    return out;
  }

  static constexpr std::uint64_t kGap = 64;
  const VirtualBlock& block_;
  const Lists before_;
};

}  // namespace

bool shorten(VirtualBlock& block, std::int64_t sbuf_bytes) {
  const Live live{block, std::vector<std::uint32_t>(block.buffers.size() + 1, 0)};
  if (peak(block, live).second <= sbuf_bytes) return false;
  block.instrs = Closer{block}.run();
  return true;
}

bool fuse(VirtualBlock& block, const isa::Geometry& geometry) {
  if (psum_peak(block, geometry) <= geometry.psum_partition_bytes) return false;
  block.instrs = Fuser{block}.run();
  return true;
}

}  // namespace runtime::nki
