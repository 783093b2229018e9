// Pitfalls for first-time users of trnsim, one test each.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "analysis/record/record.h"
#include "analysis/trace/trace.h"
#include "isa/names.h"
#include "tests/cli/interrupted.h"
#include "tests/sanitized.h"

namespace {

namespace fs = std::filesystem;
using cli_test::Ran;
using cli_test::run;
using Json = nlohmann::json;
using testing::HasSubstr;
using testing::Not;

/// A Llama of two layers, as its folder has it.
constexpr const char* kSmallLlama =
    R"({"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 1024,
  "intermediate_size": 2048, "num_hidden_layers": 2, "num_attention_heads": 8, "num_key_value_heads": 8,
  "vocab_size": 32000, "max_position_embeddings": 2048, "rms_norm_eps": 1e-5, "hidden_act": "silu",
  "rope_theta": 10000.0, "tie_word_embeddings": false})";

class FirstSight : public cli_test::Runs {
 protected:
  /// A Hugging Face folder with a small Llama.
  std::string llama() const {
    fs::create_directories(folder_ / "llama");
    std::ofstream{folder_ / "llama/config.json"} << kSmallLlama;
    return at("llama");
  }
};

TEST_F(FirstSight, TheAnswerComesFirstAndItsChangesArePasted) {
  if (without_slow()) GTEST_SKIP() << kSlow;
  for (const std::string job : {"run bert_tweets --mode timed", "run bert_training_compiler --mode timed"}) {
    fs::remove_all(folder_ / "a"), fs::remove_all(folder_ / "b");
    const Ran ran = run(job + " --output_dir " + at("a"), "TRNSIM_SUGGESTIONS=1");
    ASSERT_EQ(ran.code, 0) << ran.err;
    for (const char* line : {"\ntime     ", "\ndollars  ", "\nmemory   ", "\nbound by ", "\ntry      --"})
      EXPECT_THAT(ran.out.substr(0, ran.out.find("figure ")), HasSubstr(line));
    const Json change = result("a")["answer"]["changes"][0];
    std::string flags;
    for (const auto& [name, value] : change["settings"].items()) flags += " --" + name + " " + value.get<std::string>();
    ASSERT_EQ(run(job + " --output_dir " + at("b") + flags).code, 0);
    const auto rate = [&](const char* name) { return result(name)["job"]["train_samples_per_second"].get<double>(); };
    EXPECT_NEAR(100 * (rate("b") / rate("a") - 1), change["speed_up_percent"].get<double>(), 3) << job;
  }
}

/// The command behind "in full: " in trnsim's output, after its name, the lines of a terminal put together.
std::string in_full(std::string printed) {
  const std::string mark = "in full: ", goes_on = " \\\n";
  const std::size_t begin = printed.find(mark);
  if (begin == std::string::npos) return "";
  printed.erase(0, printed.find(' ', begin + mark.size()) + 1);
  for (std::size_t at = 0; (at = printed.find(goes_on)) != std::string::npos;) printed.replace(at, goes_on.size(), " ");
  return printed.substr(0, printed.find('\n'));
}

// A setting that a change replaces must not be given twice.
TEST_F(FirstSight, ASuggestedChangeIsAWholeCommand) {
  const Ran ran = run("run bert_emotion --mode timed --per-device-train-batch-size 4 --output_dir " + at("a"),
                      "COLUMNS=60 TRNSIM_SUGGESTIONS=1");
  ASSERT_EQ(ran.code, 0) << ran.err;
  const std::string better = in_full(ran.out);
  EXPECT_THAT(better, HasSubstr(" --per_device_train_batch_size 16"));
  EXPECT_EQ(run(better + " --output_dir " + at("b")).code, 0) << better;
  const Json change = result("a")["answer"]["changes"][0];
  EXPECT_EQ(change["command"], "trnsim run bert_emotion --mode timed --per_device_train_batch_size 16");
  const std::regex spans{"</?span[^>]*>"};  // they keep a flag on one line
  EXPECT_THAT(
      std::regex_replace(cli_test::slurp(folder_ / "a/report.html"), spans, ""),
      testing::AllOf(HasSubstr("<code>trnsim run bert_emotion --mode timed --per_device_train_batch_size 16</code>"),
                     Not(HasSubstr("--trnsim"))));
  EXPECT_EQ(in_full(run("run bert_emotion --mode timed --output_dir " + at("c"), "TRNSIM_SUGGESTIONS=1").out), "");
}

