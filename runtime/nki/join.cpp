// The iterations of an affine loop become one instruction with one more axis, where each of its operands moves by a
// constant and none of them needs another one's result.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <set>
#include <vector>

#include "isa/operands.h"
#include "runtime/nki/passes.h"

namespace runtime::nki {
namespace {

using isa::Opcode;
using isa::Space;

constexpr std::uint32_t kLongestBody = 16;  // instructions
// Elements of a partition that a joined instruction may have: those of one PSUM bank of fp32. Fitted on the conv1d
// kernels of autocomp: loops of 64 x 3 elements are joined there, loops of 512 x 3 and 2048 x 3 are not.
constexpr std::int64_t kMostElements = isa::kMovingColumns;

/// Whether the instruction works place by place, or along its innermost axes alone.
bool joinable(const Instr& instr) {
  switch (instr.op) {
    case Opcode::kTensorTensor:
    case Opcode::kTensorScalar:
    case Opcode::kTensorReduce:
    case Opcode::kTensorCopy:
    case Opcode::kReciprocal:
    case Opcode::kMemset: return !instr.accumulate;
    case Opcode::kActivation: return isa::command_of(instr) == isa::Registers::kIdle;
    default: return false;
  }
}

/// An operand that is one number for each partition, whatever the others' sizes.
bool per_partition(const Instr& instr, const Tile& tile) {
  return (instr.op == Opcode::kTensorScalar || instr.op == Opcode::kActivation) &&
         (&tile == &instr.b || &tile == &instr.c);
}

/// Bytes of a partition from the first to the last element.
std::int64_t extent(const Tile& t) {
  std::int64_t elements = 1;
  for (int d = 0; d < t.rank; ++d) {
    const isa::Dim& dim = t.free[static_cast<std::size_t>(d)];
    elements += std::int64_t{dim.step} * (std::int64_t{dim.size} - 1);
  }
  return elements * isa::size_of(t.dtype);
}

/// How one operand moves from an iteration to the next: within a buffer, or to another one of the same kind.
struct Move {
  bool own = false;        // each iteration has a buffer of its own
  std::int64_t bytes = 0;  // within one buffer
};

class Joiner {
 public:
  Joiner(VirtualBlock& block, const std::vector<LoopTrace>& loops) : block_{block}, loops_{loops} {
    uses_.resize(block.buffers.size() + 1, {~0U, 0});
    for (std::uint32_t i = 0; i < block.instrs.size(); ++i)
      for_tiles(block.instrs[i],
                [&](const Tile& t) { uses_[t.reg].first = std::min(uses_[t.reg].first, i), uses_[t.reg].second = i; });
  }

  std::size_t run() {
    std::vector<bool> gone(block_.instrs.size(), false);
    std::size_t count = 0;
    for (const LoopTrace& loop : loops_) {
      if (!fits(loop)) continue;
      std::vector<Instr> joined;
      if (!join(loop, joined)) continue;
      const std::uint32_t body = static_cast<std::uint32_t>(joined.size());
      std::ranges::move(joined, block_.instrs.begin() + loop.starts.front());
      for (std::uint32_t i = loop.starts.front() + body; i < loop.end; ++i) gone[i] = true;
      count += loop.end - loop.starts.front() - body;
    }
    if (count == 0) return 0;
    std::vector<Instr> left;
    left.reserve(block_.instrs.size() - count);
    for (std::size_t i = 0; i < block_.instrs.size(); ++i)
      if (!gone[i]) left.push_back(block_.instrs[i]);
    block_.instrs = std::move(left);
    return count;
  }

 private:
  template <class Body>
  static void for_tiles(const Instr& instr, const Body& body) {
    for (const Tile* t : {&instr.dst, &instr.dst2, &instr.a, &instr.b, &instr.c})
      if (t->space == Space::kSbuf || t->space == Space::kPsum) body(*t);
  }

  /// Whether all iterations have as many instructions, and few elements.
  bool fits(const LoopTrace& loop) const {
    const auto trips = static_cast<std::uint32_t>(loop.starts.size());
    if (loop.outer || trips < 2 || loop.end <= loop.starts.front()) return false;
    const std::uint32_t body = loop.starts[1] - loop.starts[0];
    if (body == 0 || body > kLongestBody || loop.end - loop.starts.front() != trips * body) return false;
    for (std::uint32_t t = 0; t < trips; ++t)
      if (loop.starts[t] != loop.starts.front() + t * body) return false;
    for (std::uint32_t k = 0; k < body; ++k) {
      const Instr& instr = block_.instrs[loop.starts.front() + k];
      if (!joinable(instr) || !instr.dst) return false;
      for (const Tile* t : {&instr.dst, &instr.a, &instr.b, &instr.c})
        if (*t && t->cols() * trips > kMostElements && !per_partition(instr, *t)) return false;
    }
    return true;
  }

  /// How an operand moves over the iterations; nothing when not by a constant.
  std::optional<Move> move_of(const LoopTrace& loop, std::uint32_t k, const Tile Instr::*which) const {
    const std::uint32_t body = loop.starts[1] - loop.starts[0], at = loop.starts.front() + k;
    const Tile& first = block_.instrs[at].*which;
    Move move{.own = (block_.instrs[at + body].*which).reg != first.reg,
              .bytes = (block_.instrs[at + body].*which).offset - first.offset};
    std::set<std::uint32_t> seen;
    for (std::uint32_t t = 0; t < loop.starts.size(); ++t) {
      Tile tile = block_.instrs[at + t * body].*which;
      if (move.own ? (tile.offset != first.offset || !seen.insert(tile.reg).second || !inside(loop, t, tile.reg))
                   : (tile.reg != first.reg || tile.offset != first.offset + t * move.bytes))
        return std::nullopt;
      if (move.own && block_.buffers[tile.reg - 1].bytes != block_.buffers[first.reg - 1].bytes) return std::nullopt;
      tile.offset = first.offset, tile.reg = first.reg;
      if (!(tile == first)) return std::nullopt;
    }
    return move;
  }

