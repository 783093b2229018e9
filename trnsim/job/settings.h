// The settings of a job and of a run, named as in Hugging Face TrainingArguments and torchrun: the words of flags,
// workload files, sweeps and errors. Texts put a setting in backquotes: `max_length`.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/host/stack.h"
#include "runtime/compiler/program_cache.h"
#include "trnsim/job/option_table.h"
#include "workloads/jobs/workload.h"
#include "workloads/models/lora.h"
#include "workloads/step/step.h"

namespace trnsim {

/// What is trained on which data.
struct DataSettings {
  std::string model_id, dataset_path, validation_file, test_file, vocab, text_column, label_column, label_names;
  std::int64_t max_length = 0, max_target_length = 0, max_train_samples = 0, max_eval_samples = 0;
  bool strict = false, backslash_escapes = false;
  std::string task;  // empty: what the data has labels for
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
  std::int64_t dataloader_num_workers = 0;
};

struct NumericsSettings {
  std::string name;  // the setting `numerics`; empty: what the workload says
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

/// The simulated machine and its software, and how it is simulated.
struct MachineSettings {
  std::string instance_type = "trn1.2xlarge", mode, passes, stack, compile_cache;
  std::int64_t nproc_per_node = 0, nnodes = 1, host_threads = 0;
  bool exact = false;
  std::vector<std::string> set;
  std::string price = "on_demand";

  std::shared_ptr<runtime::ProgramCache> programs{};   // open_compile_cache() opens what `compile_cache` names
  std::vector<analysis::StackChange> stack_changes{};  // what-ifs on numbers of the software stacks
};

struct OutputSettings {
  std::string output_dir, resume_from_checkpoint, format = "table", report_to, config;
  std::int64_t logging_steps = 10, save_steps = 0, suggestions = 2;
  bool overwrite_output_dir = false;
};

/// All that a user may ask for. The initial values are the defaults; a workload replaces those that were not given
/// (apply_workload).
struct Settings {
  DataSettings data;
  TrainingSettings training;
  NumericsSettings numerics;
  PlanSettings plan;
  LoraSettings lora;
  MachineSettings machine;
  OutputSettings output;

  std::set<std::string> given;  // names of those that the user gave
};

using Setting = OptionRow<Settings>;

/// All of them, in the order in which help prints them.
std::span<const Setting> settings_table();
/// The row of the setting; null: there is none.
const Setting* find_setting(std::string_view name);
/// Errors: Fault::kUsage with a suggestion when there is none; `where` is where the name stands.
const Setting& find_setting(std::string_view name, std::string_view where);

/// Groups of the settings in help.
inline constexpr std::string_view kPlanGroup = "Parallel plan", kLoraGroup = "LoRA";

/// The adapters that the settings ask for. Errors: Fault::kUsage for other settings of LoRA without a rank.
std::optional<workloads::Lora> lora_of(const Settings& settings);
/// The model with them. Errors: as Model::with_lora(); Fault::kUsage when it has others.
workloads::ModelPtr adapted(const Settings& settings, const workloads::ModelPtr& model);

/// Makes `numerics` of what is another spelling of it: `bf16`, stochastic rounding, the switches of torch-xla, and of
/// "fp32" what the compiler's `auto_cast` makes of it. Errors: Fault::kUsage when they contradict each other.
void resolve_numerics(Settings& settings);

/// Hugging Face's names of tasks, and the head that a model needs for each.
inline constexpr std::array<std::pair<std::string_view, workloads::Head>, 3> kTasks = {
    {{"sequence-classification", workloads::Head::kClassifier},
     {"token-classification", workloads::Head::kTokens},
     {"fill-mask", workloads::Head::kMaskedTokens}}};

/// The head that `task` names, if it names one.
std::optional<workloads::Head> head_of(const Settings& settings);
/// The model with that head. Errors: Fault::kUsage when it has none for tokens.
workloads::ModelPtr headed(const Settings& settings, const workloads::ModelPtr& model);

/// Encoders are data parallel alone. Errors: Fault::kUsage when the user gave a setting of another plan.
void refuse_shared_model(const Settings& settings, std::string_view model);

/// Whether samples are padded to lengths of their own. Packed texts, pictures and samples that all have one length are
/// not.
bool pads_to_lengths(const Settings& settings, const workloads::Model& model);
/// Errors: Fault::kUsage for buckets of packed texts or of pictures, and for an encoder that is to pack.
void require_lengths(const Settings& settings, const workloads::Model& model);

/// Values by the settings' names; those in `given` stay. Errors: Fault::kUsage with a suggestion for an unknown name,
/// and what the setting itself refuses; `where` is the file.
void apply_defaults(Settings& settings, const std::map<std::string, std::string>& values, std::string_view where);

/// Which of a workload's jobs: the published one that is projected, or the one that is trained for real.
enum class WorkloadPart { kProjected, kTrained };
/// What a file of settings says (TOML: `name = value` a line, under the flags' names) where the user gave nothing; its
/// settings count as given. Errors: Fault::kUsage as apply_defaults().
void apply_config(Settings& settings, const std::string& path);
/// The settings that are not the defaults as such a file.
std::string config_text(const Settings& settings);

/// What a workload file says where the user gave nothing. For training the small model's settings come on top, or with
/// the user's own model (`model_id`) those for it; a user who gives a plan or cores gives all of them.
void apply_workload(Settings& settings, const workloads::Workload& workload, WorkloadPart part);

/// The settings as names and values.
nlohmann::ordered_json to_json(const Settings& settings);
/// Those of a run as it resolved them; all count as given.
Settings settings_from(const nlohmann::ordered_json& json);

}  // namespace trnsim