TEST_F(FirstSight, TwoInstancesArePricedAsTwo) {
  ASSERT_EQ(run("run bert_emotion --mode timed --instance_type trn1.32xlarge --nnodes 2 --output_dir " + at("a")).code,
            0);
  const Json job = result("a");
  EXPECT_EQ(job["machine"]["instances"], 2);
  const double hours = job["job"]["train_runtime"].get<double>() / 3600;
  EXPECT_NEAR(job["cost"]["dollars"].get<double>(), 2 * hours * job["cost"]["price_per_hour"].get<double>(), 1e-9);
}

TEST_F(FirstSight, AGateOfFiveIsNotOneOfFiveHundredPerCent) {
  ASSERT_EQ(run("run bert_tweets --mode timed --output_dir " + at("a")).code, 0);
  const std::string compare = "compare " + at("a") + " " + at("a") + " --fail_above ";
  const Ran ran = run(compare + "5");
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr("write 5%"));
  EXPECT_EQ(ran.out, "") << "the limit is looked at before the work";
  for (const char* good : {"5%", "0.05", "500%"}) EXPECT_EQ(run(compare + good).code, 0) << good;
}

TEST_F(FirstSight, ScoresOfTheTestSplitAreNotCalledEval) {
  const Ran ran =
      run("run bert_emotion --mode numeric --max_steps 4 --max_train_samples 64 --max_eval_samples 32 "
          "--output_dir " +
          at("a"));
  ASSERT_EQ(ran.code, 0) << ran.err;
  const Json metrics = result("a")["metrics"];
  ASSERT_TRUE(metrics.contains("eval_loss") && metrics.contains("test_loss")) << metrics.dump();
  std::map<std::string, Json> last;
  for (const Json& epoch : metrics["epochs"]) last[epoch["split"]] = epoch["loss"];
  for (const auto& [split, loss] : last) EXPECT_EQ(metrics[split + "_loss"], loss) << split;
  EXPECT_NE(last["eval"], last["test"]);
}

TEST_F(FirstSight, LayersAndPhasesAddUpToTheStep) {
  ASSERT_EQ(run("run llama2_7b_dolly --mode timed --output_dir " + at("a")).code, 0);
  const double step = result("a")["job"]["device_step_seconds"];
  for (const char* by : {"phase", "layer", "block"}) {
    const Ran ran = run("stats " + at("a") + " --by " + by + " --format json");
    ASSERT_EQ(ran.code, 0) << ran.err;
    double sum = 0;
    for (const Json& row : Json::parse(ran.out)) sum += row["seconds"].get<double>();
    EXPECT_NEAR(sum, step, 1e-3 * step) << by;
    EXPECT_THAT(ran.out, HasSubstr("exposed collectives"));
  }
}

TEST_F(FirstSight, TheMfuOfTheJobIsNotThatOfTheDevice) {
  const Ran ran = run("run bert_emotion --mode timed --output_dir " + at("a"));
  const Json job = result("a");
  EXPECT_LT(job["job"]["job_mfu_percent"].get<double>(), job["utilisation"]["mfu_estimated_percent"].get<double>() / 2);
  EXPECT_THAT(ran.out, HasSubstr("MFU of the job"));
  EXPECT_THAT(cli_test::slurp(folder_ / "a" / "report.html"), HasSubstr("<dt>MFU of the job</dt>"));
}

TEST_F(FirstSight, ReadmesResumeUnderAnotherPlanIsTaken) {
  const std::string readme = cli_test::slurp(TRNSIM_TEST_DIR "/../README.md");
  const std::size_t begin = readme.find("trnsim run llama2_7b_dolly --mode numeric --resume_from_checkpoint RUN");
  ASSERT_NE(begin, std::string::npos);
  std::string command = readme.substr(begin + 7, readme.find('`', begin) - begin - 7);
  command.replace(command.find("RUN"), 3, at("a"));
  const std::string few = " --max_steps 2 --max_train_samples 80 --max_eval_samples 8 --output_dir ";
  ASSERT_EQ(run("run llama2_7b_dolly --mode numeric" + few + at("a")).code, 0);
  const Ran ran = run(command + few + at("b"));
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(result("b")["metrics"]["steps"], 2);
}

TEST_F(FirstSight, AnOwnModelKeepsThePlanAndTheLengthOfTheJob) {
  const Ran ran = run("run llama2_7b_dolly --mode timed --model_id " + llama() + " --output_dir " + at("a"));
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("1 x trn1.32xlarge, 32 cores, TP 8"));
  EXPECT_THAT(ran.out, HasSubstr("micro-batches of 1 x 2048"));
  EXPECT_EQ(result("a")["machine"]["cores"], 32);
}

