// Decoders on parallel plans: estimate, plan, and the Llama tutorial.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/cli/run_binary.h"
#include "tests/sanitized.h"

namespace {

using cli_test::Ran;
using cli_test::run;
using nlohmann::json;
using testing::HasSubstr;
namespace fs = std::filesystem;

/// A Llama of four layers, small enough to be projected in a moment on 32 cores.
class DecoderVerbs : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path{testing::TempDir()} / ("decoder_verbs_" + std::to_string(getpid()));
    fs::create_directories(folder_ / "model");
    write_model(32000);
  }
  void write_model(int vocabulary) const {
    std::ofstream{folder_ / "model" / "config.json"} << R"({"model_type": "llama", "hidden_size": 1024,
      "num_hidden_layers": 4, "num_attention_heads": 16, "num_key_value_heads": 16, "intermediate_size": 2816,
      "max_position_embeddings": 2048, "rms_norm_eps": 1e-5, "hidden_act": "silu",
      "rope_theta": 10000.0, "tie_word_embeddings": false, "vocab_size": )"
                                                     << vocabulary << "}";
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string model() const { return (folder_ / "model").string(); }

  json estimate(const std::string& flags) const {
    const std::string length = flags.find("--max_length") == std::string::npos ? " --max_length 512" : "";
    const Ran ran = run("estimate " + model() + length + " --format json " + flags);
    EXPECT_EQ(ran.code, 0) << ran.err;
    return json::parse(ran.out);
  }

  fs::path folder_;
};

/// The number behind a name in a table for people, the last of that name.
double printed_figure(const std::string& table, const std::string& name) {
  const std::size_t at = table.rfind("\n" + name + " ");
  const std::size_t digit = at == std::string::npos ? at : table.find_first_of("0123456789", at + 1 + name.size());
  return digit == std::string::npos ? NAN : std::strtod(table.c_str() + digit, nullptr);
}

// One core per class of ranks speaks for all 32 within 1 %.
TEST_F(DecoderVerbs, TheRepresentativeSpeaksForAllCores) {
  const std::string plan = "--tensor_parallel_size 8 --zero_1 --gradient_accumulation_steps 2";
  const double one = estimate(plan)["device_step_seconds"], all = estimate(plan + " --exact")["device_step_seconds"];
  EXPECT_NEAR(one / all, 1, 0.01);
}

TEST_F(DecoderVerbs, PlansTradeMemoryForTime) {
  const json none = estimate("--tensor_parallel_size 8 --gradient_accumulation_steps 4");
  const json full = estimate("--tensor_parallel_size 8 --gradient_accumulation_steps 4 --recompute full");
  const json zero = estimate("--tensor_parallel_size 8 --gradient_accumulation_steps 4 --zero_1");
  EXPECT_LT(full["memory"]["activations"].get<double>(), 0.9 * none["memory"]["activations"].get<double>());
  EXPECT_GT(full["device_step_seconds"], none["device_step_seconds"]);
  EXPECT_LT(zero["memory"]["optimizer"].get<double>(), 0.5 * none["memory"]["optimizer"].get<double>());
  const json stages = estimate("--tensor_parallel_size 8 --pipeline_parallel_size 2 --gradient_accumulation_steps 4");
  EXPECT_GT(stages["bubble_seconds"].get<double>(), 0);
  EXPECT_EQ(stages["cores"], 32);
  EXPECT_EQ(stages["sequences_per_step"].get<double>(), none["sequences_per_step"].get<double>() / 2);
}

// All stages simulated, and the time that one alone predicts for the others. With a small vocabulary stages are alike;
// messages between them, unknown to the one, take some percent of layers as small as these.
TEST_F(DecoderVerbs, StagesWaitForEachOther) {
  write_model(1024);
  for (const char* plan : {"--pipeline_parallel_size 2 --gradient_accumulation_steps 4",
                           "--pipeline_parallel_size 4 --gradient_accumulation_steps 16 --recompute full"}) {
    const json all = estimate("--tensor_parallel_size 8 --zero_1 " + std::string{plan});
    const double step = all["device_step_seconds"], bubble = all["bubble_seconds"];
    EXPECT_GT(bubble, 0.02 * step) << plan;
    EXPECT_LT(bubble, 0.5 * step) << plan;
  }
}

