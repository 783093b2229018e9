// Lengths that samples are padded to: bucketed by hand, fitted against trying all, batches of one length.
#include "workloads/data/lengths.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>

#include "tests/workloads/support.h"
#include "workloads/training/batches.h"

namespace workloads {
namespace {

using base::Fault;
using workloads_test::fails;
using List = std::vector<std::int64_t>;

TokenLengths some_lengths() { return {.samples = {{5, 3}, {32, 2}, {33, 1}, {100, 4}, {700, 1}}, .source = "by hand"}; }

TEST(Buckets, HoldTheSamplesThatNoShorterOneHolds) {
  const auto buckets = bucketed(some_lengths(), {32, 64, 80, 128});
  ASSERT_EQ(buckets.size(), 3u);  // no sample needs 80
  EXPECT_EQ(buckets[0].samples, 5);
  EXPECT_EQ(buckets[0].tokens, 3 * 5 + 2 * 32);
  EXPECT_EQ(buckets[1].length, 64);
  EXPECT_EQ(buckets[1].samples, 1);
  EXPECT_EQ(buckets[2].samples, 5);
  EXPECT_EQ(buckets[2].cut, 1);
  EXPECT_EQ(buckets[2].tokens, 4 * 100 + 128);
  EXPECT_EQ(some_lengths().count(), 11);
  EXPECT_EQ(some_lengths().tokens(), 15 + 64 + 33 + 400 + 700);
}

double padded_tokens(const TokenLengths& data, const List& lengths) {
  double sum = 0;
  for (const Bucket& b : bucketed(data, lengths)) sum += static_cast<double>(b.samples * b.length);
  return sum;
}

TEST(Buckets, AreFittedAsWellAsTryingAll) {
  TokenLengths data;
  for (std::int64_t i = 0; i < 400; ++i) ++data.samples[3 + i * i % 509];
  const List two = fitted_buckets(data, 512, 2);
  ASSERT_EQ(two.size(), 2u);
  EXPECT_EQ(two.back(), 512);
  double least = std::numeric_limits<double>::infinity();
  for (std::int64_t first = 32; first < 512; first += 32) least = std::min(least, padded_tokens(data, {first, 512}));
  EXPECT_EQ(padded_tokens(data, two), least);
  EXPECT_LE(padded_tokens(data, fitted_buckets(data, 512)), least);
  // One length is enough when all samples have it, and a short one when none is longer.
  EXPECT_EQ(fitted_buckets({.samples = {{60, 100}}, .source = {}}, 512), (List{64}));
  EXPECT_EQ(fitted_buckets({.samples = {{600, 100}}, .source = {}}, 512), (List{512}));
}

TEST(Buckets, OnesThatMakeNoSenseAreRefused) {
  const auto buckets = [](const char* text) {
    return [text] { buckets_of(text, some_lengths(), 512, "the positions of BERT"); };
  };
  EXPECT_EQ(buckets_of("64,128,512", some_lengths(), 512, ""), (List{64, 128, 512}));
  EXPECT_EQ(buckets_of("", some_lengths(), 512, ""), (List{512}));
  EXPECT_TRUE(fails(Fault::kUsage, buckets("128,64"), {"`buckets`", "64 comes after 128", "shortest first"}));
  EXPECT_TRUE(fails(Fault::kUsage, buckets("64,64"), {"64 comes after 64"}));
  EXPECT_TRUE(fails(Fault::kUsage, buckets("64,x"), {"'x' is not a length", "128,256,512"}));
  EXPECT_TRUE(fails(Fault::kUsage, buckets("64,"), {"'' is not a length"}));
  EXPECT_TRUE(fails(Fault::kUsage, buckets("0,64"), {"'0' is not a length"}));
  EXPECT_TRUE(
      fails(Fault::kUsage, buckets("64,1024"), {"1024 tokens exceed the positions of BERT, 512", "at most 512"}));
}

TEST(LengthSampler, StepsHaveOneLengthAndAnEpochEverySampleOnce) {
  List tokens;
  for (std::int64_t i = 0; i < 50; ++i) tokens.push_back(1 + i);
  LengthSampler sampler{tokens, {16, 32, 64}, 6, 7};
  EXPECT_EQ(sampler.steps_per_epoch(), 3u + 3u + 3u);  // of 16, 16 and 18 samples
  EXPECT_EQ(sampler.steps_of_lengths(), (std::vector<double>{3, 3, 3}));
  const List lengths{16, 32, 64};
  std::set<std::uint32_t> seen;
  std::vector<std::size_t> order;
  for (std::size_t step = 0; step < sampler.steps_per_epoch(); ++step) {
    order.push_back(sampler.step(step).length);
    for (const std::uint32_t i : sampler.step(step).samples) {
      EXPECT_TRUE(seen.insert(i).second);
      EXPECT_LE(tokens[i], lengths[sampler.step(step).length]);
      EXPECT_GT(tokens[i], sampler.step(step).length == 0 ? 0 : lengths[sampler.step(step).length - 1]);
    }
  }
  EXPECT_EQ(seen.size(), 50u);
  EXPECT_FALSE(std::ranges::is_sorted(order));  // lengths come in turn
  const auto first = sampler.step(0).samples;
  sampler.set_epoch(1);
  EXPECT_NE(sampler.step(0).samples, first);
  sampler.set_epoch(0);
  EXPECT_EQ(sampler.step(0).samples, first);
}

}  // namespace
}  // namespace workloads
