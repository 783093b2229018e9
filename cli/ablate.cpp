// `trnsim ablate WORKLOAD`: each pass of the compiler off and on: time, memory, the largest batch, the numbers.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "base/error.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "trnsim/compiled_step.h"
#include "trnsim/largest_batch.h"
#include "trnsim/option_table.h"
#include "trnsim/small_training.h"

namespace cli {

using namespace trnsim;
namespace {

struct AblateOptions {
  TrainOptions train;
  std::string workload, only;
};

/// The small model's numbers with these passes against those with the passes as given.
class NumbersCheck {
 public:
  NumbersCheck(SmallTraining training, const runtime::Passes& given)
      : training_{std::move(training)}, expected_{training_(given)} {}

  base::Cell operator()(const runtime::Passes& passes) const {
    const std::vector<double> got = training_(passes);
    double worst = 0;
    for (std::size_t i = 0; i < got.size(); ++i)
      worst = std::max(worst, std::abs(got[i] - expected_[i]) / std::abs(expected_[i]));
    return {worst, worst == 0 ? "same bits" : fmt::format("{:.1e} off", worst)};
  }

 private:
  const SmallTraining training_;
  const std::vector<double> expected_;
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
    const auto check = std::make_shared<const NumbersCheck>(
        small_training(workloads::load_job(options.workload), options.train), target.options.passes);
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
