#include "analysis/report/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/views.h"

namespace analysis {
namespace {

constexpr double kWidth = 720, kHeight = 280, kLeft = 104, kRight = 24, kTop = 12, kBottom = 44;
constexpr double kLeastRadius = 4, kRadius = 24;  // of a mark without weight; what all of it adds
constexpr std::size_t kMostDrawn = 1000;
constexpr int kColours = 8;  // classes s0 to s7 of the page's style

std::string tick_text(double value, const Axis& axis) {
  if (value == 0) return "0";
  if (!axis.unit.empty()) return readable(value, axis.unit);
  return value >= 1e4 && value < 1e7 ? fmt::format("{:.0f}", value) : fmt::format("{:.4g}", value);
}

/// Values of an axis to places on the picture.
class Scale {
 public:
  Scale(double low, double high, double begin, double end, const Axis& axis)
      : axis_{axis}, low_{low}, high_{high}, begin_{begin}, end_{end} {
    if (axis.logarithmic) {
      low_ = -next_step(-std::log10(low));
      high_ = std::max(next_step(std::log10(high)), low_ + std::log10(2));
    } else if (!(high_ > low_)) {
      high_ = low_ + 1;
    }
  }
  double operator()(double value) const {
    const double v = axis_.logarithmic ? std::log10(value) : value;
    return begin_ + (v - low_) / (high_ - low_) * (end_ - begin_);
  }
  /// 1, 2 or 5 times a power of ten apart (bytes: a power of two); these themselves when logarithmic.
  std::vector<double> ticks() const {
    std::vector<double> list;
    if (axis_.logarithmic) {
      const double decades = high_ - low_, step = std::max(1.0, std::ceil(decades / 6));
      for (double v = std::floor(low_); v <= high_ + kRounding; v += step)
        for (const double part : {1.0, 2.0, 5.0}) {
          const double at = v + std::log10(part);
          if (part > 1 && decades > kFewDecades) break;
          if (at >= low_ - kRounding && at <= high_ + kRounding) list.push_back(std::pow(10, v) * part);
        }
      return list;
    }
    const double rough = (high_ - low_) / 5, power = std::pow(10, std::floor(std::log10(rough)));
    const bool binary = axis_.unit == "B";  // 2 GiB, not 1.863
    const double decimal = power * (rough / power < 1.5 ? 1 : rough / power < 3.5 ? 2 : rough / power < 7.5 ? 5 : 10);
    const double fine = binary ? std::exp2(std::round(std::log2(rough))) : decimal;
    const double step = axis_.whole ? std::max(1.0, fine) : fine;
    for (double i = std::ceil(low_ / step); i * step <= high_ * (1 + 1e-12); ++i) list.push_back(i * step);
    return list;
  }

 private:
  static constexpr double kRounding = 1e-9, kFewDecades = 2.5;

  /// The next 1, 2 or 5 times a power of ten, all as logarithms. From -x it is the last one below x, as 2 and 5 mirror
  /// each other.
  static double next_step(double x) {
    const double decade = std::floor(x);
    for (const double part : {1.0, 2.0, 5.0})
      if (x - decade <= std::log10(part) + kRounding) return decade + std::log10(part);
    return decade + 1;
  }

