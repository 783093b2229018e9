// T5: PyTorch's trajectories under every kind of plan, the folder, presets, FLOPs, refusals.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "runtime/compiler/compile.h"
#include "tests/target.h"
#include "tests/workloads/golden_model.h"
#include "tests/workloads/support.h"
#include "workloads/models/config_model.h"
#include "workloads/models/presets.h"
#include "workloads/models/t5/t5.h"
#include "workloads/step/pipeline.h"
#include "workloads/step/step_graph.h"

namespace workloads {
namespace {

using base::Fault;
using workloads_test::fails;
using workloads_test::golden;
using workloads_test::millions;

// ReLU and tied; gated, untied, 3 + 2 layers; biases of each layer.
constexpr std::array kT5Golden = {"t5_tiny", "t5_v1_1_tiny", "umt5_tiny"};

void follow_pytorch(const char* model, const runtime::Plan& plan) { workloads_test::expect_pytorch(model, plan); }

TEST(T5, FollowsPyTorchOnOneCore) {
  for (const char* model : kT5Golden) follow_pytorch(model, {});
}

TEST(T5, FollowsPyTorchTensorParallel) {
  follow_pytorch("t5_tiny", {.tensor = 2});
  for (const char* model : kT5Golden) follow_pytorch(model, {.tensor = 4, .sequence = true});
}

TEST(T5, FollowsPyTorchCutBetweenEncoderAndDecoder) {
  follow_pytorch("t5_tiny", {.pipeline = 2, .micro_batches = 2});
  follow_pytorch("t5_tiny", {.tensor = 2, .pipeline = 2, .data = 2, .sequence = true, .zero1 = true});
}

TEST(T5, FollowsPyTorchUnderZeroAndRecomputation) {
  for (const char* model : kT5Golden)
    follow_pytorch(model, {.data = 2, .zero1 = true, .recompute = runtime::Recompute::kFull});
  follow_pytorch("t5_tiny",
                 {.tensor = 2, .sequence = true, .recompute = runtime::Recompute::kSelective, .micro_batches = 2});
}

TEST(T5, NamesAndKeysAreTheFilesBothWays) {
  for (const char* model : kT5Golden) workloads_test::expect_same_folder(model, {});
}

TEST(T5, PresetsHaveTheirPublishedParameters) {
  // Sizes of the checkpoints on the hub: 60.5, 223, 738; of version 1.1 77.0 and 248.
  EXPECT_NEAR(millions("t5-small"), 60.507, 0.001);
  EXPECT_NEAR(millions("t5-base"), 222.904, 0.001);
  EXPECT_NEAR(millions("t5-large"), 737.668, 0.001);
  EXPECT_NEAR(millions("t5-v1_1-small"), 76.961, 0.001);
  EXPECT_NEAR(millions("t5-v1_1-base"), 247.578, 0.001);
}

/// transformers' _relative_position_bucket, computed by PyTorch: 32 buckets, up to 128 places.
TEST(T5, DistancesFallIntoTheBucketsOfTransformers) {
  struct Bucket {
    std::int64_t distance, encoder, decoder;
  };
  const T5Config c;
  for (const Bucket& b :
       {Bucket{-300, 15, 31}, Bucket{-128, 15, 31}, Bucket{-127, 15, 31}, Bucket{-64, 14, 26}, Bucket{-46, 13, 24},
        Bucket{-45, 12, 23},  Bucket{-32, 12, 21},  Bucket{-16, 10, 16},  Bucket{-15, 9, 15},  Bucket{-8, 8, 8},
        Bucket{-7, 7, 7},     Bucket{-1, 1, 1},     Bucket{0, 0, 0},      Bucket{1, 17, 0},    Bucket{7, 23, 0},
        Bucket{8, 24, 0},     Bucket{16, 26, 0},    Bucket{45, 28, 0},    Bucket{46, 29, 0},   Bucket{90, 30, 0},
        Bucket{91, 31, 0},    Bucket{300, 31, 0}}) {
    EXPECT_EQ(bucket_of(c.buckets(), true, b.distance), b.encoder) << b.distance;
    EXPECT_EQ(bucket_of(c.buckets(), false, b.distance), b.decoder) << b.distance;
  }
}

/// The graph's FLOPs are those of the textbook plus one number for each distance; sums of biases' gradients over the
/// batch are not counted as the model's.
TEST(T5, FlopsAreTheGraphs) {
  for (const char* name : {"t5-small", "t5-v1_1-base"}) {
    const ModelPtr model = model_preset(name)->with_sizes({.layers = 2});
    Step step{.plan = {.micro_batch = 2, .numerics = runtime::numerics("bf16")},
              .kind = {.length = 256, .target_length = 128}};
    const auto compiled = runtime::compile(model->step(step).graph, trn1_target(), compile_options(step, "t5", {}));
    EXPECT_NEAR(compiled.program.model_flops / model->flops(step), 1, 3e-5);
  }
}

/// In any operand type of TensorE, gradients are in buckets of one type.
TEST(T5, EveryNumberFormatCompiles) {
  const ModelPtr model = model_preset("t5-tiny");
  for (const char* numerics : {"fp32", "fp32+bf16-matmul", "fp32+bf16-all", "bf16", "bf16+sr", "bf16+fp32-optimizer"}) {
    const Step step{.plan = {.data = 2, .zero1 = true, .numerics = runtime::numerics(numerics)},
                    .kind = {.length = 16, .target_length = 8}};
    EXPECT_NO_THROW(runtime::compile(model->step(step).graph, trn1_target(), compile_options(step, "t5", {})))
        << numerics;
  }
}

TEST(T5, RefusesToCutAStack) {
  const ModelPtr model = model_preset("t5-small");
  const auto with = [&](const Plan& plan) { return [&model, plan] { model->step({.plan = plan}); }; };
  EXPECT_TRUE(
      fails(Fault::kUsage, with({.pipeline = 3}), {"pipeline_parallel_size", "between an encoder and a decoder"}));
  EXPECT_TRUE(fails(Fault::kUsage, with({.pipeline = 2, .chunks = 2}), {"virtual_pipeline_size"}));
  EXPECT_TRUE(fails(Fault::kUsage, with({.tensor = 3}), {"does not divide the 8 attention heads"}));
  EXPECT_TRUE(fails(
      Fault::kUsage,
      [&] { model->step({.plan = {.tensor = 8, .sequence = true}, .kind = {.length = 128, .target_length = 12}}); },
      {"max_target_length", "12 tokens"}));
}

TEST(T5, RefusesOtherFormsOfConfigJson) {
  const auto with = [](const char* key, const nlohmann::json& value) {
    return [key, value] {
      const workloads_test::Scratch s;
      nlohmann::json file = read_json_file(golden("t5_tiny") / "config.json");
      file[key] = value;
      s.write("config.json", file.dump());
      read_config(s.path());
    };
  };
  EXPECT_TRUE(fails(Fault::kData, with("feed_forward_proj", "gated-silu"), {"gated-silu", "gated-gelu"}));
  EXPECT_TRUE(fails(Fault::kData, with("is_encoder_decoder", false), {"is_encoder_decoder"}));
  EXPECT_TRUE(fails(Fault::kData, with("relative_attention_num_buckets", 6), {"not a multiple of 4"}));
  EXPECT_TRUE(fails(Fault::kData, with("relative_attention_max_distance", 4), {"leaves no distance"}));
  EXPECT_TRUE(fails(Fault::kData, with("decoder_start_token_id", 99), {"decoder_start_token_id"}));
}

}  // namespace
}  // namespace workloads
