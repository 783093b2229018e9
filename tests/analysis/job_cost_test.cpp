#include "analysis/cost/job_cost.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "analysis/record/result.h"
#include "base/error.h"
#include "tests/analysis/recorded.h"

namespace {

using analysis::Basis;
using analysis::CostRow;
using analysis::JobToPrice;
using analysis::load_prices;
using analysis::price_job;
using testing::HasSubstr;

const CostRow& row(const std::vector<CostRow>& rows, std::string_view name, int count = 1) {
  const auto found =
      std::ranges::find_if(rows, [&](const CostRow& r) { return r.instance_type == name && r.instances == count; });
  if (found == rows.end()) throw std::runtime_error{"no row " + std::string{name}};
  return *found;
}

JobToPrice job(std::string instance, double seconds) {
  JobToPrice j;
  j.instance_type = std::move(instance);
  j.seconds = seconds;
  return j;
}

TEST(Prices, AnInstanceIsPricedByItsTermsOrByTheList) {
  using analysis::price_per_hour;
  using analysis::Purchase;
  EXPECT_EQ(price_per_hour("trn1.2xlarge"), 1.34375);
  EXPECT_EQ(price_per_hour("trn1.32xlarge"), 21.5);
  EXPECT_EQ(price_per_hour("trn1.2xlarge", {.purchase = Purchase::kSageMaker}), 1.54);
  EXPECT_EQ(price_per_hour("trn1n.32xlarge", {.purchase = Purchase::kSageMaker}), std::nullopt);
  EXPECT_EQ(price_per_hour("mine"), std::nullopt);
  EXPECT_EQ(price_per_hour("mine", {.set = {"tensor.clock=2x", "price.on_demand=$2/h"}}), 2);
  EXPECT_EQ(price_per_hour("trn1.32xlarge", {.set = {"price.on_demand=0.5x"}}), 10.75);
  EXPECT_EQ(price_per_hour("trn1.32xlarge", {.set = {"price.spot=0.5x"}}), 21.5);  // another way to buy it
  EXPECT_THROW(price_per_hour("mine", {.set = {"price.on_demand=2x"}}), base::Error);
  EXPECT_THROW(price_per_hour("trn1.2xlarge", {.set = {"price.on_demnd=$2/h"}}), base::Error);
  EXPECT_THROW(price_per_hour("trn1.2xlarge", {.set = {"price.on_demand=2 GHz"}}), base::Error);
  EXPECT_THROW(price_per_hour("trn1.2xlarge", {.set = {"price.on_demand"}}), base::Error);
}

TEST(Prices, TheUsersPricesStandInThePlaceOfTheLists) {
  const auto list = load_prices(std::string_view{});
  const auto own = analysis::with_prices(list, "mine", {"price.on_demand=0.5x", "price.spot=$1/h", "hbm.bytes=2x"});
  ASSERT_EQ(own.size(), list.size() + 1);
  EXPECT_EQ(own.back().name, "mine");
  EXPECT_FALSE(own.back().per_hour[0]) << "a multiple of no price";
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (!list[i].per_hour[0]) continue;
    EXPECT_EQ(own[i].per_hour[0]->value, list[i].per_hour[0]->value * (list[i].simulated ? 0.5 : 1)) << list[i].name;
  }
  EXPECT_EQ(own.back().per_hour[3]->value, 1);
  EXPECT_FALSE(find_instance(own, "trn2.3xlarge").per_hour[3]);
}

TEST(Prices, EveryNumberHasDateRegionAndSource) {
  const auto prices = load_prices(std::string_view{});
  EXPECT_GE(prices.size(), 9u);
  for (const auto& one : prices) {
    EXPECT_EQ(one.date.size(), 10u);
    EXPECT_FALSE(one.region.empty());
    for (const auto& price : one.per_hour) {
      if (price) {
        EXPECT_GT(price->value, 0) << one.name;
        EXPECT_FALSE(price->source.empty()) << one.name;
      }
    }
    EXPECT_EQ(one.simulated, one.peak == 0) << one.name;
  }
}

