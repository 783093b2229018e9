#include "analysis/report/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/profile/views.h"
#include "analysis/report/chart_frame.h"

namespace analysis {

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
  std::vector<std::string> names;
  for (const Series& s : series) {
    names.push_back(s.name);
    for (const auto& [px, py] : s.points) {
      if (std::isfinite(py)) xs.take(px);
      ys.take(py);
    }
  }
  if (xs.empty()) return nothing(label);
  const auto draw = [&](const Frame& f) {
    const Scale x{xs.low, xs.high, f.left, f.end(), x_axis, f.ticks};
    const Scale y{std::min(ys.low, 0.0), ys.high, f.floor(), f.top, y_axis};
    std::string out = axes(f, x, y, x_axis, y_axis);
    for (std::size_t i = 0; i < series.size(); ++i)
      out += fmt::format(R"(<path class="line s{}" d="{}"/>)", i % kColours, path_of(series[i], x, y));
    return Picture{f.height, out};
  };
  return figure(label, draw, series.size() > 1 ? legend(names) : "");
}

namespace {

/// One kind of a stack, on top of `base`, which it raises.
std::string area_of(const std::vector<double>& values, std::vector<double>& base, const std::vector<double>& at,
                    double end, const Scale& x, const Scale& y) {
  std::string top, bottom;
  for (std::size_t i = 0; i < at.size(); ++i) {
    const double from = x(at[i]), to = x(i + 1 < at.size() ? at[i + 1] : end);
    const double low = y(base[i]), high = y(base[i] + values[i]);
    top += fmt::format("{}{:.1f} {:.1f}H{:.1f}", i == 0 ? 'M' : 'L', from, high, to);
    bottom.insert(0, fmt::format("L{:.1f} {:.1f}H{:.1f}", to, low, from));
    base[i] += values[i];
  }
  return top + bottom + "Z";
}

}  // namespace

std::string area_chart(std::string_view label, const Areas& areas, const std::optional<Limit>& limit,
                       const Axis& x_axis, const Axis& y_axis) {
  if (areas.kinds.empty() || areas.at.empty()) return nothing(label);
  Extent ys;
  ys.take(limit ? limit->value : 0);
  for (std::size_t i = 0; i < areas.at.size(); ++i) {
    double sum = 0;
    for (const auto& kind : areas.values) sum += kind[i];
    ys.take(sum);
  }
  const auto draw = [&](const Frame& f) {
    const Scale x{0, areas.end, f.left, f.end(), x_axis, f.ticks}, y{0, ys.high, f.floor(), f.top, y_axis};
    std::string out = axes(f, x, y, x_axis, y_axis);
    std::vector<double> base(areas.at.size(), 0);
    for (std::size_t k = 0; k < areas.kinds.size(); ++k)
      out += fmt::format(R"(<path class="area a{}" d="{}"/>)", k % kColours,
                         area_of(areas.values[k], base, areas.at, areas.end, x, y));
    if (limit)
      out += fmt::format(R"(<path class="limit" d="M{} {:.1f}H{}"/><text class="tick" x="{}" y="{:.1f}">{}</text>)",
                         f.left, y(limit->value), f.end(), f.end() - 4, y(limit->value) + 14, escape(limit->name));
    return Picture{f.height, out};
  };
  return figure(label, draw, legend(areas.kinds));
}

namespace {

constexpr double kLetter = 13;

/// A free place below earlier labels.
std::pair<double, double> free_place(std::vector<std::pair<double, double>>& taken, double x, double y) {
  const auto there = [&](const auto& place) {
    return std::abs(place.first - x) < kLetter && std::abs(place.second - y) < kLetter;
  };
  while (std::ranges::any_of(taken, there)) y += kLetter / 4;
  return taken.emplace_back(x, y);
}

/// Bubbles, the first `named` with their number.
std::string bubbles(const std::vector<Mark>& marks, std::size_t named, const Scale& x, const Scale& y,
                    const std::string& unit, double most) {
  constexpr double kLeastRadius = 4;  // of a mark without weight
  std::string out;
  std::vector<std::pair<double, double>> places;
  for (std::size_t i = 0; i < marks.size(); ++i) {
    const Mark& mark = marks[i];
    if (mark.x <= 0 || mark.y <= 0) continue;
    const double radius = kLeastRadius + most * std::sqrt(std::clamp(mark.weight, 0.0, 1.0));
    out += fmt::format(R"(<circle class="mark" cx="{:.1f}" cy="{:.1f}" r="{:.1f}"><title>{}: {}</title></circle>)",
                       x(mark.x), y(mark.y), radius, escape(mark.name), escape(readable(mark.y, unit)));
    if (i >= named) continue;
    const auto [px, py] = free_place(places, x(mark.x), y(mark.y) + radius + kLetter);
    out += fmt::format(R"(<text class="number" x="{:.1f}" y="{:.1f}">{}</text>)", px, py, i + 1);
  }
  return out;
}

}  // namespace

