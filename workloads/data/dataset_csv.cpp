// Comma-separated files.
#include <fmt/format.h>

#include <optional>

#include "base/csv.h"
#include "base/error.h"
#include "workloads/data/dataset_rows.h"

namespace workloads {

void read_csv_rows(const RowSource& source, const RowSink& sink) {
  base::CsvReader reader{source.in, {.keep_blanks = true, .backslash_escapes = source.options.backslash_escapes}};
  std::optional<Columns> columns;
  for (base::CsvRecord record; reader.next(record);) {
    if (record.open)
      throw base::Error{base::Fault::kData, fmt::format("{}:{}", source.name, record.line), record.problem,
                        "close the quote; write a quote inside a quoted field as \"\""};
    if (!record.problem.empty()) {
      if (!sink({.line = record.line, .problem = std::move(record.problem)})) return;
      continue;
    }
    if (!columns) {
      columns = find_columns(record.cells, source);
      if (columns->header) continue;
    }
    if (!sink(row_of(std::move(record.cells), *columns, record.line))) return;
  }
}

}  // namespace workloads
