// The compiler's treatment of kernels: repeated loads, room for chains of instructions,
// overflows.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "runtime/nki/arrange.h"
#include "runtime/nki/trace.h"
#include "tests/fails.h"
#include "tests/target.h"

namespace runtime::nki {
namespace {

using isa::Engine;
using isa::Opcode;
using isa::Space;

constexpr std::int64_t kColumns = 1024;  // 4 KiB of fp32

/// A kernel on tiles [128, 1024] of fp32.
class Kernel {
 public:
  View hbm(std::int64_t tiles) {
    return trace_.tensor({.space = Space::kHbm, .sizes = {128, tiles * kColumns}, .name = "x"});
  }
  View load(const View& from, std::int64_t tile) {
    const View part = cut(from, 1, tile * kColumns, kColumns);
    return one(Opcode::kDmaCopy, Engine::kSync, part);
  }
  void store(const View& to, std::int64_t tile, const View& value) {
    const View part = cut(to, 1, tile * kColumns, kColumns);
    trace_.emit({.instr = {.op = Opcode::kDmaCopy, .engine = Engine::kGpSimd}, .dst = &part, .a = &value});
  }
  View one(Opcode op, Engine engine, const View& a, const View* b = nullptr) {
    const View out = trace_.tensor({.sizes = {128, kColumns}});
    isa::Instr instr{.op = op, .engine = engine};
    if (op == Opcode::kActivation) instr.fn = isa::Fn::kSquare, instr.imm0 = 1;
    if (op == Opcode::kTensorTensor) instr.alu0 = isa::Alu::kAdd;
    trace_.emit({.instr = instr, .dst = &out, .a = &a, .b = b});
    return out;
  }
  Arranged arranged() { return arrange(trace_.finish(), trn1_target(), {}); }
  Trace& trace() { return trace_; }

 private:
  Trace trace_{trn1_target(), "kernel", 100000};
};

/// Reads `tiles` tiles twice, one after the other.
Arranged read_twice(std::int64_t tiles) {
  Kernel kernel;
  const View x = kernel.hbm(tiles), y = kernel.hbm(2 * tiles);
  for (std::int64_t turn = 0; turn < 2; ++turn)
    for (std::int64_t t = 0; t < tiles; ++t)
      kernel.store(y, turn * tiles + t, kernel.one(Opcode::kActivation, Engine::kScalar, kernel.load(x, t)));
  return kernel.arranged();
}

std::size_t loads_in(const Arranged& arranged) {
  return static_cast<std::size_t>(std::ranges::count_if(
      arranged.block.instrs, [](const isa::Instr& i) { return i.op == Opcode::kDmaCopy && i.a.space == Space::kHbm; }));
}

TEST(NkiArrange, RepeatedLoadsStayInSbufWhileThereIsRoom) {
  EXPECT_EQ(loads_in(read_twice(20)), 20);  // 80 KiB of 192
  const Arranged large = read_twice(60);    // 240 KiB
  EXPECT_EQ(loads_in(large), 120);
  EXPECT_EQ(large.spills, 0);
}

TEST(NkiArrange, LoadsLeaveRoomForTheChainThatUsesThem) {
  // Each turn: VectorE, ScalarE, VectorE, one after the other. Were SBUF full of loads, the next turn's first
  // instruction would find no room while ScalarE works, and VectorE would wait for it each time.
  Kernel kernel;
  constexpr std::int64_t kTurns = 100;
  const View x = kernel.hbm(kTurns), y = kernel.hbm(kTurns);
  for (std::int64_t t = 0; t < kTurns; ++t) {
    const View a = kernel.load(x, t);
    const View b = kernel.one(Opcode::kTensorTensor, Engine::kVector, a, &a);
    const View c = kernel.one(Opcode::kActivation, Engine::kScalar, b);
    kernel.store(y, t, kernel.one(Opcode::kTensorTensor, Engine::kVector, b, &c));
  }
  const Arranged arranged = kernel.arranged();
  const std::vector<isa::Instr> all(arranged.block.instrs.begin(), arranged.block.instrs.end());
  std::size_t overlapped = 0;  // VectorE works between ScalarE's operand and the reader of its result
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].engine != Engine::kScalar) continue;
    const auto here = all.begin() + static_cast<std::ptrdiff_t>(i);
    const auto before = std::find_if(std::make_reverse_iterator(here), all.rend(), [&](const isa::Instr& v) {
      return v.engine == Engine::kVector && v.dst == here->a;
    });
    const auto after = std::find_if(
        here, all.end(), [&](const isa::Instr& v) { return v.engine == Engine::kVector && v.b == here->dst; });
    overlapped += std::any_of(before.base(), after, [](const isa::Instr& v) { return v.engine == Engine::kVector; });
  }
  EXPECT_GE(overlapped, std::size_t{kTurns} * 9 / 10);
  EXPECT_EQ(arranged.spills, 0);
}

TEST(NkiArrange, AnOverflowIsReportedAtItsLine) {
  Kernel kernel;
  kernel.trace().label(kernel.trace().add_label("kernel.py:7"));
  const View a = kernel.trace().tensor({.sizes = {128, 30000}, .fill = 1.0F});
  const View b = kernel.trace().tensor({.sizes = {128, 30000}, .fill = 1.0F});
  const View out = kernel.trace().tensor({.sizes = {128, 30000}});
  kernel.trace().emit({.instr = {.op = Opcode::kTensorTensor, .engine = Engine::kVector, .alu0 = isa::Alu::kAdd},
                       .dst = &out,
                       .a = &a,
                       .b = &b});
  const View y = kernel.trace().tensor({.space = Space::kHbm, .sizes = {128, 30000}});
  kernel.trace().emit({.instr = {.op = Opcode::kDmaCopy, .engine = Engine::kGpSimd}, .dst = &y, .a = &out});
  EXPECT_TRUE(tests::fails(base::Fault::kProgram, [&] { kernel.arranged(); },
                           {"kernel.py:7: ", "120000 more bytes per partition do not fit in SBUF"}));
}

TEST(NkiTrace, ATensorOfAnotherKernelIsRefused) {
  Kernel now;
  const View y = now.hbm(1);
  {
    Kernel other;
    const View x = other.hbm(1), tile = other.load(x, 0);
    EXPECT_TRUE(tests::fails(base::Fault::kProgram, [&] { now.store(y, 0, tile); }, {"belongs to another kernel"}));
    EXPECT_TRUE(tests::fails(base::Fault::kProgram, [&] { now.trace().assign(now.load(y, 0), tile, true); },
                             {"belongs to another kernel"}));
  }
  View kept;
  {
    Kernel gone;
    kept = gone.load(gone.hbm(1), 0);
    EXPECT_EQ(&Trace::of(kept), &gone.trace());
  }
  EXPECT_TRUE(tests::fails(base::Fault::kProgram, [&] { Trace::of(kept); }, {"belongs to another kernel"}));
  EXPECT_TRUE(tests::fails(base::Fault::kProgram, [&] { now.store(y, 0, kept); }, {"belongs to another kernel"}));
}

}  // namespace
}  // namespace runtime::nki