// With v chunks on each of p stages a pass reaches the last stage in a v-th of the time: the bubble of 1F1B, p - 1
// micro-batches long, is v times shorter (arXiv:2104.04473, section 2.2). Messages, of which there are v times as many
// and two more hops for each, give some of it back; and a stage keeps more of them.
TEST_F(DecoderVerbs, InterleavedStagesWaitLess) {
  write_model(1024);
  const std::string plan =
      "--tensor_parallel_size 8 --pipeline_parallel_size 2 --gradient_accumulation_steps 8 --recompute full ";
  const json plain = estimate(plan), turns = estimate(plan + "--virtual_pipeline_size 2");
  const double bubble = plain["bubble_seconds"], shorter = turns["bubble_seconds"];
  EXPECT_GT(shorter, 0.4 * bubble);
  EXPECT_LT(shorter, 0.8 * bubble);
  EXPECT_LT(turns["device_step_seconds"].get<double>(), plain["device_step_seconds"].get<double>());
  EXPECT_GT(turns["memory"]["messages"].get<double>(), plain["memory"]["messages"].get<double>());
  const Ran ran = run("plan " + model() +
                      " --max_length 512 --global_batch_size 16 --virtual_pipeline_size 2 --format json --limit 200");
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("PP 2 x 2 chunks"));
  EXPECT_THAT(ran.out, HasSubstr("--pipeline_parallel_size 2 --virtual_pipeline_size 2"));
  EXPECT_THAT(ran.out, HasSubstr("PP 1, DP"));
}

TEST_F(DecoderVerbs, AJobThatDoesNotFitNamesAPlanThatDoes) {
  const std::string flags = "estimate " + model() + " --max_length 512 --set 'hbm.bytes=2200 MiB' ";
  const Ran ran = run(flags + "--tensor_parallel_size 1");
  EXPECT_EQ(ran.code, 3);
  EXPECT_EQ(ran.out, "");
  EXPECT_THAT(ran.err, HasSubstr("of HBM but has"));
  const std::string mark = "fix: this fits: ";
  const std::size_t at = ran.err.find(mark);
  ASSERT_NE(at, std::string::npos) << ran.err;
  const std::string fix = ran.err.substr(at + mark.size(), ran.err.find(": ", at + mark.size()) - at - mark.size());
  EXPECT_EQ(run(flags + fix).code, 0) << fix;
}

// Eight key-value heads on 32 cores: four neighbours have the same one.
TEST_F(DecoderVerbs, PlanKnowsRanksThatShareAHead) {
  if (without_slow()) GTEST_SKIP() << kSlow;
  const Ran ran = run("plan llama3.2-1b --max_length 128 --global_batch_size 32 --format json --limit 200");
  ASSERT_EQ(ran.code, 0) << ran.err;
  bool shared = false;
  for (const json& plan : json::parse(ran.out))
    shared |= plan["flags"].get<std::string>().find("--tensor_parallel_size 32") != std::string::npos;
  EXPECT_TRUE(shared);
}

// Where no pipeline is cut short both simulate the same, and count dollars in one order.
TEST_F(DecoderVerbs, PlansHaveTheBitsOfTheirEstimates) {
  const Ran ran = run("plan bert-small --global_batch_size 256 --max_length 64 --format json --limit 6");
  ASSERT_EQ(ran.code, 0) << ran.err;
  for (const json& plan : json::parse(ran.out)) {
    const Ran one = run("estimate bert-small --format json " + plan["flags"].get<std::string>());
    ASSERT_EQ(one.code, 0) << one.err;
    const json estimate = json::parse(one.out);
    EXPECT_EQ(plan["step_seconds"], estimate["step_seconds"]) << plan;
    EXPECT_EQ(plan["dollars_per_million_tokens"], estimate["dollars_per_million_tokens"]) << plan;
  }
}

