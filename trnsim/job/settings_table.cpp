// All settings, a row each.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <limits>

#include "analysis/cost/prices.h"
#include "analysis/host/stack.h"
#include "runtime/graph/numerics.h"
#include "trnsim/job/settings.h"

namespace trnsim {
namespace {

// Which member of the settings a group is.
template <class Group>
constexpr auto kGroup = nullptr;
template <>
constexpr auto kGroup<DataSettings> = &Settings::data;
template <>
constexpr auto kGroup<TrainingSettings> = &Settings::training;
template <>
constexpr auto kGroup<NumericsSettings> = &Settings::numerics;
template <>
constexpr auto kGroup<PlanSettings> = &Settings::plan;
template <>
constexpr auto kGroup<LoraSettings> = &Settings::lora;
template <>
constexpr auto kGroup<GenerationSettings> = &Settings::generation;
template <>
constexpr auto kGroup<MachineSettings> = &Settings::machine;
template <>
constexpr auto kGroup<OutputSettings> = &Settings::output;

/// A member of one of the groups.
template <auto member>
constexpr auto in = at<kGroup<decltype(owner_of(member))>, member>;

using Data = DataSettings;
using Train = TrainingSettings;
using Numbers = NumericsSettings;
using Plan = PlanSettings;
using Lora = LoraSettings;
using Text = GenerationSettings;
using Machine = MachineSettings;
using Output = OutputSettings;

constexpr Effect kJob{.job = true}, kRun{}, kTrainJob{.job = true, .training = true}, kTrainRun{.training = true},
    kAmountJob{.job = true, .training = true, .needs = Needs::kData}, kTextJob{.job = true, .needs = Needs::kData},
    kFileJob{.job = true, .training = true, .needs = Needs::kFiles}, kFileRun{.training = true, .needs = Needs::kFiles},
    kStepsJob{.job = true, .training = true, .needs = Needs::kSteps};

constexpr std::string_view kModel = "Model and data", kTrain = "Training", kNumerics = "Numerics", kMachine = "Machine",
                           kPlan = kPlanGroup, kLora = kLoraGroup, kOutput = "Output", kText = kTextGroup,
                           kSampling = kSamplingGroup;
constexpr double kMax = 9e15;

// Verbs that take a setting, where several settings have the same. One without a verb is a setting of files alone.
constexpr std::string_view kRunning = "run", kAnswers = "run estimate cost", kTexts = "run generate",
                           kTrains = "run compile check ablate", kAmounts = "run compile check ablate cost",
                           kData = "run compile check ablate estimate cost",
                           kJobs = "run compile check ablate estimate plan cost",
                           kValues = "run compile check ablate verify",
                           kPlans = "run compile check ablate verify estimate cost",
                           kPrograms = "run compile check ablate verify estimate plan cost",
                           kSimulates = "run compile check ablate verify validate estimate plan generate cost";

constexpr std::string_view kFormats = "table|json|csv|md";
constexpr double kNoLimit = -std::numeric_limits<double>::infinity(), kNoLimitAbove = -kNoLimit;

std::string joined(const std::vector<std::string>& names) { return fmt::format("{}", fmt::join(names, "|")); }
std::string stacks() { return joined(analysis::stack_names()); }
std::string purchases() { return fmt::format("{}", fmt::join(analysis::kPurchaseNames, "|")); }
std::string task_names() {
  std::vector<std::string> names;
  for (const auto& [name, head] : kTasks) names.emplace_back(name);
  names.emplace_back(kInference);
  return joined(names);
}
std::string number_formats() { return "off|" + joined(runtime::numerics_names()); }

// clang-format off
const std::array kRows = {
    Setting{"model_id,model_name_or_path", in<&Data::model_id>, kJob, kModel, kAmounts,
         "Hugging Face folder with config.json and model.safetensors; a decoder's also shards or llama2.c"},
    Setting{"dataset_path,train_file", in<&Data::dataset_path>, kTrainJob, kModel, kData,
         "a csv, tsv, jsonl or text;label file, conll or jsonl with a label for each word, or a folder of them; for a "
         "decoder, or an encoder that learns masked tokens, jsonl or plain text; for an image model the files of "
         "MNIST or CIFAR-10, or a folder of PNG and JPEG files for each class", "",
         "SM_CHANNEL_TRAIN"},
    Setting{"validation_file", in<&Data::validation_file>, kFileJob, kModel, kData,
         "data to evaluate during training", "", "SM_CHANNEL_VALIDATION"},
    Setting{"test_file", in<&Data::test_file>, kFileRun, kModel, kTrains,
         "data to evaluate at the end", "", "SM_CHANNEL_TEST"},
    Setting{"vocab", in<&Data::vocab>, kTextJob, kModel, "run compile check ablate estimate generate cost",
         "vocab.txt or tokenizer.json; default: the model folder's"},
    Setting{"max_length,max_seq_length,max_source_length", in<&Data::max_length>, kJob, kModel,
         "run compile check ablate estimate plan generate cost",
         "tokens that a sample is padded or cut to, or that a generation's caches hold; 0: the workload's, or as "
         "needed", "",
         "", 0, 1 << 20},
    Setting{"buckets", in<&Data::buckets>, kAmountJob, kModel, kAnswers,
         "lengths that samples are padded to, each to the shortest that holds it: 128,256,512; auto: fitted to the "
         "data; default: one length"},
    Setting{"packing", in<&Data::packing>, kTrainJob, kModel, kAnswers,
         "join texts without labels and cut them to one length; false: pad each"},
    Setting{"max_target_length", in<&Data::max_target_length>, kTrainJob, kModel, kJobs,
         "tokens of the output of a text-to-text model; 0: the workload's", "", "", 0, 1 << 20},
    Setting{"text_column", in<&Data::text_column>, kFileRun, kModel, kData,
         "column of the text; default: found by its name"},
    Setting{"label_column", in<&Data::label_column>, kFileRun, kModel, kData,
         "column of the label; default: found by its name"},
    Setting{"label_names", in<&Data::label_names>, kTrainRun, kModel, kTrains,
         "names of the classes in the order of their numbers, with commas"},
    Setting{"max_train_samples", in<&Data::max_train_samples>, kAmountJob, kModel, kData,
         "use the first N training samples; 0: all", "", "", 0, kMax},
    Setting{"max_eval_samples", in<&Data::max_eval_samples>, kAmountJob, kModel, kData,
         "use the first N evaluation samples; 0: all", "", "", 0, kMax},
    Setting{"task", in<&Data::task>, kJob, kModel, kData,
         "the labels that a model learns, by default those of the data; inference: requests to the trained model",
         {}, {}, kNoLimit, kNoLimitAbove, task_names},
    Setting{"strict", in<&Data::strict>, kFileRun, kModel, kData,
         "stop at a malformed row instead of counting and skipping it"},

    Setting{"per_device_train_batch_size", in<&Train::per_device_train_batch_size>, kTrainJob, kTrain, kJobs,
         "samples of a micro-step on one core; 1 where a decoder is estimated or planned", "", "", 1, 1 << 20},
    Setting{"per_device_eval_batch_size", in<&Train::per_device_eval_batch_size>, kAmountJob, kTrain, kData,
         "samples of an evaluation batch on one core", "", "", 1, 1 << 20},
    Setting{"gradient_accumulation_steps", in<&Train::gradient_accumulation_steps>, kTrainJob, kTrain, kPlans,
         "micro-steps of an optimizer step", "", "", 1, 1 << 20},
    Setting{"learning_rate", in<&Train::learning_rate>, kTrainRun, kTrain, kTrains,
         "peak learning rate of AdamW", "", "", 0, 1e6},
    Setting{"weight_decay", in<&Train::weight_decay>, kTrainJob, kTrain, kJobs,
         "decoupled weight decay of AdamW", "", "", 0, 1e6},
    Setting{"adam_beta1", in<&Train::adam_beta1>, kTrainJob, kTrain, kTrains,
         "decay of the first moment", "", "", 0, 0.999999999},
    Setting{"adam_beta2", in<&Train::adam_beta2>, kTrainJob, kTrain, kTrains,
         "decay of the second moment", "", "", 0, 0.999999999},
    Setting{"adam_epsilon", in<&Train::adam_epsilon>, kTrainJob, kTrain, kTrains,
         "added to the root of the second moment", "", "", 0, 1},
    Setting{"max_grad_norm", in<&Train::max_grad_norm>, kTrainJob, kTrain, kJobs,
         "clips gradients to this norm; 0: no clipping", "", "", 0, 1e30},
    Setting{"label_smoothing_factor", in<&Train::label_smoothing_factor>, kTrainJob, kTrain, kTrains,
         "share of each label that is spread over all classes, in training only", "", "", 0,
         0.999},
    Setting{"num_train_epochs", in<&Train::num_train_epochs>, kAmountJob, kTrain, kData,
         "passes over the training data", "", "", 0, 1e4},
    Setting{"max_steps", in<&Train::max_steps>, kTrainJob, kTrain, kData,
         "optimizer steps, instead of epochs; -1: train by epochs", "", "", -1, kMax},
    Setting{"lr_scheduler_type", in<&Train::lr_scheduler_type>, kTrainRun, kTrain, kTrains,
         "schedule of the learning rate after the warm-up", "linear|constant|cosine"},
    Setting{"warmup_ratio", in<&Train::warmup_ratio>, kTrainRun, kTrain, kTrains,
         "warm-up as a share of all steps", "", "", 0, 1},
    Setting{"warmup_steps", in<&Train::warmup_steps>, kTrainRun, kTrain, kTrains,
         "warm-up in steps; more than 0 replaces the ratio", "", "", 0, kMax},
    Setting{"dataloader_num_workers", in<&Train::dataloader_num_workers>, kTrainJob, kTrain, kRunning,
         "processes that load data; 0: a thread beside the loop", "", "", 0, 256},
    Setting{"eval_strategy,evaluation_strategy", in<&Train::eval_strategy>, kAmountJob, kTrain, kAnswers,
         "when to evaluate", "no|epoch"},
    Setting{"eval_on_start", in<&Train::eval_on_start>, kAmountJob, kTrain, kAnswers,
         "also evaluate before the first step"},
    Setting{"seed", in<&Train::seed>, kRun, kTrain, "run compile check ablate verify generate",
         "seed of shuffling, dropout and initial weights", "", "", 0, 4294967295.0},

    Setting{"numerics", in<&Numbers::name>, kJob, kNumerics,
         "run compile check ablate verify estimate plan generate cost",
         "number format of weights and activations; off: time only; default: the workload's", {}, {}, kNoLimit,
         kNoLimitAbove, number_formats},
    Setting{"bf16", in<&Numbers::bf16>, kJob, kNumerics, kPrograms, "the same as `numerics` bf16"},
    Setting{"stochastic_rounding_enabled", in<&Numbers::stochastic_rounding_enabled>, kJob, kNumerics, kValues,
         "with bf16 or fp16: the same as +sr", "", "NEURON_RT_STOCHASTIC_ROUNDING_EN"},
    Setting{"auto_cast", in<&Numbers::auto_cast>, kJob, kNumerics, kPrograms,
         "the fp32 arithmetic that the compiler casts, with `numerics` fp32", "none|matmult|all"},
    Setting{"auto_cast_type", in<&Numbers::auto_cast_type>, kJob, kNumerics, kPrograms,
         "type that `auto_cast` casts to", "bf16|fp16|tf32|fp8_e4m3"},
    Setting{"xla_use_bf16", in<&Numbers::xla_use_bf16>, kJob, kNumerics, {},
         "torch-xla makes every float bf16, rounded stochastically", "", "XLA_USE_BF16"},
    Setting{"xla_downcast_bf16", in<&Numbers::xla_downcast_bf16>, kJob, kNumerics, {},
         "the same for float, not for double", "",
         "XLA_DOWNCAST_BF16"},
    Setting{"stochastic_rounding_seed", in<&Numbers::stochastic_rounding_seed>, kRun, kNumerics, kValues,
         "seed of stochastic rounding", "", "NEURON_RT_STOCHASTIC_ROUNDING_SEED", 0, 4294967295.0},

    Setting{"tensor_parallel_size,tp_degree", in<&Plan::tensor_parallel_size>, kJob, kPlan,
         "run compile check ablate verify estimate generate cost",
         "cores that share each layer", "", "", 1, 1 << 20},
    Setting{"pipeline_parallel_size", in<&Plan::pipeline_parallel_size>, kJob, kPlan, kPlans,
         "stages that share the layers", "", "", 1, 1 << 20},
    Setting{"virtual_pipeline_size", in<&Plan::virtual_pipeline_size>, kTrainJob, kPlan, kPrograms,
         "chunks of layers on each stage, in turn (interleaved 1F1B)", "", "", 1, 1 << 20},
    Setting{"disable_sequence_parallel", in<&Plan::disable_sequence_parallel>, kTrainJob, kPlan, kPrograms,
         "each tensor-parallel core keeps all tokens outside matmuls"},
    Setting{"zero_1", in<&Plan::zero_1>, kTrainJob, kPlan, kPlans, "data-parallel cores share the optimizer's state"},
    Setting{"optimizer_use_master_weights", in<&Plan::optimizer_use_master_weights>, kTrainJob, kPlan, kPrograms,
         "keep fp32 copies of the weights, which the optimizer updates"},
    Setting{"recompute", in<&Plan::recompute>, kTrainJob, kPlan, kPlans,
         "activations that backward recomputes; full is gradient checkpointing", "none|selective|full"},

    Setting{"capacity_factor", in<&Plan::capacity_factor>, kTrainJob, kPlan, kJobs,
         "slots of an expert, as a multiple of its even share of tokens; 0: no token is dropped; -1: the model's", "",
         "",
         -1, 1e6},

    Setting{"lora_r", in<&Lora::r>, kTrainJob, kLora, kJobs,
         "rank of LoRA adapters, which are trained instead of the weights; 0: train all weights", "", "", 0, 4096},
    Setting{"lora_alpha", in<&Lora::alpha>, kTrainJob, kLora, kJobs,
         "scale the adapters' output by this number divided by the rank", "", "", 0, 1e6},
    Setting{"lora_dropout", in<&Lora::dropout>, kTrainJob, kLora, kJobs,
         "share of an adapter's input that is dropped", "", "", 0, 0.999},
    Setting{"lora_target_modules", in<&Lora::target_modules>, kTrainJob, kLora, kJobs,
         "linear layers with adapters, with commas: q_proj,v_proj; or all-linear; experts of a mixture have none"},

    Setting{"prompt", in<&Text::prompt>, kRun, kText, kTexts,
         "a text to continue; several are a batch; default: the empty text"},
    Setting{"max_new_tokens", in<&Text::max_new_tokens>, kJob, kText, "run plan generate estimate cost",
         "tokens to add to each prompt; 0: train instead of generating", "", "", 0, 1 << 30},
    Setting{"batch_size", in<&Text::batch_size>, kJob, kText, "run generate cost",
         "sequences to generate at once from one prompt; 0: one per prompt", "", "", 0, 1 << 20},
    Setting{"prompt_length", in<&Text::prompt_length>, kJob, kText, "run plan generate estimate cost",
         "tokens of the prompt, when no text is given", "", "", 1, 1 << 30},
    Setting{"prompt_bucket", in<&Text::prompt_bucket>, kJob, kText, "run plan generate estimate cost",
         "tokens that a prompt is padded to; 0: the next power of two, at most the caches", "", "", 0, 1 << 30},
    Setting{"temperature", in<&Text::temperature>, kRun, kSampling, kTexts,
         "randomness of sampling; 0: always the most likely token", "", "", 0},
    Setting{"top_k", in<&Text::top_k>, kRun, kSampling, kTexts,
         "sample from the k most likely tokens; 0: from all", "", "", 0},
    Setting{"top_p", in<&Text::top_p>, kRun, kSampling, kTexts,
         "sample from the most likely tokens that together reach this probability"},
    Setting{"ignore_eos", in<&Text::ignore_eos>, kRun, kSampling, kTexts, "continue after the end-of-text token"},

    Setting{"mode", in<&Machine::mode>, kRun, kMachine, kValues,
         "timed: time only; numeric: values only; full: both; default: the verb's", "timed|numeric|full"},
    Setting{"instance_type", in<&Machine::instance_type>, kJob, kMachine, kSimulates,
         "name of a machine (trnsim list machines), or the file of one"},
    Setting{"nproc_per_node,nproc-per-node", in<&Machine::nproc_per_node>, kJob, kMachine, kPrograms,
         "cores in use on each instance; 0: the workload's", "", "NEURON_RT_NUM_CORES", 0, 1 << 20},
    Setting{"nnodes,num_nodes", in<&Machine::nnodes>, kJob, kMachine, kJobs, "instances", "", "", 1, 1 << 20},
    Setting{"stack", in<&Machine::stack>, kJob, kMachine, "run compile check ablate estimate plan generate cost",
         "host software; default: the workload's", {}, {}, kNoLimit, kNoLimitAbove, stacks},
    Setting{"passes", in<&Machine::passes>, kJob, kMachine, kPrograms,
         "passes to switch: -fusion,+cse; of a graph also its rewrites"},
    Setting{"set", in<&Machine::set>, kJob, kMachine, kSimulates, "machine parameter to change, KEY=VALUE; repeatable"},
    Setting{"price", in<&Machine::price>, kJob, kMachine, "run estimate plan generate choose cost",
         "how the instance is bought; default: the workload's", {}, {}, kNoLimit,
         kNoLimitAbove, purchases},
    Setting{"backslash_escapes", in<&Data::backslash_escapes>, kFileRun, kModel, kAnswers,
         "a backslash escapes the next character in csv data"},
    Setting{"compile_cache", in<&Machine::compile_cache>, kRun, kMachine,
         "run compile check ablate verify validate estimate plan cost",
         "folder that keeps compiled programs, so that they are not compiled again", "", "TRNSIM_COMPILE_CACHE"},
    Setting{"exact", in<&Machine::exact>, kRun, kMachine, kSimulates,
         "simulate every core and every call; replay nothing"},
    Setting{"host_threads", in<&Machine::host_threads>, kRun, kMachine, kSimulates,
         "threads of this host; 0: all; never changes a result", "", "", 0, 4096},

    Setting{"output_dir", in<&Output::output_dir>, kRun, kOutput, kRunning,
         "run folder; default: runs/ and the time", "", "SM_MODEL_DIR"},
    Setting{"overwrite_output_dir", in<&Output::overwrite_output_dir>, kRun, kOutput, kRunning,
         "write into a folder that is not empty"},
    Setting{"resume_from_checkpoint", in<&Output::resume_from_checkpoint>, kTrainRun, kOutput, kRunning,
         "checkpoint folder to resume from, with bit-identical results; a decoder's also under another parallel plan"},
    Setting{"logging_steps", in<&Output::logging_steps>, kStepsJob, kOutput, kAnswers,
         "steps between two log lines (steps.jsonl), each of which reads back the loss", "", "", 1, kMax},
    Setting{"save_steps", in<&Output::save_steps>, kStepsJob, kOutput, kAnswers,
         "steps between two checkpoints; 0: only at the end", "", "", 0, kMax},
    Setting{"save_bandwidth", in<&Output::save_bandwidth>, kStepsJob, kOutput, kAnswers,
         "disk bandwidth of an instance, for checkpoints; an EBS gp3 volume has 125 MiB/s unless you pay for more"},
    Setting{"async_save", in<&Output::async_save>, kStepsJob, kOutput, kAnswers,
         "write checkpoints while the job goes on"},
    Setting{"interrupted_every", in<&Output::interrupted_every>, kStepsJob, kOutput, "run estimate cost",
         "mean time between interruptions, as on spot instances (6h); adds the expected time and dollars"},
    Setting{"suggestions", in<&Output::suggestions>, kRun, kOutput, "run estimate",
         "number of the most helpful changes to suggest, each projected", "", "TRNSIM_SUGGESTIONS", 0, 10},
    Setting{"report_to", in<&Output::report_to>, kRun, kOutput, kRunning,
         "files for other tools in the run folder, with commas, as `trnsim list exporters` names them; all"},
    Setting{"config", in<&Output::config>, kRun, kOutput, kAnswers,
         "TOML file of settings, one name = value per line; flags override it"},
    Setting{"format", in<&Output::format>, kRun, kOutput, kSimulates, "format of the output on stdout", kFormats},
};
// clang-format on

}  // namespace

std::span<const Setting> settings_table() { return kRows; }

}  // namespace trnsim
