#include "runtime/compiler/schedule.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <numeric>

#include "isa/operands.h"
#include "runtime/compiler/dependences.h"
#include "runtime/compiler/ready.h"

namespace runtime {
namespace {

using isa::Engine;
using isa::Space;

/// How far ahead of the oldest instruction that still waits a load may run, in instructions.
constexpr std::uint32_t kLoadsAhead = 6000;

/// Bytes that no memory on the chip has. Sizes end here, so that some of them fit in 32 bits: half the memory that the
/// scheduler reads at random.
constexpr std::int64_t kBeyond = std::int64_t{1} << 28;

/// Documented times in seconds: they decide an order, not a duration that is reported.
struct Duration {
  double occupy = 0, latency = 0;
  double transfer = 0;  // of a DMA, if it had all engines
};

Duration duration_of(const Instr& i, const isa::Target& target) {
  const isa::Cost cost = isa::cost_of(i, target);
  const double slowdown = isa::port_slowdown(i);
  Duration out{.occupy = target.seconds(cost.occupy * slowdown, i.engine),
               .latency = target.seconds(cost.latency + cost.occupy * (slowdown - 1), i.engine)};
  if (!isa::is_dma(i.op)) return out;
  const isa::DmaTiming& dma = target.timing.dma;
  const isa::DmaCost moved = isa::dma_cost(i, dma);
  out.latency = dma.start + moved.alone();
  out.transfer = std::max(moved.seconds / dma.engines, moved.shared);
  return out;
}

/// The block's need of a memory at each instruction, in the order as written; the largest over a range of as many
/// as one may run ahead in O(1).
class Profile {
 public:
  void set(const std::vector<std::int64_t>& values) {
    levels_.clear();
    levels_.emplace_back().reserve(values.size());
    for (const std::int64_t value : values) levels_[0].push_back(static_cast<std::int32_t>(std::min(value, kBeyond)));
    const std::size_t longest = std::min<std::size_t>(levels_[0].size(), kLoadsAhead + 1);
    for (std::size_t step = 1; 2 * step <= longest; step *= 2) {
      const std::vector<std::int32_t>& below = levels_.back();
      std::vector<std::int32_t> level(levels_[0].size() - 2 * step + 1);
      for (std::size_t i = 0; i < level.size(); ++i) level[i] = std::max(below[i], below[i + step]);
      levels_.push_back(std::move(level));
    }
  }
  std::int64_t most(std::uint32_t first, std::uint32_t last) const {
    const auto level = static_cast<std::size_t>(std::bit_width(last - first + 1u) - 1);
    return std::max(levels_[level][first], levels_[level][last + 1 - (1u << level)]);
  }

 private:
  std::vector<std::vector<std::int32_t>> levels_;
};

/// Facts that do not depend on the limit, by the number of the instruction or of the buffer (from 1).
struct Facts {
  /// Read for every instruction that waits for another one, so apart from its duration.
  struct Step {
    std::uint8_t engine = 0;
    bool dma = false;
  };
  std::vector<Step> steps;
  std::vector<Duration> durations;
  std::vector<std::uint32_t> missing;       // how many must come before
  Lists after;                              // instructions that wait for it
  const Lists buffers;                      // that it names
  std::vector<std::int64_t> size;           // of a buffer: bytes of SBUF, rounded up, or one bank
  std::vector<char> on_chip;                // in SBUF
  std::vector<std::uint32_t> first, users;  // the instruction whose turn it is to open it; how many name it
  Lists named_by;                           // the instructions that name a buffer
  std::vector<Need> needs;                  // of an instruction, when none of its buffers is open
  Profile sbuf_needed, psum_needed;

