#include "trnsim/run/train.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "base/error.h"
#include "base/files.h"
#include "base/units.h"
#include "hw/params.h"
#include "hw/sim_device.h"
#include "trnsim/job/settings.h"
#include "trnsim/project/memory.h"
#include "workloads/checkpoints/adapter.h"
#include "workloads/data/lengths.h"
#include "workloads/models/model.h"
#include "workloads/tasks/task.h"

namespace trnsim {
namespace {

using base::Error;
using base::Fault;

std::vector<std::string> split_names(const std::string& text) {
  std::vector<std::string> out;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    out.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return out;
}

/// A model that is trained for real must fit into this host. Errors: Fault::kCapacity.
void require_host_memory(const Job& job) {
  const auto host = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGE_SIZE));
  const double cores = static_cast<double>(least_memory(job).total) * static_cast<double>(job.cores());
  // The weights of the file, in fp32, in addition to each core's memory.
  const double file = 4 * static_cast<double>(workloads::parameter_count(job.model->weights()));
  if (cores + file <= host) return;
  const auto text = [](double bytes) { return base::readable(bytes, base::Dimension::kBytes); };
  throw Error{Fault::kCapacity, "training for real",
              fmt::format("needs at least {} of host memory, but this host has {}", text(cores + file), text(host)),
              "use `numerics` off, which only projects time and cost, or a smaller model"};
}

/// The length that samples are cut to: the last one that the user gives.
std::int64_t most_tokens(const Settings& s) {
  const bool given = !s.data.buckets.empty() && s.data.buckets != "auto";
  return given ? workloads::listed_buckets(s.data.buckets).back() : s.data.max_length;
}

/// Errors: Fault::kUsage for lengths that are projected, but not trained here.
void require_trainable_lengths(const Settings& s, const workloads::Model& model) {
  require_lengths(s, model);
  if (model.task() == workloads::Task::kNextToken && !s.data.buckets.empty())
    throw Error{Fault::kUsage, "`buckets`", "a decoder can be trained for real only at one length",
                "use `numerics` off, which only projects time and cost, or leave it out: `max_length` pads"};
}

workloads::DataOptions data_options(const workloads::Workload& workload, const Settings& s) {
  if (head_of(s) == workloads::Head::kPretraining)
    throw Error{Fault::kUsage, "`task`", "pretraining reads pairs of sentences, of which there is no data set here",
                "use `task` fill-mask, or trnsim estimate, plan, choose or cost of the model for its time"};
  return {.model_folder = s.data.model_id,
          .preset = workload.small_model,
          .dataset_path = s.data.dataset_path,
          .validation_file = s.data.validation_file,
          .test_file = s.data.test_file,
          .vocab = s.data.vocab,
          .read = {.text_column = s.data.text_column,
                   .label_column = s.data.label_column,
                   .label_names = split_names(s.data.label_names),
                   .backslash_escapes = s.data.backslash_escapes,
                   .strict = s.data.strict},
          .head = head_of(s),
          .packing = s.data.packing,
          .hold_out = s.training.eval_strategy == "epoch",
          .length = static_cast<std::size_t>(most_tokens(s)),
          .max_train_samples = static_cast<std::size_t>(s.data.max_train_samples),
          .max_eval_samples = static_cast<std::size_t>(s.data.max_eval_samples),
          .seed = static_cast<std::uint64_t>(s.training.seed),
          .lora = lora_of(s)};
}

workloads::TrainerOptions trainer_options(const Job& job, const Settings& s, const std::filesystem::path& checkpoint) {
  const workloads::TaskRow& task = workloads::task_row(job.model->task());
  workloads::TrainerOptions t{.target = job.machine.target(),
                              .step = job.step,
                              .eval_batch = s.training.per_device_eval_batch_size,
                              .epochs = s.training.num_train_epochs,
                              .max_steps = s.training.max_steps,
                              .learning_rate = s.training.learning_rate,
                              .schedule = s.training.lr_scheduler_type,
                              .warmup = {.ratio = s.training.warmup_ratio, .steps = s.training.warmup_steps},
                              .eval_each_epoch = s.training.eval_strategy == "epoch",
                              .eval_on_start = task.scored_first || s.training.eval_on_start,
                              .logging_steps = s.output.logging_steps,
                              .save_steps = s.output.save_steps,
                              .seed = static_cast<std::uint64_t>(s.training.seed) |
                                      static_cast<std::uint64_t>(s.numerics.stochastic_rounding_seed) << 32,
                              .host_threads = static_cast<int>(s.machine.host_threads),
                              .passes = job.passes,
                              .cache = job.programs.get(),
                              .checkpoint = checkpoint,
                              .resume = s.output.resume_from_checkpoint};
  // Sequences that the job's lengths only price are trained at one length.
  if (task.dealing == workloads::Dealing::kByRank)
    for (const LengthShare& one : job.sizes.lengths) t.lengths.push_back(one.length);
  if (s.machine.mode == "full")
    t.make_device = [machine = job.machine] { return hw::make_sim_device(machine, {.check_races = true}); };
  return t;
}

}  // namespace

