// report, trace, cost, sweep, ls, top, monitor: from the command line to files and stdout.
#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "analysis/record/result.h"
#include "isa/asm.h"
#include "tests/analysis/recorded.h"
#include "tests/cli/run_binary.h"

namespace {

using cli_test::Ran;
using cli_test::run;
using cli_test::slurp;
using testing::HasSubstr;
using Json = nlohmann::json;

class ViewsVerbs : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(folder_);
    write_record(folder_, recorded::record());
    analysis::write_result(folder_, {{"job",
                                      {{"train_runtime", 510.0},
                                       {"train_steps_per_second", 3000 / 510.0},
                                       {"step_seconds", 0.001},
                                       {"device_step_seconds", 0.0005},
                                       {"train_samples_per_second", 94.0}}}});
    std::ofstream{folder_ / "step.asm"} << isa::print(recorded::layers());
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string at(const std::string& name) const { return (folder_ / name).string(); }
  const std::filesystem::path folder_ = recorded::folder() / "run";
};

TEST_F(ViewsVerbs, ReportWritesOnePageIntoTheRun) {
  const Ran ran = run("report " + folder_.string());
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.out, at("report.html") + "\n");
  EXPECT_THAT(slurp(at("report.html")), HasSubstr("<dd data-v=\"510\">8:30</dd>"));
  EXPECT_THAT(run("report " + folder_.string() + " --format md").out, HasSubstr("| training time | 8:30 |"));
  EXPECT_EQ(run("report " + folder_.string() + " --format pdf").code, 2);
  EXPECT_EQ(run("report " + at("nowhere")).code, 2);
}

TEST_F(ViewsVerbs, TraceWritesEachFormat) {
  for (const auto& [format, file] :
       {std::pair{"pftrace", "trace.pftrace"}, std::pair{"json", "trace.json"}, std::pair{"chakra", "trace.0.et"}}) {
    const Ran ran = run("trace " + folder_.string() + " --format " + format);
    ASSERT_EQ(ran.code, 0) << ran.err;
    EXPECT_EQ(ran.out, at(file) + "\n");
    EXPECT_GT(std::filesystem::file_size(at(file)), 100u);
  }
  EXPECT_EQ(run("trace " + folder_.string() + " --lanes tensor,dma --until \"1 ms\" --output " + at("t")).code, 0);
  EXPECT_LT(std::filesystem::file_size(at("t")), std::filesystem::file_size(at("trace.pftrace")));
  EXPECT_EQ(run("trace " + folder_.string() + " --until \"1 GHz\"").code, 2);
  EXPECT_EQ(run("trace " + folder_.string() + " --format xml").code, 2);
}

TEST_F(ViewsVerbs, CostReproducesThePublishedDollars) {
  const Ran bert = run("cost --runtime 8:30 --instance_type trn1.2xlarge --format json");
  ASSERT_EQ(bert.code, 0) << bert.err;
  EXPECT_NEAR(Json::parse(bert.out)[0]["on_demand"].get<double>(), 0.19, 0.005);  // published as $0.20
  const Ran llama = run("cost --runtime 43:24 --instance_type trn1.32xlarge --format json");
  EXPECT_NEAR(Json::parse(llama.out)[0]["on_demand"].get<double>(), 15.5, 0.06);
  EXPECT_THAT(run("cost --runtime 8:30").out, HasSubstr("$0.19"));
}

TEST_F(ViewsVerbs, CostOfARunHasEveryInstanceType) {
  const Json rows = Json::parse(run("cost " + folder_.string() + " --format json").out);
  std::set<std::string> names;
  for (const Json& row : rows) names.insert(row["instance_type"].get<std::string>());
  // The folder does not say which job it was: nothing is simulated elsewhere.
  for (const char* name : {"trn1.2xlarge", "p3.2xlarge", "p4d.24xlarge", "p4de.24xlarge", "p5.48xlarge", "g5.xlarge",
                           "g4dn.xlarge", "g6.xlarge", "g6e.xlarge"})
    EXPECT_TRUE(names.contains(name)) << name;
  for (const Json& row : rows) {
    const bool gpu = row["instance_type"].get<std::string>().find("trn") != 0;
    EXPECT_EQ(row["basis"].get<std::string>().find("roofline estimate") == 0, gpu) << row;
  }
}

