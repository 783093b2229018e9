// Generation on simulated cores: token by token it computes what a whole pass computes, on any number of cores.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "isa/check.h"
#include "runtime/step/session.h"
#include "tests/tale.h"
#include "tests/target.h"
#include "tests/workloads/golden_model.h"
#include "tests/workloads/models.h"
#include "tests/workloads/support.h"
#include "tests/workloads/traits.h"
#include "workloads/checkpoints/json_file.h"
#include "workloads/checkpoints/model_files.h"
#include "workloads/generation/generator.h"
#include "workloads/models/decoder/decoder_model.h"
#include "workloads/models/layers/mixture.h"
#include "workloads/models/presets.h"
#include "workloads/step/step_graph.h"
#include "workloads/text/tokenizer.h"
#include "workloads/training/host_io.h"
#include "workloads/training/sharded_state.h"

namespace workloads {
namespace {

using workloads_test::fails;
using workloads_test::fixture;
using workloads_test::golden;
using Ids = std::vector<std::int32_t>;

Ids tokens(std::int64_t count, std::int32_t seed, std::int64_t vocabulary = 264) {
  Ids ids;
  const auto all = static_cast<std::int32_t>(vocabulary);
  for (std::int32_t i = 0; i < count; ++i) ids.push_back((seed + 37 * i + i * i) % all);
  return ids;
}

std::int32_t likeliest(const float* logits, std::int64_t count) {
  return static_cast<std::int32_t>(std::max_element(logits, logits + count) - logits);
}

GenerationSpec spec_of(std::int64_t batch, std::int64_t ranks, const char* numerics = "fp32") {
  return {
      .batch = batch, .prompt = 12, .length = 40, .tensor_parallel = ranks, .numerics = generation_numerics(numerics)};
}

/// Greedy tokens behind the prompts, and the logits of each step [steps][batch * vocabulary].
struct Grown {
  std::vector<Ids> ids;
  std::vector<std::vector<float>> logits;
};
Grown grow(Generator& generator, const std::vector<Ids>& prompts, int steps) {
  Grown out{.ids = prompts, .logits = {generator.begin(prompts)}};
  const std::int64_t all = generator.vocabulary();
  for (int step = 0; step < steps; ++step) {
    Ids next;
    for (std::size_t b = 0; b < prompts.size(); ++b) {
      next.push_back(likeliest(out.logits.back().data() + static_cast<std::int64_t>(b) * all, all));
      out.ids[b].push_back(next.back());
    }
    out.logits.push_back(generator.next(next));
  }
  return out;
}

/// Logits [rows, vocabulary] of one whole pass by the graph that training uses.
std::vector<float> whole_pass(const LoadedModel& model, const Ids& ids) {
  const Step spec{.plan = {.micro_batch = 1, .numerics = runtime::numerics("fp32")},
                  .kind = {.length = static_cast<std::int64_t>(ids.size()), .training = false, .keep_logits = true}};
  StepGraph step = decoder_step(model.config, spec);
  const runtime::Compiled compiled = runtime::compile(std::move(step.graph), trn1_target(), {.name = "whole"});
  const auto device = isa::make_numeric_device();
  device->load(compiled.program);
  runtime::Session session{*device, compiled.program};
  const HostIo io{model.config, spec};
  ShardedState{model.config, spec}.write_weights(session, model.weights);
  io.write_tables(session);
  io.write_batch(session, 0, 0, {.input_ids = ids});
  device->run({});
  return io.logits(session, 0, 0);
}

double largest_difference(std::span<const float> a, std::span<const float> b) {
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, std::abs(double{a[i]} - double{b[i]}));
  return most;
}

// 1e-4 of logits of about 1: sums of some hundred fp32 products in another order, three layers deep.
void expect_as_in_one_whole_pass(const LoadedModel& model) {
  const DecoderArch form = decoder_arch(model.config);
  const std::vector<Ids> prompts{tokens(12, 5, form.vocabulary), tokens(3, 90, form.vocabulary)};
  constexpr int kSteps = 9;
  Grown first;
  for (const auto& [ranks, sequence] : std::vector<std::pair<std::int64_t, bool>>{
           {1, false}, {2, false}, {2, true}, {4, false}, {4, true}, {8, false}, {8, true}}) {
    if (problem(generation_plan(ranks), model.config->sizes())) continue;
    GenerationSpec spec = spec_of(2, ranks);
    spec.sequence = sequence;
    Generator generator{model.config, spec, model.weights, trn1_target()};
    isa::check(generator.programs().prompt.program, trn1_target());
    for (const auto& token : generator.programs().tokens) isa::check(token.compiled.program, trn1_target());
    const Grown grown = grow(generator, prompts, kSteps);
    if (ranks == 1) first = grown;
    EXPECT_EQ(grown.ids, first.ids) << ranks;
    const std::int64_t all = generator.vocabulary();
    for (std::size_t b = 0; b < prompts.size(); ++b) {
      const std::vector<float> want = whole_pass(model, grown.ids[b]);
      for (std::size_t step = 0; step < grown.logits.size(); ++step) {
        const std::span<const float> row{grown.logits[step].data() + static_cast<std::int64_t>(b) * all,
                                         static_cast<std::size_t>(all)};
        const std::size_t place = prompts[b].size() - 1 + step;
        EXPECT_LT(largest_difference(row, std::span{want}.subspan(place * row.size(), row.size())), 1e-4)
            << ranks << " ranks, split by tokens " << sequence << ", sequence " << b << ", step " << step;
      }
    }
  }
}

class Golden : public testing::TestWithParam<const char*> {};

TEST_P(Golden, TokenByTokenAsInOneWholePassOnAnyNumberOfCores) {
  expect_as_in_one_whole_pass(load_model(golden(GetParam()), 42));
}

// llama_gqa: 6 heads, 2 key-value heads, so ranks 1, 2; llama_tiny also 4 and 8, gpt_tiny 4.
INSTANTIATE_TEST_SUITE_P(Decoders, Golden,
                         testing::Values("llama_gqa", "llama_tiny", "gpt_tiny", "mixtral_tiny", "gemma_wide_tiny",
                                         "olmo2_tiny", "qwen3_moe_listed_tiny"));
INSTANTIATE_TEST_SUITE_P(Families, Golden, testing::ValuesIn(workloads_test::kWritingDecoders));
INSTANTIATE_TEST_SUITE_P(Windows, Golden, testing::ValuesIn(workloads_test::kWindowed));

class Written : public testing::TestWithParam<const char*> {};

// PyTorch's text with a whole pass for each token: prompts longer and shorter than the window, texts that leave it
// behind several times; one at a time, together, on two cores. 1e-4 as above.
TEST_P(Written, EachTokenAndItsLogitsAreThoseOfPyTorch) {
  const LoadedModel model = load_model(golden(GetParam()), 42);
  const nlohmann::json file = read_json_file(golden(GetParam()) / "generated.json");
  const std::vector<Ids> prompts = file.at("prompts"), want = file.at("ids");
  const std::vector<std::vector<std::vector<float>>> logits = file.at("logits");  // of each text and token
  const auto expect_text = [&](const Grown& grown, std::size_t row, std::size_t text) {
    EXPECT_EQ(grown.ids[row], want[text]) << text;
    const std::size_t all = logits[text].front().size();
    for (std::size_t step = 0; step < logits[text].size(); ++step)
      EXPECT_LT(largest_difference(std::span{grown.logits[step]}.subspan(row * all, all), logits[text][step]), 1e-4)
          << text << ", step " << step;
  };
  const auto steps = static_cast<int>(want.front().size() - prompts.front().size());
  for (const std::int64_t ranks : {1, 2}) {
    Generator together{model.config, spec_of(2, ranks), model.weights, trn1_target()},
        alone{model.config, spec_of(1, ranks), model.weights, trn1_target()};
    const Grown both = grow(together, prompts, steps);
    for (const std::size_t text : {0U, 1U}) {
      expect_text(both, text, text);
      expect_text(grow(alone, {prompts[text]}, steps), 0, text);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Windows, Written, testing::ValuesIn(workloads_test::kWindowed));

// 300 tokens of windows of 130 and 200: rings of 256 rows, buckets below and above them, a prompt that is longer.
TEST(Windows, RingsOfSeveralTilesAreTheSameAsOneWholePass) {
  for (const std::int64_t window : {130, 200}) {
    LlamaConfig config = workloads_test::config_of<LlamaConfig>(read_config(golden("gemma3_tiny")));
    config.sliding_window = window, config.max_position_embeddings = 512;
    const LoadedModel model{.config = config, .weights = initial_weights(config, 7)};
    for (const std::int64_t prompt : {100, 290}) {
      GenerationSpec spec = spec_of(1, 1);
      spec.prompt = prompt, spec.length = 384;
      Generator generator{model.config, spec, model.weights, trn1_target()};
      const Ids ids = tokens(300, 9, 32);
      std::vector<float> logits = generator.begin({{ids.begin(), ids.begin() + prompt}});
      for (auto i = static_cast<std::size_t>(prompt); i < ids.size(); ++i) logits = generator.next(Ids{ids[i]});
      const std::vector<float> whole = whole_pass(model, ids);
      EXPECT_LT(largest_difference(logits, std::span{whole}.last(logits.size())), 1e-4) << window << " " << prompt;
    }
  }
}

// Gemma 3 1B: of 26 layers four see all of 4096 tokens, the others keep 512; one key-value head of 256 numbers of 2
// bytes.
TEST(Windows, ACacheHasTheRowsOfItsWindow) {
  const GenerationSpec spec{.batch = 2, .prompt = 128, .length = 4096, .numerics = generation_numerics("bf16")};
  EXPECT_EQ(token_work(model_preset("gemma3-1b"), spec).cache_bytes, 2.0 * 2 * (4 * 4096 + 22 * 512) * 256 * 2);
}

class LayersOf : public testing::TestWithParam<workloads_test::Traits> {};

// Training's graph, a prompt's and a token's are made by the same functions: whatever a family combines, they agree.
TEST_P(LayersOf, TokenByTokenAsInOneWholePassOnAnyNumberOfCores) {
  const ModelPtr model = workloads_test::of_traits(GetParam());
  expect_as_in_one_whole_pass({.config = model, .weights = initial_weights(model, 7)});
}

INSTANTIATE_TEST_SUITE_P(Layers, LayersOf, testing::ValuesIn(workloads_test::kTraits));

// All experts but one have one token, and the last has the others; a block has one pair at the least.
TEST(Experts, PromptsPassInAsManyBlocksAsTheyMayNeed) {
  MixtureArch mixture;
  const auto blocks = [&mixture](std::int64_t experts, std::int64_t top_k, std::int64_t tokens, std::int64_t rows) {
    mixture.experts = experts, mixture.top_k = top_k;
    return expert_blocks(mixture, tokens, rows);
  };
  EXPECT_EQ(blocks(256, 8, 512, 512), 263);
  EXPECT_EQ(blocks(8, 2, 1024, 512), 11);
  EXPECT_EQ(blocks(128, 1, 100, 8), 100);
}

// Tokens choose 2 of 8 experts each, which are loaded for each of them until that is as much as all.
TEST(Experts, ATokenProgramLoadsThoseOfEachToken) {
  EXPECT_EQ(loaded_experts(8, 2, 1), 2);
  EXPECT_EQ(loaded_experts(8, 2, 2), 4);
  EXPECT_EQ(loaded_experts(8, 2, 4), 8);
  EXPECT_EQ(loaded_experts(8, 2, 128), 8);
  EXPECT_EQ(loaded_experts(128, 8, 15), 120);
  const ModelPtr model = model_preset("mixtral-small");
  GenerationSpec spec = spec_of(1, 1, "bf16");
  const double all = token_work(model, spec).weight_bytes;
  spec.timed_experts = true;
  const double some = token_work(model, spec).weight_bytes;
  EXPECT_DOUBLE_EQ(all - some, 2 * 2 * 3 * 128.0 * 128 * 2);  // 2 of 4 experts in 2 layers, three matrices in bf16
  const auto read = [&](bool expected) {
    spec.timed_experts = expected;
    const GenerationPrograms programs{model, spec, 1, spec.length, trn1_target()};
    return programs.tokens.back().compiled.program.model_flops;
  };
  EXPECT_NEAR(read(false) - read(true), 2 * 2 * 2 * 3 * 128.0 * 128, 1e-6 * read(false));
}

LlamaConfig small_llama() {
  LlamaConfig c;
  c.vocab_size = 266, c.hidden_size = 64, c.num_hidden_layers = 2, c.num_attention_heads = 8;
  c.num_key_value_heads = 2, c.head_dim = 8, c.intermediate_size = 96, c.max_position_embeddings = 64;
  c.initializer_range = 0.2;
  return c;
}

PlainConfig small_gpt() {
  PlainConfig c = blank(gpt_family());
  c.vocab_size = 266, c.hidden_size = 64, c.num_hidden_layers = 2, c.num_attention_heads = 8;
  c.intermediate_size = 256, c.max_position_embeddings = 64;
  c.initializer_range = 0.2;
  return c;
}

class Family : public testing::TestWithParam<bool> {
 protected:
  ModelPtr config() const { return GetParam() ? ModelPtr{small_llama()} : ModelPtr{small_gpt()}; }
};

// Ranks that share a key-value head, and a vocabulary that they do not divide (266 on 8), and GPT's fused weights.
TEST_P(Family, EightCoresGenerateTheTextOfOne) {
  const Weights weights = initial_weights(config(), 7);
  const std::vector<Ids> prompts{tokens(5, 1), tokens(11, 2), tokens(1, 3)};
  Generator one{config(), spec_of(3, 1), weights, trn1_target()},
      eight{config(), spec_of(3, 8), weights, trn1_target()};
  const Grown a = grow(one, prompts, 8), b = grow(eight, prompts, 8);
  EXPECT_EQ(a.ids, b.ids);
  for (std::size_t step = 0; step < a.logits.size(); ++step)
    EXPECT_LT(largest_difference(a.logits[step], b.logits[step]), 1e-4) << step;
}

// A prompt's program and a token's agree, at every place, in every type: nothing else of them is the same.
TEST_P(Family, APromptAndItsTokensOneByOneEndInTheSameLogits) {
  const Weights weights = initial_weights(config(), 7);
  const Ids ids = tokens(12, 9);
  for (const auto& [numerics, tolerance] : {std::pair{"fp32", 1e-4}, {"fp16", 0.03}, {"bf16", 0.25}}) {
    Generator generator{config(), spec_of(1, 2, numerics), weights, trn1_target()};
    const std::vector<float> want = generator.begin({ids});
    std::vector<float> got = generator.begin({Ids{ids.front()}});
    for (std::size_t i = 1; i < ids.size(); ++i) got = generator.next(Ids{ids[i]});
    EXPECT_LT(largest_difference(got, want), tolerance) << numerics;
    EXPECT_GT(largest_difference(got, generator.begin({Ids{ids.front()}})), 10 * 1e-4);
  }
}

// A sequence does not depend on others in its batch.
TEST_P(Family, ASequenceIsTheSameAloneAndInABatch) {
  const Weights weights = initial_weights(config(), 7);
  const std::vector<Ids> prompts{tokens(5, 1), tokens(11, 2)};
  Generator both{config(), spec_of(2, 1), weights, trn1_target()},
      alone{config(), spec_of(1, 1), weights, trn1_target()};
  const Grown together = grow(both, prompts, 6);
  for (std::size_t b = 0; b < prompts.size(); ++b) EXPECT_EQ(grow(alone, {prompts[b]}, 6).ids.front(), together.ids[b]);
}

INSTANTIATE_TEST_SUITE_P(LlamaAndGpt, Family, testing::Bool());

TEST(Generation, AStoryOnOneTwoAndFourCores) {
  if (tests::stories().empty()) GTEST_SKIP() << tests::kNoStories;
  const LoadedModel model = load_model(tests::stories(), 42);
  const auto tokenizer = load_tokenizer(tests::stories());
  for (const std::int64_t ranks : {1, 2, 4}) {
    GenerationSpec spec = spec_of(1, ranks);
    spec.prompt = 1, spec.length = 128;
    Generator generator{model.config, spec, model.weights, trn1_target()};
    const Grown grown = grow(generator, {tokenizer->encode("").ids}, 80);
    const std::string text = tokenizer->decode(grown.ids.front(), true);
    EXPECT_TRUE(text.starts_with(
        "Once upon a time, there was a little girl named Lily. She loved to play outside in the park. "))
        << ranks << ": " << text;
  }
}

/// A prompt split by tokens: each rank's norms have its rows alone, and no sum goes to all ranks.
TEST(Generation, APromptSplitByTokensGathersAndScatters) {
  const LoadedModel model = load_model(golden("llama_tiny"), 42);
  const auto count = [&](bool sequence, std::int64_t prompt, isa::Opcode op) {
    GenerationSpec spec = spec_of(1, 4);
    spec.sequence = sequence, spec.prompt = prompt;
    const runtime::Compiled compiled = runtime::compile(prompt_graph(model.config, spec), trn1_target(), {.name = "p"});
    std::int64_t found = 0;
    for (const isa::Block& block : compiled.program.blocks)
      found += std::ranges::count(block.instrs, op, &isa::Instr::op);
    return found;
  };
  EXPECT_GT(count(false, 12, isa::Opcode::kAllReduce), 0);
  EXPECT_EQ(count(false, 12, isa::Opcode::kReduceScatter), 0);
  EXPECT_EQ(count(true, 12, isa::Opcode::kAllReduce), 0);
  EXPECT_GT(count(true, 12, isa::Opcode::kReduceScatter), 0);
  EXPECT_GT(count(true, 12, isa::Opcode::kAllGather), 0);
  EXPECT_EQ(count(true, 11, isa::Opcode::kReduceScatter), 0) << "11 tokens, 4 ranks";
}

TEST(Generation, BucketsArePowersOfTwoUpToTheLength) {
  EXPECT_EQ(token_buckets(1, 20, 20), (std::vector<std::int64_t>{20}));
  EXPECT_EQ(token_buckets(1, 640, 640), (std::vector<std::int64_t>{128, 256, 512, 640}));
  // The new token at position 256 becomes a row, too, for which a bucket of 256 has no room.
  EXPECT_EQ(token_buckets(129, 255, 4096), (std::vector<std::int64_t>{256}));
  EXPECT_EQ(token_buckets(129, 256, 4096), (std::vector<std::int64_t>{256, 512}));
  EXPECT_EQ(token_buckets(128, 511, 4096), (std::vector<std::int64_t>{256, 512}));
  EXPECT_EQ(token_buckets(1024, 3070, 3072), (std::vector<std::int64_t>{2048, 3072}));
  EXPECT_EQ(prompt_bucket(129, 4096), 256);
  EXPECT_EQ(prompt_bucket(3, 64), 64);
  EXPECT_EQ(cache_length(129), 256);
  EXPECT_EQ(cache_length(64), 64);
}

TEST(Generation, RefusesUnsupportedModels) {
  const ModelPtr config = small_llama();
  const auto with = [&](auto change) {
    return [&config, change] {
      GenerationSpec spec = spec_of(1, 1);
      change(spec);
      token_graph(config, spec);
    };
  };
  EXPECT_TRUE(fails(base::Fault::kUsage, with([](auto& s) { s.length = 128; }), {"128 positions", "the model has 64"}));
  EXPECT_TRUE(fails(base::Fault::kUsage, with([](auto& s) { s.prompt = 41; }), {"`prompt`", "41 tokens"}));
  EXPECT_TRUE(fails(base::Fault::kUsage, with([](auto& s) { s.batch = 129; }), {"`batch_size`", "129"}));
  EXPECT_TRUE(fails(base::Fault::kUsage, with([](auto& s) { s.tensor_parallel = 3; }), {"`tensor_parallel_size`"}));
  EXPECT_TRUE(fails(base::Fault::kUsage, [] { generation_numerics("fp8_e4m3"); }, {"`numerics`", "fp8_e4m3"}));
  EXPECT_TRUE(fails(base::Fault::kUsage, [] { token_graph(model_preset("bert-large"), {}); }, {"encoder"}));
  Generator generator{config, spec_of(1, 1), initial_weights(config, 7), trn1_target()};
  generator.begin({tokens(12, 1)});
  EXPECT_TRUE(fails(base::Fault::kUsage,
                    [&] {
                      for (;;) generator.next(Ids{1});
                    },
                    {"`max_new_tokens`", "40 positions are full"}));
}

// 8 sequences of Llama-2-7B on 32 cores: 13.2 GB of weights without the embeddings, and 2 x 8 x 1024 x 4096 cached
// numbers of each of 32 layers, 2 bytes each.
TEST(Generation, TheLeastThatATokenReads) {
  const GenerationSpec spec{
      .batch = 8, .length = 8192, .read = 1024, .tensor_parallel = 32, .numerics = generation_numerics("bf16")};
  LlamaConfig config = workloads_test::config_of<LlamaConfig>(model_preset("llama2-7b"));
  config.max_position_embeddings = 8192;
  const TokenWork work = token_work(config, spec);
  EXPECT_NEAR(work.weight_bytes * 32, 2 * (6'738'415'616.0 - 32'000 * 4'096 - 65 * 4'096), 1);
  EXPECT_NEAR(work.cache_bytes * 32, 2.0 * 8 * 1024 * 4096 * 32 * 2, 1);
}

}  // namespace
}  // namespace workloads
