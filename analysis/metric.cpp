#include "analysis/metric.h"

#include <array>

#include "base/error.h"

namespace analysis {
namespace {

double need(const std::optional<double>& figure, std::string_view name) {
  base::ensure(figure.has_value(), name, "this metric needs a figure that the predictor did not give");
  return *figure;
}

struct Metric {
  std::string_view name;
  double (*value)(const Measured&);
};

double per_second(const Measured& m) { return need(m.samples, "samples") / m.seconds; }

// clang-format off
constexpr std::array kMetrics = {
    Metric{"samples/s",         per_second},
    Metric{"sequences/s",       per_second},
    Metric{"inferences/s",      per_second},
    Metric{"output tokens/s",   [](const Measured& m) { return need(m.tokens, "tokens") / m.seconds; }},
    Metric{"tokens/s",          [](const Measured& m) { return need(m.tokens, "tokens") / m.seconds; }},
    Metric{"steps/s",           [](const Measured& m) { return 1 / m.seconds; }},
    Metric{"graphs/s",          [](const Measured& m) { return 1 / m.seconds; }},
    Metric{"TFLOPS",            [](const Measured& m) { return need(m.flops, "flops") / m.seconds * 1e-12; }},
    Metric{"GB/s",              [](const Measured& m) { return need(m.bytes, "bytes") / m.seconds * 1e-9; }},
    Metric{"s",                 [](const Measured& m) { return m.seconds; }},
    Metric{"ms",                [](const Measured& m) { return m.seconds * 1e3; }},
    Metric{"us",                [](const Measured& m) { return m.seconds * 1e6; }},
    Metric{"ns",                [](const Measured& m) { return m.seconds * 1e9; }},
    Metric{"ns issue to issue", [](const Measured& m) { return m.seconds * 1e9; }},
    Metric{"minutes",           [](const Measured& m) { return need(m.job_seconds, "job_seconds") / 60; }},
};
// clang-format on

}  // namespace

std::optional<double> in_metric(std::string_view metric, const Measured& measured) {
  base::ensure(measured.seconds > 0, "in_metric", "a repetition must take time");
  if (metric.starts_with("minutes for ")) metric = "minutes";  // "minutes for 3 epochs": of the row's whole job
  for (const Metric& row : kMetrics) {
    if (row.name == metric) return row.value(measured);
  }
  return std::nullopt;
}

bool is_time(std::string_view metric) {
  const auto value = [&](double seconds) {
    const auto found = in_metric(
        metric, {.seconds = seconds, .samples = 1, .tokens = 1, .flops = 1, .bytes = 1, .job_seconds = seconds});
    base::ensure(found.has_value(), metric, "a metric without a value");
    return *found;
  };
  return value(2) > value(1);
}

std::vector<std::string> known_metrics() {
  std::vector<std::string> names;
  for (const Metric& row : kMetrics) names.emplace_back(row.name);
  return names;
}

}  // namespace analysis
