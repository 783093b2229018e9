// `trnsim ablate` and `trnsim compile`: the effect of each pass.
#include <gmock/gmock.h>

#include <map>
#include <nlohmann/json.hpp>

#include "runtime/graph/passes.h"
#include "tests/cli/run_job.h"
#include "tests/sanitized.h"

namespace {

using cli_test::Ran;
using cli_test::run;
using testing::HasSubstr;
using Json = nlohmann::json;

class Ablate : public cli_test::SmallJob {
 protected:
  /// Rows of the table by the name of the switch.
  std::map<std::string, Json> table(const std::string& verb, const std::string& more) const {
    const Ran ran = run(verb + " bert_emotion --model_id " + at("bert") +
                        " --max_length 64 --per_device_train_batch_size 2 --nproc_per_node 1 --format json " + more);
    EXPECT_EQ(ran.code, 0) << ran.err;
    std::map<std::string, Json> rows;
    const Json told = Json::parse(ran.out);
    for (const Json& row : told.is_object() ? told["effects"] : told) rows[row["pass"]] = row;
    return rows;
  }
};

TEST_F(Ablate, SwitchesEachPassAndAllOfThem) {
  const auto rows = table("ablate", "--only time");
  EXPECT_EQ(rows.size(), runtime::kPasses.size() + 2);
  for (const runtime::PassInfo& pass : runtime::kPasses)
    EXPECT_TRUE(rows.contains((runtime::Passes{}.*pass.flag ? "-" : "+") + std::string{pass.name})) << pass.name;
  EXPECT_EQ(rows.at("(as given)")["change_percent"], 0);
  EXPECT_FALSE(rows.at("(as given)").contains("largest_batch"));
  // Without fusion every operator's result goes through HBM.
  EXPECT_GT(rows.at("-fusion")["hbm_traffic_bytes"], rows.at("(as given)")["hbm_traffic_bytes"]);
  EXPECT_GT(rows.at("(none)")["device_step_seconds"], rows.at("(as given)")["device_step_seconds"]);
}

TEST_F(Ablate, APassThatIsOffIsSwitchedOn) {
  const auto rows = table("ablate", "--only time --passes=-fusion");
  EXPECT_FALSE(rows.contains("-fusion"));
  EXPECT_LT(rows.at("+fusion")["hbm_traffic_bytes"], rows.at("(as given)")["hbm_traffic_bytes"]);
}

TEST_F(Ablate, WhatIsNotTrainedHasNoLosses) {
  for (const auto& [command, sentence] :
       {std::pair{"ablate llama_small_generate", "passes: generation is always compiled with all of them"},
        std::pair{"ablate llama_small_generate --only numbers", "--only: requests to a model are not trained"},
        std::pair{"ablate bert_emotion --task inference --only batch", "choose time"},
        std::pair{"numerics llama_small_generate --seeds 2", "requests to a model, which are not trained"},
        std::pair{"compile llama_small_generate --explain",
                  "passes: generation is always compiled with all of them"}}) {
    const Ran refused = run(command);
    EXPECT_EQ(refused.code, 2) << command;
    EXPECT_THAT(refused.err, HasSubstr(sentence)) << command;
  }
  const Ran requests =
      run("ablate bert_emotion --model_id " + at("bert") + " --task inference --max_length 32 --format csv");
  EXPECT_EQ(requests.code, 0) << requests.err;
  EXPECT_THAT(requests.out, HasSubstr("-fusion,"));
}

TEST_F(Ablate, CompileTakesTheProgramsOfAGeneration) {
  const std::string command = "compile llama_small_generate ";
  EXPECT_THAT(run(command + "--emit graph").out, HasSubstr(" cached_attention "));
  EXPECT_THAT(run(command + "--emit graph --program prompt").out, HasSubstr(" cache_fill "));
  EXPECT_EQ(run(command).out, run(command + "--program token").out);
  EXPECT_NE(run(command).out, run(command + "--program prompt").out);
  EXPECT_THAT(run(command + "--emit asm").out, HasSubstr("program \"token\" ranks=2"));
  EXPECT_THAT(run(command + "--stage 1").err, HasSubstr("--stage: a generation has no pipeline"));
  EXPECT_THAT(run("compile bert_emotion --program token").err, HasSubstr("only a job that generates text"));
}

/// Verbs that name a workload take a program's file, or say which verb does.
TEST_F(Ablate, CompileTakesAProgram) {
  write("p.hlo", "HloModule m\nENTRY main {\nx = f32[256,512] parameter(0)\nROOT y = f32[256,512] tanh(x)\n}\n");
  EXPECT_THAT(run("compile " + at("p.hlo")).out, HasSubstr("instructions"));
  EXPECT_THAT(run("compile " + at("p.hlo") + " --emit asm").out, HasSubstr("activation tanh"));
  EXPECT_THAT(run("compile " + at("p.hlo") + " --emit hlo").out, HasSubstr("HloModule"));
  EXPECT_THAT(run("run " + at("p.hlo") + " --dump_config").out, HasSubstr("max_steps = 1000"));
  for (const auto& [verb, sentence] : {std::pair{"run --mode full ", "--mode numeric for its numbers"},
                                       std::pair{"cost ", "use trnsim run, which gives its time and dollars"},
                                       std::pair{"choose ", "use trnsim run, which gives its time and dollars"},
                                       std::pair{"numerics --seeds 2 ", "use trnsim run --mode numeric"}}) {
    const Ran refused = run(verb + at("p.hlo"));
    EXPECT_EQ(refused.code, 2) << verb;
    EXPECT_THAT(refused.err, HasSubstr(sentence));
  }
}

/// A program of another framework: each rewrite that finds something in it is switched, too.
TEST_F(Ablate, SwitchesTheRewritesOfAGraph) {
  write("silu.hlo",
        "HloModule m\nENTRY main {\nx = f32[256,512] parameter(0)\ns = f32[256,512] logistic(x)\n"
        "ROOT y = f32[256,512] multiply(s, x)\n}\n");
  const Ran ran = run("ablate " + at("silu.hlo") + " --format json");
  ASSERT_EQ(ran.code, 0) << ran.err;
  std::map<std::string, Json> rows;
  for (const Json& row : Json::parse(ran.out)) rows[row["pass"]] = row;
  EXPECT_EQ(rows.size(), runtime::kPasses.size() + 3);
  EXPECT_GT(rows.at("-functions")["instructions"], rows.at("(as given)")["instructions"]);
  EXPECT_EQ(run("run " + at("silu.hlo") + " --passes=-functions --output_dir " + at("out")).code, 0);
  const auto refused = [&](const std::string& arguments, const std::string& what) {
    const Ran other = run(arguments + " --output_dir " + at("other"));
    EXPECT_EQ(other.code, 2) << arguments;
    EXPECT_THAT(other.err, HasSubstr(what));
  };
  refused("run " + at("silu.hlo") + " --passes=-norms", "'-norms' has no effect on silu.hlo");
  refused("run " + at("silu.hlo") + " --passes=+functions", "'+functions' has no effect on silu.hlo");
  refused("run " + at("silu.hlo") + " --mode numeric --passes=-norms", "'-norms' has no effect on silu.hlo");
  refused("run bert_emotion --mode timed --passes=-norms",
          "'-norms' switches rewrites of graphs, but BERT is not a graph");
  EXPECT_EQ(run("ablate " + at("silu.hlo") + " --only numbers").code, 2);
}

// The largest batch fits, one more does not: the compiler itself says so.
TEST_F(Ablate, TheLargestBatchFitsAndOneMoreDoesNot) {
  const std::string memory = "--set \"hbm.bytes=1114 MiB\" ";
  const auto rows = table("ablate", "--only batch " + memory);
  const std::int64_t batch = rows.at("(as given)")["largest_batch"];
  const auto code = [&](std::int64_t samples) {
    return run("run bert_emotion --mode timed --model_id " + at("bert") + " --max_length 64 --nproc_per_node 1 " +
               memory + "--overwrite_output_dir --output_dir " + at("out") + " --per_device_train_batch_size " +
               std::to_string(samples))
        .code;
  };
  EXPECT_GT(batch, 2);
  EXPECT_EQ(code(batch), 0);
  EXPECT_EQ(code(batch + 1), 3);
  EXPECT_LT(rows.at("-fusion")["largest_batch"], batch);
}

TEST_F(Ablate, PassesThatOnlyMoveInstructionsChangeNoBit) {
  const auto rows = table("ablate", "--only numbers");
  for (const std::string same : {"(as given)", "-reorder", "-double_buffering", "-cse", "-merge_blocks"})
    EXPECT_EQ(rows.at(same)["numbers"], 0) << same;
  for (const auto& [name, row] : rows) EXPECT_LT(row["numbers"], 0.05) << name;
}

TEST_F(Ablate, CompileExplainsWithTheSameTable) {
  EXPECT_EQ(table("compile", "--explain"), table("ablate", "--only time"));
}

TEST_F(Ablate, ADecoderOnThirtyTwoCoresHasItsTableToo) {
  if (without_slow()) GTEST_SKIP() << kSlow;
  const Ran ran =
      run("ablate llama2_7b_dolly --only numbers --max_length 256 --gradient_accumulation_steps 1 --format "
          "json");
  ASSERT_EQ(ran.code, 0) << ran.err;
  std::map<std::string, Json> rows;
  for (const Json& row : Json::parse(ran.out)) rows[row["pass"]] = row;
  EXPECT_GT(rows.at("-double_buffering")["change_percent"], 1);
  EXPECT_GT(rows.at("-fusion")["hbm_traffic_bytes"], rows.at("(as given)")["hbm_traffic_bytes"]);
  for (const std::string same : {"-reorder", "-double_buffering", "-cse", "-merge_blocks"})
    EXPECT_EQ(rows.at(same)["numbers"], 0) << same;
  for (const auto& [name, row] : rows) EXPECT_LT(row["numbers"], 0.05) << name;
}

TEST_F(Ablate, CompiledProgramsAreTakenFromTheCache) {
  const std::string cache = " --compile_cache " + at("programs");
  const Ran plain = run("compile llama2_7b_dolly --max_length 256 --gradient_accumulation_steps 1");
  const Ran first = run("compile llama2_7b_dolly --max_length 256 --gradient_accumulation_steps 1" + cache);
  const Ran second = run("compile llama2_7b_dolly --max_length 256 --gradient_accumulation_steps 1" + cache);
  EXPECT_THAT(first.err, HasSubstr("programs: 0 from the cache, 1 compiled"));
  EXPECT_THAT(second.err, HasSubstr("programs: 1 from the cache, 0 compiled"));
  EXPECT_EQ(second.out, plain.out);
  EXPECT_EQ(first.out, plain.out);
}

TEST_F(Ablate, UnknownWordsAreRefused) {
  expect_refused(run("ablate bert_emotion --only speed"), "time|batch|numbers");
  expect_refused(run("ablate bert_emotoin"), "fix: write \"bert_emotion\"");
  expect_refused(run("ablate bert_emotion --pipeline_parallel_size 2"),
                 "is an encoder: its cores can share tensors, but not layers");
  expect_refused(run("run bert_emotion --virtual_pipeline_size 2"),
                 "is an encoder: its cores can share tensors, but not layers");
}

}  // namespace
