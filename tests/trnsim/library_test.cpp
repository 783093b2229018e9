// Answers of the verbs without a job, called in process: machines, listings, tokens, checkpoints, text.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/files.h"
#include "tests/fails.h"
#include "tests/tale.h"
#include "tests/workloads/models.h"
#include "tests/workloads/support.h"
#include "trnsim/generation.h"
#include "trnsim/job/devices.h"
#include "trnsim/job/listing.h"
#include "trnsim/machine.h"
#include "trnsim/run/checkpoints.h"
#include "trnsim/run/tokenize.h"
#include "workloads/checkpoints/shards.h"

namespace trnsim {
namespace {

using base::Fault;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using tests::fails;
using workloads_test::Scratch;

TEST(Machines, ParametersBelowAPrefixHaveTheirSource) {
  const auto machine = machine_file("trn1.2xlarge", std::vector<std::string>{"hbm.bandwidth=2x"});
  const base::Table table = parameter_table(machine, "hbm.bandwidth");
  ASSERT_EQ(table.rows(), 1u);
  EXPECT_EQ(std::get<std::string>(table.cells()[0][0].value), "hbm.bandwidth");
  EXPECT_THAT(std::get<std::string>(table.cells()[0][2].value), HasSubstr("set to 2x, instead of"));
  EXPECT_GT(parameter_table(machine).rows(), parameter_table(machine, "hbm").rows());
  EXPECT_TRUE(fails(Fault::kUsage, [&] { parameter_table(machine, "hbn"); }, {"`prefix`", "'hbn'"}));
}

TEST(Machines, DevicesAreThoseOfTheInstance) {
  const analysis::Devices devices = devices_of(load_machine("trn1.32xlarge"));
  EXPECT_EQ(devices.chips, 16);
  EXPECT_EQ(devices.rows * devices.columns, 16);
  EXPECT_EQ(devices.cores_per_chip, 2);
}

TEST(Listings, NamesAreThoseOfTheRegistries) {
  EXPECT_EQ(names_in("machines"), machine_names());
  EXPECT_THAT(names_in("models"), Contains("llama2-7b"));
  EXPECT_THAT(names_in("workloads"), Contains("bert_emotion"));
  EXPECT_TRUE(fails(Fault::kInternal, [] { names_in("planets"); }, {"planets"}));
}

TEST(Tokens, ATextGetsItsSpecialTokens) {
  const Scratch scratch;
  const auto vocab = scratch.write("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\ni\nfeel\nhappy\n");
  const auto tokenizer = load_tokenizer(vocab);
  const Tokens all = tokenize(*tokenizer, "I feel happy");
  EXPECT_THAT(all.tokens, ElementsAre("[CLS]", "i", "feel", "happy", "[SEP]"));
  EXPECT_THAT(all.ids, ElementsAre(2, 5, 6, 7, 3));
  EXPECT_THAT(tokenize(*tokenizer, "I feel happy", 4).ids, ElementsAre(2, 5, 6, 3));
  EXPECT_TRUE(fails(Fault::kUsage, [&] { tokenize(*tokenizer, "i", -1); }, {"`max_length`", "negative"}));
  EXPECT_TRUE(fails(Fault::kData, [&] { tokenize(*tokenizer, "\xff", 0, "a.txt:7"); }, {"a.txt:7"}));
}

TEST(Checkpoints, ShardsBecomeOneModel) {
  workloads::LlamaConfig c;
  c.vocab_size = 20;
  c.hidden_size = 8;
  c.num_hidden_layers = 2;
  c.num_attention_heads = c.num_key_value_heads = 2;
  c.head_dim = 4;
  c.intermediate_size = 12;
  c.max_position_embeddings = 16;
  const Scratch scratch;
  const workloads::Weights weights = workloads::initial_weights(c, 3);
  const workloads::ShardPlan plan{.tensor_parallel_size = 2};
  base::make_output_folder(scratch / "shards", true);
  for (std::int64_t tp = 0; tp < 2; ++tp)
    workloads::write_shard(scratch / "shards", c, {plan, {tp, 0}, "model", 5},
                           workloads::shard_of(weights, c, plan, {tp, 0}));
  workloads::write_shard_index(scratch / "shards", c, {.plan = plan, .step = 5});
  const Consolidated done = consolidate(scratch / "shards", scratch / "merged");
  EXPECT_EQ(done.step, 5);
  EXPECT_EQ(done.shards(), 2);
  EXPECT_EQ(done.tensors, static_cast<std::int64_t>(weights.values.size()));
  EXPECT_EQ(workloads::load_weights(scratch / "merged", c, 1).values, weights.values);
  EXPECT_TRUE(fails(Fault::kUsage, [&] { consolidate(scratch / "shards", scratch / "merged"); }, {"merged"}));
}

// The pieces that an observer receives make up the caller's text; the time is that of the same programs.
TEST(GenerateInProcess, TextsGrowUnderTheEyesOfAnObserver) {
  Settings settings = generation_settings();
  settings.generation.prompt = {"One day", "Tom"};
  settings.generation.max_new_tokens = 4;
  std::vector<std::string> heard(2);
  bool written = false;
  GenerateObserver observer;
  observer.grown = [&](std::size_t sequence, std::size_t sequences, const std::string& text) {
    EXPECT_EQ(sequences, 2u);
    heard.at(sequence) += text;
  };
  observer.written = [&](const Generated& g) {
    written = true;
    EXPECT_EQ(g.texts.size(), 2u);
    EXPECT_EQ(g.projection.time.total, 0);
  };
  const Generated g = generate(tests::tale().string(), settings, observer);
  EXPECT_TRUE(written);
  for (std::size_t b = 0; b < 2; ++b) {
    EXPECT_EQ(g.texts[b].text, heard[b]);
    EXPECT_THAT(heard[b], testing::StartsWith(settings.generation.prompt[b]));
  }
  EXPECT_GT(g.projection.time.total, g.projection.generation->first_token);
  const auto json = to_json(g, "tale");
  EXPECT_EQ(json["model"], "tale");
  EXPECT_EQ(json["texts"][1]["text"], heard[1]);
  EXPECT_EQ(json["batch_size"], 2);
}

// The source is not part of the generated text, and may be longer than its caches.
TEST(GenerateInProcess, AnEncodersTextIsReadOnce) {
  Settings settings = generation_settings();
  settings.machine.instance_type = "trn1.2xlarge";
  settings.generation.prompt_length = 512, settings.generation.max_new_tokens = 40;
  const Generated g = generate("t5-small", settings);
  const GenerationTime& time = g.projection.generation.value();
  EXPECT_EQ(g.job.generation->prompt_tokens, 512);
  EXPECT_EQ(g.job.generation->length, 40);
  ASSERT_EQ(time.tokens.size(), 1U);
  EXPECT_EQ(time.tokens.front().tokens, 39);
  // Decoder and head, 41.7 million parameters in bf16, cannot be read faster than 0.1 ms at 820 GB/s.
  EXPECT_GT(time.per_token, 1e-4);
  EXPECT_GT(time.first_token, time.per_token);
}

struct GenerateMistake {
  const char* name;
  void (*make)(Settings&);
  const char* where;
  const char* model = "gpt-small";
};
const GenerateMistake kGenerateMistakes[] = {
    {"Tokens", [](Settings& s) { s.generation.max_new_tokens = 0; }, "`max_new_tokens`"},
    {"Batch", [](Settings& s) { s.generation.batch_size = -1; }, "`batch_size`"},
    {"Format", [](Settings& s) { s.numerics.name = "bf61"; }, "`numerics`"},
    {"Sampling", [](Settings& s) { s.generation.top_k = 5; }, "`top_k`"},
    {"Temperature", [](Settings& s) { s.generation.temperature = NAN; }, "`temperature`"},
    {"Probability", [](Settings& s) { s.generation.temperature = 1, s.generation.top_p = 2; }, "`top_p`"},
    {"Text", [](Settings& s) { s.generation.prompt = {"x"}; }, "`prompt`"},
    {"Positions", [](Settings& s) { s.generation.max_new_tokens = 100'000; }, "`max_new_tokens`"},
    {"Cores", [](Settings& s) { s.plan.tensor_parallel_size = 64; }, "`tensor_parallel_size`"},
    {"Model", [](Settings&) {}, "llama2-7b", "llama2-8b"},
    {"Folder", [](Settings&) {}, "no/where", "no/where"},
    {"Stack", [](Settings& s) { s.machine.stack = "jax"; }, "stack"},
};
class GenerateRefuses : public testing::TestWithParam<GenerateMistake> {};

TEST_P(GenerateRefuses, InTheLibrarysWords) {
  Settings settings = generation_settings();
  GetParam().make(settings);
  try {
    generate(GetParam().model, settings);
    FAIL() << "nothing was refused";
  } catch (const base::Error& error) {
    EXPECT_EQ(error.fault(), Fault::kUsage);
    EXPECT_THAT(error.what(), HasSubstr(GetParam().where));
    EXPECT_THAT(error.what(), testing::Not(HasSubstr("--")));
  }
}
INSTANTIATE_TEST_SUITE_P(All, GenerateRefuses, testing::ValuesIn(kGenerateMistakes),
                         [](const auto& info) { return std::string{info.param.name}; });

}  // namespace
}  // namespace trnsim
