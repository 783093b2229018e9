// A profile of the real device beside a run: what `neuron-profile view --output-format json` (now neuron-explorer)
// writes, in the fields of its schema. Source: AWS Neuron documentation, profile schema reference: tables Summary and
// Instruction.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "analysis/profile/views.h"
#include "analysis/record/record.h"

namespace analysis {

/// Figures of one core.
struct NeuronProfile {
  struct Work {
    std::uint64_t count = 0;
    double seconds = 0;
  };
  std::map<std::string, double> summary;  // of the Summary table: s, B, FLOP or per cent, by its names
  std::map<std::string, Work> engines;    // instructions by engine: "tensor", "vector", "scalar", "gpsimd", "sync"
  std::map<std::string, Work> opcodes;    // and by opcode, under our names where there is one
};

/// Tables as lists of objects under their names ("summary" or "Summary", "instruction", ...), or a summary alone.
/// Errors: Fault::kData naming file and field: invalid JSON, neither of the two tables, an invalid number, an
/// instruction without engine, opcode or duration.
NeuronProfile read_neuron_profile(const std::filesystem::path& file);
/// The profile that the reader above gets from the output of write_neuron_profile().
NeuronProfile neuron_profile_of(const Record& record);
/// In that format: the summary, and every instruction that the record has events of. Errors: Fault::kUsage when it has
/// none; Fault::kEnvironment.
void write_neuron_profile(const Record& record, const std::filesystem::path& file);

/// `before` is the run, `after` the profile: totals, DMA and busy shares that both have, instructions by engine and
/// time by opcode, the largest changes first. Errors: Fault::kData at `where` when the profile is of another program:
/// its FLOPs of matmuls differ by more than a tenth.
std::vector<Difference> compare(const Record& record, const NeuronProfile& profile, const std::string& where);

}  // namespace analysis
