// `trnsim nki`: the Python module's program (python3 -m trnsim.nki), found beside the binary or where it is installed.
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "base/error.h"
#include "cli/verbs.h"
#include "trnsim/nki/nki.h"

namespace cli {
using namespace trnsim;

void exec_nki(int argc, const char* const* argv) {
  const auto folder = nki_module();
  if (!folder)
    throw base::Error{base::Fault::kEnvironment, "trnsim nki", "this trnsim was built without its Python module",
                      "install python3-dev, python3-numpy and pybind11-dev, and build it again"};
  const char* before = std::getenv("PYTHONPATH");
  ::setenv("PYTHONPATH", (folder->string() + (before ? std::string{":"} + before : "")).c_str(), 1);
  std::vector<std::string> words{kNkiPython, "-m", "trnsim.nki"};
  words.insert(words.end(), argv, argv + argc);
  std::vector<char*> raw;
  for (std::string& word : words) raw.push_back(word.data());
  raw.push_back(nullptr);
  ::execv(kNkiPython, raw.data());
  throw base::Error{base::Fault::kEnvironment, kNkiPython, std::strerror(errno), "install python3 and python3-numpy"};
}

// The flags are those of the Python program, which reads them; here they stand for help and completion.
void add_nki(CLI::App& app) {
  app.add_option("script")->description("a Python script with NKI kernels, and its own arguments");
  app.add_flag("--time")->description("time every kernel that the script calls");
  app.add_option("--trace")->description("write a time line of those kernels for ui.perfetto.dev");
  app.add_option("--report")->description("write an HTML page of those kernels: engines, lines, roofline");
  app.add_flag("--list")->description("what of NKI is there, what is not and why");
  app.add_flag("--as_written")->description("the kernel's own order: nothing is moved or reused");
  app.add_option("--passes")
      ->description("passes of the compiler: -share,-join,-forward,-fuse,-reuse,-reload,-reorder,-transpose");
  app.add_flag("--no_numbers")->description("do not compute results: only time");
  app.add_option("--check")->description("which dialects scripts satisfy, which line breaks which")->expected(1, -1);
  app.add_option("--rank")->description("time, binding engine, rightness of scripts and folders")->expected(1, -1);
  app.add_option("--processes")->description("with --rank, tune: candidates at a time");
  app.add_flag("--no_cache")->description("with --rank, tune: ask again");
  app.add_option("--param")->description("with tune: NAME=VALUES of a keyword argument");
  app.add_option("--compare")->description("time the kernels of several scripts and rank them")->expected(1, -1);
  app.add_option("--lines")->description("lines of the kernel that --time shows");
  app.add_option("--function")->description("with --compare: the kernel, when a script has several");
  app.add_option("--inputs")
      ->description("a script with inputs(); with --compare also shapes, \"128x512:fp32,512x64:bf16\"");
  app.add_option("--instance_type")->description("the machine");
  app.add_option("--set")->description("another number of the machine");
  app.add_option("--format")->description("text or json");
}

}  // namespace cli
