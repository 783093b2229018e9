// Answers that contradicted each other in version 0.1: a workload file's values count for every family and caller,
// and every entry of a registry is accepted wherever its kind is asked for.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

#include "analysis/host/stack.h"
#include "analysis/profile/stats.h"
#include "hw/trace.h"
#include "runtime/compiler/compile.h"
#include "runtime/graph/numerics.h"
#include "trnsim/graphs/rewrite_switches.h"
#include "trnsim/job/listing.h"
#include "trnsim/job/settings.h"
#include "trnsim/projection.h"
#include "trnsim/run/run.h"
#include "workloads/jobs/workload.h"

namespace trnsim {
namespace {

TEST(Answers, PriceOfAWorkloadFileCountsForEveryCaller) {
  const workloads::Workload imdb = workloads::load_workload("bert_imdb");
  const Job job = load_job("bert_imdb");
  EXPECT_EQ(job.purchase, analysis::Purchase::kSageMaker);
  EXPECT_EQ(projected_job(imdb, {}).price_per_hour, job.price_per_hour);
  EXPECT_NE(job.price_per_hour, load_job("bert_emotion").price_per_hour);
  Settings spot;
  spot.machine.price = "spot", spot.given = {"price"};
  EXPECT_LT(load_job("llama2_7b_dolly", spot).price_per_hour, load_job("llama2_7b_dolly").price_per_hour);
}

TEST(Answers, ADecodersEvaluationIsProjected) {
  Settings given;
  given.machine.instance_type = "trn1.32xlarge", given.machine.nproc_per_node = 8, given.plan.tensor_parallel_size = 2;
  given.data.max_length = 64;
  const auto model = load_model_config("llama-small");
  const Projection with = project(job_of(given, model, 1000, 100)), without = project(job_of(given, model, 1000, 0));
  EXPECT_GT(with.eval_seconds, 0);
  EXPECT_EQ(without.eval_seconds, 0);
  EXPECT_GT(with.time.total, without.time.total);
}

TEST(Answers, StagesOfAPipelineAreTheOnesThatRun) {
  Settings given;
  given.machine.instance_type = "trn1.32xlarge", given.machine.nproc_per_node = 8,
  given.plan.pipeline_parallel_size = 2;
  given.training.gradient_accumulation_steps = 4, given.data.max_length = 64;
  const Projection p = project(job_of(given, load_model_config("llama-small"), 0));
  ASSERT_EQ(p.stages.size(), 2u);
  // The first has the table of tokens, the last the head and the loss.
  EXPECT_NE(p.stages[0].compiled().program.model_flops, p.stages[1].compiled().program.model_flops);
  EXPECT_EQ(p.stage().device().total, std::max(p.stages[0].device().total, p.stages[1].device().total));
}

TEST(Answers, EveryEntryOfARegistryIsAccepted) {
  const auto model = load_model_config("llama-small");
  const auto accepted = [&](auto change) {
    Settings given;
    given.machine.instance_type = "trn1.32xlarge", given.data.max_length = 64;
    change(given);
    EXPECT_NO_THROW(job_of(given, model, 0));
  };
  for (const std::string& name : names_in("stacks"))  // the others generate text
    if (analysis::load_stack(name).trains == "yes") accepted([&](Settings& s) { s.machine.stack = name; });
  for (const std::string& name : names_in("numerics")) accepted([&](Settings& s) { s.numerics.name = name; });
  for (const std::string& name : names_in("machines")) accepted([&](Settings& s) { s.machine.instance_type = name; });
  const std::vector<std::string> rewrites = rewrite_names();  // of graphs, which this model is none of
  for (const std::string& name : names_in("passes"))
    if (std::ranges::find(rewrites, name) == rewrites.end())
      accepted([&](Settings& s) { s.machine.passes = "-" + name; });
  for (const char* listing : {"stacks", "numerics", "machines", "passes", "models", "workloads"})
    EXPECT_GT(names_in(listing).size(), 1u) << listing;
  for (const std::string& name : names_in("models")) EXPECT_NO_THROW(load_model_config(name)) << name;
}

// The update of the published job and of the small one: both spare gains and biases, and both decay as they are told.
TEST(Answers, DecayIsTheSameInTheProjectionAndInTheTraining) {
  for (const char* name : {"bert_emotion", "llama2_7b_dolly", "vit_mnist"}) {
    Settings given;
    given.training.weight_decay = 0.25, given.given = {"weight_decay"};
    const Job job = load_job(name, given);
    EXPECT_EQ(job.step.optimizer.weight_decay, 0.25) << name;
    EXPECT_NE(hash_of(job), hash_of(load_job(name))) << name;
    const workloads::Workload workload = workloads::load_workload(name);
    apply_workload(given, workload, WorkloadPart::kTrained);
    const Job small = job_of(given, load_model_config(workload.small_model), 1000);
    EXPECT_EQ(small.step.optimizer.weight_decay, 0.25) << name;
    EXPECT_EQ(small.step.optimizer.decay_all, job.step.optimizer.decay_all) << name;
  }
}

// A published range is read as one, and nothing in it is an error.
TEST(Answers, PublishedRangesAreRanges) {
  const workloads::Workload tweets = workloads::load_workload("bert_tweets");
  const auto at = std::ranges::find(tweets.published, "core_utilisation", &workloads::Published::name);
  ASSERT_NE(at, tweets.published.end());
  EXPECT_EQ(at->low, 0.8);
  EXPECT_EQ(at->high, 1);
  EXPECT_EQ(at->error(0.83), 0);
  EXPECT_NEAR(at->error(0.4), -0.5, 1e-12);
  EXPECT_NEAR(at->error(1.1), 0.1, 1e-12);
  const workloads::Workload emotion = workloads::load_workload("bert_emotion");
  EXPECT_EQ(emotion.published.front().low, emotion.published.front().high);
}

// The share of the DMA engines is of those that the machine has.
TEST(Answers, TheDmaSharesAreOfTheMachinesEngines) {
  const auto share = [](double engines) {
    Settings given;
    given.data.max_length = 64;
    given.machine.set = {fmt::format("dma.engines={:g}", engines)};
    const Projection p = project(job_of(given, load_model_config("bert-small"), 1000));
    const hw::SimResult& device = p.stage().device();
    EXPECT_EQ(device.peaks.dma_engines, engines);
    for (const analysis::Resource& r : analysis::resources(device))
      if (r.name == "dma engines") {
        EXPECT_NEAR(r.busy, 100 * device.dma.engine_busy / (static_cast<double>(device.total) * engines), 1e-9);
        return r.busy;
      }
    ADD_FAILURE() << "no share of the DMA engines";
    return 0.0;
  };
  const double sixteen = share(16), thirty_two = share(32);
  EXPECT_GT(thirty_two, 0);
  EXPECT_LT(thirty_two, sixteen);
  EXPECT_LE(sixteen, 100);
}

}  // namespace
}  // namespace trnsim
