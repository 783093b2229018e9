#include "workloads/data/dataset_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <span>

#include "base/error.h"
#include "base/suggest.h"
#include "base/text.h"

namespace workloads {
namespace {

using base::Error;
using base::Fault;
using nlohmann::json;

std::optional<std::size_t> position(const std::vector<std::string>& row, std::string_view name) {
  const auto at = std::ranges::find(row, name);
  return at == row.end() ? std::nullopt : std::optional{static_cast<std::size_t>(at - row.begin())};
}

std::optional<std::size_t> first_of(const std::vector<std::string>& row, const std::vector<std::string>& names) {
  for (const std::string& name : names)
    if (const auto at = position(row, name)) return at;
  return std::nullopt;
}

/// A column that is requested by name must exist.
std::optional<std::size_t> wanted(const std::vector<std::string>& row, const std::string& name, std::string_view flag,
                                  const RowSource& source) {
  if (name.empty()) return std::nullopt;
  if (const auto at = position(row, name)) return at;
  throw Error{Fault::kData, fmt::format("{}:1", source.name),
              fmt::format("has no column \"{}\" ({}); its columns: {}", name, flag, fmt::join(row, ", ")),
              base::suggest_fix(name, row)};
}

/// Strings unchanged, integers as digits; anything else is neither label nor text.
std::optional<std::string> as_text(const json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_integer()) return std::to_string(value.get<std::int64_t>());
  return std::nullopt;
}

std::string pick_key(const json& object, const std::string& asked, const std::vector<std::string>& usual) {
  if (!asked.empty()) return asked;
  for (const std::string& name : usual)
    if (object.contains(name)) return name;
  return usual.front();
}

/// The first of these keys whose value is a list.
const json* list_of(const json& object, const std::string& asked, std::initializer_list<const char*> usual) {
  const auto is_list = [&](const std::string& key) { return object.contains(key) && object.at(key).is_array(); };
  if (!asked.empty()) return is_list(asked) ? &object.at(asked) : nullptr;
  const auto* at = std::ranges::find_if(usual, is_list);
  return at == usual.end() ? nullptr : &object.at(*at);
}

/// A row of words with a label of each, if it is one.
bool take_words(const json& object, const ReadOptions& options, RawRow& row) {
  const json* words = list_of(object, options.text_column, {"tokens", "words"});
  const json* labels = list_of(object, options.label_column, {"ner_tags", "tags", "labels"});
  if (!words || !labels) return false;
  const auto take = [&](const json& list, std::vector<std::string>& into) {
    for (const json& value : list)
      if (const auto text = as_text(value))
        into.push_back(*text);
      else
        row.problem = "a word or label is neither a string nor an integer";
  };
  take(*words, row.words), take(*labels, row.word_labels);
  if (row.words.empty() && row.problem.empty()) row.problem = "has no word";
  return true;
}

RawRow json_row(const std::string& line, const ReadOptions& options) {
  RawRow row;
  const json object = base::is_shallow_json(line) ? json::parse(line, nullptr, false) : json();
  if (object.is_discarded() || !object.is_object()) {
    row.problem = "is not a JSON object";
    return row;
  }
  if (take_words(object, options, row)) return row;
  const std::string text_key = pick_key(object, options.text_column, usual_text_columns());
  const std::string label_key = pick_key(object, options.label_column, usual_label_columns());
  const auto take = [&](const std::string& key, std::string& into) {
    const auto value = object.contains(key) ? as_text(object.at(key)) : std::nullopt;
    if (value)
      into = *value;
    else if (row.problem.empty())
      row.problem = object.contains(key) ? fmt::format("\"{}\" is neither a string nor an integer", key)
                                         : fmt::format("has no \"{}\"", key);
  };
  take(text_key, row.text);
  take(label_key, row.label);
  return row;
}

}  // namespace

const std::vector<std::string>& usual_text_columns() {
  static const std::vector<std::string> names{"text", "sentence", "content", "tweet", "review", "document"};
  return names;
}

const std::vector<std::string>& usual_label_columns() {
  static const std::vector<std::string> names{"label",     "label_name", "labels", "emotion",
                                              "sentiment", "category",   "class"};
  return names;
}

Columns find_columns(const std::vector<std::string>& first_row, const RowSource& source) {
  const ReadOptions& options = source.options;
  auto text = wanted(first_row, options.text_column, "text_column", source);
  auto label = wanted(first_row, options.label_column, "label_column", source);
  if (!text) text = first_of(first_row, usual_text_columns());
  if (!label) label = first_of(first_row, usual_label_columns());
  const bool two = first_row.size() == 2;
  if (!text && !label && two) return {.unclear = true};
  if (two && text && !label) label = 1 - *text;  // the other one
  if (two && label && !text) text = 1 - *label;
  if (text && label && *text != *label)
    return {.text = *text, .label = *label, .count = first_row.size(), .header = true};
  throw Error{Fault::kData, fmt::format("{}:1", source.name),
              fmt::format("cannot tell which of the {} columns is the text and which the label: {}", first_row.size(),
                          fmt::join(first_row, ", ")),
              "name them with `text_column` and `label_column`, or give the file a header \"text,label\""};
}

