// Comma-separated files, by libcsv in its strict mode.
#include <csv.h>
#include <fmt/format.h>

#include <memory>
#include <optional>

#include "base/error.h"
#include "workloads/data/dataset_rows.h"

namespace workloads {
namespace {

/// libcsv, fed one line at a time so that every row knows where it starts and a broken row costs no other.
class CsvParser {
 public:
  CsvParser() { start(); }
  ~CsvParser() { csv_free(&parser_); }
  CsvParser(const CsvParser&) = delete;
  CsvParser& operator=(const CsvParser&) = delete;

  enum class State { kRowDone, kInsideRow, kBroken };

  /// Takes one line with its newline. After kRowDone fields() is the row.
  State feed(std::string_view line) {
    if (done_) fields_.clear();
    done_ = false;
    const std::size_t used = csv_parse(&parser_, line.data(), line.size(), on_field, on_row, this);
    if (used == line.size()) return done_ ? State::kRowDone : State::kInsideRow;
    csv_free(&parser_);
    start();
    return State::kBroken;
  }
  std::vector<std::string>& fields() { return fields_; }

 private:
  void start() {
    base::ensure(csv_init(&parser_, CSV_STRICT | CSV_STRICT_FINI) == 0, "csv", "csv_init failed");
    csv_set_space_func(&parser_, [](unsigned char) { return 0; });  // blanks belong to the field, as in RFC 4180
    fields_.clear();
    done_ = false;
  }
  static void on_field(void* data, std::size_t size, void* self) {
    static_cast<CsvParser*>(self)->fields_.emplace_back(static_cast<const char*>(data), size);
  }
  static void on_row(int, void* self) { static_cast<CsvParser*>(self)->done_ = true; }

  csv_parser parser_{};
  std::vector<std::string> fields_;
  bool done_ = false;
};

/// \" becomes "" and \\ becomes \: libcsv knows only the first kind of escape.
std::string doubled_quotes(std::string_view line) {
  std::string out;
  out.reserve(line.size() + 4);
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char following = i + 1 < line.size() ? line[i + 1] : '\0';
    if (line[i] != '\\' || (following != '"' && following != '\\')) {
      out += line[i];
      continue;
    }
    out += following == '"' ? "\"\"" : "\\";
    ++i;
  }
  return out;
}

RawRow data_row(std::vector<std::string>& fields, const Columns& columns, std::size_t line) {
  RawRow row{.line = line};
  if (fields.size() != columns.count) {
    row.problem = fmt::format("has {} fields instead of {}", fields.size(), columns.count);
  } else {
    row.text = std::move(fields[columns.text]);
    row.label = std::move(fields[columns.label]);
  }
  return row;
}

}  // namespace

void read_csv_rows(const RowSource& source, const RowSink& sink) {
  LineReader lines{source.in};
  CsvParser parser;
  std::optional<Columns> columns;
  std::string line;
  std::size_t row_start = 1;
  bool inside = false;
  while (lines.next(line)) {
    if (!inside && line.empty()) continue;
    if (!inside) row_start = lines.number();
    line += '\n';
    const auto state = parser.feed(source.options.backslash_escapes ? doubled_quotes(line) : line);
    inside = state == CsvParser::State::kInsideRow;
    if (inside) continue;
    if (state == CsvParser::State::kBroken) {
      if (!sink({.line = row_start, .problem = "has a quote inside an unquoted field, or text behind a closing quote"}))
        return;
      continue;
    }
    if (!columns) {
      columns = find_columns(parser.fields(), source);
      if (columns->header) continue;
    }
    if (!sink(data_row(parser.fields(), *columns, row_start))) return;
  }
  if (!inside) return;
  throw base::Error{base::Fault::kData, fmt::format("{}:{}", source.name, row_start),
                    "opens a quote that never closes: every row behind it is lost",
                    "close the quote; a quote inside a quoted field is written \"\""};
}

}  // namespace workloads
