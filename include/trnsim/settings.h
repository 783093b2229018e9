// The settings of a job and of a run, named as in Hugging Face TrainingArguments and torchrun: the words of flags,
// workload files, sweeps and errors. Texts have settings in backquotes: `max_length`.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "analysis/host/stack.h"

namespace runtime {
class ProgramCache;  // runtime/compiler/program_cache.h
}

namespace trnsim {

/// The model and the data to train on.
struct DataSettings {
  std::string model_id, dataset_path, validation_file, test_file, vocab, text_column, label_column, label_names;
  std::int64_t max_length = 0, max_target_length = 0, max_train_samples = 0, max_eval_samples = 0;
  bool strict = false, backslash_escapes = false;
  std::string task;  // empty: by the labels of the data
  std::string buckets;
  bool packing = true;
};

struct TrainingSettings {
  std::int64_t per_device_train_batch_size = 8, per_device_eval_batch_size = 8, gradient_accumulation_steps = 1;
  double learning_rate = 5e-5, weight_decay = 0, adam_beta1 = 0.9, adam_beta2 = 0.999, adam_epsilon = 1e-8;
  double max_grad_norm = 1, num_train_epochs = 3, warmup_ratio = 0;
  std::int64_t max_steps = -1, warmup_steps = 0, seed = 42;
  std::string lr_scheduler_type = "linear";
  double label_smoothing_factor = 0;
  std::string eval_strategy = "epoch";
  bool eval_on_start = false;
  std::int64_t dataloader_num_workers = 0;
};

struct NumericsSettings {
  std::string name;  // the setting `numerics`; empty: the workload's
  bool bf16 = false, stochastic_rounding_enabled = false;
  std::int64_t stochastic_rounding_seed = 0;
  std::string auto_cast = "matmult", auto_cast_type = "bf16";  // of fp32 weights, by the compiler
  bool xla_use_bf16 = false, xla_downcast_bf16 = false;
};

struct PlanSettings {
  std::int64_t tensor_parallel_size = 1, pipeline_parallel_size = 1, virtual_pipeline_size = 1;
  bool disable_sequence_parallel = false, zero_1 = false, optimizer_use_master_weights = false;
  std::string recompute = "none";
  double capacity_factor = -1;  // of experts; -1: the model's
};

/// The settings `lora_r`, `lora_alpha`, ...
struct LoraSettings {
  std::int64_t r = 0;
  double alpha = 32, dropout = 0;
  std::string target_modules = "all-linear";
};

/// Generation of text instead of a training: a job with `max_new_tokens` is a generation. The names are those of
/// Hugging Face's GenerationConfig.
struct GenerationSettings {
  std::vector<std::string> prompt;  // texts to continue; several are a batch
  std::int64_t max_new_tokens = 0, batch_size = 0, prompt_length = 128, prompt_bucket = 0;
  double temperature = 0, top_p = 1;
  std::int64_t top_k = 0;
  bool ignore_eos = false;
};

/// The simulated machine and its software, and how it is simulated.
struct MachineSettings {
  std::string instance_type = "trn1.2xlarge", mode, passes, stack, compile_cache;
  std::int64_t nproc_per_node = 0, nnodes = 1, host_threads = 0;
  bool exact = false;
  std::vector<std::string> set;
  std::string price = "on_demand";

  std::shared_ptr<runtime::ProgramCache> programs{};   // open_compile_cache() opens the folder of `compile_cache`
  std::vector<analysis::StackChange> stack_changes{};  // what-ifs on numbers of the software stacks
};

struct OutputSettings {
  std::string output_dir, resume_from_checkpoint, format = "table", report_to, config;
  std::int64_t logging_steps = 10, save_steps = 0, suggestions = 2;
  bool overwrite_output_dir = false, async_save = false;
  std::string save_bandwidth = "125 MiB/s", interrupted_every;
};

/// All settings. The initial values are the defaults; a workload replaces those that were not given (apply_workload).
struct Settings {
  DataSettings data;
  TrainingSettings training;
  NumericsSettings numerics;
  PlanSettings plan;
  LoraSettings lora;
  GenerationSettings generation;
  MachineSettings machine;
  OutputSettings output;

  std::set<std::string> given;  // names of those that the user gave
};

}  // namespace trnsim
