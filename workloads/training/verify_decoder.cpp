#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "workloads/model_files.h"
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
    const auto ids = batches_.integers(prefix + "input_ids"), labels = batches_.integers(prefix + "labels");
    require_batch(prefix + "input_ids", ids.size(), spec_.kind.length);
    require_batch(prefix + "labels", labels.size(), spec_.kind.length);
    // Token t predicts label t + 1 of its sequence; the mean is over those that are not ignored.
    const auto target = [&](std::int64_t s, std::int64_t c) {
      return c + 1 < spec_.kind.length ? labels[static_cast<std::size_t>(s * spec_.kind.length + c + 1)]
                                       : std::int64_t{-100};
    };
    double counted = 0;
    for (std::int64_t s = 0; s < samples_; ++s)
      for (std::int64_t c = 0; c < spec_.kind.length; ++c) counted += target(s, c) >= 0 ? 1 : 0;
    for (std::uint32_t d = 0; d < spec_.plan.data; ++d)
      for (std::int64_t m = 0; m < spec_.plan.micro_batches; ++m) {
        DecoderBatch batch;
        for (std::int64_t row = 0; row < spec_.plan.micro_batch; ++row)
          for (std::int64_t c = 0; c < spec_.kind.length; ++c) {
            const std::int64_t s = sample(d, m, row), t = s < 0 ? -100 : target(s, c);
            const auto at = static_cast<std::size_t>(std::max<std::int64_t>(s, 0) * spec_.kind.length + c);
            batch.ids.push_back(static_cast<std::int32_t>(ids[at]));
            batch.targets.push_back(static_cast<std::int32_t>(t));
            batch.weights.push_back(t >= 0 ? static_cast<float>(1 / counted) : 0.0F);
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
  const ModelPtr config_;
  Checkpoint batches_;
  const Weights weights_;
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
  return std::make_unique<VerifyDecoder>(std::move(config), std::move(spec), batches.samples,
                                         std::move(batches.tensors), std::move(weights));
}

}  // namespace workloads
