// One answer to one question: bounds hold, parts add up, and concurrent callers change nothing.
#include "trnsim/projection.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "hw/params.h"
#include "hw/trace.h"
#include "tests/sanitized.h"
#include "trnsim/project/memory.h"
#include "trnsim/project/stages.h"
#include "trnsim/run/run.h"
#include "trnsim/search.h"
#include "trnsim/sweep.h"

namespace trnsim {
namespace {

struct Case {
  const char* name;
  const char* model;
  std::int64_t length, tensor, pipeline, micro_batches;
  bool zero;
  const char* recompute;
};

// Small ones of each family, on 8 cores.
const Case kCases[] = {
    {"bert", "bert-small", 64, 1, 1, 2, false, "none"},       {"vit", "vit-mnist", 0, 1, 1, 1, true, "full"},
    {"gpt", "gpt-small", 64, 2, 1, 1, true, "none"},          {"llama", "llama-small", 64, 2, 1, 2, true, "selective"},
    {"shared_bert", "bert-small", 64, 2, 1, 2, true, "full"}, {"shared_vit", "vit-mnist", 0, 4, 1, 1, false, "none"},
    {"pipeline", "llama-small", 64, 2, 2, 4, false, "full"},
};

Job job_of_case(const Case& c) {
  Settings given;
  given.machine.instance_type = "trn1.32xlarge", given.machine.nproc_per_node = 8, given.data.max_length = c.length;
  given.plan.tensor_parallel_size = c.tensor, given.plan.pipeline_parallel_size = c.pipeline;
  given.training.gradient_accumulation_steps = c.micro_batches, given.training.per_device_train_batch_size = 2;
  given.plan.zero_1 = c.zero, given.plan.recompute = c.recompute;
  return job_of(given, load_model_config(c.model), 1000);
}

class Project : public testing::TestWithParam<Case> {};

TEST_P(Project, KeepsItsBoundsAndItsPartsAddUp) {
  const Job job = job_of_case(GetParam());
  const Projection p = project(job);
  // Memory: parts are the whole, and no compiler needs less than the bound.
  const auto sum = std::accumulate(p.memory.by_kind.begin(), p.memory.by_kind.end(), std::uint64_t{0},
                                   [](std::uint64_t total, const auto& kind) { return total + kind.second; });
  EXPECT_LE(least_memory(job).total, p.memory.total);
  EXPECT_GE(sum + (64u << 10) * p.memory.by_kind.size(), p.memory.total);  // except for gaps between regions
  EXPECT_TRUE(p.memory.fits());
  // Time: no step is faster than its FLOPs at the peak of all cores, none than its host.
  EXPECT_GT(p.mfu, 0);
  EXPECT_LT(p.mfu, 1);
  EXPECT_LE(p.job_mfu, p.mfu + 1e-12);
  EXPECT_GE(p.time.step, p.time.device_step);
  EXPECT_GE(p.time.total, p.steps * p.time.device_step);
  EXPECT_DOUBLE_EQ(p.steps, job.steps());
  EXPECT_DOUBLE_EQ(p.dollars.value(),
                   p.time.total / 3600 * p.price_per_hour.value() * static_cast<double>(job.instances()));
  // Stages: all of them were simulated, each accounts for all of its engines' time.
  ASSERT_EQ(p.stages.size(), static_cast<std::size_t>(GetParam().pipeline));
  for (const Stage& stage : p.stages)
    for (const auto& engine : stage.device().engines) {
      auto booked = engine.busy + engine.idle;
      for (const auto waited : engine.waiting) booked += waited;
      EXPECT_EQ(booked, stage.device().total);
    }
  EXPECT_EQ(p.bubble_seconds > 0, GetParam().pipeline > 1);
}

TEST_P(Project, AMachineTwiceAsFastIsFasterAndASlowerOneSlower) {
  Job job = job_of_case(GetParam());
  const double plain = project(job).device_seconds;
  const auto on = [&](std::vector<std::string> set) {
    job.machine = load_machine("trn1.32xlarge", std::move(set), 1);
    return project(job).device_seconds;
  };
  EXPECT_LT(on({"tensor.clock=2x", "vector.clock=2x", "scalar.clock=2x", "gpsimd.clock=2x", "dma.rate=2x",
                "hbm.bandwidth=2x"}),
            plain);
  EXPECT_GT(on({"vector.clock=0.5x"}), plain);
}

INSTANTIATE_TEST_SUITE_P(Families, Project, testing::ValuesIn(kCases),
                         [](const auto& info) { return info.param.name; });

// With recomputation the layers' inputs of one micro-batch are there at a time.
TEST(ProjectedMemory, OfRecomputationIsThatOfOneMicroBatch) {
  for (const std::int64_t tensor : {1, 2}) {
    const auto activations = [tensor](std::int64_t micro_batches) {
      const Case c{"", "bert-small", 64, tensor, 1, micro_batches, false, "full"};
      return static_cast<double>(project(job_of_case(c)).memory.by_kind.at("activations"));
    };
    EXPECT_EQ(activations(8), activations(2));
  }
}

// Two threads that ask at the same time get what they would get one after the other.
TEST(Projections, TwoThreadsProjectAsTwoInARow) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer's allocator stays locked in a child of one of several threads";
  const Job jobs[] = {job_of_case(kCases[0]), job_of_case(kCases[3])};
  double alone[2], beside[2];
  for (int i = 0; i < 2; ++i) alone[i] = project(jobs[i]).time.total;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 2; ++i) threads.emplace_back([&, i] { beside[i] = project(jobs[i]).time.total; });
  }
  for (int i = 0; i < 2; ++i) EXPECT_EQ(beside[i], alone[i]) << i;
}

