#include "trnsim/run/run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "analysis/export/export.h"
#include "analysis/record/result.h"
#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/interrupt.h"
#include "trnsim/generate/generation_time.h"
#include "trnsim/generate/text_job.h"
#include "trnsim/job/data_size.h"
#include "trnsim/job/settings.h"
#include "trnsim/job/unread.h"
#include "trnsim/plans/known_blocks.h"
#include "trnsim/project/memory.h"
#include "workloads/models/model.h"

namespace trnsim {
namespace {

using base::Error;
using base::Fault;
using Clock = std::chrono::steady_clock;

/// An hour of work must not end at a folder that is in use. Errors: Fault::kUsage.
void require_free(const Settings& settings) {
  if (settings.output.output_dir.empty() || settings.output.overwrite_output_dir) return;
  const std::filesystem::path folder = settings.output.output_dir;
  std::error_code error;
  if (std::filesystem::exists(folder, error) && !std::filesystem::is_directory(folder, error))
    throw Error{Fault::kUsage, "`output_dir` " + folder.string(), "is a file, not a folder", "choose another one"};
  if (std::filesystem::exists(folder, error) && !std::filesystem::is_empty(folder, error))
    throw Error{Fault::kUsage, "`output_dir` " + folder.string(), "exists and is not empty",
                "choose another one, or add `overwrite_output_dir`"};
}

bool computes(const Settings& s) { return s.numerics.name != "off" && s.machine.mode != "timed"; }
bool trains(const Settings& s) { return computes(s) && !is_requests(s); }

/// A generation computes with weights that it is given; alone it is projected.
bool writes(const Settings& s) { return computes(s) && s.generation.max_new_tokens > 0 && !s.data.model_id.empty(); }

[[noreturn]] void refuse_numeric(const std::string& model) {
  throw Error{Fault::kUsage, "`mode` numeric",
              fmt::format("{} is only a name, without weights to generate text with", model),
              "give `model_id`, a folder with weights and tokenizer, or use `mode` timed"};
}

/// Errors: Fault::kUsage for a generation in a mode that it does not have.
void require_mode(const workloads::Workload& workload, const Settings& s) {
  if (!is_requests(s)) return refuse_requests(s);
  if (s.machine.mode == "full")
    throw Error{Fault::kUsage, "`mode` full", "generation is either timed or computed, not both at once",
                "use numeric, timed, or leave it out"};
  if (s.machine.mode == "numeric" && s.data.model_id.empty()) refuse_numeric(workload.model);
}

/// The settings of the projected job. The user's own model that is trained is also the one that is projected; without
/// numbers to compute the format is the workload's all the same.
Settings projected_settings(const workloads::Workload& workload, const Settings& given) {
  Settings settings = given;
  apply_workload(settings, workload, WorkloadPart::kProjected);
  if (!given.data.model_id.empty() && trains(settings)) apply_workload(settings, workload, WorkloadPart::kTrained);
  return settings;
}

Settings timed_settings(const workloads::Workload& workload, Settings settings) {
  const auto own = workload.options.find("numerics");
  if (settings.numerics.name == "off" && own != workload.options.end()) settings.numerics.name = own->second;
  resolve_numerics(settings);
  return settings;
}

/// A setting's value as it is typed: "1", "hbm.bandwidth=0.5x", "true".
std::string plain_text(const nlohmann::ordered_json& value) {
  if (value.is_number_float()) return fmt::format("{:g}", value.get<double>());
  if (value.is_array()) return fmt::format("{}", fmt::join(value.get<std::vector<std::string>>(), " "));
  return value.is_string() ? value.get<std::string>() : value.dump();
}

/// The settings of the job that the user gave and that are not the workload's: "max_length 128, num_train_epochs 1".
std::string changes_of(const workloads::Workload& workload, const Settings& given) {
  const nlohmann::ordered_json values = to_json(given);
  std::string out;
  for (const Setting& s : settings_table()) {
    const std::string name{s.name()};
    if (!s.effect.job || !given.given.contains(name) || !values.contains(name)) continue;
    const auto& value = values.at(name);
    const std::string text = plain_text(value);
    const auto own = workload.options.find(name);
    if (own == workload.options.end() || own->second != text)
      out += fmt::format("{}`{}` {}", out.empty() ? "" : ", ", name, text);
  }
  return out;
}

/// Another task has other labels and heads than the workload's own words say.
bool is_other_task(const workloads::Workload& workload, const Settings& given) {
  const auto own = workload.options.find("task");
  return given.given.contains("task") && given.data.task != (own == workload.options.end() ? "" : own->second);
}

std::string text_of(const workloads::Workload& workload, const Settings& given) {
  const std::string changes = changes_of(workload, given);
  const bool others = !given.data.model_id.empty() || !given.data.dataset_path.empty() || !given.data.buckets.empty();
  const std::string model = given.data.model_id.empty() ? workload.model : given.data.model_id;
  const std::string data = given.data.dataset_path.empty() ? "the workload's data" : given.data.dataset_path;
  const bool requests = given.data.task == kInference;
  const std::string own = requests ? fmt::format("requests to {}", model) : fmt::format("{} on {}", model, data);
  if (others) return own;
  const std::string text = is_other_task(workload, given) ? own : workload.text;
  return changes.empty() ? text : fmt::format("{}; changed: {}", text, changes);
}

Job job_on(const workloads::Workload& workload, const Settings& settings, const workloads::TrainingData* data,
           const std::function<void(const std::string&)>& note) {
  const Settings timed = timed_settings(workload, settings);
  const workloads::ModelPtr model = data && !settings.data.model_id.empty()
                                        ? data->config
                                        : model_of(workload, workload.model, settings.data.model_id);
  if (is_requests(timed)) return job_of(timed, model, 0);
  const DataSize size = data_size(timed, model, data, {&workload, note});
  return job_of(timed, size.of_words ? model->with_head(workloads::Head::kTokens) : model, size.samples,
                size.eval_samples, size.lengths);
}

class Run {
 public:
  Run(const RunRequest& request, const RunObserver& observer)
      : request_{request}, workload_{request.workload}, observer_{observer}, trained_{request.given} {
    out_.trace = request.trace;
    out_.workload = workload_.name, out_.command = request.command, out_.typed = request.typed;
    out_.text = text_of(workload_, request.given);
    if (!is_bundled(workload_))
      out_.file = {std::filesystem::absolute(workload_.file).lexically_normal().string(), hash_of_file(workload_.file)};
    out_.settings = projected_settings(workload_, request.given);
    apply_workload(trained_, workload_, WorkloadPart::kTrained);
  }

