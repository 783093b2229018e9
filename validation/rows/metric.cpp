#include "validation/rows/metric.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/text.h"

namespace validation {
namespace {

using Measure = std::optional<double>;

struct Metric {
  std::string_view name;  // small letters
  Measure (*value)(const Measured&);
};

Measure per_second(const Measure& amount, const Measured& m, double unit = 1) {
  return amount ? Measure{*amount / m.seconds / unit} : Measure{};
}
Measure scaled(const Measure& figure, double unit) { return figure ? Measure{*figure * unit} : Measure{}; }

template <int kPerSecond>
Measure seconds_in(const Measured& m) {
  return m.seconds * kPerSecond;
}
Measure samples_rate(const Measured& m) { return per_second(m.samples, m); }
Measure tokens_rate(const Measured& m) { return per_second(m.tokens, m); }
Measure repetitions_rate(const Measured& m) { return 1 / m.seconds; }
Measure nanoseconds(const Measured& m) { return m.seconds * 1e9; }

// clang-format off
constexpr std::array kMetrics = {
    Metric{"samples/s",         samples_rate},
    Metric{"sequences/s",       samples_rate},
    Metric{"sentences/s",       samples_rate},
    Metric{"examples/s",        samples_rate},
    Metric{"images/s",          samples_rate},
    Metric{"inferences/s",      samples_rate},
    Metric{"requests/s",        samples_rate},
    Metric{"output tokens/s",   tokens_rate},
    Metric{"tokens/s",          tokens_rate},
    Metric{"steps/s",           repetitions_rate},
    Metric{"iterations/s",      repetitions_rate},
    Metric{"it/s",              repetitions_rate},
    Metric{"graphs/s",          repetitions_rate},
    Metric{"tflops",            [](const Measured& m) { return per_second(m.flops, m, 1e12); }},
    Metric{"tflop/s",           [](const Measured& m) { return per_second(m.flops, m, 1e12); }},
    Metric{"gflops",            [](const Measured& m) { return per_second(m.flops, m, 1e9); }},
    Metric{"gb/s",              [](const Measured& m) { return per_second(m.bytes, m, 1e9); }},
    Metric{"gib/s",             [](const Measured& m) { return per_second(m.bytes, m, 1024.0 * 1024 * 1024); }},
    Metric{"s",                 seconds_in<1>},
    Metric{"s/step",            seconds_in<1>},
    Metric{"s/it",              seconds_in<1>},
    Metric{"ms",                seconds_in<1000>},
    Metric{"ms/step",           seconds_in<1000>},
    Metric{"ms latency",        seconds_in<1000>},
    Metric{"us",                seconds_in<1000000>},
    Metric{"ns",                nanoseconds},
    Metric{"ns issue to issue", nanoseconds},
    Metric{"ns/element",        nanoseconds},
    Metric{"hbm/core",          [](const Measured& m) { return scaled(m.bytes, 1.0 / (1 << 30)); }},
    Metric{"cycles",            [](const Measured& m) { return scaled(m.clock, m.seconds); }},
    Metric{"ms ttft",           [](const Measured& m) { return scaled(m.first_token, 1e3); }},
    Metric{"ms tpot",           [](const Measured& m) { return scaled(m.token_interval, 1e3); }},
    Metric{"minutes",           [](const Measured& m) { return scaled(m.job_seconds, 1 / 60.0); }},
    Metric{"hours",             [](const Measured& m) { return scaled(m.job_seconds, 1 / 3600.0); }},
};
// clang-format on

/// Small letters; "minutes for 3 epochs" and "ms per step" as the list has them; percentiles of quantities without
/// spread here.
std::string normal(std::string_view metric) {
  std::string name = base::lower(metric);
  for (const std::string_view percentile : {" p50", " median", " (p50)", " mean", " average"})
    if (name.ends_with(percentile)) name.resize(name.size() - percentile.size());
  if (const auto per = name.find(" per "); per != std::string::npos) name.replace(per, 5, "/");
  for (const std::string_view job : {"minutes", "hours"})
    if (name.starts_with(std::string{job} + " for ")) name = job;
  for (const std::string_view long_form : {"/second", "/sec"})
    if (name.ends_with(long_form)) name.replace(name.size() - long_form.size(), long_form.size(), "/s");
  return name;
}

}  // namespace

std::variant<double, std::string> in_metric(std::string_view metric, const Measured& measured) {
  base::ensure(measured.seconds > 0, "in_metric", "a repetition must take time");
  const std::string name = normal(metric);
  const auto row = std::ranges::find(kMetrics, name, &Metric::name);
  if (row == kMetrics.end()) return fmt::format("metric '{}' is unknown", metric);
  if (const Measure value = row->value(measured)) return *value;
  return fmt::format("'{}' is not a figure of such a job, or its count is not published", metric);
}

bool is_time(std::string_view metric) {
  const auto value = [&](double seconds) {
    const auto found = in_metric(metric, {.seconds = seconds,
                                          .samples = 1,
                                          .tokens = 1,
                                          .flops = 1,
                                          .bytes = 1,
                                          .job_seconds = seconds,
                                          .first_token = seconds,
                                          .token_interval = seconds,
                                          .clock = 1});
    const double* figure = std::get_if<double>(&found);
    base::ensure(figure, metric, "a metric without a value");
    return *figure;
  };
  return value(2) > value(1);
}

}  // namespace validation
