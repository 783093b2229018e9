#include "cli/run_decoder.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "analysis/stats.h"
#include "base/error.h"
#include "base/files.h"
#include "base/log.h"
#include "base/units.h"
#include "cli/output.h"
#include "cli/run_training.h"
#include "hw/sim_device.h"
#include "trnsim/decoder_report.h"
#include "trnsim/published.h"
#include "trnsim/run_report.h"
#include "workloads/causal_trainer.h"
#include "workloads/language_modelling.h"
#include "workloads/presets.h"

namespace cli {

using namespace trnsim;
namespace {

using base::Error;
using base::Fault;

/// The decoder's projection as the report of any run has it: the time is that of all stages, the record one stage's.
Projection as_projection(const DecoderJob& job, DecoderProjection p) {
  Projection out;
  out.compiled = std::move(p.compiled);
  out.device = std::move(p.device);
  out.time = p.time;
  out.steps = p.steps;
  out.samples = p.steps * job.sequences_per_step();
  out.dollars = p.dollars;
  out.price_per_hour = p.price_per_hour;
  out.model_flops = p.model_flops;
  return out;
}

/// The small model's options; if the user asks for another plan, it is theirs on the cores that they ask for.
std::map<std::string, std::string> small_options(const workloads::Job& job, const TrainOptions& given) {
  std::map<std::string, std::string> out = given.model_id.empty() ? job.small_options : job.own_options;
  constexpr std::array<const char*, 4> kPlan = {"tensor_parallel_size", "pipeline_parallel_size", "nproc_per_node",
                                                "nnodes"};
  if (std::ranges::any_of(kPlan, [&](const char* name) { return given.given.contains(name); }))
    for (const char* name : kPlan) out.erase(name);
  return out;
}

/// A model that is trained for real must fit into this host. Errors: Fault::kCapacity.
void require_host_memory(const DecoderJob& job) {
  const auto host = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGE_SIZE));
  const double cores = static_cast<double>(least_memory(job)) * static_cast<double>(job.cores());
  // The weights of the file, in fp32, beside what each core holds.
  const double file = 4 * static_cast<double>(workloads::parameter_count(workloads::model_weights(job.config)));
  if (cores + file <= host) return;
  const auto text = [](double bytes) { return base::readable(bytes, base::Dimension::kBytes); };
  throw Error{Fault::kCapacity, "training for real",
              fmt::format("needs {} of this host's memory at least, which has {}", text(cores + file), text(host)),
              "use --numerics off, which projects time and cost alone, or a smaller model"};
}

class DecoderRun {
 public:
  DecoderRun(const workloads::Job& job, const TrainOptions& given, RunPlace place)
      : job_{job}, given_{given}, folder_{place.folder}, trace_{place.trace}, projected_{given}, small_{given} {
    const bool own = !given.model_id.empty();
    apply_defaults(projected_, job.options, job.file);
    if (own && projected_.numerics != "off") apply_defaults(projected_, small_options(job, given), job.file);
    apply_defaults(small_, job.options, job.file);
    apply_defaults(small_, small_options(job, given), job.file);
    form_ = base::parse_format(projected_.format);
    report_.workload = job.name, report_.command = place.command, report_.options = projected_, report_.job = &job_;
  }

  void run() {
    const double begin = wall_clock();
    require_free(given_);
    if (numeric()) load();
    if (projected_.mode != "numeric") project_job();
    machine_ = load_cluster(projected_.instance_type, projected_.set, projected_.nnodes);
    report_.machine = &machine_;
    // Whatever does not fit together is refused before the first file is written.
    std::optional<workloads::CausalTrainer> trainer;
    double step_seconds = 0;
    if (numeric()) {
      trainer.emplace(data_->config, data_->weights, data(), options());
      step_seconds = simulated_step_seconds(*trainer, machine_, small_.exact);
    }
    finish_run(
        report_, {.folder = folder_, .form = form_}, begin, [&] { show(); },
        [&] {
          if (trainer) train(*trainer, step_seconds);
        });
  }

 private:
  bool numeric() const { return projected_.numerics != "off" && projected_.mode != "timed"; }

  std::string model_name() const { return given_.model_id.empty() ? job_.model : given_.model_id; }
  std::string small_name() const { return given_.model_id.empty() ? job_.small_model : given_.model_id; }

  void load() {
    trained_ = decoder_job(small_, decoder_config(small_name()), 0);
    require_host_memory(trained_);
    data_ = workloads::load_language_modelling({.model_folder = small_.model_id,
                                                .preset = job_.small_model,
                                                .dataset_path = small_.dataset_path,
                                                .validation_file = small_.validation_file,
                                                .test_file = small_.test_file,
                                                .vocab = small_.vocab,
                                                .strict = small_.strict,
                                                .hold_out = small_.eval_strategy == "epoch",
                                                .length = static_cast<std::size_t>(trained_.step.length),
                                                .max_train_samples = static_cast<std::size_t>(small_.max_train_samples),
                                                .max_eval_samples = static_cast<std::size_t>(small_.max_eval_samples),
                                                .seed = static_cast<std::uint64_t>(small_.seed)});
    for (const std::string& note : data_->notes) base::log(base::LogLevel::kWarning, note);
    trained_.config = data_->config;
  }

