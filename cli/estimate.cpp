// `trnsim estimate MODEL`: fit of a plan, time of a step, cost of the job; nothing is trained.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "cli/add_count.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/serve.h"
#include "cli/tables.h"
#include "cli/verbs.h"
#include "trnsim/job/settings.h"
#include "trnsim/project/compile_cost.h"
#include "trnsim/project/estimate.h"
#include "trnsim/project/figures.h"
#include "trnsim/project/memory.h"

namespace cli {

namespace {

struct EstimateOptions {
  trnsim::Settings settings;
  std::string model;
  double sequences = 0;
  Requests requests;
  Tables tables;
};

/// Errors: Fault::kUsage for a flag of requests to a model that is trained.
void require_training(const EstimateOptions& options) {
  const auto given = [&](const char* name) { return options.settings.given.contains(name); };
  const bool batches = options.requests.batch_sizes != Requests{}.batch_sizes;
  const char* flag = batches                            ? "--batch_size"
                     : !options.requests.within.empty() ? "--within"
                     : given("max_new_tokens")          ? "--max_new_tokens"
                                                        : nullptr;
  if (flag)
    throw base::Error{base::Fault::kUsage, flag,
                      "applies to requests, and without --task inference the model is trained",
                      "add --task inference, or use --per_device_train_batch_size"};
}

void estimate(const EstimateOptions& options) {
  if (options.settings.data.task == trnsim::kInference) {
    if (options.sequences > 0)
      throw base::Error{base::Fault::kUsage, "--sequences",
                        "applies to training; with --task inference no number of requests is needed",
                        "leave it out, or use trnsim cost with --samples"};
    return estimate_requests(options.model, options.settings, options.requests);
  }
  require_training(options);
  const base::Format form = base::parse_format(options.settings.output.format);
  trnsim::Estimate e =
      trnsim::estimate(options.model, options.settings, options.sequences,
                       [](const std::string& note) { base::log(base::LogLevel::kWarning, flags_in(note)); });
  e.typed = typed_command();
  require_fit(e);
  const auto& [job, p, changes, fitting_change, typed] = e;
  if (form == base::Format::kJson) return print(to_json(e).dump(2) + "\n");
  const base::Table table = figure_table(figures_of(job, p));
  if (form == base::Format::kCsv) return print(table.render(form, columns()));
  const trnsim::Answer told = answer(job, p, changes, typed);
  const std::string above =
      paragraph(fmt::format("{} on {}", options.model, setting_of(job))) + "\n" + answer_text(told);
  const std::string next =
      fmt::format("trnsim plan {} for other plans, trnsim choose {} for other instances, or --tables for every figure",
                  options.model, options.model);
  print(above + changes_text(told, above, paragraph("next: " + next), options.tables));
  if (!options.tables.wanted()) return print_next(next);
  print("\n" + table.render(form, columns()) + "\n" + time_table(p).render(form, columns()) + "\n" +
        lengths_text(job, p, form) + memory_text(p.memory, form));
  if (const std::string why = compile_cost(job, p).refusal(); !why.empty()) print("\n" + why + "\n");
}

}  // namespace

void add_estimate(CLI::App& app) {
  auto options = std::make_shared<EstimateOptions>();
  app.add_option("MODEL", options->model, "a model by name (llama2-7b, bert-base-uncased), or a Hugging Face folder")
      ->required();
  add_count(app, "--sequences,--samples", options->sequences, "sequences of the whole job; default: one step");
  app.add_option("--batch_size,--batch-size", options->requests.batch_sizes,
                 "with --task inference: requests that a copy of the model answers at once, 1..64 or 1,8,32")
      ->capture_default_str();
  app.add_option("--within", options->requests.within,
                 "with --task inference: the longest time until an answer, as in \"20 ms\"");
  add_tables_flag(app, options->tables.asked);
  add_settings(app, "estimate", options->settings);
  app.final_callback([options, &app] {
    finish_settings(app, "estimate", options->settings);
    options->settings = trnsim::estimate_settings(std::move(options->settings));
    estimate(*options);
  });
}

}  // namespace cli
