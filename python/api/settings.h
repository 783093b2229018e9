// Keyword arguments as settings, and observers that forward events.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <thread>

#include "analysis/sweep/sweep.h"
#include "base/error.h"
#include "base/suggest.h"
#include "python/api/answers.h"
#include "trnsim/graphs/graph_model.h"
#include "trnsim/job/settings.h"
#include "trnsim/projection.h"
#include "trnsim/run/run.h"
#include "workloads/jobs/workload.h"

namespace trnsim_python {

inline std::string text_in(const Json& arguments, const char* name) { return arguments.value(name, std::string{}); }

/// A bundled workload, a file of one, or a program of another framework; anything else names a model.
inline bool is_workload(const std::string& name) {
  if (trnsim::is_graph_file(name)) return true;
  const auto names = workloads::workload_names();
  return std::ranges::find(names, name) != names.end() || std::filesystem::path{name}.extension() == ".toml";
}

/// Whole numbers of the argument `name`, as the command line's counts. Errors: Fault::kUsage for one below 1.
template <class Number>
std::vector<Number> counts_in(const Json& arguments, const char* name, const std::vector<Number>& otherwise) {
  const Json given = arguments.value(name, Json(otherwise));
  std::vector<Number> counts;
  for (const Json& count : given.is_array() ? given : Json::array({given})) {
    if (!count.is_number_integer() || count < 1 || count > (1 << 30))
      throw base::Error{base::Fault::kUsage, std::string{"`"} + name + "`", count.dump() + " is out of range",
                        "give whole numbers from 1 on"};
    counts.push_back(count.get<Number>());
  }
  return counts;
}

inline workloads::Workload workload_named(const std::string& name) { return trnsim::workload_of(name); }

/// Errors: Fault::kUsage for a name of no setting, with a suggestion, which may be one of the `shorter` names.
inline void require_known(const std::map<std::string, std::string>& values, std::vector<std::string> shorter) {
  for (const trnsim::Setting& row : trnsim::settings_table()) shorter.emplace_back(row.name());
  for (const auto& [name, value] : values)
    if (!trnsim::find_setting(name))
      throw base::Error{base::Fault::kUsage, "keyword arguments", "unknown option '" + name + "'",
                        base::suggest_fix(name, shorter)};
}

/// {"settings": {"numerics": "bf16"}, "set": ["hbm.bandwidth=2x"], "short": ["batch"]}, and from the environment those
/// that are not given. Errors: Fault::kUsage for an unknown name, with a suggestion, and for an invalid value.
inline trnsim::Settings settings_of(const Json& arguments) {
  std::map<std::string, std::string> values = arguments.value("settings", std::map<std::string, std::string>{});
  for (const trnsim::Setting& row : trnsim::settings_table()) {
    const char* value = row.env.empty() ? nullptr : std::getenv(std::string{row.env}.c_str());
    if (value) values.emplace(row.name(), value);
  }
  require_known(values, arguments.value("short", std::vector<std::string>{}));
  trnsim::Settings settings;
  apply_defaults(settings, values, "keyword arguments");
  for (const auto& [name, value] : values) settings.given.insert(name);
  settings.machine.set = arguments.value("set", std::vector<std::string>{});
  if (!settings.machine.set.empty()) settings.given.insert("set");
  resolve_numerics(settings);
  open_compile_cache(settings);
  return settings;
}

/// A number without a fraction, 0 where it is left out.
inline std::int64_t whole_in(const Json& arguments, const char* name, std::int64_t most) {
  const Json value = arguments.value(name, Json(0));
  if (!value.is_number_integer() || value < 0 || value > most)
    throw base::Error{base::Fault::kUsage, std::string{"`"} + name + "`",
                      value.dump() + " is not a whole number from 0 to " + std::to_string(most),
                      "give one, or leave it out"};
  return value.get<std::int64_t>();
}

/// Processes that work at the same time: `processes`, or as many as this host has cores.
inline int processes_in(const Json& arguments) {
  const auto given = static_cast<int>(whole_in(arguments, "processes", 4096));
  return given > 0 ? given : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

inline trnsim::RunObserver observer_of(const Listener& hear) {
  trnsim::RunObserver observer;
  if (hear) observer.note = [&hear](const std::string& note) { hear({{"event", "note"}, {"text", note}}); };
  return observer;
}

/// `what` is counted.
inline analysis::SweepWatch watch_of(const Listener& hear, std::string what) {
  if (!hear) return {};
  return [&hear, what](std::size_t done, std::size_t all) {
    hear({{"event", "progress"}, {"what", what}, {"done", done}, {"all", all}});
  };
}

}  // namespace trnsim_python
