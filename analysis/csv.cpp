#include "analysis/csv.h"

#include <csv.h>
#include <fmt/format.h>

#include <fstream>
#include <iterator>

#include "base/error.h"

namespace analysis {
namespace {

using base::Error;
using base::Fault;

/// What libcsv's callbacks fill. They are called from C, so they must not throw.
struct Sink {
  std::vector<CsvRecord> records;
  std::vector<std::string> cells;
  int line = 1;   // of the text that is being fed
  int start = 1;  // of the record in progress
};

void end_cell(void* text, std::size_t size, void* sink) {
  static_cast<Sink*>(sink)->cells.emplace_back(static_cast<const char*>(text), size);
}

void end_record(int, void* data) {
  auto& sink = *static_cast<Sink*>(data);
  sink.records.push_back({sink.start, std::move(sink.cells)});
  sink.cells.clear();
  sink.start = sink.line + 1;
}

class Parser {
 public:
  Parser() { base::ensure(csv_init(&parser_, CSV_STRICT | CSV_STRICT_FINI) == 0, "read_csv", "libcsv did not start"); }
  ~Parser() { csv_free(&parser_); }
  Parser(const Parser&) = delete;
  Parser& operator=(const Parser&) = delete;

  /// Fed line by line, because libcsv itself does not count lines.
  std::vector<CsvRecord> parse(std::string_view text, const std::string& name) {
    while (!text.empty()) {
      const std::string_view line = text.substr(0, std::min(text.find('\n'), text.size() - 1) + 1);
      if (csv_parse(&parser_, line.data(), line.size(), end_cell, end_record, &sink_) != line.size()) fail(name);
      if (sink_.cells.empty() && line.find_first_not_of("\r\n") == std::string_view::npos) sink_.start = sink_.line + 1;
      ++sink_.line;
      text.remove_prefix(line.size());
    }
    if (csv_fini(&parser_, end_cell, end_record, &sink_) != 0) fail(name);
    return std::move(sink_.records);
  }

 private:
  [[noreturn]] void fail(const std::string& name) {
    throw Error{Fault::kData, fmt::format("{}:{}", name, sink_.start),
                fmt::format("broken quoting ({})", csv_strerror(csv_error(&parser_))),
                "double every quote inside a quoted cell and close the last one"};
  }

  csv_parser parser_{};
  Sink sink_;
};

}  // namespace

std::string CsvTable::where(const CsvRecord& record) const { return fmt::format("{}:{}", path, record.line); }

CsvTable parse_csv(std::string_view text, std::string name) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);  // a byte order mark, as spreadsheets write it
  CsvTable table{.path = std::move(name), .header = {}, .records = {}};
  std::vector<CsvRecord> records = Parser{}.parse(text, table.path);
  if (records.empty()) throw Error{Fault::kData, table.path, "is empty", "give a table with a header line"};
  table.header = std::move(records.front().cells);
  table.records.assign(std::make_move_iterator(records.begin() + 1), std::make_move_iterator(records.end()));
  for (const CsvRecord& record : table.records) {
    if (record.cells.size() == table.header.size()) continue;
    throw Error{Fault::kData, table.where(record),
                fmt::format("has {} cells but the header has {}", record.cells.size(), table.header.size()),
                "quote cells that contain commas"};
  }
  return table;
}

CsvTable read_csv(const std::filesystem::path& path) {
  std::ifstream file{path, std::ios::binary};
  if (!file || std::filesystem::is_directory(path)) {
    throw Error{Fault::kData, path.string(), "cannot be read", "check the path and its permissions"};
  }
  const std::string text{std::istreambuf_iterator<char>{file}, {}};
  return parse_csv(text, path.string());
}

std::string csv_line(std::span<const std::string> cells) {
  std::string line;
  for (const std::string& cell : cells) {
    if (!line.empty() || &cell != cells.data()) line += ',';
    if (cell.find_first_of(",\"\r\n") == std::string::npos) {
      line += cell;
      continue;
    }
    std::string quoted(2 * cell.size() + 2, '\0');
    quoted.resize(csv_write(quoted.data(), quoted.size(), cell.data(), cell.size()));
    line += quoted;
  }
  return line + '\n';
}

}  // namespace analysis