// A plan shares blocks with the others and simulates three micro-batches; an estimate does neither. They differ by the
// end of the first micro-batches' backward passes beside the next forward: less than a thousandth.
TEST_F(DecoderVerbs, PlanRanksFittingPlansAndTimesThemLikeEstimate) {
  const Ran ran = run("plan " + model() + " --max_length 512 --global_batch_size 32 --format json --limit 100");
  EXPECT_EQ(ran.code, 0) << ran.err;
  const json plans = json::parse(ran.out);
  ASSERT_GT(plans.size(), 5u);
  const auto number = [](const json& row) { return row["step_seconds"].get<double>(); };
  for (std::size_t i = 1; i < plans.size(); ++i) EXPECT_GE(number(plans[i]), number(plans[i - 1]));
  for (const std::size_t i : {std::size_t{0}, plans.size() / 3, plans.size() / 2, plans.size() - 1}) {
    const json one = estimate(plans[i]["flags"].get<std::string>());
    EXPECT_NEAR(number(plans[i]) / one["step_seconds"].get<double>(), 1, 0.001) << plans[i];
    const double memory = one["memory"]["hbm_bytes"];
    EXPECT_NEAR(plans[i]["hbm_bytes"].get<double>(), memory, 0.051 * (1 << 30)) << plans[i];  // of three micro-batches
    double words = 0;
    for (const auto& [part, bytes] : one["memory"]["compiler"].items()) words += plans[i].at(part).get<double>();
    EXPECT_EQ(words, plans[i]["hbm_bytes"].get<double>()) << plans[i];
  }
}

// As of a run and of an estimate.
TEST_F(DecoderVerbs, PlanPrintsTheMemoryOfTheBestInTheCompilersWords) {
  const Ran ran = run("plan " + model() + " --max_length 512 --nproc_per_node 2 --global_batch_size 2");
  ASSERT_EQ(ran.code, 0) << ran.err;
  const std::string memory = ran.out.substr(ran.out.find("memory of "));
  for (const char* row : {"weights", "as neuronx-cc counts them", "io_tensors", "scratchpad", "verdict"})
    EXPECT_THAT(memory, HasSubstr(row));
}

TEST_F(DecoderVerbs, PlansThatAreOutHaveAReason) {
  const Ran ran = run("plan " + model() + " --max_length 512 --global_batch_size 24 --refused --format json");
  ASSERT_EQ(ran.code, 0) << ran.err;
  std::string all;
  for (const json& plan : json::parse(ran.out)) all += plan["reason"].get<std::string>() + "\n";
  EXPECT_THAT(all, HasSubstr("does not divide the 16 attention heads"));
  EXPECT_THAT(all, HasSubstr("a batch of 24 is not a multiple of micro-batches of 1 on 16 data-parallel ranks"));
  const Ran none = run("plan " + model() + " --max_length 4096");
  EXPECT_EQ(none.code, 2);
  EXPECT_THAT(none.err, HasSubstr("longer than the model's 2048 positions"));
  const Ran small = run("plan " + model() + " --max_length 512 --set 'hbm.bytes=16 MiB'");
  EXPECT_EQ(small.code, 3);
  EXPECT_THAT(small.err, HasSubstr("no plan fits"));
}

// A stage's messages wait in its memory: the sender does not wait for it.
TEST_F(DecoderVerbs, MessagesOfAPipelineTakeMemory) {
  const json two = estimate("--tensor_parallel_size 8 --pipeline_parallel_size 2 --gradient_accumulation_steps 4");
  // A message is [512 / 8 tokens, 1024] in bf16. Two wait at the most, in either direction: stage 0 has two forward
  // passes before its first backward one, and the last stage may have answered both before stage 0 takes the first.
  EXPECT_EQ(two["memory"]["messages"].get<double>(), 2.0 * 512 / 8 * 1024 * 2);
  EXPECT_FALSE(estimate("--tensor_parallel_size 8")["memory"].contains("messages"));
}

TEST_F(DecoderVerbs, PlansThatCannotBeAreRefused) {
  const auto refused = [&](const std::string& flags, const std::string& words) {
    const Ran ran = run("estimate " + model() + " " + flags);
    EXPECT_EQ(ran.code, 2) << flags;
    EXPECT_THAT(ran.err, HasSubstr(words));
    EXPECT_THAT(ran.err, HasSubstr("\n  fix: "));
    EXPECT_EQ(ran.out, "");
  };
  refused("--tensor_parallel_size 5", "does not divide 32 cores");
  refused("--instance_type trn1.2xlarge --nproc_per_node 1 --tensor_parallel_size 2", "use --nproc_per_node 2, or");
  refused("--nproc_per_node 2 --tensor_parallel_size 4", "use --nproc_per_node 4 or a multiple of it, or");
  refused("--instance_type trn1.2xlarge --tensor_parallel_size 4", "use --nnodes 2, or");
  refused("--tensor_parallel_size 32", "does not divide the 16 attention heads");
  refused("--nproc_per_node 64", "64 cores, but trn1.32xlarge has 32");
  refused("--max_length 4096", "longer than the model's 2048 positions");
  refused("--pipeline_parallel_size 8", "layers");
  refused("--virtual_pipeline_size 2", "use --pipeline_parallel_size 2 or more");
  refused("--pipeline_parallel_size 2 --virtual_pipeline_size 2 --gradient_accumulation_steps 3",
          "3 micro-batches are not a multiple");
  EXPECT_EQ(run("estimate llama2-8b").code, 2);
}