  /// Packed sequences of an epoch of the projected job.
  double sequences() const {
    if (given_.dataset_path.empty()) return static_cast<double>(job_.samples);
    if (data_ && !given_.model_id.empty()) return static_cast<double>(data_->train.size());
    const workloads::TokenCount count =
        workloads::count_tokens(given_.dataset_path, workloads::tokenizer_path(given_.vocab, given_.model_id),
                                static_cast<std::size_t>(given_.max_train_samples), given_.strict);
    if (count.estimated)
      base::log_warning("{} tokens are assumed from {} bytes of text, {} each: give --vocab to count them",
                        count.tokens, count.bytes, workloads::kBytesPerToken);
    const auto length = static_cast<std::size_t>(projected_.max_length);
    if (count.tokens < length)
      throw Error{Fault::kData, given_.dataset_path,
                  fmt::format("has {} tokens in all, which fill no sequence of {}", count.tokens, length),
                  "give more text, or shorter sequences: --max_length"};
    return static_cast<double>(count.tokens / length);
  }

  void project_job() {
    const double samples = sequences();
    job_shape_ =
        decoder_job(projected_, data_ && !given_.model_id.empty() ? data_->config : decoder_config(model_name()),
                    samples * projected_.num_train_epochs);
    if (projected_.max_steps >= 0)
      job_shape_.sequences = static_cast<double>(projected_.max_steps) * job_shape_.sequences_per_step();
    const JobMachines machines = machines_of(job_shape_, projected_.instance_type, projected_.set);
    DecoderProjection p = project(job_shape_, machines);
    if (trace_.until > trace_.from)
      p.device = hw::simulate(p.compiled.program, machines.stage,
                              {.exact = job_shape_.exact, .trace_from = trace_.from, .trace_until = trace_.until});
    figures_ = decoder_table(job_shape_, p), memory_ = decoder_memory_table(p.memory);
    plan_.step = job_shape_.step, plan_.samples = static_cast<std::int64_t>(samples);
    plan_.epochs = projected_.num_train_epochs, plan_.stack = job_shape_.stack;
    projection_ = as_projection(job_shape_, std::move(p));
    report_.projected = &plan_, report_.projection = &*projection_;
    report_.decoder = &job_shape_.config;
    report_.cores = static_cast<std::uint32_t>(job_shape_.cores());
    report_.is_published = is_published_job(projected_, job_);
  }

  void show() const {
    if (!projection_) return;
    print(fmt::format("{}: {}\n{} x {}: {}\n\n", job_.name, text_of(job_, given_), job_shape_.instances, machine_.name,
                      describe(job_shape_)));
    print(job_table(report_).render(form_) + "\n");
    print(figures_.render(form_) + "\n");
    print(engine_table(*projection_).render(form_) + "\n");
    print(time_table(*projection_).render(form_) + "\n");
    print(memory_.render(form_) + (data_ ? "\n" : ""));
    flush();
  }

  workloads::CausalData data() const {
    return {data_->tokenizer.get(), &data_->train, if_any(data_->validation), if_any(data_->test)};
  }

  workloads::TrainerOptions options() const {
    workloads::TrainerOptions out =
        trainer_options(small_, trained_.step, trained_.passes, machine_, folder_ / "checkpoint");
    out.step.pipeline_parallel = trained_.pipeline;
    out.step.decay_all = false;
    out.eval_on_start = true;  // what the training is worth is the difference
    return out;
  }

  void train(workloads::Trainer& trainer, double step_seconds) {
    Training facts;
    facts.simulated_step_seconds = step_seconds;
    facts.dataset = data_->source, facts.synthetic = data_->synthetic;
    facts.numerics = trainer.options().step.numerics.name;
    facts.train_samples = static_cast<std::int64_t>(data_->train.size());
    facts.parameters = static_cast<std::int64_t>(workloads::parameter_count(workloads::model_weights(data_->config)));
    facts.model = given_.model_id.empty() ? job_.small_model + ", from scratch" : given_.model_id;
    if (for_people(form_)) {
      print(fmt::format("training for real: {}, {}; {} texts, {} sequences\n", describe(trained_), facts.numerics,
                        data_->texts, facts.train_samples));
      flush();
    }
    const TrainingView view{.folder = folder_, .form = form_};
    report_.training = run_training(trainer, std::move(facts), view);
    close_training(*report_.training, view, trainer,
                   {data_->config, *data_->tokenizer, workloads::element_type(trained_.step.numerics.weight)});
  }

  const workloads::Job& job_;
  const TrainOptions& given_;
  const std::filesystem::path folder_;
  const TraceWindow trace_;
  TrainOptions projected_, small_;
  base::Format form_{};
  hw::MachineParams machine_;
  std::optional<workloads::LanguageModelling> data_;
  DecoderJob trained_, job_shape_;
  ProjectedJob plan_;
  base::Table figures_{{}}, memory_{{}};
  std::optional<Projection> projection_;
  RunReport report_;
};

}  // namespace

void run_decoder(const workloads::Job& job, const TrainOptions& options, const RunPlace& place) {
  DecoderRun{job, options, place}.run();
}

}  // namespace cli
