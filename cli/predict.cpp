#include "cli/predict.h"

#include <fmt/format.h>

#include <array>

namespace cli {
namespace {

struct Model {
  std::string_view kind;
  analysis::Prediction (*predict)(const analysis::Row&, const PredictContext&);
};
constexpr std::array kModels = {Model{"launch", predict_launch},
                                Model{"host", predict_host},
                                Model{"collective", predict_collective},
                                Model{"gemm", predict_gemm},
                                Model{"memory", predict_memory},
                                Model{"kernel", predict_kernel},
                                Model{"instruction", predict_instruction},
                                Model{"train", predict_train},
                                Model{"infer", predict_infer},
                                Model{"generate", predict_generate}};

}  // namespace

analysis::Prediction predict(const analysis::Row& row, const PredictContext& context) {
  for (const Model& model : kModels) {
    if (model.kind == row.kind) return model.predict(row, context);
  }
  return analysis::Prediction::skip(fmt::format("rows of kind '{}' are not modelled", row.kind));
}

}  // namespace cli
