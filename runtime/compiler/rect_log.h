// Rectangles of a tensor in HBM in the order in which they were touched, and those of them that meet another one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "runtime/compiler/dependences.h"

namespace runtime {

/// A list of `Rect`, which is a HbmRect and more. Neighbours have a common range of bytes, and so have neighbours of
/// these ranges: instructions walk through a tensor, so that nearly all of a long list is passed over at once. Places
/// of dropped ones stay until they are half of the list.
template <class Rect>
class RectLog {
 public:
  void add(const Rect& rect) {
    std::size_t at = rects_.size();
    rects_.push_back(rect);
    for (std::size_t level = 0;; ++level) {
      at /= kFan;
      if (level == levels_.size()) {
        if (at == 0) return;
        levels_.push_back({level == 0 ? whole(rects_) : whole(levels_.back())});
      }
      std::vector<Range>& ranges = levels_[level];
      if (at == ranges.size()) ranges.emplace_back();
      ranges[at].add(rect);
    }
  }

  /// visit(rect) for each that meets `rect`.
  void each(const HbmRect& rect, const auto& visit) const {
    find(rect, [&](std::size_t i) { visit(rects_[i]); });
  }

  /// Forgets those that `rect` covers.
  void drop_covered(const HbmRect& rect) {
    find(rect, [&](std::size_t i) {
      if (!rect.covers(rects_[i])) return;
      static_cast<HbmRect&>(rects_[i]) = kNowhere;
      ++dropped_;
    });
    if (dropped_ < kFan || 2 * dropped_ < rects_.size()) return;
    std::vector<Rect> left = std::exchange(rects_, {});
    levels_.clear(), dropped_ = 0;
    for (const Rect& kept : left)
      if (kept.low < kept.high) add(kept);
  }

 private:
  static constexpr std::size_t kFan = 16;
  static constexpr HbmRect kNowhere{.low = std::numeric_limits<std::int64_t>::max(),
                                    .high = std::numeric_limits<std::int64_t>::min()};

  struct Range {
    std::int64_t low = std::numeric_limits<std::int64_t>::max(), high = std::numeric_limits<std::int64_t>::min();
    void add(const auto& other) { low = std::min(low, other.low), high = std::max(high, other.high); }
  };

  static Range whole(const auto& parts) {
    Range all;
    for (const auto& part : parts) all.add(part);
    return all;
  }

  /// visit(place) for each that meets `rect`.
  void find(const HbmRect& rect, const auto& visit) const {
    if (levels_.empty()) return scan(rect, 0, rects_.size(), visit);
    descend(rect, levels_.size() - 1, 0, levels_.back().size(), visit);
  }

  void scan(const HbmRect& rect, std::size_t begin, std::size_t end, const auto& visit) const {
    for (std::size_t i = begin; i < end; ++i)
      if (rect.meets(rects_[i])) visit(i);
  }

  void descend(const HbmRect& rect, std::size_t level, std::size_t begin, std::size_t end, const auto& visit) const {
    const std::size_t below = level == 0 ? rects_.size() : levels_[level - 1].size();
    for (std::size_t i = begin; i < end; ++i) {
      if (rect.low >= levels_[level][i].high || levels_[level][i].low >= rect.high) continue;
      const std::size_t first = i * kFan, last = std::min(first + kFan, below);
      if (level == 0)
        scan(rect, first, last, visit);
      else
        descend(rect, level - 1, first, last, visit);
    }
  }

  std::vector<Rect> rects_;
  std::vector<std::vector<Range>> levels_;  // the ranges of kFan each of the level below
  std::size_t dropped_ = 0;                 // of rects_
};

}  // namespace runtime
