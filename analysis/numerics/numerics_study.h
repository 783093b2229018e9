// The same training in several number formats, with several seeds: does a format cost accuracy?
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace analysis {

/// A finished training run, as its result.json tells. Scores are those of the trained model on all splits that it was
/// evaluated on after the last step ("eval + test"), weighted with their samples.
struct TrainedRun {
  std::string numerics, model, dataset, split;
  std::uint64_t seed = 0;
  bool synthetic = false;
  std::int64_t steps = 0, evaluated = 0;  // optimizer steps, evaluated samples
  double epochs = 0;
  double train_loss = 0, eval_loss = 0, accuracy = 0, f1_macro = 0;
};
/// `folder`: of the run. Errors: Fault::kData when it did not train, was interrupted, or its result cannot be read.
TrainedRun read_trained_run(const std::filesystem::path& folder);

struct Spread {
  double mean = 0;
  double deviation = 0;  // sample standard deviation; 0 for one value
  std::size_t count = 0;
};
/// Errors: Fault::kInternal without values.
Spread spread_of(std::span<const double> values);
/// Half the width of the 95 % confidence interval of the mean, by Student's t; nothing for fewer than two values.
std::optional<double> half_width(const Spread& spread);

/// kWorse, kBetter: the interval of the paired differences excludes zero. kSame: it excludes a loss of a point and
/// more. kUnsettled: it excludes neither. kUnknown: fewer than two seeds ran in both formats.
enum class Verdict { kSame, kWorse, kBetter, kUnsettled, kUnknown };
/// A loss of accuracy that matters: one point, of 1.
inline constexpr double kLossThatMatters = 0.01;

/// A format against fp32: by the accuracies of the same seeds, which see the same weights, data order and dropout.
struct Answer {
  std::string numerics;
  Spread difference;                 // of accuracy, format minus fp32
  std::optional<double> half_width;  // 95 %
  Verdict verdict = Verdict::kUnknown;
};
/// One for each format but fp32, in the order of the runs.
std::vector<Answer> answers(std::span<const TrainedRun> runs);

/// Tables of the runs, of the formats, and the answer in words. `format`: "table", "md", or "json" (runs, formats,
/// answers). Errors: Fault::kUsage for another format, runs of different models, data or length, a run given twice, no
/// run in fp32.
std::string numerics_text(std::span<const TrainedRun> runs, std::string_view format);

}  // namespace analysis