TEST_F(FirstSight, TheCompilersGainNamesItsBaseline) {
  const Ran ran = run("run bert_training_compiler --mode timed --output_dir " + at("a"));
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("by the passes, the rest by the larger batch that then fits"));
  const Json compiler = result("a")["compiler"];
  ASSERT_EQ(compiler["cases"].size(), 3);
  EXPECT_EQ(compiler["cases"][0]["speed_up_percent"], 0);
  EXPECT_EQ(compiler["cases"][2]["speed_up_percent"], compiler["speed_up_percent"]);
  EXPECT_THAT(cli_test::slurp(folder_ / "a/report.html"), HasSubstr("with passes, largest batch"));
}

TEST_F(FirstSight, DollarsAreHeldAgainstDollarsOfTheSameTime) {
  ASSERT_EQ(run("run llama2_7b_dolly --mode timed --output_dir " + at("a")).code, 0);
  const Json a = result("a");
  std::map<std::string, Json> rows;
  for (const Json& row : a["published"]) rows[row["name"]] = row;
  EXPECT_FALSE(rows.contains("dollars")) << "15.5 $ are of the 43:24 with loading and saving";
  ASSERT_TRUE(rows.contains("dollars_end_to_end"));
  EXPECT_LT(rows["compile_seconds"]["predicted"], rows["end_to_end_seconds"]["published"]);
  // The Llama's memory is one figure, and accumulation keeps all gradients.
  const std::string report = cli_test::slurp(folder_ / "a/report.html");
  EXPECT_THAT(report, HasSubstr("Needs <b data-v=\"" + a["memory"]["hbm_bytes"].dump() + "\">"));
  EXPECT_GE(a["memory"]["gradients"], a["memory"]["weights"]);
}

TEST_F(FirstSight, AnyRequestedPartOfAStepIsRecorded) {
  if (without_slow()) GTEST_SKIP() << kSlow;
  const std::string job =
      "run llama2_7b_dolly --mode timed --model_id " + llama() + " --gradient_accumulation_steps 4 ";
  ASSERT_EQ(run(job + "--output_dir " + at("plain")).code, 0);
  const double step = result("plain")["job"]["device_step_seconds"];
  const std::string late = std::to_string(0.7 * step) + "s", end = std::to_string(0.8 * step) + "s";
  for (const std::string& flags :
       {std::string{"--trace_steps 1"}, "--trace_steps 1 --trace_from " + late + " --trace_until " + end,
        std::string{"--trace_layer 1"}}) {
    ASSERT_EQ(run(job + flags + " --overwrite_output_dir --output_dir " + at("a")).code, 0) << flags;
    const analysis::Record record = analysis::read_record(folder_ / "a");
    const analysis::TraceCover cover = analysis::cover_of(record);
    EXPECT_GT(cover.requested, 0) << flags;
    EXPECT_DOUBLE_EQ(cover.recorded, cover.requested) << flags;
    const Ran trace = run("trace " + at("a"));
    EXPECT_EQ(trace.code, 0) << trace.err;
    EXPECT_THAT(trace.err, HasSubstr("instructions of "));
  }
}

struct Slice {
  double begin = 0, end = 0;  // us
  bool instruction = false;
};

/// The slices of each track of a trace in Chrome's form.
std::map<std::string, std::vector<Slice>> slices_of(const Json& trace) {
  std::map<int, std::string> names;
  std::map<std::string, std::vector<Slice>> out;
  for (const Json& e : trace["traceEvents"])
    if (e["ph"] == "M" && e["name"] == "thread_name") names[e["tid"]] = e["args"]["name"];
  for (const Json& e : trace["traceEvents"])
    if (e["ph"] == "X")
      out[names.at(e["tid"])].push_back(
          {e["ts"], e["ts"].get<double>() + e["dur"].get<double>(), e["cat"] == "instruction"});
  return out;
}

/// Each slice is inside or beside any other one; both ends are rounded to a picosecond.
bool nest(std::vector<Slice> slices) {
  constexpr double kRounding = 3e-6;
  std::ranges::sort(
      slices, [](const Slice& a, const Slice& b) { return a.begin != b.begin ? a.begin < b.begin : a.end > b.end; });
  std::vector<double> open;
  for (const Slice& s : slices) {
    while (!open.empty() && open.back() <= s.begin + kRounding) open.pop_back();
    if (!open.empty() && s.end > open.back() + kRounding) return false;
    open.push_back(s.end);
  }
  return true;
}

