// Attention and its gradients, against their references.
#include <gtest/gtest.h>

#include "tests/runtime/run_op.h"

namespace {

using namespace runtime_test;
using runtime::kAttention;
using runtime::kAttentionGrad;

struct AttentionCase {
  std::int64_t batch, seq, heads, kv_heads, size;
  bool causal, masked;
  Dtype dtype;
  double cap = 0;           // of the scores
  std::int64_t values = 0;  // elements of a head's values; 0: as of its keys

  std::int64_t value_size() const { return values > 0 ? values : size; }
  friend void PrintTo(const AttentionCase& c, std::ostream* out) {
    *out << c.batch << "x" << c.seq << " heads " << c.heads << "/" << c.kv_heads << "x" << c.size << "/"
         << c.value_size() << (c.causal ? " causal" : "") << (c.masked ? " masked" : "") << (c.cap > 0 ? " capped" : "")
         << " type " << int(c.dtype);
  }
};

class AttentionTest : public testing::TestWithParam<std::tuple<AttentionCase, bool>> {
 protected:
  const AttentionCase& shape() const { return std::get<0>(GetParam()); }
  bool flash() const { return std::get<1>(GetParam()); }
  AttentionAttrs attrs() const {
    const AttentionCase& c = shape();
    return {.scale = 1 / std::sqrt(static_cast<double>(c.size)),
            .batch = c.batch,
            .seq = c.seq,
            .heads = c.heads,
            .kv_heads = c.kv_heads,
            .causal = c.causal,
            .flash = flash(),
            .soft_cap = c.cap};
  }
  /// q, k, v, and the mask: the last quarter of each second sequence is hidden.
  Inputs inputs() const {
    const AttentionCase& c = shape();
    const std::int64_t rows = c.batch * c.seq;
    Inputs in = in_type(c.dtype, {random_normal(rows, c.heads * c.size, 1), random_normal(rows, c.kv_heads * c.size, 2),
                                  random_normal(rows, c.kv_heads * c.value_size(), 3)});
    const Tensor mask = runtime::generate(
        c.batch, c.seq, [&](auto b, auto s) { return b % 2 == 0 && 4 * s >= 3 * c.seq ? -1e9 : 0.0; });
    if (c.masked) in.emplace_back(mask, c.dtype);
    return in;
  }
  bool fp32() const { return shape().dtype == Dtype::kFp32; }
  std::string_view numerics() const { return fp32() ? "fp32" : "bf16"; }
  /// Scores are about 1, at most 6. In fp32 they err by some 1e-6, which exp turns into a relative error. In bf16 they
  /// are rounded to 2^-6 at worst, then the exponential and the probability once each.
  Tolerance relative(double floor) const {
    const double sums = std::sqrt(static_cast<double>(shape().seq));  // of a row's products, in another order
    return {.ulps = fp32() ? 64 + sums : 6, .floor = floor, .dtype = shape().dtype};
  }
  /// A row's logarithm errs as its scores do, absolutely: in bf16 by 2^-6 and by the error of the exponentials' sum.
  Tolerance logarithm() const { return {.ulps = fp32() ? 256.0 : 1 << 19, .floor = 1, .dtype = Dtype::kFp32}; }
};

TEST_P(AttentionTest, ContextAndProbabilities) {
  const Tensors want = kAttention.forward(attrs(), values(inputs()));
  expect_reference(kAttention, inputs(), attrs(),
                   {relative(largest(want[0]) / 4), flash() ? logarithm() : relative(largest(want[1]) / 64)},
                   numerics());
}

TEST_P(AttentionTest, Gradients) {
  Inputs in = inputs();
  const Tensors kept = kAttention.forward(attrs(), values(in));
  const Inputs mask{in.begin() + 3, in.end()};
  in.erase(in.begin() + 3, in.end());
  in.emplace_back(kept[1], flash() ? Dtype::kFp32 : shape().dtype);
  in.emplace_back(random_normal(kept[0].rows, kept[0].cols, 4), shape().dtype);
  in.emplace_back(kept[0], shape().dtype);
  if (flash()) in.insert(in.end(), mask.begin(), mask.end());
  const Tensors want = kAttentionGrad.forward(attrs(), values(in));
  expect_reference(kAttentionGrad, in, attrs(),
                   {relative(largest(want[0]) / 4), relative(largest(want[1]) / 4), relative(largest(want[2]) / 4)},
                   numerics());
}

/// Scores of -40000 to visible keys: hidden keys score less still, and have a probability of exactly 0.
TEST(Attention, KeysThatComeLaterLoseToEveryScore) {
  for (const bool flash : {false, true}) {
    const AttentionAttrs attrs{
        .scale = 1, .batch = 1, .seq = 140, .heads = 1, .kv_heads = 1, .causal = true, .flash = flash};
    const Tensor q = runtime::generate(140, 4, [](auto, auto) { return 100.0; });
    const Tensor k =
        runtime::generate(140, 4, [](auto row, auto) { return -100.0 - static_cast<double>(row % 3) / 1024; });
    const Inputs in{{q, Dtype::kFp32}, {k, Dtype::kFp32}, {random_normal(140, 4, 1), Dtype::kFp32}};
    // Scores are exact to 2^-9 (one ulp at 40000 is 2^-8), which exp turns into as much of a relative error.
    const Tolerance near{.ulps = 1 << 17, .floor = 1e-3, .dtype = Dtype::kFp32};
    const Tolerance log{.ulps = 4, .floor = 1, .dtype = Dtype::kFp32};
    expect_reference(kAttention, in, attrs, {near, flash ? log : near}, "fp32");
  }
}

INSTANTIATE_TEST_SUITE_P(
    Sizes, AttentionTest,
    testing::Combine(testing::Values(AttentionCase{2, 48, 3, 3, 64, false, true, Dtype::kFp32},
                                     AttentionCase{3, 48, 4, 2, 32, true, false, Dtype::kBf16},
                                     AttentionCase{2, 130, 4, 2, 32, true, true, Dtype::kFp32},
                                     AttentionCase{1, 130, 2, 2, 64, false, false, Dtype::kBf16},
                                     AttentionCase{1, 520, 4, 1, 32, false, true, Dtype::kFp32},
                                     AttentionCase{1, 520, 2, 1, 64, true, false, Dtype::kFp32},
                                     AttentionCase{1, 1024, 2, 1, 64, true, false, Dtype::kBf16},
                                     AttentionCase{2, 5, 2, 2, 6, false, true, Dtype::kFp32},
                                     AttentionCase{1, 1024, 1, 1, 32, false, true, Dtype::kFp32},
                                     AttentionCase{2, 130, 4, 2, 32, true, true, Dtype::kFp32, 1.5},
                                     AttentionCase{1, 140, 2, 1, 64, true, false, Dtype::kBf16, 1.5},
                                     AttentionCase{1, 1100, 2, 1, 64, true, false, Dtype::kFp32, 1.5},
                                     // keys' gradients add up in SBUF
                                     AttentionCase{1, 1100, 2, 1, 64, false, false, Dtype::kFp32},
                                     AttentionCase{2, 200, 2, 1, 256, true, true, Dtype::kFp32},
                                     AttentionCase{1, 140, 1, 1, 160, true, false, Dtype::kBf16},
                                     AttentionCase{1, 2304, 1, 1, 128, true, false, Dtype::kBf16},
                                     // values of another width
                                     AttentionCase{2, 130, 4, 2, 24, true, true, Dtype::kFp32, 0, 16},
                                     AttentionCase{1, 140, 2, 1, 192, true, false, Dtype::kBf16, 0, 128},
                                     AttentionCase{1, 1100, 2, 1, 24, false, false, Dtype::kFp32, 1.5, 40}),
                     testing::Bool()));

struct BlockCase {
  std::int64_t seq, keys, heads, kv_heads, size;
  bool causal, masked;
  std::int64_t window = 0;
  double cap = 0;
  Dtype dtype = Dtype::kFp32;
  std::int64_t values = 0;  // as AttentionCase has it

