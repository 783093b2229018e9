// Comma-separated values (RFC 4180), by libcsv in its strict mode.
#pragma once

#include <cstddef>
#include <filesystem>
#include <istream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"

struct csv_parser;  // of libcsv

namespace base {

struct CsvOptions {
  bool keep_blanks = false;        // at both ends of a cell without quotes, as RFC 4180 has it
  bool backslash_escapes = false;  // \" and \\ in place of "" and a plain backslash
};

struct CsvRecord {
  std::size_t line = 0;  // where it begins in the file, counted from 1
  std::vector<std::string> cells{};
  std::string problem{};  // its quoting is broken: no cells
  bool open = false;      // a quote in it never closes: all text behind it is lost
};

/// Reads records in order and skips blank lines. A record with broken quoting does not affect others: reading
/// continues on the next line.
class CsvReader {
 public:
  explicit CsvReader(std::istream& in, CsvOptions options = {});
  CsvReader(const CsvReader&) = delete;  // the parser knows where it is
  CsvReader& operator=(const CsvReader&) = delete;

  /// False at the end.
  bool next(CsvRecord& record);

 private:
  struct Free {
    void operator()(csv_parser* parser) const;
  };
  void start();
  /// Whether all of the line was taken.
  bool feed(std::string_view line);

  LineReader lines_;
  CsvOptions options_;
  std::unique_ptr<csv_parser, Free> parser_;
  std::vector<std::string> cells_;
  bool done_ = false;  // a record
};

struct CsvTable {
  std::string path;
  std::vector<std::string> header;
  std::vector<CsvRecord> records;  // each with as many cells as the header

  /// "FILE:LINE", as errors name a place.
  std::string where(const CsvRecord& record) const;
};

/// Reads a table whose first record is its header. Errors: Fault::kData for a missing or empty file, broken quoting, a
/// record with another number of cells than the header, each with file and line.
CsvTable read_csv(const std::filesystem::path& path);
/// The same from text; `name` stands for the file in errors.
CsvTable parse_csv(std::string_view text, std::string name);

/// A cell as it is written: quoted when it holds a comma, a quote or a line break; quotes doubled.
std::string csv_cell(std::string_view text);

}  // namespace base
