// Shared by the charts: the area that they are drawn on, scales, axes. Each chart is drawn twice, for a wide window
// and for a phone, and the page's style shows one of them: letters keep their size.
#pragma once

#include <cmath>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/report/chart.h"

namespace analysis {

struct Frame {
  double width, height, left, right, top, bottom;
  std::size_t ticks;  // of an axis, about
  bool narrow;

  double inner() const { return width - left - right; }
  double end() const { return width - right; }
  double floor() const { return height - bottom; }
};
inline constexpr Frame kWide{920, 300, 104, 24, 12, 44, 6, false}, kNarrow{360, 260, 88, 14, 12, 44, 3, true};

inline constexpr std::size_t kColours = 8;  // classes s0 to s7 of the page's style

/// Values of an axis to places on the picture.
class Scale {
 public:
  Scale(double low, double high, double begin, double end, const Axis& axis, std::size_t ticks = 6);
  double operator()(double value) const {
    const double v = axis_.logarithmic ? std::log10(value) : value;
    return begin_ + (v - low_) / (high_ - low_) * (end_ - begin_);
  }
  /// 1, 2 or 5 times a power of ten apart (bytes: a power of two); these themselves when logarithmic.
  std::vector<double> ticks() const;

 private:
  std::vector<double> logarithmic_ticks() const;

  const Axis& axis_;
  double low_, high_, begin_, end_;
  std::size_t ticks_;
};

struct Extent {
  double low = INFINITY, high = -INFINITY;
  void take(double value) {
    if (!std::isfinite(value)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  bool empty() const { return !(low <= high); }
};

/// The content of a frame: its height and the elements of its picture.
struct Picture {
  double height = 0;
  std::string body;
};
/// A figure with its caption, the picture for both widths, and the text below it.
std::string figure(std::string_view label, const std::function<Picture(const Frame&)>& draw, std::string_view below);

std::string tick_text(double value, const Axis& axis);
/// Grid, ticks and titles of both axes.
std::string axes(const Frame& frame, const Scale& x, const Scale& y, const Axis& x_axis, const Axis& y_axis);
/// Ticks and title of an axis whose line is at `bottom`.
std::string x_ticks(const Frame& frame, const Scale& x, const Axis& axis, double bottom);
std::string legend(const std::vector<std::string>& names, const std::vector<std::size_t>& colours = {});
std::string nothing(std::string_view label);
/// Points that are not finite break the line.
std::string path_of(const Series& series, const Scale& x, const Scale& y);

}  // namespace analysis
