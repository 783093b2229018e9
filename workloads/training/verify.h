// A training trajectory that PyTorch has gone before, repeated on simulated cores.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "isa/device.h"
#include "isa/target.h"
#include "runtime/compiler/compile.h"
#include "runtime/step/plan.h"

namespace workloads {

struct VerifyOptions {
  isa::Target target;  // the core that is trained on
  runtime::Plan
      plan;  // its micro_batch is the trajectory's own: all samples of a step, shared by ranks and micro-batches
  double max_grad_norm = 0;  // more than 0: instead of the trajectory's
  runtime::Passes passes;
  runtime::ProgramCache* cache = nullptr;  // of compiled programs
  int host_threads = 0;
  std::int64_t steps = 0;  // more than 0: no more of the trajectory's than these
  std::uint64_t seed = 42;
  std::function<std::unique_ptr<isa::Device>()> make_device = isa::make_numeric_device;
  std::function<void(std::int64_t step, std::int64_t steps)> progress;  // may be empty
};

/// How far a tensor is from the expected one: ||got - want|| / ||want||, and the largest difference over the largest
/// magnitude. Neither denominator is taken as less than kSmallest of the largest one among the tensors of the same kind
/// (gradients, weights): a value that is zero by construction is only rounding. The gradient of a key's bias is: it
/// adds the same to all scores of a query, and softmax does not see that. AdamW divides gradients by their own size and
/// so moves such a weight by noise: when the expected gradient is below kSmallest^2 of the largest one, the final
/// weight is compared with the largest weight.
inline constexpr double kSmallest = 1e-4;
struct TensorError {
  std::string name;
  double norm = 0;
  double largest = 0;
};

struct VerifyReport {
  std::vector<double> losses, expected_losses;
  std::vector<double> loss_errors;  // relative
  TensorError logits;               // of the first step
  std::vector<TensorError> gradients, weights;
  std::optional<double> bf16_spread;  // how far PyTorch's own losses in bf16 are off, relative: the worst step
  std::size_t instructions = 0;
  double matmul_flops = 0;

  double worst_loss() const;
  const TensorError& worst_gradient() const;
  const TensorError& worst_weight() const;
};

/// `folder` holds config.json, model.safetensors, batches.safetensors (stepK.input_ids, .attention_mask, .labels, and
/// .token_type_ids if there are any; of a model of images stepK.pixel_values and .labels), expected.safetensors
/// (step0.logits, step0.grad.NAME, final.NAME) and expected.json (workloads/training/recipe.h). Errors: Fault::kData
/// for files that are missing or do not fit the model.
VerifyReport verify(const std::filesystem::path& folder, const VerifyOptions& options);

}  // namespace workloads
