// The options of the verbs that train, as flags of CLI11.
#pragma once

#include <CLI/CLI.hpp>
#include <string_view>

#include "trnsim/settings.h"

namespace cli {

/// Adds the rows of `verb` to `app`. `options` must outlive the parse.
void add_train_options(CLI::App& app, std::string_view verb, trnsim::TrainOptions& options);

/// After the parse: takes from the environment what no flag gave, fills `given`, settles --bf16 against --numerics, and
/// refuses what contradicts itself.
/// Errors: Fault::kUsage.
void settle(const CLI::App& app, std::string_view verb, trnsim::TrainOptions& options);

}  // namespace cli
