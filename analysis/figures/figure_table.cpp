// The table of figures. A figure that follows from others is a row here and nothing else.
#include "analysis/figures/figure_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "analysis/cost/cost.h"
#include "analysis/profile/views.h"
#include "base/progress.h"  // clock_text
#include "base/text.h"

namespace analysis {
namespace {

/// A figure that a member holds.
template <auto Part, auto Member>
constexpr Figure held(std::string_view section, std::string_view name, std::string_view unit, std::string_view text,
                      std::string_view title = "") {
  return {section,
          name,
          unit,
          text,
          title,
          [](const Figures& f) -> Maybe { return f.*Part.*Member; },
          [](Figures& f, double value) { f.*Part.*Member = value; }};
}
/// A figure that follows from others.
constexpr Figure follows(std::string_view section, std::string_view name, std::string_view unit, std::string_view text,
                         Maybe (*of)(const Figures&), std::string_view title = "") {
  return {section, name, unit, text, title, of};
}

Maybe ratio_of(const Maybe& a, const Maybe& b) { return a && b && *b > 0 ? Maybe{*a / *b} : std::nullopt; }
Maybe product_of(const Maybe& a, const Maybe& b) { return a && b ? Maybe{*a * *b} : std::nullopt; }
Maybe sum_of(const Maybe& a, const Maybe& b) { return a && b ? Maybe{*a + *b} : std::nullopt; }
Maybe last_f1(const Figures& f) {
  return f.training && !f.training->epochs.empty() ? f.training->epochs.back().score("f1_weighted") : Maybe{};
}

template <const char* Name>
Maybe score_of(const Figures& f) {
  return f.training ? f.training->score(Name) : Maybe{};
}
template <const char* Name>
constexpr Figure scored(std::string_view text, std::string_view title) {
  return {"metrics", Name, "1", text, title, score_of<Name>};
}
constexpr char kEvalLoss[] = "eval_loss", kEvalAccuracy[] = "eval_accuracy", kEvalF1[] = "eval_f1_macro",
               kEvalPerplexity[] = "eval_perplexity", kTestAccuracy[] = "test_accuracy", kTestF1[] = "test_f1_macro",
               kTestPerplexity[] = "test_perplexity";

constexpr auto kMachine = &Figures::machine;
constexpr auto kTime = &Figures::time;
constexpr auto kCompilation = &Figures::compile;
constexpr auto kWork = &Figures::work;
constexpr auto kPlan = &Figures::plan;
constexpr auto kCost = &Figures::cost;
constexpr auto kCore = &Figures::core;
constexpr auto kMemory = &Figures::memory;

constexpr std::array kFigures = {
    held<kMachine, &MachineFigures::instances>("machine", "instances", "1", "machines of the job"),
    held<kMachine, &MachineFigures::cores>("machine", "cores", "1", "cores that work, on all instances"),
    follows("workload/model", "parameters", "1", "weights of the model",
            [](const Figures& f) { return f.workload.model ? f.workload.model->parameters : Maybe{}; }),
    follows("workload/model", "trained_parameters", "1", "weights that are trained: with LoRA those of the adapters",
            [](const Figures& f) { return f.workload.model ? f.workload.model->trained_parameters : Maybe{}; }),

    held<kTime, &TimeFigures::train_runtime>("job", "train_runtime", "s", "time of the job, as its trainer reports it",
                                             "training time"),
    held<kTime, &TimeFigures::generate_runtime>(
        "job", "generate_runtime", "s", "time of the generation: all tokens of its sequences", "generation time"),
    held<kTime, &TimeFigures::time_to_first_token_seconds>(
        "job", "time_to_first_token_seconds", "s", "time until the first new token of each sequence", "first token"),
    held<kTime, &TimeFigures::time_per_output_token_p50_seconds>("job", "time_per_output_token_p50_seconds", "s",
                                                                 "median time of each further token of a sequence",
                                                                 "time per token"),
    held<kTime, &TimeFigures::step_seconds>("job", "step_seconds", "s", "time of a step, including the host", "step"),
    held<kTime, &TimeFigures::device_step_seconds>("job", "device_step_seconds", "s", "time of a step on the device",
                                                   "device step"),
    held<kTime, &TimeFigures::host_step_seconds>("job", "host_step_seconds", "s", "time of a step's work on the host",
                                                 "host step"),
    held<kTime, &TimeFigures::collectives_exposed_seconds>(
        "job", "collectives_exposed_seconds", "s",
        "time in a step that waits for other cores and overlaps with nothing"),
    held<kWork, &WorkFigures::train_samples_per_second>("job", "train_samples_per_second", "1/s",
                                                        "samples per second of all cores", "samples/s"),
    held<kWork, &WorkFigures::train_steps_per_second>("job", "train_steps_per_second", "1/s",
                                                      "steps per second of the job"),
    follows("job", "tokens_per_second", "1/s",
            "tokens per second of all cores, padding counted; of a generation the new ones",
            [](const Figures& f) { return ratio_of(f.work.tokens, f.runtime()); }),
    held<kWork, &WorkFigures::instance_tokens_per_second>(
        "job", "instance_tokens_per_second", "1/s",
        "new tokens per second of an instance that is full of copies of the generation"),
    held<kWork, &WorkFigures::job_mfu_percent>("job", "job_mfu_percent", "%",
                                               "model FLOPs utilisation over the time of a step, including the host",
                                               "MFU of the job"),
    held<kWork, &WorkFigures::device_mfu_percent>(
        "job", "device_mfu_percent", "%", "model FLOPs utilisation over the device's time of a step, all cores"),
    follows("job", "core_utilisation", "share", "share of a step in which the device works",
            [](const Figures& f) { return ratio_of(f.time.device_step_seconds, f.time.step_seconds); }),
    held<kWork, &WorkFigures::steps>("job", "steps", "1", "steps of the job"),
    held<kWork, &WorkFigures::samples>("job", "samples", "1", "samples of the job"),
    held<kWork, &WorkFigures::tokens>("job", "tokens", "1",
                                      "tokens of the job on all cores, padding counted; of a generation the new ones"),
    held<kWork, &WorkFigures::sequences_per_step>("job", "sequences_per_step", "1", "sequences of all cores in a step"),
    held<kWork, &WorkFigures::tokens_per_step>("job", "tokens_per_step", "1", "tokens of all cores in a step"),
    held<kWork, &WorkFigures::model_flops_per_step>("job", "model_flops_per_step", "FLOP",
                                                    "model FLOPs of all cores in a step"),
    held<kWork, &WorkFigures::framework_ops>("job", "framework_ops", "1",
                                             "operations that PyTorch dispatches for one pass over the model"),
    held<kWork, &WorkFigures::job_model_flops>("job", "job_model_flops", "FLOP", "model FLOPs of the whole job"),
    held<kTime, &TimeFigures::evaluations_seconds>("job", "evaluations_seconds", "s",
                                                   "time of all evaluations of the job"),
    held<kTime, &TimeFigures::read_backs_seconds>(
        "job", "read_backs_seconds", "s", "time that log lines wait for the loss, including the overlap that is lost"),
    held<kTime, &TimeFigures::checkpoints_seconds>("job", "checkpoints_seconds", "s",
                                                   "time of all checkpoints of the job"),
    held<kTime, &TimeFigures::interrupted_runtime>(
        "job", "interrupted_runtime", "s",
        "expected time of the job with interruptions, with the best interval of checkpoints"),
    held<kTime, &TimeFigures::interrupted_save_steps>("job", "interrupted_save_steps", "1",
                                                      "steps between checkpoints in that best interval"),
    held<kTime, &TimeFigures::interrupted_as_saved_runtime>("job", "interrupted_as_saved_runtime", "s",
                                                            "expected time with the job's own interval of checkpoints"),
    held<kTime, &TimeFigures::evaluation_seconds>("job", "eval_runtime", "s", "time of one evaluation"),
    held<kCompilation, &CompileFigures::start_seconds>("job", "start_seconds", "s",
                                                       "time until cached graphs are loaded; part of the job's time"),
    held<kCompilation, &CompileFigures::compile_seconds>(
        "job", "compile_seconds", "s", "time of compilation, once, with an empty cache; not part of the job's time"),
    held<kCompilation, &CompileFigures::compile_first_seconds>("job", "compile_first_seconds", "s",
                                                               "part of it until the first step is done"),
    held<kTime, &TimeFigures::end_to_end_seconds>("job", "end_to_end_seconds", "s",
                                                  "time of the job, including copying its weights in and, once, out"),
    follows("job", "end_to_end_cold_seconds", "s", "time of the job with an empty cache",
            [](const Figures& f) { return sum_of(f.runtime(), f.compile.compile_seconds); }),
    held<kCompilation, &CompileFigures::largest_module>(
        "job", "largest_module", "1", "instructions of the largest module that the compiler is given"),
    held<kCompilation, &CompileFigures::largest_module_limit>(
        "job", "largest_module_limit", "1", "instructions of a module above which the compiler refuses it"),
    held<kCompilation, &CompileFigures::host_memory_bytes>("job", "host_memory_bytes", "B",
                                                           "host memory that an instance needs at least"),
    held<kCompilation, &CompileFigures::host_capacity_bytes>("job", "host_capacity_bytes", "B",
                                                             "host memory that an instance has"),

    held<kPlan, &PlanFigures::bubble_seconds>("plan", "bubble_seconds", "s",
                                              "time that the slowest stage waits for the others in a step"),
    held<kPlan, &PlanFigures::micro_batch_seconds>("plan", "micro_batch_seconds", "s",
                                                   "time from one micro-batch of a pipeline to the next"),

    held<kCost, &CostFigures::price_per_hour>("cost", "price_per_hour", "$", "price of one instance"),
    held<kCost, &CostFigures::copies_per_instance>(
        "cost", "copies_per_instance", "1", "generations side by side on an instance, each of which pays its share"),
    held<kCost, &CostFigures::dollars>("cost", "dollars", "$", "price of the job", "cost of the run"),
    held<kCost, &CostFigures::interrupted_dollars>(
        "cost", "interrupted_dollars", "$",
        "expected price with interruptions: on spot, unless it is bought another way"),
    held<kCost, &CostFigures::dollars_per_epoch>("cost", "dollars_per_epoch", "$", "price of one epoch of the job"),
    held<kCost, &CostFigures::dollars_per_1k_samples>("cost", "dollars_per_1k_samples", "$",
                                                      "price of 1,000 samples of the job"),
    follows("cost", "dollars_per_million_tokens", "$", "price of a million tokens of the job, padding counted",
            [](const Figures& f) -> Maybe {
              if (!f.cost.dollars || !(f.work.tokens.value_or(0) > 0)) return std::nullopt;
              return per_million(*f.cost.dollars, *f.work.tokens);
            }),
    follows(
        "cost", "dollars_end_to_end", "$", "price of the job, including copying its weights in and, once, out",
        [](const Figures& f) { return product_of(f.cost.dollars, ratio_of(f.time.end_to_end_seconds, f.runtime())); }),

    held<kCore, &CoreFigures::mfu_estimated_percent>(
        "utilisation", "mfu_estimated_percent", "%",
        "model FLOPs utilisation of a core, from the launch of its program on", "MFU of a core's program"),
    held<kCore, &CoreFigures::mfu_advertised_percent>("utilisation", "mfu_advertised_percent", "%",
                                                      "the same against the advertised peak"),
    held<kCore, &CoreFigures::hfu_estimated_percent>("utilisation", "hfu_estimated_percent", "%",
                                                     "the same, counting all FLOPs that the tensor engine executes",
                                                     "HFU of a core's program"),
    held<kCore, &CoreFigures::mbu_estimated_percent>(
        "utilisation", "mbu_estimated_percent", "%",
        "HBM bytes of a core over its peak, from the launch of its program on", "MBU of a core's program"),
    held<kCore, &CoreFigures::mfu_max_achievable_estimated_percent>(
        "utilisation", "mfu_max_achievable_estimated_percent", "%", "highest MFU that the HBM bytes allow"),
    held<kCore, &CoreFigures::mm_arithmetic_intensity>("utilisation", "mm_arithmetic_intensity", "FLOP/B",
                                                       "matmul FLOPs per HBM byte"),
    held<kCore, &CoreFigures::core_model_flops>("utilisation", "core_model_flops", "FLOP",
                                                "model FLOPs of a core in a step"),
    held<kCore, &CoreFigures::core_matmul_flops>("utilisation", "core_matmul_flops", "FLOP",
                                                 "matmul FLOPs that a core executes in a step"),
    held<kCore, &CoreFigures::core_transpose_flops>("utilisation", "core_transpose_flops", "FLOP",
                                                    "transpose FLOPs that a core executes in a step"),

    held<kMemory, &MemoryFigures::hbm_bytes>("memory", "hbm_bytes", "B", "HBM of the core that needs most",
                                             "HBM of a core"),
    held<kMemory, &MemoryFigures::hbm_capacity_bytes>("memory", "hbm_capacity_bytes", "B", "HBM that a core has"),

    follows("metrics", "train_loss", "1", "mean loss of the training",
            [](const Figures& f) { return f.training ? f.training->train_loss : Maybe{}; }),
    scored<kEvalLoss>("loss on the validation split", ""),
    scored<kEvalAccuracy>("accuracy on the validation split", "eval accuracy"),
    scored<kEvalF1>("macro F1 on the validation split", "eval F1"),
    scored<kEvalPerplexity>("perplexity on the validation split", "eval perplexity"),
    scored<kTestAccuracy>("accuracy on the test split", "test accuracy"),
    scored<kTestF1>("macro F1 on the test split", "test F1"),
    scored<kTestPerplexity>("perplexity on the test split", "test perplexity"),
    follows("metrics", "eval_f1", "1", "weighted F1 of the last evaluation", last_f1),
};

/// Names that figures had earlier, where people type them.
struct Former {
  std::string_view then, now;
};
constexpr std::array kFormer = {Former{"seconds", "train_runtime"},
                                Former{"time", "train_runtime"},
                                Former{"cost", "dollars"},
                                Former{"samples_per_second", "train_samples_per_second"},
                                Former{"mfu", "device_mfu_percent"},
                                Former{"hfu", "hfu_estimated_percent"},
                                Former{"mbu", "mbu_estimated_percent"},
                                Former{"compile", "compile_seconds"},
                                Former{"end_to_end", "end_to_end_seconds"}};

constexpr std::array<std::string_view, 5> kProjected = {"job", "plan", "cost", "utilisation", "memory"};

}  // namespace

std::span<const Figure> figure_table() { return kFigures; }

const Figure* find_figure(std::string_view name) {
  const auto former = std::ranges::find(kFormer, name, &Former::then);
  const auto found = std::ranges::find(kFigures, former == kFormer.end() ? name : former->now, &Figure::name);
  return found == kFigures.end() ? nullptr : &*found;
}

std::vector<std::pair<const Figure*, double>> figures_of_section(const Figures& figures, std::string_view section) {
  std::vector<std::pair<const Figure*, double>> out;
  for (const Figure& figure : kFigures)
    if (const Maybe value = figure.section == section ? figure.of(figures) : Maybe{}) out.emplace_back(&figure, *value);
  return out;
}

std::map<std::string, double> projected_figures(const Figures& figures) {
  std::map<std::string, double> out;
  for (const std::string_view section : kProjected)
    for (const auto& [figure, value] : figures_of_section(figures, section)) out[std::string{figure->name}] = value;
  return out;
}

std::string figure_text(std::string_view unit, double value) {
  if (unit == "s" && value >= 60) return base::clock_text(value);
  if (unit == "$") return base::money_text(value);
  if (unit == "share") return fmt::format("{:.0f} %", 100 * value);
  if (unit == "1/s") return value < 1e4 ? fmt::format("{:.4g}", value) : fmt::format("{:.0f}", value);
  if (unit == "1") return value == std::floor(value) ? fmt::format("{:.0f}", value) : fmt::format("{:.4f}", value);
  return readable(value, unit);
}

}  // namespace analysis
