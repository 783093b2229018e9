// `trnsim run WORKLOAD`: the projected job and the real training run.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <ctime>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "analysis/profile/stats.h"
#include "analysis/record/result.h"
#include "base/error.h"
#include "base/files.h"
#include "base/log.h"
#include "base/progress.h"
#include "base/table.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/graphs.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/tables.h"
#include "cli/verbs.h"
#include "trnsim/graphs/graph_model.h"
#include "trnsim/job/settings.h"
#include "trnsim/plans/advice.h"
#include "trnsim/project/memory.h"
#include "trnsim/run/run.h"

namespace cli {
namespace {

using base::Error;
using base::Fault;
using trnsim::Projection;
using trnsim::RunResult;
using trnsim::Training;
using Clock = std::chrono::steady_clock;

struct RunOptions {
  trnsim::Settings settings;
  std::string workload;
  std::int64_t trace_steps = 0, trace_layer = -1;
  std::string trace_from, trace_until, inputs;  // inputs: an .npz
  bool dump_config = false;
  Tables tables;
};

std::filesystem::path default_folder(const RunOptions& options) {
  return fmt::format("runs/{}-{:%Y%m%d-%H%M%S}", std::filesystem::path{options.workload}.stem().string(),
                     fmt::localtime(std::time(nullptr)));
}

trnsim::TraceWindow trace_window(const RunOptions& options) {
  constexpr double kWholeStep = 3600;  // no step is longer
  const auto time = [](const std::string& text, const char* flag) {
    return base::parse_as(text, base::Dimension::kTime, flag);
  };
  trnsim::TraceWindow window;
  const bool layer = options.trace_layer >= 0;
  if (options.trace_steps > 0 || layer) window.until = kWholeStep;
  window.layer = static_cast<std::int32_t>(options.trace_layer);
  if (!options.trace_from.empty()) window.from = time(options.trace_from, "--trace_from");
  if (!options.trace_until.empty()) window.until = time(options.trace_until, "--trace_until");
  const bool asked = !options.trace_from.empty() || !options.trace_until.empty();
  if (asked && options.trace_steps == 0 && !layer)
    throw Error{Fault::kUsage, options.trace_from.empty() ? "--trace_until" : "--trace_from",
                "has no effect without --trace_steps", "add --trace_steps 1"};
  if (window.from < 0 || (asked && !(window.until > window.from)))
    throw Error{Fault::kUsage, "--trace_until", "is not after --trace_from", "give the later time, as in \"2 ms\""};
  return window;
}

/// Whether stdout is to be read by people, not by programs.
bool human_readable(base::Format form) { return form == base::Format::kTable || form == base::Format::kMarkdown; }

/// The output of each step on the terminal.
class StepView {
 public:
  StepView(const workloads::Trainer& trainer, double step_seconds)
      : step_seconds_{step_seconds}, progress_{"train", "step", static_cast<std::uint64_t>(trainer.max_steps())} {}

  void show(const workloads::StepRecord& r) {
    const double simulated = static_cast<double>(r.step) * step_seconds_;
    const double real = std::chrono::duration<double>(Clock::now() - begin_).count();
    if (progress_.due())
      progress_.update(static_cast<std::uint64_t>(r.step),
                       fmt::format("loss {:.4f}, simulated {:.1f} s, real {:.0f} s", r.loss, simulated, real));
  }
  void evaluating(std::int64_t done, std::int64_t all) {
    if (!evaluation_) {
      progress_.finish();
      evaluation_.emplace("evaluate", "batch", static_cast<std::uint64_t>(all));
    }
    evaluation_->update(static_cast<std::uint64_t>(done));
    if (done == all) evaluation_.reset();
  }
  void finish() {
    evaluation_.reset();
    progress_.finish();
  }