/// Time and memory of a step through its first micro-batches are those of the whole one: `plan` and `choose` look at
/// some, `estimate` at all. The last stage, with its logits, is the slowest one, and the first one runs ahead.
TEST(Projections, AFewMicroBatchesShowTheTimeAndTheMemoryOfAll) {
  for (const std::int64_t stages : {1, 2}) {
    SCOPED_TRACE(stages);
    Settings given;
    given.machine.instance_type = "trn2.3xlarge", given.machine.nproc_per_node = 2, given.data.max_length = 64;
    given.plan.pipeline_parallel_size = stages, given.training.gradient_accumulation_steps = 12;
    const Job job = job_of(given, load_model_config("opt-125m")->with_sizes({.layers = 2}), 0);
    const Projection all = project(job), some = project_if_it_fits(job, {.micro_batches = 3});
    ASSERT_LT(some.micro_batches, all.micro_batches);
    EXPECT_NEAR(some.device_seconds, all.device_seconds, 0.002 * all.device_seconds);
    // First fit leaves other gaps, of a few small tensors.
    const auto bytes = static_cast<double>(all.memory.total);
    EXPECT_NEAR(static_cast<double>(some.memory.total), bytes, 1e-4 * bytes);
  }
}

/// Micro-batches are summed where the gradient will be, however many they are.
TEST(Projections, GradientsOfMicroBatchesHaveOnePlace) {
  const auto activations = [](std::int64_t micro_batches) {
    Settings given;
    given.training.gradient_accumulation_steps = micro_batches, given.data.max_length = 64;
    return project(job_of(given, load_model_config("llama-small"), 0)).memory.by_kind.at("activations");
  };
  const auto two = static_cast<double>(activations(2));
  EXPECT_NEAR(static_cast<double>(activations(9)), two, 0.01 * two);
}

