// All results of a run, as values: the content of result.json and of every table, page and export.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "analysis/host/host_model.h"
#include "analysis/profile/stats.h"
#include "isa/memory.h"

namespace analysis {

using Json = nlohmann::ordered_json;

/// A figure; none: it was not computed, or the file does not have it.
using Maybe = std::optional<double>;
/// Values by name, in their order; an object in JSON.
template <class Value>
using Named = std::vector<std::pair<std::string, Value>>;
/// The value of a setting.
using SettingValue = std::variant<bool, std::int64_t, double, std::string, std::vector<std::string>>;

struct ModelFigures {
  std::string family;
  std::int64_t layers = 0, hidden = 0;
  Maybe parameters, trained_parameters;
};

struct WorkloadFigures {
  std::string name;
  std::string file, file_hash;  // of one that is not bundled: where it was, and what it had; else empty
  Named<SettingValue> options;  // every setting by its name, as resolved
  std::optional<ModelFigures> model;
  std::optional<std::int64_t> samples;  // of the data set
};

struct MachineFigures {
  std::string instance_type, hash;
  Maybe instances, cores;
};

/// A change that would help, and the job's time and cost with it.
struct ChangeFigures {
  Named<std::string> settings;
  std::string text, command;
  double speed_up_percent = 0, runtime = 0;  // runtime: as Figures::runtime()
  Maybe dollars;
};

/// Sentences, with settings in backquotes.
struct AnswerFigures {
  std::string time, dollars, memory, bound_by, sure;
  std::string interrupted{};                          // of a job that is; else empty
  std::string binds;                                  // "host", or a resource of the device
  std::optional<std::vector<ChangeFigures>> changes;  // absent: not requested
};

/// Seconds.
struct TimeFigures {
  Maybe step_seconds, device_step_seconds, host_step_seconds, collectives_exposed_seconds;
  Maybe train_runtime, end_to_end_seconds, evaluation_seconds;
  /// Besides start_seconds and the steps: the rest of train_runtime.
  Maybe evaluations_seconds, read_backs_seconds, checkpoints_seconds;
  Maybe interrupted_runtime, interrupted_save_steps,
      interrupted_as_saved_runtime;  // expected, of a job that is interrupted
  Maybe generate_runtime, time_to_first_token_seconds, time_per_output_token_p50_seconds;  // in train_runtime's place
  std::string stack;
  bool overlapped = false;
  std::vector<TimeItem> parts;
  Named<double> other_instances;  // the job's time on other instances whose cores are the same, with the host there
};

struct CompileFigures {
  Maybe start_seconds, compile_seconds, compile_first_seconds;
  Maybe largest_module, largest_module_limit;
  Maybe host_memory_bytes, host_capacity_bytes;
};

/// A text that was written behind its prompt, with the tokens of both.
struct TextFigures {
  std::string text;
  std::vector<std::int64_t> ids;
};

struct WorkFigures {
  Maybe sequences_per_step, tokens_per_step, model_flops_per_step;  // of all cores
  Maybe steps, samples, tokens, job_model_flops;                    // of the job
  Maybe train_samples_per_second, train_steps_per_second;
  Maybe job_mfu_percent, device_mfu_percent;
  Maybe instance_tokens_per_second;  // of a generation, with all its copies at work
  Maybe framework_ops;               // that the framework dispatches for the passes over the model in a step
  std::vector<TextFigures> texts;    // that were written
};

struct PlanFigures {
  std::string text, numerics;
  std::int64_t tensor = 1, pipeline = 1, data = 1, micro_batches = 1;
  std::optional<std::int64_t> recorded_micro_batches, slowest_stage;  // of a pipeline
  std::vector<double> stage_seconds;
  Maybe bubble_seconds, micro_batch_seconds;
};

/// The part of a step's time that would shorten it most, were it gone: "the host", or a resource of the device.
struct Binding {
  std::string name;
  double share = 0;  // of the step, 0 to 1
};

/// US dollars.
struct CostFigures {
  Maybe price_per_hour, copies_per_instance, dollars, dollars_per_epoch, dollars_per_1k_samples, interrupted_dollars;
};

/// One core of the slowest stage in one step, under neuron-explorer's names where it has one.
struct CoreFigures {
  Maybe mfu_estimated_percent, mfu_advertised_percent, mfu_max_achievable_estimated_percent;
  Maybe hfu_estimated_percent, mbu_estimated_percent, mm_arithmetic_intensity;
  Maybe core_model_flops, core_matmul_flops, core_transpose_flops;
};

/// Per cent of the step.
struct EngineFigures {
  std::string engine;
  double busy = 0;
  Named<double> waiting;  // by cause
  double idle = 0;
  std::uint64_t instructions = 0;

  double waited() const;
};

/// Temporary tensors of one name that are held at once.
struct HeldFigures {
  std::string name;
  std::int64_t bytes = 0, count = 0;
};

/// HBM of the core that needs most.
struct MemoryFigures {
  Named<std::int64_t> kinds;     // "weights", "activations", ...: with the software's share
  Named<std::int64_t> compiler;  // the same in the compiler's words
  std::string verdict;
  Maybe hbm_bytes, hbm_capacity_bytes;
  std::vector<HeldFigures> fullest;  // where activations take most: the largest, by name

