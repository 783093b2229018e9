// Defects in the form of answers that a buyer met when trnsim was tried as a new user would; the others are in
// trial_defects_test.cpp.
#include <filesystem>
#include <regex>

#include "tests/cli/interrupted.h"
#include "tests/cli/trial_defects.h"

namespace {

using cli_test::Ran;
using cli_test::run;
using cli_test::TrialDefects;
using Json = nlohmann::json;
using testing::HasSubstr;
using testing::Not;

/// Lines that a kernel's script prints go elsewhere: the answer is one document.
TEST_F(TrialDefects, D24TimesOfKernelsAreOneDocument) {
  if (!std::filesystem::exists(std::filesystem::path{TRNSIM_BINARY}.parent_path() / "python/trnsim/nki/__main__.py"))
    GTEST_SKIP() << "built without the Python module";
  const std::string script = doubled("print(\"before\")\nprint(doubled(np.ones((128, 64), dtype=np.float32)).sum())\n");
  const Ran told = run("nki --time --format json " + script);
  ASSERT_EQ(told.code, 0) << told.err;
  const Json kernels = Json::parse(told.out, nullptr, false);
  ASSERT_TRUE(kernels.is_array()) << told.out;
  EXPECT_EQ(kernels.at(0)["kernel"], "doubled");
}

TEST_F(TrialDefects, D24MemoryIsCountedOnce) {
  const Ran told = run("run bert_tweets --mode timed --suggestions 0 --output_dir " + at("a"));
  const std::string table = told.out.substr(told.out.find("HBM per core"));
  EXPECT_THAT(table.substr(0, table.find("\n\n")), Not(HasSubstr("scratchpad")))
      << "the same bytes in other words are a table of their own";
  EXPECT_THAT(table, HasSubstr("the same bytes, as neuronx-cc counts them"));
  EXPECT_THAT(told.out, HasSubstr("dma engines")) << "the busiest part has a row";
}

TEST_F(TrialDefects, D24ACompilationIsOneDocument) {
  const Json told = json_of("compile bert_tweets");
  EXPECT_TRUE(told["blocks"][0]["instructions"].is_number()) << told["blocks"][0];
  EXPECT_TRUE(told["memory"].is_array());
}

TEST_F(TrialDefects, D24EveryPartOfTheTimeIsExplained) {
  const std::string words = cli_test::slurp(TRNSIM_SOURCE_DIR "/docs/glossary.md");
  for (const char* part : {"tracing", "hashing", "launches"}) EXPECT_THAT(words, HasSubstr(part));
}

TEST_F(TrialDefects, D24EveryFigureIsInTheCsv) {
  const Ran told = run("run bert_tweets --mode timed --suggestions 0 --format csv --output_dir " + at("a"));
  for (const char* figure : {"step_seconds", "hbm_bytes", "dollars", "train_samples_per_second"})
    EXPECT_THAT(told.out, HasSubstr(figure));
}

TEST_F(TrialDefects, D25TimesAndGainsAreInUnitsThatAreReadAtOnce) {
  const Ran told = run("run llama2_7b_dolly --mode timed --suggestions 2 --output_dir " + at("a"));
  const std::regex many_ms{"[0-9]{5,}(\\.[0-9]+)? ms"}, many_percent{"\\+[0-9]{4,} %"};
  EXPECT_FALSE(std::regex_search(told.out, many_ms)) << told.out;
  EXPECT_FALSE(std::regex_search(told.out, many_percent)) << told.out;
}

/// A model that does not fit has a search behind it: its first line comes before that, not after two minutes.
TEST_F(TrialDefects, D25ASearchForAPlanSaysSoAtOnce) {
  std::filesystem::create_directories(folder_ / "70b");
  std::ofstream{folder_ / "70b/config.json"} << R"({"architectures": ["LlamaForCausalLM"], "model_type": "llama",
    "hidden_size": 8192, "intermediate_size": 28672, "num_hidden_layers": 80, "num_attention_heads": 64,
    "num_key_value_heads": 8, "vocab_size": 128256, "max_position_embeddings": 131072, "rms_norm_eps": 1e-5,
    "hidden_act": "silu", "rope_theta": 500000.0, "tie_word_embeddings": false})";
  const std::string words = "does not fit as given: searching for a plan that fits";
  const cli_test::Stopped stopped = cli_test::stopped(
      "run llama2_7b_dolly --mode timed --model_id " + at("70b") + " --output_dir " + at("a") + " 2>" + at("err"),
      folder_ / "err", SIGINT, words);
  EXPECT_NE(stopped.code, 0);  // in the middle of its search
  EXPECT_THAT(cli_test::slurp(at("err")), HasSubstr(words));
  EXPECT_LT(stopped.cpu_seconds_before, 5);
}

/// Cores that share each layer wait for each other in it: they stay in one instance where another plan fits.
TEST_F(TrialDefects, APlanThatFitsHasItsTensorGroupsInOneInstance) {
  std::filesystem::create_directories(folder_ / "wide");
  std::ofstream{folder_ / "wide/config.json"} << R"({"architectures": ["LlamaForCausalLM"], "model_type": "llama",
    "hidden_size": 2048, "intermediate_size": 8192, "num_hidden_layers": 16, "num_attention_heads": 64,
    "num_key_value_heads": 8, "vocab_size": 1000, "max_position_embeddings": 2048, "rms_norm_eps": 1e-5,
    "hidden_act": "silu", "rope_theta": 10000.0, "tie_word_embeddings": false})";
  const Ran told = run("estimate " + at("wide") +
                       " --nnodes 2 --max_length 128 --tensor_parallel_size 32 --gradient_accumulation_steps 8 --set "
                       "hbm.bytes=1400MiB --sequences 1000");
  EXPECT_EQ(told.code, 3) << told.out << told.err;
  EXPECT_THAT(told.err, Not(HasSubstr("--tensor_parallel_size 64"))) << told.err;
  EXPECT_THAT(told.err, HasSubstr("--pipeline_parallel_size 2")) << told.err;
}

TEST_F(TrialDefects, AReportNamesTheCommandWithItsFlags) {
  ran("a", "bert_tweets --per_device_train_batch_size 4");
  const std::string command = result("a")["command"];
  EXPECT_EQ(command, "trnsim run bert_tweets --per_device_train_batch_size 4 --mode timed --suggestions 0");
  EXPECT_THAT(cli_test::slurp(folder_ / "a/report.html"), Not(HasSubstr("<dt>Likely</dt><dd>likely")));
}

}  // namespace
