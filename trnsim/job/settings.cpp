#include "trnsim/job/settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <limits>

#include "analysis/cost/prices.h"
#include "analysis/host/stack.h"
#include "base/error.h"
#include "base/param_file.h"
#include "base/suggest.h"
#include "runtime/graph/numerics.h"
#include "workloads/models/model.h"

namespace trnsim {
namespace {

using base::Error;
using base::Fault;
using T = Settings;

constexpr std::string_view kModel = "Model and data", kTrain = "Training", kNumerics = "Numerics", kMachine = "Machine",
                           kPlan = "Parallel plan", kLora = "LoRA", kOutput = "Output";
constexpr double kMax = 9e15;

constexpr std::string_view kFormats = "table|json|csv|md";
constexpr double kNoLimit = -std::numeric_limits<double>::infinity(), kNoLimitAbove = -kNoLimit;

std::string joined(const std::vector<std::string>& names) { return fmt::format("{}", fmt::join(names, "|")); }
std::string stacks() { return joined(analysis::stack_names()); }
std::string purchases() { return fmt::format("{}", fmt::join(analysis::kPurchaseNames, "|")); }
/// Hugging Face's names of tasks, and what a model needs for them.
constexpr std::array<std::pair<std::string_view, workloads::Head>, 3> kTasks = {
    {{"sequence-classification", workloads::Head::kClassifier},
     {"token-classification", workloads::Head::kTokens},
     {"fill-mask", workloads::Head::kMaskedTokens}}};
std::string task_names() {
  std::string out;
  for (const auto& [name, head] : kTasks) out += fmt::format("{}{}", out.empty() ? "" : "|", name);
  return out;
}

std::string number_formats() { return "off|" + joined(runtime::numerics_names()); }

// clang-format off
const std::array kRows = {
    Setting{"model_id,model_name_or_path", &T::model_id, kModel,
         "Hugging Face folder with config.json and model.safetensors; a decoder's also shards or llama2.c"},
    Setting{"dataset_path,train_file", &T::dataset_path, kModel,
         "csv, tsv, jsonl or text;label file, conll or jsonl with a label of each word, or a folder of them; "
         "for a decoder, or an encoder that learns hidden tokens, jsonl or plain text; "
         "for a model of images the files of MNIST or CIFAR-10, or a folder of PNG and JPEG files for each class", "",
         "SM_CHANNEL_TRAIN"},
    Setting{"validation_file", &T::validation_file, kModel,
         "evaluated during training", "", "SM_CHANNEL_VALIDATION"},
    Setting{"test_file", &T::test_file, kModel, "evaluated at the end", "", "SM_CHANNEL_TEST"},
    Setting{"vocab", &T::vocab, kModel, "vocab.txt or tokenizer.json; default: the model folder's"},
    Setting{"max_length,max_seq_length,max_source_length", &T::max_length, kModel,
         "tokens of a padded or cut sample; 0: the workload's", "", "", 0, 1 << 20},
    Setting{"buckets", &T::buckets, kModel,
         "lengths that samples are padded to, each to the least that holds it: 128,256,512; auto: fitted to the data; "
         "default: one length"},
    Setting{"packing", &T::packing, kModel,
         "texts without labels are joined and cut to one length; false: each is padded"},
    Setting{"max_target_length", &T::max_target_length, kModel,
         "tokens that a model writes which reads one text and writes another; 0: the workload's", "", "", 0, 1 << 20},
    Setting{"text_column", &T::text_column, kModel, "column of the text; default: found by its name"},
    Setting{"label_column", &T::label_column, kModel, "column of the label; default: found by its name"},
    Setting{"label_names", &T::label_names, kModel,
         "names of the classes in the order of their numbers, with commas"},
    Setting{"max_train_samples", &T::max_train_samples, kModel,
         "use the first N training samples; 0: all", "", "", 0, kMax},
    Setting{"max_eval_samples", &T::max_eval_samples, kModel,
         "use the first N evaluation samples; 0: all", "", "", 0, kMax},
    Setting{"task", &T::task, kModel, "the labels that a model learns; default: as the data has them", {}, {},
         kNoLimit, kNoLimitAbove, task_names},
    Setting{"strict", &T::strict, kModel, "a malformed row is an error instead of being counted and skipped"},

    Setting{"per_device_train_batch_size", &T::per_device_train_batch_size, kTrain,
         "samples of a micro-step on one core", "", "", 1, 1 << 20},
    Setting{"per_device_eval_batch_size", &T::per_device_eval_batch_size, kTrain,
         "samples of an evaluation batch on one core", "", "", 1, 1 << 20},
    Setting{"gradient_accumulation_steps", &T::gradient_accumulation_steps, kTrain,
         "micro-steps of an optimizer step", "", "", 1, 1 << 20},
    Setting{"learning_rate", &T::learning_rate, kTrain, "peak learning rate of AdamW", "", "", 0, 1e6},
    Setting{"weight_decay", &T::weight_decay, kTrain, "decoupled weight decay of AdamW", "", "", 0, 1e6},
    Setting{"adam_beta1", &T::adam_beta1, kTrain, "decay of the first moment", "", "", 0, 0.999999999},
    Setting{"adam_beta2", &T::adam_beta2, kTrain, "decay of the second moment", "", "", 0, 0.999999999},
    Setting{"adam_epsilon", &T::adam_epsilon, kTrain, "added to the root of the second moment", "", "", 0, 1},
    Setting{"max_grad_norm", &T::max_grad_norm, kTrain,
         "clips gradients to this norm; 0: no clipping", "", "", 0, 1e30},
    Setting{"label_smoothing_factor", &T::label_smoothing_factor, kTrain,
         "share of a label that all classes have alike, in training; evaluation has the labels as they are", "", "", 0,
         0.999},
    Setting{"num_train_epochs", &T::num_train_epochs, kTrain, "passes over the training data", "", "", 0, 1e9},
    Setting{"max_steps", &T::max_steps, kTrain,
         "optimizer steps, instead of epochs; -1: epochs count", "", "", -1, kMax},
    Setting{"lr_scheduler_type", &T::lr_scheduler_type, kTrain,
         "learning rate after the warm-up", "linear|constant|cosine"},
    Setting{"warmup_ratio", &T::warmup_ratio, kTrain, "warm-up as a share of all steps", "", "", 0, 1},
    Setting{"warmup_steps", &T::warmup_steps, kTrain,
         "warm-up in steps; more than 0 replaces the ratio", "", "", 0, kMax},
    Setting{"dataloader_num_workers", &T::dataloader_num_workers, kTrain,
         "processes that load data; 0: a thread beside the loop", "", "", 0, 256},
    Setting{"eval_strategy,evaluation_strategy", &T::eval_strategy, kTrain, "when to evaluate", "no|epoch"},
    Setting{"seed", &T::seed, kTrain, "of shuffling, dropout and initial weights", "", "", 0, 4294967295.0},

    Setting{"numerics", &T::numerics, kNumerics,
         "number format of weights and activations; off: time only; default: the workload's", {}, {}, kNoLimit,
         kNoLimitAbove, number_formats},
    Setting{"bf16", &T::bf16, kNumerics, "the same as `numerics` bf16"},
    Setting{"stochastic_rounding_enabled", &T::stochastic_rounding_enabled, kNumerics,
         "with bf16 or fp16: the same as +sr", "", "NEURON_RT_STOCHASTIC_ROUNDING_EN"},
    Setting{"auto_cast", &T::auto_cast, kNumerics,
         "what the compiler casts of fp32 weights' arithmetic, with `numerics` fp32", "none|matmult|all"},
    Setting{"auto_cast_type", &T::auto_cast_type, kNumerics, "to which type it casts", "bf16|fp16|tf32|fp8_e4m3"},
    Setting{"xla_use_bf16", &T::xla_use_bf16, kNumerics,
         "torch-xla makes every float bf16, rounded stochastically", "", "XLA_USE_BF16"},
    Setting{"xla_downcast_bf16", &T::xla_downcast_bf16, kNumerics, "the same of float, not of double", "",
         "XLA_DOWNCAST_BF16"},
    Setting{"stochastic_rounding_seed", &T::stochastic_rounding_seed, kNumerics,
         "of stochastic rounding", "", "NEURON_RT_STOCHASTIC_ROUNDING_SEED", 0, 4294967295.0},

    Setting{"tensor_parallel_size", &T::tensor_parallel_size, kPlan,
         "cores that share each layer", "", "", 1, 1 << 20},
    Setting{"pipeline_parallel_size", &T::pipeline_parallel_size, kPlan,
         "stages that share the layers", "", "", 1, 1 << 20},
    Setting{"virtual_pipeline_size", &T::virtual_pipeline_size, kPlan,
         "chunks of layers on each stage, in turn (interleaved 1F1B)", "", "", 1, 1 << 20},
    Setting{"disable_sequence_parallel", &T::disable_sequence_parallel, kPlan,
         "every tensor-parallel core keeps all tokens outside of matmuls"},
    Setting{"zero_1", &T::zero_1, kPlan, "data-parallel cores share the optimizer's state"},
    Setting{"optimizer_use_master_weights", &T::optimizer_use_master_weights, kPlan,
         "fp32 copies of the weights, which the optimizer updates"},
    Setting{"recompute", &T::recompute, kPlan,
         "what backward computes again; full is gradient checkpointing", "none|selective|full"},

    Setting{"capacity_factor", &T::capacity_factor, kPlan,
         "slots of an expert over an even share of the tokens, others are dropped; 0: none is; -1: the model's", "", "",
         -1, 1e6},

    Setting{"lora_r", &T::lora_r, kLora,
         "rank of adapters that are trained beside frozen weights; 0: all weights are trained", "", "", 0, 4096},
    Setting{"lora_alpha", &T::lora_alpha, kLora,
         "what the adapters add is scaled by this over the rank", "", "", 0, 1e6},
    Setting{"lora_dropout", &T::lora_dropout, kLora, "share of an adapter's input that is dropped", "", "", 0, 0.999},
    Setting{"lora_target_modules", &T::lora_target_modules, kLora,
         "linear layers with adapters, with commas: q_proj,v_proj; or all-linear"},

    Setting{"mode", &T::mode, kMachine,
         "timed: clock only; numeric: values only; full: both in one; default: the verb's", "timed|numeric|full"},
    Setting{"instance_type", &T::instance_type, kMachine, "machine (trnsim params), or a file of one"},
    Setting{"nproc_per_node,nproc-per-node", &T::nproc_per_node, kMachine,
         "cores in use on each instance; 0: the workload's", "", "NEURON_RT_NUM_CORES", 0, 1 << 20},
    Setting{"nnodes,num_nodes", &T::nnodes, kMachine, "instances", "", "", 1, 1 << 20},
    Setting{"stack", &T::stack, kMachine,
         "host software; default: the workload's", {}, {}, kNoLimit, kNoLimitAbove, stacks},
    Setting{"passes", &T::passes, kMachine, "compiler passes to switch: -fusion,+cse"},
    Setting{"set", &T::set, kMachine, "KEY=VALUE of a machine parameter; repeatable"},
    Setting{"price", &T::price, kMachine, "how the instance is bought; default: the workload's", {}, {}, kNoLimit,
         kNoLimitAbove, purchases},
    Setting{"backslash_escapes", &T::backslash_escapes, kModel, "a backslash escapes the next character in csv data"},
    Setting{"compile_cache", &T::compile_cache, kMachine,
         "folder of compiled programs: what is there is not compiled again", "", "TRNSIM_COMPILE_CACHE"},
    Setting{"exact", &T::exact, kMachine, "simulate every core and every call, nothing replayed"},
    Setting{"host_threads", &T::host_threads, kMachine,
         "threads of this host; 0: all; never changes a result", "", "", 0, 4096},

    Setting{"output_dir", &T::output_dir, kOutput,
         "run folder; default: runs/ and the time", "", "SM_MODEL_DIR"},
    Setting{"overwrite_output_dir", &T::overwrite_output_dir, kOutput, "write into a folder that is not empty"},
    Setting{"resume_from_checkpoint", &T::resume_from_checkpoint, kOutput,
         "checkpoint folder to continue from, to the same bits; a decoder's also under another plan"},
    Setting{"logging_steps", &T::logging_steps, kOutput,
         "steps between two lines of steps.jsonl and two read-backs of the loss", "", "", 1, kMax},
    Setting{"save_steps", &T::save_steps, kOutput,
         "steps between two checkpoints; 0: only at the end", "", "", 0, kMax},
    Setting{"suggestions", &T::suggestions, kOutput,
         "changes of the job that would help most, each projected: how many to name", "", "TRNSIM_SUGGESTIONS", 0, 10},
    Setting{"report_to", &T::report_to, kOutput,
         "files for other tools in the run folder, with commas: tensorboard, prometheus, jsonl (MLPerf's log), "
         "parquet; all"},
    Setting{"config", &T::config, kOutput, "file of settings: name = value a line, TOML; flags come first"},
    Setting{"format", &T::format, kOutput, "form of what goes to stdout", kFormats},
};
// clang-format on

std::vector<std::string> all_names() {
  std::vector<std::string> names;
  for (const Setting& s : kRows) names.emplace_back(s.name());
  return names;
}

}  // namespace

std::span<const Setting> settings_table() { return kRows; }

namespace {

/// torch-xla's switches make bf16 of fp32; the runtime turns stochastic rounding on with them.
/// Source: AWS Neuron docs, rounding modes.
void settle_downcast(Settings& settings) {
  if (!settings.xla_use_bf16 && !settings.xla_downcast_bf16) return;
  const char* name = settings.xla_use_bf16 ? "`xla_use_bf16`" : "`xla_downcast_bf16`";
  const bool known =
      settings.numerics.empty() || settings.numerics.starts_with("fp32") || settings.numerics.starts_with("bf16");
  if (!known)
    throw Error{Fault::kUsage, name, fmt::format("contradicts `numerics` {}", settings.numerics),
                "give one of the two"};
  if (!settings.numerics.starts_with("bf16")) settings.numerics = "bf16";
  const bool nearest = settings.given.contains("stochastic_rounding_enabled") && !settings.stochastic_rounding_enabled;
  if (!nearest && !settings.numerics.ends_with("+sr")) settings.numerics += "+sr";
  settings.given.insert("numerics");
}

/// Of fp32 weights the compiler casts what `auto_cast` says.
void settle_auto_cast(Settings& settings) {
  const bool stochastic = settings.numerics == "fp32+sr";
  if ((settings.numerics != "fp32" && !stochastic) || settings.auto_cast == "none") return;
  if (settings.auto_cast_type == "tf32")  // has fp32's range and width in memory: only operands can be cast
    settings.numerics = "tf32";
  else
    settings.numerics =
        fmt::format("fp32+{}-{}", settings.auto_cast_type, settings.auto_cast == "all" ? "all" : "matmul");
  if (stochastic) settings.numerics += "+sr";
}

}  // namespace

/// `bf16` and `stochastic_rounding_enabled` are other spellings of `numerics`.
void settle_numerics(Settings& settings) {
  settle_downcast(settings);
  if (settings.bf16) {
    if (!settings.numerics.empty() && !settings.numerics.starts_with("bf16"))
      throw Error{Fault::kUsage, "`bf16`", fmt::format("contradicts `numerics` {}", settings.numerics),
                  "give one of the two"};
    if (settings.numerics.empty()) settings.numerics = "bf16";
    settings.given.insert("numerics");
  }
  // The switch speaks of casts to 16 bits, so it leaves fp32 as it is, as on the machine.
  if (settings.stochastic_rounding_enabled && (settings.numerics == "bf16" || settings.numerics == "fp16"))
    settings.numerics += "+sr";
  const bool switched_off =
      settings.given.contains("stochastic_rounding_enabled") && !settings.stochastic_rounding_enabled;
  if (switched_off && !settings.given.contains("numerics") && settings.numerics.ends_with("+sr"))
    settings.numerics.resize(settings.numerics.size() - 3);
  settle_auto_cast(settings);
}

void refuse_shared_model(const Settings& settings, std::string_view model) {
  const Settings one_core;
  const auto same = [&](auto member) { return settings.*member == one_core.*member; };
  for (const Setting& s : kRows)
    if (s.group == kPlan && settings.given.contains(std::string{s.name()}) && !std::visit(same, s.member))
      throw Error{Fault::kUsage, fmt::format("`{}`", s.name()),
                  fmt::format("{} is an encoder, whose cores are data parallel alone", model),
                  "leave it out, or name the workload of a decoder"};
}

std::optional<workloads::Head> head_of(const Settings& settings) {
  if (settings.task.empty()) return std::nullopt;
  return std::ranges::find(kTasks, settings.task, [](const auto& task) { return task.first; })->second;
}

workloads::ModelPtr headed(const Settings& settings, const workloads::ModelPtr& model) {
  const auto head = head_of(settings);
  if (!head) return model;
  workloads::ModelPtr out = model->with_head(*head);
  if (out->head() != *head)
    throw Error{Fault::kUsage, "`task`", fmt::format("{} has no head for {}", model->family(), settings.task),
                "leave it out, or name a model that has one, as bert-base-uncased"};
  return out;
}

std::optional<workloads::Lora> lora_of(const Settings& settings) {
  const Settings none;
  if (settings.lora_r == 0) {
    const auto same = [&](auto member) { return settings.*member == none.*member; };
    for (const Setting& s : kRows)
      if (s.group == kLora && !std::visit(same, s.member))
        throw Error{Fault::kUsage, fmt::format("`{}`", s.name()), "there are no adapters without a rank",
                    "give `lora_r` too, for example 16"};
    return std::nullopt;
  }
  workloads::Lora lora{.rank = settings.lora_r, .alpha = settings.lora_alpha, .dropout = settings.lora_dropout};
  for (std::size_t begin = 0; begin < settings.lora_target_modules.size();) {
    const std::size_t end =
        std::min(settings.lora_target_modules.find(',', begin), settings.lora_target_modules.size());
    lora.targets.push_back(settings.lora_target_modules.substr(begin, end - begin));
    begin = end + 1;
  }
  return lora;
}

workloads::ModelPtr adapted(const Settings& settings, const workloads::ModelPtr& model) {
  const std::optional<workloads::Lora> lora = lora_of(settings), there = model->lora();
  if (!lora) return model;
  const workloads::ModelPtr out = model->with_lora(lora);
  if (there && *there != *out->lora())
    throw Error{Fault::kUsage, "`lora_r`",
                fmt::format("rank {}, alpha {}, dropout {} and the targets are not those of the model's adapters: rank "
                            "{}, alpha {}, dropout {}, {}",
                            lora->rank, lora->alpha, lora->dropout, there->rank, there->alpha, there->dropout,
                            fmt::join(there->targets, ",")),
                "leave the settings of LoRA out to train those on, or merge them into the base first"};
  return out;
}

bool pads_to_lengths(const Settings& settings, const workloads::Model& model) {
  if (model.image()) return false;
  return !settings.buckets.empty() || (model.task() == workloads::Task::kNextToken && !settings.packing);
}

void require_lengths(const Settings& settings, const workloads::Model& model) {
  const bool decoder = model.task() == workloads::Task::kNextToken,
             masked = model.task() == workloads::Task::kMaskedTokens;
  if (masked && !settings.buckets.empty())
    throw Error{Fault::kUsage, "`buckets`", "texts whose tokens are hidden have one length", "leave it out"};
  if (model.image() && !settings.buckets.empty())
    throw Error{Fault::kUsage, "`buckets`", fmt::format("the pictures of {} have one length", model.family()),
                "leave it out"};
  if (model.image() && settings.max_length > 0 && settings.given.contains("max_length"))
    throw Error{Fault::kUsage, "`max_length`",
                fmt::format("the pictures of {} have {} patches each", model.family(), model.image()->patches()),
                "leave it out"};
  if (decoder && settings.packing && !settings.buckets.empty())
    throw Error{Fault::kUsage, "`buckets`", "packed texts are cut to one length", "add `packing` false"};
  if (!decoder && !masked && settings.packing && settings.given.contains("packing"))
    throw Error{Fault::kUsage, "`packing`", fmt::format("{} is an encoder, whose samples are padded", model.family()),
                "leave it out, or name the workload of a decoder"};
}

void apply_defaults(Settings& settings, const std::map<std::string, std::string>& values, std::string_view where) {
  for (const auto& [name, value] : values) {
    const auto found = std::ranges::find(kRows, name, &Setting::name);
    if (found == kRows.end()) {
      throw Error{Fault::kUsage, where, fmt::format("unknown option '{}'", name), base::suggest_fix(name, all_names())};
    }
    if (!settings.given.contains(name)) set_option<Settings>(settings, *found, value);
  }
  settle_numerics(settings);
}

void apply_config(Settings& settings, const std::string& path) {
  const base::ParamFile file = base::ParamFile::load(path);
  const std::set<std::string> given = settings.given;
  for (const std::string& key : file.keys()) {
    const auto found = std::ranges::find(kRows, key, &Setting::name);
    if (found == kRows.end())
      throw Error{Fault::kUsage, file.parameter(key).where, fmt::format("unknown option '{}'", key),
                  base::suggest_fix(key, all_names())};
    if (given.contains(key)) continue;
    for (const std::string& value : file.parameter(key).values) set_option<Settings>(settings, *found, value);
    settings.given.insert(key);
  }
}

std::string config_text(const Settings& settings) {
  const nlohmann::ordered_json all = to_json(settings), defaults = to_json(Settings{});
  std::string out;
  for (const auto& [name, value] : all.items()) {
    if (name == "config" || (value == defaults.at(name) && !settings.given.contains(name))) continue;
    out += fmt::format("{} = {}\n", name, value.dump());
  }
  return out;
}

void apply_workload(Settings& settings, const workloads::Workload& workload, WorkloadPart part) {
  apply_defaults(settings, workload.options, workload.file);
  if (part == WorkloadPart::kProjected) return;
  auto trained = settings.model_id.empty() ? workload.small_options : workload.own_options;
  constexpr std::array<const char*, 4> kShared = {"tensor_parallel_size", "pipeline_parallel_size", "nproc_per_node",
                                                  "nnodes"};
  if (std::ranges::any_of(kShared, [&](const char* name) { return settings.given.contains(name); }))
    for (const char* name : kShared) trained.erase(name);
  apply_defaults(settings, trained, workload.file);
}

nlohmann::ordered_json to_json(const Settings& settings) {
  nlohmann::ordered_json out = nlohmann::ordered_json::object();
  for (const Setting& s : kRows)
    std::visit([&](auto member) { out[std::string{s.name()}] = settings.*member; }, s.member);
  return out;
}

Settings settings_from(const nlohmann::ordered_json& json) {
  Settings settings;
  for (const Setting& s : kRows) {
    const std::string name{s.name()};
    if (!json.contains(name)) continue;  // of a run by an older trnsim
    std::visit([&](auto member) { json.at(name).get_to(settings.*member); }, s.member);
    if (name == "packing" && settings.packing) continue;  // stands there of encoders too, which may not ask for it
    settings.given.insert(name);
  }
  return settings;
}

}  // namespace trnsim
