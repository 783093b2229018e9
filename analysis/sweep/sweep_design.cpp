// Which points a sweep has.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <random>
#include <set>

#include "analysis/sweep/sweep.h"
#include "base/error.h"
#include "base/suggest.h"
#include "base/text.h"
#include "base/units.h"

namespace analysis {
namespace {

using base::Error;
using base::Fault;
using base::Quantity;

constexpr std::size_t kMostPoints = 1'000'000;
const std::vector<std::string> kDesigns = {"cartesian", "list", "one_at_a_time", "random"};

std::size_t whole(std::string_view text, std::string_view where) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc{} && end == text.data() + text.size()) return value;
  throw Error{Fault::kUsage, where, fmt::format("'{}' is not an integer", text), "write a whole number from 0"};
}

/// "a..b" or "a..b:n".
struct Range {
  Quantity low, high;
  std::size_t count = 0;

  /// 0..1, logarithmically; rounded to four figures for readability.
  std::string at(double share) const {
    const double value = low.value * std::pow(high.value / low.value, share);
    return base::exact_text({std::strtod(fmt::format("{:.4g}", value).c_str(), nullptr), low.dimension});
  }
};

bool is_range(const std::string& text) { return text.find("..") != std::string::npos; }

Range parse_range(const std::string& text, const std::string& key) {
  const std::size_t dots = text.find("..");
  const std::size_t colon = std::min(text.find(':', dots), text.size());
  Range range{base::parse_quantity(text.substr(0, dots), key),
              base::parse_quantity(text.substr(dots + 2, colon - dots - 2), key)};
  if (colon < text.size()) range.count = whole(text.substr(colon + 1), key);
  if (range.low.dimension == range.high.dimension && range.low.value > 0 && range.high.value > range.low.value &&
      (colon == text.size() || range.count >= 2)) {
    return range;
  }
  throw Error{Fault::kUsage, key, fmt::format("'{}' is not a range", text), "write \"0.5x..2x\" or \"0.5x..2x:5\""};
}

void limit(std::size_t points) {
  if (points <= kMostPoints) return;
  throw Error{Fault::kUsage, "sweep", fmt::format("has more than {} points", kMostPoints),
              "give fewer values, or choose the design random"};
}

/// The values of an axis, ranges spelt out.
std::vector<std::string> spelt_out(const SweepAxis& axis) {
  std::vector<std::string> values;
  for (const std::string& text : axis.values) {
    if (!is_range(text)) {
      values.push_back(text);
      continue;
    }
    const Range range = parse_range(text, axis.key);
    if (range.count == 0) {
      throw Error{Fault::kUsage, axis.key, fmt::format("'{}' does not say how many values to try", text),
                  fmt::format("write \"{}:5\", or choose the design random", text)};
    }
    limit(values.size() + range.count);
    for (std::size_t i = 0; i < range.count; ++i)
      values.push_back(range.at(static_cast<double>(i) / static_cast<double>(range.count - 1)));
  }
  return values;
}

void check(const SweepSpec& spec) {
  std::set<std::string> keys;
  for (const SweepAxis& axis : spec.axes) {
    if (axis.values.empty())
      throw Error{Fault::kUsage, axis.key, "has no values", "give some, as in hbm.bandwidth=0.5x,1x,2x"};
    if (keys.insert(axis.key).second) continue;
    throw Error{Fault::kUsage, axis.key, "is given twice", "put all its values into one list"};
  }
  if (spec.axes.empty())
    throw Error{Fault::kUsage, "sweep", "has no parameter to change", "give `set` KEY=VALUE,VALUE"};
}

std::vector<SweepPoint> cartesian(const SweepSpec& spec) {
  std::vector<SweepPoint> points{{}};
  for (const SweepAxis& axis : spec.axes) {
    const auto values = spelt_out(axis);
    limit(points.size() * values.size());
    std::vector<SweepPoint> more;
    for (const SweepPoint& point : points) {
      for (const std::string& value : values) {
        more.push_back(point);
        more.back().emplace_back(axis.key, value);
      }
    }
    points = std::move(more);
  }
  return points;
}