TEST_F(ViewsVerbs, CostOfARunKnowsTheLargestBatchThatFits) {
  const auto code_with = [&](std::int64_t samples, const std::string& folder) {
    return run("run bert_emotion --numerics off --set hbm.bytes=0.15x --overwrite_output_dir --output_dir " +
               at(folder) + " --per_device_train_batch_size " + std::to_string(samples))
        .code;
  };
  ASSERT_EQ(code_with(1, "bert"), 0);
  EXPECT_THAT(slurp(at("bert/report.html")), HasSubstr("<h1>bert</h1>"));  // every run leaves its report
  const Ran ran = run("cost " + at("bert") + " --largest_batch --format json");
  ASSERT_EQ(ran.code, 0) << ran.err;
  const Json rows = Json::parse(ran.out);
  const auto batch = rows[0]["largest_batch"].get<std::int64_t>();
  for (const Json& row : rows)
    EXPECT_EQ(row["largest_batch"].is_number(), row["instance_type"] == "trn1.2xlarge") << row;
  EXPECT_EQ(code_with(batch, "fits"), 0);
  EXPECT_EQ(code_with(batch + 1, "more"), 3);
  EXPECT_EQ(run("cost --runtime 1h --largest_batch").code, 2);
}

TEST_F(ViewsVerbs, CostRefusesUnpricedInstances) {
  for (const char* bad : {"", "--runtime 8:70", "--runtime 8:30:1:1", "--runtime 5GHz", "--runtime 1h --instances 0",
                          "--runtime 1h --instance_type trn9", "--runtime 1h --efficiency 2"})
    EXPECT_EQ(run(std::string{"cost "} + bad).code, 2) << bad;
  EXPECT_EQ(run("cost " + folder_.string() + " --runtime 1h").code, 2);
  // Before the model is looked for: a projection takes seconds.
  EXPECT_THAT(run("cost no_model --efficiency 200%").err, HasSubstr("--efficiency: is not above 0 and at most 1"));
  std::ofstream{at("p.toml")} << "region = \"r\"\n[[instance]]\nname = \"trn1.2xlarge\"\n";
  EXPECT_THAT(run("cost --runtime 1h --prices " + at("p.toml")).err, HasSubstr("fix:"));
}

std::string sweep_flags(const std::string& folder) {
  return "--program " + folder + "/step.asm --set hbm.bandwidth=0.5x,1x,2x --set tensor.clock=0.5x..2x:3 ";
}

TEST_F(ViewsVerbs, SweepGivesTheSameFileUnderAnyNumberOfProcesses) {
  const Ran one = run("sweep " + sweep_flags(folder_.string()) + "--processes 1 --output_dir " + at("one"));
  ASSERT_EQ(one.code, 0) << one.err;
  ASSERT_EQ(run("sweep " + sweep_flags(folder_.string()) + "--processes 3 --output_dir " + at("three")).code, 0);
  const std::string csv = slurp(at("one/results.csv"));
  EXPECT_EQ(csv, slurp(at("three/results.csv")));
  EXPECT_EQ(std::ranges::count(csv, '\n'), 10);  // 9 points and the header
  EXPECT_THAT(slurp(at("one/sweep.html")), HasSubstr("What binds"));
  const Ran again = run("sweep " + sweep_flags(folder_.string()) + "--output_dir " + at("one"));
  EXPECT_THAT(again.err, HasSubstr("9 points, 0 computed now"));
}

