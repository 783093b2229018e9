#include "workloads/tasks/task.h"

#include <algorithm>
#include <array>

#include "workloads/tasks/classification.h"
#include "workloads/tasks/language_modelling.h"

namespace workloads {
namespace {

TrainingDataPtr labelled(const DataOptions& options) {
  return std::make_shared<const Classification>(load_classification(options));
}

TrainingDataPtr unlabelled(const DataOptions& options) {
  return std::make_shared<const LanguageModelling>(load_language_modelling(options));
}

// clang-format off
constexpr std::array kTasks = {
    TaskRow{Task::kClassification, labelled,   Dealing::kByRank, false, label_scores},
    TaskRow{Task::kNextToken,      unlabelled, Dealing::kByStep, true,  token_scores},
    TaskRow{Task::kTextToText,     unlabelled, Dealing::kByStep, true,  token_scores},
    TaskRow{Task::kMaskedTokens,   unlabelled, Dealing::kByRank, true,  token_scores},
};
// clang-format on

}  // namespace

const TaskRow& task_row(Task task) { return *std::ranges::find(kTasks, task, &TaskRow::task); }

}  // namespace workloads
