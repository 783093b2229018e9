// Masked language modelling: PyTorch's trajectories of BERT and its relatives, which tokens are hidden, and learning.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "tests/target.h"
#include "tests/workloads/golden_model.h"
#include "tests/workloads/support.h"
#include "workloads/checkpoints/model_files.h"
#include "workloads/models/presets.h"
#include "workloads/tasks/language_modelling.h"
#include "workloads/training/trainer.h"

namespace workloads {
namespace {

using base::Fault;
using workloads_test::fails;
using workloads_test::golden;
using workloads_test::Scratch;

struct MaskedCase {
  const char* model;
  std::uint32_t data = 1;
  std::int64_t micro = 1, tensor = 1;

  friend void PrintTo(const MaskedCase& c, std::ostream* out) {
    *out << c.model << " on " << c.data << " x " << c.tensor;
  }
};

class MaskedLanguage : public testing::TestWithParam<MaskedCase> {};

TEST_P(MaskedLanguage, Fp32FollowsPyTorch) {
  runtime::Plan plan;
  plan.data = GetParam().data, plan.micro_batches = GetParam().micro, plan.tensor = GetParam().tensor;
  workloads_test::expect_pytorch(GetParam().model, plan);
}

INSTANTIATE_TEST_SUITE_P(
    Golden, MaskedLanguage,
    testing::Values(MaskedCase{"eurobert_mlm_tiny", 2, 2}, MaskedCase{"eurobert_mlm_tiny", 1, 1, 2},
                    MaskedCase{"bert_mlm_tiny"}, MaskedCase{"bert_mlm_tiny", 2, 2}, MaskedCase{"roberta_mlm_tiny"},
                    MaskedCase{"roberta_mlm_tiny", 2, 2}, MaskedCase{"distilbert_mlm_tiny"},
                    MaskedCase{"electra_mlm_tiny"}, MaskedCase{"albert_mlm_tiny"}, MaskedCase{"esm_mlm_tiny", 2, 2},
                    MaskedCase{"mpnet_mlm_tiny", 2, 2}, MaskedCase{"modernbert_mlm_tiny", 2, 2},
                    MaskedCase{"megatron-bert_mlm_tiny"}, MaskedCase{"rembert_mlm_tiny"}, MaskedCase{"xlm_mlm_tiny"},
                    MaskedCase{"roformer_mlm_tiny", 2, 2}, MaskedCase{"deberta_mlm_tiny"},
                    MaskedCase{"new_mlm_tiny", 2, 2}, MaskedCase{"nomic_bert_mlm_tiny", 2, 2},
                    MaskedCase{"new_mlm_tiny", 1, 1, 4}, MaskedCase{"nomic_bert_mlm_tiny", 1, 1, 2},
                    MaskedCase{"deberta-v2_mlm_tiny", 2, 2}, MaskedCase{"bert_mlm_tiny", 2, 2, 2},
                    MaskedCase{"roberta_mlm_tiny", 1, 1, 4}, MaskedCase{"distilbert_mlm_tiny", 1, 2, 2},
                    MaskedCase{"electra_mlm_tiny", 1, 1, 4}, MaskedCase{"albert_mlm_tiny", 1, 1, 2},
                    MaskedCase{"esm_mlm_tiny", 1, 1, 4}, MaskedCase{"mpnet_mlm_tiny", 1, 1, 4},
                    MaskedCase{"modernbert_mlm_tiny", 1, 1, 2}, MaskedCase{"rembert_mlm_tiny", 1, 1, 4},
                    MaskedCase{"xlm_mlm_tiny", 1, 1, 2}, MaskedCase{"roformer_mlm_tiny", 1, 1, 2},
                    MaskedCase{"deberta-v2_mlm_tiny", 1, 1, 4}));

// BertForMaskedLM's file is also what a classifier begins from, and the other way round.
TEST(MaskedLanguageFolder, TheHeadIsTheTasks) {
  for (const char* name : {"bert_mlm_tiny", "roberta_mlm_tiny", "albert_mlm_tiny", "esm_mlm_tiny", "mpnet_mlm_tiny",
                           "modernbert_mlm_tiny", "rembert_mlm_tiny", "xlm_mlm_tiny", "roformer_mlm_tiny",
                           "deberta-v2_mlm_tiny", "new_mlm_tiny", "nomic_bert_mlm_tiny"}) {
    EXPECT_EQ(saved_head(golden(name)), Head::kMaskedTokens);
    const ModelPtr classifier = read_config(golden(name));
    EXPECT_EQ(classifier->task(), Task::kClassification);
    EXPECT_FALSE(load_weights(golden(name), classifier, 1).notes.empty());
    const ModelPtr masked = classifier->with_head(Head::kMaskedTokens);
    EXPECT_EQ(masked->task(), Task::kMaskedTokens);
    EXPECT_TRUE(load_weights(golden(name), masked, 1).notes.empty());
    EXPECT_THAT(masked->config_json(),
                testing::ContainsRegex("ForMaskedLM|XLMWithLMHeadModel|NomicBertForPreTraining"));
  }
  const ModelPtr from_classifier = read_config(golden("roberta_tiny"))->with_head(Head::kMaskedTokens);
  EXPECT_FALSE(load_weights(golden("roberta_tiny"), from_classifier, 1).notes.empty());
}

/// Sentences in which a word follows from those around it.
std::string sentences(int count) {
  constexpr std::array kWho{"the cat", "the dog", "a bird", "one fish"},
      kDoes{"meows at", "barks at", "sings to", "swims to"};
  std::string out;
  for (int i = 0; i < count; ++i)
    out += fmt::format("{} {} {} .\n<|endoftext|>\n", kWho[i % 4], kDoes[i % 4], kWho[(i / 4) % 4]);
  return out;
}

DataOptions options_of(const std::filesystem::path& text) {
  return {.preset = "bert-small", .dataset_path = text.string(), .head = Head::kMaskedTokens, .length = 32};
}

TEST(MaskedSequences, HideAsBertDoesAndAnewInEachEpoch) {
  const Scratch s;
  const LanguageModelling job = load_language_modelling(options_of(s.write("train.txt", sentences(4000))));
  ASSERT_TRUE(job.mask);
  const SamplesPtr samples = job.data().train;
  std::vector<std::uint32_t> all(samples->size());
  for (std::uint32_t i = 0; i < all.size(); ++i) all[i] = i;
  const auto rows = static_cast<std::int64_t>(all.size()) + 1;
  const Batch first = samples->batch({.samples = all, .rows = rows, .length = 32}),
              again = samples->batch({.samples = all, .rows = rows, .length = 32}),
              later = samples->batch({.samples = all, .rows = rows, .length = 32, .epoch = 1});
  EXPECT_EQ(first.input_ids, again.input_ids);
  EXPECT_NE(first.input_ids, later.input_ids);
  double words = 0, chosen = 0, hidden = 0, kept = 0;
  for (std::size_t i = 0; i < all.size() * 32; ++i) {
    const std::int32_t id = job.train.ids[i], label = first.labels[i];
    const bool special = std::ranges::find(job.mask->kept, id) != job.mask->kept.end();
    words += !special;
    if (label == Batch::kIgnoredLabel) {
      EXPECT_EQ(first.input_ids[i], id) << "a token that is not predicted is changed";
      continue;
    }
    EXPECT_FALSE(special);
    EXPECT_EQ(label, id);
    ++chosen, hidden += first.input_ids[i] == job.mask->id, kept += first.input_ids[i] == id;
  }
  // Shares of some 4000 draws: four standard deviations.
  EXPECT_NEAR(chosen / words, 0.15, 0.01);
  EXPECT_NEAR(hidden / chosen, 0.8, 0.03);
  EXPECT_NEAR(kept / chosen, 0.1 + 0.1 / static_cast<double>(job.tokenizer->vocab_size()), 0.02);
  for (std::size_t i = all.size() * 32; i < first.labels.size(); ++i) {
    EXPECT_EQ(first.labels[i], Batch::kIgnoredLabel) << "filler";
    EXPECT_EQ(first.attention_mask[i], 1);
  }
}

TEST(MaskedSequences, NeedATokenThatHides) {
  const Scratch s;
  DataOptions o = options_of(s.write("train.txt", sentences(40)));
  o.vocab = workloads_test::fixture("tokenizers/tiny.model").string();
  EXPECT_TRUE(fails(Fault::kData, [&] { load_language_modelling(o); }, {"[MASK]"}));
  o.vocab.clear(), o.preset = "vit-mnist";
  EXPECT_TRUE(fails(Fault::kUsage, [&] { load_language_modelling(o); }, {"vit-mnist"}));
}

// Hidden words follow from the others: the loss falls far below that of guessing them by how often they come.
TEST(MaskedLanguageTraining, LearnsWhichWordsAreHidden) {
  const Scratch s;
  const LanguageModelling job = load_language_modelling(options_of(s.write("train.txt", sentences(1200))));
  ASSERT_TRUE(job.validation);
  TrainerOptions o;
  o.target = trn1_target();
  o.step = {.plan = {.data = 2, .micro_batch = 8, .numerics = runtime::numerics("fp32")},
            .kind = {.length = 32, .head = Head::kMaskedTokens},
            .optimizer = {.max_grad_norm = 1}};
  o.eval_batch = 8, o.max_steps = 150, o.learning_rate = 3e-3, o.warmup.ratio = 0.1, o.eval_each_epoch = false;
  Trainer trainer{job.config->without_dropout(), job.weights, job.data(), o};
  const EvalRecord before = trainer.evaluate(Split::kValidation);
  trainer.run();
  const EvalRecord after = trainer.evaluate(Split::kValidation);
  EXPECT_GT(before.loss, 3);
  EXPECT_LT(after.loss, 1.8);
  EXPECT_EQ(std::get<double>(after.scores.at(0).second), std::exp(after.loss));
}

// The hidden tokens of an epoch do not depend on where a run was stopped.
TEST(MaskedLanguageTraining, AStoppedRunGoesOnToTheSameBits) {
  const Scratch s;
  const LanguageModelling job = load_language_modelling(options_of(s.write("train.txt", sentences(120))));
  TrainerOptions o;
  o.target = trn1_target();
  o.step = {.plan = {.data = 2, .micro_batch = 4, .numerics = runtime::numerics("bf16+sr")},
            .kind = {.length = 32, .head = Head::kMaskedTokens}};
  o.max_steps = 6, o.eval_each_epoch = false;
  const auto losses = [&](const TrainerOptions& options) {
    Trainer trainer{job.config, job.weights, job.data(), options};
    std::vector<double> out;
    trainer.on_step = [&](const StepRecord& r) { out.push_back(r.loss); };
    trainer.run();
    return out;
  };
  const std::vector<double> all = losses(o);
  TrainerOptions part = o;
  part.checkpoint = s / "checkpoint", part.save_steps = 3;
  struct Stop {};
  {
    Trainer trainer{job.config, job.weights, job.data(), part};
    trainer.on_step = [](const StepRecord& r) {
      if (r.step == 4) throw Stop{};
    };
    EXPECT_THROW(trainer.run(), Stop);
  }
  EXPECT_EQ(load_model(s / "checkpoint", 1).config->head(), Head::kMaskedTokens);
  o.resume = s / "checkpoint";
  EXPECT_EQ(losses(o), (std::vector<double>{all.begin() + 3, all.end()}));
}

}  // namespace
}  // namespace workloads
