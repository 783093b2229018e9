// Tables in and out, by libcsv.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace analysis {

/// One record of a table; `line` is where it begins in the file, counted from 1.
struct CsvRecord {
  int line = 0;
  std::vector<std::string> cells;
};

struct CsvTable {
  std::string path;
  std::vector<std::string> header;
  std::vector<CsvRecord> records;  // each with as many cells as the header

  /// "FILE:LINE", as errors name a place.
  std::string where(const CsvRecord& record) const;
};

/// Reads a comma-separated table whose first record is its header (RFC 4180: quotes, doubled quotes, line breaks in
/// quotes; blank lines are skipped). Errors: Fault::kData for a missing or empty file, broken quoting, a record with
/// another number of cells than the header, each with file and line.
CsvTable read_csv(const std::filesystem::path& path);
/// The same from text; `name` stands for the file in errors.
CsvTable parse_csv(std::string_view text, std::string name);

/// One line with its line feed; cells with commas, quotes or line breaks are quoted.
std::string csv_line(std::span<const std::string> cells);

}  // namespace analysis
