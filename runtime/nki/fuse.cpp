// Loops that fill and read buffers are fused where PSUM does not hold the buffers otherwise: each buffer's readers
// follow its writers at once.
#include <algorithm>
#include <deque>
#include <utility>
#include <vector>

#include "isa/operands.h"
#include "runtime/compiler/dependences.h"
#include "runtime/nki/live.h"
#include "runtime/nki/passes.h"

namespace runtime::nki {
namespace {

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

}  // namespace

bool fuse(VirtualBlock& block, const isa::Geometry& geometry) {
  if (psum_peak(block, geometry) <= geometry.psum_partition_bytes) return false;
  block.instrs = Fuser{block}.run();
  return true;
}

}  // namespace runtime::nki
