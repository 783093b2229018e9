// Caches of keys and values, and attention to them.
#include <gtest/gtest.h>

#include "tests/runtime/run_op.h"

namespace {

using namespace runtime_test;
using runtime::kCachedAttention;
using runtime::kCacheFill;

TEST(CacheAppend, ARowOfEachSequenceFindsItsPlace) {
  const Tensor positions = random_ids(7, 40, 3);
  for (const Dtype type : {Dtype::kFp32, Dtype::kBf16})
    expect_reference(
        runtime::kCacheAppend,
        {{random_normal(7, 24, 1), type}, {random_normal(7 * 40, 24, 2), type}, {positions, Dtype::kInt32}}, {},
        {Tolerance{}});
  const Inputs wrong{random_normal(7, 24, 1), random_normal(40, 24, 2), {positions, Dtype::kInt32}};
  EXPECT_TRUE(fails(base::Fault::kProgram, [&] { run_on_device(runtime::kCacheAppend, wrong); }, {"as many parts"}));
}

struct CacheCase {
  std::int64_t batch, length, heads, kv_heads, size;
  Dtype dtype;
  double cap = 0;           // of the scores
  std::int64_t values = 0;  // elements of a head's values; 0: as of its keys
  bool beside = false;      // rows of all sequences at a position side by side

