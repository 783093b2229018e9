// The tasks that models are trained for, one row each. A trainer needs five functions of a task: its data (load), a
// batch of it (Samples::batch()), the batch on the cores and the loss that comes back (HostIo::write_batch(),
// HostIo::loss()), and the scores of an evaluation.
#pragma once

#include "workloads/tasks/scores.h"
#include "workloads/tasks/training_data.h"
#include "workloads/training/dealer.h"

namespace workloads {

struct TaskRow {
  Task task;
  TrainingDataPtr (*load)(const DataOptions& options);
  Dealing dealing;
  bool scored_first;  // before the first step: the difference is the effect of the training
  std::unique_ptr<Scores> (*scores)(const Model& model);
};
const TaskRow& task_row(Task task);

}  // namespace workloads
