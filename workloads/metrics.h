// Scores of a classifier, and the summary block that Hugging Face's Trainer prints at the end.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace workloads {

/// Counts of (true label, predicted label). Samples whose label is Batch::kIgnoredLabel are not counted.
class Confusion {
 public:
  explicit Confusion(std::size_t labels);
  /// Errors: Fault::kInternal for a label or prediction outside the range.
  void add(std::int32_t label, std::int32_t predicted);
  /// `logits` is [labels.size(), number of labels]; the prediction is the first largest logit of a row.
  /// Errors: Fault::kNumerics when a logit is NaN.
  void add(std::span<const float> logits, std::span<const std::int32_t> labels);

  std::size_t labels() const { return labels_; }
  std::size_t samples() const { return samples_; }
  std::size_t count(std::size_t label, std::size_t predicted) const { return counts_[label * labels_ + predicted]; }

  /// All of these are 0 when there is no sample. As scikit-learn, zero_division=0.
  double accuracy() const;
  double precision(std::size_t label) const;
  double recall(std::size_t label) const;
  double f1(std::size_t label) const;
  /// Mean over the labels that occur or are predicted.
  double macro_f1() const;
  /// Mean weighted with how often each label occurs.
  double weighted_f1() const;

 private:
  std::size_t occurs(std::size_t label) const;
  std::size_t predicted(std::size_t label) const;

  std::size_t labels_;
  std::size_t samples_ = 0;
  std::vector<std::size_t> counts_;
};

/// A metric's value: Python prints 3 and 3.0 differently.
using MetricValue = std::variant<double, std::int64_t>;
using Metrics = std::vector<std::pair<std::string, MetricValue>>;

/// The block of Trainer.log_metrics: a title, then the metrics sorted by name, keys and values padded. Keys with
/// "_runtime" are seconds printed as h:mm:ss.cc, "total_flos" is counted in GF, "_mem_" in MB, other fractions are
/// rounded to 4 places. Ends with a newline. Source: transformers 4.x, trainer_pt_utils.py.
std::string metrics_block(const std::string& split, const Metrics& metrics);

/// Trainer's speed metrics: PREFIX_runtime, PREFIX_samples_per_second, PREFIX_steps_per_second, rounded as there.
Metrics speed_metrics(const std::string& prefix, double seconds, std::int64_t samples, std::int64_t steps);

/// As Python's repr: "3.0", "1e-05", "0.8905", "nan".
std::string python_repr(double value);

}  // namespace workloads
