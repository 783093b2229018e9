#include "trnsim/published.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace trnsim {
namespace {

/// Options that change what a job takes.
constexpr std::array<std::string_view, 28> kDecisive = {"model_id",
                                                        "dataset_path",
                                                        "validation_file",
                                                        "test_file",
                                                        "max_length",
                                                        "max_train_samples",
                                                        "max_eval_samples",
                                                        "per_device_train_batch_size",
                                                        "per_device_eval_batch_size",
                                                        "gradient_accumulation_steps",
                                                        "num_train_epochs",
                                                        "max_steps",
                                                        "eval_strategy",
                                                        "max_grad_norm",
                                                        "logging_steps",
                                                        "numerics",
                                                        "tensor_parallel_size",
                                                        "pipeline_parallel_size",
                                                        "disable_sequence_parallel",
                                                        "zero_1",
                                                        "optimizer_use_master_weights",
                                                        "recompute",
                                                        "instance_type",
                                                        "nproc_per_node",
                                                        "nnodes",
                                                        "stack",
                                                        "passes",
                                                        "set"};

}  // namespace

bool is_published_job(const TrainOptions& projected, const workloads::Job& job) {
  TrainOptions published;
  apply_defaults(published, job.options, job.file);
  TrainOptions ours = projected;
  if (ours.numerics == "off") ours.numerics = published.numerics;  // the time is that of the workload's own numerics
  return std::ranges::all_of(train_option_rows(), [&](const TrainOptionRow& row) {
    if (std::ranges::find(kDecisive, row.name()) == kDecisive.end()) return true;
    return std::visit([&](auto member) { return ours.*member == published.*member; }, row.member);
  });
}

std::string text_of(const workloads::Job& job, const TrainOptions& options) {
  if (options.model_id.empty() && options.dataset_path.empty()) return job.text;
  return fmt::format("{} on {}", options.model_id.empty() ? job.model : options.model_id,
                     options.dataset_path.empty() ? "the workload's data" : options.dataset_path);
}

}  // namespace trnsim
