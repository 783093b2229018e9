#include "cli/options.h"

#include <fmt/format.h>

#include <cstdlib>

#include "base/error.h"
#include "cli/add_option.h"
#include "runtime/program_cache.h"

namespace cli {
namespace {

using namespace trnsim;
using base::Error;
using base::Fault;

bool takes(const TrainOptionRow& r, std::string_view verb) {
  return fmt::format(" {} ", r.verbs).find(fmt::format(" {} ", verb)) != std::string::npos;
}

}  // namespace

void add_train_options(CLI::App& app, std::string_view verb, TrainOptions& options) {
  for (const TrainOptionRow& r : train_option_rows()) {
    if (takes(r, verb)) add_option<TrainOptions>(app, options, r);
  }
}

void settle(const CLI::App& app, std::string_view verb, TrainOptions& options) {
  for (const TrainOptionRow& r : train_option_rows()) {
    if (!takes(r, verb)) continue;
    const std::string flag = "--" + std::string{r.name()}, variable{r.env};
    const char* value = variable.empty() ? nullptr : std::getenv(variable.c_str());
    const bool typed = app.get_option(flag)->count() > 0;
    if (!typed && value)
      trnsim::set_option<TrainOptions>(options, r, value, fmt::format("{} (for {})", variable, flag));
    if (typed || value) options.given.emplace(r.name());
  }
  settle_numerics(options);
  if (!options.compile_cache.empty()) runtime::use_program_cache(options.compile_cache);
  if (options.given.contains("warmup_ratio") && options.given.contains("warmup_steps")) {
    throw Error{Fault::kUsage, "--warmup_ratio", "is given together with --warmup_steps", "give one of the two"};
  }
  if (options.mode == "numeric" && options.numerics == "off") {
    throw Error{Fault::kUsage, "--mode numeric", "has nothing to compute with --numerics off",
                "use --mode timed, or another --numerics"};
  }
}

}  // namespace cli
