#include "validation/predict/predict.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/error.h"

namespace validation {
namespace {

struct Model {
  std::string_view kind;
  Prediction (*predict)(const Row&, const PredictContext&);
};
constexpr std::array kModels = {
    Model{"launch", predict_launch},   Model{"host", predict_host},     Model{"collective", predict_collective},
    Model{"gemm", predict_gemm},       Model{"memory", predict_memory}, Model{"device memory", predict_device_memory},
    Model{"compile", predict_compile}, Model{"kernel", predict_kernel}, Model{"instruction", predict_instruction},
    Model{"train", predict_train},     Model{"infer", predict_infer},   Model{"generate", predict_generate},
    Model{"nki", predict_nki}};

}  // namespace

Prediction predict(const Row& row, const PredictContext& context) {
  const auto model = std::ranges::find(kModels, row.kind, &Model::kind);
  if (model == kModels.end()) return Prediction::skip(fmt::format("rows of kind '{}' are not modelled", row.kind));
  try {
    return model->predict(row, context);
  } catch (const base::Error& e) {
    if (e.fault() == base::Fault::kInternal) throw;
    return Prediction::skip(fmt::format("refused: {}", e.reason()));
  }
}

}  // namespace validation
