// The least time of a job, known without a simulation of it.
#pragma once

#include <memory>

#include "analysis/host/host_model.h"
#include "analysis/host/stack.h"
#include "hw/timed_block.h"
#include "trnsim/project/known_facts.h"
#include "trnsim/projection.h"

namespace trnsim {

/// Seconds that a job takes at least: its host's work as projected, and its arithmetic, recomputation included, at the
/// peak of its cores, which wait while a pipeline fills and drains. `pass`: pass_seconds() of a job with the same
/// passes, if one was projected.
double least_seconds(const Job& job, double pass = 0);

/// The same for a job that is asked again whenever another pass is known.
class LeastTime {
 public:
  LeastTime(const Job& job, KnownFacts& known);
  double seconds(double pass = 0) const;

 private:
  std::shared_ptr<const analysis::Stack> stack_;  // none: samples of several lengths, each with a share of the steps
  analysis::JobShape shape_{};
  double arithmetic_ = 0;  // s of a step at the peak of its cores
  double passes_ = 1, stages_ = 1;
  double waits_ = 0;  // of a stage while a pipeline fills and drains: part of its time at work
};

/// Seconds that cores take at least, all stages together, for the forward and the backward pass of one micro-batch:
/// calls of a core follow each other, and one with all power and no traffic beside it is the shortest. Jobs with equal
/// blocks have the same, whatever other cores do. `times` are of the machine's blocks.
double pass_seconds(const Projection& projection, const hw::MachineParams& machine, hw::BlockTimes& times);

}  // namespace trnsim