  RunResult run() {
    const auto begin = Clock::now();
    require_free(request_.given);
    std::vector<std::string> trackers;
    analysis::exports_of(out_.settings.output.report_to, trackers);
    if (!trackers.empty() && observer_.note)
      observer_.note(fmt::format("`report_to` {}: nothing is sent there; trnsim writes {}", fmt::join(trackers, ","),
                                 fmt::join(analysis::exporter_names(), ", ")));
    require_mode(workload_, out_.settings);
    const auto& data = request_.given.data;
    if (!trains(out_.settings) && !data.vocab.empty() && data.dataset_path.empty()) {
      if (!std::filesystem::exists(data.vocab))
        throw Error{Fault::kUsage, "`vocab`", fmt::format("{} does not exist", data.vocab),
                    "give a vocab.txt, a tokenizer.json or their folder"};
      if (observer_.note) observer_.note("`vocab` is not read: nothing is trained, and no texts are counted");
    }
    if (!trains(out_.settings) && !out_.settings.output.resume_from_checkpoint.empty())
      throw Error{Fault::kUsage, "`resume_from_checkpoint`", "has no effect: nothing is trained that could be resumed",
                  "leave it out, or use `mode` numeric"};
    if (trains(out_.settings)) load();
    if (writes(out_.settings)) open_text();
    if (out_.settings.machine.mode != "numeric") project_job();
    prepare();
    const base::HoldInterrupts hold;
    const base::FolderIfUsed tidy{request_.folder};
    base::make_output_folder(request_.folder, out_.settings.output.overwrite_output_dir);
    const base::FolderLock lock{request_.folder};
    base::make_output_folder(
        request_.folder,
        out_.settings.output.overwrite_output_dir);  // an earlier holder of the lock may have written
    remove_run_files(request_.folder, out_.settings.output.resume_from_checkpoint);
    if (observer_.projected) observer_.projected(out_);
    suggest();
    if (observer_.advised) observer_.advised(out_);
    if (trainer_) train_model();
    if (text_) out_.texts = text_->write(*text_job_, observer_.generation);
    out_.host_seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    write_results();
    return std::move(out_);
  }

