#include "analysis/host/host_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "analysis/cost/cost.h"
#include "base/error.h"

namespace {

using analysis::JobShape;
using analysis::JobTime;
using analysis::Stack;
using analysis::traced_ops;

/// Round numbers: 1 ms of tracing per op, 2 ms per step, 3 ms launch.
Stack stack(double in_flight) {
  Stack s;
  s.per_op.value = 1e-3;
  s.per_step.value = 2e-3;
  s.per_sample.value = 0.5e-3;
  s.per_launch.value = 3e-3;
  s.per_launch_core.value = 0;
  s.in_flight.value = in_flight;
  s.copy_bandwidth.value = 1e9;
  s.read_back.value = 10e-3;
  s.lead_in.value = 0;
  s.compile_per_op.value = 0.1;
  s.compile_graphs.value = 1;
  return s;
}

JobShape job(double device_ms) {
  JobShape shape;
  shape.steps = 100;
  shape.device_step_seconds = device_ms * 1e-3;
  shape.traced_ops = 10;          // 10 ms
  shape.samples_per_step = 4;     // 2 ms
  shape.bytes_in_per_step = 1e6;  // 1 ms
  return shape;                   // host: 10 + 2 + 2 + 1 + 3 = 18 ms
}

double sum(const JobTime& time) {
  return std::accumulate(time.parts.begin(), time.parts.end(), 0.0,
                         [](double total, const analysis::TimeItem& part) { return total + part.seconds; });
}

double part(const JobTime& time, std::string_view name) {
  for (const auto& p : time.parts) {
    if (p.name == name) return p.seconds;
  }
  ADD_FAILURE() << "no part " << name;
  return -1;
}

TEST(HostModel, WhenNothingIsInFlightHostAndDeviceAddUp) {
  const JobTime time = job_time(stack(0), job(5));
  EXPECT_NEAR(time.step, 23e-3, 1e-12);
  EXPECT_NEAR(time.total, 2.3, 1e-9);
}

TEST(HostModel, InFlightTheSlowerOfTheTwoDecides) {
  EXPECT_NEAR(job_time(stack(2), job(5)).step, 18e-3, 1e-12);
  EXPECT_NEAR(job_time(stack(2), job(50)).step, 50e-3, 1e-12);
}

TEST(HostModel, WithOneGraphInFlightTheNextIsTracedButNotLaunched) {
  EXPECT_NEAR(job_time(stack(1), job(5)).step, 18e-3, 1e-12);
  EXPECT_NEAR(job_time(stack(1), job(50)).step, 53e-3, 1e-12);  // and 3 ms of launch
  Stack hashed = stack(1);
  hashed.behind.value = 0.4;  // 4 of the 10 ms of tracing
  EXPECT_NEAR(job_time(hashed, job(5)).step, 18e-3, 1e-12);
  EXPECT_NEAR(job_time(hashed, job(50)).step, 57e-3, 1e-12);
}

TEST(HostModel, ProcessesOnOneHostSlowEachOtherDown) {
  Stack crowded = stack(0);
  crowded.contention.value = 2;
  JobShape shape = job(5);
  EXPECT_NEAR(job_time(crowded, shape).step, 23e-3, 1e-12);  // cores enough for all
  shape.physical_cores = 4;
  EXPECT_NEAR(job_time(crowded, shape).step, 23e-3 + 0.5 * 14e-3, 1e-12);  // tracing, loop and loading 1.5 times
  shape.cores = 2;
  EXPECT_NEAR(job_time(crowded, shape).step, 23e-3 + 14e-3, 1e-12);
  crowded.per_exchange.value = 1e-3;
  EXPECT_NEAR(job_time(crowded, shape).step, 24e-3 + 14e-3, 1e-12);
}

TEST(HostModel, AJobBeginsWithLoadingItsGraphs) {
  Stack loads = stack(0);
  loads.start_per_op.value = 20e-3;
  JobShape shape = job(5);
  EXPECT_NEAR(job_time(loads, shape).total, 2.3, 1e-9);
  EXPECT_NEAR(job_time(loads, shape).start, 0.2, 1e-12);
  shape.started = true;
  EXPECT_NEAR(job_time(loads, shape).total, 2.5, 1e-9);
}

TEST(HostModel, ABlockingLoopAddsUpOnAnyStack) {
  JobShape shape = job(5);
  shape.blocking = true;
  EXPECT_NEAR(job_time(stack(3), shape).step, 23e-3, 1e-12);
}

TEST(HostModel, PartsAddUpToTheTotalInEveryRegime) {
  for (const double in_flight : {0.0, 1.0}) {
    for (const double device : {0.0, 5.0, 18.0, 50.0}) {
      JobShape shape = job(device);
      shape.log_every = 7;
      shape.eval_passes = 3;
      shape.eval_steps = 11;
      shape.eval_device_step_seconds = 4e-3;
      shape.eval_traced_ops = 3;
      shape.checkpoints = {.count = 2, .bytes = 5e8};
      const JobTime time = job_time(stack(in_flight), shape);
      EXPECT_NEAR(sum(time), time.total, 1e-9 * time.total) << in_flight << " " << device;
      EXPECT_NEAR(part(time, "device"), 100 * device * 1e-3, 1e-9);
    }
  }
}

TEST(HostModel, ALogLineDrainsThePipelineAndReadsBack) {
  JobShape shape = job(50);
  shape.log_every = 10;
  // 10 logs: each loses the 18 ms that the host hid behind the device, and reads back in 10 ms.
  EXPECT_NEAR(part(job_time(stack(2), shape), "logging"), 10 * 28e-3, 1e-9);
  EXPECT_NEAR(part(job_time(stack(0), shape), "logging"), 10 * 10e-3, 1e-9);
}

TEST(HostModel, EvaluationBlocksInEveryBatch) {
  JobShape shape = job(50);
  shape.eval_passes = 3;
  shape.eval_steps = 10;
  shape.eval_device_step_seconds = 20e-3;
  shape.eval_traced_ops = 2;  // host: 2 + 2 + 2 + 1 + 3 = 10 ms
  EXPECT_NEAR(part(job_time(stack(1), shape), "evaluation"), 30 * (10e-3 + 20e-3 + 10e-3), 1e-9);
}

TEST(HostModel, APrefetchingLoaderCostsOnlyItsExcessOverTheLoop) {
  JobShape shape = job(5);
  shape.prefetch = true;
  EXPECT_NEAR(job_time(stack(1), shape).step, 16e-3, 1e-12);  // 18 without the 2 ms of loading
  shape.samples_per_step = 100;                               // 50 ms of loading
  EXPECT_NEAR(job_time(stack(1), shape).step, 50e-3, 1e-12);
}

TEST(HostModel, CompilationIsOutsideOfTheTrainingTime) {
  const JobTime time = job_time(stack(0), job(5));
  EXPECT_NEAR(time.compile, 1.0, 1e-12);
  EXPECT_NEAR(time.total, 2.3, 1e-9);
}

TEST(HostModel, ImpossibleShapesAreRefused) {
  JobShape none = job(5);
  none.steps = 0;
  EXPECT_THROW(job_time(stack(0), none), base::Error);
  JobShape negative = job(-1);
  EXPECT_THROW(job_time(stack(0), negative), base::Error);
}

TEST(TracedOps, AccumulationRepeatsForwardAndBackwardButNotTheOptimizer) {
  EXPECT_DOUBLE_EQ(traced_ops({.forward_ops = 500, .backward_ops = 1000, .tensors = 200, .optimizer = "adamw"}), 5300);
  EXPECT_DOUBLE_EQ(
      traced_ops({.forward_ops = 500, .backward_ops = 1000, .tensors = 200, .micro_steps = 4, .optimizer = "adamw"}),
      9800);
  EXPECT_DOUBLE_EQ(traced_ops({.forward_ops = 500, .optimizer = ""}), 500);
  EXPECT_DOUBLE_EQ(traced_ops({.tensors = 100, .optimizer = "sgd"}), 240);
  EXPECT_DOUBLE_EQ(traced_ops({.tensors = 100, .optimizer = "adamw", .clips = false}), 1240);
  EXPECT_DOUBLE_EQ(traced_ops({.tensors = 100, .optimizer = "adamw", .optimizer_ops = 12}), 3100);
  EXPECT_THROW(traced_ops({.tensors = 1, .optimizer = "magic"}), base::Error);
}

TEST(Stacks, AllLoadWithASourceForEveryNumber) {
  EXPECT_THAT(analysis::stack_names(),
              testing::IsSupersetOf({"bare", "hf-trainer", "megatron", "neuronx-distributed", "torch-xla"}));
  for (const std::string& name : analysis::stack_names()) {
    const Stack s = analysis::load_stack(name);
    EXPECT_EQ(s.name, name);
    for (const Stack::Field& field : Stack::fields())
      EXPECT_NE((s.*field.member).source, "") << name << " " << field.key;
  }
  EXPECT_THROW(analysis::load_stack("torch-lxa"), base::Error);
}

/// BERT-base NER, 16 x 64 on each core, 2 epochs of 1,000 samples with the start: 90.1 samples/s on one, 119.8 on two.
TEST(Stacks, TheNerLoopIsReproduced) {
  JobShape shape;
  shape.started = true;
  shape.prefetch = true;
  shape.device_step_seconds = 25e-3;
  shape.traced_ops =
      traced_ops({.forward_ops = 12 * 70 + 46, .backward_ops = 12 * 118 + 40, .tensors = 199, .optimizer = "adamw"});
  shape.samples_per_step = 16;
  shape.bytes_in_per_step = 16 * 64 * 4 * 8;
  shape.physical_cores = 4;
  for (const auto& [cores, published] : {std::pair{1, 90.1}, {2, 119.8}}) {
    shape.cores = cores;
    shape.steps = 125.0 / cores;
    EXPECT_NEAR(2000 / job_time(analysis::load_stack("torch-xla-2025"), shape).total, published, 0.12 * published);
  }
}

TEST(HostModel, LoadersShareTheSamples) {
  JobShape shape;
  shape.steps = 1, shape.prefetch = true, shape.samples_per_step = 128;
  const analysis::Stack stack = analysis::load_stack("torch-xla");
  const double one = job_time(stack, shape).step;
  EXPECT_NEAR(one, 128 * stack.per_sample.value, 1e-12);
  shape.loaders = 4;
  EXPECT_NEAR(job_time(stack, shape).step, one / 4, 1e-12);
  shape.loaders = 0;
  EXPECT_THROW(job_time(stack, shape), base::Error);
}

TEST(Cost, DollarsFollowTheClock) {
  const auto cost = analysis::cost_of(1800, 21.5, 2, 3, 48000);
  EXPECT_DOUBLE_EQ(cost.run, 21.5);
  EXPECT_DOUBLE_EQ(cost.per_epoch, 21.5 / 3);
  EXPECT_DOUBLE_EQ(cost.per_1k_samples, 21.5 / 48);
  EXPECT_DOUBLE_EQ(analysis::cost_of(1800, 21.5, 1, 0, 0).per_epoch, 0);
  EXPECT_THROW(analysis::cost_of(-1, 1, 1, 1, 1), base::Error);
}

}  // namespace
