#include "cli/run_training.h"

#include <fmt/format.h>

#include "analysis/result.h"
#include "base/error.h"
#include "base/files.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/progress.h"
#include "cli/output.h"
#include "hw/sim_device.h"
#include "trnsim/project.h"
#include "workloads/metrics.h"
#include "workloads/weights.h"

namespace cli {

using namespace trnsim;
namespace {

void print_eval(const workloads::EvalRecord& e, base::Format form) {
  if (!for_people(form)) return;
  const std::string key = e.split + "_";
  workloads::Metrics metrics{{"epoch", e.epoch}, {key + "loss", e.loss}, {key + "samples", e.samples}};
  for (const auto& [name, value] : e.scores) metrics.emplace_back(key + name, value);
  print(workloads::metrics_block(e.split, metrics));
  flush();
}

/// What each step leaves: a line on the terminal, and one in steps.jsonl.
class StepView {
 public:
  StepView(const workloads::Trainer& trainer, const TrainingView& view, double step_seconds)
      : trainer_{trainer},
        step_seconds_{step_seconds},
        steps_{view.folder, trainer.first_step()},
        progress_{"train", "step", static_cast<std::uint64_t>(trainer.max_steps())} {}

  void show(const workloads::StepRecord& r) {
    const double simulated = static_cast<double>(r.step) * step_seconds_, real = wall_clock() - begin_;
    if (progress_.due())
      progress_.update(static_cast<std::uint64_t>(r.step),
                       fmt::format("loss {:.4f}, simulated {:.1f} s, real {:.0f} s", r.loss, simulated, real));
    if (r.step % trainer_.options().logging_steps != 0 && r.step != trainer_.max_steps()) return;
    steps_.append({{"step", r.step},
                   {"epoch", r.epoch},
                   {"loss", r.loss},
                   {"learning_rate", r.learning_rate},
                   {"grad_norm", r.grad_norm},
                   {"simulated_seconds", simulated},
                   {"host_seconds", real}});
  }
  void finish() { progress_.finish(); }

 private:
  const workloads::Trainer& trainer_;
  const double step_seconds_;
  const double begin_ = wall_clock();
  analysis::StepLog steps_;
  base::Progress progress_;
};

/// The last words of a run.
void print_end(const RunReport& report, const std::filesystem::path& folder, base::Format form) {
  if (form == base::Format::kJson) print(result_body(report).dump(2) + "\n");
  if (form == base::Format::kCsv && report.projection) print(job_table(report).render(form));
  base::log_info("results in {}", folder.string());
  if (report.training && report.training->outcome.interrupted)
    base::log_warning("interrupted at step {}: go on with --resume_from_checkpoint {}", report.training->outcome.steps,
                      (folder / "checkpoint").string());
}

}  // namespace

bool for_people(base::Format form) { return form == base::Format::kTable || form == base::Format::kMarkdown; }

double simulated_step_seconds(const workloads::Trainer& trainer, const hw::MachineParams& machine, bool exact) {
  return hw::seconds(hw::simulate(trainer.programs(), machine, {.exact = exact}).total);
}

Training run_training(workloads::Trainer& trainer, Training out, const TrainingView& view) {
  using workloads::Split;
  out.eval_samples = trainer.samples(Split::kValidation);
  base::log_info("training {} ({} parameters) on {}, {} samples, {} on {} cores", out.model, out.parameters,
                 out.dataset, out.train_samples, out.numerics, trainer.options().step.plan.world());
  StepView steps{trainer, view, out.simulated_step_seconds};
  trainer.on_step = [&](const workloads::StepRecord& r) { steps.show(r); };
  trainer.on_eval = [&](const workloads::EvalRecord& e) { print_eval(e, view.form); };
  out.outcome = trainer.run();
  steps.finish();
  if (trainer.samples(Split::kTest) > 0 && !out.outcome.interrupted) {
    out.outcome.evaluations.push_back(trainer.evaluate(Split::kTest));
    print_eval(out.outcome.evaluations.back(), view.form);
  }
  const workloads::Step& step = trainer.options().step;
  out.samples_per_step = step.plan.micro_batch * step.plan.micro_batches * static_cast<std::int64_t>(step.plan.data);
  return out;
}

workloads::TrainerOptions trainer_options(const TrainOptions& o, const workloads::Step& step,
                                          const runtime::Passes& passes, const hw::MachineParams& machine,
                                          const std::filesystem::path& checkpoint) {
  workloads::TrainerOptions t{
      .target = machine.target(),
      .step = step,
      .eval_batch = o.per_device_eval_batch_size,
      .epochs = o.num_train_epochs,
      .max_steps = o.max_steps,
      .learning_rate = o.learning_rate,
      .schedule = o.lr_scheduler_type,
      .warmup_ratio = o.warmup_ratio,
      .warmup_steps = o.warmup_steps,
      .eval_each_epoch = o.eval_strategy == "epoch",
      .logging_steps = o.logging_steps,
      .save_steps = o.save_steps,
      .seed = static_cast<std::uint64_t>(o.seed) | static_cast<std::uint64_t>(o.stochastic_rounding_seed) << 32,
      .host_threads = static_cast<int>(o.host_threads),
      .passes = passes,
      .checkpoint = checkpoint,
      .resume = o.resume_from_checkpoint};
  if (o.mode == "full") t.make_device = [machine] { return hw::make_sim_device(machine, {.check_races = true}); };
  return t;
}

void close_training(const Training& t, const TrainingView& view, workloads::Trainer& trainer,
                    const TrainedModel& model) {
  const workloads::TrainOutcome& o = t.outcome;
  const std::filesystem::path folder = view.folder / "model";
  std::filesystem::create_directories(folder);
  workloads::write_config(model.config, folder);
  workloads::save_weights(folder, model.config, trainer.read_weights(), model.weights);
  model.tokenizer.save(folder);
  base::write_file(folder / "trainer_state.json", workloads::trainer_state_json(o.state));
  if (!for_people(view.form)) return;
  const double simulated = static_cast<double>(o.steps) * t.simulated_step_seconds;
  workloads::Metrics metrics = workloads::speed_metrics("train", simulated, o.steps * t.samples_per_step, o.steps);
  metrics.push_back({"epoch", o.epoch});
  metrics.push_back({"total_flos", o.total_flos});
  metrics.push_back({"train_loss", o.train_loss});
  print(workloads::metrics_block("train", metrics));
  print(fmt::format(
      "trained {} on {}{}; the times above are device time of the simulated cores, the run took {:.0f} s here\n",
      t.model, t.dataset, t.synthetic && t.dataset.find("synthetic") == std::string::npos ? " (synthetic)" : "",
      o.host_seconds));
  flush();
}

void finish_run(RunReport& report, const TrainingView& view, double begin, const std::function<void()>& show,
                const std::function<void()>& train) {
  const base::HoldInterrupts hold;
  base::make_output_folder(view.folder, report.options.overwrite_output_dir);
  if (for_people(view.form)) show();
  train();
  report.host_seconds = wall_clock() - begin;
  write_run_files(view.folder, report);
  print_end(report, view.folder, view.form);
}

void require_free(const TrainOptions& options) {
  if (options.output_dir.empty() || options.overwrite_output_dir) return;
  const std::filesystem::path folder = options.output_dir;
  std::error_code error;
  if (std::filesystem::exists(folder, error) && !std::filesystem::is_empty(folder, error))
    throw base::Error{base::Fault::kUsage, "--output_dir " + folder.string(), "exists and is not empty",
                      "choose another one, or add --overwrite_output_dir"};
}

}  // namespace cli
