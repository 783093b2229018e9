// What `trnsim validate` says: each published figure beside the model's.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/validation.h"

namespace analysis {

/// A part of the predicted time, for "where the time goes".
struct TimePart {
  std::string name;
  double share = 0;  // 0..1 of the predicted time
};

/// What a predictor answers: a value in the row's metric, or why it has none.
struct Prediction {
  std::optional<double> value;
  std::string skip_reason;  // not empty exactly when `value` is absent
  std::vector<std::string> assumptions;
  std::vector<TimePart> time;

  static Prediction skip(std::string reason) {
    return {.value = {}, .skip_reason = std::move(reason), .assumptions = {}, .time = {}};
  }
};

/// A row and its prediction.
struct Comparison {
  std::string id, kind, metric;
  double published = 0, low = 0, high = 0;
  std::optional<double> predicted;
  std::optional<double> error_percent;  // (predicted - published) / published, signed
  bool in_range = false;                // low <= predicted <= high
  std::vector<std::string> assumptions;
  std::string skip_reason;
  std::vector<TimePart> time;
};

/// Absolute errors of one kind of rows ("all" for the whole table), in per cent; rows that were skipped do not count.
struct KindSummary {
  std::string kind;
  int rows = 0, predicted = 0;
  double mean = 0, median = 0, worst = 0;
  std::string worst_id;
  int ranged = 0, in_range = 0;  // predicted rows with low < high, and how many of them lie inside
};

struct ValidationReport {
  std::vector<Comparison> rows;        // in the order of the file
  std::vector<KindSummary> summaries;  // kinds in the order of the file, then "all"
};

using Predictor = std::function<Prediction(const Row&)>;

/// Asks `predict` for every row without defect. A prediction that is not a positive number is our bug
/// (Fault::kInternal); other errors of the predictor pass through, but Fault::kCapacity, kProgram, kData and kUsage
/// make the row skipped with that error as reason: one impossible row must not hide the rest.
ValidationReport validate(std::span<const Row> rows, const Predictor& predict);

/// `format`: "table", "json", "csv" or "md". JSON is a list of objects with id, kind, unit, published, low, high,
/// predicted (null when skipped), error_percent (null when skipped), in_range, assumptions, skip_reason, time. "csv"
/// has the rows alone; "table" and "md" end with the summary. Errors: Fault::kUsage for another format.
std::string to_text(const ValidationReport& report, std::string_view format);

}  // namespace analysis