std::vector<SweepPoint> listed(const SweepSpec& spec) {
  std::vector<SweepPoint> points;
  for (const SweepAxis& axis : spec.axes) {
    const auto values = spelt_out(axis);
    if (points.empty()) points.resize(values.size());
    if (points.size() != values.size()) {
      throw Error{Fault::kUsage, axis.key,
                  fmt::format("has {} values, {} has {}", values.size(), spec.axes[0].key, points.size()),
                  "give every parameter of a list as many values"};
    }
    for (std::size_t i = 0; i < values.size(); ++i) points[i].emplace_back(axis.key, values[i]);
  }
  return points;
}

std::vector<SweepPoint> one_at_a_time(const SweepSpec& spec) {
  std::vector<SweepPoint> points{{}};
  for (const SweepAxis& axis : spec.axes) {
    for (const std::string& value : spelt_out(axis)) points.push_back({{axis.key, value}});
  }
  return points;
}

std::vector<SweepPoint> drawn(const SweepSpec& spec) {
  if (spec.samples == 0)
    throw Error{Fault::kUsage, "`samples`", "a random design needs the number of points", "give `samples` 100"};
  limit(spec.samples);
  std::mt19937_64 random{spec.seed};
  const auto uniform = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  std::vector<SweepPoint> points(spec.samples);
  for (SweepPoint& point : points) {
    for (const SweepAxis& axis : spec.axes) {
      const auto pick = static_cast<std::size_t>(uniform() * static_cast<double>(axis.values.size()));
      const std::string& text = axis.values[pick];
      point.emplace_back(axis.key, is_range(text) ? parse_range(text, axis.key).at(uniform()) : text);
    }
  }
  return points;
}

}  // namespace

Design parse_design(std::string_view name) {
  const auto found = std::ranges::find(kDesigns, name);
  if (found != kDesigns.end()) return static_cast<Design>(found - kDesigns.begin());
  throw Error{Fault::kUsage, "`design`", fmt::format("'{}' is not a design", name), base::suggest_fix(name, kDesigns)};
}

SweepSpec load_sweep(const std::filesystem::path& path) {
  base::ParamFile file = base::ParamFile::load(path);
  SweepSpec spec;
  const auto beside = [&](const std::string& name) { return (path.parent_path() / name).string(); };
  if (file.has("program")) spec.program = beside(file.read_string("program").value);
  if (file.has("workload")) {
    spec.workload = file.read_string("workload").value;
    if (spec.workload.ends_with(".toml")) spec.workload = beside(spec.workload);
  }
  if (file.has("machine")) {
    spec.machine = file.read_string("machine").value;
    if (spec.machine.ends_with(".toml")) spec.machine = beside(spec.machine);
  }
  if (file.has("design")) spec.design = parse_design(file.read_string("design").value);
  if (file.has("samples")) spec.samples = whole(file.read_string("samples").value, "samples");
  if (file.has("seed")) spec.seed = whole(file.read_string("seed").value, "seed");
  for (const std::string& key : file.keys("set"))
    spec.axes.push_back({key.substr(std::string_view{"set."}.size()), file.read_strings(key).value});
  file.reject_unread();
  return spec;
}

SweepAxis parse_axis(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0)
    throw Error{Fault::kUsage, "`set`", fmt::format("'{}' is not KEY=VALUE,VALUE", text),
                "write hbm.bandwidth=0.5x,1x"};
  SweepAxis axis{std::string{text.substr(0, equals)}, base::split(text.substr(equals + 1), ',')};
  if (std::ranges::count(axis.values, "") > 0)
    throw Error{Fault::kUsage, "`set`", fmt::format("'{}' has an empty value", text), "write hbm.bandwidth=0.5x,1x"};
  return axis;
}

std::vector<SweepPoint> design_points(const SweepSpec& spec) {
  check(spec);
  switch (spec.design) {
    case Design::kCartesian: return cartesian(spec);
    case Design::kList: return listed(spec);
    case Design::kOneAtATime: return one_at_a_time(spec);
    case Design::kRandom: return drawn(spec);
  }
  throw Error{Fault::kInternal, "sweep", "no such design", "please report this"};
}

}  // namespace analysis
