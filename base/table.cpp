#include "base/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <nlohmann/json.hpp>

#include "base/csv.h"
#include "base/error.h"
#include "base/suggest.h"
#include "base/table_text.h"
#include "base/terminal.h"
#include "base/text.h"

namespace base {
namespace {

const std::array<std::string, 4> kFormatNames = {"table", "json", "csv", "md"};  // in the order of Format

struct PlainText {
  std::string operator()(std::monostate) const { return ""; }
  std::string operator()(const std::string& text) const { return text; }
  std::string operator()(double number) const { return std::isfinite(number) ? fmt::format("{}", number) : ""; }
  std::string operator()(std::int64_t number) const { return fmt::format("{}", number); }
  std::string operator()(bool flag) const { return flag ? "true" : "false"; }
};

struct ToJson {
  nlohmann::ordered_json operator()(std::monostate) const { return nullptr; }
  nlohmann::ordered_json operator()(double number) const {
    return std::isfinite(number) ? nlohmann::ordered_json(number) : nlohmann::ordered_json(nullptr);
  }
  nlohmann::ordered_json operator()(const auto& value) const { return value; }
};

std::string plain(const Cell& cell) { return std::visit(PlainText{}, cell.value); }

std::string shown(const Cell& cell) { return cell.text.empty() ? plain(cell) : cell.text; }

const std::string& heading(const Column& column) { return column.title.empty() ? column.key : column.title; }

std::string replace_all(std::string text, std::string_view what, std::string_view with) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size()) {
    text.replace(at, what.size(), with);
  }
  return text;
}

std::string one_line(std::string text) {
  return without_controls(replace_all(replace_all(std::move(text), "\r", ""), "\n", " "));
}

}  // namespace

Format parse_format(std::string_view name) {
  const auto it = std::ranges::find(kFormatNames, name);
  if (it != kFormatNames.end()) return static_cast<Format>(it - kFormatNames.begin());
  throw Error{Fault::kUsage, "`format`", fmt::format("\"{}\" is not a format", name), suggest_fix(name, kFormatNames)};
}

Table::Table(std::vector<Column> columns) : columns_{std::move(columns)} {}

void Table::add_row(std::vector<Cell> cells) {
  ensure(cells.size() == columns_.size(), "table",
         fmt::format("{} for {}", base::counted(cells.size(), "cell"), base::counted(columns_.size(), "column")));
  rows_.push_back(std::move(cells));
}

std::string Table::render(Format format, int width) const {
  switch (format) {
    case Format::kTable: return render_text(width);
    case Format::kJson: return render_json();
    case Format::kCsv: return render_csv();
    case Format::kMarkdown: return render_markdown();
  }
  throw Error{Fault::kInternal, "table", "no such format", "please report this"};
}

std::string Table::render_text(int width) const {
  TextGrid lines(1);
  std::vector<bool> right;
  for (const Column& column : columns_) {
    lines[0].push_back(heading(column));
    right.push_back(column.align == Align::kRight);
  }
  for (const auto& row : rows_) {
    auto& line = lines.emplace_back();
    for (const Cell& cell : row) line.push_back(one_line(shown(cell)));
  }
  return layout(lines, right, width);
}

std::string Table::render_json() const {
  auto list = nlohmann::ordered_json::array();
  for (const auto& row : rows_) {
    auto object = nlohmann::ordered_json::object();
    for (std::size_t c = 0; c < row.size(); ++c) object[columns_[c].key] = std::visit(ToJson{}, row[c].value);
    list.push_back(std::move(object));
  }
  // A byte that is not UTF-8 (from a user's file) becomes U+FFFD rather than an exception.
  return list.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::string Table::render_csv() const {
  std::string out;
  for (std::size_t c = 0; c < columns_.size(); ++c) out += (c > 0 ? "," : "") + csv_cell(columns_[c].key);
  out += "\n";
  for (const auto& row : rows_) {
    for (std::size_t c = 0; c < row.size(); ++c) out += (c > 0 ? "," : "") + csv_cell(plain(row[c]));
    out += "\n";
  }
  return out;
}

std::string Table::render_markdown() const {
  const auto escaped = [](const std::string& text) { return replace_all(one_line(text), "|", "\\|"); };
  std::string header = "|", rule = "|";
  for (const Column& column : columns_) {
    header += fmt::format(" {} |", escaped(heading(column)));
    rule += column.align == Align::kRight ? "---:|" : "---|";
  }
  std::string out = header + "\n" + rule + "\n";
  for (const auto& row : rows_) {
    out += "|";
    for (const Cell& cell : row) out += fmt::format(" {} |", escaped(shown(cell)));
    out += "\n";
  }
  return out;
}

}  // namespace base
