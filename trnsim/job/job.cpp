#include "trnsim/job.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "analysis/host/stack.h"
#include "base/archive.h"
#include "base/error.h"
#include "base/fields.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/text.h"
#include "hw/params.h"
#include "runtime/compiler/program_cache.h"
#include "trnsim/graphs/graph_model.h"
#include "trnsim/graphs/rewrite_switches.h"
#include "trnsim/job/data_size.h"
#include "trnsim/job/job_price.h"
#include "trnsim/job/lengths.h"
#include "trnsim/job/save_plan.h"
#include "trnsim/job/settings.h"
#include "trnsim/job/training_limits.h"
#include "workloads/checkpoints/model_files.h"
#include "workloads/data/lengths.h"
#include "workloads/jobs/workload.h"
#include "workloads/models/decoder/generation_graph.h"
#include "workloads/models/model.h"
#include "workloads/models/presets.h"

namespace trnsim {
namespace {

using base::Error;
using base::Fault;

/// Cores of the job over all instances. Errors: Fault::kUsage when an instance has fewer.
std::int64_t cores_of(const Settings& s, const hw::MachineParams& machine) {
  const std::int64_t most = machine.instance_cores();
  const std::int64_t cores = s.machine.nproc_per_node > 0 ? s.machine.nproc_per_node : most;
  if (cores > most)
    throw Error{Fault::kUsage, "`nproc_per_node`",
                fmt::format("{}, but {} has {}", base::counted(cores, "core"), machine.name, most),
                fmt::format("use `nproc_per_node` {} or less, or a larger `instance_type`{}", most,
                            machine.logical.value > 1 ? "; `set` chip.logical=1 makes each physical core one" : "")};
  return cores * s.machine.nnodes;
}

std::string numerics_of(const Settings& s) {
  const std::string numerics = s.numerics.name.empty() || s.numerics.name == "off" ? "bf16" : s.numerics.name;
  if (!s.plan.optimizer_use_master_weights || !numerics.starts_with("bf16")) return numerics;
  // Master weights are fp32 and so are the moments beside them.
  if (numerics == "bf16" || numerics == "bf16+sr") return "bf16+fp32-optimizer" + numerics.substr(4);
  if (numerics.starts_with("bf16+fp32-optimizer")) return numerics;
  throw Error{Fault::kUsage, "`optimizer_use_master_weights`",
              fmt::format("does not work with `numerics` {}", numerics),
              "use `numerics` bf16 or bf16+sr with it, or leave it out"};
}

std::int64_t length_of(const Settings& s, const workloads::ModelPtr& model) {
  const std::int64_t positions = model->sizes().positions;
  if (s.data.max_length > 0 && s.data.buckets.empty() && positions > 0 && model->fixed_length() == 0)
    workloads::require_positions(s.data.max_length, positions);
  if (s.data.max_length > 0) return model->sequence_length(s.data.max_length);
  if (model->task() == workloads::Task::kTextToText) return model->sequence_length(1024);  // run_summarization.py
  if (model->task() != workloads::Task::kNextToken) return model->sequence_length(128);    // as HF truncates
  return model->sequence_length(positions > 0 ? std::min(kDefaultTextLength, positions) : kDefaultTextLength);
}

/// The length of the generated text. Errors: Fault::kUsage when the model does not generate a text of its own.
std::int64_t target_length_of(const Settings& s, const workloads::ModelPtr& model) {
  // Defaults of run_summarization.py, and of the commands beside run_speech_recognition_seq2seq.py.
  if (model->pairs()) return s.data.max_target_length > 0 ? s.data.max_target_length : model->sound() ? 225 : 128;
  if (s.data.max_target_length > 0)
    throw Error{Fault::kUsage, "`max_target_length`",
                fmt::format("a {} model does not turn one text into another", model->family()),
                "leave it out, or use a T5"};
  return 0;
}

/// Cores that a layer and the stages can share: more instances when one has fewer, else fewer of its cores.
std::string cores_fix(std::int64_t share, std::int64_t cores, const hw::MachineParams& machine) {
  const std::int64_t each = machine.instance_cores();
  if (share > std::max(cores, each) && share % each == 0)
    return fmt::format("use `nnodes` {}, or degrees whose product divides the cores", share / each);
  if (share <= each && each % share == 0)
    return fmt::format("use `nproc_per_node` {}{}, or degrees whose product divides the cores", share,
                       share < each ? " or a multiple of it" : "");
  return fmt::format("use degrees whose product divides {}{}", each,
                     share > each ? ", or is a multiple of it with as many `nnodes`" : "");
}

/// Errors: Fault::kUsage for cores that the ranks of a replica do not divide.
void require_even_shares(const Settings& s, std::int64_t cores, const hw::MachineParams& machine) {
  const std::int64_t share = s.plan.tensor_parallel_size * s.plan.pipeline_parallel_size;
  if (cores % share != 0)
    throw Error{Fault::kUsage, "`tensor_parallel_size`",
                fmt::format("TP {} x PP {} does not divide {}", s.plan.tensor_parallel_size,
                            s.plan.pipeline_parallel_size, base::counted(cores, "core")),
                cores_fix(share, cores, machine)};
}

}  // namespace

runtime::Plan plan_of(const Settings& s, const hw::MachineParams& machine, const workloads::Model& model) {
  const std::int64_t cores = cores_of(s, machine), share = s.plan.tensor_parallel_size * s.plan.pipeline_parallel_size;
  const runtime::Numerics numerics = runtime::numerics(numerics_of(s));
  const bool copies = s.plan.optimizer_use_master_weights && numerics.weight != isa::Dtype::kFp32;
  if (s.plan.optimizer_use_master_weights && !copies)  // a command line may have it for other numerics
    base::warn_once(fmt::format("`optimizer_use_master_weights` has no effect: the weights of `numerics` {} are fp32",
                                numerics.name));
  require_even_shares(s, cores, machine);
  return {.tensor = s.plan.tensor_parallel_size,
          .pipeline = s.plan.pipeline_parallel_size,
          .chunks = s.plan.virtual_pipeline_size,
          .data = static_cast<std::uint32_t>(cores / share),
          .sequence = s.plan.tensor_parallel_size > 1 && !s.plan.disable_sequence_parallel && model.splits(),
          .zero1 = s.plan.zero_1,
          .master_weights = copies,
          .recompute = runtime::recompute_of(s.plan.recompute),
          .micro_batch = s.training.per_device_train_batch_size,
          .micro_batches = s.training.gradient_accumulation_steps,
          .numerics = numerics};
}

double Job::parameters() const { return static_cast<double>(workloads::parameter_count(model->weights())); }

namespace {

/// All that decides a job's time, memory or price, as bytes: every member of Job and of its members, by
/// base::fields(), so that a new member tells jobs apart without being named here.
class JobContent {
 public:
  explicit JobContent(const Job& job) {
    std::apply([this](const auto&... member) { (add(member), ...); }, base::fields(job));
  }
  std::string take() { return bytes_.take(); }

