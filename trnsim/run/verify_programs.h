// Programs that check themselves: read, computed by the reference interpreter, held against what they expect.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/table.h"

namespace trnsim {

enum class Verdict : std::uint8_t { kRight, kWrong, kRefused };
std::string_view name_of(Verdict verdict);  // "right", "wrong", "refused"

struct ProgramOutcome {
  std::string file;
  std::uint32_t line = 1;  // where the program begins: a file may have several
  Verdict verdict = Verdict::kRight;
  std::int64_t checks = 0;  // that were met
  std::string code = {};    // of neuronx-cc: "EVRF004"; empty: none
  std::string reason = {};  // "FILE:12: ..."
  std::string fix = {};
  double seconds = 0;
};

struct VerifyProgramsOptions {
  bool reference = false;  // computes also programs that neuronx-cc refuses
  bool cores = false;      // on a simulated core, in place of the reference interpreter
};

/// The outcomes of all programs of a file, whose parts are separated by "// -----". Errors: Fault::kData for a file
/// that cannot be read; of programs none: they are outcomes.
std::vector<ProgramOutcome> verify_programs(const std::filesystem::path& file, const VerifyProgramsOptions& options);

/// A row for each outcome, with all of its members.
base::Table table_of(std::span<const ProgramOutcome> outcomes);

}  // namespace trnsim
