#include "workloads/jobs/workload.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/files.h"
#include "base/param_file.h"
#include "base/suggest.h"
#include "workloads/models/presets.h"

namespace workloads {
namespace {

std::map<std::string, std::string> read_options(base::ParamFile& file, const std::string& section) {
  std::map<std::string, std::string> out;
  for (const std::string& key : file.keys(section)) out[key.substr(section.size() + 1)] = file.read_string(key).value;
  return out;
}

struct Figure {
  std::string_view name;
  base::Dimension dimension;
};
constexpr Figure kFigures[] = {{"train_samples_per_second", base::Dimension::kRate},
                               {"train_runtime", base::Dimension::kTime},
                               {"generate_runtime", base::Dimension::kTime},
                               {"time_to_first_token_seconds", base::Dimension::kTime},
                               {"time_per_output_token_p50_seconds", base::Dimension::kTime},
                               {"tokens_per_second", base::Dimension::kRate},
                               {"dollars", base::Dimension::kMoney},
                               {"eval_runtime", base::Dimension::kTime},  // of one evaluation
                               {"eval_f1", base::Dimension::kRatio},      // weighted
                               {"compile", base::Dimension::kTime},       // with an empty cache, before the job
                               {"end_to_end", base::Dimension::kTime},    // with loading and saving
                               {"dollars_end_to_end", base::Dimension::kMoney},
                               {"core_utilisation", base::Dimension::kRatio}};

std::filesystem::path folder() { return base::data_path("workloads/jobs/bert_emotion.toml").parent_path(); }

/// For a name that is no workload: a model is trained as part of one.
std::string fix_of(const std::string& name, const std::vector<std::string>& names) {
  if (std::string fix = model_folder_fix(name); !fix.empty()) return fix;
  if (!is_model_preset(name)) return base::suggest_fix(name, names);
  return fmt::format("{0} is a model: use trnsim estimate {0}, or a workload: {1}", name, fmt::join(names, ", "));
}

}  // namespace

std::string model_folder_fix(const std::filesystem::path& folder) {
  if (!std::filesystem::exists(folder / "config.json")) return "";
  return fmt::format("it is a model: use trnsim estimate {0}, or a workload with `model_id` {0}", folder.string());
}

std::vector<std::string> workload_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator{folder()})
    if (entry.path().extension() == ".toml") names.push_back(entry.path().stem().string());
  std::ranges::sort(names);
  return names;
}

bool names_workload(const std::string& name) {
  const std::vector<std::string> names = workload_names();
  if (std::ranges::find(names, name) == names.end()) return false;
  warn_of_files_named(name, "workload");
  return true;
}

bool is_bundled(const Workload& workload) {
  return std::filesystem::path{workload.file} == folder() / (workload.name + ".toml");
}

Workload load_workload(std::string_view name_or_file) {
  std::filesystem::path path{name_or_file};
  if (path.extension() != ".toml") {
    if (!names_workload(std::string{name_or_file}))
      throw base::Error{base::Fault::kUsage, "trnsim", fmt::format("there is no workload '{}'", name_or_file),
                        fix_of(std::string{name_or_file}, workload_names())};
    path = folder() / (std::string{name_or_file} + ".toml");
  }
  base::ParamFile file = base::ParamFile::load(path);
  Workload job{.name = file.read_string("name").value,
               .text = file.read_string("text").value,
               .model = file.read_string("model").value,
               .small_model = file.read_string("small_model").value,
               .samples = file.read_count("samples").value,
               .eval_samples = file.read_count("eval_samples").value,
               .labels = file.read_count("labels").value,
               .options = read_options(file, "options"),
               .small_options = read_options(file, "small_options"),
               .own_options = read_options(file, "own_options"),
               .published = {},
               .file = path.string()};
  for (const Figure& figure : kFigures) {
    const std::string key = fmt::format("published.{}", figure.name);
    if (!file.has(key)) continue;
    const auto read = file.read(key, figure.dimension);
    job.published.push_back({std::string{figure.name}, read.value, read.value, read.value, read.source});
    Published& published = job.published.back();
    if (file.has(key + "_low")) published.low = file.read(key + "_low", figure.dimension).value;
    if (file.has(key + "_high")) published.high = file.read(key + "_high", figure.dimension).value;
  }
  if (file.has("compiler.speed_up")) {
    const auto read = file.read("compiler.speed_up", base::Dimension::kRatio);
    job.speed_up = {"speed_up", read.value, read.value, read.value, read.source};
  }
  if (file.has("compiler.batch")) job.most_batch = file.read_count("compiler.batch").value;
  file.reject_unread();
  return job;
}

}  // namespace workloads