  /// Whether the buffer is used in that iteration alone.
  bool inside(const LoopTrace& loop, std::uint32_t t, std::uint32_t reg) const {
    const std::uint32_t body = loop.starts[1] - loop.starts[0];
    return uses_[reg].first >= loop.starts[t] && uses_[reg].second < loop.starts[t] + body;
  }

  bool same_settings(const LoopTrace& loop, std::uint32_t k) const {
    const std::uint32_t body = loop.starts[1] - loop.starts[0];
    Instr first = block_.instrs[loop.starts.front() + k];
    for (std::uint32_t t = 1; t < loop.starts.size(); ++t) {
      Instr other = block_.instrs[loop.starts[t] + k];
      other.dst = first.dst, other.dst2 = first.dst2, other.a = first.a, other.b = first.b, other.c = first.c;
      other.engine = first.engine;  // of those that can
      if (!(other == first)) return false;
    }
    return body > 0;
  }

  bool join(const LoopTrace& loop, std::vector<Instr>& out) {
    const std::uint32_t body = loop.starts[1] - loop.starts[0];
    const auto trips = static_cast<std::uint32_t>(loop.starts.size());
    std::vector<std::vector<Move>> moves(body);
    for (std::uint32_t k = 0; k < body; ++k) {
      if (!same_settings(loop, k)) return false;
      for (const auto which : kOperands) {
        const Tile& tile = block_.instrs[loop.starts.front() + k].*which;
        const auto move = tile ? move_of(loop, k, which) : Move{};
        if (!move || (tile && tile.rank == static_cast<int>(tile.free.size()) && trips > 1)) return false;
        const Instr& instr = block_.instrs[loop.starts.front() + k];
        if (tile && per_partition(instr, tile) && (move->own || move->bytes != 0)) return false;
        moves[k].push_back(*move);
      }
    }
    if (!independent(loop, moves)) return false;
    out = widened(loop, moves, trips);
    return true;
  }

  /// Whether no iteration reads or overwrites what another one writes.
  bool independent(const LoopTrace& loop, const std::vector<std::vector<Move>>& moves) const {
    const std::uint32_t first = loop.starts.front();
    const auto trips = static_cast<std::int64_t>(loop.starts.size());
    for (std::uint32_t k = 0; k < moves.size(); ++k) {
      const Tile& written = block_.instrs[first + k].dst;
      const Move& move = moves[k][0];
      if (move.own) continue;
      if (std::abs(move.bytes) < extent(written)) return false;
      const std::int64_t low = written.offset + std::min<std::int64_t>(0, move.bytes * (trips - 1));
      const std::int64_t high = written.offset + std::max<std::int64_t>(0, move.bytes * (trips - 1)) + extent(written);
      for (std::uint32_t j = 0; j < moves.size(); ++j)
        for (std::size_t o = 0; o < kOperands.size(); ++o) {
          const Tile& other = block_.instrs[first + j].*kOperands[o];
          if (!other || (j == k && o == 0) || other.space != written.space || other.reg != written.reg) continue;
          const Move& its = moves[j][o];
          // In step with the results: each iteration touches its own part alone.
          if (its.bytes == move.bytes && other.offset >= written.offset &&
              other.offset + extent(other) <= written.offset + std::abs(move.bytes))
            continue;
          const std::int64_t from = other.offset + std::min<std::int64_t>(0, its.bytes * (trips - 1));
          const std::int64_t to = other.offset + std::max<std::int64_t>(0, its.bytes * (trips - 1)) + extent(other);
          if (from < high && low < to) return false;
        }
    }
    return true;
  }

  std::vector<Instr> widened(const LoopTrace& loop, const std::vector<std::vector<Move>>& moves, std::uint32_t trips) {
    std::vector<Instr> out;
    std::vector<std::uint32_t> wide(block_.buffers.size() + 1, 0);
    for (std::uint32_t k = 0; k < moves.size(); ++k) {
      Instr instr = block_.instrs[loop.starts.front() + k];
      for (std::size_t o = 0; o < kOperands.size(); ++o) {
        Tile& tile = instr.*kOperands[o];
        if (!tile || per_partition(instr, tile)) continue;
        std::int64_t bytes = moves[k][o].bytes;
        if (moves[k][o].own) {
          Buffer buffer = block_.buffers[tile.reg - 1];
          bytes = buffer.bytes, buffer.bytes *= trips;
          if (wide[tile.reg] == 0) wide[tile.reg] = block_.add(buffer);
          tile.reg = wide[tile.reg];
        }
        std::ranges::copy_backward(tile.free.begin(), tile.free.begin() + tile.rank, tile.free.begin() + tile.rank + 1);
        tile.free[0] = {.step = static_cast<std::int32_t>(bytes / isa::size_of(tile.dtype)), .size = trips};
        ++tile.rank;
        if (tile.free[static_cast<std::size_t>(tile.rank - 1)].size == 1 && tile.rank > 1) --tile.rank;
      }
      out.push_back(instr);
    }
    return out;
  }

  static constexpr std::array kOperands{&Instr::dst, &Instr::a, &Instr::b, &Instr::c};

  VirtualBlock& block_;
  const std::vector<LoopTrace>& loops_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> uses_;  // of each buffer: the first and the last
};

}  // namespace

std::size_t join(VirtualBlock& block, const std::vector<LoopTrace>& loops) { return Joiner{block, loops}.run(); }

}  // namespace runtime::nki
