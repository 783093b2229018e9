// Pairs of texts, and T5 trained on them under different plans.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/target.h"
#include "tests/workloads/support.h"
#include "workloads/tasks/language_modelling.h"
#include "workloads/training/host_io.h"
#include "workloads/training/trainer.h"

namespace workloads {
namespace {

using base::Fault;
using testing::ElementsAre;
using workloads_test::fails;
using workloads_test::Scratch;

constexpr std::int32_t kNone = Batch::kIgnoredLabel;

LanguageModelling pairs_job(std::size_t texts = 60) {
  return load_language_modelling(
      {.preset = "t5-tiny", .length = 48, .max_train_samples = texts, .max_eval_samples = 20, .target_length = 24});
}

TEST(Pairs, AreReadFromTheColumnsOfSummaries) {
  const Scratch s;
  const auto read = [&](const char* row, bool pairs) {
    return read_corpus(s.write("train.jsonl", row), {.pairs = pairs});
  };
  for (const char* row :
       {R"({"source": "long", "target": "short"})", R"({"document": "long", "summary": "short"})",
        R"({"article": "long", "highlights": "short", "id": 3})", R"({"question": "long", "answer": "short"})"}) {
    const Corpus corpus = read(row, true);
    EXPECT_THAT(corpus.texts, ElementsAre("long")) << row;
    EXPECT_THAT(corpus.answers, ElementsAre("short")) << row;
  }
  const Corpus context = read(R"({"instruction": "a", "context": "b", "response": "c"})", true);
  EXPECT_THAT(context.texts, ElementsAre("a\nb"));
  EXPECT_TRUE(read(R"({"instruction": "a", "response": "c"})", false).answers.empty());
  const Corpus table = read_corpus(
      s.write("train.csv", "id,article,highlights\n1,\"long, in \"\"quotes\"\"\",short\n2,,none\n3,more,less\n"),
      {.pairs = true});
  EXPECT_THAT(table.texts, ElementsAre("long, in \"quotes\"", "more"));
  EXPECT_THAT(table.answers, ElementsAre("short", "less"));
  EXPECT_EQ(table.skipped, 1U);
  EXPECT_TRUE(fails(Fault::kData, [&] { read_corpus(s.write("a.csv", "a,b\n1,2\n"), {.pairs = true}); },
                    {"keys a, b", "source and target"}));
  EXPECT_TRUE(fails(Fault::kData, [&] { read(R"({"text": "alone"})", true); }, {"text", "source and target"}));
  EXPECT_TRUE(fails(Fault::kUsage, [&] { read_corpus(s.write("a.txt", "alone"), {.pairs = true}); }, {".jsonl"}));
}

TEST(Pairs, EndWithTheEndAndAreCutToTheirLengths) {
  const LanguageModelling job = pairs_job(40);
  const auto end = *job.tokenizer->eos_id(), pad = job.tokenizer->pad_id();
  const auto ids = [&](const char* text) { return job.tokenizer->tokenize(text, "test"); };
  const std::vector<std::int32_t> read = ids("one two three"), written = ids("four");
  ASSERT_GE(read.size(), 3U);
  const Corpus corpus{.source = "test", .texts = {"one two three"}, .answers = {"four"}};
  const PackedDataset cut = pair_up(corpus, *job.tokenizer, 3, 64);
  EXPECT_THAT(cut.sequence(0), ElementsAre(read[0], read[1], end));
  EXPECT_EQ(cut.used, std::vector<std::uint32_t>{3});
  EXPECT_EQ(cut.targets(std::vector<std::uint32_t>{0}), written.size() + 1);
  EXPECT_EQ(cut.answer(0)[written.size()], end);
  EXPECT_EQ(cut.answer(0)[written.size() + 1], kNone);
  const PackedDataset whole = pair_up(corpus, *job.tokenizer, read.size() + 3, 64);
  EXPECT_EQ(whole.sequence(0).back(), pad);
  EXPECT_EQ(whole.used.front(), read.size() + 1);
  EXPECT_TRUE(fails(Fault::kUsage, [&] { pair_up(corpus, *job.tokenizer, 8, 1); }, {"max_target_length"}));
}

TEST(Pairs, DecoderInputsAreTheTargetsShiftedByOne) {
  const std::vector<std::int32_t> targets{5, 6, 1, kNone, 7, 1, kNone, kNone};
  EXPECT_THAT(predecessors(targets, 4, {.start = 9, .end = 1, .pad = 2}), ElementsAre(9, 5, 6, 1, 9, 7, 1, 2));
}

TEST(Pairs, BelongToModelsThatWriteApart) {
  const auto with = [](const char* preset, std::size_t written) {
    return [=] {
      load_language_modelling({.preset = preset, .length = 48, .max_train_samples = 40, .target_length = written});
    };
  };
  EXPECT_TRUE(fails(Fault::kUsage, with("t5-tiny", 0), {"max_target_length", "writes a new text"}));
  EXPECT_TRUE(fails(Fault::kUsage, with("llama-small", 24), {"max_target_length", "continues its own text"}));
}

class T5Training : public testing::Test {
 protected:
  /// Eight pairs in each of five steps, however the ranks share them.
  static TrainerOptions options(const runtime::Plan& plan) {
    TrainerOptions o;
    o.target = trn1_target();
    o.step.plan = plan;
    o.step.kind.length = 48, o.step.kind.target_length = 24;
    o.step.plan.micro_batch = 8 / (static_cast<std::int64_t>(plan.data) * plan.micro_batches);
    o.step.plan.numerics = runtime::numerics("fp32");
    o.step.optimizer.max_grad_norm = 1;
    o.max_steps = 5, o.learning_rate = 3e-3;
    o.eval_each_epoch = false;
    return o;
  }
  Trainer trainer(const TrainerOptions& options) const { return {config_, weights_, job_.data(), options}; }
  std::vector<double> losses(const TrainerOptions& options) const {
    Trainer one = trainer(options);
    std::vector<double> out;
    one.on_step = [&](const StepRecord& r) { out.push_back(r.loss); };
    one.run();
    return out;
  }

