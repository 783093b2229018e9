// One printer for the tables of all verbs: --format table, json, csv, md.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace base {

enum class Format { kTable, kJson, kCsv, kMarkdown };
/// "table", "json", "csv", "md". Errors: Fault::kUsage with a suggestion.
Format parse_format(std::string_view name);

enum class Align { kLeft, kRight };

struct Column {
  std::string key;    // name in JSON and in the header of CSV: "predicted"
  std::string title;  // heading for people; empty: the key
  Align align = Align::kLeft;
};

/// A value and, if the plain value is not what people want to read, its text ("2.8 GHz"). JSON and CSV get the value,
/// tables and Markdown the text. A default Cell is empty: null in JSON.
struct Cell {
  Cell() = default;
  Cell(std::string_view text) : value{std::string{text}} {}
  Cell(const std::string& text) : value{text} {}
  Cell(const char* text) : value{std::string{text}} {}
  Cell(double number, std::string shown = {}) : value{number}, text{std::move(shown)} {}
  Cell(std::int64_t number, std::string shown = {}) : value{number}, text{std::move(shown)} {}
  Cell(int number, std::string shown = {}) : Cell{std::int64_t{number}, std::move(shown)} {}
  Cell(std::uint64_t number, std::string shown = {}) : Cell{static_cast<std::int64_t>(number), std::move(shown)} {}
  Cell(bool flag) : value{flag} {}
  // libstdc++ 12 takes a variant with a text for one that is never without a value, and crashes where memory runs out
  // while it copies one.
  Cell(const Cell& other) : text{other.text} {
    std::visit([this](const auto& held) { value = held; }, other.value);
  }
  Cell(Cell&&) noexcept = default;
  Cell& operator=(Cell other) noexcept {
    value.swap(other.value), text.swap(other.text);
    return *this;
  }
  ~Cell() = default;

  std::variant<std::monostate, std::string, double, std::int64_t, bool> value;
  std::string text;
};

class Table {
 public:
  explicit Table(std::vector<Column> columns);

  /// Errors: Fault::kInternal when there are not as many cells as columns.
  void add_row(std::vector<Cell> cells);
  std::size_t rows() const { return rows_.size(); }
  const std::vector<Column>& columns() const { return columns_; }
  const std::vector<std::vector<Cell>>& cells() const { return rows_; }

  /// Ends with a newline. JSON is a list of objects; a number that is not finite is null there and empty in CSV.
  /// `width`: columns of the terminal that a table for people has to fit, 0: any number. Text is broken between words;
  /// a table that is still too wide is printed row by row, a line for each cell.
  std::string render(Format format, int width = 0) const;

 private:
  std::string render_text(int width) const;
  std::string render_json() const;
  std::string render_csv() const;
  std::string render_markdown() const;

  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

}  // namespace base
