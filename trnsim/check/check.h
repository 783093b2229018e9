// Will it run on the real machine? Verdicts on a program or a job, each with its evidence and the nearest change.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/table.h"
#include "frontend/graph/graph.h"
#include "trnsim/settings.h"
#include "workloads/jobs/workload.h"

namespace trnsim {

enum class Concern : std::uint8_t {
  kFine,   // nothing against it
  kNote,   // a figure, or a sentence that stops nothing
  kRisk,   // it may go wrong, depending on data
  kFails,  // it will be refused, will not fit, or will wait for ever
};
std::string_view name_of(Concern concern);  // "fine", "note", "risk", "fails"

struct Finding {
  std::string topic;  // "compiler", "device memory", "host memory", "graphs", "collectives", "numbers", "start"
  Concern concern = Concern::kFine;
  std::string code = {};  // of the compiler: "EVRF004"; empty: none
  std::string text;       // one sentence with its evidence: places, figures
  std::string fix = {};   // the nearest change; empty where nothing is to be changed
};

struct CheckResult {
  std::string target;
  std::vector<Finding> findings;

  Concern worst() const;
};

/// A program of any framework, by itself. `settings`: the machine. A program that cannot be read is a finding too.
/// Errors: Fault::kData for a file that is not there.
CheckResult check_file(const std::filesystem::path& file, const Settings& settings);
/// All modules of a folder of the compile cache: a result for each, and one for the folder.
std::vector<CheckResult> check_folder(const std::filesystem::path& folder, const Settings& settings);
/// A job. Errors: Fault::kUsage for settings that say nothing sensible.
CheckResult check_workload(const workloads::Workload& workload, const Settings& settings);

/// A row for each finding.
base::Table table_of(const std::vector<CheckResult>& results);

// By the files that know them.

/// Codes of the compiler that operations meet, at most one finding for each code.
void check_operations(const frontend::Module& module, std::int64_t generation, std::vector<Finding>& out);
/// Collectives that ranks can reach in another order, or not all of them.
void check_collectives(const frontend::Module& module, std::vector<Finding>& out);
/// Formats and functions whose range the numbers can leave.
void check_numbers(const frontend::Module& module, std::vector<Finding>& out);

}  // namespace trnsim