TEST_F(ViewsVerbs, SweepReadsAFileAndFindsTheBestPoint) {
  std::ofstream{at("s.toml")} << "program = \"step.asm\"\ndesign = \"one_at_a_time\"\n"
                                 "[set]\ntensor.clock = [\"0.25x\", \"4x\"]\n";
  const Ran ran = run("sweep " + at("s.toml") + " --minimize seconds --format json --output_dir " + at("out"));
  ASSERT_EQ(ran.code, 0) << ran.err;
  const Json rows = Json::parse(ran.out);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_GT(rows[1]["total_time"], rows[0]["total_time"]);  // a slower clock
  EXPECT_LE(rows[2]["total_time"], rows[0]["total_time"]);
  EXPECT_THAT(ran.err, HasSubstr("--set tensor.clock=4x"));
  EXPECT_EQ(
      run("sweep " + at("s.toml") + " --minimize seconds --subject_to \"seconds<=1 ns\" --output_dir " + at("out"))
          .code,
      1);
}

TEST_F(ViewsVerbs, AMachineThatTheListDoesNotPriceIsSweptWithoutDollarsOrWithThoseGiven) {
  std::string own = run("params trn1.2xlarge --toml").out;
  const std::string name = "name = \"trn1.2xlarge\"";
  ASSERT_NE(own.find(name), std::string::npos);
  std::ofstream{at("own.toml")} << own.replace(own.find(name), name.size(), "name = \"mine\"");
  const std::string sweep = "sweep --program " + at("step.asm") + " --machine " + at("own.toml") + " --output_dir " +
                            at("own") + " --format json --set ";
  const Ran plain = run(sweep + "hbm.bandwidth=1x");
  ASSERT_EQ(plain.code, 0) << plain.err;
  EXPECT_FALSE(Json::parse(plain.out)[0].contains("dollars"));
  const Ran priced = run(sweep + "\"price.on_demand=\\$2/h,\\$4/h\"");
  ASSERT_EQ(priced.code, 0) << priced.err;
  const Json rows = Json::parse(priced.out);
  EXPECT_DOUBLE_EQ(rows[0]["dollars"], rows[0]["total_time"].get<double>() / 3600 * 2);
  EXPECT_DOUBLE_EQ(rows[1]["dollars"], rows[1]["total_time"].get<double>() / 3600 * 4);
  EXPECT_EQ(run(sweep + "price.on_demnd=\\$2/h").code, 2);
}

TEST_F(ViewsVerbs, SweepOfAWorkloadTakesItsOptionsAndTheMachines) {
  const Ran ran =
      run("sweep --workload bert_emotion --set per_device_train_batch_size=2,4 --set max_length=32 "
          "--set hbm.bandwidth=1x,2x --format json --output_dir " +
          at("out"));
  ASSERT_EQ(ran.code, 0) << ran.err;
  const Json rows = Json::parse(ran.out);
  ASSERT_EQ(rows.size(), 4u);
  for (const Json& row : rows) EXPECT_EQ(row["error"], "") << row;
  EXPECT_LT(rows[0]["device_step_seconds"], rows[2]["device_step_seconds"]);  // a larger batch takes longer
  EXPECT_GE(rows[0]["device_step_seconds"], rows[1]["device_step_seconds"]);  // more bandwidth does not
  EXPECT_GT(rows[2]["hbm_bytes"], rows[0]["hbm_bytes"]);
  const Ran idle = run("sweep --workload bert_emotion --set learning_rate=1,2 --output_dir " + at("out"));
  EXPECT_EQ(idle.code, 2);  // would change no figure
  EXPECT_EQ(run("sweep --workload bert_emotion --program " + at("step.asm") + " --set max_length=32").code, 2);
}

