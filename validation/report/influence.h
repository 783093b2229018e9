// The influences on each prediction: the fitted constants, and the mechanisms of the machine and of the host.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/host/stack.h"
#include "analysis/sweep/sweep.h"
#include "base/param_file.h"
#include "validation/report/report.h"

namespace validation {

/// Changes of parameters, made together: KEY=VALUE of the machine, and of stack files.
struct Variation {
  std::vector<std::string> machine;
  std::vector<analysis::StackChange> stacks;
};

/// A part of the machine or of the host whose parameters are slowed down together, to see how much of a prediction it
/// decides.
struct Mechanism {
  std::string name;
  Variation slower;  // every time of it 10 % longer, every rate as much lower
};

/// A number that published rows decided: one constant, however many files inherit it.
struct Constant {
  std::string name;  // "dma.rate"; of a stack "torch-xla host.per_op"
  std::string value;
  std::vector<std::string> rows;  // that it was fitted on, or that state it
  bool fitted = true;             // else read off: arithmetic on published figures, no prediction of ours in between
  std::size_t mechanism = 0;      // whose number it is
  double factor = 1;              // by which the variation multiplies it; 0: it turns a switch over, 0 to 1 or 1 to 0
  Variation variation;
};

/// All parameters that a prediction may depend on.
struct Parameters {
  std::vector<Mechanism> mechanisms;
  std::vector<Constant> constants;
};

/// From machine files (resolved) and the stacks of analysis::stack_names(). Every time, rate and clock belongs to one
/// mechanism; a number that has no place is our bug (Fault::kInternal, which names the addition to make).
Parameters influential_parameters(std::span<const base::ParamFile> machines);

/// The changes of a study: one line for each row of the report, empty for a row without prediction.
struct Influence {
  Parameters parameters;
  /// Per cent that the prediction changes when the constant is 10 % larger, or the switch turned over.
  std::vector<std::vector<double>> change_percent;
  /// Share of the predicted time, of 1, that the mechanism decides: d log(time) / d log(slowness). Work beside
  /// something longer has no share; all shares add up to about 1.
  std::vector<std::vector<double>> share;
};

/// How a study predicts the rows of its report.
struct Evaluate {
  /// The prediction of rows[index] under a variation; called in child processes, several at a time.
  std::function<double(std::size_t index, const Variation&)> predict;
  /// Whether a mechanism may have a number that decides the row; none: all may.
  std::function<bool(std::size_t index, std::string_view mechanism)> reads{};
  /// Whether the row's machine has the constant; none: all have. One of another generation has a number of its own.
  std::function<bool(std::size_t index, const Constant&)> has{};
  /// Whether the row tells of the job of the row before it: both are predicted by one process, one after the other.
  std::function<bool(std::size_t index)> same_job{};
};

/// Predicts each row once for each mechanism, and once for each constant of the mechanisms that decide 1 % of it or
/// more; jobs for fitted constants alone. Errors: Fault::kInternal when a row that was predicted is not under a
/// variation; Fault::kUsage when interrupted.
Influence study(const ValidationReport& report, Parameters parameters, const Evaluate& evaluate, int processes,
                const analysis::SweepWatch& watch = {});

/// How well the rows tell a constant.
struct Identification {
  int rows = 0;                   // that it says it was fitted on
  int moved = 0;                  // predicted rows that change by 1 % or more when it grows by 10 %
  std::string strongest;          // the row that it moves most
  std::optional<std::string> as;  // another constant that moves the same rows in the same proportions
  /// Fitted on two rows at least, moving two at least, and not to be taken for another one.
  bool identified() const { return rows >= 2 && moved >= 2 && !as; }
};
std::vector<Identification> identify(const ValidationReport& report, const Influence& influence);

/// Predicted rows that a constant was read off: their accuracy is no merit of the model.
std::set<std::string> rows_read_off(const ValidationReport& report, const Influence& influence);

/// Mean absolute error of a mechanism in per cent: of the micro rows, each weighted with the share of its time that the
/// mechanism decides. Nothing when they hold less than half a row of it.
std::vector<std::optional<double>> mechanism_errors(const ValidationReport& report, const Influence& influence);

/// "table", "md": the influences on each prediction, the error budget, the constants and their effects, with headings.
/// "json": an object with `rows` (as to_text() of the report, each with `share` by mechanism and `change_percent` by
/// constant), `constants` (name, value, fitted, rows, mechanism, moved, strongest, like, identified) and `mechanisms`.
/// Errors: Fault::kUsage for another format, and for "csv", which is one table.
std::string to_text(const ValidationReport& report, const Influence& influence, std::string_view format);

}  // namespace validation