std::string error_of(const std::string& toml) {
  try {
    load_prices(base::ParamFile::parse(toml, "p.toml"));
  } catch (const base::Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Prices, AFileWithoutDateRegionSourceOrUnitIsRefused) {
  const std::string head = "region = \"us-east-1\"\ndate = \"2026-01-02\"\n";
  const std::string one =
      "[[instance]]\nname = \"a\"\nkind = \"simulated\"\naccelerators = { value = 1, source = \"s\" }\n";
  const std::string price = "on_demand = { value = \"$1/h\", source = \"s\" }\n";
  EXPECT_EQ(error_of(head + one + price), "no error");
  EXPECT_THAT(error_of("region = \"us-east-1\"\n" + one + price), HasSubstr("date"));
  EXPECT_THAT(error_of("date = \"2026-01-02\"\n" + one + price), HasSubstr("region"));
  EXPECT_THAT(error_of("region = \"r\"\ndate = \"yesterday\"\n" + one + price), HasSubstr("is not a date"));
  EXPECT_THAT(error_of(head + one + "on_demand = { value = \"$1/h\" }\n"), HasSubstr("source"));
  EXPECT_THAT(error_of(head + one + "on_demand = { value = \"1 GHz\", source = \"s\" }\n"), HasSubstr("price"));
  EXPECT_THAT(error_of(head + one + price + "discount = { value = 1, source = \"s\" }\n"), HasSubstr("discount"));
  EXPECT_EQ(error_of(head + one), "no error");  // no price is published: answers say so
  EXPECT_THAT(error_of(head + one + price + one + price), HasSubstr("twice"));
  EXPECT_THAT(error_of(head), HasSubstr("has no instance"));
}

TEST(JobCost, ReproducesThePublishedDollars) {
  const auto prices = load_prices(std::string_view{});
  // HF optimum-neuron, fine-tuning BERT: 8:30 on trn1.2xlarge at $1.34375/h, "$0.20": 0.19 to the cent.
  const auto bert = price_job(job("trn1.2xlarge", 8 * 60 + 30), prices, {}, 0.4);
  EXPECT_NEAR(*bert[0].run[0], 0.19, 0.005);
  EXPECT_NEAR(*bert[0].run[0], 0.20, 0.01);
  // HF optimum-neuron, fine-tuning Llama 2 7B: 43:24 on trn1.32xlarge at $21.50/h, "$15.5".
  EXPECT_NEAR(*price_job(job("trn1.32xlarge", 43 * 60 + 24), prices, {}, 0.4)[0].run[0], 15.5, 0.06);
}

analysis::Placement placed(std::string instance, double seconds) {
  analysis::Placement p;
  p.instance_type = std::move(instance), p.seconds = seconds;
  return p;
}

TEST(JobCost, OtherInstancesAreThoseThatWereSimulated) {
  JobToPrice j = job("trn1.2xlarge", 1000);
  j.cores = 2, j.sequences_per_step = 16;
  const auto alone = price_job(j, load_prices(std::string_view{}), {1, 2}, 0.4);
  ASSERT_EQ(alone.size(), 1u);  // nothing is scaled, and without FLOPs there are no rooflines
  EXPECT_EQ(alone[0].basis, Basis::kGiven);
  j.placements = {placed("trn1.32xlarge", 100), placed("trn1.2xlarge", 600)};
  j.placements[1].instances = 2, j.placements[1].cores = 4;
  const auto rows = price_job(j, load_prices(std::string_view{}), {1, 2}, 0.4);
  EXPECT_EQ(row(rows, "trn1.32xlarge").basis, Basis::kSimulated);
  EXPECT_DOUBLE_EQ(*row(rows, "trn1.32xlarge").run[0], 100.0 / 3600 * 21.5);
  EXPECT_DOUBLE_EQ(*row(rows, "trn1.2xlarge", 2).run[0], 600.0 / 3600 * 1.34375 * 2);
  EXPECT_EQ(cheapest_of(rows)->instances, 1);
  EXPECT_EQ(fastest_of(rows)->instance_type, "trn1.32xlarge");
  j.placements = {placed("trn9.32xlarge", 100)};
  EXPECT_THROW(price_job(j, load_prices(std::string_view{}), {}, 0.4), base::Error);
}

TEST(JobCost, OtherAcceleratorsAreRooflinesOfTheJobsWork) {
  JobToPrice j = job("trn1.2xlarge", 1000);
  j.flops = 1e18;
  j.hbm_bytes = 1e12;
  const auto on = [&](const char* name) { return row(price_job(j, load_prices(std::string_view{}), {}, 0.5), name); };
  EXPECT_EQ(on("p4d.24xlarge").basis, Basis::kRoofline);
  EXPECT_DOUBLE_EQ(on("p4d.24xlarge").seconds, 1e18 / 312e12 / 8 / 0.5);
  EXPECT_DOUBLE_EQ(on("g4dn.xlarge").seconds, 1e18 / 65e12 / 0.5);
  EXPECT_DOUBLE_EQ(on("g6.xlarge").seconds, 1e18 / 121e12 / 0.5);
  EXPECT_DOUBLE_EQ(on("g6e.xlarge").seconds, 1e18 / 362.05e12 / 0.5);
  j.hbm_bytes = 1e18;
  EXPECT_DOUBLE_EQ(on("p4d.24xlarge").seconds, 1e18 / 1555e9 / 8 / 0.5);
}

// A GPU's host dispatches operation by operation while the GPU computes: a fast one waits for it, a slow one does not.
TEST(JobCost, AGpuIsAsFastAsItsHostAtMost) {
  JobToPrice j = job("trn1.2xlarge", 1000);
  j.flops = 1e15, j.hbm_bytes = 1, j.steps = 1000, j.framework_ops = 2000;
  const auto prices = load_prices(std::string_view{});
  const auto rows = price_job(j, prices, {}, 0.5);
  EXPECT_DOUBLE_EQ(row(rows, "p5.48xlarge").seconds, 1000 * 2000 * 10e-6);
  EXPECT_DOUBLE_EQ(row(rows, "g4dn.xlarge").seconds, 1e15 / 65e12 / 0.5);
}

TEST(JobCost, TheParetoFrontHasNoRowThatIsSlowerAndDearer) {
  JobToPrice j = job("trn1.2xlarge", 1000);
  j.flops = 1e17, j.samples = 100;
  j.placements = {placed("trn1.32xlarge", 100), placed("trn1n.32xlarge", 100), placed("trn2.3xlarge", 400),
                  placed("trn2.48xlarge", 50)};
  for (analysis::Placement& one : j.placements) one.samples = 100;
  j.placements[3].samples = 10;  // for as many steps: a tenth of the work
  const auto rows = price_job(j, load_prices(std::string_view{}), {1, 4}, 0.4);
  for (const CostRow& a : rows)
    EXPECT_EQ(a.pareto.has_value(), a.basis != Basis::kRoofline) << a.instance_type;  // estimates compete with nothing
  EXPECT_EQ(row(rows, "trn1.32xlarge").pareto, true);
  EXPECT_EQ(row(rows, "trn1n.32xlarge").pareto, false);  // as fast, and dearer
  EXPECT_EQ(row(rows, "trn2.3xlarge").pareto, true);     // cheaper than this job, and faster
  EXPECT_EQ(rows[0].pareto, false);
  EXPECT_EQ(row(rows, "trn2.48xlarge").pareto, false);
  EXPECT_EQ(cheapest_of(rows)->instance_type, "trn2.3xlarge");
  EXPECT_EQ(fastest_of(rows)->instance_type, "trn1.32xlarge");
}

TEST(JobCost, PerEpochTokenAndSample) {
  JobToPrice j = job("trn1.2xlarge", 3600);
  j.epochs = 3;
  j.samples = 48'000;
  j.tokens = 2e6;
  const CostRow first = price_job(j, load_prices(std::string_view{}), {}, 0.4)[0];
  EXPECT_DOUBLE_EQ(*first.per_epoch, 1.34375 / 3);
  EXPECT_DOUBLE_EQ(*first.per_1k_samples, 1.34375 / 48);
  EXPECT_DOUBLE_EQ(*first.per_million_tokens, 1.34375 / 2);
}

TEST(JobCost, ARunFolderTellsItsJob) {
  const auto folder = recorded::folder();
  const analysis::Record record = recorded::record(false);
  write_record(folder, record);
  analysis::write_result(folder, {{"job",
                                   {{"train_runtime", 100.0},
                                    {"train_steps_per_second", 10.0},
                                    {"device_step_seconds", 0.06},
                                    {"train_samples_per_second", 320.0}}},
                                  {"cost", {{"dollars", 0.5}, {"dollars_per_epoch", 0.25}}}});
  const JobToPrice j = analysis::job_of_run(folder);
  EXPECT_EQ(j.instance_type, "trn1.2xlarge");
  EXPECT_DOUBLE_EQ(j.steps, 1000);
  EXPECT_DOUBLE_EQ(j.flops, record.utilisation.model_flops * 1000 * 2);  // two ranks
  EXPECT_DOUBLE_EQ(j.samples, 32'000);
  EXPECT_DOUBLE_EQ(j.epochs, 2);
  EXPECT_EQ(j.tokens, 0);
  analysis::write_result(folder, {{"job", {{"train_runtime", nullptr}}}});
  EXPECT_THROW(analysis::job_of_run(folder), base::Error);
}

TEST(JobCost, AGenerationHasNoEpochs) {
  const auto folder = recorded::folder();
  write_record(folder, recorded::record(false));
  analysis::write_result(folder, {{"job", {{"generate_runtime", 2.0}, {"steps", 100}, {"samples", 4}}},
                                  {"cost", {{"dollars", 0.5}, {"dollars_per_epoch", 0.5}}}});
  EXPECT_EQ(analysis::job_of_run(folder).epochs, 0);
}

TEST(JobCost, DamagedTimesOfOtherInstancesAreErrors) {
  const auto folder = recorded::folder();
  write_record(folder, recorded::record(false));
  const auto times = [&](const nlohmann::ordered_json& other_instances) {
    analysis::write_result(
        folder,
        {{"job",
          {{"train_runtime", 100.0}, {"train_steps_per_second", 10.0}, {"train_runtime_elsewhere", other_instances}}}});
    return analysis::job_of_run(folder).placements;
  };
  const auto one = times({{"trn1.32xlarge", 50.0}});
  ASSERT_EQ(one.size(), 1u);
  EXPECT_EQ(one[0].instance_type, "trn1.32xlarge");
  EXPECT_EQ(one[0].seconds, 50);
  EXPECT_THAT(times(nlohmann::ordered_json::object()), testing::IsEmpty());
  for (const nlohmann::ordered_json& damaged :
       {nlohmann::ordered_json(7), nlohmann::ordered_json("x"), nlohmann::ordered_json{{"trn1.32xlarge", nullptr}},
        nlohmann::ordered_json{{"trn1.32xlarge", 0.0}}, nlohmann::ordered_json{{"trn1.32xlarge", "50"}}})
    EXPECT_THROW(times(damaged), base::Error) << damaged;
}

TEST(JobCost, AnInstanceThatCannotHoldTheJobHasNeitherTimeNorPrice) {
  JobToPrice j = job("trn1.32xlarge", 1000);
  j.flops = 1e17;
  j.state_bytes = 67e9;  // a Llama-2-7B
  j.placements = {placed("trn1.2xlarge", 0)};
  j.placements[0].too_small = analysis::TooSmall{.needed = 34e9, .has = 16.0 * (1 << 30), .of_a_core = true};
  const auto rows = price_job(j, load_prices(std::string_view{}), {1, 2}, 0.4);
  EXPECT_FALSE(rows[0].too_small);
  EXPECT_FALSE(row(rows, "trn1.2xlarge").pareto);
  EXPECT_TRUE(row(rows, "p3.2xlarge").too_small);
  EXPECT_FALSE(row(rows, "p4d.24xlarge").too_small);
  EXPECT_EQ(cheapest_of(rows), &rows[0]);
  const std::string json = cost_table(rows, 0.4).render(base::Format::kJson);
  EXPECT_THAT(json, HasSubstr("does not fit: a core needs 31.66 GiB, but it has 16 GiB"));
}

// Two tensor-parallel cores in each of four data-parallel ranks that share the optimizer's state; two stages.
TEST(JobCost, TheStateOfAJobFollowsFromItsPlan) {
  const auto folder = recorded::folder();
  write_record(folder, recorded::record(false));
  const nlohmann::ordered_json job = {{"train_runtime", 100.0},
                                      {"train_steps_per_second", 10.0},
                                      {"device_step_seconds", 0.06},
                                      {"train_samples_per_second", 320.0},
                                      {"tokens", 2e6},
                                      {"job_model_flops", 5e15}};
  nlohmann::ordered_json options = {{"tensor_parallel_size", 2}, {"pipeline_parallel_size", 2}, {"zero_1", true}};
  const nlohmann::ordered_json memory = {{"weights", 10}, {"gradients", 20}, {"optimizer", 3}, {"hbm_bytes", 99}};
  const auto state = [&] {
    analysis::write_result(
        folder, {{"workload", {{"options", options}}}, {"machine", {{"cores", 16}}}, {"job", job}, {"memory", memory}});
    return analysis::job_of_run(folder);
  };
  EXPECT_EQ(state().state_bytes, 4 * (10 + 20) + 16 * 3);
  EXPECT_EQ(state().flops, 5e15);  // of all stages, whatever the record has
  EXPECT_EQ(state().tokens, 2e6);
  options["zero_1"] = false;
  EXPECT_EQ(state().state_bytes, 4 * (10 + 20 + 3));
}

TEST(JobCost, SenselessInputIsRefused) {
  const auto prices = load_prices(std::string_view{});
  EXPECT_THROW(price_job(job("trn1.2xlarge", 0), prices, {}, 0.4), base::Error);
  EXPECT_THROW(price_job(job("trn1.2xlage", 1), prices, {}, 0.4), base::Error);
  EXPECT_THROW(price_job(job("trn1.2xlarge", 1), prices, {0}, 0.4), base::Error);
  EXPECT_THROW(price_job(job("trn1.2xlarge", 1), prices, {}, 1.5), base::Error);
}

}  // namespace
