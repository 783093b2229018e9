// Options of CLI11 from rows of a table (trnsim/job/option_table.h).
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "base/error.h"
#include "cli/options.h"
#include "trnsim/job/option_table.h"

namespace cli {

using trnsim::OptionRow;

/// The choices as help shows them. Those from files may be missing: help then shows none, and
/// giving a value reports the error.
template <class Options>
std::string shown_choices(const OptionRow<Options>& row) {
  try {
    return row.legal();
  } catch (const base::Error& error) {
    if (error.fault() != base::Fault::kEnvironment) throw;
    return "";
  }
}

/// Adds a CLI11 option for the row; its value lands in `options`, which must outlive the parse. The environment is left
/// to the caller: CLI11 would read and check it for other verbs, too.
template <class Options>
CLI::Option* add_option(CLI::App& app, Options& options, const OptionRow<Options>& row) {
  const bool flag = row.template is<bool>();
  const bool list = row.template is<std::vector<std::string>>();
  const std::string flags = flags_of(row.names), legal = shown_choices(row);
  const std::string help = flags_in(row.help) + (row.env.empty() ? "" : " [env " + std::string{row.env} + "]");
  const auto take = [&options, &row](const CLI::results_t& texts) {
    for (const std::string& text : texts) trnsim::set_option(options, row, text);
    return true;
  };
  const auto raise = [&options, &row](std::int64_t count) {
    trnsim::set_option(options, row, count > 0 ? "true" : "false");
  };
  CLI::Option* option = flag ? app.add_flag_function(flags, raise, help) : app.add_option(flags, take, help);
  option->group(std::string{row.group});
  if (list) option->expected(1)->take_all();  // repeatable, one value each
  if (!flag) option->type_name(legal.empty() ? "VALUE" : legal);
  const std::string initial = std::visit([&](auto member) { return trnsim::show(member(options)); }, row.member);
  if (!flag && !initial.empty()) option->default_str(initial);
  return option;
}

}  // namespace cli