  const LanguageModelling job_ = pairs_job();
  const ModelPtr config_ =
      job_.config->with_sizes({.layers = 2, .hidden = 32, .head = 8, .ffn = 48})->without_dropout();
  const Weights weights_ = initial_weights(config_, 1);
};

TEST_F(T5Training, PlansSeeTheSamePairs) {
  const std::vector<double> alone = losses(options({}));
  EXPECT_LT(alone.back(), alone.front());
  for (const runtime::Plan& plan : {runtime::Plan{.tensor = 2, .data = 2, .sequence = true, .zero1 = true},
                                    runtime::Plan{.pipeline = 2, .micro_batches = 2}}) {
    const std::vector<double> shared = losses(options(plan));
    ASSERT_EQ(shared.size(), alone.size());
    // Only the order of sums differs: some 1e-6 a step, which Adam makes some ten times as much.
    for (std::size_t i = 0; i < alone.size(); ++i) EXPECT_NEAR(shared[i], alone[i], 1e-4 * alone[i]) << i;
  }
}

TEST_F(T5Training, AStoppedRunGoesOnToTheSameBits) {
  const Scratch s;
  TrainerOptions o = options({.data = 2});
  const std::vector<double> whole = losses(o);
  o.checkpoint = s / "checkpoint", o.save_steps = 3;
  struct Stop {};
  {
    Trainer one = trainer(o);
    one.on_step = [](const StepRecord& r) {
      if (r.step == 4) throw Stop{};
    };
    EXPECT_THROW(one.run(), Stop);
  }
  o.resume = s / "checkpoint";
  EXPECT_EQ(losses(o), (std::vector<double>{whole.begin() + 3, whole.end()}));
}

TEST_F(T5Training, EvaluationCountsEveryTokenOnce) {
  TrainerOptions four = options({.data = 2}), three = options({});
  four.eval_batch = 4, three.eval_batch = 3;  // 20 pairs: neither fills its last batch of two ranks
  const EvalRecord a = trainer(four).evaluate(Split::kValidation), b = trainer(three).evaluate(Split::kValidation);
  EXPECT_EQ(a.samples, 20);
  EXPECT_NEAR(a.loss, b.loss, 1e-5 * b.loss);
}

}  // namespace
}  // namespace workloads
