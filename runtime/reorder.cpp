#include "runtime/reorder.h"

#include <algorithm>
#include <array>
#include <bit>
#include <queue>
#include <set>

#include "isa/operands.h"
#include "runtime/dependences.h"

namespace runtime {
namespace {

using isa::Engine;
using isa::Space;

/// How far ahead of the oldest instruction that still waits one may run, in instructions.
constexpr std::uint32_t kAhead = 600, kLoadsAhead = 6000;

/// Rough times in ns, from the documented rates: they decide an order, not a duration that is reported.
struct Duration {
  double occupy = 0, latency = 0;
};

Duration duration_of(const Instr& i) {
  if (isa::is_dma(i.op)) {
    constexpr double kStart = 1300, kBytesPerNs = 270;
    const double bytes = static_cast<double>(std::max(i.dst.bytes(), i.a.bytes()));
    return {46, kStart + bytes / kBytesPerNs};
  }
  constexpr std::array<double, isa::kEngineCount> kClock{2.8, 1.12, 1.4, 1.4, 1.4};  // GHz
  const double clock = kClock[static_cast<std::size_t>(i.engine)];
  double cols = static_cast<double>(std::max(i.a ? i.a.cols() : 1, i.dst ? i.dst.cols() : 1));
  if (i.op == Opcode::kMatMul) cols = static_cast<double>(i.b.cols()) * (i.b.dtype == Dtype::kFp32 ? 4 : 1);
  const double cycles = std::max(64.0, cols);
  constexpr double kFixed = 100;
  return {cycles / clock, (cycles + kFixed) / clock};
}

/// What the block needs of a memory at each instruction, in the order as written; the largest over a range in O(1).
class Profile {
 public:
  void set(std::vector<std::int64_t> values) {
    levels_.assign(1, std::move(values));
    for (std::size_t step = 1; 2 * step <= levels_[0].size(); step *= 2) {
      const std::vector<std::int64_t>& below = levels_.back();
      std::vector<std::int64_t> level(levels_[0].size() - 2 * step + 1);
      for (std::size_t i = 0; i < level.size(); ++i) level[i] = std::max(below[i], below[i + step]);
      levels_.push_back(std::move(level));
    }
  }
  std::int64_t most(std::uint32_t first, std::uint32_t last) const {
    const auto level = static_cast<std::size_t>(std::bit_width(last - first + 1u) - 1);
    return std::max(levels_[level][first], levels_[level][last + 1 - (1u << level)]);
  }

 private:
  std::vector<std::vector<std::int64_t>> levels_;
};

/// A memory whose space those who run ahead may use only as far as the others still get what they need.
struct Budget {
  std::int64_t limit = 0;
  std::int64_t ahead = 0;  // opened before their turn
  Profile needed;
};

class Scheduler {
 public:
  Scheduler(VirtualBlock& block, std::int64_t sbuf_limit)
      : block_{block}, before_{dependences(block)}, size_{block.instrs.size()} {
    after_.resize(size_);
    missing_.resize(size_);
    ready_at_.resize(size_);
    done_.resize(size_);
    users_.resize(block.buffers.size() + 1);
    open_.resize(block.buffers.size() + 1);
    early_.resize(block.buffers.size() + 1);
    for (std::uint32_t i = 0; i < size_; ++i) {
      missing_[i] = static_cast<std::uint32_t>(before_[i].size());
      for (const std::uint32_t p : before_[i]) after_[p].push_back(i);
      for_buffers(i, [&](std::uint32_t b) { ++users_[b]; });
    }
    make_profiles();
    sbuf_.limit = sbuf_limit;
    psum_.limit = isa::kPsumBanks;
    for (std::uint32_t i = 0; i < size_; ++i)
      if (missing_[i] == 0) make_ready(i);
  }

  std::size_t run() {
    std::vector<Instr> out;
    out.reserve(size_);
    std::size_t moved = 0;
    while (out.size() < size_) {
      const std::uint32_t i = choose();
      if (i != out.size()) ++moved;
      issue(i);
      out.push_back(block_.instrs[i]);
    }
    block_.instrs = std::move(out);
    return moved;
  }

 private:
  template <class F>
  void for_buffers(std::uint32_t i, const F& f) const {
    const Instr& instr = block_.instrs[i];
    std::array<std::uint32_t, 5> seen{};
    std::size_t count = 0;
    for (const Tile* t : {&instr.dst, &instr.dst2, &instr.a, &instr.b, &instr.c}) {
      if (t->space != Space::kSbuf && t->space != Space::kPsum) continue;
      if (std::find(seen.begin(), seen.begin() + static_cast<std::ptrdiff_t>(count), t->reg) !=
          seen.begin() + static_cast<std::ptrdiff_t>(count))
        continue;
      seen[count++] = t->reg;
      f(t->reg);
    }
  }

  static std::size_t engine_of(const Instr& i) { return static_cast<std::size_t>(i.engine); }

  void make_ready(std::uint32_t i) { ready_[engine_of(block_.instrs[i])].insert(i); }

  bool is_load(std::uint32_t i) const { return block_.instrs[i].engine == Engine::kSync; }