  friend void PrintTo(const CacheCase& c, std::ostream* out) {
    *out << c.batch << " x " << c.length << " heads " << c.heads << "/" << c.kv_heads << " x " << c.size << " type "
         << int(c.dtype);
  }
};

class CachedAttentionTest : public testing::TestWithParam<CacheCase> {
 protected:
  bool fp32() const { return GetParam().dtype == Dtype::kFp32; }
  CachedAttentionAttrs attrs() const {
    const CacheCase& c = GetParam();
    return {.scale = 1 / std::sqrt(static_cast<double>(c.size)),
            .batch = c.batch,
            .seq = c.length,
            .heads = c.heads,
            .kv_heads = c.kv_heads,
            .soft_cap = c.cap,
            .beside = c.beside};
  }
  Inputs inputs(const Tensor& positions) const {
    const CacheCase& c = GetParam();
    const std::int64_t kv = c.kv_heads * c.size, rows = c.batch * c.length;
    const std::int64_t values = c.values > 0 ? c.kv_heads * c.values : kv;
    Inputs in = in_type(
        c.dtype, {random_normal(c.batch, c.heads * c.size, 1), random_normal(c.batch, kv, 2),
                  random_normal(c.batch, values, 3), random_normal(rows, kv, 4), random_normal(rows, values, 5)});
    in.push_back({positions, Dtype::kInt32});
    return in;
  }
  /// As of attention itself; in bf16 exponentials are rounded once, and the context.
  void expect_right(const Tensor& positions) const {
    const double sums = std::sqrt(static_cast<double>(GetParam().length));
    const Tolerance context{.ulps = fp32() ? 64 + sums : 6, .floor = 0.25, .dtype = GetParam().dtype};
    const Tolerance exact{.dtype = GetParam().dtype};
    expect_reference(kCachedAttention, inputs(positions), attrs(), {context, exact, exact}, fp32() ? "fp32" : "bf16");
  }
};

TEST_P(CachedAttentionTest, SequencesSeeTheirOwnPastAndThemselves) {
  const CacheCase& c = GetParam();
  Tensor positions = random_ids(c.batch, c.length, 6);
  expect_right(positions);
  // The first token has no past, the last fills the cache.
  positions.data.front() = 0, positions.data.back() = static_cast<float>(c.length - 1);
  expect_right(positions);
}

INSTANTIATE_TEST_SUITE_P(
    Sizes, CachedAttentionTest,
    testing::Values(CacheCase{3, 256, 4, 2, 256, Dtype::kFp32}, CacheCase{2, 40, 2, 1, 160, Dtype::kBf16},
                    CacheCase{1, 16, 2, 2, 8, Dtype::kFp32}, CacheCase{3, 128, 4, 2, 32, Dtype::kFp32},
                    CacheCase{2, 384, 6, 1, 64, Dtype::kFp32},
                    CacheCase{40, 32, 2, 1, 16, Dtype::kFp32},   // more sequences than keys
                    CacheCase{5, 256, 32, 32, 8, Dtype::kFp32},  // sequences in groups
                    CacheCase{4, 256, 8, 4, 128, Dtype::kBf16}, CacheCase{8, 1024, 1, 1, 128, Dtype::kBf16},
                    CacheCase{1, 8192, 4, 2, 128, Dtype::kBf16},
                    CacheCase{3, 256, 4, 2, 24, Dtype::kFp32, 0, 16},  // values of another width
                    CacheCase{2, 384, 2, 2, 192, Dtype::kBf16, 0, 128}, CacheCase{2, 40, 2, 1, 8, Dtype::kFp32, 0, 130},
                    CacheCase{1, 384, 4, 2, 32, Dtype::kFp32, 0, 0, true},
                    CacheCase{3, 384, 6, 2, 64, Dtype::kFp32, 0, 0, true},
                    CacheCase{5, 256, 32, 32, 8, Dtype::kFp32, 0, 0, true},  // sequences in groups
                    CacheCase{40, 32, 2, 1, 16, Dtype::kFp32, 5, 0, true},
                    CacheCase{8, 1024, 2, 1, 128, Dtype::kBf16, 0, 64, true}));

// A ring: its rows are of the last tokens, whatever their number, and of them a query sees those of its window.
TEST(CachedAttention, AWindowSeesItsLastTokensWhereverTheRingHasThem) {
  for (const auto& [length, window, beside] : {std::tuple<std::int64_t, std::int64_t, bool>{7, 7, false},
                                               {40, 11, true},
                                               {256, 130, false},
                                               {256, 130, true},
                                               {256, 256, false}}) {
    const std::int64_t batch = 5, heads = 4, groups = 2, d = 8;
    Tensor positions = random_ids(batch, 5 * length, 6);
    positions.data = {0, static_cast<float>(window - 1), static_cast<float>(length), positions.data[3],
                      static_cast<float>(4 * length - 1)};
    const Tensor slots = runtime::generate(
        batch, 1, [&](auto r, auto) { return static_cast<std::int64_t>(positions.at(r, 0)) % length; });
    const Inputs in{random_normal(batch, heads * d, 1),
                    random_normal(batch, groups * d, 2),
                    random_normal(batch, groups * d, 3),
                    random_normal(batch * length, groups * d, 4),
                    random_normal(batch * length, groups * d, 5),
                    {positions, Dtype::kInt32},
                    {slots, Dtype::kInt32}};
    const CachedAttentionAttrs attrs{.scale = 0.3,
                                     .batch = batch,
                                     .seq = length,
                                     .heads = heads,
                                     .kv_heads = groups,
                                     .window = window,
                                     .beside = beside};
    const double sums = std::sqrt(static_cast<double>(window));  // as CachedAttentionTest::expect_right()
    expect_reference(kCachedAttention, in, attrs, {{.ulps = 64 + sums, .floor = 0.25}, {}, {}});
    CachedAttentionAttrs longer = attrs;
    longer.window = length + 1;
    EXPECT_TRUE(fails(base::Fault::kProgram, [&] { run_on_device(kCachedAttention, in, longer); }, {"window"}));
  }
}

// Slopes of heads: as of attention itself, whose scores are below 70 here. More sequences than keys, heads that share
// keys, several tiles of keys.
TEST(CachedAttention, SlopesOfHeadsAreThoseOfCachedAndNewKeys) {
  for (const auto& [batch, length, groups] : {std::tuple{1, 16, 4}, {5, 256, 2}, {40, 32, 1}}) {
    const std::int64_t heads = 4, d = 8;
    const CachedAttentionAttrs attrs{
        .scale = 0.3, .batch = batch, .seq = length, .heads = heads, .kv_heads = groups, .term = ScoreTerm::kSlopes};
    const Inputs in{random_normal(batch, heads * d, 1),
                    random_normal(batch, groups * d, 2),
                    random_normal(batch, groups * d, 3),
                    random_normal(batch * length, groups * d, 4),
                    random_normal(batch * length, groups * d, 5),
                    {random_ids(batch, length, 6), Dtype::kInt32},
                    runtime::generate(1, heads, [](auto, auto h) { return std::exp2(-2.0 * (h + 1)); })};
    expect_reference(kCachedAttention, in, attrs, {{.ulps = 512, .floor = 0.25}, {}, {}});
  }
}

// Sinks of heads, of which one is above all scores, with a window and without.
TEST(CachedAttention, SinksCountInEachSum) {
  for (const auto& [batch, length, groups, window] :
       {std::tuple{1, 16, 4, 0}, {5, 256, 2, 130}, {40, 32, 1, 32}, {5, 256, 2, 0}}) {
    const std::int64_t heads = 4, d = 8;
    const CachedAttentionAttrs attrs{.scale = 0.3,
                                     .batch = batch,
                                     .seq = length,
                                     .heads = heads,
                                     .kv_heads = groups,
                                     .window = window,
                                     .term = ScoreTerm::kSinks};
    Inputs in{random_normal(batch, heads * d, 1),           random_normal(batch, groups * d, 2),
              random_normal(batch, groups * d, 3),          random_normal(batch * length, groups * d, 4),
              random_normal(batch * length, groups * d, 5), {random_ids(batch, length, 6), Dtype::kInt32}};
    if (window > 0) in.push_back(in.back());
    in.push_back(runtime::generate(1, heads, [](auto, auto h) { return 9.0 - 4.0 * h; }));
    expect_reference(kCachedAttention, in, attrs, {{.ulps = 512, .floor = 0.25}, {}, {}});
  }
}

// Rows behind those that are read are neither seen nor changed, except for the new row.
TEST(CachedAttention, AShorterBucketReadsTheFirstRowsOnly) {
  const CachedAttentionAttrs attrs{.scale = 0.25, .batch = 3, .seq = 128, .heads = 2, .kv_heads = 1};
  const Tensor positions = runtime::generate(3, 1, [](auto r, auto) { return r * 64; });  // the last at 128
  const Inputs in{random_normal(3, 32, 1),       random_normal(3, 16, 2),       random_normal(3, 16, 3),
                  random_normal(3 * 384, 16, 4), random_normal(3 * 384, 16, 5), {positions, Dtype::kInt32}};
  expect_reference(kCachedAttention, in, attrs, {{.ulps = 80, .floor = 0.25}, {}, {}});
}

// 9 x 8192 rows are more than one indexed transfer reaches.
TEST(CachedAttention, LongCachesOfManySequencesAreWrittenInParts) {
  const std::int64_t batch = 9, length = 8192, d = 2;
  const Tensor positions = random_ids(batch, length, 6);
  const Inputs in{random_normal(batch, d, 1),          random_normal(batch, d, 2),          random_normal(batch, d, 3),
                  random_normal(batch * length, d, 4), random_normal(batch * length, d, 5), {positions, Dtype::kInt32}};
  const CachedAttentionAttrs attrs{.scale = 1, .batch = batch, .seq = length, .heads = 1, .kv_heads = 1};
  const Tensors got = run_on_device(kCachedAttention, in, attrs), want = kCachedAttention.forward(attrs, values(in));
  EXPECT_TRUE(same(got[1], want[1]));
  EXPECT_TRUE(same(got[2], want[2]));
}

TEST(CachedAttention, RefusesAPositionBehindTheCacheAndLengthsItCannotCut) {
  const auto with = [](std::int64_t length, float place) {
    return [=] {
      const Inputs in{
          random_normal(1, 8, 1),      random_normal(1, 8, 2),
          random_normal(1, 8, 3),      random_normal(length, 8, 4),
          random_normal(length, 8, 5), {runtime::generate(1, 1, [&](auto, auto) { return place; }), Dtype::kInt32}};
      run_on_device(kCachedAttention, in,
                    CachedAttentionAttrs{.scale = 1, .batch = 1, .seq = length, .heads = 1, .kv_heads = 1});
    };
  };
  EXPECT_TRUE(fails(base::Fault::kData, with(16, 16), {"dma_scatter", "index 16", "16 rows"}));
  EXPECT_TRUE(fails(base::Fault::kProgram, with(130, 0), {"cached_attention", "not a multiple of 128"}));
}

TEST(CacheFill, APromptBecomesTheFirstRowsOfEachSequence) {
  for (const std::int64_t seq : {1, 5, 16}) {
    const Inputs in{random_normal(3 * seq, 24, 1), random_normal(3 * 16, 24, 2)};
    for (const bool beside : {false, true})
      expect_reference(kCacheFill, in, CacheFillAttrs{.batch = 3, .seq = seq, .beside = beside}, {{}});
  }
  const Inputs in{random_normal(17, 24, 1), random_normal(16, 24, 2)};
  EXPECT_TRUE(fails(base::Fault::kProgram,
                    [&] { run_on_device(kCacheFill, in, CacheFillAttrs{.batch = 1, .seq = 17}); },
                    {"cache_fill", "longer than the cache"}));
}

}  // namespace
