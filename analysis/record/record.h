// The whole record of one simulation, in one file that needs no program beside it: stats, trace, report and
// compare read it, and users query it with sqlite3. The tables are documented in docs/run_record.md.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/profile/roofline.h"
#include "analysis/profile/stats.h"
#include "hw/trace.h"
#include "isa/program.h"

namespace analysis {

/// Raised by one when a reader of the last tables would misread the new ones; more tables or columns do not raise it.
inline constexpr int kRecordSchema = 1;
inline constexpr std::string_view kRecordFile = "run.sqlite";
/// The file of one stage of a pipeline: "stage-2.sqlite". run.sqlite is of the slowest.
std::string record_name(std::size_t stage);

/// Facts about a simulation that it does not know itself.
struct RecordInfo {
  std::string trnsim;    // version of the binary
  std::string workload;  // "bert_emotion"
  std::string command;   // the command line
  std::string instance_type;
  std::uint32_t instances = 1;
  std::uint32_t cores_per_chip = 2;
  std::uint64_t hbm_bytes_per_core = 0;  // capacity
  std::uint64_t machine_hash = 0;
  std::string machine_toml;             // hw::MachineParams::toml
  std::uint32_t stage = 0, stages = 1;  // whose core this is, and of how many stages of a pipeline
  /// Micro-batches of a step, and those in this record: the others take as long as the last of these.
  std::int64_t micro_batches = 1, recorded_micro_batches = 1;
  /// The requested instructions: fs of the step and a layer (-1: all); nothing when the ends are equal.
  hw::Fs trace_from = 0, trace_until = 0;
  std::int32_t trace_layer = -1;
  bool operator==(const RecordInfo&) const = default;
};

/// A region of HBM and the first and last call that touch it, -1 when none does.
struct RegionUse {
  isa::Region region;
  std::int64_t first_call = -1, last_call = -1;
};

/// Work of one instruction: bytes at HBM, FLOPs of its engine, and its operands: "dst <- a, b".
struct InstrWork {
  double hbm_bytes = 0, flops = 0;
  std::string operands;
};

struct Record {
  RecordInfo info;
  hw::SimResult result;
  /// The program without its data: names, labels, calls without bases, regions. Instructions only in blocks with
  /// recorded events, and of them opcode, engine, label, queue, group, signal and waits, for traces.
  isa::Program program;
  std::vector<std::vector<InstrWork>> work;  // beside program.blocks[].instrs
  std::vector<RegionUse> regions;
  Utilisation utilisation;
  std::vector<RoofPoint> roofline;
  std::vector<Stat> stats;
};

/// Errors: Fault::kInternal when `result` is not of `program`.
Record make_record(const hw::SimResult& result, const isa::Program& program, RecordInfo info);

/// `path`: a folder, which gets run.sqlite, or the file. It is complete or absent. Errors: Fault::kEnvironment (disk
/// full).
void write_record(const std::filesystem::path& path, const Record& record);
void write_record(const std::filesystem::path& folder, const hw::SimResult& result, const isa::Program& program,
                  const RecordInfo& info);

/// `path`: the folder or the file. Errors: Fault::kData when it is missing, damaged or of a newer schema.
Record read_record(const std::filesystem::path& path);
/// The record of a stage of the folder's pipeline; below 0: of the slowest. Errors: as above; Fault::kUsage when
/// the job has no such stage.
Record read_record(const std::filesystem::path& folder, std::int64_t stage);

}  // namespace analysis