  RunResult projected() {
    const auto begin = Clock::now();
    project_job();
    suggest();
    out_.host_seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    return std::move(out_);
  }

 private:
  void load() {
    data_ = load_training(workload_, trained_);
    if (observer_.note)
      for (const std::string& note : data_->notes) observer_.note(note);
  }

  /// The prompts that there are say how many sequences the job has, and of which length.
  void open_text() {
    const std::string& model = out_.settings.data.model_id;
    text_ = std::make_unique<TextJob>(model, out_.settings);
    if (!text_->has_weights()) {
      text_.reset();
      if (out_.settings.machine.mode == "numeric") refuse_numeric(model);
      return;
    }
    out_.settings = text_->settings();
    text_job_ = text_->job();
    require_legal_generation(*text_job_);
    require_fit(*text_job_, least_generation_memory(*text_job_));
    out_.machine = text_job_->machine;
  }

  void project_job() {
    out_.job = job_on(workload_, out_.settings, data_.get(), observer_.note);
    tell_unread(*out_.job, out_.settings, observer_.note);
    const std::int64_t layers = out_.job->model->sizes().layers;
    if (request_.trace.layer >= layers)
      throw Error{Fault::kUsage, "`trace_layer`", fmt::format("is {}, the model has {}", request_.trace.layer, layers),
                  fmt::format("choose one from 0 to {}", layers - 1)};
    if (*out_.job == projected_job(workload_, {})) out_.published = workload_.published;
    if (workload_.speed_up) {
      out_.gain = compiler_gain(*out_.job, out_.settings.training.learning_rate, request_.trace, workload_.most_batch);
      out_.published_gain = workload_.speed_up;
      out_.job = out_.gain->cases.back().job;
      out_.projection = out_.gain->cases.back().projection;
    } else {
      // A given program has no other plan: its time is told all the same, beside the memory that it lacks.
      const bool any_memory = out_.job->model->is_given();
      out_.projection = project_if_it_fits(*out_.job, {.exact = out_.settings.machine.exact,
                                                       .any_memory = any_memory,
                                                       .in_child = !request_.known,
                                                       .trace = request_.trace,
                                                       .shared = blocks()});
      if (!any_memory && !out_.projection->memory.fits()) refuse();
    }
    out_.machine = out_.job->machine;
  }

  /// Those of other runs, or kept for changes of this one.
  SharedBlocks* blocks() {
    if (request_.known) return &request_.known->of(out_.job->machine);
    return out_.settings.output.suggestions > 0 ? &known_.emplace().of(out_.job->machine) : nullptr;
  }

  Job job_with(const Settings& s) const { return job_on(workload_, s, data_.get(), {}); }

  [[noreturn]] void refuse() {
    if (observer_.note)
      observer_.note(fmt::format("{} does not fit as given: searching for a plan that fits", out_.text));
    const auto change = fitting_change(
        out_.settings, [this](const Settings& s) { return job_with(s); }, known_ ? &*known_ : nullptr);
    require_fit(*out_.job, out_.projection->memory, fix_text(change, out_.typed));
    throw Error{Fault::kInternal, workload_.name, "both fits and does not fit",
                "please report this with the command that you ran"};
  }

