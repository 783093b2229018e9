// The critical path of a kernel: from its last instruction back, each time to the predecessor that it waited for
// longest.
#include <algorithm>
#include <array>
#include <vector>

#include "trnsim/nki/nki.h"

namespace trnsim {
namespace {

using hw::Fs;
using hw::TraceEvent;

/// When an instruction held its engine, and when its transfer moved.
struct Span {
  Fs begin = 0, end = 0, moved = 0, done = 0;
};

class Path {
 public:
  Path(const isa::Block& block, const hw::SimResult& result) : block_{block}, spans_(block.instrs.size()) {
    for (const TraceEvent& e : result.events) {
      Span& s = spans_[e.instr];
      if (e.track == TraceEvent::Track::kEngine)
        s.begin = e.begin, s.end = e.end, s.done = std::max(s.done, e.end);
      else
        s.moved = e.begin, s.done = std::max(s.done, e.end);
    }
    find_predecessors();
  }

  /// Seconds of each label on the path.
  std::vector<double> walk() const {
    std::vector<double> out(block_.labels.size(), 0.0);
    if (spans_.empty()) return out;
    auto at = static_cast<std::uint32_t>(std::ranges::max_element(spans_, {}, &Span::done) - spans_.begin());
    Fs until = spans_[at].done;
    while (true) {
      const std::uint32_t from = best(at);
      const Fs since = from == kNone ? spans_[at].begin : std::min(until, std::max(reached(from, at), Fs{0}));
      out[block_.instrs[at].label] += hw::seconds(until - std::min(since, until));
      if (from == kNone) return out;
      until = since, at = from;
    }
  }

 private:
  static constexpr std::uint32_t kNone = ~0U;

  void find_predecessors() {
    std::array<std::vector<std::uint32_t>, isa::kSemaphores> raised;
    std::array<std::uint32_t, isa::kEngineCount> last;
    std::array<std::uint32_t, isa::kDmaQueues> ring;
    last.fill(kNone), ring.fill(kNone);
    before_.resize(spans_.size());
    for (std::uint32_t i = 0; i < spans_.size(); ++i) {
      const isa::Instr& instr = block_.instrs[i];
      auto& engine = last[static_cast<std::size_t>(instr.engine)];
      if (engine != kNone) before_[i].push_back(engine);
      for (int w = 0; w < instr.wait_count; ++w) {
        const auto& all = raised[instr.waits[static_cast<std::size_t>(w)].sem];
        const std::uint32_t count = instr.waits[static_cast<std::size_t>(w)].count;
        if (count > 0 && count <= all.size()) before_[i].push_back(all[count - 1]);
      }
      engine = i;
      if (isa::is_dma(instr.op)) {
        if (ring[instr.queue] != kNone) before_[i].push_back(ring[instr.queue]);
        ring[instr.queue] = i;
        raised[static_cast<std::size_t>(isa::kFirstDmaSemaphore + instr.queue)].push_back(i);
      } else if (instr.signal) {
        raised[static_cast<std::size_t>(instr.engine)].push_back(i);
      }
    }
  }

  /// When `from` allowed `at` to start: as its predecessor on an engine, or by its result.
  Fs reached(std::uint32_t from, std::uint32_t at) const {
    const bool neighbour =
        block_.instrs[from].engine == block_.instrs[at].engine && isa::is_dma(block_.instrs[from].op);
    return neighbour && spans_[from].done > spans_[at].done ? spans_[from].end : spans_[from].done;
  }
  /// The predecessor that was there last, of those that were there before it ended.
  std::uint32_t best(std::uint32_t at) const {
    std::uint32_t out = kNone;
    Fs latest = 0;
    for (const std::uint32_t p : before_[at]) {
      Fs when = spans_[p].done;
      if (when > spans_[at].done ||
          (isa::is_dma(block_.instrs[p].op) && when > std::max(spans_[at].begin, spans_[at].moved)))
        when = spans_[p].end;
      if (when <= spans_[at].done && (out == kNone || when > latest) && p < at) out = p, latest = when;
    }
    return out;
  }

  const isa::Block& block_;
  std::vector<Span> spans_;
  std::vector<std::vector<std::uint32_t>> before_;
};

}  // namespace

std::vector<double> critical_lines(const isa::Block& block, const hw::SimResult& result) {
  return Path{block, result}.walk();
}

}  // namespace trnsim
