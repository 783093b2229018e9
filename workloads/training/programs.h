// The programs of a training: a step of every length, and an evaluation, which share the weights on one device.
#pragma once

#include <vector>

#include "isa/target.h"
#include "runtime/compiler/compile.h"
#include "workloads/models/model.h"
#include "workloads/step/step_graph.h"
#include "workloads/training/host_io.h"

namespace workloads {

/// The graphs of all stages of a step, from the first to the last, and the buckets of ZeRO in each.
struct StageGraphs {
  std::vector<runtime::Graph> graphs;
  std::vector<std::vector<ZeroBucket>> zero;
};
/// Errors: as Model::step().
StageGraphs stage_graphs(const Model& model, const Step& step);

/// The programs of every pipeline stage, and how the host feeds them.
struct StepPrograms {
  std::vector<runtime::Compiled> stages;
  HostIo io;
  isa::Programs programs() const;
};

struct TrainingPrograms {
  StepPrograms train, evaluation;
  std::vector<StepPrograms> shorter{};          // steps of the lengths but the last, which is `train`'s
  std::vector<std::vector<ZeroBucket>> zero{};  // of each stage in training
};

struct ProgramOptions {
  const isa::Target& target;
  const runtime::Passes& passes;
  runtime::ProgramCache* cache = nullptr;
};

/// `evaluation`: a step that does not train. Errors: as Model::step(), HostIo and runtime::compile().
TrainingPrograms compile_training(const ModelPtr& model, const Step& step, const Step& evaluation,
                                  const std::vector<std::int64_t>& lengths, const ProgramOptions& options);

}  // namespace workloads