 private:
  const double step_seconds_;
  const Clock::time_point begin_ = Clock::now();
  base::Progress progress_;
  std::optional<base::Progress> evaluation_;  // that is under way
};

/// The answer, as soon as the job is projected; the changes that would help are searched behind it.
std::string answer_of(const RunResult& run) {
  return paragraph(fmt::format("{}: {}", run.workload, flags_in(run.text))) + paragraph(setting_of(*run.job)) + "\n" +
         answer_text(answer(*run.job, *run.projection, {}, run.typed));
}

/// The changes that would help.
void print_changes(const RunResult& run, const Tables& tables) {
  if (run.changes)
    print(changes_text(answer(*run.job, *run.projection, run.changes, run.typed), answer_of(run), "\n\n",
                       tables));  // where the results are, and what is next
  flush();
}

void print_tables(const RunResult& run, base::Format form) {
  const Projection& p = *run.projection;
  print("\n");
  if (run.gain) {
    print(compiler_table(*run.gain).render(form, columns()));
    print(paragraph(gain_text(*run.gain, *run.published_gain)) + "\n");
  }
  const analysis::Figures figures = figures_of(run);
  print(job_table(run, figures).render(form, columns()) + "\n");
  print(figure_table(figures).render(form, columns()) + "\n");
  print(lengths_text(*run.job, p, form));
  if (run.job->purchase != analysis::Purchase::kOnDemand)
    print(fmt::format("price: {}, {} per instance and hour\n",
                      analysis::kPurchaseNames[static_cast<std::size_t>(run.job->purchase)],
                      dollars(p.price_per_hour)));
  const hw::SimResult& device = p.stage().device();
  const analysis::Utilisation u = analysis::utilisation(device, p.stage().compiled().program);
  if (p.stages.size() > 1)
    print(fmt::format("stage {} of {} sets the time of a step: the figures below are those of one of its cores\n",
                      p.slowest, p.stages.size()));
  if (!p.lengths.empty())
    print(fmt::format("the figures below are those of the program of length {}\n", p.lengths.back().length));
  print(paragraph(fmt::format("a core's program: MFU {:.1f} % of {:.2f} TFLOPS, HFU {:.1f} %, MBU {:.1f} %", u.mfu,
                              device.peaks.matmul_flops / 1e12, u.hfu, u.mbu)) +
        "\n");
  print(engine_table(p).render(form, columns()) + "\n");
  print(time_table(p).render(form, columns()) + "\n");
  print(memory_text(p.memory, form) + "\n");
  flush();
}

/// A single text was printed as it grew.
void print_texts(const std::vector<trnsim::GeneratedText>& texts) {
  for (std::size_t i = 0; i < texts.size() && texts.size() > 1; ++i)
    print(fmt::format("[{}] {}\n", i + 1, texts[i].text));
  if (texts.size() == 1) print("\n");
}

void print_training(const Training& t) {
  print(trnsim::metrics_block(t));
  print(fmt::format(
      "trained {} on {}{}; the times above are device time of the simulated cores, the run took {:.0f} s here\n",
      t.model, t.dataset, t.synthetic && t.dataset.find("synthetic") == std::string::npos ? " (synthetic)" : "",
      t.outcome.host_seconds));
  flush();
}

/// The output of a run in progress.
trnsim::RunObserver observer_of(base::Format form, Tables tables, std::unique_ptr<StepView>& steps) {
  const bool readable = human_readable(form);
  trnsim::RunObserver observer;
  observer.note = [](const std::string& note) { base::log(base::LogLevel::kWarning, flags_in(note)); };
  observer.projected = [readable](const RunResult& run) {
    if (readable && run.projection) print(answer_of(run)), flush();
  };
  observer.advised = [readable, form, tables](const RunResult& run) {
    if (readable && run.projection) print_changes(run, tables);
    if (readable && run.projection && tables.wanted()) print_tables(run, form);
    if (readable && run.trained && run.trained->cores() > 1) {
      print(fmt::format("training for real: {}\n", setting_of(*run.trained)));
      flush();
    }
  };
  observer.generation.grown = [readable](std::size_t, std::size_t sequences, const std::string& text) {
    if (readable && sequences == 1) print(text), flush();
  };
  observer.training.begin = [&steps](const Training& t, const workloads::Trainer& trainer) {
    base::log_info("training {} ({}) on {}, {}, {} on {}", t.model, base::counted(t.parameters, "parameter"), t.dataset,
                   base::counted(t.train_samples, "sample"), t.numerics,
                   base::counted(trainer.options().step.plan.world(), "core"));
    steps = std::make_unique<StepView>(trainer, t.simulated_step_seconds);
  };
  observer.training.step = [&steps](const workloads::StepRecord& r) { steps->show(r); };
  observer.training.evaluating = [&steps](std::int64_t done, std::int64_t all) { steps->evaluating(done, all); };
  observer.training.evaluated = [readable](const workloads::EvalRecord& e) {
    if (readable) print(trnsim::metrics_block(e)), flush();
  };
  return observer;
}

/// The combined settings of flags, environment, file and workload, as a file for --config.
void dump_config(const RunOptions& options) {
  trnsim::Settings settings = options.settings;
  apply_workload(settings, trnsim::workload_of(options.workload), trnsim::WorkloadPart::kProjected);
  print(config_text(settings));
}

std::string next_of(const std::string& folder, const RunResult& result) {
  if (!result.projection) return fmt::format("open {}/report.html for its curves", folder);
  return fmt::format("open {}/report.html, or --tables for every figure", folder);
}

/// The command as typed, with every flag that makes the job, without the folder that it filled.
std::string command_of_report() {
  std::vector<std::string> words = typed_command();
  words.front() = "trnsim";
  return command_with(words, {}, trnsim::FolderIs::kTaken);
}

/// Whether it is a program whose numbers are asked for. Errors: Fault::kUsage for settings that only such a program
/// has.
bool computed_program(const RunOptions& options) {
  const std::string& mode = options.settings.machine.mode;
  const bool program = trnsim::is_graph_file(options.workload);
  if (program && mode == "full")
    throw base::Error{base::Fault::kUsage, "--mode full", "a program is either computed or timed, not both at once",
                      "use --mode numeric for its numbers, --mode timed for its time"};
  if (!options.inputs.empty() && !(program && mode == "numeric"))
    throw base::Error{base::Fault::kUsage, "--inputs", "are inputs of a program that is computed",
                      "name a program's file and use --mode numeric, or leave it out"};
  return program && mode == "numeric";
}

void run(const RunOptions& options) {
  if (options.dump_config) return dump_config(options);
  if (std::filesystem::is_directory(options.workload) && !workloads::names_workload(options.workload))
    return run_cache(options.workload, options.settings);
  if (computed_program(options)) return run_numbers(options.workload, options.inputs, options.settings);
  std::optional<base::NewFolder> made;
  workloads::Workload workload = trnsim::workload_of(options.workload);
  if (options.settings.output.output_dir.empty()) made.emplace(default_folder(options));
  const trnsim::RunRequest request{
      .workload = std::move(workload),
      .given = options.settings,
      .command = command_of_report(),
      .typed = typed_command(),
      .folder = made ? made->path() : std::filesystem::path{options.settings.output.output_dir},
      .trace = trace_window(options)};
  const base::Format form = base::parse_format(options.settings.output.format);
  std::unique_ptr<StepView> steps;
  const RunResult result = trnsim::run(request, observer_of(form, options.tables, steps));
  if (steps) steps->finish();
  if (result.training && human_readable(form)) print_training(*result.training);
  if (human_readable(form)) print_texts(result.texts);
  if (form == base::Format::kJson)
    print(analysis::with_schema(to_json(figures_of(result)))
              .dump(2, ' ', false, analysis::Json::error_handler_t::replace) +
          "\n");
  if (form == base::Format::kCsv && result.projection) {
    const analysis::Figures figures = figures_of(result);
    print(figures_with_published(result, figures).render(form, columns()));
  }
  base::log_info("results in {}", request.folder.string());
  if (human_readable(form) && !options.tables.wanted()) print_next(next_of(request.folder.string(), result));
  if (result.projection && result.job->model->is_given()) trnsim::require_fit(*result.job, result.projection->memory);
  if (result.training && result.training->outcome.interrupted)
    base::log_warning("interrupted at step {}: go on with --resume_from_checkpoint {}", result.training->outcome.steps,
                      (request.folder / "checkpoint").string());
}

}  // namespace

void add_run(CLI::App& app) {
  auto options = std::make_shared<RunOptions>();
  app.add_option("WORKLOAD", options->workload,
                 "name of a workload, or a workload file; or a program: .hlo, .pb, .mlir")
      ->required();
  app.add_option("--trace_steps,--trace-steps", options->trace_steps,
                 "record the instructions of this many steps, for trnsim trace")
      ->type_name("0|1")
      ->check(CLI::Range(0, 1));
  app.add_option("--trace_layer,--trace-layer", options->trace_layer,
                 "record only the instructions of this layer of the model, from 0, in every pass over it")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--trace_from,--trace-from", options->trace_from,
                 "beginning of the recorded part of the step, as in \"1.5 ms\" [0]");
  app.add_option("--trace_until,--trace-until", options->trace_until, "end of the recorded part [the end of the step]");
  app.add_flag("--dump_config,--dump-config", options->dump_config,
               "print the settings of the projected job as a file for --config, and exit");
  app.add_option("--inputs", options->inputs,
                 "with --mode numeric, a program's inputs, saved by numpy.savez: an array for each parameter [random]")
      ->type_name("FILE.npz");
  add_tables_flag(app, options->tables.asked);
  act_with_settings(app, "run", options, run);
}

}  // namespace cli