  /// Whether `i` may run although older instructions wait: near enough, and with room for what it opens.
  bool may_run_ahead(std::uint32_t i) const {
    if (i == oldest_) return true;
    if (i - oldest_ > (is_load(i) ? kLoadsAhead : kAhead)) return false;
    std::int64_t bytes = 0, banks = 0;
    for_buffers(i, [&](std::uint32_t b) {
      if (!open_[b]) (on_chip(b) ? bytes : banks) += size_of(b);
    });
    const auto room = [&](const Budget& budget, std::int64_t more) {
      return more == 0 || budget.needed.most(oldest_, i) + budget.ahead + more <= budget.limit;
    };
    return room(sbuf_, bytes) && room(psum_, banks);
  }

  bool on_chip(std::uint32_t b) const { return block_.buffers[b - 1].space == Space::kSbuf; }
  /// Bytes of SBUF with what rounding up costs, or one bank.
  std::int64_t size_of(std::uint32_t b) const { return on_chip(b) ? (block_.buffers[b - 1].bytes + 63) / 64 * 64 : 1; }
  Budget& budget(std::uint32_t b) { return on_chip(b) ? sbuf_ : psum_; }

  void make_profiles() {
    first_.assign(block_.buffers.size() + 1, 0);
    std::vector<std::uint32_t> last(block_.buffers.size() + 1, 0);
    std::vector<char> seen(block_.buffers.size() + 1, 0);
    for (std::uint32_t i = 0; i < size_; ++i)
      for_buffers(i, [&](std::uint32_t b) {
        if (!seen[b]) seen[b] = 1, first_[b] = i;
        last[b] = i;
      });
    std::array<std::vector<std::int64_t>, 2> change{std::vector<std::int64_t>(size_ + 1),
                                                    std::vector<std::int64_t>(size_ + 1)};
    for (std::uint32_t b = 1; b <= block_.buffers.size(); ++b) {
      if (!seen[b]) continue;
      change[on_chip(b)][first_[b]] += size_of(b);
      change[on_chip(b)][last[b] + 1] -= size_of(b);
    }
    for (auto& c : change) {
      for (std::size_t i = 1; i < c.size(); ++i) c[i] += c[i - 1];
      c.resize(std::max<std::size_t>(size_, 1));
    }
    sbuf_.needed.set(std::move(change[1]));
    psum_.needed.set(std::move(change[0]));
    opens_.resize(size_);
    for (std::uint32_t b = 1; b <= block_.buffers.size(); ++b)
      if (seen[b]) opens_[first_[b]].push_back(b);
  }

  /// The instruction that can start first; of equal ones the oldest.
  std::uint32_t choose() {
    while (done_[oldest_]) {
      for (const std::uint32_t b : opens_[oldest_])
        if (early_[b]) early_[b] = 0, budget(b).ahead -= size_of(b);
      ++oldest_;
    }
    std::uint32_t best = oldest_;
    double best_start = 1e300;
    for (std::size_t e = 0; e < isa::kEngineCount; ++e) {
      std::uint32_t looked = 0;
      for (const std::uint32_t i : ready_[e]) {
        if (i - oldest_ > kLoadsAhead || ++looked > kLook) break;
        if (!may_run_ahead(i)) continue;
        const double start = std::max(free_[e], ready_at_[i]);
        if (start < best_start) best = i, best_start = start;
        if (ready_at_[i] <= free_[e]) break;  // nothing later of this engine starts earlier
      }
    }
    return best;
  }

  void issue(std::uint32_t i) {
    const Instr& instr = block_.instrs[i];
    const std::size_t e = engine_of(instr);
    const Duration d = duration_of(instr);
    const double start = std::max(free_[e], ready_at_[i]);
    free_[e] = start + d.occupy;
    double end = start + d.latency;
    if (isa::is_dma(instr.op)) {  // all rings share the engines
      dma_free_ = std::max(dma_free_, start) + d.latency - 1300;
      end = std::max(end, dma_free_ + 1300);
    }
    done_[i] = 1;
    ready_[e].erase(i);
    for_buffers(i, [&](std::uint32_t b) {
      if (!open_[b]) {
        open_[b] = 1;
        if (first_[b] > oldest_) early_[b] = 1, budget(b).ahead += size_of(b);
      }
      if (--users_[b] == 0 && early_[b]) early_[b] = 0, budget(b).ahead -= size_of(b);
    });
    for (const std::uint32_t n : after_[i]) {
      ready_at_[n] = std::max(ready_at_[n], end);
      if (--missing_[n] == 0) make_ready(n);
    }
  }

  static constexpr std::uint32_t kLook = 64;  // candidates of one engine

  VirtualBlock& block_;
  const std::vector<std::vector<std::uint32_t>> before_;
  const std::size_t size_;
  std::vector<std::vector<std::uint32_t>> after_;
  std::vector<std::uint32_t> missing_;  // instructions that must still come before
  std::vector<double> ready_at_;
  std::vector<char> done_, open_, early_;  // early: opened before its turn, and still open
  std::vector<std::uint32_t> first_;       // of each buffer, the instruction whose turn it is to open it
  std::vector<std::vector<std::uint32_t>> opens_;
  std::vector<std::uint32_t> users_;  // of each buffer: instructions to come
  std::array<std::set<std::uint32_t>, isa::kEngineCount> ready_;
  std::array<double, isa::kEngineCount> free_{};
  double dma_free_ = 0;
  Budget sbuf_, psum_;
  std::uint32_t oldest_ = 0;
};

}  // namespace

std::size_t reorder(VirtualBlock& block, std::int64_t sbuf_limit) { return Scheduler{block, sbuf_limit}.run(); }

}  // namespace runtime
