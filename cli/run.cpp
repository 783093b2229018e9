// `trnsim run WORKLOAD`: the projected job and the real training run.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>
#include <filesystem>
#include <memory>

#include "analysis/prices.h"
#include "analysis/stats.h"
#include "base/error.h"
#include "base/files.h"
#include "base/log.h"
#include "base/table.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/run_decoder.h"
#include "cli/run_training.h"
#include "cli/verbs.h"
#include "hw/sim_device.h"
#include "trnsim/compiler_gain.h"
#include "trnsim/published.h"
#include "trnsim/run_report.h"
#include "workloads/classification.h"
#include "workloads/classifier_trainer.h"

namespace cli {

using namespace trnsim;
namespace {

using base::Error;
using base::Fault;

struct RunOptions {
  TrainOptions train;
  std::string workload, command;
  std::int64_t trace_steps = 0;
  std::string trace_from, trace_until;
};

std::vector<std::string> split_names(const std::string& text) {
  std::vector<std::string> out;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    out.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return out;
}

std::filesystem::path output_folder(const RunOptions& options) {
  if (!options.train.output_dir.empty()) return options.train.output_dir;
  return fmt::format("runs/{}-{:%Y%m%d-%H%M%S}", std::filesystem::path{options.workload}.stem().string(),
                     fmt::localtime(std::time(nullptr)));
}

TraceWindow trace_window(const RunOptions& options) {
  constexpr double kWholeStep = 1e6;
  const auto time = [](const std::string& text, const char* flag) {
    return base::parse_as(text, base::Dimension::kTime, flag);
  };
  TraceWindow window;
  if (options.trace_steps > 0) window.until = kWholeStep;
  if (!options.trace_from.empty()) window.from = time(options.trace_from, "--trace-from");
  if (!options.trace_until.empty()) window.until = time(options.trace_until, "--trace-until");
  const bool asked = !options.trace_from.empty() || !options.trace_until.empty();
  if (asked && options.trace_steps == 0)
    throw Error{Fault::kUsage, options.trace_from.empty() ? "--trace-until" : "--trace-from",
                "is a part of a recording that nobody asked for", "add --trace-steps 1"};
  if (window.from < 0 || (asked && !(window.until > window.from)))
    throw Error{Fault::kUsage, "--trace-until", "is not behind --trace-from", "give the later time, as in \"2 ms\""};
  return window;
}

class Run {
 public:
  Run(const RunOptions& options, workloads::Job job)
      : options_{options}, job_{std::move(job)}, projected_{options.train}, small_{options.train} {
    refuse_plan_of_encoder(options.train, job_.model);
    apply_defaults(projected_, job_.options, job_.file);
    apply_defaults(small_, job_.options, job_.file);
    if (options.train.model_id.empty()) apply_defaults(small_, job_.small_options, job_.file);
    machine_ = hw::load_machine(projected_.instance_type, projected_.set);
    form_ = base::parse_format(projected_.format);
  }

  void run() {
    const double begin = wall_clock();
    require_free(options_.train);
    report_.workload = job_.name, report_.command = options_.command, report_.options = projected_;
    report_.job = &job_, report_.machine = &machine_;
    if (numeric()) load_data();
    if (projected_.mode != "numeric") project_job();
    folder_ = output_folder(options_);
    // Whatever does not fit together is refused before the first file is written.
    std::optional<workloads::ClassifierTrainer> trainer;
    double step_seconds = 0;
    if (numeric()) {
      trainer.emplace(data_->config, data_->weights, data(), options());
      step_seconds = simulated_step_seconds(*trainer, machine_, small_.exact);
    }
    finish_run(
        report_, {.folder = folder_, .form = form_}, begin, [&] { print_projection(); },
        [&] {
          if (trainer) train(*trainer, step_seconds);
        });
  }

 private:
  bool numeric() const { return projected_.numerics != "off" && projected_.mode != "timed"; }

  workloads::BertConfig projected_config() const {
    if (data_ && !options_.train.model_id.empty()) return data_->config;
    workloads::BertConfig config = options_.train.model_id.empty()
                                       ? workloads::bert_preset(job_.model)
                                       : workloads::read_bert_config(options_.train.model_id);
    std::vector<std::string> labels;
    for (std::int64_t i = 0; i < job_.labels; ++i) labels.push_back(fmt::format("LABEL_{}", i));
    if (options_.train.model_id.empty()) config.label_names = labels;
    return config;
  }

  void project_job() {
    const bool own = data_ && !options_.train.dataset_path.empty();
    const auto samples = own ? static_cast<std::int64_t>(data_->train.size()) : job_.samples;
    const auto evaluated =
        own ? (data_->validation ? static_cast<std::int64_t>(data_->validation->size()) : 0) : job_.eval_samples;
    plan_ = projected_job(projected_, projected_config(), samples, evaluated);
    plan_.step.ranks = cores_of(projected_, machine_);
    plan_.trace = trace_window(options_);
    plan_.price.purchase = analysis::parse_purchase(job_.price, job_.file);
    if (job_.speed_up) {
      gain_ = compiler_gain(plan_, projected_.learning_rate, machine_);
      plan_ = gain_->cases.back().job;
      projection_ = gain_->cases.back().projection;
    } else {
      projection_ = project(plan_, machine_);
    }
    report_.projected = &plan_;
    report_.projection = &*projection_;
    report_.is_published = is_published_job(projected_, job_);
  }

