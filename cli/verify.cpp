// `trnsim verify DIR`: a training trajectory from PyTorch, repeated on the simulated cores.
#include <memory>

#include "base/error.h"
#include "cli/machine.h"
#include "cli/train_options.h"
#include "cli/verbs.h"

namespace cli {
namespace {

struct Options {
  TrainOptions train;
  std::string folder;
};

void verify(const Options& options) {
  load_machine(options.train.instance_type, options.train.set);
  throw base::Error{base::Fault::kProgram, "trnsim verify " + options.folder, "this build has no compiler for it",
                    "use a build with runtime/ and workloads/"};
}

}  // namespace

void add_verify(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("DIR", options->folder, "folder with config.json, model, batches and expected .safetensors")
      ->required();
  add_train_options(app, "verify", options->train);
  app.final_callback([options, &app] {
    settle(app, "verify", options->train);
    verify(*options);
  });
}

}  // namespace cli
