#include <algorithm>
#include <array>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "isa/asm.h"
#include "isa/check/breach.h"
#include "isa/names.h"

namespace isa::detail {
namespace {

using Counts = std::array<std::uint32_t, kSemaphores>;

/// Raises the semaphores that `instr` signals when it is done.
void raise(const Instr& instr, Counts& counts) {
  if (instr.signal) ++counts[static_cast<std::size_t>(instr.engine)];
  if (is_dma(instr.op)) ++counts[std::size_t{kFirstDmaSemaphore} + instr.queue];
  if (is_collective(instr.op)) ++counts[std::size_t{kFirstCcSemaphore} + instr.queue];
}

/// The first wait that `counts` does not fulfil yet.
const Wait* held_by(const Instr& instr, const Counts& counts) {
  for (int w = 0; w < instr.wait_count; ++w) {
    const Wait& wait = instr.waits[static_cast<std::size_t>(w)];
    if (counts[wait.sem] < wait.count) return &wait;
  }
  return nullptr;
}

/// The five instruction streams without time: each advances as far as its waits allow.
class Streams {
 public:
  explicit Streams(const Block& block) : block_{block} {
    for (std::size_t i = 0; i < block.instrs.size(); ++i)
      streams_[static_cast<std::size_t>(block.instrs[i].engine)].push_back(i);
    while (advance()) {
    }
  }

  /// The next instruction of engine `e`, or nullptr at its end.
  const Instr* stuck(std::size_t e) const {
    return next_[e] == streams_[e].size() ? nullptr : &block_.instrs[streams_[e][next_[e]]];
  }
  std::size_t position(std::size_t e) const { return streams_[e][next_[e]]; }
  const Counts& counts() const { return counts_; }

 private:
  bool advance() {
    bool moved = false;
    for (std::size_t e = 0; e < kEngineCount; ++e)
      for (const Instr* instr = stuck(e); instr && !held_by(*instr, counts_); instr = stuck(e)) {
        raise(*instr, counts_);
        ++next_[e];
        moved = true;
      }
    return moved;
  }

  const Block& block_;
  std::array<std::vector<std::size_t>, kEngineCount> streams_;
  std::array<std::size_t, kEngineCount> next_{};
  Counts counts_{};
};

/// One line per engine that is blocked.
std::string waiting_text(const Streams& streams, const Block& block) {
  std::string out;
  for (std::size_t e = 0; e < kEngineCount; ++e) {
    const Instr* instr = streams.stuck(e);
    if (!instr) continue;
    const Wait& wait = *held_by(*instr, streams.counts());
    out += fmt::format("\n  {} waits at #{} for {}>={} (it is {}): {}", name_of(static_cast<Engine>(e)),
                       streams.position(e), semaphore_name(wait.sem), wait.count, streams.counts()[wait.sem],
                       print(*instr, block));
  }
  return out;
}

/// Reports which of three mistakes keeps the wait at `index` from being fulfilled by earlier instructions.
[[noreturn]] void explain(const Block& block, std::string_view program, std::size_t index, const Wait& wait) {
  const std::string semaphore = semaphore_name(wait.sem);
  Counts all{};
  for (const Instr& instr : block.instrs) raise(instr, all);
  if (all[wait.sem] < wait.count)
    refuse({fmt::format("it waits for {}>={}, but the block raises {} only {}", semaphore, wait.count, semaphore,
                        base::counted(all[wait.sem], "time")),
            "lower the count, or let one more instruction signal"},
           program, block, index);
  const Streams streams{block};
  const std::string waiting = waiting_text(streams, block);
  if (!waiting.empty())
    refuse({fmt::format("the engines wait for each other:{}", waiting),
            "issue the instructions that the others wait for first"},
           program, block, index);
  refuse({fmt::format("it waits for {}>={}, which is only reached later in program order", semaphore, wait.count),
          "put each instruction of the block after all that it waits for"},
         program, block, index);
}

}  // namespace

void check_waits(const Block& block, std::string_view program) {
  // When every wait is fulfilled by earlier instructions in program order, no set of engines can wait in a circle.
  Counts counts{};
  for (std::size_t i = 0; i < block.instrs.size(); ++i) {
    const Instr& instr = block.instrs[i];
    if (const Wait* wait = held_by(instr, counts)) explain(block, program, i, *wait);
    raise(instr, counts);
  }
}

}  // namespace isa::detail
