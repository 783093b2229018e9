#include "hw/memory/race_check.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "isa/asm.h"
#include "isa/operands.h"

namespace hw {
namespace {

using Writer = Shadow::Writer;
using Bases = std::span<const std::uint64_t>;

std::uint8_t lane_of(const isa::Instr& instr) {
  if (isa::is_dma(instr.op)) return static_cast<std::uint8_t>(isa::kFirstDmaSemaphore + instr.queue);
  if (isa::is_collective(instr.op)) return static_cast<std::uint8_t>(isa::kFirstCcSemaphore + instr.queue);
  return static_cast<std::uint8_t>(instr.engine);
}

/// Whether the instruction adds to `tile` or overwrites only a part of it.
bool rewrites(const isa::Tile* tile, const isa::Instr& instr) { return tile == &instr.dst; }

/// Order-dependent, cheap, and good enough that two histories never meet by chance in practice.
struct Checksum {
  std::uint64_t sum = 0;
  std::uint64_t place = 0x9E37'79B9'7F4A'7C15u;

  void add(Writer writer) {
    sum += (writer + 1) * place;
    place += 0xD1B5'4A32'D192'ED03u * 2;
  }
};

template <typename Normal>
Checksum read(Shadow& shadow, const isa::Tile& tile, Bases bases, Checksum sum, Normal normal) {
  shadow.visit(tile, bases, [&](const Writer* run, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) sum.add(normal(run[i]));
  });
  return sum;
}

bool writes_to(const isa::Instr& instr, const isa::Tile& tile, Bases bases) {
  return may_overlap(tile, instr.dst, bases) || may_overlap(tile, instr.dst2, bases);
}

/// The two checksums of `instr` in the shadow's present state. An engine and a ring accumulate in order, so an addition
/// that an earlier one of `lane` still has in flight counts as written for an addition to the same place.
Expected::Reads checksums(Shadow& shadow, const isa::Instr& instr, Bases bases, const Expected& expected,
                          std::uint8_t lane) {
  Checksum begin, end;
  const auto same = [](Writer w) { return w; };
  const auto in_order = [&](Writer w) {
    const Writer id = w & ~Shadow::kInFlight;
    return id != w && expected.lane[id] == lane ? id : w;
  };
  for (const isa::Tile* tile : isa::reads(instr)) {
    begin =
        rewrites(tile, instr) ? read(shadow, *tile, bases, begin, in_order) : read(shadow, *tile, bases, begin, same);
    if (!writes_to(instr, *tile, bases)) end = read(shadow, *tile, bases, end, same);
  }
  return {begin.sum, end.sum};
}

/// Whether the operands of `instr` were overwritten by later ones of its lane alone. An engine streams its operands
/// through one pipeline, and a ring moves its transfers one after the other: the next one's first result comes behind
/// the last operand of this one, although it begins before this one has retired. Compilers rely on it and set no wait.
bool overwritten_in_order(Shadow& shadow, const isa::Instr& instr, Bases bases, const Expected& expected,
                          std::uint8_t lane, Writer writer) {
  bool in_order = true;
  for (const isa::Tile* tile : isa::reads(instr)) {
    if (writes_to(instr, *tile, bases)) continue;
    shadow.visit(*tile, bases, [&](const Writer* run, std::size_t n) {
      for (std::size_t i = 0; i < n; ++i) {
        const Writer id = run[i] & ~Shadow::kInFlight;
        in_order = in_order && (id < writer || expected.lane[id] == lane);
      }
    });
  }
  return in_order;
}

void mark(Shadow& shadow, const isa::Instr& instr, Bases bases, Writer writer) {
  for (const isa::Tile* tile : isa::writes(instr))
    shadow.visit(*tile, bases, [&](Writer* run, std::size_t n) { std::fill_n(run, n, writer); });
}

void require_written(Shadow& shadow, const isa::Program& program, const isa::Call& call, std::uint32_t index) {
  const isa::Block& block = program.blocks[call.block];
  const isa::Instr& instr = block.instrs[index];
  for (const isa::Tile* tile : isa::reads(instr)) {
    if (tile->space == isa::Space::kHbm || (rewrites(tile, instr) && !instr.accumulate)) continue;
    bool written = true;
    shadow.visit(*tile, call.bases, [&](const Writer* run, std::size_t n) {
      written = written && std::find(run, run + n, Writer{0}) == run + n;
    });
    if (!written)
      throw base::Error{base::Fault::kProgram, fmt::format("{} #{}: {}", block.name, index, isa::print(instr, block)),
                        fmt::format("reads bytes of {} that nothing has written", isa::print(*tile)),
                        "write the tile before it is read"};
  }
}

}  // namespace