  Facts(const VirtualBlock& block, const isa::Target& target) : buffers{named_buffers(block)} {
    read_buffers(block, target);
    const Lists before = dependences(block);
    std::vector<std::uint32_t> next(before.size() + 1, 0);
    missing.reserve(before.size());
    for (std::size_t i = 0; i < before.size(); ++i) {
      missing.push_back(static_cast<std::uint32_t>(before[i].size()));
      for (const std::uint32_t p : before[i]) ++next[p + 1];
    }
    for (std::size_t i = 1; i < next.size(); ++i) next[i] += next[i - 1];
    after.begin = next;
    after.items.resize(next.back());
    for (std::uint32_t i = 0; i < before.size(); ++i)
      for (const std::uint32_t p : before[i]) after.items[next[p]++] = i;
    find_needs();
    make_profiles();
  }

 private:
  void find_needs() {
    std::vector<std::uint32_t> next(users.size() + 1, 0);
    std::partial_sum(users.begin(), users.end(), next.begin() + 1);
    named_by.begin = next;
    named_by.items.resize(next.back());
    needs.resize(steps.size());
    for (std::uint32_t i = 0; i < steps.size(); ++i)
      for (const std::uint32_t b : buffers[i]) {
        named_by.items[next[b]++] = i;
        needs[i].of(on_chip[b]) += static_cast<std::int32_t>(size[b]);
      }
  }

  void read_buffers(const VirtualBlock& block, const isa::Target& target) {
    size.push_back(0), on_chip.push_back(0);
    for (const Buffer& b : block.buffers) {
      on_chip.push_back(b.space == Space::kSbuf);
      size.push_back(on_chip.back() ? std::min((b.bytes + 63) / 64 * 64, kBeyond) : 1);
    }
    users.resize(size.size());
    steps.reserve(block.instrs.size()), durations.reserve(block.instrs.size());
    for (const Instr& instr : block.instrs) {
      steps.push_back({.engine = static_cast<std::uint8_t>(instr.engine), .dma = isa::is_dma(instr.op)});
      durations.push_back(duration_of(instr, target));
    }
    for (const std::uint32_t b : buffers.items) ++users[b];
  }

  void make_profiles() {
    first.assign(size.size(), 0);
    std::vector<std::uint32_t> last(size.size(), 0);
    for (auto i = static_cast<std::uint32_t>(steps.size()); i-- > 0;)
      for (const std::uint32_t b : buffers[i]) {
        first[b] = i;
        if (last[b] == 0) last[b] = i;
      }
    std::array<std::vector<std::int64_t>, 2> change{std::vector<std::int64_t>(steps.size() + 1),
                                                    std::vector<std::int64_t>(steps.size() + 1)};
    for (std::size_t b = 1; b < size.size(); ++b) {
      if (users[b] == 0) continue;
      change[static_cast<unsigned char>(on_chip[b])][first[b]] += size[b];
      change[static_cast<unsigned char>(on_chip[b])][last[b] + 1] -= size[b];
    }
    for (auto& c : change) {
      for (std::size_t i = 1; i < c.size(); ++i) c[i] += c[i - 1];
      c.resize(std::max<std::size_t>(steps.size(), 1));
    }
    sbuf_needed.set(change[1]);
    psum_needed.set(change[0]);
  }
};

/// Numbers that change, and the sum of those in a range (a Fenwick tree).
class Sums {
 public:
  explicit Sums(std::size_t count) : tree_(count + 1) {}
  void add(std::uint32_t i, std::int64_t value) {
    for (std::size_t k = std::size_t{i} + 1; k < tree_.size(); k += k & -k) tree_[k] += value;
  }
  /// The sum over [begin, end). Both walks end at their first common node.
  std::int64_t between(std::uint32_t begin, std::uint32_t end) const {
    std::int64_t out = 0;
    std::size_t first = begin, last = end;
    for (; last > first; last -= last & -last) out += tree_[last];
    for (; first > last; first -= first & -first) out -= tree_[first];
    return out;
  }

 private:
  std::vector<std::int64_t> tree_;
};

/// A memory: instructions that run ahead may use its space only if the others still get their space.
struct Budget {
  const Profile& needed;
  std::int64_t limit = 0;
  std::int64_t ahead = 0;        // opened before their turn
  std::int64_t refused = 0;      // to an earlier candidate of the same search: later ones leave no more room
  const Sums* closed = nullptr;  // when room is kept: space that instructions will open whose users have not run