  const Axis& axis_;
  double low_, high_, begin_, end_;
};

/// `css`: "chart", or "bar" for what stays legible when a phone makes it narrow.
std::string open_svg(std::string_view label, double height, std::string_view css = "chart") {
  return fmt::format(
      R"(<figure><figcaption>{}</figcaption><div class="scroll" tabindex="0" role="group" aria-label="{}">)"
      R"(<svg class="{}" role="img" aria-label="{}" viewBox="0 0 {} {}">)",
      escape(label), escape(label), css, escape(label), kWidth, height);
}

constexpr std::string_view kCloseSvg = "</svg></div>", kCloseFigure = "</figure>\n";

std::string axes(const Scale& x, const Scale& y, const Axis& x_axis, const Axis& y_axis) {
  const double bottom = kHeight - kBottom;
  std::string out;
  for (const double v : y.ticks())
    out += fmt::format(R"(<path class="grid" d="M{} {:.1f}H{}"/><text class="tick" x="{}" y="{:.1f}">{}</text>)", kLeft,
                       y(v), kWidth - kRight, kLeft - 6, y(v) + 4, escape(tick_text(v, y_axis)));
  for (const double v : x.ticks())
    out += fmt::format(R"(<path class="grid" d="M{:.1f} {}V{}"/><text class="tick mid" x="{:.1f}" y="{}">{}</text>)",
                       x(v), kTop, bottom, x(v), bottom + 16, escape(tick_text(v, x_axis)));
  out += fmt::format(R"(<text class="tick mid" x="{}" y="{}">{}</text>)", (kLeft + kWidth - kRight) / 2, kHeight - 8,
                     escape(x_axis.title));
  return out + fmt::format(R"~(<text class="tick mid" transform="translate(14 {}) rotate(-90)">{}</text>)~",
                           (kTop + bottom) / 2, escape(y_axis.title));
}

std::string legend(const std::vector<std::string>& names) {
  std::string out = "<ul class=\"legend\">";
  for (std::size_t i = 0; i < names.size(); ++i)
    out += fmt::format(R"(<li><span class="key b{}"></span>{}</li>)", i % kColours, escape(names[i]));
  return out + "</ul>";
}

struct Extent {
  double low = INFINITY, high = -INFINITY;
  void take(double value) {
    if (!std::isfinite(value)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  bool empty() const { return !(low <= high); }
};

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

}  // namespace

std::string escape(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default:
        if (static_cast<unsigned char>(c) >= 0x20 || c == '\n' || c == '\t')
          out += c;  // HTML has no control characters
    }
  }
  return out;
}

std::string line_chart(std::string_view label, const std::vector<Series>& series, const Axis& x_axis,
                       const Axis& y_axis) {
  Extent xs, ys;
  for (const Series& s : series) {
    for (const auto& [px, py] : s.points) {
      if (std::isfinite(py)) xs.take(px);
      ys.take(py);
    }
  }
  if (xs.empty()) return nothing(label);
  const Scale x{xs.low, xs.high, kLeft, kWidth - kRight, x_axis};
  const Scale y{std::min(ys.low, 0.0), ys.high, kHeight - kBottom, kTop, y_axis};
  std::string out = open_svg(label, kHeight) + axes(x, y, x_axis, y_axis);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < series.size(); ++i) {
    out += fmt::format(R"(<path class="line s{}" d="{}"/>)", i % kColours, path_of(series[i], x, y));
    names.push_back(series[i].name);
  }
  return fmt::format("{}{}{}{}", out, kCloseSvg, legend(names), kCloseFigure);
}

std::string area_chart(std::string_view label, const std::vector<std::string>& kinds,
                       const std::vector<std::vector<double>>& values, const std::vector<double>& at, double end,
                       const std::optional<Limit>& limit, const Axis& x_axis, const Axis& y_axis) {
  if (kinds.empty() || at.empty()) return nothing(label);
  std::vector<double> base(at.size(), 0);
  Extent ys;
  ys.take(limit ? limit->value : 0);
  for (std::size_t i = 0; i < at.size(); ++i) {
    double sum = 0;
    for (const auto& kind : values) sum += kind[i];
    ys.take(sum);
  }
  const Scale x{0, end, kLeft, kWidth - kRight, x_axis}, y{0, ys.high, kHeight - kBottom, kTop, y_axis};
  std::string out = open_svg(label, kHeight) + axes(x, y, x_axis, y_axis);
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    std::string top, bottom;
    for (std::size_t i = 0; i < at.size(); ++i) {
      const double from = x(at[i]), to = x(i + 1 < at.size() ? at[i + 1] : end);
      const double low = y(base[i]), high = y(base[i] + values[k][i]);
      top += fmt::format("{}{:.1f} {:.1f}H{:.1f}", i == 0 ? 'M' : 'L', from, high, to);
      bottom.insert(0, fmt::format("L{:.1f} {:.1f}H{:.1f}", to, low, from));
      base[i] += values[k][i];
    }
    out += fmt::format(R"(<path class="area a{}" d="{}{}Z"/>)", k % kColours, top, bottom);
  }
  if (limit)
    out +=
        fmt::format(R"(<path class="limit" d="M{} {:.1f}H{}"/><text class="tick" x="{}" y="{:.1f}">{}</text>)", kLeft,
                    y(limit->value), kWidth - kRight, kWidth - kRight - 4, y(limit->value) + 14, escape(limit->name));
  return fmt::format("{}{}{}{}", out, kCloseSvg, legend(kinds), kCloseFigure);
}

namespace {

/// Neighbours that look the same are one rectangle: without seams, and a long step makes no large page.
std::string heat_row(const std::vector<double>& shares, double top, double height) {
  const double width = (kWidth - kLeft - kRight) / static_cast<double>(shares.size());
  const auto level = [&](std::size_t c) { return std::round(std::clamp(shares[c], 0.0, 1.0) * 100); };
  std::string out;
  for (std::size_t begin = 0, end = 0; begin < shares.size(); begin = end) {
    while (end < shares.size() && level(end) == level(begin)) ++end;
    if (level(begin) == 0) continue;
    out += fmt::format(R"(<rect class="heat" x="{:.2f}" y="{:.1f}" width="{:.2f}" height="{}" opacity="{:.2f}"/>)",
                       kLeft + width * static_cast<double>(begin), top, width * static_cast<double>(end - begin),
                       height, level(begin) / 100);
  }
  return out;
}

/// What the colours mean, at the right end.
std::string heat_scale(double top) {
  constexpr double kBox = 18;
  constexpr int kBoxes = 5;
  const double right = kWidth - kRight - 40, left = right - kBoxes * kBox;
  std::string out = fmt::format(R"(<text class="tick" x="{}" y="{}">0 %</text>)", left - 6, top + 11);
  for (int i = 1; i <= kBoxes; ++i)
    out += fmt::format(R"(<rect class="heat" x="{}" y="{}" width="{}" height="12" opacity="{:.2f}"/>)",
                       left + (i - 1) * kBox, top, kBox, i / static_cast<double>(kBoxes));
  return out + fmt::format(R"(<text class="tick" x="{}" y="{}">100 %</text>)", kWidth - kRight, top + 11);
}

}  // namespace

