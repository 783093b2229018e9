// The settings of the verbs that train, as flags of CLI11; and the library's texts, which put a setting in
// backquotes, with flags.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>
#include "trnsim/settings.h"

namespace cli {

/// Adds the settings that `verb` takes to `app`. `settings` must outlive the parse.
void add_settings(CLI::App& app, std::string_view verb, trnsim::Settings& settings);

/// After the parse: takes settings without a flag from the environment, fills `given`, makes one number format of
/// --bf16,
/// --numerics and their like, and refuses settings that contradict each other. Errors: Fault::kUsage.
void finish_settings(const CLI::App& app, std::string_view verb, trnsim::Settings& settings);

/// Adds the settings that `verb` takes to `app`, whose action, after the parse, finishes them and calls `act`.
template <class Options, class Act>
void act_with_settings(CLI::App& app, std::string_view verb, const std::shared_ptr<Options>& options, Act act) {
  add_settings(app, verb, options->settings);
  app.final_callback([options, act, verb, &app] {
    finish_settings(app, verb, options->settings);
    act(*options);
  });
}

/// Adds --tables, which a terminal needs to show an answer's tables.
void add_tables_flag(CLI::App& app, bool& asked);

/// The processes that a search of plans starts: `--host_threads`, else as many as the host has cores.
int processes_of(const trnsim::Settings& settings);

/// The cache that the settings of this call opened, if they name one: the program reports its hits at the end.
std::shared_ptr<runtime::ProgramCache>& compile_cache();

/// The words of the command, this program's name first, with flags as it spells them; empty before the parse.
std::vector<std::string>& typed_command();

/// The settings of `verb` that the user gave and that change the job, as flags and values.
std::vector<std::string> typed_job_flags(std::string_view verb, const trnsim::Settings& settings);

/// "model_id,model_name_or_path" as "--model_id,--model_name_or_path".
std::string flags_of(std::string_view names);
/// "use a smaller `max_length`" as "use a smaller --max_length"; other words, such as `trnsim run`, get
/// straight quotes.
std::string flags_in(std::string_view text);

/// The per cent of a `--fail_above`, as in 5% or 0.05; none for an empty text: anything goes. Errors: Fault::kUsage for
/// a number that is below 0, or at least 1 without a per cent sign.
std::optional<double> percent_allowed(const std::string& limit);

}  // namespace cli
