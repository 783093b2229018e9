// The report of `trnsim validate`: each published figure beside the model's.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "validation/rows/rows.h"

namespace validation {

/// A part of the predicted time, for "where the time goes".
struct TimePart {
  std::string name;
  double share = 0;  // 0..1 of the predicted time
};

/// The work of one core's device in one repetition of a row, from which the simple baselines are made.
struct DeviceWork {
  double seconds = 0;  // that a repetition takes in total, by the model
  double ideal = 0;    // s: FLOPs, HBM bytes and sent bytes at their peaks, the longest of the three; 0: no device work
  std::vector<std::pair<std::string, double>> busy;  // s of each engine, of the DMA engines, of collectives
};

/// Baselines for a prediction besides the published figure; each from the work of the same program.
/// kUtilisation: ideal time over one utilisation, fitted to all rows of the kind; kSum: all engines one after the
/// other; kBusiest: the busiest engine hides the rest.
enum class Baseline { kUtilisation, kSum, kBusiest };
inline constexpr std::size_t kBaselineCount = 3;
inline constexpr std::array<std::string_view, kBaselineCount> kBaselineNames = {"one utilisation", "sum of engines",
                                                                                "busiest engine"};
template <typename T>
using PerBaseline = std::array<std::optional<T>, kBaselineCount>;

/// The answer of a predictor: a value in the row's metric, or why it has none.
struct Prediction {
  std::optional<double> value;
  std::string skip_reason;  // not empty exactly when `value` is absent
  std::vector<std::string> assumptions;
  std::vector<TimePart> time;
  DeviceWork work{};

  static Prediction skip(std::string reason) {
    return {.value = {}, .skip_reason = std::move(reason), .assumptions = {}, .time = {}};
  }
};

/// A row and its prediction.
struct Comparison {
  std::string id, kind, metric;
  std::string publisher, regime;  // regime: of jobs finer than the kind, by their size
  double published = 0, low = 0, high = 0;
  int releases = 1;     // that printed a figure
  bool micro = false;   // a row of the micro schema
  bool untold = false;  // something of the job was not published
  bool traced = false;  // a kernel in a script, which a process of its own traces
  std::optional<double> predicted;
  std::optional<double> error_percent;  // (predicted - published) / published, signed
  bool in_range = false;                // low <= predicted <= high
  std::vector<std::string> assumptions;
  std::string skip_reason;
  std::vector<TimePart> time;
  DeviceWork work{};
  PerBaseline<double> baseline_error_percent{};  // of rows with device work; kUtilisation: of kinds with two such rows
};

/// Absolute errors of one kind of rows ("micro" for all of the micro schema, "all" for the whole table), in per cent;
/// rows that were skipped do not count.
struct KindSummary {
  std::string kind;
  int rows = 0, predicted = 0;
  double mean = 0, median = 0, worst = 0;
  std::string worst_id;
  int ranged = 0, in_range = 0;  // predicted rows with low < high, and the number of them inside
  int with_work = 0;             // predicted rows with device work: the basis of the baselines
  double mean_with_work = 0;     // of the model on those rows
  PerBaseline<double> baseline_mean{};
  std::optional<double> utilisation{};  // the fitted one, of 1
};

struct ValidationReport {
  std::vector<Comparison> rows;        // in the order of the file
  std::vector<KindSummary> summaries;  // kinds in the order of the file, "micro" when there are several, then "all"
};

/// "training", "encoder inference", "generation", "instructions"; other kinds have their own name; of rows measured on
/// Trainium2 with " on Trn2" behind it.
std::string regime_name(std::string_view kind);

/// Behind the kind of rows that were measured on Trainium2.
inline constexpr std::string_view kOnTrn2 = " on Trn2";

using Predictor = std::function<Prediction(const Row&)>;

/// Asks `predict` for every row without defect. A prediction that is not a positive number is our bug
/// (Fault::kInternal); other errors of the predictor pass through, but Fault::kCapacity, kProgram, kData and kUsage
/// make the row skipped with that error as reason: one impossible row must not hide the rest.
ValidationReport validate(std::span<const Row> rows, const Predictor& predict);

/// `format`: "table", "json", "csv" or "md". JSON is a list of objects with id, kind, unit, published, low, high,
/// releases, predicted (null when skipped), error_percent (null when skipped), in_range, assumptions, skip_reason,
/// time, baselines (error in per cent, null without one). "csv" has the rows alone; "table" ends with the
/// summary, "md" begins with it. Errors: Fault::kUsage for another format.
std::string to_text(const ValidationReport& report, std::string_view format);

}  // namespace validation