std::string scatter_chart(std::string_view label, const std::vector<Mark>& marks,
                          const std::vector<std::pair<double, double>>& roof, const Axis& x_axis, const Axis& y_axis,
                          std::size_t named) {
  Extent xs, ys;
  std::string names;
  for (std::size_t i = 0; i < marks.size(); ++i) {
    const Mark& mark = marks[i];
    if (mark.x <= 0 || mark.y <= 0) continue;
    xs.take(mark.x);
    ys.take(mark.y);
    if (i < named)
      names += fmt::format("<li>{} {}: {}</li>", i + 1, escape(mark.name), escape(readable(mark.y, y_axis.unit)));
  }
  if (xs.empty()) return nothing(label);
  for (const auto& [px, py] : roof) {
    xs.take(px);
    ys.take(py);
  }
  const auto draw = [&](const Frame& f) {
    const Scale x{xs.low, xs.high, f.left, f.end(), x_axis, f.ticks}, y{ys.low, ys.high, f.floor(), f.top, y_axis};
    return Picture{f.height, axes(f, x, y, x_axis, y_axis) +
                                 fmt::format(R"(<path class="limit" d="{}"/>)", path_of({"", roof}, x, y)) +
                                 bubbles(marks, named, x, y, y_axis.unit, f.narrow ? 14 : 24)};
  };
  return figure(label, draw, names.empty() ? "" : fmt::format("<ul class=\"legend\">{}</ul>", names));
}

std::string tornado_chart(std::string_view label, const std::vector<Reach>& bars, double base, const Axis& x_axis) {
  constexpr double kBar = 26;
  Extent xs;
  xs.take(base);
  for (const Reach& bar : bars) {
    xs.take(bar.least);
    xs.take(bar.most);
  }
  if (bars.empty() || !(xs.high > xs.low)) return nothing(label);
  const auto draw = [&](const Frame& f) {
    const double names = f.narrow ? 16 : 240, row = f.narrow ? 40 : kBar;
    const double bottom = f.top + row * static_cast<double>(bars.size());
    const Scale x{xs.low, xs.high, names, f.end() - 30, x_axis, f.ticks};
    std::string out;
    for (std::size_t i = 0; i < bars.size(); ++i) {
      const double top = f.top + row * static_cast<double>(i), bar = top + row - kBar;
      out += fmt::format(R"(<text class="tick{}" x="{}" y="{:.1f}">{}</text>)", f.narrow ? " begin" : "",
                         f.narrow ? names : names - 6, top + (f.narrow ? 12 : 17), escape(bars[i].name));
      out += fmt::format(R"(<rect class="area a0" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{}"/>)",
                         x(bars[i].least), bar + 3, x(bars[i].most) - x(bars[i].least), kBar - 6);
    }
    out += fmt::format(R"(<path class="limit" d="M{:.1f} {}V{}"/>)", x(base), f.top, bottom);
    return Picture{bottom + f.bottom, out + x_ticks(f, x, x_axis, bottom)};
  };
  return figure(label, draw, "");
}

std::string share_bar(std::string_view label, const std::vector<std::pair<std::string, double>>& parts,
                      std::string_view unit) {
  double whole = 0;
  for (const auto& [name, value] : parts) whole += value;
  if (!(whole > 0)) return nothing(label);
  std::string out = fmt::format(R"(<figure><figcaption>{}</figcaption><div class="parts" role="img" aria-label="{}">)",
                                escape(label), escape(label));
  std::vector<std::string> names;
  std::vector<std::size_t> colours;  // of a part by its place: one that is 0 does not change the others'
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto& [name, value] = parts[i];
    if (value <= 0) continue;
    const double share = value / whole * 100;
    out += fmt::format(R"(<span class="b{}" style="width:{:.3f}%"></span>)", i % kColours, share);
    names.push_back(fmt::format("{}: {} ({:.1f} %)", name, readable(value, unit), share));
    colours.push_back(i);
  }
  return out + "</div>" + legend(names, colours) + "</figure>\n";
}

}  // namespace analysis
