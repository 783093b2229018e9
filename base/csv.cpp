#include "base/csv.h"

#include <csv.h>
#include <fmt/format.h>

#include <sstream>

#include "base/error.h"
#include "base/files.h"

namespace base {
namespace {

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

}  // namespace

CsvReader::CsvReader(std::istream& in, CsvOptions options) : lines_{in}, options_{options} { start(); }

void CsvReader::Free::operator()(csv_parser* parser) const {
  csv_free(parser);
  delete parser;
}

void CsvReader::start() {
  auto parser = std::make_unique<csv_parser>();
  ensure(csv_init(parser.get(), CSV_STRICT | CSV_STRICT_FINI) == 0, "csv", "libcsv did not start");
  parser_.reset(parser.release());
  if (options_.keep_blanks) csv_set_space_func(parser_.get(), [](unsigned char) { return 0; });
}

// libcsv's callbacks are called from C, so they must not throw. It is fed line by line, because it does not count them.
bool CsvReader::feed(std::string_view line) {
  const auto end_cell = [](void* text, std::size_t size, void* self) {
    static_cast<CsvReader*>(self)->cells_.emplace_back(static_cast<const char*>(text), size);
  };
  const auto end_record = [](int, void* self) { static_cast<CsvReader*>(self)->done_ = true; };
  done_ = false;
  return csv_parse(parser_.get(), line.data(), line.size(), end_cell, end_record, this) == line.size();
}

bool CsvReader::next(CsvRecord& record) {
  cells_.clear();
  bool inside = false;
  for (std::string line; lines_.next(line);) {
    if (!inside && line.empty()) continue;
    if (!inside) record = {.line = lines_.number()};
    inside = true;
    line += '\n';
    if (!feed(options_.backslash_escapes ? doubled_quotes(line) : line)) {
      start();
      record.problem = "has a quote inside an unquoted field, or text after a closing quote";
      return true;
    }
    if (!done_) continue;
    record.cells = std::move(cells_);
    return true;
  }
  if (!inside) return false;
  start();
  record.problem = "opens a quote that is never closed: all later rows are lost";
  record.open = true;
  return true;
}

std::string CsvTable::where(const CsvRecord& record) const { return fmt::format("{}:{}", path, record.line); }

CsvTable parse_csv(std::string_view text, std::string name) {
  std::istringstream in{std::string{text}};
  CsvReader reader{in};
  CsvTable table{.path = std::move(name), .header = {}, .records = {}};
  for (CsvRecord record; reader.next(record);) {
    if (!record.problem.empty())
      throw Error{Fault::kData, table.where(record), record.problem,
                  "double every quote inside a quoted cell, and close the cell"};
    if (table.header.empty()) {
      table.header = std::move(record.cells);
      continue;
    }
    if (record.cells.size() != table.header.size())
      throw Error{
          Fault::kData, table.where(record),
          fmt::format("has {} but the header has {}", base::counted(record.cells.size(), "cell"), table.header.size()),
          "quote cells that contain commas"};
    table.records.push_back(std::move(record));
  }
  if (table.header.empty()) throw Error{Fault::kData, table.path, "is empty", "give a table with a header line"};
  return table;
}

CsvTable read_csv(const std::filesystem::path& path) { return parse_csv(read_file(path), path.string()); }

std::string csv_cell(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string{text};
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string{"\"\""} : std::string{c};
  return quoted + "\"";
}

}  // namespace base