TEST_F(ViewsVerbs, SweepOfADecoderTakesItsPlanAndOtherModels) {
  const Ran ran = run(
      "sweep --workload llama2_7b_dolly --set model=llama-small --set max_length=64 --set "
      "gradient_accumulation_steps=1 "
      "--set nproc_per_node=8 --set tensor_parallel_size=1,2,3 --set recompute=none,full --format json --output_dir " +
      at("plans"));
  ASSERT_EQ(ran.code, 0) << ran.err;
  const Json rows = Json::parse(ran.out);
  ASSERT_EQ(rows.size(), 6u);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(rows[i]["error"], "") << rows[i];
  EXPECT_GT(rows[1]["device_step_seconds"], rows[0]["device_step_seconds"]);  // recomputation takes time
  EXPECT_LT(rows[2]["hbm_bytes"], rows[0]["hbm_bytes"]);                      // two cores share a layer
  EXPECT_THAT(rows[4]["error"].get<std::string>(), HasSubstr("does not divide 8 cores"));
  const Ran none = run("sweep --workload llama2_7b_dolly --set tensor_parallel_size=5,7 --output_dir " + at("none"));
  EXPECT_EQ(none.code, 1);  // all points failed
  EXPECT_THAT(none.err, HasSubstr("no point could be computed"));
  EXPECT_EQ(run("sweep --workload llama2_7b_dolly --set model=bert-small --output_dir " + at("none")).code, 2);
  EXPECT_EQ(run("sweep --workload bert_emotion --set pipeline_parallel_size=2 --output_dir " + at("none")).code, 2);
}

TEST_F(ViewsVerbs, SweepSaysThatAGoalIsUnknownWithTheFirstPoint) {
  const std::string sweep = "sweep " + sweep_flags(folder_.string()) + "--output_dir " + at("goal") + " --minimize ";
  EXPECT_EQ(run(sweep + "dolars").code, 2);
  EXPECT_FALSE(std::filesystem::exists(at("goal/results.csv")));
  const Ran ran = run(sweep + "cost --subject_to \"time<=1 h\"");
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("9 points, 8 computed now"));  // the one that told which metrics there are is kept
  EXPECT_EQ(run(sweep + "cost --subject_to \"time<1 h\"").code, 2);
}

TEST_F(ViewsVerbs, SweepRefusesUnknownKeysAndWrongUnitsBeforeItBegins) {
  const std::string program = "sweep --program " + at("step.asm") + " --output_dir " + at("out") + " ";
  const Ran key = run(program + "--set hbm.bandwith=1x");
  EXPECT_EQ(key.code, 2);
  EXPECT_THAT(key.err, HasSubstr("hbm.bandwidth"));
  EXPECT_EQ(run(program + "--set \"hbm.bandwidth=1 GHz\"").code, 2);
  EXPECT_EQ(run(program + "--set max_length=32").code, 2);  // a setting of a workload, and none is given
  EXPECT_EQ(run(program).code, 2);
  EXPECT_FALSE(std::filesystem::exists(at("out/sweep.sqlite")));
  EXPECT_EQ(run("sweep --set hbm.bandwidth=1x").code, 2);
}

TEST_F(ViewsVerbs, LsTopMonitor) {
  EXPECT_THAT(run("ls trn1.32xlarge").out, HasSubstr("| 15     | 2      | 30-31    | 32 GB  | 3, 11, 12, 14 |"));
  EXPECT_EQ(Json::parse(run("ls trn1.32xlarge -j").out).size(), 16u);
  EXPECT_THAT(run("ls trn1.32xlarge -t").out, HasSubstr("torus of 4 x 4"));
  EXPECT_EQ(run("ls trn2").code, 2);
  EXPECT_THAT(run("top " + folder_.string()).out, HasSubstr("trnsim top  layers on trn1.2xlarge"));
  const Ran monitor = run("monitor " + folder_.string() + " --period 1s --count 2");
  EXPECT_EQ(std::ranges::count(monitor.out, '\n'), 2);
  const Json report = Json::parse(monitor.out.substr(0, monitor.out.find('\n')));
  EXPECT_EQ(report["neuron_runtime_data"][0]["report"]["execution_stats"]["execution_summary"]["completed"], 1000);
}

}  // namespace
