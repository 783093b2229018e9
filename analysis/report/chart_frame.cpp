#include "analysis/report/chart_frame.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/profile/views.h"

namespace analysis {
namespace {

constexpr std::size_t kMostDrawn = 1000;
constexpr double kRounding = 1e-9, kFewDecades = 2.5;

/// The next 1, 2 or 5 times a power of ten, all as logarithms. From -x it is the last one below x, as 2 and 5 mirror
/// each other.
double next_step(double x) {
  const double decade = std::floor(x);
  for (const double part : {1.0, 2.0, 5.0})
    if (x - decade <= std::log10(part) + kRounding) return decade + std::log10(part);
  return decade + 1;
}

std::string svg(std::string_view label, const Frame& frame, const Picture& picture) {
  return fmt::format(R"(<svg class="chart {}" role="img" aria-label="{}" viewBox="0 0 {} {}">{}</svg>)",
                     frame.narrow ? "narrow" : "roomy", escape(label), frame.width, picture.height, picture.body);
}

}  // namespace

Scale::Scale(double low, double high, double begin, double end, const Axis& axis, std::size_t ticks)
    : axis_{axis}, low_{low}, high_{high}, begin_{begin}, end_{end}, ticks_{ticks} {
  if (axis.logarithmic) {
    low_ = -next_step(-std::log10(low));
    high_ = std::max(next_step(std::log10(high)), low_ + std::log10(2));
  } else if (!(high_ > low_)) {
    high_ = low_ + 1;
  }
}

std::vector<double> Scale::logarithmic_ticks() const {
  std::vector<double> list;
  const double decades = high_ - low_, step = std::max(1.0, std::ceil(decades / static_cast<double>(ticks_)));
  for (double v = std::floor(low_); v <= high_ + kRounding; v += step)
    for (const double part : {1.0, 2.0, 5.0}) {
      const double at = v + std::log10(part);
      if (part > 1 && decades > kFewDecades) break;
      if (at >= low_ - kRounding && at <= high_ + kRounding) list.push_back(std::pow(10, v) * part);
    }
  return list;
}

std::vector<double> Scale::ticks() const {
  if (axis_.logarithmic) return logarithmic_ticks();
  const double rough = (high_ - low_) / static_cast<double>(ticks_ - 1),
               power = std::pow(10, std::floor(std::log10(rough)));
  const bool binary = axis_.unit == "B";  // 2 GiB, not 1.863
  const double decimal = power * (rough / power < 1.5 ? 1 : rough / power < 3.5 ? 2 : rough / power < 7.5 ? 5 : 10);
  const double fine = binary ? std::exp2(std::round(std::log2(rough))) : decimal;
  const double step = axis_.whole ? std::max(1.0, fine) : fine;
  std::vector<double> list;
  for (double i = std::ceil(low_ / step); i * step <= high_ * (1 + 1e-12); ++i) list.push_back(i * step);
  return list;
}

std::string figure(std::string_view label, const std::function<Picture(const Frame&)>& draw, std::string_view below) {
  return fmt::format("<figure><figcaption>{}</figcaption>{}{}{}</figure>\n", escape(label),
                     svg(label, kWide, draw(kWide)), svg(label, kNarrow, draw(kNarrow)), below);
}

std::string tick_text(double value, const Axis& axis) {
  if (value == 0) return "0";
  if (axis.unit == "$") return fmt::format("${:.4g}", value);  // round numbers: $0.2, not $0.2000
  if (!axis.unit.empty()) return readable(value, axis.unit);
  return value >= 1e4 && value < 1e7 ? fmt::format("{:.0f}", value) : fmt::format("{:.4g}", value);
}

std::string x_ticks(const Frame& frame, const Scale& x, const Axis& axis, double bottom) {
  std::string out;
  for (const double v : x.ticks()) {
    const bool last = x(v) > frame.end() - 16;  // its letters would leave the picture
    out += fmt::format(R"(<text class="tick{}" x="{:.1f}" y="{}">{}</text>)", last ? "" : " mid",
                       last ? frame.end() + 8 : x(v), bottom + 18, escape(tick_text(v, axis)));
  }
  return out + fmt::format(R"(<text class="tick mid" x="{}" y="{}">{}</text>)", (frame.left + frame.end()) / 2,
                           bottom + 36, escape(axis.title));
}

std::string axes(const Frame& frame, const Scale& x, const Scale& y, const Axis& x_axis, const Axis& y_axis) {
  std::string out;
  for (const double v : y.ticks())
    out += fmt::format(R"(<path class="grid" d="M{} {:.1f}H{}"/><text class="tick" x="{}" y="{:.1f}">{}</text>)",
                       frame.left, y(v), frame.end(), frame.left - 6, y(v) + 4, escape(tick_text(v, y_axis)));
  for (const double v : x.ticks())
    out += fmt::format(R"(<path class="grid" d="M{:.1f} {}V{}"/>)", x(v), frame.top, frame.floor());
  out += x_ticks(frame, x, x_axis, frame.floor());
  if (frame.narrow) return out;
  return out + fmt::format(R"~(<text class="tick mid" transform="translate(14 {}) rotate(-90)">{}</text>)~",
                           (frame.top + frame.floor()) / 2, escape(y_axis.title));
}

std::string legend(const std::vector<std::string>& names, const std::vector<std::size_t>& colours) {
  std::string out = "<ul class=\"legend\">";
  for (std::size_t i = 0; i < names.size(); ++i)
    out += fmt::format(R"(<li><span class="key b{}"></span>{}</li>)", (colours.empty() ? i : colours[i]) % kColours,
                       escape(names[i]));
  return out + "</ul>";
}

std::string nothing(std::string_view label) {
  return fmt::format("<p class=\"none\">{}: nothing was recorded.</p>", escape(label));
}

std::string path_of(const Series& series, const Scale& x, const Scale& y) {
  const std::size_t step = series.points.size() / kMostDrawn + 1;
  std::string d;
  bool pen = false;
  for (std::size_t i = 0; i < series.points.size(); ++i) {
    if (i % step != 0 && i + 1 != series.points.size()) continue;
    const auto [px, py] = series.points[i];
    const bool drawn = std::isfinite(px) && std::isfinite(py);
    if (drawn) d += fmt::format("{}{:.1f} {:.1f}", pen ? 'L' : 'M', x(px), y(py));
    pen = drawn;
  }
  return d;
}

}  // namespace analysis
