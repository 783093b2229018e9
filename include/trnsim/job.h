// A job: a model, its training or generation, the machine and the software. Every other question starts from one.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/cost/prices.h"
#include "analysis/host/stack.h"
#include "hw/machine_params.h"
#include "runtime/graph/passes.h"
#include "trnsim/settings.h"
#include "workloads/models/config.h"
#include "workloads/step/step.h"

namespace workloads {
struct TokenLengths;  // workloads/data/lengths.h
struct Workload;      // workloads/jobs/workload.h
}  // namespace workloads

namespace trnsim {

/// The samples of a job that are padded to one of several lengths; each length has programs of its own.
struct LengthShare {
  std::int64_t length = 0;
  double share = 0;   // share of the samples, 0 to 1
  double tokens = 0;  // mean tokens of such a sample
  runtime::Passes passes{};
  bool operator==(const LengthShare&) const = default;
};

/// Default length of a decoder's sequences in tokens: optimum-neuron's tutorials pack to it.
inline constexpr std::int64_t kDefaultTextLength = 2048;
/// Default number of tokens that a generation adds to each prompt.
inline constexpr std::int64_t kDefaultNewTokens = 128;

/// How a job saves its state, and how often its instances are taken away.
struct SavePlan {
  std::int64_t every = 0;        // steps; 0: at the end alone, which is not in the job's time
  double disk_rate = 0;          // B/s of an instance
  bool in_background = false;    // written while the job goes on
  double interrupted_every = 0;  // s on average; 0: never
  /// Dollars of an instance and hour that may be taken away: on spot, unless the job is bought in another way.
  std::optional<double> interrupted_price{};
  bool operator==(const SavePlan&) const = default;
};

/// The amount of training and evaluation.
struct Sizes {
  double samples = 0;             // per epoch: sequences of step.kind.length tokens; 0: those of one step
  std::int64_t eval_samples = 0;  // evaluated after each epoch
  bool eval_on_start = false;     // and before the first step
  std::int64_t eval_batch = 8;    // per data-parallel rank
  double epochs = 1;
  std::int64_t max_steps = -1;  // optimizer steps instead of epochs when not negative
  double log_every = 10;        // steps between two read-backs of the loss
  double loaders = 0;           // processes that load data; 0: a thread alongside the loop
  SavePlan save{};
  /// By rising length, the last is step.kind.length; empty: all samples have that length, tokens were not counted.
  std::vector<LengthShare> lengths{};
  LengthShare one_length{};    // the padding of all samples, if there were one length
  bool among_lengths = false;  // these are the samples of one of several lengths: the last step is smaller
  bool operator==(const Sizes&) const = default;
};

/// A job that generates text instead of training: each of step.plan.micro_batch prompts is read, then tokens are added
/// one by one, on step.plan.tensor cores. Without new tokens it is a model's answer to its input, an encoder's or a
/// classifier's, on step.plan.data cores.
struct PromptAndTokens {
  std::int64_t prompt_tokens = 128;  // per prompt, before padding
  std::int64_t new_tokens = 128;     // per sequence; 0: it is read alone
  std::int64_t length = 128;         // tokens per sequence that the caches hold
  std::int64_t bucket = 0;           // tokens that a prompt is padded to; 0: workloads::prompt_bucket()
  bool operator==(const PromptAndTokens&) const = default;
};

struct Job {
  hw::MachineParams machine;  // all of its instances
  workloads::ModelPtr model{};
  workloads::Step step{};  // of one rank; step.plan.world() cores share the job
  Sizes sizes{};
  std::optional<PromptAndTokens> generation{};  // none: a training
  std::string stack = "torch-xla";
  std::vector<analysis::StackChange> stack_changes{};  // what-ifs on its numbers
  runtime::Passes passes{};
  analysis::Purchase purchase = analysis::Purchase::kOnDemand;
  std::optional<double> price_per_hour{};             // dollars of one instance, bought so; none: no price is published
  std::shared_ptr<runtime::ProgramCache> programs{};  // cache of compiled programs; does not affect results

  std::int64_t cores() const { return step.plan.world(); }
  std::int64_t instances() const { return static_cast<std::int64_t>(machine.instances.value); }
  double sequences_per_step() const { return static_cast<double>(step.plan.sequences_per_step()); }
  double parameters() const;  // of the whole model
  /// Mean tokens of a sequence with padding, over all lengths; for a generation those of a step: one.
  double mean_length() const;
  double tokens_per_step() const { return sequences_per_step() * mean_length(); }
  /// Optimizer steps of the whole job, and the sequences that they train on; for a generation, new tokens and
  /// sequences.
  double steps() const;
  double samples() const;
  /// Whole evaluations: one after each started epoch, and one before the first step if eval_on_start.
  double evaluations() const;
  /// Errors: as analysis::load_stack().
  analysis::Stack load_stack() const { return analysis::load_stack(stack, stack_changes); }

  /// Two jobs are equal when everything that decides their time, memory or price is equal.
  bool operator==(const Job& other) const;
};

/// The hash of all members that operator== compares.
std::uint64_t hash_of(const Job& job);

/// "TP 8, PP 1, DP 4, sequence parallel, ZeRO-1, recompute full, 16 micro-batches of 1 x 2048".
std::string describe(const Job& job);
/// A number format, and for fp32 weights the compiler's casts.
std::string describe(const runtime::Numerics& numerics);
/// The settings that give this plan, as names and values: {"tensor_parallel_size", "8"}, {"zero_1", ""}, ...
std::vector<std::pair<std::string, std::string>> plan_settings(const Job& job);

// ---- jobs from settings

/// The job that the settings describe for a model; `samples`: per epoch, 0: one step. Instances, cores and plan are
/// settings. Errors: Fault::kUsage for a plan that does not divide the cores, more cores than there are, or a plan for
/// another family.
Job job_of(const Settings& settings, workloads::ModelPtr model, double samples, std::int64_t eval_samples = 0);
/// The same job with samples of many lengths, padded as the settings `buckets` and `packing` say. Errors: also as
/// buckets_of().
Job job_of(const Settings& settings, workloads::ModelPtr model, double samples, std::int64_t eval_samples,
           const workloads::TokenLengths& lengths);

/// `given` with defaults for a generation: 128 new tokens on a trn1.32xlarge.
Settings generation_settings(Settings given = {});

/// The plan of the settings on the cores of `machine`. Errors: Fault::kUsage as above.
runtime::Plan plan_of(const Settings& settings, const hw::MachineParams& machine, const workloads::Model& model);

/// The job that a workload publishes, changed by `given`.
Job job_of(const workloads::Workload& workload, const Settings& given);
/// As above, by the workload's name or file. Errors: as workloads::load_workload().
Job load_job(std::string_view workload, const Settings& given = {});

/// "llama2-7b", or a Hugging Face folder.
workloads::ModelPtr load_model_config(const std::string& name_or_folder);
/// The model of a workload: the user's, or the preset, with the workload's labels.
workloads::ModelPtr model_of(const workloads::Workload& workload, const std::string& preset, const std::string& folder);

/// A machine of that many instances, with the overrides `set`; `cores`: in use on each of several; 0: all. Errors: as
/// hw::load_machine().
hw::MachineParams load_machine(const std::string& instance_type, std::vector<std::string> set, std::int64_t instances,
                               std::int64_t cores = 0);

}  // namespace trnsim