 private:
  void add(const hw::MachineParams& machine) { bytes_(machine.hash); }
  void add(const workloads::ModelPtr& model) { bytes_(model->config_json()); }
  void add(const std::shared_ptr<runtime::ProgramCache>&) {}  // where programs are kept decides nothing
  template <class T>
  void add(const T& member) {
    bytes_(member);
  }

  base::ArchiveWriter bytes_;
};

}  // namespace

bool Job::operator==(const Job& other) const { return JobContent{*this}.take() == JobContent{other}.take(); }

std::uint64_t hash_of(const Job& job) { return base::hash64(JobContent{job}.take()); }

workloads::ModelPtr load_model_config(const std::string& name_or_folder) {
  if (workloads::names_preset(name_or_folder)) return workloads::model_preset(name_or_folder);
  if (is_graph_file(name_or_folder)) return load_graph_model(name_or_folder);
  if (std::filesystem::exists(name_or_folder)) return workloads::load_model_config(name_or_folder);
  const std::vector<std::string> jobs = workloads::workload_names();
  if (std::ranges::find(jobs, name_or_folder) != jobs.end())
    throw Error{Fault::kUsage, name_or_folder, "is a workload, but a model is needed",
                fmt::format("use trnsim run {} with `mode` timed, or a model of trnsim list models", name_or_folder)};
  return workloads::model_preset(name_or_folder);  // says which there are
}

workloads::ModelPtr model_of(const workloads::Workload& workload, const std::string& preset,
                             const std::string& folder) {
  if (folder.empty() && workload.program && preset == workload.model) return workload.program;
  const bool stored = !folder.empty() && std::filesystem::exists(folder);  // whatever built-in name it has
  const workloads::ModelPtr model =
      stored ? workloads::load_model_config(folder) : load_model_config(folder.empty() ? preset : folder);
  if (!folder.empty() || model->label_names().empty()) return model;
  std::vector<std::string> names;
  for (std::int64_t i = 0; i < workload.labels; ++i) names.push_back(fmt::format("LABEL_{}", i));
  return model->with_labels(std::move(names));
}

hw::MachineParams load_machine(const std::string& instance_type, std::vector<std::string> set, std::int64_t instances,
                               std::int64_t cores) {
  if (instances > 1) set.push_back(fmt::format("cluster.instances={}", instances));
  const hw::MachineParams machine = hw::load_machine(instance_type, set);
  return instances > 1 && cores > 0 ? machine.with_cores(static_cast<int>(cores)) : machine;
}

namespace {

runtime::Passes passes_of(const Job& job, const Settings& s, std::int64_t length) {
  return runtime::parse_passes(
      analysis::passes_of(job.load_stack(), static_cast<double>(length), pass_switches(s.machine.passes).passes),
      rewrite_names());
}

/// The job's software and price, as the settings have them.
void set_host(Job& job, const Settings& s) {
  if (!s.machine.stack.empty()) job.stack = s.machine.stack;
  job.stack_changes = s.machine.stack_changes;
  job.programs = s.machine.programs;
  set_price(job, s);
}

/// Errors: as require_room(); Fault::kUsage for a plan that generation does not have.
Job generation_job(const Settings& s, const workloads::ModelPtr& model) {
  workloads::require_generator(model);
  require_cast(s, "a generation");
  if (s.plan.pipeline_parallel_size > 1 || s.machine.nnodes > 1)
    throw Error{Fault::kUsage, s.machine.nnodes > 1 ? "`nnodes`" : "`pipeline_parallel_size`",
                "generation runs on one instance and is only tensor parallel", "leave it out"};
  if (s.given.contains("nproc_per_node") && s.machine.nproc_per_node > 0 &&  // 0, as a run's folder has it: as needed
      s.machine.nproc_per_node != s.plan.tensor_parallel_size)
    throw Error{Fault::kUsage, "`nproc_per_node`",
                "is not `tensor_parallel_size`, the number of cores of a copy of the model",
                "leave it out, or give `tensor_parallel_size`"};
  if (!s.machine.passes.empty())
    throw Error{Fault::kUsage, "`passes`", "generation is always compiled with all passes", "leave it out"};
  require_prompts(s, *model);
  const std::int64_t positions = model->sizes().positions, prompt = model->sequence_length(s.generation.prompt_length);
  const std::int64_t wanted = (model->pairs() ? 0 : prompt) + s.generation.max_new_tokens;  // a T5 writes apart
  require_room(s.generation, wanted, positions);
  if (!model->pairs()) require_caches(s, wanted, positions);
  const std::int64_t bucket = s.generation.prompt_bucket, read = model->pairs() ? 0 : bucket;
  Job job{.machine = hw::load_machine(s.machine.instance_type, s.machine.set), .model = model, .step = {}, .sizes = {}};
  job.generation = {.prompt_tokens = prompt,
                    .new_tokens = s.generation.max_new_tokens,
                    .length = workloads::cache_length(std::min(positions, std::max({wanted, s.data.max_length, read}))),
                    .bucket = bucket};
  // A generation keeps in its type what the compiler would cast in a training with fp32 weights.
  const std::string type = s.numerics.name.starts_with("fp32+") ? "fp32" : s.numerics.name;
  job.step = {.plan = {.tensor = s.plan.tensor_parallel_size,
                       .micro_batch = std::max<std::int64_t>(1, s.generation.batch_size),
                       .numerics = workloads::generation_numerics(type.empty() || type == "off" ? "bf16" : type)},
              .kind = {.length = job.generation->length, .training = false},
              .optimizer = {}};
  job.stack = "transformers-neuronx";
  set_host(job, s);
  return job;
}

/// `requests` to a model that reads and does not write; 0: one batch on each core. Errors: Fault::kUsage for more than
/// one instance.
Job inference_job(const Settings& s, const workloads::ModelPtr& model, double requests) {
  refuse_shared_model(s, *model);
  if (s.machine.nnodes > 1)
    throw Error{Fault::kUsage, "`nnodes`", "has no effect: each instance answers its own requests", "leave it out"};
  Job job{.machine = hw::load_machine(s.machine.instance_type, s.machine.set),
          .model = with_rewrites_of(model, s.machine.passes),
          .step = {},
          .sizes = {}};
  for (const char* name : {"prompt_length", "prompt_bucket"})
    if (s.given.contains(name))
      throw Error{Fault::kUsage, fmt::format("`{}`", name), "applies to models that generate text", "use `max_length`"};
  const std::int64_t length = length_of(s, model);
  job.generation = {.prompt_tokens = length, .new_tokens = 0, .length = length};
  job.sizes.samples = requests;
  const std::string type = s.numerics.name.empty() || s.numerics.name == "off" ? "bf16" : s.numerics.name;
  require_cast(s, type);
  require_lengths(s, *model);
  const std::int64_t cores = cores_of(s, job.machine), tensor = s.plan.tensor_parallel_size;
  require_even_shares(s, cores, job.machine);
  job.step = {.plan = {.tensor = tensor,
                       .data = static_cast<std::uint32_t>(cores / tensor),
                       .micro_batch = std::max<std::int64_t>(1, s.generation.batch_size),
                       .numerics = runtime::numerics(type)},
              .kind = {.length = length, .training = false, .head = workloads::Head::kNone, .fold_weights = true},
              .optimizer = {}};
  job.stack = "bare";
  set_host(job, s);
  job.passes = passes_of(job, s, length);
  return job;
}

/// A generation of text, or the inference that the setting `task` asks of this model.
Job requests_job(const Settings& s, const workloads::ModelPtr& model, double requests) {
  refuse_training(s);
  if (s.data.task == kInference) batch_of_requests(s);
  if (s.generation.max_new_tokens > 0) return generation_job(s, model);
  if (!writes_text(*model)) return inference_job(s, model, requests);
  Settings own = s;
  own.generation.max_new_tokens = kDefaultNewTokens;
  return generation_job(own, model);
}

/// Models without a choice of heads have that of the step's default.
workloads::Head step_head(const workloads::Model& model) {
  const workloads::Head head = model.head();
  return head == workloads::Head::kNone ? workloads::StepKind{}.head : head;
}

Job job_of_one_length(const Settings& s, const workloads::ModelPtr& model, double samples, std::int64_t eval_samples) {
  refuse_requests(s);
  refuse_shared_model(s, *model);
  require_training(s);
  Job job{.machine = load_machine(s.machine.instance_type, s.machine.set, s.machine.nnodes, s.machine.nproc_per_node),
          .model = with_rewrites_of(adapted(s, model), s.machine.passes),
          .step = {},
          .sizes = {}};
  if (s.plan.capacity_factor >= 0) job.model = job.model->with_capacity_factor(s.plan.capacity_factor);
  require_cast(s, numerics_of(s));
  job.step = {.plan = plan_of(s, job.machine, *job.model),
              .kind = {.length = length_of(s, job.model),
                       .head = step_head(*job.model),
                       .predictions = predictions_of(length_of(s, job.model)),
                       .smoothing = s.training.label_smoothing_factor,
                       .target_length = target_length_of(s, job.model)},
              .optimizer = {.beta1 = s.training.adam_beta1,
                            .beta2 = s.training.adam_beta2,
                            .epsilon = s.training.adam_epsilon,
                            .weight_decay = s.training.weight_decay,
                            .decay_all = false,  // as Hugging Face's Trainer
                            .max_grad_norm = s.training.max_grad_norm}};
  job.sizes = {.samples = samples,
               .eval_samples = s.training.eval_strategy == "epoch" ? eval_samples : 0,
               .eval_on_start = s.training.eval_on_start,
               .eval_batch = s.training.per_device_eval_batch_size,
               .epochs = s.training.num_train_epochs,
               .max_steps = s.training.max_steps,
               .log_every = static_cast<double>(s.output.logging_steps),
               .loaders = static_cast<double>(s.training.dataloader_num_workers),
               .save = save_plan(s.output)};
  set_host(job, s);
  require_trainer(job.load_stack());
  job.passes = passes_of(job, s, job.step.kind.length);
  return job;
}

/// The most tokens of a sample, and the source of that limit. A workload's own `max_length` is of one length.
std::pair<std::int64_t, std::string> longest_of(const Settings& s, const workloads::Model& model) {
  const std::int64_t positions = model.sizes().positions;
  const bool own =
      s.data.max_length > 0 && (s.data.buckets.empty() || s.data.buckets == "auto" || s.given.contains("max_length"));
  if (own && (positions == 0 || s.data.max_length <= positions)) return {s.data.max_length, "`max_length`"};
  return {positions, fmt::format("the positions of {}", model.family())};
}

}  // namespace

Job job_of(const Settings& s, workloads::ModelPtr model, double samples, std::int64_t eval_samples) {
  if (is_requests(s)) return requests_job(s, model, samples);
  model = headed(s, model);
  require_lengths(s, *model);
  if (pads_to_lengths(s, *model))
    throw Error{Fault::kUsage, s.data.packing ? "`buckets`" : "`packing`",
                "needs data, because lengths come from texts", "give `dataset_path`"};
  return job_of_one_length(s, std::move(model), samples, eval_samples);
}

Job job_of(const Settings& s, workloads::ModelPtr model, double samples, std::int64_t eval_samples,
           const workloads::TokenLengths& data) {
  if (is_requests(s)) return requests_job(s, model, samples);
  model = headed(s, model);
  require_lengths(s, *model);
  Job job = job_of_one_length(s, std::move(model), samples, eval_samples);
  if (!pads_to_lengths(s, *job.model) || data.samples.empty()) return job;
  auto [longest, limit] = longest_of(s, *job.model);
  if (s.data.buckets.empty()) longest = job.step.kind.length;
  const auto count = static_cast<double>(data.count());
  for (const workloads::Bucket& b : bucketed(data, buckets_of(s.data.buckets, data, longest, limit)))
    job.sizes.lengths.push_back({.length = b.length,
                                 .share = static_cast<double>(b.samples) / count,
                                 .tokens = static_cast<double>(b.tokens) / static_cast<double>(b.samples),
                                 .passes = passes_of(job, s, b.length)});
  const workloads::Bucket one = bucketed(data, {std::max(s.data.max_length, job.sizes.lengths.back().length)}).front();
  job.sizes.one_length = {.length = one.length,
                          .share = 1,
                          .tokens = static_cast<double>(one.tokens) / count,
                          .passes = passes_of(job, s, one.length)};
  job.step.kind.length = job.sizes.lengths.back().length;
  job.passes = job.sizes.lengths.back().passes;
  return job;
}

Job job_of(const workloads::Workload& workload, const Settings& given) {
  Settings settings = given;
  apply_workload(settings, workload, WorkloadPart::kProjected);
  const workloads::ModelPtr model = model_of(workload, workload.model, settings.data.model_id);
  const auto [samples, eval_samples] = published_samples(workload, settings, *model);
  return job_of(settings, model, samples, eval_samples);
}

Job load_job(std::string_view workload, const Settings& given) {
  return job_of(workload_of(std::string{workload}), given);
}

}  // namespace trnsim
