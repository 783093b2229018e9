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
  std::optional<LaterRows> rows;
  for (base::CsvRecord record; reader.next(record);) {
    if (record.open)
      throw base::Error{base::Fault::kData, fmt::format("{}:{}", source.name, record.line), record.problem,
                        "close the quote; write a quote inside a quoted field as \"\""};
    if (!record.problem.empty()) {
      RawRow row{.line = record.line, .problem = std::move(record.problem)};
      if (!(rows ? rows->add(std::move(row)) : sink(std::move(row)))) return;
      continue;
    }
    if (!columns) {
      columns = find_columns(record.cells, source);
      rows.emplace(sink, columns->unclear);
      if (columns->header) continue;
    }
    if (!rows->add(row_of(std::move(record.cells), *columns, record.line))) return;
  }
  if (rows) rows->end();
}

}  // namespace workloads
