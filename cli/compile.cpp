// `trnsim compile WORKLOAD`: the program of a training step, and what each pass did to it.
#include <memory>

#include "base/error.h"
#include "cli/machine.h"
#include "cli/option_table.h"
#include "cli/train_options.h"
#include "cli/verbs.h"

namespace cli {
namespace {

struct Options {
  TrainOptions train;
  std::string workload, emit, output;
  bool explain = false;
};

void compile(const Options& options) {
  if (!options.emit.empty()) require_choice("--emit", options.emit, "asm|graph|memory");
  load_machine(options.train.instance_type, options.train.set);
  throw base::Error{base::Fault::kProgram, "trnsim compile " + options.workload, "this build has no compiler for it",
                    "use a build with runtime/ and workloads/"};
}

}  // namespace

void add_compile(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("WORKLOAD", options->workload, "name of a workload, or a workload file")->required();
  app.add_option("--emit", options->emit, "what to print: the program, the graph, the memory plan")
      ->type_name("asm|graph|memory");
  app.add_option("--output", options->output, "file for what --emit makes; default: stdout");
  app.add_flag("--explain", options->explain, "what each pass changed, the time and the bytes that it saved");
  add_train_options(app, "compile", options->train);
  app.final_callback([options, &app] {
    settle(app, "compile", options->train);
    compile(*options);
  });
}

}  // namespace cli
