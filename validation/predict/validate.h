// Published measurements beside the model's predictions.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "hw/params.h"
#include "trnsim/settings.h"
#include "validation/predict/predict.h"
#include "validation/report/influence.h"
#include "validation/report/report.h"

namespace validation {

/// Rows of tables of the training or the micro schema; those named in `only`, in its order, if it names any.
/// Errors: as load_validation(); Fault::kUsage for an id that no row has, with a suggestion.
std::vector<Row> load_rows(std::span<const std::filesystem::path> files, std::span<const std::string> only = {});

/// The shared context of predictions, with a memory of projections, from the settings `instance_type`, `set`,
/// `exact` and `host_threads`. Errors: as hw::machine_file().
PredictContext predict_context(const trnsim::Settings& settings);

struct Validation {
  ValidationReport report;
  std::optional<base::Error> broken;  // the last fault of ours: its row is skipped, the others are predicted
};
/// `begin` hears of each row before it is predicted: how many are done, and its id.
Validation validate(std::span<const Row> rows, const PredictContext& context,
                    const std::function<void(std::size_t, const std::string&)>& begin = {});

/// The influence of each parameter on each prediction: every row again under each variation, in `host_threads`
/// processes at a time. `known`: of the report, whose projections are not made again. Errors: as study().
Influence influence_of(const ValidationReport& report, std::span<const Row> rows, const trnsim::Settings& settings,
                       const PredictContext& known, const analysis::SweepWatch& watch = {});

}  // namespace validation
