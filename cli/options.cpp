#include "cli/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/error.h"
#include "base/log.h"
#include "base/units.h"
#include "cli/add_option.h"
#include "trnsim/job/settings.h"
#include "trnsim/project/estimate.h"
#include "trnsim/projection.h"

namespace cli {
namespace {

using base::Error;
using base::Fault;
using trnsim::Setting;
using trnsim::Settings;

/// The settings of a job that `choose` looks for by itself, or does not read: it compares jobs without interruptions.
constexpr std::array<std::string_view, 13> kNotForChoose = {"instance_type",
                                                            "nproc_per_node",
                                                            "nnodes",
                                                            "per_device_train_batch_size",
                                                            "gradient_accumulation_steps",
                                                            "tensor_parallel_size",
                                                            "pipeline_parallel_size",
                                                            "virtual_pipeline_size",
                                                            "zero_1",
                                                            "recompute",
                                                            "compile_cache",
                                                            "exact",
                                                            "interrupted_every"};

bool takes(const Setting& setting, std::string_view verb) {
  if (verb == "choose")
    return takes(setting, "cost") && std::ranges::find(kNotForChoose, setting.name()) == kNotForChoose.end();
  return fmt::format(" {} ", setting.verbs).find(fmt::format(" {} ", verb)) != std::string::npos;
}

/// A flag that nothing reads is a mistake. Variables and files of settings may be there for other jobs.
void refuse_unread(const CLI::App& app, std::string_view verb, const Settings& settings) {
  if (!settings.data.dataset_path.empty()) return;
  Settings typed;
  for (const Setting& s : trnsim::settings_table())
    if (takes(s, verb) && app.get_option(fmt::format("--{}", s.name()))->count() > 0) typed.given.emplace(s.name());
  trnsim::refuse_unread(typed, trnsim::Needs::kFiles, "dataset_path");
}

/// A trainer's command line may have these for the real machine, so they are no mistake.
void warn_of_no_checkpoints(const Settings& settings) {
  if (settings.output.save_steps > 0 || !settings.output.interrupted_every.empty()) return;
  for (const char* name : {"async_save", "save_bandwidth"})
    if (settings.given.contains(name))
      base::log(base::LogLevel::kWarning,
                fmt::format("--{} has no effect: without --save_steps no checkpoint is counted", name));
}

}  // namespace

void add_settings(CLI::App& app, std::string_view verb, Settings& settings) {
  for (const Setting& s : trnsim::settings_table())
    if (takes(s, verb)) add_option<Settings>(app, settings, s);
  // A model has other defaults than a workload, which help must show.
  if (verb == "estimate" || verb == "plan" || verb == "generate")
    app.get_option("--instance_type")->default_str(trnsim::estimate_settings({}).machine.instance_type);
}

std::shared_ptr<runtime::ProgramCache>& compile_cache() {
  static std::shared_ptr<runtime::ProgramCache> cache;
  return cache;
}

std::vector<std::string>& typed_command() {
  static std::vector<std::string> words;
  return words;
}

std::vector<std::string> typed_job_flags(std::string_view verb, const Settings& settings) {
  const nlohmann::ordered_json values = to_json(settings);
  std::vector<std::string> out;
  for (const Setting& s : trnsim::settings_table()) {
    const std::string name{s.name()};
    if (!s.effect.job || !takes(s, verb) || !settings.given.contains(name)) continue;
    if (!values.contains(name) || (name == "bf16" && settings.given.contains("numerics"))) continue;  // the same
    const auto& value = values.at(name);
    for (const auto& one : value.is_array() ? value : nlohmann::ordered_json::array({value})) {
      if (one.is_boolean() && !one.get<bool>()) continue;
      out.push_back("--" + name);
      if (!one.is_boolean()) out.push_back(one.is_string() ? one.get<std::string>() : one.dump());
    }
  }
  return out;
}

void add_tables_flag(CLI::App& app, bool& asked) {
  app.add_flag("--tables", asked,
               "print the tables below the answer on a terminal too; elsewhere they are always printed");
}

int processes_of(const Settings& settings) {
  const std::int64_t threads = settings.machine.host_threads;
  return threads > 0 ? static_cast<int>(threads) : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

void finish_settings(const CLI::App& app, std::string_view verb, Settings& settings) {
  for (const Setting& s : trnsim::settings_table()) {
    if (!takes(s, verb)) continue;
    const std::string flag = "--" + std::string{s.name()}, variable{s.env};
    const char* value = variable.empty() ? nullptr : std::getenv(variable.c_str());
    const bool typed = app.get_option(flag)->count() > 0;
    if (!typed && value) trnsim::set_option<Settings>(settings, s, value, fmt::format("{} (for {})", variable, flag));
    if (typed || value) settings.given.emplace(s.name());
  }
  if (!settings.output.config.empty()) apply_config(settings, settings.output.config);
  resolve_numerics(settings);
  trnsim::open_compile_cache(settings);
  if (settings.machine.programs) compile_cache() = settings.machine.programs;
  refuse_unread(app, verb, settings);
  warn_of_no_checkpoints(settings);
  if (settings.given.contains("warmup_ratio") && settings.given.contains("warmup_steps")) {
    throw Error{Fault::kUsage, "--warmup_ratio", "is given together with --warmup_steps", "give one of the two"};
  }
  if (settings.machine.mode == "numeric" && settings.numerics.name == "off") {
    throw Error{Fault::kUsage, "--mode numeric", "has nothing to compute with --numerics off",
                "use --mode timed, or another --numerics"};
  }
}

std::string flags_of(std::string_view names) {
  std::string out = "--";
  for (const char c : names) out += c == ',' ? ",--" : std::string{c};
  return out;
}

std::string flags_in(std::string_view text) {
  const auto names_setting = [](std::string_view quoted) {
    return !quoted.empty() && std::ranges::all_of(quoted, [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
    });
  };
  std::string out;
  while (!text.empty()) {
    const std::size_t open = text.find('`');
    const std::size_t close = open == std::string_view::npos ? open : text.find('`', open + 1);
    if (close == std::string_view::npos) return out + std::string{text};
    const std::string_view quoted = text.substr(open + 1, close - open - 1);
    out += text.substr(0, open);
    out += names_setting(quoted) ? fmt::format("--{}", quoted) : fmt::format("'{}'", quoted);
    text.remove_prefix(close + 1);
  }
  return out;
}

std::optional<double> percent_allowed(const std::string& limit) {
  if (limit.empty()) return {};
  const double most = base::parse_as(limit, base::Dimension::kRatio, "--fail_above") * 100;
  if (most < 0)
    throw base::Error{base::Fault::kUsage, "--fail_above", "is negative", "give the allowed share, as in 5%"};
  if (most >= 100 && limit.find('%') == std::string::npos)
    throw base::Error{base::Fault::kUsage, "--fail_above", fmt::format("{} is a ratio, {:g} %", limit, most),
                      fmt::format("write {}%, or {:g}% if you mean that", limit, most)};
  return most;
}

}  // namespace cli
