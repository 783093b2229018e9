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
  /// Errors: as predictions().
  void add(std::span<const float> logits, std::span<const std::int32_t> labels);

  std::size_t labels() const { return labels_; }
  std::size_t samples() const { return samples_; }
  std::size_t count(std::size_t label, std::size_t predicted) const { return counts_[label * labels_ + predicted]; }

  /// All of these are 0 without samples. As scikit-learn, zero_division=0.
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

/// The first largest logit of each row of [labels.size(), number of labels]; kIgnoredLabel where the label is.
/// Errors: Fault::kNumerics when a logit is NaN.
std::vector<std::int32_t> predictions(std::span<const float> logits, std::span<const std::int32_t> labels,
                                      std::size_t number);

/// Entities in sequences of B-TYPE, I-TYPE and O, found and right when type, begin and end are. As seqeval's default: a
/// type also begins where the one before is another, whatever the prefix.
class EntityCounts {
 public:
  explicit EntityCounts(std::vector<std::string> label_names) : names_{std::move(label_names)} {}
  /// Sequences of `length` one after the other, as labels and as predicted; ignored ones are passed over.
  void add(std::span<const std::int32_t> labels, std::span<const std::int32_t> predicted, std::size_t length);

  /// Whether the labels' names are such tags.
  bool tagged() const;
  double precision() const;
  double recall() const;
  double f1() const;

 private:
  struct Entity {
    std::string_view type;
    std::size_t begin = 0, end = 0;
    auto operator<=>(const Entity&) const = default;
  };
  std::vector<Entity> entities(std::span<const std::int32_t> tags) const;

  std::vector<std::string> names_;
  std::size_t there_ = 0, found_ = 0, right_ = 0;
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
