// Which chain of instructions sets the time of a block call.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hw/trace.h"

namespace analysis {

/// One instruction of the chain; `gap` is the time between the end of the previous one (or the start of the call) and
/// its own start: start-up latency, a port, the issue interval.
struct PathStep {
  std::uint32_t instr = 0;  // index into the block
  std::string lane;         // "tensor", "dma3", "cc0"
  std::string op;           // label
  hw::Fs begin = 0, end = 0, gap = 0;
  bool by_wait = false;  // held by a semaphore of the step before; else by the order of its own lane
};

struct PathShare {
  std::string name;
  double seconds = 0;
  double share = 0;  // per cent of the call
};

/// Steps in order of time; the sum of all gaps and durations, with `tail`, is the time of the call.
struct CriticalPath {
  std::vector<PathStep> steps;
  hw::Fs begin = 0, end = 0;       // of the call
  hw::Fs tail = 0;                 // from the end of the last step to the end of the call
  std::vector<PathShare> by_lane;  // longest first, with "gaps"
  std::vector<PathShare> by_op;
};

/// Walks back from the last event of `call` through waits and lane order. Needs the events of that call, recorded.
/// Errors: Fault::kUsage when the call was not recorded (replayed, or no events were requested).
CriticalPath critical_path(const hw::SimResult& result, const isa::Program& program, std::uint32_t call);

}  // namespace analysis
