#include "workloads/tasks/metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/error.h"
#include "workloads/data/batch.h"

namespace workloads {
namespace {

double ratio(std::size_t part, std::size_t whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

/// Python's round(): the nearest decimal of the exact value, as printf rounds.
double rounded(double value, int places) { return std::strtod(fmt::format("{:.{}f}", value, places).c_str(), nullptr); }

/// 510.237 -> "0:08:30.23"; whole days in front as Python's timedelta prints them.
std::string clock_time(double seconds) {
  const auto whole = static_cast<std::int64_t>(seconds);
  const auto hundredths = static_cast<int>(std::abs(seconds - static_cast<double>(whole)) * 100);
  const std::int64_t days = whole / 86400;
  const std::string front = days == 0 ? "" : fmt::format("{} day{}, ", days, days == 1 ? "" : "s");
  return fmt::format("{}{}:{:02}:{:02}.{:02}", front, whole / 3600 % 24, whole / 60 % 60, whole % 60, hundredths);
}

std::string formatted(const std::string& key, const MetricValue& value) {
  const auto as_double = std::visit([](auto v) { return static_cast<double>(v); }, value);
  // The shift of a negative number is arithmetic, as Python's is.
  if (key.find("_mem_") != std::string::npos) return fmt::format("{}MB", static_cast<std::int64_t>(as_double) >> 20);
  if (key.find("_runtime") != std::string::npos) return clock_time(as_double);
  if (key == "total_flos") return fmt::format("{:.0f}GF", std::floor(as_double / 0x1p30));
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return std::to_string(*whole);
  return python_repr(rounded(as_double, 4));
}

}  // namespace

Confusion::Confusion(std::size_t labels) : labels_{labels}, counts_(labels * labels, 0) {}

void Confusion::add(std::int32_t label, std::int32_t predicted) {
  if (label == Batch::kIgnoredLabel) return;
  const auto legal = [this](std::int32_t id) { return id >= 0 && static_cast<std::size_t>(id) < labels_; };
  base::ensure(legal(label) && legal(predicted), "metrics",
               fmt::format("label {} or prediction {} is out of range", label, predicted));
  ++counts_[static_cast<std::size_t>(label) * labels_ + static_cast<std::size_t>(predicted)];
  ++samples_;
}

void Confusion::add(std::span<const float> logits, std::span<const std::int32_t> labels) {
  const std::vector<std::int32_t> predicted = predictions(logits, labels, labels_);
  for (std::size_t row = 0; row < labels.size(); ++row) add(labels[row], predicted[row]);
}

std::vector<std::int32_t> predictions(std::span<const float> logits, std::span<const std::int32_t> labels,
                                      std::size_t number) {
  base::ensure(logits.size() == labels.size() * number, "metrics", "logits and labels differ in rows");
  std::vector<std::int32_t> out(labels.size(), Batch::kIgnoredLabel);
  for (std::size_t row = 0; row < labels.size(); ++row) {
    if (labels[row] == Batch::kIgnoredLabel) continue;
    const auto scores = logits.subspan(row * number, number);
    if (std::ranges::any_of(scores, [](float score) { return std::isnan(score); }))
      throw base::Error{base::Fault::kNumerics, "evaluation", "a logit is NaN",
                        "lower `learning_rate` or use another `numerics`"};
    out[row] = static_cast<std::int32_t>(std::ranges::max_element(scores) - scores.begin());
  }
  return out;
}

bool EntityCounts::tagged() const {
  return std::ranges::any_of(names_,
                             [](const std::string& name) { return name.starts_with("B-") || name.starts_with("I-"); });
}

std::vector<EntityCounts::Entity> EntityCounts::entities(std::span<const std::int32_t> tags) const {
  std::vector<Entity> out;
  std::string_view open;  // the type that goes on
  for (std::size_t i = 0; i < tags.size(); ++i) {
    const std::string_view name = names_.at(static_cast<std::size_t>(tags[i]));
    const bool inside = name.starts_with("B-") || name.starts_with("I-");
    const std::string_view type = inside ? name.substr(2) : std::string_view{};
    if (inside && type == open && !name.starts_with("B-"))
      out.back().end = i;
    else if (inside)
      out.push_back({type, i, i});
    open = type;
  }
  return out;
}

void EntityCounts::add(std::span<const std::int32_t> labels, std::span<const std::int32_t> predicted,
                       std::size_t length) {
  if (!tagged()) return;
  for (std::size_t begin = 0; begin < labels.size(); begin += length) {
    std::vector<std::int32_t> want, got;
    for (std::size_t i = begin; i < begin + length; ++i)
      if (labels[i] != Batch::kIgnoredLabel) want.push_back(labels[i]), got.push_back(predicted[i]);
    const std::vector<Entity> there = entities(want), found = entities(got);
    there_ += there.size(), found_ += found.size();
    right_ += static_cast<std::size_t>(
        std::ranges::count_if(found, [&](const Entity& e) { return std::ranges::find(there, e) != there.end(); }));
  }
}

double EntityCounts::precision() const { return ratio(right_, found_); }
double EntityCounts::recall() const { return ratio(right_, there_); }
double EntityCounts::f1() const { return ratio(2 * right_, found_ + there_); }

std::size_t Confusion::occurs(std::size_t label) const {
  std::size_t sum = 0;
  for (std::size_t other = 0; other < labels_; ++other) sum += count(label, other);
  return sum;
}

std::size_t Confusion::predicted(std::size_t label) const {
  std::size_t sum = 0;
  for (std::size_t other = 0; other < labels_; ++other) sum += count(other, label);
  return sum;
}

double Confusion::accuracy() const {
  std::size_t right = 0;
  for (std::size_t label = 0; label < labels_; ++label) right += count(label, label);
  return ratio(right, samples_);
}

double Confusion::precision(std::size_t label) const { return ratio(count(label, label), predicted(label)); }
double Confusion::recall(std::size_t label) const { return ratio(count(label, label), occurs(label)); }
double Confusion::f1(std::size_t label) const {
  return ratio(2 * count(label, label), occurs(label) + predicted(label));
}

double Confusion::macro_f1() const {
  double sum = 0;
  std::size_t present = 0;
  for (std::size_t label = 0; label < labels_; ++label) {
    sum += f1(label);
    present += occurs(label) + predicted(label) > 0;
  }
  return present == 0 ? 0.0 : sum / static_cast<double>(present);
}

double Confusion::weighted_f1() const {
  double sum = 0;
  for (std::size_t label = 0; label < labels_; ++label) sum += f1(label) * static_cast<double>(occurs(label));
  return samples_ == 0 ? 0.0 : sum / static_cast<double>(samples_);
}

std::string python_repr(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  std::string text = fmt::format("{}", value);  // the shortest that reads back, as Python's
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

Metrics speed_metrics(const std::string& prefix, double seconds, std::int64_t samples, std::int64_t steps) {
  return {{prefix + "_runtime", rounded(seconds, 4)},
          {prefix + "_samples_per_second", rounded(static_cast<double>(samples) / seconds, 3)},
          {prefix + "_steps_per_second", rounded(static_cast<double>(steps) / seconds, 3)}};
}

std::string metrics_block(const std::string& split, const Metrics& metrics) {
  std::vector<std::pair<std::string, std::string>> lines;
  std::size_t key_width = 0, value_width = 0;
  for (const auto& [key, value] : metrics) {
    lines.emplace_back(key, formatted(key, value));
    key_width = std::max(key_width, key.size());
    value_width = std::max(value_width, lines.back().second.size());
  }
  std::ranges::sort(lines);
  std::string block = fmt::format("***** {} metrics *****\n", split);
  for (const auto& [key, value] : lines)
    block += fmt::format("  {:<{}} = {:>{}}\n", key, key_width, value, value_width);
  return block;
}

}  // namespace workloads
