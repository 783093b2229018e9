// `trnsim run WORKLOAD`: the projected job and the real training run.
#include <memory>

#include "base/error.h"
#include "cli/machine.h"
#include "cli/train_options.h"
#include "cli/verbs.h"

namespace cli {
namespace {

struct Options {
  TrainOptions train;
  std::string workload;
};

void run(const Options& options) {
  load_machine(options.train.instance_type, options.train.set);
  throw base::Error{base::Fault::kProgram, "trnsim run " + options.workload, "this build has no compiler for it",
                    "use a build with runtime/ and workloads/"};
}

}  // namespace

void add_run(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("WORKLOAD", options->workload, "name of a workload, or a workload file")->required();
  add_train_options(app, "run", options->train);
  app.final_callback([options, &app] {
    settle(app, "run", options->train);
    run(*options);
  });
}

}  // namespace cli