// Times of blocks that another plan has measured change no figure.
TEST(Projections, AreTheSameInASearchAndAlone) {
  Settings given;
  given.machine.instance_type = "trn1.32xlarge", given.machine.nproc_per_node = 8, given.data.max_length = 64;
  const Job job = job_of(given, load_model_config("llama-small"), 0);
  std::vector<TriedPlan> plans = plans_of(job, {.batch = 16});
  time_plans(plans);
  int timed = 0;
  for (const TriedPlan& plan : plans) {
    if (!plan.refused.empty() || timed == 4) continue;
    const Projection alone = project(plan.job);
    EXPECT_NEAR(plan.seconds / alone.time.step, 1, 1e-3) << describe(plan.job);
    EXPECT_EQ(plan.memory, alone.memory.total) << describe(plan.job);
    ++timed;
  }
  EXPECT_EQ(timed, 4);
}

/// Which process has which plan, and which blocks it has by then, changes no figure.
TEST(Projections, OfASearchAreTheSameInAnyNumberOfProcesses) {
  Settings given;
  given.machine.instance_type = "trn1.32xlarge", given.machine.nproc_per_node = 8, given.data.max_length = 64;
  std::vector<TriedPlan> one = plans_of(job_of(given, load_model_config("llama-small"), 0), {.batch = 32}), three = one;
  std::size_t told = 0;
  time_plans(one, {.settled = one.size()});
  time_plans(three, {.processes = 3, .settled = three.size(), .watch = [&](std::size_t done, std::size_t) {
                       told = std::max(told, done);
                     }});
  std::size_t timed = 0;
  SharedBlocks shared{one.front().job.machine.target()};
  for (std::size_t i = 0; i < one.size(); ++i) {
    EXPECT_EQ(one[i].refused, three[i].refused);
    EXPECT_EQ(one[i].seconds, three[i].seconds) << describe(one[i].job);
    EXPECT_EQ(one[i].by_kind, three[i].by_kind) << describe(one[i].job);
    if (!one[i].refused.empty()) continue;
    ++timed;
    const runtime::Plan& plan = one[i].job.step.plan;
    if (plan.pipeline == 1 || plan.micro_batches < 8) continue;
    EXPECT_EQ(one[i].memory, memory_of_all_micro_batches(one[i].job, shared).total) << describe(one[i].job);
  }
  EXPECT_GE(timed, 10u);
  EXPECT_EQ(told, timed);
}

TEST(Projections, AJobThatDoesNotFitNamesAPlanThatDoes) {
  if (without_slow()) GTEST_SKIP() << kSlow;
  Settings given;
  given.machine.instance_type = "trn1.32xlarge", given.plan.tensor_parallel_size = 8, given.data.max_length = 2048;
  given.training.per_device_train_batch_size = 16;
  const Job job = job_of(given, load_model_config("llama2-7b"), 0);
  EXPECT_FALSE(least_memory(job).fits());
  try {
    project(job);
    FAIL() << "it does not fit";
  } catch (const base::Error& error) {
    EXPECT_EQ(error.fault(), base::Fault::kCapacity);
    EXPECT_NE(std::string{error.what()}.find("at least"), std::string::npos);
  }
  const auto near = nearest_that_fits(job);
  ASSERT_TRUE(near);
  EXPECT_TRUE(project_if_it_fits(*near).memory.fits());
}

// One point leaves only the device's part to the next.
TEST(Sweep, APointIsTheSameBehindAnotherAsAlone) {
  const analysis::SweepModel points = job_model("vit_mnist", "");
  const std::vector<analysis::SweepPoint> all{{{"stack", "torch-xla"}},
                                              {{"stack", "bare"}},
                                              {{"stack", "bare"}, {"num_train_epochs", "2"}},
                                              {{"stack", "bare"}, {"per_device_train_batch_size", "64"}}};
  for (const analysis::SweepPoint& point : all)
    EXPECT_EQ(points.evaluate(point), job_model("vit_mnist", "").evaluate(point)) << point.back().second;
  EXPECT_EQ(points.affinity(all[0]), points.affinity(all[2]));
  EXPECT_NE(points.affinity(all[0]), points.affinity(all[3]));
  EXPECT_NE(points.hash(all[0]), points.hash(all[1]));
}

}  // namespace
}  // namespace trnsim
