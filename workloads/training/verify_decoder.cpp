#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "workloads/checkpoints/model_files.h"
#include "workloads/training/host_io.h"
#include "workloads/training/verify_model.h"

namespace workloads {
namespace {

using base::Error;
using base::Fault;

class VerifyDecoder final : public VerifyModel {
 public:
  VerifyDecoder(ModelPtr config, Step spec, std::int64_t samples, Checkpoint batches, Weights weights)
      : VerifyModel{std::move(spec), samples},
        config_{std::move(config)},
        batches_{std::move(batches)},
        weights_{std::move(weights)},
        predicted_{spec_.kind.target_length > 0 ? spec_.kind.target_length : spec_.kind.length},
        stages_{decoder_pipeline(config_, spec_)},
        io_{config_, spec_, stages_.zero} {}

  std::vector<runtime::Graph> graphs() override { return std::move(stages_.graphs); }
  const std::vector<WeightSpec>& tensors() const override { return io_.tensors(); }
  void write_weights(runtime::Session& session) override {
    io_.write_weights(session, weights_);
    io_.write_tables(session);
  }

  void write_batch(runtime::Session& session, std::int64_t step) override {
    const std::string prefix = fmt::format("step{}.", step);
    const auto ids = batches_.integers(prefix + "input_ids");
    require_batch(prefix + "input_ids", ids.size(), spec_.kind.length);
    const std::vector<std::int32_t> targets = targets_of(prefix);
    // The mean is over those that are not ignored.
    const auto counted = static_cast<double>(std::ranges::count_if(targets, [](std::int32_t t) { return t >= 0; }));
    for (std::uint32_t d = 0; d < spec_.plan.data; ++d)
      for (std::int64_t m = 0; m < spec_.plan.micro_batches; ++m) {
        DecoderBatch batch;
        for (std::int64_t row = 0; row < spec_.plan.micro_batch; ++row) {
          const std::int64_t s = sample(d, m, row);
          for (std::int64_t c = 0; c < predicted_; ++c)
            batch.targets.push_back(s < 0 ? -100 : targets[static_cast<std::size_t>(s * predicted_ + c)]);
          const auto begin = ids.begin() + std::max<std::int64_t>(s, 0) * spec_.kind.length;
          batch.ids.insert(batch.ids.end(), begin, begin + spec_.kind.length);
        }
        for (const std::int32_t t : batch.targets)
          batch.weights.push_back(t >= 0 ? static_cast<float>(1 / counted) : 0);
        if (const TextPairs* pairs = config_->pairs()) {
          batch.source = std::exchange(batch.ids, predecessors(batch.targets, predicted_, *pairs));
          batch.source_mask = mask_of(prefix, d, m);
        }
        io_.write_batch(session, d, m, batch);
      }
  }

  std::vector<float> logits_of(runtime::Session& session, std::uint32_t d, std::int64_t m) const override {
    return io_.logits(session, d, m);
  }

  std::vector<float> whole(runtime::Session& session, const WeightSpec& tensor, bool gradient) override {
    return io_.read(session, tensor, gradient);
  }

 private:
  /// Of all samples. Token t of a text predicts label t + 1 of it; what is written is predicted as it is.
  std::vector<std::int32_t> targets_of(const std::string& prefix) {
    const auto labels = batches_.integers(prefix + "labels");
    require_batch(prefix + "labels", labels.size(), predicted_);
    std::vector<std::int32_t> out(labels.begin(), labels.end());
    if (config_->pairs()) return out;
    for (std::size_t i = 0; i < out.size(); ++i)
      out[i] = (i + 1) % static_cast<std::size_t>(predicted_) == 0 ? -100 : out[i + 1];
    return out;
  }

  std::vector<float> mask_of(const std::string& prefix, std::uint32_t d, std::int64_t m) {
    const auto mask = batches_.integers(prefix + "attention_mask");
    require_batch(prefix + "attention_mask", mask.size(), spec_.kind.length);
    std::vector<float> out;
    for (std::int64_t row = 0; row < spec_.plan.micro_batch; ++row) {
      const auto begin = mask.begin() + std::max<std::int64_t>(sample(d, m, row), 0) * spec_.kind.length;
      out.insert(out.end(), begin, begin + spec_.kind.length);
    }
    return out;
  }

  const ModelPtr config_;
  Checkpoint batches_;
  const Weights weights_;
  const std::int64_t predicted_;  // tokens of a sequence
  DecoderPipeline stages_;
  const DecoderIo io_;
};

}  // namespace

std::unique_ptr<VerifyModel> verify_decoder(const std::filesystem::path& folder, const VerifyOptions& options,
                                            const Recipe& recipe) {
  auto [config, weights] = load_model(folder, options.seed);
  VerifyBatches batches = open_batches(folder);
  Step spec = verify_spec(options, batches.samples, batches.length, recipe);
  spec.kind.keep_logits = true;
  if (config->pairs()) spec.kind.target_length = batches.tensors.info("step0.labels").shape.back();
  return std::make_unique<VerifyDecoder>(std::move(config), std::move(spec), batches.samples,
                                         std::move(batches.tensors), std::move(weights));
}

}  // namespace workloads
