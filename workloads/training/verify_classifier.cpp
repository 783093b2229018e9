#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "workloads/models/model.h"
#include "workloads/training/images.h"
#include "workloads/training/verify_model.h"

namespace workloads {
namespace {

using base::Error;
using base::Fault;

class VerifyClassifier final : public VerifyModel {
 public:
  VerifyClassifier(ModelPtr model, Step spec, std::int64_t samples, Checkpoint batches, Weights weights)
      : VerifyModel{std::move(spec), samples},
        model_{std::move(model)},
        batches_{std::move(batches)},
        weights_{std::move(weights)},
        tensors_{model_->weights()} {}

  std::vector<runtime::Graph> graphs() override {
    std::vector<runtime::Graph> out;
    out.push_back(model_->step(spec_).graph);
    return out;
  }
  const std::vector<WeightSpec>& tensors() const override { return tensors_; }

  void write_weights(runtime::Session& session) override {
    for (const WeightSpec& w : tensors_)
      for (std::uint32_t r = 0; r < spec_.plan.data; ++r) session.write(r, w.name, weights_.for_device(w));
  }

  void write_batch(runtime::Session& session, std::int64_t step) override {
    const std::string prefix = fmt::format("step{}.", step);
    const auto labels = batches_.integers(prefix + "labels");
    const std::int64_t of_sample = spec_.kind.head == Head::kTokens ? spec_.kind.length : 1;
    require_batch(prefix + "labels", labels.size(), of_sample);
    const auto counted = static_cast<double>(std::ranges::count_if(labels, [](std::int64_t l) { return l >= 0; }));
    for (std::uint32_t r = 0; r < spec_.plan.data; ++r)
      for (std::int64_t m = 0; m < spec_.plan.micro_batches; ++m) {
        std::vector<std::int32_t> my_labels;
        std::vector<float> my_weights;
        for (std::int64_t row = 0; row < spec_.plan.micro_batch; ++row)
          for (std::int64_t i = 0; i < of_sample; ++i) {
            const std::int64_t s = sample(r, m, row);
            const auto label = s < 0 ? std::int64_t{-100} : labels[static_cast<std::size_t>(s * of_sample + i)];
            my_labels.push_back(static_cast<std::int32_t>(std::max<std::int64_t>(label, 0)));
            my_weights.push_back(label < 0 ? 0.0F : static_cast<float>(1 / counted));
          }
        session.write(r, micro_name("labels", m), my_labels);
        session.write(r, micro_name("weights", m), my_weights);
        model_->image() ? write_images(session, prefix, r, m) : write_texts(session, prefix, r, m);
      }
  }

  std::vector<float> logits_of(runtime::Session& session, std::uint32_t d, std::int64_t m) const override {
    return session.read(d, micro_name("logits", m));
  }

  std::vector<float> whole(runtime::Session& session, const WeightSpec& tensor, bool gradient) override {
    Weights on_host;
    on_host.values[tensor.name];
    on_host.set_from_device(tensor, session.read(0, (gradient ? "grad." : "") + tensor.name));
    return on_host.values.at(tensor.name);
  }

 private:
  void write_texts(runtime::Session& session, const std::string& prefix, std::uint32_t r, std::int64_t m) {
    const auto ids = batches_.integers(prefix + "input_ids"), mask = batches_.integers(prefix + "attention_mask");
    std::vector<std::int64_t> types(ids.size());
    if (batches_.contains(prefix + "token_type_ids")) types = batches_.integers(prefix + "token_type_ids");
    require_batch(prefix + "input_ids", ids.size(), spec_.kind.length);
    require_batch(prefix + "attention_mask", mask.size(), spec_.kind.length);
    std::vector<std::int32_t> my_ids, my_types;
    std::vector<float> my_mask;
    for (std::int64_t row = 0; row < spec_.plan.micro_batch; ++row)
      for (std::int64_t c = 0; c < spec_.kind.length; ++c) {
        const std::int64_t s = std::max<std::int64_t>(sample(r, m, row), 0);
        const auto at = static_cast<std::size_t>(s * spec_.kind.length + c);
        my_ids.push_back(static_cast<std::int32_t>(ids[at]));
        my_types.push_back(static_cast<std::int32_t>(types[at]));
        my_mask.push_back(static_cast<float>(mask[at]));
      }
    session.write(r, micro_name("input_ids", m), my_ids);
    if (session.has(r, micro_name("token_type_ids", m))) session.write(r, micro_name("token_type_ids", m), my_types);
    session.write(r, micro_name("attention_mask", m), my_mask);
  }

  void write_images(runtime::Session& session, const std::string& prefix, std::uint32_t r, std::int64_t m) {
    const ImageShape& shape = *model_->image();
    const std::vector<float> pixels = batches_.floats(prefix + "pixel_values");
    const auto elements = static_cast<std::size_t>(shape.elements());
    if (pixels.size() != static_cast<std::size_t>(samples_) * elements)
      throw Error{Fault::kData, prefix + "pixel_values", "has another shape than the model's pictures",
                  "export [batch, channels, size, size]"};
    std::vector<float> rows;
    for (std::int64_t row = 0; row < spec_.plan.micro_batch; ++row) {
      const auto s = static_cast<std::size_t>(std::max<std::int64_t>(sample(r, m, row), 0));
      append_patches(std::span{pixels}.subspan(s * elements, elements), shape, rows);
    }
    const PatchPlaces places = patch_places(spec_.kind.length);
    session.write(r, micro_name("patches", m), rows);
    session.write(r, "is_class", places.is_class);
    session.write(r, "is_patch", places.is_patch);
  }

  const ModelPtr model_;
  Checkpoint batches_;
  const Weights weights_;
  const std::vector<WeightSpec> tensors_;
};

}  // namespace

std::unique_ptr<VerifyModel> verify_classifier(const std::filesystem::path& folder, const VerifyOptions& options,
                                               const Recipe& recipe) {
  const ModelPtr model = read_config(folder)->without_dropout();
  require_plan(*model, options.plan);
  VerifyBatches batches = open_batches(folder, model->image());
  Weights weights = load_weights(folder, model, options.seed);
  Step spec = verify_spec(options, batches.samples, batches.length, recipe);
  if (model->head() == Head::kTokens) spec.kind.head = Head::kTokens;
  return std::make_unique<VerifyClassifier>(model, std::move(spec), batches.samples, std::move(batches.tensors),
                                            std::move(weights));
}

}  // namespace workloads
