#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "isa/asm.h"
#include "isa/table.h"
#include "tests/isa/make_instr.h"

namespace {

using isa::Block;
using isa::Instr;
using isa::Program;
using isa::Tile;

/// Any value of any field, legal or not, but none in unused fields.
class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_{seed} {}

  std::uint64_t upto(std::uint64_t most) { return std::uniform_int_distribution<std::uint64_t>{0, most}(random_); }
  bool coin() { return upto(1) == 1; }

  /// All sorts of floats: any bits but NaN's, which do not compare equal.
  float number() {
    if (upto(3) == 0) return 0;
    const float special[] = {1,
                             -0.0f,
                             0.1f,
                             std::numeric_limits<float>::infinity(),
                             -std::numeric_limits<float>::infinity(),
                             std::numeric_limits<float>::denorm_min(),
                             std::numeric_limits<float>::max()};
    if (coin()) return special[upto(std::size(special) - 1)];
    const float any = std::bit_cast<float>(static_cast<std::uint32_t>(upto(0xffffffff)));
    return std::isnan(any) ? 0.5f : any;
  }

  Tile tile() {
    Tile t;
    t.space = static_cast<isa::Space>(1 + upto(2));
    t.dtype = static_cast<isa::Dtype>(upto(isa::kDtypeCount - 1));
    t.start = static_cast<std::uint8_t>(upto(255));
    t.partitions = static_cast<std::uint16_t>(upto(40000));
    t.rank = static_cast<std::uint8_t>(upto(4));
    for (std::size_t d = 0; d < t.rank; ++d) {
      t.free[d].size = static_cast<std::uint32_t>(upto(coin() ? 600 : 0xffffffff));
      t.free[d].step = coin() ? 1 : static_cast<std::int32_t>(upto(0xffffffff));
    }
    t.offset = coin() ? static_cast<std::int64_t>(upto(200000)) : static_cast<std::int64_t>(upto(UINT64_MAX));
    t.reg = coin() ? 0 : static_cast<std::uint32_t>(upto(0xffffffff));
    t.pstep = coin() ? 0 : static_cast<std::int64_t>(upto(UINT64_MAX));
    return t;
  }

  Instr instr(isa::Opcode op, std::uint32_t labels) {
    Instr i;
    i.op = op;
    i.engine = static_cast<isa::Engine>(upto(isa::kEngineCount - 1));
    i.fn = static_cast<isa::Fn>(upto(isa::kFnCount - 1));
    i.alu0 = static_cast<isa::Alu>(upto(isa::kAluCount - 1));
    i.alu1 = static_cast<isa::Alu>(upto(isa::kAluCount - 1));
    for (bool* flag :
         {&i.accumulate, &i.reverse0, &i.reverse1, &i.negate, &i.skip, &i.integers, &i.onezero, &i.bitwise, &i.signal})
      *flag = coin();
    i.registers = static_cast<isa::Registers>(upto(isa::kRegistersCount - 1));
    for (std::uint8_t* side : {&i.pe.row, &i.pe.column, &i.pe.rows, &i.pe.columns})
      *side = coin() ? 0 : static_cast<std::uint8_t>(upto(255));
    for (std::size_t k = 0; k < 4; ++k) {
      i.ints[k] = coin() ? 0 : static_cast<std::int32_t>(upto(0xffffffff));
      i.steps[k] = coin() ? 0 : static_cast<std::int32_t>(upto(0xffffffff));
    }
    i.queue = static_cast<std::uint8_t>(upto(255));
    i.group = static_cast<std::uint8_t>(upto(255));
    i.peer = static_cast<std::uint16_t>(upto(65535));
    i.alike = static_cast<std::uint16_t>(upto(65535));
    i.label = static_cast<std::uint32_t>(upto(labels + 1));
    i.rng = static_cast<std::uint32_t>(upto(0xffffffff));
    for (float* imm : {&i.imm0, &i.imm1, &i.imm2, &i.imm3}) *imm = number();
    for (Tile* t : {&i.dst, &i.dst2, &i.a, &i.b, &i.c})
      if (upto(2) > 0) *t = tile();
    i.wait_count = static_cast<std::uint8_t>(upto(isa::kMaxWaits));
    for (std::size_t w = 0; w < i.wait_count; ++w)
      i.waits[w] = {static_cast<std::uint16_t>(upto(w == 3 ? 65535 : isa::kSemaphores - 1)), 0,
                    static_cast<std::uint32_t>(upto(0xffffffff))};
    return i;
  }

