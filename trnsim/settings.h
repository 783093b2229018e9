// The options of a training run, named as in Hugging Face TrainingArguments and torchrun.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "trnsim/option_table.h"

namespace trnsim {

/// What the user asked for. The initial values are the defaults that --help prints; a workload file replaces those that
/// neither the command line nor the environment gave (apply_defaults).
struct TrainOptions {
  // model and data
  std::string model_id, dataset_path, validation_file, test_file, vocab, text_column, label_column, label_names;
  std::int64_t max_length = 0, max_train_samples = 0, max_eval_samples = 0;
  bool strict = false;
  // optimisation
  std::int64_t per_device_train_batch_size = 8, per_device_eval_batch_size = 8, gradient_accumulation_steps = 1;
  double learning_rate = 5e-5, weight_decay = 0, adam_beta1 = 0.9, adam_beta2 = 0.999, adam_epsilon = 1e-8;
  double max_grad_norm = 1, num_train_epochs = 3, warmup_ratio = 0;
  std::int64_t max_steps = -1, warmup_steps = 0, seed = 42;
  std::string lr_scheduler_type = "linear";
  // numerics
  bool bf16 = false, stochastic_rounding_enabled = false;
  std::string numerics;  // empty: what the workload says
  std::int64_t stochastic_rounding_seed = 0;
  // parallel plan
  std::int64_t tensor_parallel_size = 1, pipeline_parallel_size = 1, virtual_pipeline_size = 1;
  bool disable_sequence_parallel = false, zero_1 = false, optimizer_use_master_weights = false;
  std::string recompute = "none";
  // machine
  std::string instance_type = "trn1.2xlarge", mode, passes, stack, compile_cache;
  std::int64_t nproc_per_node = 0, nnodes = 1, host_threads = 0;
  bool exact = false;
  std::vector<std::string> set;
  // output
  std::string output_dir, resume_from_checkpoint, format = "table", eval_strategy = "epoch";
  std::int64_t logging_steps = 10, save_steps = 0;
  bool overwrite_output_dir = false;

  std::set<std::string> given;  // names of the options that came from the command line or the environment
};

/// A row of the table, and the verbs that take it ("run compile ablate verify validate").
struct TrainOptionRow : OptionRow<TrainOptions> {
  std::string_view verbs;
};

/// All rows, in the order of --help.
std::span<const TrainOptionRow> train_option_rows();

/// Makes --numerics of what is another spelling of it. Errors: Fault::kUsage when they contradict each other.
void settle_numerics(TrainOptions& options);

/// Encoders are data parallel alone. Errors: Fault::kUsage when the user gave an option of another plan.
void refuse_plan_of_encoder(const TrainOptions& options, std::string_view model);

/// Values of a workload file by option name; those in `given` stay. Errors: Fault::kUsage with a suggestion for an
/// unknown name, and what the option itself refuses; `where` is the file.
void apply_defaults(TrainOptions& options, const std::map<std::string, std::string>& values, std::string_view where);

}  // namespace trnsim
