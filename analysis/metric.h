// From what the model measured to the unit in which somebody published it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace analysis {

/// One repetition (a step, a call, a token, a kernel) and what it moved. A metric that needs a figure which is absent
/// is our bug (Fault::kInternal); a metric that is not in the list is the table's business.
struct Measured {
  double seconds = 0;                 // of one repetition, > 0
  std::optional<double> samples;      // sequences, sentences or requests of one repetition, over all cores
  std::optional<double> tokens;       // generated in one repetition, over all cores
  std::optional<double> flops;        // of one repetition
  std::optional<double> bytes;        // moved in one repetition
  std::optional<double> job_seconds;  // of the whole job
};

/// The value of `measured` in the published metric; nothing when the metric is unknown.
std::optional<double> in_metric(std::string_view metric, const Measured& measured);

/// Whether the metric is a time, and grows with the seconds of a repetition; false for a rate, which is inverse to
/// them. Every metric is one or the other. Errors: Fault::kInternal for an unknown metric.
bool is_time(std::string_view metric);

/// The metrics that in_metric() knows, for messages and for `trnsim list`.
std::vector<std::string> known_metrics();

}  // namespace analysis
