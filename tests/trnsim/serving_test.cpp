#include "trnsim/plans/serving.h"

#include <gtest/gtest.h>

#include <set>

#include "base/error.h"
#include "tests/fails.h"
#include "trnsim/project/estimate.h"
#include "trnsim/project/memory.h"
#include "trnsim/run/buyers_job.h"
#include "workloads/models/model.h"

namespace trnsim {
namespace {

/// Requests of 64 tokens, to a model that writes half of them.
Settings requests_to(std::string_view model) {
  constexpr std::int64_t kLength = 64;
  Settings s;
  s.data.task = "inference", s.data.max_length = kLength, s.given = {"task", "max_length"};
  if (model.starts_with("llama")) s.generation.prompt_length = s.generation.max_new_tokens = kLength / 2;
  return estimate_settings(s);
}

Settings at(Settings s, const Served& one) {
  s.machine.instance_type = one.job.machine.name, s.given.insert("instance_type");
  if (one.job.model->splits() || one.cores_of_copy() > 1) {
    s.plan.tensor_parallel_size = one.cores_of_copy();
    s.given.insert("tensor_parallel_size");
  }
  return s;
}

TEST(Serving, EveryEntryIsWhatEstimateSaysThere) {
  const ServingSpace space{.instance_types = {"trn1.2xlarge", "trn1.32xlarge", "inf2.24xlarge", "trn2.3xlarge"},
                           .batches = {1, 4}};
  for (const char* model : {"bert-small", "llama-small"}) {
    const Settings settings = requests_to(model);
    const std::vector<Served> all = serve_everywhere(model, settings, space, 1);
    std::set<std::string> machines;
    for (const Served& one : all) {
      SCOPED_TRACE(model + (" " + one.job.machine.name) + " " + describe(one));
      machines.insert(one.job.machine.name);
      const Served there = serve(model, at(settings, one), {one.job.step.plan.micro_batch}).front();
      EXPECT_EQ(one.latency, there.latency);
      EXPECT_EQ(one.first_token, there.first_token);
      EXPECT_EQ(one.requests, there.requests);
      EXPECT_EQ(one.dollars, there.dollars);
      EXPECT_EQ(one.memory.total, there.memory.total);
      EXPECT_GT(one.latency, 0);
    }
    EXPECT_EQ(machines.size(), space.instance_types.size()) << model;
  }
}

// Four texts at once run as one block of all layers, and eight as a block for each layer.
TEST(Serving, MoreRequestsAtOnceTakeNoLessMemory) {
  for (const auto& [model, batches] :
       {std::pair{"distilbert-base-uncased", std::vector<std::int64_t>{1, 4, 8}}, {"tinyllama-1.1b", {1, 2, 4, 8}}}) {
    Settings s = requests_to(model);
    s.data.max_length = 128;
    if (model == std::string_view{"tinyllama-1.1b"}) s.generation.prompt_length = 32, s.generation.max_new_tokens = 2;
    std::uint64_t before = 0;
    for (const Served& one : serve(model, s, batches)) {
      EXPECT_GE(one.memory.total, before) << model << " " << describe(one);
      before = one.memory.total;
    }
  }
}

TEST(Serving, CoresShareAnEncoderThatOneCannotHold) {
  Settings s = requests_to("esm2_t48_15B");
  s.machine.instance_type = "inf2.24xlarge", s.given.insert("instance_type");
  const Served alone = serve("esm2_t48_15B", s, {1}).front();
  EXPECT_FALSE(alone.fits());
  EXPECT_TRUE(tests::fails(base::Fault::kCapacity, [&] { require_fit(alone.job, alone.memory); },
                           {"28.13 GiB", "a larger `tensor_parallel_size`"}));
  s.plan.tensor_parallel_size = 4, s.given.insert("tensor_parallel_size");
  const Served shared = serve("esm2_t48_15B", s, {1}).front();
  EXPECT_TRUE(shared.fits());
  EXPECT_EQ(shared.copies(), 3);
}

TEST(Serving, FewerProcessesAreFewerCopies) {
  Settings settings = requests_to("bert-small");
  settings.machine.instance_type = "inf2.xlarge", settings.given.insert("instance_type");
  const Served both = serve("bert-small", settings, {1}).front();
  settings.machine.nproc_per_node = 1, settings.given.insert("nproc_per_node");
  const Served one = serve("bert-small", settings, {1}).front();
  EXPECT_EQ(both.copies(), 2);
  EXPECT_EQ(one.copies(), 1);
  EXPECT_LE(one.latency, both.latency);
  EXPECT_DOUBLE_EQ(one.requests, 1 / one.latency);
  EXPECT_EQ(one.at_once(), 1);
}

TEST(Serving, TheFrontIsCheaperOneWayAndSoonerTheOther) {
  const std::vector<Served> all = serve_everywhere("llama-small", requests_to("llama-small"),
                                                   {.instance_types = {"trn1.32xlarge"}, .batches = {1, 2, 8}}, 1);
  const std::vector<std::size_t> front = serving_front(all);
  ASSERT_GE(front.size(), 2U);
  for (const Served& one : all) {
    if (!one.fits()) continue;
    EXPECT_GE(*one.dollars, *all[front.front()].dollars);
    EXPECT_GE(one.latency, all[front.back()].latency);
  }
  for (std::size_t i = 1; i < front.size(); ++i) EXPECT_LT(all[front[i]].latency, all[front[i - 1]].latency);
  const double limit = (all[front[0]].latency + all[front[1]].latency) / 2;
  EXPECT_EQ(serving_front(all, limit).front(), front[1]);
  EXPECT_TRUE(serving_front(all, all[front.back()].latency / 2).empty());
}

/// `cost` and `estimate` are asked the same: both say what requests take on all cores of an instance.
TEST(Serving, CostIsEstimateForAsManyRequests) {
  for (const char* model : {"bert-small", "llama-small"}) {
    const Settings settings = requests_to(model);
    BuyersJob job = buyers_job(model, settings, 5000);
    EXPECT_TRUE(place(job, {}, 1).empty());
    const Served here = serve(model, settings, {1}).front();
    EXPECT_NEAR(job.price.seconds, 5000 / here.requests, 1e-12 * job.price.seconds) << model;
    EXPECT_EQ(job.price.cores, here.job.machine.instance_cores());
    ASSERT_GT(job.price.placements.size(), 5U);
    for (const analysis::Placement& there : job.price.placements) {
      Settings moved = settings;
      moved.machine.instance_type = there.instance_type, moved.given.insert("instance_type");
      const Served one = serve(model, moved, {1}).front();
      EXPECT_NEAR(there.seconds, 5000 / one.requests, 1e-9 * there.seconds) << model << " " << there.instance_type;
    }
    const double of_5000 = job.price.flops;
    EXPECT_NEAR(buyers_job(model, settings, 10000).price.flops, 2 * of_5000, 1e-9 * of_5000);
  }
}

TEST(Serving, AModelThatFitsNowhereIsSaidToBeTooLarge) {
  EXPECT_TRUE(tests::fails(base::Fault::kCapacity,
                           [] {
                             serve_everywhere("llama2-70b", requests_to("llama2-70b"),
                                              {.instance_types = {"inf2.xlarge"}, .batches = {1}}, 1);
                           },
                           {"inf2.xlarge", "GiB"}));
}

TEST(Serving, RequestsAreToAModel) {
  EXPECT_TRUE(tests::fails(base::Fault::kUsage, [] { buyers_job("bert_emotion", requests_to("bert_emotion")); },
                           {"is not a model"}));
}

}  // namespace
}  // namespace trnsim
