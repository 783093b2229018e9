// A workload's training step as a program, and what each pass of the compiler is worth to it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/table.h"
#include "hw/params.h"
#include "trnsim/decoder_job.h"
#include "trnsim/project.h"

namespace trnsim {

struct StepSize {
  std::int64_t batch = 1;          // samples of a micro-batch on one data-parallel rank
  std::int64_t micro_batches = 1;  // accumulated in a step
};

/// What is compiled, and for which machine; an encoder's step, or that of one pipeline stage of a decoder.
struct StepTarget {
  std::function<runtime::Graph(const StepSize&)> graph;
  StepSize size;
  runtime::CompileOptions options;  // with the passes of the job
  bool exact = false;
  hw::MachineParams machine;
};

StepTarget step_target(const ProjectedJob& job, const hw::MachineParams& machine);
StepTarget step_target(const DecoderJob& job, const hw::MachineParams& machine);
/// Options that were not given come from the workload. Errors: Fault::kUsage for an unknown workload or machine.
StepTarget step_target(const std::string& workload, const TrainOptions& given);

/// The program with other passes than the job's. It may be larger than the machine's memory: see Compiled::memory.
runtime::Compiled compiled_with(const StepTarget& target, const runtime::Passes& passes);

/// A column of pass_table(): what a program compiled with these passes is like.
struct PassColumn {
  base::Column column;
  std::function<base::Cell(const runtime::Passes&)> cell;
};

/// The step as given, with each pass switched to the opposite, and without any: time, memory, traffic, instructions,
/// then the columns `more`.
base::Table pass_table(const StepTarget& target, const std::vector<PassColumn>& more = {});

}  // namespace trnsim
