#include "cli/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "base/error.h"
#include "cli/add_option.h"
#include "trnsim/job/settings.h"
#include "trnsim/projection.h"

namespace cli {
namespace {

using base::Error;
using base::Fault;
using trnsim::Setting;
using trnsim::Settings;

bool takes(const Setting& setting, std::string_view verb) {
  return fmt::format(" {} ", setting.verbs).find(fmt::format(" {} ", verb)) != std::string::npos;
}

/// A flag that nothing reads is a mistake.
void refuse_unread(const CLI::App& app, std::string_view verb, const Settings& settings) {
  if (!settings.data.dataset_path.empty()) return;
  for (const char* name : {"validation_file", "test_file", "text_column", "label_column"}) {
    if (takes(*trnsim::find_setting(name), verb) && app.get_option(fmt::format("--{}", name))->count() > 0)
      throw Error{Fault::kUsage, fmt::format("--{}", name), "has no effect without --dataset_path",
                  "add --dataset_path, or leave it out"};
  }
}

}  // namespace

void add_settings(CLI::App& app, std::string_view verb, Settings& settings) {
  for (const Setting& s : trnsim::settings_table())
    if (takes(s, verb)) add_option<Settings>(app, settings, s);
}

std::shared_ptr<runtime::ProgramCache>& compile_cache() {
  static std::shared_ptr<runtime::ProgramCache> cache;
  return cache;
}

std::vector<std::string>& typed_command() {
  static std::vector<std::string> words;
  return words;
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

}  // namespace cli