  void load_data() {
    const TrainOptions& o = small_;
    workloads::ClassificationOptions c{.model_folder = o.model_id,
                                       .preset = job_.small_model,
                                       .dataset_path = o.dataset_path,
                                       .validation_file = o.validation_file,
                                       .test_file = o.test_file,
                                       .vocab = o.vocab,
                                       .read = {.text_column = o.text_column,
                                                .label_column = o.label_column,
                                                .label_names = split_names(o.label_names),
                                                .backslash_escapes = job_.backslash_escapes,
                                                .strict = o.strict},
                                       .max_length = static_cast<std::size_t>(o.max_length),
                                       .max_train_samples = static_cast<std::size_t>(o.max_train_samples),
                                       .max_eval_samples = static_cast<std::size_t>(o.max_eval_samples),
                                       .seed = static_cast<std::uint64_t>(o.seed)};
    data_ = workloads::load_classification(c);
    for (const std::string& note : data_->notes) base::log(base::LogLevel::kWarning, note);
  }

  workloads::TrainerOptions options() const {
    ProjectedJob plan = projected_job(small_, data_->config, 0, 0);
    plan.step.ranks = cores_of(small_, machine_);
    return trainer_options(small_, plan.step, plan.passes, machine_, folder_ / "checkpoint");
  }

  workloads::ClassifierData data() const { return {&data_->train, if_any(data_->validation), if_any(data_->test)}; }

  void train(workloads::Trainer& trainer, double step_seconds) {
    Training facts;
    facts.simulated_step_seconds = step_seconds;
    facts.dataset = data_->source, facts.synthetic = data_->synthetic;
    facts.numerics = trainer.options().step.numerics.name;
    facts.train_samples = static_cast<std::int64_t>(data_->train.size());
    facts.parameters = static_cast<std::int64_t>(workloads::parameter_count(workloads::bert_weights(data_->config)));
    facts.model = small_.model_id.empty() ? job_.small_model + ", from scratch" : small_.model_id;
    const TrainingView view{.folder = folder_, .form = form_};
    report_.training = run_training(trainer, std::move(facts), view);
    close_training(*report_.training, view, trainer, {data_->config, *data_->tokenizer});
  }

  void print_projection() const {
    if (!report_.projection) return;
    const Projection& p = *projection_;
    print(fmt::format("{}: {}\n", job_.name, text_of(job_, options_.train)));
    print(fmt::format("{} x {}, {} cores, {} per core, length {}, {}, {:.0f} steps\n\n", machine_.instances.value,
                      machine_.name, plan_.step.ranks, plan_.step.batch, plan_.step.length, plan_.step.numerics.name,
                      p.steps));
    if (gain_) {
      print(compiler_table(*gain_).render(form_));
      print(fmt::format("speed-up {:.1f} %, published: up to {:.0f} % ({})\n\n", 100 * gain_->speed_up(),
                        100 * job_.speed_up->value, job_.speed_up->source));
    }
    print(job_table(report_).render(form_) + "\n");
    if (job_.price != "on_demand")
      print(p.price_per_hour ? fmt::format("price: {}, ${:.2f} per instance and hour\n", job_.price, *p.price_per_hour)
                             : fmt::format("price: no {} price of {}\n", job_.price, machine_.name));
    const auto resources = analysis::resources(p.device);
    const analysis::Utilisation u = analysis::utilisation(p.device, p.compiled.program);
    print(fmt::format("step {:.1f} ms: device {:.1f} ms, host {:.1f} ms{}\n", p.time.step * 1e3,
                      p.time.device_step * 1e3, p.time.host_step * 1e3, p.time.overlapped ? " beside it" : ""));
    print(fmt::format("bound by {}; busiest on the device: {} ({:.1f} %)\n",
                      p.time.host_step > p.time.device_step ? "the host" : "the device", resources.front().name,
                      resources.front().busy));
    print(fmt::format("MFU {:.1f} % of 91.75 TFLOPS per core, HFU {:.1f} %, MBU {:.1f} %\n\n", u.mfu, u.hfu, u.mbu));
    print(engine_table(p).render(form_) + "\n");
    print(time_table(p).render(form_) + "\n");
    print(memory_table(p.compiled.memory.bytes_by_kind, p.compiled.memory.total, machine_.hbm_bytes_per_core())
              .render(form_) +
          "\n");
    flush();
  }

  const RunOptions& options_;
  const workloads::Job job_;
  TrainOptions projected_, small_;
  hw::MachineParams machine_;
  base::Format form_{};
  std::optional<workloads::Classification> data_;
  ProjectedJob plan_;
  std::optional<Projection> projection_;
  std::optional<CompilerGain> gain_;
  RunReport report_;
  std::filesystem::path folder_;
};

}  // namespace

void add_run(CLI::App& app) {
  auto options = std::make_shared<RunOptions>();
  app.add_option("WORKLOAD", options->workload, "name of a workload, or a workload file")->required();
  app.add_option("--trace-steps", options->trace_steps, "record the instructions of this many steps, for trnsim trace")
      ->type_name("0|1")
      ->check(CLI::Range(0, 1));
  app.add_option("--trace-from", options->trace_from, "begin of what is recorded of the step, as in \"1.5 ms\" [0]");
  app.add_option("--trace-until", options->trace_until, "its end [the end of the step]");
  add_train_options(app, "run", options->train);
  app.final_callback([options, &app] {
    settle(app, "run", options->train);
    options->command = fmt::format("trnsim run {}", options->workload);
    const workloads::Job job = workloads::load_job(options->workload);
    if (!is_decoder(job)) return Run{*options, job}.run();
    run_decoder(job, options->train, {options->command, output_folder(*options), trace_window(*options)});
  });
}

}  // namespace cli
