// `trnsim generate MODEL`: text from real weights on simulated cores, and the time that the same programs take.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "analysis/figures/figure_table.h"
#include "analysis/profile/stats.h"
#include "base/text.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/tables.h"
#include "cli/verbs.h"
#include "trnsim/generation.h"
#include "trnsim/plans/answer.h"
#include "trnsim/project/figures.h"

namespace cli {

using namespace trnsim;
namespace {

struct GenerateOptions {
  std::string model;
  Settings settings = defaults();
  Tables tables;

  static Settings defaults() {
    Settings s = generation_settings();
    s.machine.stack = "transformers-neuronx";
    s.numerics.auto_cast = "none";  // fp32 weights are used unchanged
    return s;
  }
};

base::Table figures_of(const Generated& g) {
  const GenerationTime& t = g.projection.generation.value();
  const analysis::Figures figures = figures_of(g.job, g.projection);
  base::Table table{{{"figure", ""}, {"value", ""}, {"text", "what it is"}}};
  for (const char* name :
       {"time_to_first_token_seconds", "time_per_output_token_p50_seconds", "tokens_per_second", "generate_runtime",
        "copies_per_instance", "instance_tokens_per_second", "dollars", "dollars_per_million_tokens"}) {
    const analysis::Figure& figure = *analysis::find_figure(name);
    if (const analysis::Maybe value = figure.of(figures))
      table.add_row({name, base::Cell{*value, analysis::figure_text(figure.unit, *value)}, figure.text});
  }
  const auto row = [&](const char* name, double value, std::string shown, const char* unit) {
    table.add_row({name, base::Cell{value, std::move(shown)}, unit});
  };
  const auto time = [&](const std::string& name, double seconds, const char* text) {
    row(name.c_str(), seconds, analysis::figure_text("s", seconds), text);
  };
  if (!t.tokens.empty()) {
    const GenerationStep& step = t.tokens.back();
    for (const analysis::TimeItem& part : step.parts)
      if (part.seconds > 0) time("last_token_" + part.name, part.seconds, "part of the last token's time");
    time("last_token_collectives", hw::seconds(step.stage.device().collective_exposed),
         "part of its time on the device");
    const auto read = static_cast<double>(step.stage.device().dma.read_bytes);
    const double rate = read / hw::seconds(step.stage.device().total);
    row("last_token_read", read, base::readable(read, base::Dimension::kBytes), "bytes read from the HBM of a core");
    row("last_token_mbu", 100 * rate / step.stage.device().peaks.hbm_bandwidth,
        fmt::format("{:.1f}", 100 * rate / step.stage.device().peaks.hbm_bandwidth), "% of HBM's bandwidth");
  }
  return table;
}

std::string bounds_text(const trnsim::Job& job, const GenerationTime& t) {
  std::string text = fmt::format("the {} is bound by {}", job.model->sound() ? "sound" : "prompt", bound_of(t.prompt));
  if (!t.tokens.empty()) text += ", a token by " + bound_of(t.tokens.back());
  return text + "\n";
}

/// A single text as it grows; several when they are complete; then the placement.
GenerateObserver observer_of(const std::string& model) {
  GenerateObserver observer;
  observer.grown = [](std::size_t, std::size_t sequences, const std::string& text) {
    if (sequences == 1) print(text), flush();
  };
  observer.written = [model](const Generated& g) {
    for (std::size_t b = 0; b < g.texts.size() && g.texts.size() > 1; ++b)
      print(fmt::format("[{}] {}\n", b + 1, g.texts[b].text));
    if (g.texts.size() == 1) print("\n");
    if (g.texts.empty()) print("time only: nothing is computed with weights\n");
    print(fmt::format("\n{}: {} of {} of {}, {}, {} x ({} + {})\n\n", model, g.job.step.plan.tensor,
                      base::counted(g.job.machine.core_count(), "core"), g.job.machine.name,
                      g.job.step.plan.numerics.name, g.job.step.plan.micro_batch, g.job.generation->prompt_tokens,
                      base::counted(g.job.generation->new_tokens, "token")));
    if (const std::string padding = padding_text(g.job); !padding.empty()) print(paragraph(padding) + "\n");
    if (const std::int64_t bucket = prompt_bucket(g.job); bucket > g.job.generation->prompt_tokens)
      print(fmt::format("prompts padded to {} tokens\n\n", bucket));
    flush();
  };
  return observer;
}

void generate(const GenerateOptions& options) {
  const base::Format form = base::parse_format(options.settings.output.format);
  const bool people = form == base::Format::kTable || form == base::Format::kMarkdown;
  const std::string& model = options.model;
  const Generated g = trnsim::generate(model, options.settings, people ? observer_of(model) : GenerateObserver{});
  if (form == base::Format::kJson) return print(to_json(g, model).dump(2) + "\n");
  if (people && !options.tables.wanted()) {
    print(answer_text(answer(g.job, g.projection, {})));
    return print_next("trnsim estimate MODEL --task inference for more requests at once, or --tables for every figure");
  }
  print(figures_of(g).render(form, columns()));
  if (const std::string experts = experts_text(g.job); people && !experts.empty()) print(paragraph(experts));
  if (!people) return;
  print(paragraph(confidence_text(g.job, g.projection)));
  print(bounds_text(g.job, *g.projection.generation) + "\n" + memory_text(g.projection.memory, form));
}

}  // namespace

void add_generate(CLI::App& app) {
  auto options = std::make_shared<GenerateOptions>();
  app.add_option(
         "MODEL", options->model,
         "a folder with weights and tokenizer (Hugging Face's or llama2.c's), or a name (llama2-7b) for time only")
      ->required();
  add_tables_flag(app, options->tables.asked);
  act_with_settings(app, "generate", options, generate);
}

}  // namespace cli
