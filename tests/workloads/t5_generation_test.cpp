// T5 generates the text of PyTorch's greedy search, and refuses requests beyond its programs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/target.h"
#include "tests/workloads/support.h"
#include "workloads/checkpoints/json_file.h"
#include "workloads/checkpoints/model_files.h"
#include "workloads/checkpoints/safetensors.h"
#include "workloads/generation/generator.h"
#include "workloads/models/model.h"
#include "workloads/models/presets.h"

namespace workloads {
namespace {

using base::Fault;
using workloads_test::fails;
using workloads_test::golden;

/// The frames of the sounds of the first step, as a device reads them.
std::vector<float> frames_of(const char* model, const SoundShape& shape) {
  const std::vector<float> all = Checkpoint::open(golden(model) / "batches.safetensors").floats("step0.input_features");
  const auto of_one = static_cast<std::size_t>(shape.elements());
  std::vector<float> out;
  for (std::size_t at = 0; at < all.size(); at += of_one) {
    const auto frames = transpose(std::span{all}.subspan(at, of_one), static_cast<std::size_t>(shape.bands),
                                  static_cast<std::size_t>(shape.frames()));
    out.insert(out.end(), frames.begin(), frames.end());
  }
  return out;
}

/// The sources of the first step of a trajectory, without padding.
std::vector<std::vector<std::int32_t>> texts_of(const char* model) {
  Checkpoint batches = Checkpoint::open(golden(model) / "batches.safetensors");
  const auto ids = batches.integers("step0.input_ids"), mask = batches.integers("step0.attention_mask");
  const auto length = static_cast<std::size_t>(batches.info("step0.input_ids").shape.at(1));
  std::vector<std::vector<std::int32_t>> out(ids.size() / length);
  for (std::size_t i = 0; i < ids.size(); ++i)
    if (mask[i] == 1) out[i / length].push_back(static_cast<std::int32_t>(ids[i]));
  return out;
}

TEST(T5Generation, WritesPyTorchsTokens) {
  for (const char* name : {"t5_tiny", "t5_v1_1_tiny", "umt5_tiny", "bart_tiny", "mbart_tiny", "marian_tiny",
                           "pegasus_tiny", "m2m_100_tiny", "blenderbot_tiny", "plbart_tiny", "whisper_tiny"}) {
    const LoadedModel model = load_model(golden(name), 1);
    const SoundShape* sound = model.config->sound();
    const nlohmann::json file = read_json_file(golden(name) / "generated.json");
    const auto want = file.at("step0.input_ids").get<std::vector<std::vector<std::int32_t>>>();
    const auto tokens = static_cast<std::int64_t>(want.front().size());
    const GenerationSpec spec{.batch = std::ssize(want),
                              .prompt = 20,
                              .length = cache_length(tokens),
                              .numerics = generation_numerics("fp32")};
    Generator generator{model.config, spec, model.weights, trn1_target(), isa::make_numeric_device(), 1};
    std::vector<std::vector<std::int32_t>> got(want.size());
    std::vector<float> logits = sound ? generator.begin(frames_of(name, *sound)) : generator.begin(texts_of(name));
    for (std::int64_t t = 0; t < tokens; ++t) {
      std::vector<std::int32_t> next;
      for (std::size_t b = 0; b < want.size(); ++b) {
        const auto begin = logits.begin() + static_cast<std::ptrdiff_t>(b) * generator.vocabulary();
        next.push_back(static_cast<std::int32_t>(std::max_element(begin, begin + generator.vocabulary()) - begin));
        got[b].push_back(next.back());
      }
      if (t + 1 < tokens) logits = generator.next(next);
    }
    EXPECT_EQ(got, want) << name;
    const std::vector<std::int32_t> more(want.size(), 2);
    EXPECT_TRUE(fails(Fault::kUsage, [&] { generator.next(more); }, {"max_new_tokens", "are full"})) << name;
  }
}

TEST(T5Generation, IsOnOneCoreAndInBounds) {
  const ModelPtr model = model_preset("t5-small");
  const auto with = [&](const GenerationSpec& spec) { return [&model, spec] { check(spec, model); }; };
  GenerationSpec spec{.batch = 4, .prompt = 512, .length = 128, .numerics = generation_numerics("bf16")};
  EXPECT_NO_THROW(check(spec, model));  // a text that is written may be shorter than the one that is read
  spec.tensor_parallel = 2;
  EXPECT_TRUE(fails(Fault::kUsage, with(spec), {"tensor_parallel_size", "one core"}));
  spec.tensor_parallel = 1, spec.batch = 128, spec.length = 1024;
  EXPECT_TRUE(fails(Fault::kUsage, with(spec), {"batch_size"}));
}

/// A token's least work leaves out the encoder: of t5-small's 60.5 million parameters 16.5 million of the table
/// come again as the head, 18.9 million are the encoder's, and the keys and values of the source are computed once.
TEST(T5Generation, ATokenReadsTheDecoderAlone) {
  const ModelPtr model = model_preset("t5-small");
  const TokenWork work =
      token_work(model, {.batch = 1, .prompt = 512, .length = 128, .numerics = generation_numerics("bf16")});
  const double inner = 512 * 512, layer = 4 * inner + 2 * inner + 2 * 512 * 2048;
  EXPECT_DOUBLE_EQ(work.weight_bytes, 2 * (6 * layer + 512 * 32128));
  EXPECT_DOUBLE_EQ(work.cache_bytes, 2 * 2 * 6.0 * 512 * (128 + 512));
}

}  // namespace
}  // namespace workloads