  bool has_room(std::uint32_t oldest, std::uint32_t i, std::int64_t more) {
    if (more == 0) return true;
    if (more >= refused) return false;
    const std::int64_t used = needed.most(oldest, i) + ahead + more;
    if (used <= limit && (!closed || used + closed->between(oldest, i) <= limit)) return true;
    refused = more;
    return false;
  }
};

/// By engine: SyncE issues loads, and GpSimdE stores.
std::array<std::uint32_t, isa::kEngineCount> ahead_of(const ScheduleOptions& options) {
  std::array<std::uint32_t, isa::kEngineCount> out{};
  out.fill(std::min(options.ahead, kLoadsAhead));
  out[static_cast<std::size_t>(Engine::kSync)] = kLoadsAhead;
  out[static_cast<std::size_t>(Engine::kGpSimd)] = std::max(out[0], kAhead);
  return out;
}

class Scheduler {
 public:
  Scheduler(const Facts& facts, const isa::Target& target, std::int64_t sbuf_limit, const ScheduleOptions& options)
      : facts_{facts},
        missing_{facts.missing},
        users_{facts.users},
        needs_{facts.needs},
        ready_at_(facts.steps.size()),
        done_(facts.steps.size()),
        open_(facts.size.size()),
        early_(facts.size.size()),
        closed_{options.keep_room ? facts.steps.size() : 0},
        sbuf_{.needed = facts.sbuf_needed, .limit = sbuf_limit},
        psum_{.needed = facts.psum_needed, .limit = target.geometry.psum_banks()},
        dma_start_{target.timing.dma.start},
        ahead_{ahead_of(options)},
        wakes_{target.timing.semaphore, target.timing.dma.wake} {
    for (auto i = static_cast<std::uint32_t>(missing_.size()); i-- > 0;)
      if (missing_[i] == 0) make_ready(i);
    if (!options.keep_room) return;
    sbuf_.closed = &closed_;
    for (std::size_t b = 1; b < facts.size.size(); ++b)
      if (facts.on_chip[b] && facts.users[b] > 0) closed_.add(facts.first[b], facts.size[b]);
  }
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  std::uint32_t next() {
    const std::uint32_t chosen = choose();
    issue(chosen);
    return chosen;
  }

 private:
  void make_ready(std::uint32_t i) { ready_[facts_.steps[i].engine].insert(i, needs_[i]); }
  /// `b` is open: instructions that name it need that much less.
  void open(std::uint32_t b) {
    const bool on_chip = facts_.on_chip[b];
    open_[b] = 1;
    if (on_chip) closed_.add(facts_.first[b], -facts_.size[b]);
    for (const std::uint32_t n : facts_.named_by[b]) {
      const Need before = needs_[n];
      needs_[n].of(on_chip) -= static_cast<std::int32_t>(facts_.size[b]);
      if (missing_[n] == 0 && !done_[n]) ready_[facts_.steps[n].engine].change(n, before, needs_[n]);
    }
    if (facts_.first[b] > oldest_) early_[b] = 1, budget(b).ahead += facts_.size[b];
  }
  Budget& budget(std::uint32_t b) { return facts_.on_chip[b] ? sbuf_ : psum_; }
  void unmark_early(std::uint32_t b) {
    if (early_[b]) early_[b] = 0, budget(b).ahead -= facts_.size[b];
  }

  /// Whether `i` may run although older instructions wait: whether there is room for the buffers that it opens.
  bool may_run_ahead(std::uint32_t i) {
    return i == oldest_ || (sbuf_.has_room(oldest_, i, needs_[i].bytes) && psum_.has_room(oldest_, i, needs_[i].banks));
  }