// The instructions of a layer's calls add up to the calls' own figures.
TEST_F(FirstSight, ATraceOfALayerIsThatLayer) {
  ASSERT_EQ(run("run llama2_7b_dolly --mode timed --model_id " + llama() +
                " --gradient_accumulation_steps 4 --trace_layer 1 --output_dir " + at("a"))
                .code,
            0);
  const analysis::Record record = analysis::read_record(folder_ / "a");
  std::array<double, isa::kEngineCount> events{}, calls{};
  for (const hw::TraceEvent& e : record.result.events) {
    ASSERT_EQ(record.result.calls[e.call].layer, 1);
    if (e.track == hw::TraceEvent::Track::kEngine) events[e.lane] += hw::seconds(e.end - e.begin);
  }
  for (const hw::CallTime& call : record.result.calls)
    for (std::size_t e = 0; call.layer == 1 && e < calls.size(); ++e) calls[e] += hw::seconds(call.engines[e].busy);
  for (std::size_t e = 0; e < calls.size(); ++e) EXPECT_NEAR(events[e], calls[e], 0.01 * calls[e]) << e;
  // The trace of it is read back: its slices nest, and each engine is as busy as the record says.
  ASSERT_EQ(run("trace " + at("a") + " --format json --detail instructions --output " + at("t.json")).code, 0);
  std::map<std::string, double> busy;
  for (const auto& [track, slices] : slices_of(Json::parse(cli_test::slurp(at("t.json"))))) {
    EXPECT_TRUE(nest(slices)) << track;
    for (const Slice& s : slices) busy[track] += s.instruction ? (s.end - s.begin) / 1e6 : 0;
  }
  for (std::size_t e = 0; e < calls.size(); ++e)
    EXPECT_NEAR(busy[fmt::format("core 0 {}", isa::name_of(static_cast<isa::Engine>(e)))], events[e], 1e-6) << e;
  EXPECT_EQ(run("run llama2_7b_dolly --mode timed --trace_layer 32 --output_dir " + at("b")).code, 2);
}

TEST_F(FirstSight, AnEvaluationIsLeftWithinASecond) {
  std::string texts = "text,label\n";
  for (int i = 0; i < 4000; ++i) texts += i % 2 ? "i feel fine,0\n" : "i feel sad,1\n";
  std::ofstream{folder_ / "data.csv"} << texts;
  std::ofstream{folder_ / "vocab.txt"} << "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\ni\nfeel\nfine\nsad\n";
  const std::string job =
      "run bert_emotion --mode numeric --dataset_path " + at("data.csv") + " --validation_file " + at("data.csv") +
      " --vocab " + at("vocab.txt") +
      " --max_length 128 --max_train_samples 16 --num_train_epochs 1 --logging_steps 1 --output_dir " + at("a");
  // The one step is logged, then 4,000 samples are evaluated.
  const cli_test::Stopped stopped = cli_test::stopped(job, folder_ / "a/steps.jsonl");
  EXPECT_EQ(stopped.code, 130);
  // A second on a host that does nothing else, with the checkpoint and the report of the run.
  EXPECT_GT(stopped.cpu_seconds, 0);
  EXPECT_LT(stopped.cpu_seconds, 5);
  const Json metrics = result("a")["metrics"];
  EXPECT_TRUE(metrics["interrupted"]);
  EXPECT_TRUE(metrics["epochs"].empty()) << metrics.dump();
}

TEST_F(FirstSight, EightyColumnsAreEnough) {
  const Ran ran = run("run bert_tweets --mode timed --output_dir " + at("a"), "COLUMNS=80 TRNSIM_SUGGESTIONS=1");
  ASSERT_EQ(ran.code, 0) << ran.err;
  for (const std::string& out :
       {ran.out, run("list isa", "COLUMNS=80").out, run("stats " + at("a"), "COLUMNS=80").out}) {
    std::istringstream lines{out.substr(out.find("\n\n") == std::string::npos ? 0 : out.find("\n\n"))};
    for (std::string line; std::getline(lines, line);) {
      const bool word = line.find(' ', line.find_first_not_of(' ')) == std::string::npos;
      EXPECT_TRUE(line.size() <= 80 || word) << line;
    }
  }
  EXPECT_THAT(run("run bert_tweets --mode timed --output_dir " + at("b")).out, HasSubstr("figure "));
}

