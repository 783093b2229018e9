// Rows of kind "nki": a kernel in a Python script, traced and timed by the Python module in a process of its own.
// `what` names the script and the kernel, `shape` its inputs ("8192x4096:bf16,8192x8192:bf16").
#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/error.h"
#include "base/files.h"
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

std::vector<TimePart> parts(const nlohmann::json& answer) {
  std::vector<TimePart> out;
  const double seconds = answer.at("seconds");
  for (const auto& [name, engine] : answer.at("engines").items())
    if (const double busy = engine.at("busy"); busy > seconds / 100) out.push_back({name, busy / seconds});
  out.push_back({"dma", answer.at("dma_active").get<double>() / seconds});
  return out;
}

}  // namespace

Prediction predict_nki(const Row& row, const PredictContext& context) {
  const auto& micro = std::get<MicroRow>(row.job);
  const std::string script = micro.what.substr(0, micro.what.find(' '));
  const std::string function = micro.what.substr(std::min(micro.what.size(), script.size() + 1));
  const auto path = script_of(script);
  if (!path) return Prediction::skip(fmt::format("its source is not there: {}", script));
  const auto module = trnsim::nki_module();
  if (!module) return Prediction::skip("built without the Python module");
  std::vector<std::string> assumed;
  const std::string machine = machine_of(micro.instance, context, assumed).name;
  const std::string command =
      fmt::format("PYTHONPATH={} {} -c {} {} {} {} {} 2>/dev/null", quoted(module->string()), trnsim::kNkiPython,
                  quoted("import sys, trnsim.nki; from trnsim.nki import _scripts; print(_scripts.row(*sys.argv[1:]))"),
                  quoted(path->string()), quoted(function), quoted(micro.shape), quoted(machine));
  const auto text = output_of(command);
  if (!text) return Prediction::skip("the kernel cannot be traced");
  const nlohmann::json answer = nlohmann::json::parse(*text);
  if (answer.contains("error")) {  // of the script as the row names it: where this host keeps it says nothing
    std::string why = answer["error"];
    if (const auto at = why.find(path->string()); at != std::string::npos)
      why.replace(at, path->string().size(), script);
    return Prediction::skip("the kernel cannot be traced: " + why);
  }
  const double seconds = answer.at("seconds");
  Measured measured{.seconds = seconds};
  measured.bytes = answer.at("hbm_read_bytes").get<double>() + answer.at("hbm_write_bytes").get<double>();
  return in_row_metric(row, measured, std::move(assumed), parts(answer));
}

}  // namespace validation
