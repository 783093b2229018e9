// `trnsim nki` and `trnsim torch`: the Python module's programs (python3 -m trnsim.nki, trnsim.torch), found beside the
// binary or where it is installed.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "cli/verbs.h"
#include "trnsim/nki/nki.h"

namespace cli {
using namespace trnsim;

void exec_python(const std::string& module, const std::string& verb, std::vector<std::string> arguments) {
  const auto folder = nki_module();
  if (!folder)
    throw base::Error{base::Fault::kEnvironment, verb, "this trnsim was built without its Python module",
                      "install python3-dev, python3-numpy and pybind11-dev, and build it again"};
  const char* before = std::getenv("PYTHONPATH");
  ::setenv("PYTHONPATH", (folder->string() + (before ? std::string{":"} + before : "")).c_str(), 1);
  std::vector<std::string> words{kNkiPython, "-m", module};
  words.insert(words.end(), std::make_move_iterator(arguments.begin()), std::make_move_iterator(arguments.end()));
  std::vector<char*> raw;
  for (std::string& word : words) raw.push_back(word.data());
  raw.push_back(nullptr);
  ::execv(kNkiPython, raw.data());
  throw base::Error{base::Fault::kEnvironment, kNkiPython, std::strerror(errno), "install python3 and python3-numpy"};
}

bool exec_script_verb(int argc, const char* const* argv) {
  const std::string_view verb{argv[1]};
  if (verb != "nki" && verb != "torch") return false;
  if (argc > 2 && (std::string_view{argv[2]} == "--help" || std::string_view{argv[2]} == "-h")) return false;
  exec_python(fmt::format("trnsim.{}", verb), fmt::format("trnsim {}", verb), {argv + 2, argv + argc});
}

// The flags are those of the Python program, which reads them; here they stand for help and completion.
void add_nki(CLI::App& app) {
  app.add_option("script")->description("a Python script with NKI kernels, and its own arguments");
  app.add_flag("--time")->description("time every kernel that the script calls");
  app.add_option("--trace")->type_name("FILE")->description("write a time line of those kernels for ui.perfetto.dev");
  app.add_option("--report")
      ->type_name("FILE")
      ->description("write an HTML page of those kernels: engines, lines, roofline");
  app.add_flag("--list")->description("list the parts of NKI that are supported, and why others are not");
  app.add_flag("--as_written")->description("keep the kernel's own order: move and reuse nothing");
  app.add_option("--passes")
      ->type_name("SWITCHES")
      ->description("compiler passes: -share,-join,-forward,-fuse,-reuse,-reload,-reorder,+near,-transpose");
  app.add_flag("--no_numbers")->description("do not compute results: only time");
  app.add_option("--check")
      ->type_name("SCRIPT")
      ->description("print which dialects each script satisfies, and the line that breaks the others")
      ->expected(1, -1);
  app.add_option("--rank")
      ->type_name("SCRIPT")
      ->description("rank scripts and folders: time, binding engine, correctness of results")
      ->expected(1, -1);
  app.add_option("--processes")->type_name("N")->description("with --rank, tune: candidates to run at the same time");
  app.add_flag("--no_cache")->description("with --rank, tune: measure again, without the cache");
  app.add_option("--param")
      ->type_name("NAME=VALUES")
      ->description("with tune: a keyword argument and its values, NAME=VALUES");
  app.add_option("--compare")
      ->type_name("SCRIPT")
      ->description("time the kernels of several scripts and rank them")
      ->expected(1, -1);
  app.add_option("--lines")->type_name("N")->description("lines of the kernel that --time shows");
  app.add_option("--function")->type_name("NAME")->description("with --compare: the kernel, when a script has several");
  app.add_option("--inputs")
      ->type_name("INPUTS")
      ->description("a script with inputs(); with --compare also shapes, \"128x512:fp32,512x64:bf16\"");
  app.add_option("--instance_type")->type_name("NAME")->description("the machine");
  app.add_option("--set")->type_name("KEY=VALUE")->description("another value of a machine parameter");
  app.add_option("--format")->type_name("text|json")->description("text or json");
}

void add_torch(CLI::App& app) {
  app.add_option("script")->description("a PyTorch training script, and its own arguments");
  app.add_option("--cores")->type_name("N")->description(
      "processes that spawn() starts, a core each (NEURON_RT_NUM_CORES, else 2)");
  app.add_option("--nproc_per_node")
      ->type_name("N")
      ->description("start the script itself this many times, a core each, with torchrun's environment");
  app.add_option("--output_dir")
      ->type_name("FOLDER")
      ->description("folder of the results (default runs/, the script's name and the time)");
  app.add_option("--steps")->type_name("N")->description("also print the time and price of this many steps");
  app.add_option("--instance_type")
      ->type_name("NAME")
      ->description("the machine (default: the smallest trn1 with the cores)");
  app.add_option("--set")->type_name("KEY=VALUE")->description("another value of a machine parameter");
  app.add_flag("--timed")->description("time only: no value is computed; a script that reads one stops at that line");
  app.add_flag("--numeric")->description("values only: no time is computed");
  app.add_flag("--cuda")->description("let the script's \"cuda\" be the simulated device, and available");
  app.add_flag("--default_device")
      ->description("put tensors without a device on the simulated one: for scripts that name no device");
}

}  // namespace cli
