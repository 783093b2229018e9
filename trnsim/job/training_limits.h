// Settings with which nothing could be trained.
#pragma once

#include "analysis/host/stack.h"
#include "trnsim/settings.h"

namespace trnsim {

/// Errors: Fault::kUsage for a training without a step, and for a capacity factor that no mixture has.
void require_training(const Settings& settings);
/// Errors: Fault::kUsage for software that has no training loop, whose host would do nothing in a step.
void require_trainer(const analysis::Stack& stack);

}  // namespace trnsim