Expected expect(const isa::Program& program) {
  Expected expected{
      .granule = shadow_granule(program), .hbm_bytes = program.hbm_bytes, .first = {}, .reads = {{}}, .lane = {0}};
  Shadow shadow{expected.granule, expected.hbm_bytes};
  for (const isa::Call& call : program.calls) {
    const isa::Block& block = program.blocks[call.block];
    expected.first.push_back(static_cast<std::uint32_t>(expected.reads.size()));
    for (std::uint32_t i = 0; i < block.instrs.size(); ++i) {
      const isa::Instr& instr = block.instrs[i];
      require_written(shadow, program, call, i);
      const auto writer = static_cast<Writer>(expected.reads.size());
      base::ensure(writer < Shadow::kInFlight, "race check", "the program has too many instructions");
      expected.reads.push_back(checksums(shadow, instr, call.bases, expected, lane_of(instr)));
      expected.lane.push_back(lane_of(instr));
      mark(shadow, instr, call.bases, writer);
    }
  }
  return expected;
}

RaceCheck::RaceCheck(const isa::Program& program, std::shared_ptr<const Expected> expected, std::uint32_t rank)
    : program_{program},
      expected_{std::move(expected)},
      rank_{rank},
      shadow_{expected_->granule, expected_->hbm_bytes} {}

void RaceCheck::begins(std::uint32_t call, std::uint32_t index) {
  const isa::Call& where = program_.calls[call];
  const isa::Instr& instr = program_.blocks[where.block].instrs[index];
  const Writer writer = expected_->first[call] + index;
  const auto found = checksums(shadow_, instr, where.bases, *expected_, lane_of(instr));
  if (found.at_begin != expected_->reads[writer].at_begin)
    report(call, index,
           "begins to read bytes that an earlier instruction has not written yet, or that a later one has already "
           "written");
  mark(shadow_, instr, where.bases, writer | Shadow::kInFlight);
}

void RaceCheck::retires(std::uint32_t call, std::uint32_t index) {
  const isa::Call& where = program_.calls[call];
  const isa::Instr& instr = program_.blocks[where.block].instrs[index];
  const std::uint8_t lane = lane_of(instr);
  const Writer writer = expected_->first[call] + index;
  const auto found = checksums(shadow_, instr, where.bases, *expected_, lane);
  if (found.at_end != expected_->reads[writer].at_end &&
      !overwritten_in_order(shadow_, instr, where.bases, *expected_, lane, writer))
    report(call, index, "read bytes that were overwritten before it had read them");
  bool kept = true;
  for (const isa::Tile* tile : isa::writes(instr)) {
    shadow_.visit(*tile, where.bases, [&](Writer* run, std::size_t n) {
      for (std::size_t i = 0; i < n; ++i) {
        const Writer id = run[i] & ~Shadow::kInFlight;
        if (id == writer)
          run[i] = writer;
        else
          kept = kept && expected_->lane[id] == lane && id > writer;
      }
    });
  }
  if (!kept) report(call, index, "wrote bytes that another instruction wrote at the same time");
}

void RaceCheck::report(std::uint32_t call, std::uint32_t index, const char* what) const {
  const isa::Block& block = program_.blocks[program_.calls[call].block];
  throw base::Error{base::Fault::kProgram,
                    fmt::format("race on rank {}, call {}, {} #{}: {}", rank_, call, block.name, index,
                                isa::print(block.instrs[index], block)),
                    what, "make the later of the two wait for the earlier one"};
}

}  // namespace hw