  Block block() {
    Block b;
    b.name = text();
    b.registers = static_cast<std::uint32_t>(upto(0xffffffff));
    b.sbuf_bytes = static_cast<std::int64_t>(upto(UINT64_MAX));
    b.psum_bytes = static_cast<std::int64_t>(upto(20000));
    b.matmul_flops = static_cast<double>(upto(UINT64_MAX)) / 3;
    for (std::uint64_t l = upto(5); l > 0; --l) b.labels.push_back(text());
    if (coin()) b.labels.push_back("layer.attn.softmax");
    if (coin()) b.labels.push_back("layer.attn.softmax");  // a label twice: the second needs its index
    for (std::uint64_t n = upto(12); n > 0; --n)
      b.instrs.own().push_back(
          instr(static_cast<isa::Opcode>(upto(isa::kOpcodeCount - 1)), static_cast<std::uint32_t>(b.labels.size())));
    return b;
  }

  Program program() {
    Program p;
    p.name = text();
    p.ranks = static_cast<std::uint32_t>(upto(64));
    p.own_ranks = static_cast<std::uint32_t>(upto(2));
    if (p.own_ranks > 0) p.first_rank = static_cast<std::uint32_t>(upto(9));
    p.hbm_bytes = upto(UINT64_MAX);
    p.rounding = static_cast<isa::Rounding>(upto(1));
    p.model_flops = static_cast<double>(upto(UINT64_MAX)) * 7;
    for (std::uint64_t n = upto(3); n > 0; --n) p.groups.push_back({{0, 1}, {2, static_cast<std::uint32_t>(upto(9))}});
    for (std::uint64_t n = upto(3); n > 0; --n)
      p.regions.push_back({text(), text(), isa::Dtype::kBf16, {3, 5}, upto(9), 30});
    for (std::uint64_t n = upto(3); n > 0; --n) p.blocks.push_back(block());
    for (std::uint64_t n = upto(3); n > 0; --n) {
      isa::Call& call = p.calls.emplace_back();
      call.block = static_cast<std::uint32_t>(upto(3));
      for (std::uint64_t r = upto(3); r > 0; --r) call.bases.push_back(upto(UINT64_MAX));
      call.rng = static_cast<std::uint32_t>(upto(0xffffffff));
      call.layer = static_cast<std::int32_t>(upto(0xffffffff));
      call.phase = static_cast<isa::Phase>(upto(4));
      call.await = {static_cast<std::uint32_t>(upto(9)), static_cast<std::uint32_t>(upto(9))};
    }
    return p;
  }

 private:
  /// Any bytes but the newline's friends too: quotes, controls, UTF-8.
  std::string text() {
    std::string out;
    for (std::uint64_t n = upto(8); n > 0; --n) out += static_cast<char>(coin() ? 'a' + upto(25) : 1 + upto(254));
    return out;
  }

  std::mt19937_64 random_;
};

/// Blocks and programs have no operator==: their texts are complete, and their instructions are compared.
void expect_same(const Block& got, const Block& want) {
  EXPECT_EQ(got.name, want.name);
  EXPECT_EQ(got.registers, want.registers);
  EXPECT_EQ(got.sbuf_bytes, want.sbuf_bytes);
  EXPECT_EQ(got.psum_bytes, want.psum_bytes);
  EXPECT_EQ(got.matmul_flops, want.matmul_flops);
  EXPECT_EQ(got.labels, want.labels);
  ASSERT_EQ(got.instrs.size(), want.instrs.size());
  for (std::size_t i = 0; i < want.instrs.size(); ++i)
    EXPECT_TRUE(got.instrs[i] == want.instrs[i]) << isa::print(want.instrs[i]) << "\n" << isa::print(got.instrs[i]);
}

TEST(AsmRoundTrip, EveryOpcodeWithEveryOperandForm) {
  Generator random{1};
  for (const isa::Row& row : isa::kTable)
    for (int n = 0; n < 400; ++n) {
      const Instr instr = random.instr(row.op, 3);
      const std::string text = isa::print(instr);
      EXPECT_TRUE(isa::parse_instr(text) == instr) << text << "\n" << isa::print(isa::parse_instr(text));
      EXPECT_EQ(text.find('\n'), std::string::npos);
    }
}

TEST(AsmRoundTrip, Blocks) {
  Generator random{2};
  for (int n = 0; n < 500; ++n) {
    const Block block = random.block();
    expect_same(isa::parse_block(isa::print(block)), block);
  }
}