  Maybe kind(std::string_view name) const;
};

/// Samples that are padded to one of several lengths.
struct LengthFigures {
  std::int64_t length = 0;
  double samples = 0, padding_percent = 0, steps = 0, device_step_seconds = 0, step_seconds = 0, seconds = 0;
};
struct LengthPlanFigures {
  std::string name;
  double programs = 0, compile_seconds = 0, sequences = 0, tokens = 0, padding_percent = 0, epoch_seconds = 0;
};
struct LengthsFigures {
  std::vector<LengthFigures> of;
  std::vector<LengthPlanFigures> plans;
};

struct EvaluationFigures {
  std::string split;  // "eval", "test"
  Maybe epoch, loss;
  std::optional<std::int64_t> samples;
  Named<double> scores;  // "accuracy", "f1_macro", "perplexity", ...

  Maybe score(std::string_view name) const;
};

/// The training on simulated cores.
struct TrainingFigures {
  std::string model, numerics, dataset;
  bool synthetic = false, interrupted = false;
  std::optional<std::int64_t> parameters, steps;
  Maybe train_loss, simulated_step_seconds, host_seconds;
  std::optional<isa::NumericEvents> numeric_events;
  std::vector<EvaluationFigures> epochs;
  Named<double> scores;         // the last of each split: "eval_accuracy", "test_loss"
  Named<SettingValue> options;  // as the workload's, of the model that was trained

  Maybe score(std::string_view name) const;
};

/// A figure that was measured on the real machine, and ours.
struct PublishedFigure {
  std::string name;
  double published = 0, low = 0, high = 0, predicted = 0, error_percent = 0;
  std::string source;
};

/// The passes of the compiler: one way to train.
struct CaseFigures {
  std::string name;
  std::int64_t per_device_train_batch_size = 0;
  double learning_rate = 0, device_step_seconds = 0, step_seconds = 0, samples_per_second = 0, speed_up_percent = 0;
  std::int64_t hbm_bytes = 0;
};
struct PublishedGain {
  double speed_up_percent = 0;
  std::string source;
};
struct GainFigures {
  double speed_up_percent = 0;
  std::vector<CaseFigures> cases;
  std::optional<PublishedGain> published;
};

/// The simulation itself, on this host.
struct HostFigures {
  Maybe seconds, peak_bytes;
  std::optional<std::int64_t> threads;
  std::string date;  // on which it ended, UTC: "2026-11-25"
};

struct Figures {
  std::string version, command;
  WorkloadFigures workload;
  MachineFigures machine;
  std::optional<std::int64_t> seed;
  std::optional<AnswerFigures> answer;
  TimeFigures time;
  CompileFigures compile;
  WorkFigures work;
  std::optional<LengthsFigures> lengths;
  PlanFigures plan;
  CostFigures cost;
  CoreFigures core;
  std::vector<EngineFigures> engines;
  std::vector<Resource> resources;  // the busiest first
  MemoryFigures memory;
  std::optional<TrainingFigures> training;
  std::vector<PublishedFigure> published;
  std::optional<GainFigures> gain;
  HostFigures host;

  bool generates() const { return time.generate_runtime.has_value(); }
  /// Seconds of the job, whatever it does.
  Maybe runtime() const { return generates() ? time.generate_runtime : time.train_runtime; }
  /// Whether a job was projected.
  bool projected() const { return runtime().has_value(); }
};

/// One logged step of a training, a line of steps.jsonl.
struct StepFigures {
  std::int64_t step = 0;  // from 1
  Maybe epoch, loss, learning_rate, grad_norm;
  Maybe simulated_seconds, host_seconds;  // since the job and the process began
};

/// Without the host a step takes as long as its device; without a resource of the device it is shorter by the time in
/// which that is busy, at most, and no shorter than the host's work. Seconds of a step.
Binding binding_of(double step, double host, double device, const std::vector<Resource>& resources);
/// Nothing for figures without a step.
std::optional<Binding> binding_of(const Figures& figures);

/// Under the names of figures.
CoreFigures core_figures(const Utilisation& utilisation);
/// "none", or "3 casts overflowed, 120 subnormal operands of TensorE taken for zero".
std::string numeric_events_text(const isa::NumericEvents& events);

/// result.json without its schema version. Sections that were not projected or trained are left out or null.
Json to_json(const Figures& figures);
/// The sections of a projection alone, as flat as `trnsim estimate` prints them: every figure by its name.
Json flat_json(const Figures& figures);
/// Reads result.json of schema `version`; `file` names it in errors. Missing members stay empty. Errors: Fault::kData
/// for a value of another type.
Figures figures_from(Json body, int version, const std::string& file);
/// Errors: as above.
StepFigures step_from(const Json& line, const std::string& file);
Json to_json(const StepFigures& step);

/// The named value; nothing for an unknown name.
template <class Value>
Maybe find_named(const Named<Value>& values, std::string_view name) {
  for (const auto& [key, value] : values)
    if (key == name) return static_cast<double>(value);
  return {};
}

}  // namespace analysis
