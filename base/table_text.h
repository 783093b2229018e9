// Tables as text in columns, for people.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace base {

using TextGrid = std::vector<std::vector<std::string>>;

/// Lines of cells, the headings first, side by side; `right`: columns aligned at their right. `width`: of the terminal,
/// 0: any. Text is broken between words; a table that is still too wide is printed row by row, a line for each cell.
std::string layout(const TextGrid& lines, const std::vector<bool>& right, int width);

/// `text` in lines of at most `width` columns, broken between words alone; a longer word has a line of its own. 0: one
/// line.
std::vector<std::string> wrapped(std::string_view text, int width);

}  // namespace base
