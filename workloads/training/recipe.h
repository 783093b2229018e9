// The training of a trajectory, as described by expected.json.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "workloads/step/step.h"

namespace workloads {

struct Recipe {
  std::vector<double> losses;       // per step
  std::vector<double> bf16_losses;  // the same from PyTorch in bf16, if available
  double rate = 0;
  std::string schedule = "linear";  // scheduled_rate()
  std::int64_t warmup = 0;          // steps
  double smoothing = 0;             // of labels
  OptimizerSpec optimizer;
};

/// Keys: "loss_per_step", "lr"; "optimizer": "AdamW betas 0.9 0.999 eps 1e-8 weight_decay 0.01 on all", or "... on all
/// but biases and norms", LAMB alike, or "SGD momentum 0.9 weight_decay 0.01 on all"; "schedule": "linear to 0",
/// "cosine to 0" or "constant", then ", no warm-up" or ", warm-up of 2 steps"; "max_grad_norm"; "label_smoothing";
/// "loss_per_step_bf16"; "dropout" 0; "dtype" fp32 or fp64.
/// Errors: Fault::kData naming file and key: one that is missing, of another type, or states something that would not
/// be repeated here.
Recipe read_recipe(const std::filesystem::path& file);

}  // namespace workloads
