// What a run leaves for the tools where people already look: TensorBoard, Prometheus, readers of MLPerf's log, Parquet.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/record/record.h"

namespace analysis {

/// What export_run() can write, by the name that `report_to` has for it.
inline constexpr std::array<std::string_view, 4> kExports = {"tensorboard", "prometheus", "jsonl", "parquet"};

/// Of `names` (with commas) those that export_run() writes; those that only the Trainer's callbacks serve are put into
/// `elsewhere`. "all": all, "none": none. Errors: Fault::kUsage, with the nearest name, for one that nobody knows.
std::vector<std::string> exports_of(std::string_view names, std::vector<std::string>& elsewhere);

/// What the files are made from. `steps` as in steps.jsonl; `record`: null when nothing was projected.
struct ExportRun {
  nlohmann::ordered_json body;  // of result.json
  std::vector<nlohmann::ordered_json> steps;
  const Record* record = nullptr;
  double begin = 0;  // s since 1970 at which the run began
};

/// Writes one export below `folder`: tensorboard/events.out.tfevents.*, metrics.prom, mlperf.jsonl, or records/ with a
/// Parquet file for calls, operations, collectives and engines. Errors: Fault::kEnvironment.
void export_run(const std::filesystem::path& folder, std::string_view name, const ExportRun& run);

// ---- formats

/// CRC-32C (Castagnoli) as TensorFlow's record files mask it.
std::uint32_t masked_crc32c(std::string_view bytes);
/// One record of a TFRecord file. Source: tensorflow/core/lib/io/record_writer.h.
std::string tf_record(std::string_view bytes);

/// The event file of a run's scalars.
std::string tensorboard_events(const ExportRun& run);
/// Text of Prometheus's node exporter (textfile collector).
std::string prometheus_text(const ExportRun& run);
/// Lines ":::MLLOG {...}" with the keys of mlperf_logging.
std::string mlperf_log(const ExportRun& run);

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
