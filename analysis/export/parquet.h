// Parquet files of plain columns.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace analysis {

/// A column of a Parquet file; the one that is not empty has its values.
struct ParquetColumn {
  std::string name;
  std::vector<std::int64_t> whole{};
  std::vector<double> real{};
  std::vector<std::string> text{};
};
/// A file of one row group, PLAIN, not compressed. Source: github.com/apache/parquet-format. Errors: Fault::kInternal
/// for columns of different lengths.
std::string parquet_file(std::span<const ParquetColumn> columns);

}  // namespace analysis
