#include "trnsim/job/training_limits.h"

#include <fmt/format.h>

#include "base/error.h"

namespace trnsim {

using base::Error;
using base::Fault;

void require_training(const Settings& settings) {
  const TrainingSettings& s = settings.training;
  const bool by_epochs = s.max_steps < 0;
  if (by_epochs ? s.num_train_epochs <= 0 : s.max_steps == 0)
    throw Error{Fault::kUsage, by_epochs ? "`num_train_epochs`" : "`max_steps`",
                "is 0, but a job has at least one step",
                by_epochs ? "give more than 0, or leave it out" : "give 1 or more, or leave it out"};
  const double capacity = settings.plan.capacity_factor;
  if (capacity < 0 && capacity != -1)
    throw Error{Fault::kUsage, "`capacity_factor`", fmt::format("{:g} is out of range", capacity),
                "give 0 or more, or -1 for the model's own"};
}

void require_trainer(const analysis::Stack& stack) {
  if (stack.trains == "no")
    throw Error{Fault::kUsage, "`stack`", fmt::format("{} generates text and does not train", stack.name),
                "choose one of 'trnsim list stacks' with a training loop, such as torch-xla, or leave it out"};
}

}  // namespace trnsim