  /// The instruction that can start first; of equal ones the oldest.
  std::uint32_t choose() {
    while (done_[oldest_]) {
      for (const std::uint32_t b : facts_.buffers[oldest_])
        if (facts_.first[b] == oldest_) unmark_early(b);
      ++oldest_;
    }
    Choice best{.instr = oldest_};
    for (std::size_t e = 0; e < isa::kEngineCount; ++e)
      if (free_[e] < best.start) look(e, best);  // otherwise nothing of this engine starts earlier
    return best.instr;
  }

  struct Choice {
    std::uint32_t instr = 0;
    double start = 1e300;
  };

  /// Among the first of an engine's ready instructions.
  void look(std::size_t e, Choice& best) {
    const std::uint32_t ahead = ahead_[e];
    const auto last = static_cast<std::uint32_t>(std::min<std::size_t>(missing_.size() - 1, oldest_ + ahead));
    sbuf_.refused = psum_.refused = std::numeric_limits<std::int64_t>::max();
    const auto open = [&](const Need& n) { return n.bytes < sbuf_.refused && n.banks < psum_.refused; };
    ready_[e].each(last, kLook, open, [&](std::uint32_t i) {
      const double start = std::max(free_[e], ready_at_[i]);
      if (start >= best.start || !may_run_ahead(i)) return true;
      best = {i, start};
      return ready_at_[i] > free_[e];  // otherwise nothing later of this engine starts earlier
    });
  }

  void issue(std::uint32_t i) {
    const auto [e, dma] = facts_.steps[i];
    const Duration& duration = facts_.durations[i];
    const double start = std::max(free_[e], ready_at_[i]);
    free_[e] = start + duration.occupy;
    double end = start + duration.latency;
    if (dma) {  // all rings share the engines
      dma_free_ = std::max(dma_free_, start) + duration.transfer;
      end = std::max(end, dma_free_ + dma_start_);
    }
    done_[i] = 1;
    ready_[e].erase(i, needs_[i]);
    for (const std::uint32_t b : facts_.buffers[i]) {
      if (!open_[b]) open(b);
      if (--users_[b] == 0) unmark_early(b);
    }
    const auto& after = facts_.after[i];
    for (auto it = after.rbegin(); it != after.rend(); ++it) {  // Numbers takes small ones behind large ones
      const std::uint32_t n = *it;
      ready_at_[n] = std::max(ready_at_[n], end + wakes_[facts_.steps[n].dma]);
      if (--missing_[n] == 0) make_ready(n);
    }
  }

  static constexpr std::size_t kLook = 64;  // candidates of one engine

  const Facts& facts_;
  std::vector<std::uint32_t> missing_;  // instructions that must still come before
  std::vector<std::uint32_t> users_;    // per buffer: instructions to come
  std::vector<Need> needs_;             // given the buffers that are open now
  std::vector<double> ready_at_;
  std::vector<char> done_, open_, early_;  // early: opened before its turn, and still open
  std::array<Ready, isa::kEngineCount> ready_;
  std::array<double, isa::kEngineCount> free_{};
  double dma_free_ = 0;
  Sums closed_;
  Budget sbuf_, psum_;
  const double dma_start_;
  const std::array<std::uint32_t, isa::kEngineCount> ahead_;
  const std::array<double, 2> wakes_;  // seconds from a semaphore to an instruction of an engine, to a DMA
  std::uint32_t oldest_ = 0;
};

}  // namespace

std::optional<Allocation> schedule(VirtualBlock& block, const isa::Target& target, const ScheduleOptions& options) {
  const Facts facts{block, target};
  for (const std::int64_t part : {23, 20, 17, 14}) {  // 24ths of SBUF
    Scheduler scheduler{facts, target, target.geometry.sbuf_partition_bytes * part / 24, options};
    const NextInstr next = [&scheduler] { return scheduler.next(); };
    if (auto found = allocate_without_spills(block, facts.buffers, target.geometry, options.rotate, next)) return found;
  }
  return std::nullopt;
}

}  // namespace runtime
