#include "trnsim/job/job.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "analysis/host/stack.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/text.h"
#include "isa/names.h"
#include "trnsim/job/lengths.h"
#include "workloads/checkpoints/model_files.h"
#include "workloads/models/presets.h"

namespace trnsim {
namespace {

using base::Error;
using base::Fault;

/// Cores of the job over all instances. Errors: Fault::kUsage when an instance has not so many.
std::int64_t cores_of(const Settings& s, const hw::MachineParams& machine) {
  const std::int64_t most = machine.instance_cores();
  const std::int64_t cores = s.nproc_per_node > 0 ? s.nproc_per_node : most;
  if (cores > most)
    throw Error{Fault::kUsage, "`nproc_per_node`",
                fmt::format("{}, but {} has {}", base::counted(cores, "core"), machine.name, most),
                fmt::format("use `nproc_per_node` {} or less, or a larger `instance_type`", most)};
  return cores * s.nnodes;
}

std::string numerics_of(const Settings& s) {
  const std::string numerics = s.numerics.empty() || s.numerics == "off" ? "bf16" : s.numerics;
  // Master weights are fp32 and so are the moments beside them.
  return s.optimizer_use_master_weights && numerics.starts_with("bf16") ? "bf16+fp32-optimizer" + numerics.substr(4)
                                                                        : numerics;
}

std::int64_t length_of(const Settings& s, const workloads::ModelPtr& model) {
  const std::int64_t positions = model->sizes().positions;
  if (s.max_length > 0 && s.buckets.empty() && positions > 0 && !model->image())
    workloads::require_positions(s.max_length, positions);
  if (s.max_length > 0) return model->sequence_length(s.max_length);
  if (model->task() == workloads::Task::kTextToText) return 1024;  // run_summarization.py
  return model->sequence_length(model->task() == workloads::Task::kNextToken ? kDefaultTextLength
                                                                             : 128);  // what HF cuts to
}

/// Of what is written. Errors: Fault::kUsage when the model writes no text of its own.
std::int64_t target_length_of(const Settings& s, const workloads::ModelPtr& model) {
  if (model->pairs()) return s.max_target_length > 0 ? s.max_target_length : 128;  // run_summarization.py
  if (s.max_target_length > 0)
    throw Error{Fault::kUsage, "`max_target_length`",
                fmt::format("a {} model does not read one text and write another", model->family()),
                "leave it out, or take a T5"};
  return 0;
}

}  // namespace

runtime::Plan plan_of(const Settings& s, const hw::MachineParams& machine) {
  const std::int64_t cores = cores_of(s, machine), share = s.tensor_parallel_size * s.pipeline_parallel_size;
  if (cores % share != 0)
    throw Error{
        Fault::kUsage, "`tensor_parallel_size`",
        fmt::format("TP {} x PP {} does not divide {}", s.tensor_parallel_size, s.pipeline_parallel_size,
                    base::counted(cores, "core")),
        fmt::format("use `nproc_per_node` {} or a multiple of it, or degrees whose product divides the cores", share)};
  return {.tensor = s.tensor_parallel_size,
          .pipeline = s.pipeline_parallel_size,
          .chunks = s.virtual_pipeline_size,
          .data = static_cast<std::uint32_t>(cores / share),
          .sequence = s.tensor_parallel_size > 1 && !s.disable_sequence_parallel,
          .zero1 = s.zero_1,
          .master_weights = s.optimizer_use_master_weights,
          .recompute = runtime::recompute_of(s.recompute),
          .micro_batch = s.per_device_train_batch_size,
          .micro_batches = s.gradient_accumulation_steps,
          .numerics = runtime::numerics(numerics_of(s))};
}

double Job::parameters() const { return static_cast<double>(workloads::parameter_count(model->weights())); }

double Job::mean_length() const {
  if (sizes.lengths.empty()) return static_cast<double>(step.kind.length);
  double sum = 0;
  for (const LengthShare& one : sizes.lengths) sum += one.share * static_cast<double>(one.length);
  return sum;
}

double Job::evaluations() const {
  if (sizes.eval_samples <= 0) return 0;
  if (sizes.max_steps >= 0 && sizes.samples > 0)
    return std::ceil(static_cast<double>(sizes.max_steps) * sequences_per_step() / sizes.samples);
  return std::ceil(sizes.epochs);
}

double Job::steps() const {
  double steps = 0;  // of each length those that its samples fill
  for (std::size_t i = 0; i < sizes.lengths.size(); ++i) steps += of_length(*this, i).steps();
  if (!sizes.lengths.empty()) return steps;
  if (sizes.max_steps >= 0) return static_cast<double>(sizes.max_steps);
  const double samples = sizes.samples > 0 ? sizes.samples : sequences_per_step();
  return std::max(1.0, std::ceil(samples / sequences_per_step() * sizes.epochs));
}

double Job::samples() const {
  if (sizes.max_steps >= 0 || sizes.samples <= 0) return steps() * sequences_per_step();
  return sizes.samples * sizes.epochs;
}

std::vector<std::pair<std::string, std::string>> fields_of(const Job& job) {
  const runtime::Plan& p = job.step.plan;
  const workloads::StepKind& k = job.step.kind;
  const workloads::OptimizerSpec& o = job.step.optimizer;
  std::vector<std::pair<std::string, std::string>> out;
  const auto add = [&](const char* name, const auto& value) { out.emplace_back(name, fmt::format("{}", value)); };
  add("machine", base::hash_text(job.machine.hash));
  add("model", job.model->config_json());
  add("tensor", p.tensor), add("pipeline", p.pipeline), add("chunks", p.chunks), add("data", p.data);
  add("sequence", p.sequence), add("zero1", p.zero1), add("master_weights", p.master_weights);
  add("recompute", runtime::name_of(p.recompute));
  add("micro_batch", p.micro_batch), add("micro_batches", p.micro_batches), add("numerics", p.numerics.name);
  add("length", k.length), add("training", k.training), add("head", static_cast<int>(k.head));
  add("part", static_cast<int>(k.part)), add("predictions", k.predictions), add("fold_weights", k.fold_weights);
  add("keep_logits", k.keep_logits), add("with_loss", k.with_loss), add("smoothing", k.smoothing),
      add("stage", job.step.stage);
  if (k.target_length > 0) add("target_length", k.target_length);
  add("optimizer", o.name), add("beta1", o.beta1), add("beta2", o.beta2), add("epsilon", o.epsilon);
  add("weight_decay", o.weight_decay), add("decay_all", o.decay_all), add("max_grad_norm", o.max_grad_norm);
  add("bucket_bytes", o.bucket_bytes);
  add("samples", job.sizes.samples), add("eval_samples", job.sizes.eval_samples);
  add("eval_batch", job.sizes.eval_batch), add("epochs", job.sizes.epochs), add("max_steps", job.sizes.max_steps);
  for (const LengthShare& one : job.sizes.lengths) {
    add("bucket", one.length), add("bucket_share", one.share), add("bucket_tokens", one.tokens);
    for (const runtime::PassInfo& pass : runtime::kPasses)
      if (one.passes.*pass.flag) add("bucket_pass", pass.name);
  }
  add("one_length", job.sizes.one_length.length);
  add("log_every", job.sizes.log_every), add("loaders", job.sizes.loaders), add("stack", job.stack),
      add("purchase", static_cast<int>(job.purchase));
  add("price_per_hour", job.price_per_hour.value_or(-1));
  for (const analysis::StackChange& c : job.stack_changes) out.emplace_back(c.file + "." + c.key, c.value);
  for (const runtime::PassInfo& pass : runtime::kPasses) out.emplace_back(pass.name, job.passes.*pass.flag ? "1" : "0");
  return out;
}

bool Job::operator==(const Job& other) const { return fields_of(*this) == fields_of(other); }

std::uint64_t hash_of(const Job& job) {
  base::Hasher hasher;
  for (const auto& [name, text] : fields_of(job)) {
    hasher.add_text(name);
    hasher.add_text(text);
  }
  return hasher.digest();
}

std::string describe(const Job& job) {
  const runtime::Plan& p = job.step.plan;
  const std::string chunks = p.chunks > 1 ? fmt::format(" x {} chunks", p.chunks) : "";
  const auto lora = job.model->lora();
  const std::string written = job.model->pairs() ? fmt::format(" to {}", job.step.kind.target_length) : "";
  return fmt::format("{}TP {}, PP {}{}, DP {}{}{}{}, recompute {}, {} of {} x {}{}",
                     lora ? fmt::format("LoRA of rank {}, ", lora->rank) : "", p.tensor, p.pipeline, chunks, p.data,
                     p.sequence ? ", sequence parallel" : "", p.zero1 ? ", ZeRO-1" : "",
                     p.master_weights ? ", fp32 master weights" : "", runtime::name_of(p.recompute),
                     base::counted(p.micro_batches, "micro-batch"), p.micro_batch, job.step.kind.length, written);
}

std::string describe(const runtime::Numerics& n) {
  if (!n.name.starts_with("fp32+")) return n.name;
  const bool all = n.activation != n.weight;
  return fmt::format("{}: fp32 weights, {} cast to {} by the compiler (`auto_cast` none: not)", n.name,
                     all ? "all arithmetic" : "matmuls", isa::name_of(n.operand));
}

std::vector<std::pair<std::string, std::string>> plan_settings(const Job& job) {
  const runtime::Plan& p = job.step.plan;
  std::vector<std::pair<std::string, std::string>> out{{"tensor_parallel_size", std::to_string(p.tensor)},
                                                       {"pipeline_parallel_size", std::to_string(p.pipeline)}};
  if (p.micro_batch > 1) out.emplace_back("per_device_train_batch_size", std::to_string(p.micro_batch));
  if (p.chunks > 1) out.emplace_back("virtual_pipeline_size", std::to_string(p.chunks));
  if (p.tensor > 1 && !p.sequence) out.emplace_back("disable_sequence_parallel", "");
  if (p.zero1) out.emplace_back("zero_1", "");
  if (p.master_weights) out.emplace_back("optimizer_use_master_weights", "");
  out.emplace_back("recompute", runtime::name_of(p.recompute));
  out.emplace_back("gradient_accumulation_steps", std::to_string(p.micro_batches));
  if (const auto lora = job.model->lora()) {
    out.emplace_back("lora_r", std::to_string(lora->rank));
    out.emplace_back("lora_alpha", fmt::format("{:g}", lora->alpha));
    if (lora->dropout > 0) out.emplace_back("lora_dropout", fmt::format("{:g}", lora->dropout));
    out.emplace_back("lora_target_modules", fmt::format("{}", fmt::join(lora->targets, ",")));
  }
  return out;
}

workloads::ModelPtr load_model_config(const std::string& name_or_folder) {
  if (workloads::is_model_preset(name_or_folder)) return workloads::model_preset(name_or_folder);
  if (std::filesystem::exists(name_or_folder)) return workloads::load_model_config(name_or_folder);
  const std::vector<std::string> jobs = workloads::workload_names();
  if (std::ranges::find(jobs, name_or_folder) != jobs.end())
    throw Error{Fault::kUsage, name_or_folder, "is a workload, and a model is asked for",
                fmt::format("use trnsim run {} with `mode` timed, or a model of trnsim list models", name_or_folder)};
  return workloads::model_preset(name_or_folder);  // says which there are
}

workloads::ModelPtr model_of(const workloads::Workload& workload, const std::string& preset,
                             const std::string& folder) {
  const workloads::ModelPtr model = load_model_config(folder.empty() ? preset : folder);
  if (!folder.empty() || model->label_names().empty()) return model;
  std::vector<std::string> names;
  for (std::int64_t i = 0; i < workload.labels; ++i) names.push_back(fmt::format("LABEL_{}", i));
  return model->with_labels(std::move(names));
}

hw::MachineParams load_machine(const std::string& instance_type, std::vector<std::string> set, std::int64_t instances) {
  if (instances > 1) set.push_back(fmt::format("cluster.instances={}", instances));
  return hw::load_machine(instance_type, set);
}

namespace {

runtime::Passes passes_of(const Job& job, const Settings& s, std::int64_t length) {
  return runtime::parse_passes(analysis::passes_of(job.load_stack(), static_cast<double>(length), s.passes));
}

/// Models without a choice of heads have that of the step's default.
workloads::Head step_head(const workloads::Model& model) {
  const workloads::Head head = model.head();
  return head == workloads::Head::kNone ? workloads::StepKind{}.head : head;
}

Job job_of_one_length(const Settings& s, workloads::ModelPtr model, double samples, std::int64_t eval_samples) {
  if (!model->splits()) refuse_shared_model(s, model->family());
  Job job{
      .machine = load_machine(s.instance_type, s.set, s.nnodes), .model = adapted(s, model), .step = {}, .sizes = {}};
  if (s.capacity_factor >= 0) job.model = job.model->with_capacity_factor(s.capacity_factor);
  job.step = {.plan = plan_of(s, job.machine),
              .kind = {.length = length_of(s, job.model),
                       .head = step_head(*job.model),
                       .smoothing = s.label_smoothing_factor,
                       .target_length = target_length_of(s, job.model)},
              .optimizer = {.beta1 = s.adam_beta1,
                            .beta2 = s.adam_beta2,
                            .epsilon = s.adam_epsilon,
                            .weight_decay = s.weight_decay,
                            .decay_all = false,  // as Hugging Face's Trainer
                            .max_grad_norm = s.max_grad_norm}};
  job.sizes = {.samples = samples,
               .eval_samples = s.eval_strategy == "epoch" ? eval_samples : 0,
               .eval_batch = s.per_device_eval_batch_size,
               .epochs = s.num_train_epochs,
               .max_steps = s.max_steps,
               .log_every = static_cast<double>(s.logging_steps),
               .loaders = static_cast<double>(s.dataloader_num_workers)};
  if (!s.stack.empty()) job.stack = s.stack;
  job.stack_changes = s.stack_changes;
  job.programs = s.programs;
  job.passes = passes_of(job, s, job.step.kind.length);
  job.purchase = analysis::parse_purchase(s.price, "`price`");
  job.price_per_hour = analysis::price_per_hour(job.machine.name, {.purchase = job.purchase, .set = s.set});
  if (!job.price_per_hour && job.purchase != analysis::Purchase::kOnDemand)
    throw Error{Fault::kUsage, "`price`", fmt::format("{} has no {} price", job.machine.name, s.price),
                "add it to analysis/cost/prices/aws.toml, or choose another `instance_type`"};
  return job;
}

/// What a sample may have at most, and who says so. A workload's own `max_length` is of one length.
std::pair<std::int64_t, std::string> longest_of(const Settings& s, const workloads::Model& model) {
  const std::int64_t positions = model.sizes().positions;
  const bool own = s.max_length > 0 && (s.buckets.empty() || s.buckets == "auto" || s.given.contains("max_length"));
  if (own && (positions == 0 || s.max_length <= positions)) return {s.max_length, "`max_length`"};
  return {positions, fmt::format("the positions of {}", model.family())};
}

}  // namespace

Job job_of(const Settings& s, workloads::ModelPtr model, double samples, std::int64_t eval_samples) {
  model = headed(s, model);
  require_lengths(s, *model);
  if (pads_to_lengths(s, *model))
    throw Error{Fault::kUsage, s.packing ? "`buckets`" : "`packing`", "there is no data whose texts have lengths",
                "give `dataset_path`"};
  return job_of_one_length(s, std::move(model), samples, eval_samples);
}

Job job_of(const Settings& s, workloads::ModelPtr model, double samples, std::int64_t eval_samples,
           const workloads::TokenLengths& data) {
  model = headed(s, model);
  require_lengths(s, *model);
  Job job = job_of_one_length(s, std::move(model), samples, eval_samples);
  if (!pads_to_lengths(s, *job.model) || data.samples.empty()) return job;
  auto [longest, limit] = longest_of(s, *job.model);
  if (s.buckets.empty()) longest = job.step.kind.length;
  const auto count = static_cast<double>(data.count());
  for (const workloads::Bucket& b : dealt(data, buckets_of(s.buckets, data, longest, limit)))
    job.sizes.lengths.push_back({.length = b.length,
                                 .share = static_cast<double>(b.samples) / count,
                                 .tokens = static_cast<double>(b.tokens) / static_cast<double>(b.samples),
                                 .passes = passes_of(job, s, b.length)});
  const workloads::Bucket one = dealt(data, {std::max(s.max_length, job.sizes.lengths.back().length)}).front();
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
  return job_of(settings, model_of(workload, workload.model, settings.model_id), static_cast<double>(workload.samples),
                workload.eval_samples);
}

Job load_job(std::string_view workload, const Settings& given) {
  return job_of(workloads::load_workload(workload), given);
}

}  // namespace trnsim
