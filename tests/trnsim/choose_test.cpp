#include "trnsim/plans/choose.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "hw/params.h"
#include "trnsim/plans/known_blocks.h"
#include "trnsim/plans/possible.h"
#include "trnsim/project/estimate.h"
#include "trnsim/project/least_time.h"
#include "trnsim/project/memory.h"
#include "trnsim/project/stages.h"
#include "trnsim/run/buyers_job.h"
#include "trnsim/search.h"

namespace trnsim {
namespace {

struct Question {
  std::string name;
  double samples = 0;
  ChoiceSpace space{};
};

/// Small spaces: ten jobs whose every choice can be projected.
std::vector<Question> questions() {
  const ChoiceSpace two{.instance_types = {"trn1.2xlarge", "trn2.3xlarge"}, .batches = {8}, .micro_batches = {1, 4}};
  const ChoiceSpace one{.instance_types = {"trn1.2xlarge"}, .batches = {4, 16}, .micro_batches = {1, 2}};
  const ChoiceSpace many{.instance_types = {"trn1.32xlarge"}, .batches = {32}, .micro_batches = {1, 2, 8}};
  std::vector<Question> out;
  for (const ChoiceSpace& space : {two, one})
    for (const char* model : {"llama-small", "gpt-small", "bert-small", "mixtral-small", "llama-small"})
      out.push_back({model, out.size() % 2 == 0 ? 500.0 : 4000.0, space});
  for (const char* model : {"llama-small", "gpt-small"}) out.push_back({model, 20000, many});
  return out;
}

Settings settings(std::size_t i) {
  Settings s;
  s.data.max_length = i % 3 == 0 ? 64 : 128, s.given = {"max_length"};
  return s;
}

TEST(Choose, TheCheapestAndTheFastestAreThoseOfAnExhaustiveSearch) {
  std::size_t i = 0;
  for (const Question& q : questions()) {
    SCOPED_TRACE(q.name + " " + std::to_string(i));
    const JobSource source = job_source(q.name, settings(i++), q.samples);
    std::vector<Choice> found = choices_of(source.settings, source.job_of, q.space), all = found;
    ASSERT_FALSE(found.empty());
    project_choices(found, 1);
    const auto cheapest = cheapest_of(found), fastest = fastest_of(found);
    ASSERT_TRUE(cheapest && fastest);
    double least_dollars = 1e30, least_time = 1e30;
    for (const Choice& choice : all) {
      const Projection p = project_if_it_fits(choice.job);
      if (!p.memory.fits()) continue;
      least_dollars = std::min(least_dollars, *p.dollars), least_time = std::min(least_time, p.time.total);
      EXPECT_LE(least_seconds(choice.job), p.time.total * (1 + 1e-9));
    }
    EXPECT_NEAR(*found[*cheapest].change.dollars, least_dollars, 1e-9 * least_dollars);
    EXPECT_NEAR(found[*fastest].change.seconds, least_time, 1e-9 * least_time);
  }
}

/// Facts that jobs have in common are looked up once, and are those that each job would look up by itself.
TEST(Choose, KnownFactsAreThoseOfEachJob) {
  const Settings s = settings(1);
  const JobSource source = job_source("llama-small", s, 4000);
  KnownFacts known;
  std::size_t possible_ones = 0;
  for (const TriedPlan& plan : plans_of(source.job_of(source.settings), {.batch = 64, .micro_batches = {1, 4}})) {
    Job job = plan.job;
    job.sizes = source.job_of(source.settings).sizes;
    const bool can_be = is_possible(job, known);
    EXPECT_EQ(can_be, !possible(job)) << describe(job);
    if (!can_be) continue;
    ++possible_ones;
    EXPECT_EQ(least_memory(job, known).by_kind, least_memory(job).by_kind) << describe(job);
    for (const double pass : {0.0, 0.5}) EXPECT_EQ(LeastTime(job, known).seconds(pass), least_seconds(job, pass));
  }
  EXPECT_GE(possible_ones, 4u);
}

// Blocks of each kind of core stayed unpacked while the other kind's choices were projected: 0.2 GB a process.
TEST(Choose, BlocksOfOneKindOfCoreAreUnpackedAtATime) {
  Settings other = settings(1);
  other.machine.instance_type = "trn2.3xlarge", other.given.insert("instance_type");
  const auto job_on = [](const Settings& s) { return job_source("llama-small", s, 4000).job_of(s); };
  const Job first = job_on(settings(1)), second = job_on(other);
  KnownBlocks known;
  const auto packed = [&](const Job& job) {
    const CompiledStages compiled = compile_stages(job, known.of(job.machine), {});
    return std::ranges::count_if(compiled.stages.front().compiled().program.blocks,
                                 [](const isa::Block& block) { return block.instrs.is_packed(); });
  };
  EXPECT_EQ(packed(first), 0);
  EXPECT_EQ(packed(first), 0);
  EXPECT_EQ(packed(second), 0);
  EXPECT_GT(packed(first), 0);
}

/// The time of a pass, which one plan shows, is a bound for others whose passes are the same blocks.
TEST(Choose, APassOfOnePlanBoundsOthers) {
  const ChoiceSpace space{.instance_types = {"trn1.32xlarge"}, .batches = {64}, .micro_batches = {1}};
  const JobSource source = job_source("llama-small", settings(1), 4000);
  std::map<std::tuple<bool, bool, bool>, double> passes;
  int nearer = 0;
  for (const Choice& choice : choices_of(source.settings, source.job_of, space)) {
    const runtime::Plan& plan = choice.job.step.plan;
    if (plan.tensor != 2 || plan.recompute != runtime::Recompute::kNone) continue;
    SharedBlocks shared{choice.job.machine.target()};
    const Projection p = project_if_it_fits(choice.job, {.in_child = false, .shared = &shared});
    const auto [pass, added] = passes.try_emplace({plan.micro_batches > 1, plan.data > 1, plan.pipeline > 1}, 0);
    if (added) pass->second = pass_seconds(p, choice.job.machine, shared.times);
    const double least = least_seconds(choice.job, pass->second);
    EXPECT_LE(least, p.time.total * (1 + 1e-9)) << describe(choice.job);
    nearer += !added && least > least_seconds(choice.job);
  }
  EXPECT_GE(nearer, 2);
}

/// A step of many micro-batches is looked at through some of them, which need about as much memory as all.
TEST(Choose, WhatItNamesFitsAsAWhole) {
  const ChoiceSpace space{.instance_types = {"trn1.2xlarge"}, .batches = {64}, .micro_batches = {1, 2}};
  const auto choices_with = [&](const std::string& hbm) {
    Settings s = settings(1);
    if (!hbm.empty()) s.machine.set = {"hbm.bytes=" + hbm};
    const JobSource source = job_source("llama-small", s, 6400);
    return choices_of(source.settings, source.job_of, space);
  };
  std::vector<Choice> choices = choices_with("");
  project_choices(choices, 1);
  const Choice& best = choices[*cheapest_of(choices)];
  const std::uint64_t whole = project_if_it_fits(best.job).memory.total;
  const std::uint64_t some = project_if_it_fits(best.job, {.micro_batches = 3}).memory.total;
  std::vector<Choice> tight = choices_with(fmt::format("{} B", some + whole));  // of a chip: two cores
  project_choices(tight, 1);
  const std::vector<std::size_t> front = front_of(tight);
  ASSERT_FALSE(front.empty());
  for (const std::size_t i : front) {
    const Projection p = project_if_it_fits(tight[i].job);
    EXPECT_TRUE(p.memory.fits()) << describe(tight[i].job);
    EXPECT_EQ(tight[i].change.seconds, p.time.total);
  }
}

TEST(Choose, AChoicesSettingsAreItsJob) {
  const JobSource source = job_source("llama-small", settings(1), 1000);
  const std::vector<Choice> choices =
      choices_of(source.settings, source.job_of, {.instance_types = {"trn2.3xlarge"}, .batches = {8}});
  ASSERT_GT(choices.size(), 10u);
  for (const Choice& choice : choices)
    EXPECT_TRUE(source.job_of(changed(source.settings, choice.change)) == choice.job) << describe(choice.job);
}

TEST(Choose, LimitsAreKept) {
  std::vector<Choice> choices(3);
  const double seconds[] = {100, 50, 10}, money[] = {1, 2, 5};
  for (std::size_t i = 0; i < 3; ++i)
    choices[i].fits = true, choices[i].change.seconds = seconds[i], choices[i].change.dollars = money[i];
  EXPECT_EQ(cheapest_of(choices), 0u);
  EXPECT_EQ(cheapest_of(choices, 60), 1u);
  EXPECT_EQ(cheapest_of(choices, 5), std::nullopt);
  EXPECT_EQ(fastest_of(choices), 2u);
  EXPECT_EQ(fastest_of(choices, 3), 1u);
  EXPECT_EQ(fastest_of(choices, 0.5), std::nullopt);
  choices[1].change.seconds = 200;  // slower and dearer than the first
  EXPECT_EQ(front_of(choices), (std::vector<std::size_t>{0, 2}));
}

}  // namespace
}  // namespace trnsim