std::string heat_map(std::string_view label, const std::vector<std::string>& rows,
                     const std::vector<std::vector<double>>& values, double end, const Axis& x_axis) {
  if (rows.empty() || values.front().empty()) return nothing(label);
  const double row_height = rows.size() > 12 ? 14 : 22, bottom = kTop + row_height * static_cast<double>(rows.size());
  const Scale x{0, end, kLeft, kWidth - kRight, x_axis};
  std::string out = open_svg(label, bottom + kBottom);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const double top = kTop + row_height * static_cast<double>(r);
    out += fmt::format(R"(<text class="tick" x="{}" y="{:.1f}">{}</text>)", kLeft - 6, top + row_height / 2 + 4,
                       escape(rows[r]));
    out += heat_row(values[r], top + 1, row_height - 2);
  }
  for (const double v : x.ticks())
    out += fmt::format(R"(<text class="tick mid" x="{:.1f}" y="{}">{}</text>)", x(v), bottom + 16,
                       escape(tick_text(v, x_axis)));
  return out +
         fmt::format(R"(<text class="tick mid" x="{}" y="{}">{}</text>)", (kLeft + kWidth - kRight) / 2, bottom + 36,
                     escape(x_axis.title)) +
         heat_scale(bottom + 25) + std::string{kCloseSvg} + std::string{kCloseFigure};
}

std::string category_map(std::string_view label, const std::vector<std::string>& rows,
                         const std::vector<std::string>& columns, const std::vector<std::vector<int>>& cells,
                         const std::vector<std::string>& kinds, const Axis& x_axis, const Axis& y_axis) {
  constexpr double kCell = 22;
  constexpr std::size_t kMostNames = 10;  // of columns that fit below each other's side
  if (rows.empty() || columns.empty()) return nothing(label);
  const double bottom = kTop + kCell * static_cast<double>(rows.size());
  const double width = (kWidth - kLeft - kRight) / static_cast<double>(columns.size());
  const std::size_t step = (columns.size() - 1) / kMostNames + 1;
  std::string out = open_svg(label, bottom + kBottom);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const double top = kTop + kCell * static_cast<double>(r);
    out += fmt::format(R"(<text class="tick" x="{}" y="{:.1f}">{}</text>)", kLeft - 6, top + 15, escape(rows[r]));
    for (std::size_t c = 0; c < columns.size(); ++c) {
      if (cells[r][c] < 0) continue;
      out += fmt::format(
          R"(<rect class="area a{}" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{}"><title>{}, {}: {}</title></rect>)",
          cells[r][c] % kColours, kLeft + width * static_cast<double>(c), top + 1, std::max(width - 1, 1.0), kCell - 2,
          escape(columns[c]), escape(rows[r]), escape(kinds.at(static_cast<std::size_t>(cells[r][c]))));
    }
  }
  for (std::size_t c = 0; c < columns.size(); c += step)
    out += fmt::format(R"(<text class="tick mid" x="{:.1f}" y="{:.1f}">{}</text>)",
                       kLeft + width * (static_cast<double>(c) + 0.5), bottom + 16, escape(columns[c]));
  out += fmt::format(R"(<text class="tick mid" x="{}" y="{:.1f}">{}</text>)", (kLeft + kWidth - kRight) / 2,
                     bottom + 36, escape(x_axis.title));
  return fmt::format(R"~({}<text class="tick mid" transform="translate(14 {}) rotate(-90)">{}</text>{}{}{})~", out,
                     (kTop + bottom) / 2, escape(y_axis.title), kCloseSvg, legend(kinds), kCloseFigure);
}

namespace {

constexpr double kLetter = 13;

/// Below what stands there already.
std::pair<double, double> free_place(std::vector<std::pair<double, double>>& taken, double x, double y) {
  const auto there = [&](const auto& place) {
    return std::abs(place.first - x) < kLetter && std::abs(place.second - y) < kLetter;
  };
  while (std::ranges::any_of(taken, there)) y += kLetter / 4;
  return taken.emplace_back(x, y);
}

}  // namespace

