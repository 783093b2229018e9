#include "python/api/answers.h"

#include <array>
#include <limits>
#include <thread>

#include "analysis/cost/job_cost.h"
#include "analysis/profile/views.h"
#include "analysis/record/result.h"
#include "base/error.h"
#include "base/files.h"
#include "base/units.h"
#include "python/api/settings.h"
#include "trnsim/generation.h"
#include "trnsim/job/listing.h"
#include "trnsim/job/settings.h"
#include "trnsim/machine.h"
#include "trnsim/run/buyers_job.h"
#include "trnsim/run/checkpoints.h"
#include "trnsim/run/tokenize.h"
#include "trnsim/run/verify_programs.h"
#include "trnsim/sweep.h"
#include "validation/predict/validate.h"

namespace trnsim_python {
namespace {

using base::Error;
using base::Fault;

/// A list of objects, the numbers as they are.
Json rows_of(const base::Table& table) { return Json::parse(table.render(base::Format::kJson)); }

// ---- quick questions

Json list(const Json& arguments, const Listener&) {
  const std::string what = text_in(arguments, "what");
  std::string choices;
  for (const trnsim::Listing& listing : trnsim::listings()) {
    if (listing.name == what) return rows_of(listing.make());
    choices += (choices.empty() ? "" : "|") + std::string{listing.name};
  }
  trnsim::require_choice("`what`", what, choices);
  return {};
}

Json parameters(const Json& arguments, const Listener&) {
  const auto file =
      trnsim::machine_file(text_in(arguments, "machine"), arguments.value("set", std::vector<std::string>{}));
  return rows_of(trnsim::parameter_table(file, text_in(arguments, "prefix")));
}

Json verify(const Json& arguments, const Listener&) {
  std::vector<trnsim::ProgramOutcome> outcomes;
  for (const std::string& file : arguments.at("files").get<std::vector<std::string>>())
    for (trnsim::ProgramOutcome& outcome :
         trnsim::verify_programs(file, {.reference = arguments.value("reference", false)}))
      outcomes.push_back(std::move(outcome));
  return rows_of(trnsim::table_of(outcomes));
}

Json tokenize(const Json& arguments, const Listener&) {
  const auto tokenizer = trnsim::load_tokenizer(text_in(arguments, "vocab"));
  Json out = Json::array();
  for (const std::string& text : arguments.at("texts").get<std::vector<std::string>>()) {
    const auto [tokens, ids] = trnsim::tokenize(*tokenizer, text, arguments.value("max_length", std::int64_t{0}));
    out.push_back({{"text", text}, {"tokens", tokens}, {"ids", ids}});
  }
  return out;
}

Json consolidate(const Json& arguments, const Listener&) {
  const trnsim::Consolidated c =
      trnsim::consolidate(text_in(arguments, "folder"), text_in(arguments, "out"), arguments.value("overwrite", false));
  return {{"tensors", c.tensors}, {"parameters", c.parameters}, {"step", c.step}, {"shards", c.shards()}};
}

/// result.json and the steps of a run.
Json open_run(const Json& arguments, const Listener&) {
  const std::filesystem::path folder = text_in(arguments, "folder");
  Json steps = Json::array();
  if (std::filesystem::exists(folder / "steps.jsonl"))
    for (const analysis::StepFigures& step : analysis::read_steps(folder)) steps.push_back(to_json(step));
  return {{"result", to_json(analysis::read_result(folder))}, {"steps", steps}};
}

/// The figures of a run's record (`by` is empty), or its time in groups.
Json records(const Json& arguments, const Listener&) {
  const analysis::Record record =
      analysis::read_record(text_in(arguments, "folder"), arguments.value("stage", std::int64_t{-1}));
  const std::string by = text_in(arguments, "by");
  return rows_of(by.empty() ? summary_table(record)
                            : analysis::table_by(by, record, arguments.value("limit", std::size_t{0})));
}

/// The table that `trnsim cost` writes of a run folder, a workload, a model, or a job of so many seconds.
Json cost(const Json& arguments, const Listener&) {
  const std::string folder = text_in(arguments, "folder");
  const auto counts = counts_in<int>(arguments, "instances", {});
  analysis::JobToPrice job;
  if (!folder.empty()) {
    trnsim::BuyersJob buyers = trnsim::buyers_job(folder, settings_of(arguments), arguments.value("samples", 0.0));
    place(buyers, counts, std::max(1, static_cast<int>(std::thread::hardware_concurrency())));
    job = std::move(buyers.price);
  }
  if (folder.empty()) {
    job.seconds = arguments.value("seconds", 0.0);
    job.instance_type = text_in(arguments, "instance_type");
    if (!counts.empty()) job.instances = counts.front();
  }
  for (const auto& [name, member] : {std::pair{"epochs", &analysis::JobToPrice::epochs},
                                     {"samples", &analysis::JobToPrice::samples},
                                     {"tokens", &analysis::JobToPrice::tokens},
                                     {"flops", &analysis::JobToPrice::flops},
                                     {"hbm_bytes", &analysis::JobToPrice::hbm_bytes}})
    if (arguments.contains(name)) job.*member = arguments.at(name).get<double>();
  const double efficiency = arguments.value("efficiency", analysis::kRooflineEfficiency);
  const auto prices = analysis::load_prices(std::string_view{text_in(arguments, "prices")});
  return rows_of(cost_table(price_job(job, prices, counts, efficiency), efficiency));
}

struct Question {
  std::string_view name;
  Json (*answer)(const Json&, const Listener&);
};
constexpr std::array kQuestions = {
    Question{"project", project},
    Question{"run", run},
    Question{"search", search},
    Question{"sweep", sweep},
    Question{"generate", generate},
    Question{"validate", validate},
    Question{"ablate", ablate},
    Question{"list", list},
    Question{"parameters", parameters},
    Question{"tokenize", tokenize},
    Question{"open", open_run},
    Question{"consolidate", consolidate},
    Question{"verify", verify},
    Question{"records", records},
    Question{"cost", cost},
    Question{"choose", choose},
    Question{"project_each", project_each},
};

}  // namespace

Json generate(const Json& arguments, const Listener& hear) {
  const std::string model = text_in(arguments, "model");
  trnsim::Settings settings = trnsim::generation_settings(settings_of(arguments));
  settings.generation.prompt = arguments.value("prompt", std::vector<std::string>{});
  trnsim::GenerateObserver observer;
  if (hear)
    observer.grown = [&hear](std::size_t sequence, std::size_t sequences, const std::string& text) {
      hear({{"event", "text"}, {"sequence", sequence}, {"sequences", sequences}, {"text", text}});
    };
  return to_json(trnsim::generate(model, settings, observer), model);
}

Json validate(const Json& arguments, const Listener& hear) {
  const auto names = arguments.at("files").get<std::vector<std::string>>();
  const std::vector<std::filesystem::path> files{names.begin(), names.end()};
  const auto rows = validation::load_rows(files, arguments.value("only", std::vector<std::string>{}));
  const auto begin = [&](std::size_t done, const std::string& id) {
    if (hear) hear({{"event", "progress"}, {"what", id}, {"done", done}, {"all", rows.size()}});
  };
  const validation::Validation out =
      validation::validate(rows, validation::predict_context(settings_of(arguments)), begin);
  if (out.broken) throw *out.broken;
  return Json::parse(to_text(out.report, "json"));
}

Json sweep(const Json& arguments, const Listener& hear) {
  analysis::SweepSpec spec;
  spec.workload = text_in(arguments, "job");
  spec.machine = text_in(arguments, "machine");
  spec.design = analysis::parse_design(arguments.value("design", "cartesian"));
  spec.samples = static_cast<std::size_t>(whole_in(arguments, "samples", 1'000'000));
  spec.seed = static_cast<std::uint64_t>(whole_in(arguments, "seed", std::numeric_limits<std::int64_t>::max()));
  for (const auto& [key, values] : arguments.at("axes").items())
    spec.axes.push_back({key, values.get<std::vector<std::string>>()});
  std::filesystem::path database = ":memory:";
  std::optional<base::FolderIfUsed> tidy;
  if (const std::string folder = text_in(arguments, "output_dir"); !folder.empty()) {
    tidy.emplace(folder);
    base::make_output_folder(folder, true);
    database = std::filesystem::path{folder} / "sweep.sqlite";
  }
  const auto run = run_sweep(design_points(spec), trnsim::job_model(spec.workload, spec.machine), database,
                             processes_in(arguments), {}, watch_of(hear, "point"));
  return rows_of(sweep_table(run));
}

Json answer_to(std::string_view question, const Json& arguments, const Listener& hear) {
  const auto found = std::ranges::find(kQuestions, question, &Question::name);
  base::ensure(found != kQuestions.end(), question, "no such question");
  return found->answer(arguments, hear);
}

}  // namespace trnsim_python
