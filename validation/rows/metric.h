// Converts the model's measurement to the published unit.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace validation {

/// One repetition (a step, a call, a token, a kernel) and its traffic. A metric cannot use absent members.
struct Measured {
  double seconds = 0;                      // of one repetition, > 0
  std::optional<double> samples{};         // sequences, sentences or requests of one repetition, over all cores
  std::optional<double> tokens{};          // trained on or generated in one repetition, over all cores
  std::optional<double> flops{};           // of one repetition
  std::optional<double> bytes{};           // moved in one repetition
  std::optional<double> job_seconds{};     // of the whole job
  std::optional<double> first_token{};     // s from a prompt to its first token
  std::optional<double> token_interval{};  // s from one token to the next
  std::optional<double> clock{};           // Hz of the engine that works
};

/// The value of `measured` in the published metric; or why it has none: the metric is unknown, or about something else.
std::variant<double, std::string> in_metric(std::string_view metric, const Measured& measured);

/// Whether the metric is a time, and grows with the seconds of a repetition; false for a rate, which is inverse to
/// them. Every metric is one or the other. Errors: Fault::kInternal for an unknown metric.
bool is_time(std::string_view metric);

}  // namespace validation