RawRow row_of(std::vector<std::string> fields, const Columns& columns, std::size_t line) {
  RawRow row{.line = line};
  if (fields.size() != columns.count) {
    row.problem = fmt::format("has {} instead of {}", base::counted(fields.size(), "field"), columns.count);
  } else {
    row.text = std::move(fields[columns.text]);
    row.label = std::move(fields[columns.label]);
  }
  return row;
}

bool LaterRows::add(RawRow row) {
  if (!unclear_) return sink_(std::move(row));
  constexpr std::size_t kEnough = 1000;  // a label of a data set has been seen again by then
  const bool again = !held_.empty() && row.problem.empty() && row.label == held_.front().label;
  held_.push_back(std::move(row));
  return again || held_.size() > kEnough ? pass() : true;
}

void LaterRows::end() {
  if (unclear_) pass();
}

bool LaterRows::first_is_names() const {
  const auto whole = [](const std::string& label) {
    return !label.empty() && std::ranges::all_of(label, [](char c) { return c >= '0' && c <= '9'; });
  };
  std::size_t labels = 0, numbers = 0;
  std::set<std::string> different;
  for (const RawRow& row : std::span{held_}.subspan(1)) {
    if (!row.problem.empty()) continue;
    ++labels, numbers += whole(row.label) ? 1 : 0;
    different.insert(row.label);
  }
  const std::string& first = held_.front().label;
  if (labels == 0 || different.contains(first)) return false;
  return different.size() < labels || (numbers == labels && !whole(first));
}

bool LaterRows::pass() {
  unclear_ = false;
  if (held_.empty()) return true;
  for (std::size_t i = first_is_names() ? 1 : 0; i < held_.size(); ++i)
    if (!sink_(std::move(held_[i]))) return false;
  return true;
}

void read_tsv_rows(const RowSource& source, const RowSink& sink) {
  base::LineReader lines{source.in};
  std::string line;
  std::optional<Columns> columns;
  std::optional<LaterRows> rows;
  while (lines.next(line)) {
    if (line.empty()) continue;
    std::vector<std::string> fields = base::split(line, '\t');
    if (!columns) {
      columns = find_columns(fields, source);
      rows.emplace(sink, columns->unclear);
      if (columns->header) continue;
    }
    if (!rows->add(row_of(std::move(fields), *columns, lines.number()))) return;
  }
  if (rows) rows->end();
}

void read_semicolon_rows(const RowSource& source, const RowSink& sink) {
  base::LineReader lines{source.in};
  std::string line;
  const std::string& asked = source.options.label_column;
  while (lines.next(line)) {
    if (line.empty()) continue;
    const std::size_t at = line.rfind(';');
    RawRow row{.line = lines.number()};
    if (at == std::string::npos) {
      row.problem = "has no semicolon between text and label";
    } else {
      row.text = line.substr(0, at);
      row.label = line.substr(at + 1);
      const bool header = asked.empty() ? position(usual_label_columns(), row.label).has_value() : row.label == asked;
      if (lines.number() == 1 && header) continue;
    }
    if (!sink(std::move(row))) return;
  }
}

void read_conll_rows(const RowSource& source, const RowSink& sink) {
  base::LineReader lines{source.in};
  std::string line;
  RawRow row;
  const auto end = [&] {
    if (row.words.empty() && row.problem.empty()) return true;
    RawRow done = std::move(row);
    row = {};
    return sink(std::move(done));
  };
  while (lines.next(line)) {
    const std::size_t first = line.find_first_not_of(" \t"), last = line.find_last_not_of(" \t");
    if (first == std::string::npos || line.starts_with("-DOCSTART-")) {
      if (!end()) return;
      continue;
    }
    if (row.line == 0) row.line = lines.number();
    const std::size_t word = line.find_first_of(" \t", first), label = line.find_last_of(" \t", last);
    if (word == std::string::npos || word > last) {
      row.problem = fmt::format("line {} has a word without a label", lines.number());
      continue;
    }
    row.words.push_back(line.substr(first, word - first));
    row.word_labels.push_back(line.substr(label + 1, last - label));
  }
  end();
}

void read_json_lines_rows(const RowSource& source, const RowSink& sink) {
  base::LineReader lines{source.in};
  std::string line;
  while (lines.next(line)) {
    if (line.empty()) continue;
    if (lines.number() == 1 && line.front() == '[') {
      throw Error{Fault::kData, fmt::format("{}:1", source.name), "is a JSON array, but must have one object per line",
                  "convert it, for example with: jq -c '.[]' FILE > FILE.jsonl"};
    }
    RawRow row = json_row(line, source.options);
    row.line = lines.number();
    if (!sink(std::move(row))) return;
  }
}

}  // namespace workloads