  AttentionAttrs attrs() const {
    return {.scale = 1 / std::sqrt(static_cast<double>(size)),
            .batch = 1,
            .seq = seq,
            .heads = heads,
            .kv_heads = kv_heads,
            .causal = causal,
            .window = window,
            .flash = true,
            .soft_cap = cap,
            .tile_keys = 512};
  }
  /// In fp32 as in AttentionTest: a row has as many products as keys. In bf16 a score of 4 to 8 is off by up to 2^-6,
  /// and the probability errs by as much: so does a term as large as the largest gradient, and the sum that it is part
  /// of may be small. 2^-6 of four floors are 16 ulps.
  Tolerance near(double floor) const {
    const double sums = std::sqrt(static_cast<double>(keys));
    return {.ulps = dtype == Dtype::kFp32 ? 64 + 2 * sums : 16, .floor = floor, .dtype = dtype};
  }
};

void expect_blocks_add_up(const BlockCase& c) {
  const AttentionAttrs attrs = c.attrs();
  const std::int64_t kv = c.kv_heads * c.size, values_too = c.values > 0 ? c.kv_heads * c.values : kv;
  Inputs in = in_type(c.dtype, {random_normal(c.seq, c.heads * c.size, 1), random_normal(c.keys, kv, 2),
                                random_normal(c.keys, values_too, 3)});
  Inputs mask;
  if (c.masked)
    mask.emplace_back(runtime::generate(1, c.keys, [](auto, auto k) { return k % 3 == 1 ? -1e9 : 0.0; }), c.dtype);
  in.insert(in.end(), mask.begin(), mask.end());
  const bool fp32 = c.dtype == Dtype::kFp32;
  const std::string_view numerics = fp32 ? "fp32" : "bf16";
  const Tensors want = kAttention.forward(attrs, values(in));
  const Tolerance log{.ulps = fp32 ? 256.0 : 1 << 19, .floor = 1};
  expect_reference(kAttention, in, attrs, {c.near(largest(want[0]) / 4), log}, numerics);
  Inputs back{in.begin(), in.begin() + 3};
  back.emplace_back(want[1]);
  back.emplace_back(random_normal(c.seq, want[0].cols, 5), c.dtype);
  back.emplace_back(want[0], c.dtype);
  back.insert(back.end(), mask.begin(), mask.end());
  const Tensors grads = kAttentionGrad.forward(attrs, values(back));
  std::vector<Tolerance> nears;
  for (std::size_t i = 0; i < 3; ++i) nears.push_back(c.near(largest(grads[i]) / 4));
  nears.push_back({.ulps = HUGE_VAL});  // where dq adds up
  expect_reference(kAttentionGrad, back, attrs, nears, numerics);
}

/// Rows that SBUF does not hold: in blocks of 512 keys every query meets several, with windows and masks that hide all
/// keys of some blocks from it, and of rows that do not fill their last tile.
TEST(Attention, KeysInBlocksAddUpToTheWholeRow) {
  for (const BlockCase& c : {BlockCase{1100, 1100, 2, 1, 16, true, false},
                             {300, 1100, 1, 1, 32, false, true},
                             {1100, 1100, 1, 1, 16, true, true, 200},
                             {600, 600, 1, 1, 160, true, false, 0, 1.5},
                             {1100, 1100, 4, 2, 24, true, true, 0, 0, Dtype::kFp32, 16},
                             {1100, 1100, 2, 1, 16, true, false, 0, 0, Dtype::kBf16},
                             {1100, 1100, 1, 1, 16, true, false, 130, 0, Dtype::kBf16}})
    expect_blocks_add_up(c);
}

/// Keys of another text, and a bias that all sequences share, or of each: tiles of 128 on either side, more keys than
/// queries and fewer.
TEST(Attention, KeysOfAnotherLengthAndABias) {
  for (const auto& [seq, keys, masked, own] :
       {std::tuple{5, 12, true, 1}, {130, 48, true, 1}, {130, 48, true, 2}, {48, 520, false, 1}, {48, 520, false, 2}})
    for (const Dtype type : {Dtype::kFp32, Dtype::kBf16}) {
      const AttentionAttrs attrs{
          .scale = 1, .batch = 2, .seq = seq, .heads = 2, .kv_heads = 2, .term = ScoreTerm::kBias};
      Inputs in = in_type(
          type, {random_normal(2 * seq, 12, 1, 0.5), random_normal(2 * keys, 12, 2), random_normal(2 * keys, 12, 3)});
      if (masked)
        in.emplace_back(runtime::generate(2, keys, [&](auto b, auto k) { return b == 1 && k > 3 ? -1e9 : 0.0; }), type);
      in.emplace_back(random_normal(own * 2 * seq, keys, 4), type);
      const Tensors want = kAttention.forward(attrs, values(in));
      // Scores are about 1, at most 8: in fp32 they err by some 1e-6, in bf16 they are rounded to 2^-5 at worst.
      const auto near = [&, d = type](double floor) {
        return Tolerance{.ulps = d == Dtype::kFp32 ? 96.0 : 10, .floor = floor, .dtype = d};
      };
      const std::string_view numerics = type == Dtype::kFp32 ? "fp32" : "bf16";
      expect_reference(kAttention, in, attrs, {near(largest(want[0]) / 4), near(largest(want[1]) / 32)}, numerics);
      Inputs back{in.begin(), in.begin() + 3};
      back.emplace_back(want[1], type);
      back.emplace_back(random_normal(2 * seq, 12, 5), type);
      back.emplace_back(want[0], type);
      const Tensors grads = kAttentionGrad.forward(attrs, values(back));
      ASSERT_EQ(grads.size(), 4U);
      std::vector<Tolerance> nears;
      for (const Tensor& grad : grads) nears.push_back(near(largest(grad) / 4));
      expect_reference(kAttentionGrad, back, attrs, nears, numerics);
    }
}

/// The scale is data, the bias that of any head: few keys, whose bias stays in SBUF, and many. Scores are about 1.
TEST(Attention, AScaleOfDataAndABiasOfAnyHead) {
  for (const auto& [seq, keys] : {std::pair{130, 48}, {20, 9000}}) {
    const AttentionAttrs attrs{.scale = 0, .batch = 2, .seq = seq, .heads = 4, .kv_heads = 2, .term = ScoreTerm::kBias};
    Inputs in{random_normal(2 * seq, 24, 1), random_normal(2 * keys, 12, 2), random_normal(2 * keys, 12, 3),
              random_normal(seq, keys, 4), runtime::generate(1, 1, [](auto, auto) { return 0.4; })};
    const Tensors want = kAttention.forward(attrs, values(in));
    const auto near = [sums = std::sqrt(static_cast<double>(keys))](double floor) {
      return Tolerance{.ulps = 96 + 2 * sums, .floor = floor};
    };
    expect_reference(kAttention, in, attrs, {near(largest(want[0]) / 4), near(largest(want[1]) / 32)});
    AttentionAttrs known = attrs;
    known.scale = 0.4F;
    in.pop_back();
    EXPECT_EQ(kAttention.forward(known, values(in))[0].data, want[0].data);
    in.pop_back();
    in.emplace_back(want[1]), in.emplace_back(random_normal(2 * seq, 24, 5)), in.emplace_back(want[0]);
    in.push_back(runtime::generate(1, 1, [](auto, auto) { return 0.4; }));
    std::vector<Tolerance> nears;
    for (const Tensor& grad : kAttentionGrad.forward(attrs, values(in))) nears.push_back(near(largest(grad) / 4));
    expect_reference(kAttentionGrad, in, attrs, nears);
  }
}

/// Without a bias, with probabilities kept and computed again; in the last case keys' gradients add up in SBUF.
TEST(Attention, KeysOfAnotherLengthKeptOrComputedAgain) {
  for (const bool flash : {false, true})
    for (const auto& [seq, keys] : {std::pair{130, 40}, {20, 300}, {520, 2304}}) {
      const AttentionAttrs attrs{.scale = 0.5, .batch = 1, .seq = seq, .heads = 2, .kv_heads = 1, .flash = flash};
      Inputs in{random_normal(seq, 8, 1), random_normal(keys, 4, 2), random_normal(keys, 4, 3)};
      const Tensors want = kAttention.forward(attrs, values(in));
      // As in AttentionTest: scores are about 1, and a row has `keys` products.
      const auto near = [sums = std::sqrt(static_cast<double>(std::max(seq, keys)))](double floor) {
        return Tolerance{.ulps = 64 + 2 * sums, .floor = floor};
      };
      const Tolerance log{.ulps = 256, .floor = 1};
      expect_reference(kAttention, in, attrs, {near(largest(want[0]) / 4), flash ? log : near(largest(want[1]) / 64)});
      in.emplace_back(want[1]);
      in.emplace_back(random_normal(seq, 8, 5));
      in.emplace_back(want[0]);
      std::vector<Tolerance> nears;
      for (const Tensor& grad : kAttentionGrad.forward(attrs, values(in))) nears.push_back(near(largest(grad) / 4));
      expect_reference(kAttentionGrad, in, attrs, nears);
    }
}

/// Slopes of heads: keys' numbers times up to a quarter, so that scores are below 40, whose rounding exp turns into
/// 2^-18.
TEST(Attention, SlopesOfHeadsAreDistances) {
  for (const auto& [seq, masked] : {std::pair{5, true}, {130, false}, {48, true}}) {
    const AttentionAttrs attrs{
        .scale = 0.4, .batch = 2, .seq = seq, .heads = 4, .kv_heads = 2, .causal = true, .term = ScoreTerm::kSlopes};
    Inputs in{random_normal(2 * seq, 24, 1), random_normal(2 * seq, 12, 2), random_normal(2 * seq, 12, 3)};
    if (masked)
      in.emplace_back(
          runtime::generate(2, seq, [](auto b, auto k) { return b == 1 && (k == 1 || k == 2) ? -1e9 : 0.0; }));
    in.push_back(runtime::generate(1, 4, [](auto, auto h) { return std::exp2(-2.0 * (h + 1)); }));
    const Tensors want = kAttention.forward(attrs, values(in));
    const auto near = [](double floor) { return Tolerance{.ulps = 256, .floor = floor}; };
    expect_reference(kAttention, in, attrs, {near(largest(want[0]) / 4), near(largest(want[1]) / 32)});
    // Less the query's own number: the same probabilities, by a bias.
    AttentionAttrs biased = attrs;
    biased.term = ScoreTerm::kBias;
    Inputs other = in;
    other.back() = runtime::generate(4 * seq, seq,
                                     [s = seq](auto r, auto k) { return std::exp2(-2.0 * (r / s + 1)) * (k - r % s); });
    const Tensors same = kAttention.forward(biased, values(other));
    for (std::size_t i = 0; i < same[0].data.size(); ++i) EXPECT_NEAR(same[0].data[i], want[0].data[i], 1e-5);
  }
  const Inputs in{random_normal(8, 6, 1), random_normal(8, 6, 2), random_normal(8, 6, 3), random_normal(1, 3, 4)};
  const auto wrong = [&](const AttentionAttrs& attrs) { return [&] { run_on_device(kAttention, in, attrs); }; };
  AttentionAttrs attrs{.batch = 2, .seq = 4, .heads = 2, .kv_heads = 2, .term = ScoreTerm::kSlopes};
  EXPECT_TRUE(fails(base::Fault::kProgram, wrong(attrs), {"slopes", "is [1, 3] but must be [1, 2]"}));
  attrs.soft_cap = 1;
  EXPECT_TRUE(fails(base::Fault::kProgram, wrong(attrs), {"slopes", "cap"}));
}

TEST(Attention, ABiasIsOfEveryHeadAndQuery) {
  const Inputs in{random_normal(8, 6, 1), random_normal(12, 6, 2), random_normal(12, 6, 3), random_normal(3, 6, 4)};
  const auto wrong = [&] {
    run_on_device(kAttention, in,
                  AttentionAttrs{.batch = 2, .seq = 4, .heads = 2, .kv_heads = 2, .term = ScoreTerm::kBias});
  };
  EXPECT_TRUE(fails(base::Fault::kProgram, wrong, {"bias", "is [3, 6] but must be [8, 6]"}));
}

TEST(Attention, RefusesHeadsThatDoNotDivide) {
  const Inputs in{random_normal(8, 12, 1), random_normal(8, 12, 2), random_normal(8, 12, 3)};
  const auto with = [&](std::int64_t heads, std::int64_t kv) {
    return [&, heads, kv] {
      run_on_device(kAttention, in, AttentionAttrs{.batch = 2, .seq = 4, .heads = heads, .kv_heads = kv});
    };
  };
  EXPECT_TRUE(fails(base::Fault::kProgram, with(5, 5), {"attention", "heads do not divide"}));
  EXPECT_TRUE(fails(base::Fault::kProgram, with(4, 3), {"attention", "heads do not divide"}));
  EXPECT_TRUE(fails(base::Fault::kProgram, with(4, 2), {"attention attention: k", "is [8, 12] but must be [8, 6]"}));
}

TEST(Attention, StepsThatPassHbmComputeTheSame) {
  // 7 heads of 1024 x 1024 scores in fp32 are 29 MB, SBUF has 25: every step writes them and the next one reads them.
  const AttentionAttrs attrs{.scale = 0.5,
                             .batch = 1,
                             .seq = 1024,
                             .heads = 7,
                             .kv_heads = 7,
                             .causal = true,
                             .tile_keys = AttentionAttrs::kUnfused};
  const Inputs in =
      in_type(Dtype::kFp32, {random_normal(1024, 28, 1), random_normal(1024, 28, 2), random_normal(1024, 28, 3)});
  const Tensors want = kAttention.forward(attrs, values(in));
  const Tolerance context{.ulps = 96, .floor = largest(want[0]) / 4, .dtype = Dtype::kFp32};
  const Tolerance kept{.ulps = 96, .floor = largest(want[1]) / 64, .dtype = Dtype::kFp32};
  expect_reference(kAttention, in, attrs, {context, kept}, "fp32");
}

TEST(Attention, StepsThatPassHbmTakeTwentyWaysForEachScore) {
  const auto ways = [](std::int64_t heads, bool unfused) {
    Graph graph{runtime::numerics("fp32")};
    std::vector<ValueId> in;
    for (const char* name : {"q", "k", "v"})
      in.push_back(graph.tensor(name, 1024, 4 * heads, Dtype::kFp32, Kind::kInput));
    graph.enter({.name = "test"});
    graph.output(graph.add(kAttention, "heads", in,
                           AttentionAttrs{.batch = 1,
                                          .seq = 1024,
                                          .heads = heads,
                                          .kv_heads = heads,
                                          .causal = true,
                                          .tile_keys = unfused ? AttentionAttrs::kUnfused : 0})[0],
                 "out");
    const Running running{std::move(graph)};
    std::int64_t count = 0;
    for (const auto& block : running.compiled().program.blocks)
      for (const isa::Instr& i : block.instrs)
        count += i.op == isa::Opcode::kDmaCopy && i.dst.partitions == 128 && i.dst.cols() == 1024;
    return count;
  };
  EXPECT_EQ(ways(7, true) - ways(7, false), 20 * 7 * 8);
  EXPECT_EQ(ways(6, true), ways(6, false));  // 25 MB of scores stay in SBUF
}

}  // namespace