std::string scatter_chart(std::string_view label, const std::vector<Mark>& marks,
                          const std::vector<std::pair<double, double>>& roof, const Axis& x_axis, const Axis& y_axis,
                          std::size_t named) {
  Extent xs, ys;
  for (const Mark& mark : marks) {
    if (mark.x <= 0 || mark.y <= 0) continue;
    xs.take(mark.x);
    ys.take(mark.y);
  }
  if (xs.empty()) return nothing(label);
  for (const auto& [px, py] : roof) {
    xs.take(px);
    ys.take(py);
  }
  const Scale x{xs.low, xs.high, kLeft, kWidth - kRight, x_axis}, y{ys.low, ys.high, kHeight - kBottom, kTop, y_axis};
  std::string out = open_svg(label, kHeight) + axes(x, y, x_axis, y_axis);
  out += fmt::format(R"(<path class="limit" d="{}"/>)", path_of({"", roof}, x, y));
  std::string names;
  std::vector<std::pair<double, double>> places;
  for (std::size_t i = 0; i < marks.size(); ++i) {
    const Mark& mark = marks[i];
    if (mark.x <= 0 || mark.y <= 0) continue;
    const double radius = kLeastRadius + kRadius * std::sqrt(std::clamp(mark.weight, 0.0, 1.0));
    const std::string rate = readable(mark.y, y_axis.unit);
    out += fmt::format(R"(<circle class="mark" cx="{:.1f}" cy="{:.1f}" r="{:.1f}"><title>{}: {}</title></circle>)",
                       x(mark.x), y(mark.y), radius, escape(mark.name), escape(rate));
    if (i >= named) continue;
    const auto [px, py] = free_place(places, x(mark.x), y(mark.y) + radius + kLetter);
    out += fmt::format(R"(<text class="number" x="{:.1f}" y="{:.1f}">{}</text>)", px, py, i + 1);
    names += fmt::format("<li>{} {}: {}</li>", i + 1, escape(mark.name), escape(rate));
  }
  return fmt::format("{}{}{}{}", out, kCloseSvg,
                     names.empty() ? "" : fmt::format("<ul class=\"legend\">{}</ul>", names), kCloseFigure);
}

std::string tornado_chart(std::string_view label, const std::vector<Reach>& bars, double base, const Axis& x_axis) {
  constexpr double kNames = 210, kBar = 24;
  Extent xs;
  xs.take(base);
  for (const Reach& bar : bars) {
    xs.take(bar.least);
    xs.take(bar.most);
  }
  if (bars.empty() || !(xs.high > xs.low)) return nothing(label);
  const double bottom = kTop + kBar * static_cast<double>(bars.size());
  const Scale x{xs.low, xs.high, kNames, kWidth - kRight - 30, x_axis};
  std::string out = open_svg(label, bottom + kBottom);
  for (std::size_t i = 0; i < bars.size(); ++i) {
    const double top = kTop + kBar * static_cast<double>(i);
    out += fmt::format(R"(<text class="tick" x="{}" y="{:.1f}">{}</text>)", kNames - 6, top + 16, escape(bars[i].name));
    out += fmt::format(R"(<rect class="area a0" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{}"/>)", x(bars[i].least),
                       top + 3, x(bars[i].most) - x(bars[i].least), kBar - 6);
  }
  out += fmt::format(R"(<path class="limit" d="M{:.1f} {}V{}"/>)", x(base), kTop, bottom);
  for (const double v : x.ticks())
    out += fmt::format(R"(<text class="tick mid" x="{:.1f}" y="{}">{}</text>)", x(v), bottom + 16,
                       escape(tick_text(v, x_axis)));
  return out + fmt::format(R"(<text class="tick mid" x="{}" y="{}">{}</text>{}{})", (kNames + kWidth) / 2, bottom + 36,
                           escape(x_axis.title), kCloseSvg, kCloseFigure);
}

std::string share_bar(std::string_view label, const std::vector<std::pair<std::string, double>>& parts,
                      std::string_view unit) {
  double whole = 0;
  for (const auto& [name, value] : parts) whole += value;
  if (!(whole > 0)) return nothing(label);
  std::string out = open_svg(label, 40, "bar");
  std::vector<std::string> names;
  double at = 0;
  for (const auto& [name, value] : parts) {
    if (value <= 0) continue;
    const double width = value / whole * kWidth;
    out += fmt::format(R"(<rect class="area a{}" x="{:.2f}" y="4" width="{:.2f}" height="32"/>)",
                       names.size() % kColours, at, width);
    at += width;
    names.push_back(fmt::format("{}: {} ({:.1f} %)", name, readable(value, unit), value / whole * 100));
  }
  return fmt::format("{}{}{}{}", out, kCloseSvg, legend(names), kCloseFigure);
}

}  // namespace analysis
