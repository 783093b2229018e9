// Rows of kind "nki", and kernels whose row names a script: traced and timed by the Python module in a process of its
// own. In rows of kind "nki" `what` names the script and the kernel, `shape` its inputs
// ("8192x4096:bf16,8192x8192:bf16"); a row of another kind has the settings `script`, `function` and `inputs`, several
// kernels that run one after the other with "+" between them.
#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "trnsim/nki/nki.h"
#include "validation/predict/predict_row.h"

namespace validation {
namespace {

namespace fs = std::filesystem;

/// The script: below the folder that TRNSIM_NKI_SOURCES names, or beside the data of this program.
std::optional<fs::path> script_of(const std::string& name) {
  const char* sources = std::getenv("TRNSIM_NKI_SOURCES");
  if (sources && fs::exists(fs::path{sources} / name)) return fs::path{sources} / name;
  try {
    return fs::path{base::data_path(name)};
  } catch (const base::Error&) {
    return std::nullopt;
  }
}

std::string quoted(const std::string& text) { return "'" + text + "'"; }

/// The command's output, or nothing when it fails.
std::optional<std::string> output_of(const std::string& command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe{popen(command.c_str(), "r"), [](FILE*) { return 0; }};
  if (!pipe) return std::nullopt;
  std::string out;
  std::array<char, 4096> piece{};
  while (const std::size_t n = std::fread(piece.data(), 1, piece.size(), pipe.get())) out.append(piece.data(), n);
  return pclose(pipe.get()) == 0 ? std::optional{out} : std::nullopt;
}

/// A kernel of a script, and what it is called with.
struct Call {
  std::string function, inputs;
};
struct Script {
  std::string name;
  std::vector<Call> calls;  // one after the other
  const char* timer = "seconds";
};

Script script_of_row(const MicroRow& micro) {
  if (const std::string name = micro.kernel.text("script"); !name.empty()) {
    Script out{.name = name, .calls = {}};
    if (micro.kernel.text("timer") == "neuron-bench") out.timer = "benchmark";
    const auto functions = base::split(micro.kernel.text("function"), '+');
    const auto inputs = base::split(micro.kernel.text("inputs"), '+');
    for (std::size_t i = 0; i < std::min(functions.size(), inputs.size()); ++i)
      out.calls.push_back({functions[i], inputs[i]});
    return out;
  }
  const std::string name = micro.what.substr(0, micro.what.find(' '));
  return {name, {{micro.what.substr(std::min(micro.what.size(), name.size() + 1)), micro.shape}}};
}

/// The figures of a row's kernels together.
struct Total {
  double seconds = 0, bytes = 0, dma = 0;
  std::map<std::string, double> busy;

  /// `timer`: the published figure, "seconds" of the program or those of a "benchmark", with the runtime around it.
  void add(const nlohmann::json& answer, const char* timer) {
    seconds += answer.at(timer).get<double>();
    bytes += answer.at("hbm_read_bytes").get<double>() + answer.at("hbm_write_bytes").get<double>();
    dma += answer.at("dma_active").get<double>();
    for (const auto& [name, engine] : answer.at("engines").items()) busy[name] += engine.at("busy").get<double>();
  }
  std::vector<TimePart> parts() const {
    std::vector<TimePart> out;
    for (const auto& [name, time] : busy)
      if (time > seconds / 100) out.push_back({name, time / seconds});
    out.push_back({"dma", dma / seconds});
    return out;
  }
};

/// Adds a kernel's figures to those of its row; otherwise the reason why there are none.
std::optional<std::string> add_call(const Script& script, const Call& call, const std::string& machine,
                                    const PredictContext& context, Total& total) {
  const auto path = script_of(script.name);
  if (!path) return fmt::format("its source is missing: {}", script.name);
  const auto module = trnsim::nki_module();
  if (!module) return "built without the Python module";
  std::string command =
      fmt::format("PYTHONPATH={} {} -c {} {} {} {} {}", quoted(module->string()), trnsim::kNkiPython,
                  quoted("import sys, trnsim.nki; from trnsim.nki import _scripts; print(_scripts.row(*sys.argv[1:]))"),
                  quoted(path->string()), quoted(call.function), quoted(call.inputs), quoted(machine));
  for (const std::string& assignment : context.set) command += " " + quoted(assignment);
  const auto text = output_of(command + " 2>/dev/null");
  if (!text) return "the kernel cannot be traced";
  const nlohmann::json answer = nlohmann::json::parse(*text);
  if (!answer.contains("error")) return total.add(answer, script.timer), std::nullopt;
  std::string why = answer["error"];  // of the script as the row names it: where this host keeps it says nothing
  if (const auto at = why.find(path->string()); at != std::string::npos)
    why.replace(at, path->string().size(), script.name);
  return "the kernel cannot be traced: " + why;
}

}  // namespace

Prediction predict_nki(const Row& row, const PredictContext& context) {
  const auto& micro = std::get<MicroRow>(row.job);
  const Script script = script_of_row(micro);
  if (script.calls.empty()) return Prediction::skip("its column `kernel` names no function and inputs");
  std::vector<std::string> assumed;
  const std::string machine = machine_of(micro.instance, context, assumed).name;
  Total total;
  for (const Call& call : script.calls)
    if (const auto why = add_call(script, call, machine, context, total)) return Prediction::skip(*why);
  return in_row_metric(row, {.seconds = total.seconds, .bytes = total.bytes}, std::move(assumed), total.parts());
}

}  // namespace validation
