// Answers that contradicted each other in version 0.1: what a workload file says counts for every family and caller,
// and every entry of a registry is accepted wherever its kind is asked for.
#include <gtest/gtest.h>

#include <string>
#include <variant>
#include <vector>

#include "runtime/numerics.h"
#include "trnsim/listing.h"
#include "trnsim/project.h"
#include "trnsim/run.h"

namespace trnsim {
namespace {

std::vector<std::string> names_of(std::string_view listing) {
  std::vector<std::string> names;
  for (const Listing& one : listings())
    if (one.name == listing) {
      const base::Table table = one.make();
      for (const auto& row : table.cells())
        if (const auto* name = std::get_if<std::string>(&row.front().value)) names.push_back(*name);
    }
  return names;
}

TEST(Answers, PriceOfAWorkloadFileCountsForEveryCaller) {
  const workloads::Workload imdb = workloads::load_workload("bert_imdb");
  const Job job = load_job("bert_imdb");
  EXPECT_EQ(job.purchase, analysis::Purchase::kSageMaker);
  EXPECT_EQ(projected_job(imdb, {}).price_per_hour, job.price_per_hour);
  EXPECT_NE(job.price_per_hour, load_job("bert_emotion").price_per_hour);
  Settings spot;
  spot.price = "spot", spot.given = {"price"};
  EXPECT_LT(load_job("llama2_7b_dolly", spot).price_per_hour, load_job("llama2_7b_dolly").price_per_hour);
}

TEST(Answers, ADecodersEvaluationIsProjected) {
  Settings given;
  given.instance_type = "trn1.32xlarge", given.nproc_per_node = 8, given.tensor_parallel_size = 2;
  given.max_length = 64;
  const auto model = load_model_config("llama-small");
  const Projection with = project(job_of(given, model, 1000, 100)), without = project(job_of(given, model, 1000, 0));
  EXPECT_GT(with.eval_seconds, 0);
  EXPECT_EQ(without.eval_seconds, 0);
  EXPECT_GT(with.time.total, without.time.total);
}

TEST(Answers, StagesOfAPipelineAreTheOnesThatRun) {
  Settings given;
  given.instance_type = "trn1.32xlarge", given.nproc_per_node = 8, given.pipeline_parallel_size = 2;
  given.gradient_accumulation_steps = 4, given.max_length = 64;
  const Projection p = project(job_of(given, load_model_config("llama-small"), 0));
  ASSERT_EQ(p.stages.size(), 2u);
  // The first has the table of tokens, the last the head and the loss.
  EXPECT_NE(p.stages[0].compiled.program.model_flops, p.stages[1].compiled.program.model_flops);
  EXPECT_EQ(p.stage().device.total, std::max(p.stages[0].device.total, p.stages[1].device.total));
}

TEST(Answers, EveryEntryOfARegistryIsAccepted) {
  const auto model = load_model_config("llama-small");
  const auto accepted = [&](auto change) {
    Settings given;
    given.instance_type = "trn1.32xlarge", given.max_length = 64;
    change(given);
    EXPECT_NO_THROW(job_of(given, model, 0));
  };
  for (const std::string& name : names_of("stacks")) accepted([&](Settings& s) { s.stack = name; });
  for (const std::string& name : names_of("numerics")) accepted([&](Settings& s) { s.numerics = name; });
  for (const std::string& name : names_of("machines")) accepted([&](Settings& s) { s.instance_type = name; });
  for (const std::string& name : names_of("passes")) accepted([&](Settings& s) { s.passes = "-" + name; });
  for (const char* listing : {"stacks", "numerics", "machines", "passes", "models", "workloads"})
    EXPECT_GT(names_of(listing).size(), 1u) << listing;
  for (const std::string& name : names_of("models")) EXPECT_NO_THROW(load_model_config(name)) << name;
}

}  // namespace
}  // namespace trnsim
