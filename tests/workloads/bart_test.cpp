// BART, mBART, Marian and Pegasus: PyTorch's trajectories under every kind of plan, the folder, presets, refusals.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "runtime/compiler/compile.h"
#include "tests/target.h"
#include "tests/workloads/golden_model.h"
#include "tests/workloads/support.h"
#include "workloads/models/presets.h"
#include "workloads/step/pipeline.h"
#include "workloads/step/step_graph.h"

namespace workloads {
namespace {

using base::Fault;
using workloads_test::expect_pytorch;
using workloads_test::fails;
using workloads_test::golden;
using workloads_test::millions;

// Norms of the sums, 3 + 2 layers; norms in front, scaled embeddings, texts that begin with their last token.
// Marian and Pegasus: sines and cosines, and a first token that is padding, whose embedding is not trained.
constexpr std::array kBartGolden = {"bart_tiny",    "mbart_tiny",      "marian_tiny", "pegasus_tiny",
                                    "m2m_100_tiny", "blenderbot_tiny", "plbart_tiny", "whisper_tiny"};

TEST(Bart, FollowsPyTorchOnOneCore) {
  for (const char* model : kBartGolden) expect_pytorch(model, {});
}

TEST(Bart, FollowsPyTorchTensorParallel) {
  for (const char* model : kBartGolden) expect_pytorch(model, {.tensor = 2});
  expect_pytorch("mbart_tiny", {.tensor = 4, .micro_batches = 2});
}

TEST(Bart, FollowsPyTorchCutBetweenEncoderAndDecoder) {
  for (const char* model : {"mbart_tiny", "whisper_tiny"})
    expect_pytorch(model, {.tensor = 2, .pipeline = 2, .data = 2, .zero1 = true});
}

TEST(Bart, FollowsPyTorchUnderZeroAndRecomputation) {
  for (const char* model : kBartGolden)
    expect_pytorch(model, {.data = 2, .zero1 = true, .recompute = runtime::Recompute::kFull});
}

TEST(Bart, NamesAndKeysAreTheFilesBothWays) {
  for (const char* model : kBartGolden) workloads_test::expect_same_folder(model, {"activation_function"});
}

// Millions of parameters of the checkpoints on the hub.
TEST(Bart, PresetsHaveTheirPublishedParameters) {
  EXPECT_NEAR(millions("bart-base"), 139.4, 0.1);
  EXPECT_NEAR(millions("bart-large"), 406.3, 0.1);
  EXPECT_NEAR(millions("mbart-large"), 610.9, 0.3);
  EXPECT_NEAR(millions("opus-mt-en-de"), 73.9, 0.1);
  EXPECT_NEAR(millions("pegasus-large"), 568.8, 2);
  EXPECT_NEAR(millions("m2m100-418m"), 484, 1);  // with the table of tokens once
  EXPECT_NEAR(millions("nllb-200-distilled-600m"), 615, 1);
  EXPECT_NEAR(millions("nllb-200-1.3b"), 1370.6, 1);
  EXPECT_NEAR(millions("blenderbot-400m-distill"), 365, 1);
  EXPECT_NEAR(millions("plbart-base"), 139, 1);
  const double positions = 1500 * 768 / 1e6;  // of sounds, which a file has and nothing trains
  EXPECT_NEAR(millions("whisper-small") + positions, 241.7, 0.1);
}

/// The graph's FLOPs are those of the textbook.
TEST(Bart, FlopsAreTheGraphs) {
  const ModelPtr model = model_preset("bart-base")->with_sizes({.layers = 2});
  const Step step{.plan = {.micro_batch = 2, .numerics = runtime::numerics("bf16")},
                  .kind = {.length = 256, .target_length = 128}};
  const auto compiled = runtime::compile(model->step(step).graph, trn1_target(), compile_options(step, "bart", {}));
  EXPECT_NEAR(compiled.program.model_flops / model->flops(step), 1, 3e-5);
}

TEST(Whisper, FlopsAreTheGraphs) {
  const ModelPtr model = model_preset("whisper-tiny")->with_sizes({.layers = 2});
  for (const bool training : {false, true}) {
    const Step step{.plan = {.micro_batch = 2, .numerics = runtime::numerics("bf16")},
                    .kind = {.length = 1500, .training = training, .keep_logits = true, .target_length = 128}};
    const auto compiled = runtime::compile(model->step(step).graph, trn1_target(), compile_options(step, "sounds", {}));
    EXPECT_NEAR(compiled.program.model_flops / model->flops(step), 1, 3e-5) << training;
  }
}

TEST(Whisper, RefusesOtherLengthsAndForms) {
  const ModelPtr model = model_preset("whisper-tiny");
  EXPECT_EQ(model->sequence_length(128), 1500);
  EXPECT_TRUE(fails(Fault::kUsage, [&] { model->step({.kind = {.length = 1501, .target_length = 9}}); }, {"1500"}));
  EXPECT_TRUE(fails(Fault::kUsage, [&] { model->step({.kind = {.length = 1500, .target_length = 449}}); }, {"448"}));
  nlohmann::json file = read_json_file(golden("whisper_tiny") / "config.json");
  for (const auto& [key, value] :
       {std::pair<const char*, nlohmann::json>{"use_weighted_layer_sum", true}, {"d_model", 18}, {"num_mel_bins", 0}}) {
    nlohmann::json other = file;
    other[key] = value;
    const workloads_test::Scratch s;
    s.write("config.json", other.dump());
    EXPECT_TRUE(fails(Fault::kData, [&] { read_config(s.path()); }, {key}));
  }
}

TEST(Bart, RefusesPlansAndFormsThatItHasNot) {
  const ModelPtr model = model_preset("bart-base");
  EXPECT_TRUE(fails(Fault::kUsage, [&] { model->step({.plan = {.tensor = 2, .sequence = true}}); },
                    {"disable_sequence_parallel"}));
  EXPECT_TRUE(fails(Fault::kUsage, [&] { model->step({.kind = {.length = 2048}}); }, {"1024"}));
  const auto with = [](const char* key, const nlohmann::json& value) {
    return [key, value] {
      const workloads_test::Scratch s;
      nlohmann::json file = read_json_file(golden("bart_tiny") / "config.json");
      file[key] = value;
      s.write("config.json", file.dump());
      read_config(s.path());
    };
  };
  EXPECT_TRUE(fails(Fault::kData, with("decoder_ffn_dim", 48), {"decoder_ffn_dim"}));
  EXPECT_TRUE(fails(Fault::kData, with("decoder_layerdrop", 0.1), {"decoder_layerdrop"}));
  EXPECT_TRUE(fails(Fault::kData, with("forced_bos_token_id", 99), {"forced_bos_token_id"}));
  EXPECT_TRUE(fails(Fault::kData, with("bad_words_ids", {{1, 2}}), {"bad_words_ids", "one token"}));
}

}  // namespace
}  // namespace workloads