TEST_F(FirstSight, NumbersAreNumbersWhereProgramsRead) {
  const Ran csv = run("run bert_tweets --mode timed --format csv --output_dir " + at("a"));
  std::istringstream lines{csv.out};
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ(line, "figure,predicted,unit,published,error,source");
  while (std::getline(lines, line)) {
    std::istringstream cells{line};
    std::string name, predicted;
    std::getline(cells, name, ',') && std::getline(cells, predicted, ',');
    EXPECT_NO_THROW((void)std::stod(predicted)) << line;
    EXPECT_EQ(predicted.find_first_not_of("0123456789.e+-"), std::string::npos) << line;
  }
  const Json json = Json::parse(run("run bert_tweets --mode timed --format json --output_dir " + at("b")).out);
  EXPECT_EQ(json["schema_version"], 2);
}

TEST_F(FirstSight, ListsOfNumbersAndFewerSamplesTakeEffect) {
  std::ofstream{folder_ / "s.toml"} << "workload = \"bert_tweets\"\n[set]\nper_device_train_batch_size = [4, 8]\n";
  const Ran ran = run("sweep " + at("s.toml") + " --output_dir " + at("sweep"));
  EXPECT_EQ(ran.code, 0) << ran.err;
  const auto evaluation = [&](const std::string& name, const std::string& flags) {
    EXPECT_EQ(run("run bert_emotion --mode timed " + flags + " --output_dir " + at(name)).code, 0);
    const Json all = result(name);
    for (const Json& part : all["job"]["parts"])
      if (part["name"] == "evaluation") return part["seconds"].get<double>();
    return 0.0;
  };
  EXPECT_LT(evaluation("few", "--max_eval_samples 100"), 0.2 * evaluation("all", ""));
}

TEST_F(FirstSight, SettingsComeFromAFileAndGoIntoOne) {
  const Ran dumped = run("run bert_tweets --dump_config --per_device_train_batch_size 4 --set hbm.bandwidth=2x");
  ASSERT_EQ(dumped.code, 0) << dumped.err;
  EXPECT_THAT(dumped.out, HasSubstr("per_device_train_batch_size = 4\n"));
  std::ofstream{folder_ / "run.toml"} << dumped.out;
  ASSERT_EQ(run("run bert_tweets --mode timed --config " + at("run.toml") + " --output_dir " + at("a")).code, 0);
  ASSERT_EQ(
      run("run bert_tweets --mode timed --per_device_train_batch_size 4 --set hbm.bandwidth=2x --output_dir " + at("b"))
          .code,
      0);
  EXPECT_EQ(result("a")["job"], result("b")["job"]);
  // A flag with its default value still overrides the workload.
  const Ran alone = run("run llama2_7b_dolly --dump_config --tensor_parallel_size 1");
  EXPECT_THAT(alone.out, HasSubstr("tensor_parallel_size = 1\n"));
  std::ofstream{folder_ / "wrong.toml"} << "per_device_batch_size = 4\n";
  const Ran wrong = run("run bert_tweets --config " + at("wrong.toml"));
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("wrong.toml:1"));
}

TEST_F(FirstSight, CommandLinesOfTrainersArePasted) {
  const Ran ran =
      run("run bert_tweets --mode timed --bf16 True --do_train --report_to none --save-strategy no "
          "--output-dir " +
          at("a"));
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("does not need them: --do_train --save-strategy"));
  EXPECT_EQ(result("a")["workload"]["options"]["bf16"], true);
  const Ran llama =
      run("run llama2_7b_dolly --mode timed --zero_1 False --gradient_checkpointing True --save_total_limit -1 "
          "--output_dir " +
          at("b"));
  EXPECT_EQ(llama.code, 0) << llama.err;
  EXPECT_THAT(llama.out, Not(HasSubstr("ZeRO-1, rec")));
  EXPECT_THAT(llama.out, HasSubstr("recompute full"));
  EXPECT_EQ(run("run bert_tweets --mode timed --do_trian --output_dir " + at("c")).code, 2);
  for (const std::string job : {"estimate llama-small ", "plan llama-small ", "cost llama-small --samples 100 "}) {
    const Ran pasted = run(job + "--bf16 True --do_train --save_total_limit -1"), ours = run(job + "--numerics bf16");
    EXPECT_EQ(pasted.code, 0) << pasted.err;
    EXPECT_EQ(pasted.out, ours.out) << job;
  }
}

}  // namespace