TEST(AsmRoundTrip, Programs) {
  Generator random{3};
  for (int n = 0; n < 300; ++n) {
    const Program want = random.program();
    const Program got = isa::parse_program(isa::print(want));
    EXPECT_EQ(got.name, want.name);
    EXPECT_EQ(got.ranks, want.ranks);
    EXPECT_EQ(got.first_rank, want.first_rank);
    EXPECT_EQ(got.own_ranks, want.own_ranks);
    EXPECT_EQ(got.hbm_bytes, want.hbm_bytes);
    EXPECT_EQ(got.rounding, want.rounding);
    EXPECT_EQ(got.model_flops, want.model_flops);
    EXPECT_EQ(got.groups, want.groups);
    ASSERT_EQ(got.regions.size(), want.regions.size());
    for (std::size_t i = 0; i < want.regions.size(); ++i) {
      const auto fields = [](const isa::Region& r) {
        return std::tie(r.name, r.kind, r.dtype, r.shape, r.offset, r.bytes);
      };
      EXPECT_EQ(fields(got.regions[i]), fields(want.regions[i]));
    }
    ASSERT_EQ(got.calls.size(), want.calls.size());
    for (std::size_t i = 0; i < want.calls.size(); ++i) {
      const auto fields = [](const isa::Call& c) {
        return std::tie(c.block, c.bases, c.rng, c.layer, c.phase, c.await);
      };
      EXPECT_EQ(fields(got.calls[i]), fields(want.calls[i]));
    }
    ASSERT_EQ(got.blocks.size(), want.blocks.size());
    for (std::size_t i = 0; i < want.blocks.size(); ++i) expect_same(got.blocks[i], want.blocks[i]);
  }
}

TEST(AsmRoundTrip, NanKeepsItsPayload) {
  Instr instr = make(isa::Opcode::kMemset, isa::Engine::kVector, sbuf(1, 1));
  instr.imm0 = std::bit_cast<float>(0xffc12345u);
  EXPECT_EQ(std::bit_cast<std::uint32_t>(isa::parse_instr(isa::print(instr)).imm0), 0xffc12345u);
}

TEST(AsmText, ReadsAsDocumented) {
  Instr instr = add(sbuf(128, 512, isa::Dtype::kBf16, 4096), psum(128, 512), sbuf(128, 512, isa::Dtype::kBf16));
  instr.wait_count = 2;
  instr.waits[0] = {0, 0, 12};
  instr.waits[1] = {isa::kFirstDmaSemaphore + 3, 0, 4};
  instr.signal = true;
  EXPECT_EQ(isa::print(instr),
            "vector tensor_tensor add sbuf[0:128, 4096, 512]bf16 <- psum[0:128, 0, 512]fp32, sbuf[0:128, 0, 512]bf16 "
            "wait tensor>=12 dma3>=4 signal");
  isa::Tile table = hbm(30522, 768, isa::Dtype::kBf16, 3);
  table.offset = 0x100;
  table.rank = 2;
  table.free[1] = {.step = 0, .size = 4};
  EXPECT_EQ(isa::print(table), "hbm[0:30522/1536, r3+0x100, 768, 4@0]bf16");
}

TEST(AsmText, ForgivesSpacingAndComments) {
  const Instr want = isa::parse_instr("vector memset sbuf[0:128, 0, 512]bf16 imm0=1.5 signal");
  EXPECT_TRUE(isa::parse_instr("\n  vector\tmemset sbuf[ 0 : 128 ,0,512 ]bf16 signal imm0 = 1.5  # zero it\n\n") ==
              want);
}

TEST(AsmText, HandWrittenBlocksNeedNoLabelTable) {
  const Block block = isa::parse_block(
      "block \"b\" registers=0 sbuf_bytes=0 psum_bytes=0 matmul_flops=0\n"
      "  vector memset sbuf[0:1, 0, 1]fp32 ; first\n"
      "  vector memset sbuf[0:1, 0, 1]fp32 ; second  # not third\n"
      "  vector memset sbuf[0:1, 0, 1]fp32 ; first\n"
      "end\n");
  EXPECT_EQ(block.labels, (std::vector<std::string>{"first", "second"}));
  ASSERT_EQ(block.instrs.size(), 3u);
  EXPECT_EQ(block.instrs[1].label, 1u);
  EXPECT_EQ(block.instrs[2].label, 0u);
}

}  // namespace
