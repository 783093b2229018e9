#include "trnsim/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/suggest.h"

namespace trnsim {
namespace {

using base::Error;
using base::Fault;
using T = TrainOptions;

constexpr std::string_view kModel = "Model and data", kTrain = "Training", kNumerics = "Numerics", kMachine = "Machine",
                           kPlan = "Parallel plan", kOutput = "Output";
// Which verbs take a row.
constexpr std::string_view kRun = "run", kJob = "run compile ablate", kCheck = "run compile ablate verify",
                           kAll = "run compile ablate verify validate estimate plan",
                           kShare = "run compile ablate verify estimate", kSize = "run compile ablate estimate plan",
                           kStep = "run compile ablate verify estimate";
constexpr std::string_view kStages = "run verify estimate plan", kDecoders = "run compile ablate verify estimate plan",
                           kEach = "run compile ablate verify estimate plan";
constexpr double kMax = 9e15;

constexpr std::string_view kFormats = "table|json|csv|md";
constexpr std::string_view kNumericsChoices = "off|fp32|tf32|bf16|bf16+sr|fp16|fp16+sr|fp8_e4m3|fp8_e5m2|fp8_e3m4";

TrainOptionRow row(std::string_view verbs, OptionRow<T> option) { return {option, verbs}; }

// clang-format off
const std::array kRows = {
    row(kJob, {"--model_id,--model_name_or_path", &T::model_id, kModel,
         "Hugging Face folder with config.json and model.safetensors; a decoder's also shards or llama2.c"}),
    row(kJob, {"--dataset_path,--train_file", &T::dataset_path, kModel,
         "csv, tsv, jsonl or text;label file, or a folder of them; for a decoder jsonl or plain text", "",
         "SM_CHANNEL_TRAIN"}),
    row(kJob, {"--validation_file", &T::validation_file, kModel,
         "evaluated during training", "", "SM_CHANNEL_VALIDATION"}),
    row(kJob, {"--test_file", &T::test_file, kModel, "evaluated at the end", "", "SM_CHANNEL_TEST"}),
    row(kJob, {"--vocab", &T::vocab, kModel, "vocab.txt or tokenizer.json; default: the model folder's"}),
    row(kSize, {"--max_length,--max_seq_length", &T::max_length, kModel,
         "tokens of a padded or cut sample; 0: the workload's", "", "", 0, 1 << 20}),
    row(kJob, {"--text_column", &T::text_column, kModel, "column of the text; default: found by its name"}),
    row(kJob, {"--label_column", &T::label_column, kModel, "column of the label; default: found by its name"}),
    row(kJob, {"--label_names", &T::label_names, kModel,
         "names of the classes in the order of their numbers, with commas"}),
    row(kJob, {"--max_train_samples", &T::max_train_samples, kModel,
         "use the first N training samples; 0: all", "", "", 0, kMax}),
    row(kJob, {"--max_eval_samples", &T::max_eval_samples, kModel,
         "use the first N evaluation samples; 0: all", "", "", 0, kMax}),
    row(kJob, {"--strict", &T::strict, kModel, "a malformed row is an error instead of being counted and skipped"}),

    row(kSize, {"--per_device_train_batch_size", &T::per_device_train_batch_size, kTrain,
         "samples of a micro-step on one core", "", "", 1, 1 << 20}),
    row(kJob, {"--per_device_eval_batch_size", &T::per_device_eval_batch_size, kTrain,
         "samples of an evaluation batch on one core", "", "", 1, 1 << 20}),
    row(kStep, {"--gradient_accumulation_steps", &T::gradient_accumulation_steps, kTrain,
         "micro-steps of an optimizer step", "", "", 1, 1 << 20}),
    row(kJob, {"--learning_rate", &T::learning_rate, kTrain, "peak learning rate of AdamW", "", "", 0, 1e6}),
    row(kSize, {"--weight_decay", &T::weight_decay, kTrain, "decoupled weight decay of AdamW", "", "", 0, 1e6}),
    row(kJob, {"--adam_beta1", &T::adam_beta1, kTrain, "decay of the first moment", "", "", 0, 0.999999999}),
    row(kJob, {"--adam_beta2", &T::adam_beta2, kTrain, "decay of the second moment", "", "", 0, 0.999999999}),
    row(kJob, {"--adam_epsilon", &T::adam_epsilon, kTrain, "added to the root of the second moment", "", "", 0, 1}),
    row(kSize, {"--max_grad_norm", &T::max_grad_norm, kTrain,
         "clips gradients to this norm; 0: no clipping", "", "", 0, 1e30}),
    row(kJob, {"--num_train_epochs", &T::num_train_epochs, kTrain, "passes over the training data", "", "", 0, 1e9}),
    row(kJob, {"--max_steps", &T::max_steps, kTrain,
         "optimizer steps, instead of epochs; -1: epochs count", "", "", -1, kMax}),
    row(kJob, {"--lr_scheduler_type", &T::lr_scheduler_type, kTrain,
         "learning rate after the warm-up", "linear|constant|cosine"}),
    row(kJob, {"--warmup_ratio", &T::warmup_ratio, kTrain, "warm-up as a share of all steps", "", "", 0, 1}),
    row(kJob, {"--warmup_steps", &T::warmup_steps, kTrain,
         "warm-up in steps; more than 0 replaces the ratio", "", "", 0, kMax}),
    row(kRun, {"--eval_strategy,--evaluation_strategy", &T::eval_strategy, kTrain, "when to evaluate", "no|epoch"}),
    row(kCheck, {"--seed", &T::seed, kTrain, "of shuffling, dropout and initial weights", "", "", 0, 4294967295.0}),

    row(kEach, {"--numerics", &T::numerics, kNumerics,
         "number format of weights and activations; off: time only; default: the workload's", kNumericsChoices}),
    row(kCheck, {"--bf16", &T::bf16, kNumerics, "the same as --numerics bf16"}),
    row(kCheck, {"--stochastic_rounding_enabled", &T::stochastic_rounding_enabled, kNumerics,
         "with bf16 or fp16: the same as +sr", "", "NEURON_RT_STOCHASTIC_ROUNDING_EN"}),
    row(kCheck, {"--stochastic_rounding_seed", &T::stochastic_rounding_seed, kNumerics,
         "of stochastic rounding", "", "NEURON_RT_STOCHASTIC_ROUNDING_SEED", 0, 4294967295.0}),

    row(kShare, {"--tensor_parallel_size", &T::tensor_parallel_size, kPlan,
         "cores that share each layer", "", "", 1, 1 << 20}),
    row(kShare, {"--pipeline_parallel_size", &T::pipeline_parallel_size, kPlan,
         "stages that share the layers", "", "", 1, 1 << 20}),
    row(kStages, {"--virtual_pipeline_size", &T::virtual_pipeline_size, kPlan,
         "chunks of layers on each stage, in turn (interleaved 1F1B)", "", "", 1, 1 << 20}),
    row(kDecoders, {"--disable_sequence_parallel", &T::disable_sequence_parallel, kPlan,
         "every tensor-parallel core keeps all tokens outside of matmuls"}),
    row(kShare, {"--zero_1", &T::zero_1, kPlan, "data-parallel cores share the optimizer's state"}),
    row(kDecoders, {"--optimizer_use_master_weights", &T::optimizer_use_master_weights, kPlan,
         "fp32 copies of the weights, which the optimizer updates"}),
    row(kShare, {"--recompute", &T::recompute, kPlan,
         "what backward computes again; full is gradient checkpointing", "none|selective|full"}),

    row(kCheck, {"--mode", &T::mode, kMachine,
         "timed: clock only; numeric: values only; full: both in one; default: the verb's", "timed|numeric|full"}),
    row(kAll, {"--instance_type", &T::instance_type, kMachine, "machine file (trnsim list machines)"}),
    row(kEach, {"--nproc_per_node,--nproc-per-node", &T::nproc_per_node, kMachine,
         "cores in use on each instance; 0: the workload's", "", "NEURON_RT_NUM_CORES", 0, 1 << 20}),
    row(kSize, {"--nnodes,--num_nodes", &T::nnodes, kMachine, "instances", "", "", 1, 1 << 20}),
    row(kSize, {"--stack", &T::stack, kMachine,
         "host software; default: the workload's", "bare|torch-xla|hf-trainer"}),
    row(kSize, {"--passes", &T::passes, kMachine, "compiler passes to switch, as in --passes=-fusion,+cse"}),
    row(kAll, {"--set", &T::set, kMachine, "KEY=VALUE of a machine parameter (trnsim params); repeatable"}),
    row(kAll, {"--compile_cache", &T::compile_cache, kMachine,
         "folder of compiled programs: what is there is not compiled again", "", "TRNSIM_COMPILE_CACHE"}),
    row(kAll, {"--exact", &T::exact, kMachine, "simulate every core and every call, nothing replayed"}),
    row(kAll, {"--host_threads", &T::host_threads, kMachine,
         "threads of this host; 0: all; never changes a result", "", "", 0, 4096}),

    row(kRun, {"--output_dir", &T::output_dir, kOutput,
         "run folder; default: runs/ and the time", "", "SM_MODEL_DIR"}),
    row(kRun, {"--overwrite_output_dir", &T::overwrite_output_dir, kOutput, "write into a folder that is not empty"}),
    row(kRun, {"--resume_from_checkpoint", &T::resume_from_checkpoint, kOutput,
         "checkpoint folder to continue from, to the same bits; a decoder's also under another plan"}),
    row(kRun, {"--logging_steps", &T::logging_steps, kOutput,
         "steps between two lines of steps.jsonl and two read-backs of the loss", "", "", 1, kMax}),
    row(kRun, {"--save_steps", &T::save_steps, kOutput,
         "steps between two checkpoints; 0: only at the end", "", "", 0, kMax}),
    row(kAll, {"--format", &T::format, kOutput, "form of what goes to stdout", kFormats}),
};
// clang-format on

std::vector<std::string> all_names() {
  std::vector<std::string> names;
  for (const TrainOptionRow& r : kRows) names.emplace_back(r.name());
  return names;
}

}  // namespace

std::span<const TrainOptionRow> train_option_rows() { return kRows; }

/// --bf16 and --stochastic_rounding_enabled are other spellings of --numerics.
void settle_numerics(TrainOptions& options) {
  if (options.bf16) {
    if (!options.numerics.empty() && !options.numerics.starts_with("bf16")) {
      throw Error{Fault::kUsage, "--bf16", fmt::format("contradicts --numerics {}", options.numerics),
                  "give one of the two"};
    }
    if (options.numerics.empty()) options.numerics = "bf16";
    options.given.insert("numerics");
  }
  // The switch speaks of casts to 16 bits, so it leaves fp32 as it is, as on the machine.
  if (options.stochastic_rounding_enabled && (options.numerics == "bf16" || options.numerics == "fp16")) {
    options.numerics += "+sr";
  }
  const bool switched_off =
      options.given.contains("stochastic_rounding_enabled") && !options.stochastic_rounding_enabled;
  if (switched_off && !options.given.contains("numerics") && options.numerics.ends_with("+sr")) {
    options.numerics.resize(options.numerics.size() - 3);
  }
}

void refuse_plan_of_encoder(const TrainOptions& options, std::string_view model) {
  const TrainOptions one_core;
  const auto same = [&](auto member) { return options.*member == one_core.*member; };
  for (const TrainOptionRow& r : kRows)
    if (r.group == kPlan && options.given.contains(std::string{r.name()}) && !std::visit(same, r.member))
      throw Error{Fault::kUsage, fmt::format("--{}", r.name()),
                  fmt::format("{} is an encoder, whose cores are data parallel alone", model),
                  "leave it out, or name the workload of a Llama or GPT"};
}

void apply_defaults(TrainOptions& options, const std::map<std::string, std::string>& values, std::string_view where) {
  for (const auto& [name, value] : values) {
    const auto found = std::ranges::find(kRows, name, &TrainOptionRow::name);
    if (found == kRows.end()) {
      throw Error{Fault::kUsage, where, fmt::format("unknown option '{}'", name), base::suggest_fix(name, all_names())};
    }
    if (!options.given.contains(name)) set_option<T>(options, *found, value);
  }
  settle_numerics(options);
}

}  // namespace trnsim
