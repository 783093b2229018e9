#include "workloads/training/batches.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/workloads/support.h"
#include "workloads/data/synthetic/emotion_synthetic.h"

namespace workloads {
namespace {

using base::Fault;
using workloads_test::fails;
using Indices = std::vector<std::uint32_t>;

Indices all_of_epoch(const Sampler& sampler, std::size_t ranks) {
  Indices all;
  for (std::size_t step = 0; step < sampler.steps_per_epoch(); ++step)
    for (std::size_t rank = 0; rank < ranks; ++rank)
      for (const std::uint32_t i : sampler.batch(step, rank)) all.push_back(i);
  std::ranges::sort(all);
  return all;
}

TEST(Sampler, DealsLikeTorchDistributedSampler) {
  // torch.utils.data.DistributedSampler(range(10), num_replicas=4, shuffle=False): rank 1 gets 1, 5, 9; rank 3 gets 3,
  // 7, 1.
  const Sampler sampler{10, {.batch_size = 2, .ranks = 4, .shuffle = false}};
  EXPECT_EQ(sampler.steps_per_epoch(), 2u);
  EXPECT_EQ(sampler.batch(0, 1), (Indices{1, 5}));
  EXPECT_EQ(sampler.batch(1, 1), (Indices{9}));
  EXPECT_EQ(sampler.batch(0, 3), (Indices{3, 7}));
  EXPECT_EQ(sampler.batch(1, 3), (Indices{1}));
}

TEST(Sampler, EvaluationSeesEverySampleOnce) {
  const Sampler sampler{10, {.batch_size = 2, .ranks = 4, .shuffle = false, .repeat_to_fill = false}};
  EXPECT_EQ(all_of_epoch(sampler, 4), (Indices{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
}

TEST(Sampler, DropLastLeavesOutAnIncompleteBatch) {
  const Sampler sampler{11, {.batch_size = 2, .ranks = 2, .drop_last = true}};
  EXPECT_EQ(sampler.steps_per_epoch(), 2u);
  const Indices all = all_of_epoch(sampler, 2);
  EXPECT_EQ(std::set(all.begin(), all.end()).size(), 8u);
  EXPECT_EQ(all.size(), 8u);
}

TEST(Sampler, EpochsHaveOrdersOfTheirOwnThatComeBack) {
  Sampler sampler{100, {.batch_size = 50, .ranks = 2}};
  const Indices first = sampler.batch(0, 0);
  sampler.set_epoch(1);
  EXPECT_NE(sampler.batch(0, 0), first);
  sampler.set_epoch(0);
  EXPECT_EQ(sampler.batch(0, 0), first);
  EXPECT_NE((Sampler{100, {.batch_size = 50, .ranks = 2, .seed = 43}}.batch(0, 0)), first);
}

TEST(Sampler, UselessSettingsAreErrors) {
  EXPECT_TRUE(fails(Fault::kUsage, [] { Sampler{10, {.batch_size = 0}}; }, {"per_device_train_batch_size"}));
  EXPECT_TRUE(fails(Fault::kData, [] { Sampler{0, {}}; }, {"empty"}));
  EXPECT_TRUE(fails(Fault::kData,
                    [] {
                      Sampler{3, {.batch_size = 4, .drop_last = true}};
                    },
                    {"are too few for one step"}));
}

TEST(Batches, PadsMasksAndFills) {
  TokenizedDataset d{
      .ids = {2, 7, 3, 2, 8, 9, 3}, .token_types = {0, 0, 0, 0, 0, 0, 1}, .starts = {0, 3, 7}, .labels = {4, 5}};
  const Batch b = make_batch(d, Indices{1, 0}, 3, 5);
  EXPECT_EQ(b.samples, 2u);
  EXPECT_EQ(b.input_ids, (std::vector<std::int32_t>{2, 8, 9, 3, 0, 2, 7, 3, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(b.attention_mask, (std::vector<float>{1, 1, 1, 1, 0, 1, 1, 1, 0, 0, 1, 0, 0, 0, 0}));
  EXPECT_EQ(b.token_type_ids, (std::vector<std::int32_t>{0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(b.labels, (std::vector<std::int32_t>{5, 4, Batch::kIgnoredLabel}));
  EXPECT_EQ(d.longest(), 4u);
  EXPECT_TRUE(fails(Fault::kUsage, [&] { make_batch(d, Indices{1}, 1, 3); }, {"max_length", "4 tokens"}));
}

TEST(Batches, TokenizingCutsToTheLength) {
  const Dataset data = synthetic_dataset(SyntheticSplit::kTest, 50);
  const auto tokenizer = train_tokenizer(data);
  const TokenizedDataset whole = tokenize(data, *tokenizer, 0), cut = tokenize(data, *tokenizer, 8);
  EXPECT_GT(whole.longest(), 8u);
  EXPECT_EQ(cut.longest(), 8u);
  EXPECT_EQ(cut.size(), 50u);
  EXPECT_EQ(cut.labels[7], data.samples[7].label);
}

}  // namespace
}  // namespace workloads
