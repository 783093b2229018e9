// Operators that are composed of others, several cores, and branches that data chooses: numbers against the
// interpreter.
#include <gmock/gmock.h>

#include <algorithm>

#include "base/error.h"
#include "frontend/hlo/graph.h"
#include "frontend/hlo/text.h"
#include "tests/workloads/support.h"
#include "trnsim/graphs/graph_model.h"
#include "trnsim/graphs/graph_run.h"

namespace trnsim {
namespace {

using testing::HasSubstr;

frontend::Module module_of(const std::string& attributes, const std::string& body) {
  return frontend::hlo::graph_of(frontend::hlo::read_text("HloModule m" + attributes + "\n" + body, "m"), "m");
}

void expect_numbers(const frontend::Module& module, std::int64_t ranks = 1) {
  const frontend::LoweredGraph lowered = frontend::lower(module, {.computed = true});
  EXPECT_EQ(lowered.ranks, ranks);
  std::vector<std::vector<frontend::Value>> inputs;
  for (std::int64_t r = 0; r < ranks; ++r) inputs.push_back(drawn_inputs(module, static_cast<std::uint64_t>(7 + r)));
  for (const OutputError& one : compare_with_reference(module, lowered, hw::load_machine("trn1.32xlarge"), inputs))
    EXPECT_TRUE(one.within) << one.name << " " << one.type << " is off by " << one.error;
}

TEST(ComposedGraphs, BatchNormsOfAnyFeatureDimension) {
  for (const auto& [dims, feature, size] :
       {std::tuple{"4,5,6,3", "3", "3"}, std::tuple{"2,9,4,5", "1", "9"}, std::tuple{"7,130", "0", "7"}}) {
    const std::string x = std::string{"f32["} + dims + "]", v = std::string{"f32["} + size + "]";
    const std::string settings = std::string{", epsilon=0.001, feature_index="} + feature + "\n";
    expect_numbers(module_of(
        "", "ENTRY main {\nx = " + x + " parameter(0)\ng = " + v + " parameter(1)\nb = " + v +
                " parameter(2)\ndy = " + x + " parameter(3)\nt = (" + x + ", " + v + ", " + v +
                ") batch-norm-training(x, g, b)" + settings + "y = " + x + " get-tuple-element(t), index=0\nm = " + v +
                " get-tuple-element(t), index=1\nw = " + v + " get-tuple-element(t), index=2\nd = (" + x + ", " + v +
                ", " + v + ") batch-norm-grad(x, g, m, w, dy)" + settings + "dx = " + x +
                " get-tuple-element(d), index=0\ndg = " + v + " get-tuple-element(d), index=1\ndb = " + v +
                " get-tuple-element(d), index=2\ni = " + x + " batch-norm-inference(x, g, b, m, w)" + settings +
                "ROOT r = (" + x + ", " + x + ", " + v + ", " + v + ", " + x + ", " + v +
                ") tuple(y, dx, dg, db, i, w)\n}\n"));
  }
}

TEST(ComposedGraphs, AVarianceIsThatOfItsFormat) {
  expect_numbers(module_of("",
                           "ENTRY main {\nx = bf16[8,33] parameter(0)\ng = bf16[33] parameter(1)\nb = bf16[33] "
                           "parameter(2)\nROOT t = (bf16[8,33], bf16[33], bf16[33]) batch-norm-training(x, g, b), "
                           "epsilon=0.01, feature_index=1\n}\n"));
}

// Flat numbers of a program that does not say its grid are those of partitions where it asks for its partition.
TEST(ComposedGraphs, EachRankTakesItsPartOfASum) {
  const frontend::Module module = module_of(
      "",
      "add {\na = f32[] parameter(0)\nb = f32[] parameter(1)\nROOT c = f32[] add(a, b)\n}\nENTRY main {\n"
      "x = f32[8,4] parameter(0)\ns = f32[8,4] all-reduce(x), channel_id=1, replica_groups=[1,4]<=[4], "
      "use_global_device_ids=true, to_apply=add\np = u32[] partition-id()\nn = s32[] convert(p)\ntwo = s32[] "
      "constant(2)\nat = s32[] multiply(n, two)\nz = s32[] constant(0)\nROOT y = f32[2,4] dynamic-slice(s, at, z), "
      "dynamic_slice_sizes={2,4}\n}\n");
  EXPECT_EQ(module.partitions, 4);
  expect_numbers(module, 4);
  const frontend::LoweredGraph timed = frontend::lower(module);
  EXPECT_TRUE(std::ranges::any_of(timed.rewrites,
                                  [](const auto& note) { return note.name == "scattered_sums" && note.count == 1; }));
}

TEST(ComposedGraphs, RanksHandTheirTensorsOn) {
  for (const char* pairs : {"{{0,1},{1,2},{2,3},{3,0}}", "{{0,1},{1,2},{2,3}}", "{{3,1},{1,3},{0,0}}", "{{2,0}}"})
    expect_numbers(module_of(", replica_count=4", std::string{"ENTRY main {\nx = f32[3,5] parameter(0)\nROOT y = "
                                                              "f32[3,5] collective-permute(x), source_target_pairs="} +
                                                      pairs + "\n}\n"),
                   4);
  expect_numbers(module_of(", replica_count=4",
                           "ENTRY main {\nx = s32[6] parameter(0)\nROOT y = s32[6] collective-broadcast(x), "
                           "replica_groups={{2,0},{3}}\n}\n"),
                 4);
}

/// A program that does not say how many cores it is for has as many as its collectives name or put together.
TEST(ComposedGraphs, CoresThatOnlyCollectivesName) {
  const auto with = [](const char* line) {
    return module_of("", std::string{"ENTRY main {\nx = f32[2,6] parameter(0)\nROOT y = "} + line + "\n}\n");
  };
  expect_numbers(with("f32[8,6] all-gather(x), dimensions={0}, replica_groups=[1,4]<=[4], channel_id=1"), 4);
  expect_numbers(with("f32[2,18] all-gather(x), dimensions={1}"), 3);
  expect_numbers(with("f32[4,6] all-gather(x), dimensions={0}, replica_groups={{0,2},{1,3}}, channel_id=3, "
                      "use_global_device_ids=true"),
                 4);
  expect_numbers(with("f32[2,6] collective-permute(x), channel_id=2, source_target_pairs={{0,2},{2,1}}"), 3);
}

/// A program that no partitioner has divided is computed as it is, and says so.
TEST(ComposedGraphs, ShardingsThatAreNotApplied) {
  const std::string body =
      "ENTRY main {\nx = f32[4,6] parameter(0)\nROOT y = f32[4,6] custom-call(x), custom_call_target=\"Sharding\", "
      "sharding={devices=[2,1]<=[2]}\n}\n";
  expect_numbers(module_of(", num_partitions=2", body), 2);
  const workloads_test::Scratch scratch;
  const auto text = [&](const std::string& head) {
    const auto file = scratch.write("p.hlo", "HloModule m" + head + "\n" + body);
    return graph_workload(file).text;
  };
  EXPECT_THAT(text(", num_partitions=2"), HasSubstr("each of 2 cores computes whole tensors"));
  EXPECT_THAT(text(""), testing::Not(HasSubstr("whole")));
}

/// With a channel the pairs are of partitions: a program that has none moves nothing, and is refused.
TEST(ComposedGraphs, PairsAreOfReplicasOrOfPartitions) {
  const std::string moves =
      "ENTRY main {\nx = f32[3] parameter(0)\nROOT y = f32[3] collective-permute(x), channel_id=1, "
      "source_target_pairs={{0,1},{1,0}}\n}\n";
  expect_numbers(module_of(", num_partitions=2", moves), 2);
  expect_numbers(module_of(", replica_count=2, num_partitions=2", moves), 4);
  EXPECT_THROW(frontend::lower(module_of(", replica_count=2", moves)), base::Error);
}

TEST(ComposedGraphs, AScatteredReductionIsThatOfItsRegion) {
  constexpr const char* kMost =
      "most {\na = f32[] parameter(0)\nb = f32[] parameter(1)\nROOT c = f32[] maximum(a, b)\n}\n";
  expect_numbers(
      module_of(", replica_count=2", std::string{kMost} + "ENTRY main {\nx = f32[4,6] parameter(0)\nROOT y = f32[2,6] "
                                                          "reduce-scatter(x), replica_groups={{0,1}}, dimensions={0}, "
                                                          "to_apply=most\n}\n"),
      2);
  try {
    frontend::lower(
        module_of(", replica_count=2",
                  "less {\na = f32[] parameter(0)\nb = f32[] parameter(1)\nROOT c = f32[] subtract(a, b)\n}\n"
                  "ENTRY main {\nx = f32[4,6] parameter(0)\nROOT y = f32[4,6] all-reduce(x), "
                  "replica_groups={{0,1}}, to_apply=less\n}\n"));
    FAIL() << "subtract is no reduction over ranks";
  } catch (const base::Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("combines ranks by subtract"));
  }
}

TEST(ComposedGraphs, RanksKnowTheirNumber) {
  expect_numbers(
      module_of(", replica_count=4",
                "ENTRY main {\nx = f32[8,6] parameter(0)\nr = u32[] replica-id()\ni = s32[] convert(r)\ntwo = "
                "s32[] constant(2)\nat = s32[] multiply(i, two)\nzero = s32[] constant(0)\nROOT y = f32[2,6] "
                "dynamic-slice(x, at, zero), dynamic_slice_sizes={2,6}\n}\n"),
      4);
}

/// Operations that begin have the groups and the result of the plain ones.
TEST(ComposedGraphs, CollectivesThatBeginAndEnd) {
  constexpr const char* kSum = "sum {\na = f32[] parameter(0)\nb = f32[] parameter(1)\nROOT c = f32[] add(a, b)\n}\n";
  for (const char* lines :
       {"s = f32[4,6] all-reduce-start(x), replica_groups={{0,2},{1,3}}, to_apply=sum\nROOT d = f32[4,6] "
        "all-reduce-done(s)",
        "s = (f32[4,6], f32[8,6]) all-gather-start(x), replica_groups={{0,2},{1,3}}, dimensions={0}\nROOT d = f32[8,6] "
        "all-gather-done(s)",
        "s = (f32[4,6], f32[4,6], u32[], u32[]) collective-permute-start(x), source_target_pairs={{0,3},{3,0}}\nROOT d "
        "= "
        "f32[4,6] collective-permute-done(s)",
        "z = f32[4,6] negate(x)\ns = (f32[4,6], f32[4,6]) all-to-all(x, z), replica_groups={{0,2},{1,3}}\na = f32[4,6] "
        "get-tuple-element(s), index=0\nb = f32[4,6] get-tuple-element(s), index=1\nROOT y = f32[4,6] subtract(a, b)"})
    expect_numbers(module_of(", replica_count=4",
                             std::string{kSum} + "ENTRY main {\nx = f32[4,6] parameter(0)\n" + lines + "\n}\n"),
                   4);
}

/// Groups that are not named are one of all replicas, or of all partitions.
TEST(ComposedGraphs, ExchangesAmongAll) {
  for (const char* attributes : {", replica_count=4|", ", num_partitions=4|channel_id=1, "}) {
    const std::string both = attributes;
    const std::size_t bar = both.find('|');
    for (const char* groups : {"", "replica_groups={}, ", "replica_groups={{0,1,2,3}}, "})
      expect_numbers(module_of(both.substr(0, bar),
                               "ENTRY main {\nx = f32[8,6] parameter(0)\nROOT y = f32[8,6] "
                               "all-to-all(x), " +
                                   both.substr(bar + 1) + groups + "dimensions={0}\n}\n"),
                     4);
  }
}

/// Any operation and any computation may begin in one place, and end in another.
TEST(ComposedGraphs, ComputationsThatBeginAndEnd) {
  constexpr const char* kParts =
      "sum {\na = f32[] parameter(0)\nb = f32[] parameter(1)\nROOT c = f32[] add(a, b)\n}\n"
      "both {\na = f32[4,6] parameter(0)\nb = f32[4,6] parameter(1)\nROOT c = f32[4,6] multiply(a, b)\n}\n";
  for (const char* lines :
       {"s = ((f32[4,6], f32[4,6]), f32[4,6], u32[]) async-start(x, x), calls=both\nu = ((f32[4,6], f32[4,6]), "
        "f32[4,6], "
        "u32[]) async-update(s)\nROOT d = f32[4,6] async-done(u)",
        "s = ((f32[4,6], f32[4,6]), f32[4,6], u32[]) fusion-start(x, x), kind=kLoop, calls=both\nROOT d = f32[4,6] "
        "fusion-done(s)",
        "s = ((f32[4,6]), f32[2,6], s32[]) reduce-scatter-start(x), replica_groups={{0,1}}, dimensions={0}, "
        "to_apply=sum\nROOT d = f32[2,6] reduce-scatter-done(s)",
        "s = ((f32[4,6]), f32[2,3], u32[]) slice-start(x), slice={[1:3], [0:3]}\nROOT d = f32[2,3] slice-done(s)"})
    expect_numbers(module_of(", replica_count=2",
                             std::string{kParts} + "ENTRY main {\nx = f32[4,6] parameter(0)\n" + lines + "\n}\n"),
                   2);
}

TEST(ComposedGraphs, NumbersOfReplicasAndOfPartitions) {
  expect_numbers(
      module_of(", replica_count=2, num_partitions=3",
                "ENTRY main {\nr = u32[] replica-id()\np = u32[] partition-id()\nx = u32[] parameter(0)\ny = "
                "u32[] multiply(r, x)\nROOT t = (u32[], u32[]) tuple(y, p)\n}\n"),
      6);
}

TEST(ComposedGraphs, NumbersOfADistributionAreTimed) {
  for (const char* kind : {"rng_uniform", "rng_normal"}) {
    const frontend::LoweredGraph lowered = frontend::lower(module_of(
        "", std::string{"ENTRY main {\na = f32[] parameter(0)\nb = f32[] constant(1)\nr = f32[7,9] rng(a, b), "
                        "distribution="} +
                kind + "\nROOT y = f32[7,9] add(r, r)\n}\n"));
    ASSERT_EQ(lowered.timed_only.size(), 1u);
    EXPECT_THAT(lowered.timed_only[0], HasSubstr("random numbers"));
  }
}

/// A program that is timed in another form than its numbers are computed in is not said to have none.
TEST(ComposedGraphs, ProgramsSayWhetherTheyAreComputed) {
  constexpr const char* kParts =
      "up {\na = f32[4] parameter(0)\nROOT b = f32[4] negate(a)\n}\n"
      "down {\na = f32[4] parameter(0)\nROOT b = f32[4] tanh(a)\n}\n";
  const workloads_test::Scratch scratch;
  const auto text = [&](const std::string& head, const std::string& body) {
    return graph_workload(
               scratch.write("p.hlo", "HloModule m" + head + "\n" + kParts + "ENTRY main {\n" + body + "}\n"))
        .text;
  };
  const std::string branch =
      "x = f32[4] parameter(0)\nc = pred[] parameter(1)\nROOT y = f32[4] conditional(c, x, x), true_computation=up, "
      "false_computation=down\n";
  const std::string number = "i = u32[] partition-id()\nj = u32[] parameter(0)\nROOT y = u32[] add(i, j)\n";
  for (const std::string& told : {text("", branch), text(", num_partitions=2", number)}) {
    EXPECT_THAT(told, HasSubstr("its time leaves out what only its numbers need: "));
    EXPECT_THAT(told, testing::Not(HasSubstr("not computed")));
  }
  const std::string drawn =
      "a = f32[] parameter(0)\nb = f32[] constant(1)\nROOT r = f32[7,9] rng(a, b), distribution=rng_uniform\n";
  EXPECT_THAT(text("", drawn), HasSubstr("; can be timed, but not computed: "));
}

/// A branch may not write what another one reads.
TEST(ComposedGraphs, BranchesThatDataChooses) {
  constexpr const char* kBranches =
      "one {\np = (f32[4,6], f32[1,6]) parameter(0)\nx = f32[4,6] get-tuple-element(p), index=0\nu = f32[1,6] "
      "get-tuple-element(p), index=1\nz = s32[] constant(1)\nROOT y = f32[4,6] dynamic-update-slice(x, u, z, z)\n}\n"
      "two {\np = (f32[4,6], f32[1,6]) parameter(0)\nx = f32[4,6] get-tuple-element(p), index=0\nROOT y = f32[4,6] "
      "sine(x)\n}\nthree {\np = (f32[4,6], f32[1,6]) parameter(0)\nx = f32[4,6] get-tuple-element(p), index=0\nROOT y "
      "= "
      "f32[4,6] add(x, x)\n}\n";
  expect_numbers(
      module_of("", std::string{kBranches} +
                        "ENTRY main {\nx = f32[4,6] parameter(0)\nu = f32[1,6] parameter(1)\ni = s32[] "
                        "parameter(2)\ne = f32[4,6] exponential(x)\np = (f32[4,6], f32[1,6]) tuple(e, u)\n"
                        "ROOT y = f32[4,6] conditional(i, p, p, p), branch_computations={one, two, three}\n}\n"));
  expect_numbers(module_of("", std::string{kBranches} +
                                   "ENTRY main {\nx = f32[4,6] parameter(0)\nu = f32[1,6] parameter(1)\nt = pred[] "
                                   "parameter(2)\np = (f32[4,6], f32[1,6]) tuple(x, u)\nROOT y = f32[4,6] "
                                   "conditional(t, p, p), true_computation=two, false_computation=three\n}\n"));
}

}  // namespace
}  // namespace trnsim
