// `trnsim ablate WORKLOAD`: each pass of the compiler off and on: time, memory, the largest batch, the numbers.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "base/error.h"
#include "cli/largest_batch.h"
#include "cli/option_table.h"
#include "cli/output.h"
#include "cli/step_program.h"
#include "cli/verbs.h"
#include "workloads/classification.h"
#include "workloads/classifier_trainer.h"

namespace cli {
namespace {

struct AblateOptions {
  TrainOptions train;
  std::string workload, only;
};

/// The workload's small model, trained for a few steps: losses and gradient norms with these passes against those with
/// the passes as given, all rounded to nearest.
class NumbersCheck {
 public:
  NumbersCheck(const AblateOptions& options, const StepTarget& target) : passes_{target.job.passes} {
    const workloads::Job job = workloads::load_job(options.workload);
    train_ = options.train;
    train_.model_id.clear();
    apply_defaults(train_, job.options, job.file);
    apply_defaults(train_, job.small_options, job.file);
    // Stochastic rounding draws its numbers by the place in the program: each instruction that moves would show.
    if (train_.numerics.ends_with("+sr")) train_.numerics.resize(train_.numerics.size() - 3);
    ranks_ = target.job.step.ranks;
    workloads::ClassificationOptions data;
    data.preset = job.small_model;
    data.max_length = static_cast<std::size_t>(train_.max_length);
    data.max_train_samples = kSamples;
    data.max_eval_samples = 1;
    data.seed = static_cast<std::uint64_t>(train_.seed);
    data_ = workloads::load_classification(data);
    expected_ = trained(passes_);
  }

  base::Cell operator()(const runtime::Passes& passes) {
    const std::vector<double> got = trained(passes);
    double worst = 0;
    for (std::size_t i = 0; i < got.size(); ++i)
      worst = std::max(worst, std::abs(got[i] - expected_[i]) / std::abs(expected_[i]));
    return {worst, worst == 0 ? "same bits" : fmt::format("{:.1e} off", worst)};
  }

 private:
  static constexpr std::int64_t kSteps = 3;
  static constexpr std::size_t kSamples = 64;

  std::vector<double> trained(const runtime::Passes& passes) {
    workloads::TrainerOptions options{.step = projected_job(train_, data_.config, 0, 0).step,
                                      .max_steps = kSteps,
                                      .learning_rate = train_.learning_rate,
                                      .eval_each_epoch = false,
                                      .seed = static_cast<std::uint64_t>(train_.seed),
                                      .host_threads = static_cast<int>(train_.host_threads),
                                      .passes = passes,
                                      .checkpoint = {},
                                      .resume = {}};
    options.step.ranks = ranks_;
    workloads::ClassifierTrainer trainer{data_.config, data_.weights, {.train = &data_.train}, options};
    std::vector<double> values;
    trainer.on_step = [&](const workloads::StepRecord& step) {
      values.push_back(step.loss);
      values.push_back(step.grad_norm);
    };
    trainer.run();
    return values;
  }

  runtime::Passes passes_;
  TrainOptions train_;
  std::uint32_t ranks_ = 1;
  workloads::Classification data_;
  std::vector<double> expected_;
};

void ablate(const AblateOptions& options) {
  const base::Format form = base::parse_format(options.train.format);
  if (!options.only.empty()) require_choice("--only", options.only, "time|batch|numbers");
  const StepTarget target = step_target(options.workload, options.train);
  std::vector<PassColumn> more;
  if (options.only.empty() || options.only == "batch")
    more.push_back({{"largest_batch", "largest batch"},
                    [&](const runtime::Passes& passes) { return base::Cell{largest_batch(target, passes)}; }});
  if (options.only.empty() || options.only == "numbers") {
    const auto check = std::make_shared<NumbersCheck>(options, target);
    more.push_back({{"numbers", "numbers of the small model, rounded to nearest"},
                    [check](const runtime::Passes& passes) { return (*check)(passes); }});
  }
  print(pass_table(target, more).render(form));
}

}  // namespace

void add_ablate(CLI::App& app) {
  auto options = std::make_shared<AblateOptions>();
  app.add_option("WORKLOAD", options->workload, "name of a workload, or a workload file")->required();
  app.add_option("--only", options->only, "time and memory are always there; of the rest only this; default: all")
      ->type_name("time|batch|numbers");
  add_train_options(app, "ablate", options->train);
  app.final_callback([options, &app] {
    settle(app, "ablate", options->train);
    ablate(*options);
  });
}

}  // namespace cli