TEST_F(DecoderVerbs, TheLlamaTutorialIsProjected) {
  const fs::path out = folder_ / "run";
  const Ran ran = run("run llama2_7b_dolly --numerics off --output_dir " + out.string());
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("train_runtime"));
  EXPECT_THAT(ran.out, HasSubstr("31:46"));
  for (const char* file : {"result.json", "stats.txt", "machine.toml", "summary.md", "report.html"})
    EXPECT_TRUE(fs::exists(out / file)) << file;
  EXPECT_FALSE(fs::exists(out / "model"));
  const json result = json::parse(cli_test::slurp(out / "result.json"));
  EXPECT_EQ(result["workload"]["model"]["family"], "llama");
  EXPECT_EQ(result["machine"]["cores"], 32);
  // The page, the folder and stdout say the same.
  EXPECT_NEAR(result["utilisation"]["mfu_estimated_percent"].get<double>(),
              printed_figure(ran.out, "device_mfu_percent"), 0.05);
  EXPECT_NEAR(result["cost"]["dollars"].get<double>(), printed_figure(ran.out, "dollars"), 0.005);
  EXPECT_NEAR(result["job"]["tokens"].get<double>() / printed_figure(ran.out, "tokens_per_step"),
              printed_figure(ran.out, "steps"), 0.5);  // the last step is not full
  EXPECT_GT(result["utilisation"]["hfu_estimated_percent"],
            result["utilisation"]["mfu_estimated_percent"]);  // --recompute full
  const json layers = json::parse(run("stats " + out.string() + " --by layer --format json").out);
  ASSERT_EQ(layers.size(), 35u);  // and work outside of them, exposed collectives, launch and gaps
  for (int l = 1; l < 32; ++l)
    EXPECT_NEAR(layers[l]["seconds"].get<double>() / layers[0]["seconds"].get<double>(), 1, 0.01);
}

TEST_F(DecoderVerbs, APartOfAStepIsRecordedOnRequest) {
  const fs::path out = folder_ / "run";
  const std::string job =
      "run llama2_7b_dolly --numerics off --gradient_accumulation_steps 1 --output_dir " + out.string();
  EXPECT_EQ(run(job + " --trace_until \"2 ms\"").code, 2);  // without --trace_steps 1
  EXPECT_EQ(run(job + " --trace_steps 1 --trace_from \"2 ms\" --trace_until \"1 ms\"").code, 2);
  EXPECT_FALSE(fs::exists(out));
  const Ran ran = run(job + " --trace_steps 1 --trace_from \"1 ms\" --trace_until \"1.5 ms\"");
  ASSERT_EQ(ran.code, 0) << ran.err;
  const Ran trace = run("trace " + out.string() + " --detail instructions --from \"1 ms\" --until \"1.5 ms\"");
  EXPECT_EQ(trace.code, 0) << trace.err;
  EXPECT_THAT(trace.err, HasSubstr("detail instructions"));
}

// A run says of a pipeline what its estimate says: all stages on the clock, interleaved ones too.
TEST_F(DecoderVerbs, ARunProjectsAPipelineAsItsEstimate) {
  for (const std::string chunks : {"1", "2"}) {
    const fs::path out = folder_ / ("stages" + chunks);
    const std::string plan =
        "--pipeline_parallel_size 2 --gradient_accumulation_steps 4 --max_length 256 "
        "--virtual_pipeline_size " +
        chunks;
    const Ran ran = run("run llama2_7b_dolly --numerics off " + plan + " --output_dir " + out.string());
    ASSERT_EQ(ran.code, 0) << ran.err;
    const Ran one =
        run("estimate llama2-7b --format json --stack hf-trainer --tensor_parallel_size 8 --zero_1 "
            "--recompute full " +
            plan);
    ASSERT_EQ(one.code, 0) << one.err;
    const json result = json::parse(cli_test::slurp(out / "result.json")), estimated = json::parse(one.out);
    const double step = result["job"]["device_step_seconds"];
    EXPECT_NEAR(step / estimated["device_step_seconds"].get<double>(), 1, 1e-9) << chunks;
  }
}

}  // namespace
