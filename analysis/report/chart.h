// Charts as inline SVG: no script, no network, colours by the page's style. Text is escaped here. Each is a figure
// whose caption is its label.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace analysis {

/// `text` for HTML and SVG, in elements and in quoted attributes.
std::string escape(std::string_view text);

/// `unit` as in readable() of views.h: "s", "B", "%", "FLOP/s", ... or "" for plain numbers.
struct Axis {
  std::string title, unit;
  bool logarithmic = false;
  bool whole = false;  // ticks at whole numbers only
};

struct Series {
  std::string name;
  std::vector<std::pair<double, double>> points{};
};
/// A horizontal line, such as a capacity.
struct Limit {
  std::string name;
  double value = 0;
};

/// Points that are not finite break the line; more than 1000 are thinned out.
std::string line_chart(std::string_view label, const std::vector<Series>& series, const Axis& x, const Axis& y);

/// Quantities on top of each other: `values[kind][i]` holds from `at[i]` to `at[i + 1]`, the last one to `end`.
struct Areas {
  std::vector<std::string> kinds;
  std::vector<std::vector<double>> values;
  std::vector<double> at;
  double end = 0;
};
std::string area_chart(std::string_view label, const Areas& areas, const std::optional<Limit>& limit, const Axis& x,
                       const Axis& y);

/// `values[row][column]` from 0 to 1; the columns divide 0 to `end` evenly.
std::string heat_map(std::string_view label, const std::vector<std::string>& rows,
                     const std::vector<std::vector<double>>& values, double end, const Axis& x);

/// A grid of kinds: `cells[row][column]` is a kind, or -1 for none.
struct Grid {
  std::vector<std::string> rows, columns;
  std::vector<std::vector<int>> cells;
  std::vector<std::string> kinds;
};
std::string category_map(std::string_view label, const Grid& grid, const Axis& x, const Axis& y);

/// A point with the name that pops up; its area is in proportion to its weight (0 to 1).
struct Mark {
  std::string name;
  double x = 0, y = 0, weight = 0;
};
/// Both axes logarithmic; `roof` is drawn through the points given. The first `named` marks are numbered, and a list
/// below has their names.
std::string scatter_chart(std::string_view label, const std::vector<Mark>& marks,
                          const std::vector<std::pair<double, double>>& roof, const Axis& x, const Axis& y,
                          std::size_t named = 0);

/// A bar from the least to the most that something reaches, on both sides of its present value.
struct Reach {
  std::string name;
  double least = 0, most = 0;
};
/// In the order given; `base` is drawn as a line through all bars.
std::string tornado_chart(std::string_view label, const std::vector<Reach>& bars, double base, const Axis& x);

/// Parts of a whole, side by side, with a legend.
std::string share_bar(std::string_view label, const std::vector<std::pair<std::string, double>>& parts,
                      std::string_view unit);

}  // namespace analysis
