// Programs in files, and folders of the compile cache, as `trnsim run` takes them.
#pragma once

#include <string>

#include "trnsim/settings.h"

namespace cli {

/// The numbers of a program on simulated cores, held against the reference interpreter's: a table. `inputs`: an .npz of
/// all cores' inputs; empty: drawn. Errors: base::Fault::kCheck when one is off by more than its type's tolerance.
void run_numbers(const std::string& file, const std::string& inputs, const trnsim::Settings& settings);
/// All modules of a folder of the compile cache, each with the time of a step and its flags: a table.
void run_cache(const std::string& folder, const trnsim::Settings& settings);

}  // namespace cli
