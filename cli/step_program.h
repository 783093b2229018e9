// A workload's training step as a program, and what each pass of the compiler is worth to it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/table.h"
#include "cli/project.h"
#include "hw/params.h"

namespace cli {

/// What is compiled, and for which machine.
struct StepTarget {
  ProjectedJob job;
  hw::MachineParams machine;
};

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

}  // namespace cli