workloads::TrainingDataPtr load_training(const workloads::Workload& workload, const Settings& settings) {
  const workloads::ModelPtr model = headed(settings, model_of(workload, workload.small_model, settings.data.model_id));
  require_trainable_lengths(settings, *model);
  workloads::DataOptions options = data_options(workload, settings);
  const bool labelled = model->task() == workloads::Task::kClassification;
  if (!labelled || model->splits()) {
    Settings one = settings;  // the data is not here yet
    one.data.packing = true, one.data.buckets.clear();
    const Job job = job_of(one, model, 0);
    require_host_memory(job);
    if (!labelled) options.length = static_cast<std::size_t>(job.step.kind.length);
    options.target_length = static_cast<std::size_t>(job.step.kind.target_length);
  }
  return workloads::task_row(model->task()).load(options);
}

Job training_job(const workloads::TrainingData& data, const Settings& settings) {
  return job_of(settings, data.config, static_cast<double>(data.train_samples()), 0,
                pads_to_lengths(settings, *data.config) ? data.lengths() : workloads::TokenLengths{});
}

std::unique_ptr<workloads::Trainer> make_trainer(const workloads::TrainingData& data, const Job& job,
                                                 const Settings& settings, const std::filesystem::path& checkpoint) {
  return std::make_unique<workloads::Trainer>(data.config, data.weights, data.data(),
                                              trainer_options(job, settings, checkpoint));
}

double simulated_step_seconds(const workloads::Trainer& trainer, const hw::MachineParams& machine, bool exact) {
  double seconds = 0, steps = 0;
  for (const auto& [programs, count] : trainer.programs_of_lengths()) {
    if (count <= 0) continue;
    seconds += count * hw::seconds(hw::simulate_in_child(programs, machine, {.exact = exact}).total);
    steps += count;
  }
  return seconds / steps;
}

Training train(workloads::Trainer& trainer, const workloads::TrainingData& data, std::string model_name,
               double simulated_step_seconds, const TrainObserver& observer) {
  using workloads::Split;
  const workloads::Step& step = trainer.options().step;
  Training out{.simulated_step_seconds = simulated_step_seconds,
               .dataset = data.source,
               .synthetic = data.synthetic,
               .train_samples = data.train_samples(),
               .eval_samples = trainer.samples(Split::kValidation),
               .samples_per_step = step.plan.sequences_per_step(),
               .model = std::move(model_name),
               .numerics = step.plan.numerics.name};
  out.parameters = static_cast<std::int64_t>(workloads::parameter_count(data.config->weights()));
  if (observer.begin) observer.begin(out, trainer);
  trainer.on_step = observer.step;
  trainer.on_eval = observer.evaluated;
  trainer.on_eval_batch = observer.evaluating;
  out.outcome = trainer.run();
  if (trainer.samples(Split::kTest) > 0 && !out.outcome.interrupted) {
    const workloads::EvalRecord test = trainer.evaluate(Split::kTest);
    out.outcome.interrupted = test.interrupted;
    if (test.interrupted) return out;
    out.outcome.evaluations.push_back(test);
    if (observer.evaluated) observer.evaluated(test);
  }
  return out;
}

void save_model(const std::filesystem::path& folder, const workloads::TrainingData& data, const Job& job,
                workloads::Trainer& trainer, const Training& training) {
  std::filesystem::create_directories(folder);
  const workloads::ElementType type =
      data.config->splits() ? workloads::element_type(job.step.plan.numerics.weight) : workloads::ElementType::kF32;
  if (data.config->lora()) {
    workloads::save_adapter(folder, data.config, trainer.read_weights(), type);
  } else {
    workloads::write_config(data.config, folder);
    workloads::save_weights(folder, data.config, trainer.read_weights(), type);
  }
  if (data.tokenizer) data.tokenizer->save(folder);
  base::write_file(folder / "trainer_state.json", workloads::trainer_state_json(training.outcome.state));
}

}  // namespace trnsim
