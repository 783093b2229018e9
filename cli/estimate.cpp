// `trnsim estimate MODEL`: fit of a plan, time of a step, cost of the job; nothing is trained.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/log.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/tables.h"
#include "cli/verbs.h"
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
};

void estimate(const EstimateOptions& options) {
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
  print(fmt::format("{} on {}\n\n", options.model, setting_of(job)));
  print(answer_text(answer(job, p, changes, typed)) + "\n");
  print(table.render(form, columns()) + "\n" + time_table(p).render(form, columns()) + "\n" +
        lengths_text(job, p, form) + memory_table(p.memory).render(form, columns()));
  if (const std::string why = compile_cost(job, p).refusal(); !why.empty()) print("\n" + why + "\n");
}

}  // namespace

void add_estimate(CLI::App& app) {
  auto options = std::make_shared<EstimateOptions>();
  app.add_option("MODEL", options->model, "a Llama or GPT by name (llama2-7b), or a Hugging Face folder")->required();
  app.add_option("--sequences", options->sequences, "sequences of the whole job; default: one step")
      ->check(CLI::PositiveNumber);
  add_settings(app, "estimate", options->settings);
  app.final_callback([options, &app] {
    finish_settings(app, "estimate", options->settings);
    options->settings = trnsim::estimate_settings(std::move(options->settings));
    estimate(*options);
  });
}

}  // namespace cli
