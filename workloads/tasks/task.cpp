#include "workloads/tasks/task.h"

#include <algorithm>
#include <array>

#include "workloads/checkpoints/adapter.h"
#include "workloads/models/model.h"
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

void adapt(const DataOptions& o, TrainingData& data) {
  const bool there = !o.model_folder.empty() && is_adapter_folder(o.model_folder);
  if (!there && !o.lora) return;
  data.config = data.config->with_lora(there ? read_adapter_config(o.model_folder) : *o.lora);
  if (there) return load_adapter(o.model_folder, data.config, data.weights);
  draw_adapters(data.config, data.weights, o.seed);
  if (o.model_folder.empty()) data.notes.push_back("the adapters' base is random and frozen: give `model_id`");
}

const TaskRow& task_row(Task task) { return *std::ranges::find(kTasks, task, &TaskRow::task); }

}  // namespace workloads
