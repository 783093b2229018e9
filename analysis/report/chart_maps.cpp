// Grids: how much, by the strength of a colour; which of several kinds, by the colour.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/report/chart_frame.h"

namespace analysis {
namespace {

/// Neighbours that look the same are one rectangle: without seams, and a long step makes no large page.
std::string heat_row(const Frame& f, const std::vector<double>& shares, double top, double height) {
  const double width = f.inner() / static_cast<double>(shares.size());
  const auto level = [&](std::size_t c) { return std::round(std::clamp(shares[c], 0.0, 1.0) * 100); };
  std::string out;
  for (std::size_t begin = 0, end = 0; begin < shares.size(); begin = end) {
    while (end < shares.size() && level(end) == level(begin)) ++end;
    if (level(begin) == 0) continue;
    out += fmt::format(R"(<rect class="heat" x="{:.2f}" y="{:.1f}" width="{:.2f}" height="{}" opacity="{:.2f}"/>)",
                       f.left + width * static_cast<double>(begin), top, width * static_cast<double>(end - begin),
                       height, level(begin) / 100);
  }
  return out;
}

/// The legend of the colours, at the right end.
std::string heat_scale(const Frame& f, double top) {
  constexpr double kBox = 18;
  constexpr int kBoxes = 5;
  const double right = f.end() - 40, left = right - kBoxes * kBox;
  std::string out = fmt::format(R"(<text class="tick" x="{}" y="{}">0 %</text>)", left - 6, top + 11);
  for (int i = 1; i <= kBoxes; ++i)
    out += fmt::format(R"(<rect class="heat" x="{}" y="{}" width="{}" height="12" opacity="{:.2f}"/>)",
                       left + (i - 1) * kBox, top, kBox, i / static_cast<double>(kBoxes));
  return out + fmt::format(R"(<text class="tick" x="{}" y="{}">100 %</text>)", f.end(), top + 11);
}

/// The cells of a map, each with a tooltip.
std::string cells_of(const Frame& f, double cell, const Grid& grid) {
  const auto& [rows, columns, cells, kinds] = grid;
  const double width = f.inner() / static_cast<double>(columns.size());
  std::string out;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const double top = f.top + cell * static_cast<double>(r);
    out += fmt::format(R"(<text class="tick" x="{}" y="{:.1f}">{}</text>)", f.left - 6, top + 15, escape(rows[r]));
    for (std::size_t c = 0; c < columns.size(); ++c) {
      if (cells[r][c] < 0) continue;
      out += fmt::format(
          R"(<rect class="area a{}" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{}"><title>{}, {}: {}</title></rect>)",
          static_cast<std::size_t>(cells[r][c]) % kColours, f.left + width * static_cast<double>(c), top + 1,
          std::max(width - 1, 1.0), cell - 2, escape(columns[c]), escape(rows[r]),
          escape(kinds.at(static_cast<std::size_t>(cells[r][c]))));
    }
  }
  return out;
}

}  // namespace

std::string heat_map(std::string_view label, const std::vector<std::string>& rows,
                     const std::vector<std::vector<double>>& values, double end, const Axis& x_axis) {
  if (rows.empty() || values.front().empty()) return nothing(label);
  const auto draw = [&](const Frame& f) {
    const double height = rows.size() > 12 ? 14 : 22, bottom = f.top + height * static_cast<double>(rows.size());
    const Scale x{0, end, f.left, f.end(), x_axis, f.ticks};
    std::string out;
    for (std::size_t r = 0; r < rows.size(); ++r) {
      const double top = f.top + height * static_cast<double>(r);
      out += fmt::format(R"(<text class="tick" x="{}" y="{:.1f}">{}</text>)", f.left - 6, top + height / 2 + 4,
                         escape(rows[r]));
      out += heat_row(f, values[r], top + 1, height - 2);
    }
    return Picture{bottom + f.bottom + 26, out + x_ticks(f, x, x_axis, bottom) + heat_scale(f, bottom + 50)};
  };
  return figure(label, draw, "");
}

std::string category_map(std::string_view label, const Grid& grid, const Axis& x_axis, const Axis& y_axis) {
  constexpr double kCell = 22;
  if (grid.rows.empty() || grid.columns.empty()) return nothing(label);
  const auto draw = [&](const Frame& f) {
    const std::size_t most = f.narrow ? 4 : 10;  // names that fit side by side
    const double bottom = f.top + kCell * static_cast<double>(grid.rows.size());
    const double width = f.inner() / static_cast<double>(grid.columns.size());
    std::string out = cells_of(f, kCell, grid);
    for (std::size_t c = 0; c < grid.columns.size(); c += (grid.columns.size() - 1) / most + 1)
      out += fmt::format(R"(<text class="tick mid" x="{:.1f}" y="{:.1f}">{}</text>)",
                         f.left + width * (static_cast<double>(c) + 0.5), bottom + 16, escape(grid.columns[c]));
    out += fmt::format(R"(<text class="tick mid" x="{}" y="{:.1f}">{}</text>)", (f.left + f.end()) / 2, bottom + 36,
                       escape(x_axis.title));
    constexpr double kLetter = 7;  // the label above has the name of an axis that is longer than its side
    if (!f.narrow && kLetter * static_cast<double>(y_axis.title.size()) <= bottom - f.top)
      out += fmt::format(R"~(<text class="tick mid" transform="translate(14 {}) rotate(-90)">{}</text>)~",
                         (f.top + bottom) / 2, escape(y_axis.title));
    return Picture{bottom + f.bottom, out};
  };
  return figure(label, draw, legend(grid.kinds));
}

}  // namespace analysis