  void suggest() {
    if (!out_.job || out_.settings.output.suggestions == 0) return;
    JobOf job = [this](const Settings& s) { return job_with(s); };
    if (out_.gain) job = at_largest_batch(std::move(job), *out_.job, workload_.most_batch);
    out_.changes = advise(out_.settings, job, *out_.projection,
                          static_cast<std::size_t>(out_.settings.output.suggestions), known_ ? &*known_ : nullptr);
    known_.reset();
  }

  /// All files. When one cannot be written, a projection leaves none: made again, it is the same. The results of a
  /// training stay.
  void write_results() {
    try {
      write_run_files(request_.folder, out_);
    } catch (...) {
      if (!trainer_ && !text_) remove_written();
      throw;
    }
  }

  void remove_written() {
    try {
      remove_run_files(request_.folder, {});
    } catch (const Error&) {  // the first error is the one to tell
    }
  }

  /// Conflicting settings are refused before the first file is written.
  void prepare() {
    if (!data_) return;
    out_.trained = training_job(*data_, trained_);
    out_.trained_settings = trained_;
    if (!out_.job) out_.machine = out_.trained->machine;
    trainer_ = make_trainer(*data_, *out_.trained, trained_, request_.folder / "checkpoint");
    step_seconds_ = simulated_step_seconds(*trainer_, out_.trained->machine, trained_.machine.exact);
  }

  /// Keeps the steps that are logged, in steps.jsonl at once, and lets the user's observer see all.
  TrainObserver logged(analysis::StepLog& log) {
    TrainObserver out = observer_.training;
    out.step = [this, &log, begin = Clock::now()](const workloads::StepRecord& r) {
      if (r.step % trainer_->options().logging_steps == 0 || r.step == trainer_->max_steps())
        log.append({.step = r.step,
                    .epoch = r.epoch,
                    .loss = r.loss,
                    .learning_rate = r.learning_rate,
                    .grad_norm = r.grad_norm,
                    .simulated_seconds = static_cast<double>(r.step) * step_seconds_,
                    .host_seconds = std::chrono::duration<double>(Clock::now() - begin).count()});
      if (observer_.training.step) observer_.training.step(r);
    };
    return out;
  }

  void train_model() {
    analysis::StepLog log{request_.folder, trainer_->first_step()};
    const std::string model =
        trained_.data.model_id.empty() ? workload_.small_model + ", from scratch" : trained_.data.model_id;
    out_.training = train(*trainer_, *data_, model, step_seconds_, logged(log));
    out_.steps = log.steps();
    save_model(request_.folder / "model", *data_, *out_.trained, *trainer_, *out_.training);
  }

  const RunRequest& request_;
  const workloads::Workload& workload_;
  const RunObserver& observer_;
  Settings trained_;
  workloads::TrainingDataPtr data_;
  std::unique_ptr<workloads::Trainer> trainer_;
  std::unique_ptr<TextJob> text_;
  std::optional<Job> text_job_;
  std::optional<KnownBlocks> known_;  // of the projection, until changes of it are weighed
  double step_seconds_ = 0;
  RunResult out_;
};

}  // namespace

std::string hash_of_file(const std::filesystem::path& file) {
  return fmt::format("{:016x}", base::hash64(base::read_file(file)));
}

Job projected_job(const workloads::Workload& workload, const Settings& given) {
  return job_on(workload, projected_settings(workload, given), nullptr, {});
}

RunResult run(const RunRequest& request, const RunObserver& observer) { return Run{request, observer}.run(); }

RunResult projected_run(const RunRequest& request, const RunObserver& observer) {
  return Run{request, observer}.projected();
}

}  // namespace trnsim
