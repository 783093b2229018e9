#include "base/table_text.h"

#include <algorithm>

#include "base/terminal.h"
#include "base/text.h"

namespace base {
namespace {

constexpr int kGap = 2;      // between two columns
constexpr int kNarrow = 12;  // text is not squeezed below it

std::string padded(const std::string& text, int width, bool right) {
  const std::string space(static_cast<std::size_t>(std::max(0, width - display_width(text))), ' ');
  return right ? space + text : text + space;
}

std::string without_trailing_space(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

int longest_word(const TextGrid& lines, std::size_t column) {
  int most = 0;
  for (const auto& line : lines)
    for (const std::string& word : split(line[column], ' ')) most = std::max(most, display_width(word));
  return most;
}

int total(const std::vector<int>& widths) {
  int sum = -kGap;
  for (const int width : widths) sum += width + kGap;
  return sum;
}

/// Takes from the widest column of text until all fit; false: their words do not allow it.
bool squeeze(std::vector<int>& widths, const TextGrid& lines, const std::vector<bool>& right, int width) {
  std::vector<int> least = widths;
  for (std::size_t c = 0; c < widths.size(); ++c)
    if (!right[c]) least[c] = std::min(widths[c], std::max(kNarrow, longest_word(lines, c)));
  if (total(least) > width) return false;
  while (total(widths) > width) {
    std::size_t widest = widths.size();
    for (std::size_t c = 0; c < widths.size(); ++c)
      if (widths[c] > least[c] && (widest == widths.size() || widths[c] > widths[widest])) widest = c;
    --widths[widest];
  }
  return true;
}

/// A row's cells one below the other, behind their headings.
std::string as_records(const TextGrid& lines, int width) {
  int names = 0;
  for (const std::string& name : lines.front()) names = std::max(names, display_width(name));
  std::string out;
  for (std::size_t r = 1; r < lines.size(); ++r) {
    if (r > 1) out += "\n";
    for (std::size_t c = 0; c < lines[r].size(); ++c) {
      if (lines[r][c].empty()) continue;
      std::string name = padded(lines.front()[c], names, false);
      for (const std::string& part : wrapped(lines[r][c], std::max(kNarrow, width - names - kGap))) {
        out += without_trailing_space(name + std::string(kGap, ' ') + part) + "\n";
        name.assign(static_cast<std::size_t>(names), ' ');
      }
    }
  }
  return out;
}

/// A line of cells, as many lines high as its highest cell.
std::string side_by_side(const std::vector<std::string>& line, const std::vector<int>& widths,
                         const std::vector<bool>& right, bool breaks) {
  TextGrid cells;
  std::size_t height = 1;
  for (std::size_t c = 0; c < line.size(); ++c) {
    cells.push_back(wrapped(line[c], breaks && !right[c] ? widths[c] : 0));
    height = std::max(height, cells.back().size());
  }
  std::string out;
  for (std::size_t h = 0; h < height; ++h) {
    std::string text;
    for (std::size_t c = 0; c < cells.size(); ++c)
      text +=
          (c > 0 ? std::string(kGap, ' ') : "") + padded(h < cells[c].size() ? cells[c][h] : "", widths[c], right[c]);
    out += without_trailing_space(std::move(text)) + "\n";
  }
  return out;
}

}  // namespace

std::vector<std::string> wrapped(std::string_view text, int width) {
  if (width <= 0 || display_width(text) <= width) return {std::string{text}};
  std::vector<std::string> lines(1);
  for (const std::string& word : split(text, ' ')) {
    std::string& line = lines.back();
    if (line.empty())
      line = word;
    else if (display_width(line) + 1 + display_width(word) <= width)
      line += " " + word;
    else
      lines.push_back(word);
  }
  return lines;
}

std::string layout(const TextGrid& lines, const std::vector<bool>& right, int width) {
  std::vector<int> widths(right.size());
  for (const auto& line : lines)
    for (std::size_t c = 0; c < widths.size(); ++c) widths[c] = std::max(widths[c], display_width(line[c]));
  const bool narrow = width > 0 && total(widths) > width;
  if (narrow && !squeeze(widths, lines, right, width)) return as_records(lines, width);
  std::string out;
  for (const auto& line : lines) out += side_by_side(line, widths, right, narrow);
  return out;
}

}  // namespace base
