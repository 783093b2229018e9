#include "trnsim/run/buyers_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <variant>

#include "analysis/figures/json_fields.h"
#include "analysis/record/result.h"
#include "base/error.h"
#include "base/files.h"
#include "base/suggest.h"
#include "trnsim/graphs/graph_model.h"
#include "trnsim/job/settings.h"
#include "trnsim/plans/serving.h"
#include "trnsim/project/estimate.h"
#include "trnsim/project/figures.h"
#include "trnsim/run/run.h"
#include "workloads/models/presets.h"

namespace trnsim {
namespace {

using base::Error;
using base::Fault;

ProjectOf projects(bool exact) {
  return [exact](const Job& job) {
    return ProjectedJob{job, project_if_it_fits(job, {.exact = exact, .in_child = false, .give_up = true})};
  };
}

/// Fills what it takes to place a workload's job elsewhere.
void place_workload(BuyersJob& out, const workloads::Workload& workload) {
  out.job_of = [workload](const Settings& s) { return projected_job(workload, s); };
  out.project = projects(out.settings.machine.exact);
  if (!workload.speed_up) return;
  // As run() projects a workload that is about the compiler: at the largest batch that fits.
  out.keeps_batch = false;
  out.project = [most = workload.most_batch](const Job& job) {
    CompilerGain gain = compiler_gain(job, 0, {}, most);
    return ProjectedJob{gain.cases.back().job, std::move(gain.cases.back().projection)};
  };
}

/// The workload of a finished run, or why there is none: a file of the user's may have gone, or be another one by now.
std::variant<workloads::Workload, std::string> workload_of_run(const analysis::WorkloadFigures& workload,
                                                               const std::string& run) {
  if (workload.file.empty()) {
    const std::vector<std::string> names = workloads::workload_names();
    if (std::ranges::find(names, workload.name) != names.end())  // by its file: this is no name that a user gave
      return workloads::load_workload(base::data_path(fmt::format("workloads/jobs/{}.toml", workload.name)).string());
    return fmt::format("{} does not say where its job, {}, is", run, workload.name);
  }
  if (!std::filesystem::exists(workload.file)) return fmt::format("{} was of {}, which is gone", run, workload.file);
  if (hash_of_file(workload.file) != workload.file_hash)
    return fmt::format("{} was of {}, which has changed since", run, workload.file);
  return workload_of(workload.file);
}

BuyersJob of_run(const std::filesystem::path& folder, const Settings& given) {
  for (const std::string& name : given.given)
    if (find_setting(name, "a setting").effect.job)
      throw Error{Fault::kUsage, fmt::format("`{}`", name), "has no effect: a run already has its settings",
                  "leave it out, or name the workload instead of its run"};
  BuyersJob out{.price = analysis::job_of_run(folder), .name = folder.string(), .text = "", .settings = {}};
  const analysis::WorkloadFigures workload = analysis::read_result(folder).workload;
  if (workload.name.empty() || workload.options.empty()) return out;
  out.settings = settings_from(analysis::json_of(workload.options));
  const auto from = workload_of_run(workload, folder.string());
  if (const auto* known = std::get_if<workloads::Workload>(&from))
    place_workload(out, *known);
  else
    out.unknown = std::get<std::string>(from);
  return out;
}

BuyersJob of_workload(const workloads::Workload& workload, const Settings& given) {
  RunRequest request{.workload = workload, .given = given, .command = "", .folder = {}, .trace = {}};
  request.given.machine.mode = "timed", request.given.output.suggestions = 0;
  request.given.given.insert({"mode", "suggestions"});
  const RunResult run = projected_run(request);
  BuyersJob out{.price = analysis::job_to_price(figures_of(run), record_of(run), workload.name),
                .name = workload.name,
                .text = describe(*run.job),
                .settings = request.given};
  place_workload(out, workload);
  return out;
}

/// Errors: Fault::kUsage without an amount, and for texts to write: `samples` would count nothing of them.
void require_amount(const std::string& model, const Settings& given, double sequences) {
  if (given.generation.max_new_tokens > 0)
    throw Error{Fault::kUsage, "`max_new_tokens`",
                "applies to requests, and without `task` inference the model is trained",
                "add `task` inference; the number of requests is `samples`"};
  if (sequences <= 0 && given.data.dataset_path.empty())
    throw Error{Fault::kUsage, model, "is a model, but a job also needs an amount of data",
                "add `samples` (the sequences of the whole job) or `dataset_path`"};
}

BuyersJob of_model(const std::string& model, const Settings& given, double sequences,
                   const std::function<void(const std::string&)>& note) {
  require_amount(model, given, sequences);
  BuyersJob out{.price = {}, .name = model, .text = "", .verb = "estimate", .settings = estimate_settings(given)};
  out.settings.output.suggestions = 0;
  const Estimate e = estimate(model, out.settings, sequences, note);
  require_fit(e);
  RunResult run;
  run.machine = e.job.machine, run.job = e.job, run.projection = e.projection;
  out.price = analysis::job_to_price(figures_of(e.job, e.projection), record_of(run), model);
  out.price.set = out.settings.machine.set, out.price.purchase = e.job.purchase;
  out.text = describe(e.job);
  out.job_of = jobs_of_model(model, out.settings, sequences, {});
  out.project = projects(out.settings.machine.exact);
  return out;
}

bool asks(const Settings& settings) { return settings.data.task == kInference; }

/// Errors: Fault::kUsage for requests to something that is no model.
void require_model(const std::string& name, const Settings& settings) {
  if (asks(settings))
    throw Error{Fault::kUsage, name, "is not a model, but requests need one",
                "name a model of trnsim list models, or a Hugging Face folder"};
}

BuyersJob of_requests(const std::string& model, const Settings& given, double requests,
                      const std::function<void(const std::string&)>& note) {
  constexpr double kMillion = 1e6;
  refuse_texts(given, kNoTexts);
  BuyersJob out{.price = {}, .name = model, .text = "", .verb = "estimate", .settings = estimate_settings(given)};
  out.settings.output.suggestions = 0, out.requests = requests > 0 ? requests : kMillion;
  const Estimate e = estimate(model, out.settings, 0, note);
  require_fit(e);
  RunResult run;
  run.machine = e.job.machine, run.job = e.job, run.projection = e.projection;
  const Served& served = out.served.emplace(served_of(e.job, e.projection));
  analysis::JobToPrice& price = out.price =
      analysis::job_to_price(figures_of(e.job, e.projection), record_of(run), model);
  const double more = out.requests / e.projection.samples;  // the figures are those of one batch
  price.flops *= more, price.hbm_bytes *= more, price.tokens *= more;
  price.samples = out.requests, price.steps = out.requests / served.at_once();
  price.seconds = served.seconds_of(out.requests);
  price.cores = static_cast<double>(served.copies() * served.cores_of_copy());
  price.sequences_per_step = served.at_once(), price.epochs = 0, price.copies = 1;  // its time is that of all copies
  price.set = out.settings.machine.set, price.purchase = e.job.purchase;
  out.text = fmt::format("{:.0f} requests, {}", out.requests, describe(served));
  return out;
}

/// The requests on each kind and number of instances, answered by copies of as many cores and with the same batch.
std::vector<std::string> place_requests(BuyersJob& job, const std::vector<int>& counts, int processes) {
  const Served& own = *job.served;
  const ServingSpace space{.tensor = {own.cores_of_copy()}, .batches = {own.job.step.plan.micro_batch}};
  job.price.placements.clear();
  for (const Served& there : serve_everywhere(job.name, job.settings, space, processes))
    for (const int count : counts.empty() ? std::vector{1} : counts) {
      if (there.job.machine.name == own.job.machine.name && count == job.price.instances) continue;
      analysis::Placement& place = job.price.placements.emplace_back(
          analysis::Placement{.instance_type = there.job.machine.name,
                              .instances = count,
                              .cores = static_cast<double>(there.copies() * there.cores_of_copy() * count),
                              .sequences_per_step = there.at_once() * count,
                              .seconds = there.fits() ? there.seconds_of(job.requests, count) : 0,
                              .samples = job.requests,
                              .tokens = job.price.tokens,
                              .settings = {{"instance_type", there.job.machine.name}}});
      if (!there.fits())
        place.too_small = analysis::TooSmall{.needed = static_cast<double>(there.memory.total),
                                             .has = static_cast<double>(there.memory.capacity),
                                             .of_a_core = true};
    }
  return {};
}

analysis::Placement placement_of(const PlacedJob& place) {
  analysis::Placement out{.instance_type = place.instance_type,
                          .instances = static_cast<int>(place.instances),
                          .cores = static_cast<double>(place.cores),
                          .sequences_per_step = place.sequences_per_step,
                          .seconds = place.change.seconds,
                          .samples = place.samples,
                          .tokens = place.tokens,
                          .copies = place.copies,
                          .settings = place.change.settings,
                          .too_small = {},
                          .interrupted = place.interrupted};
  if (place.too_large())
    out.too_small = analysis::TooSmall{
        .needed = static_cast<double>(place.problem->memory), .has = place.problem->capacity, .of_a_core = true};
  return out;
}

bool is_run(const std::string& name) {
  return std::filesystem::exists(std::filesystem::path{name} / "result.json") && !workloads::names_workload(name);
}

bool is_model(const std::string& name) {
  return workloads::names_preset(name) || std::filesystem::exists(std::filesystem::path{name} / "config.json");
}

/// Errors: Fault::kUsage unless it is a workload's name or file.
workloads::Workload known_workload(const std::string& name, std::string_view otherwise) {
  if (is_graph_file(name))
    throw Error{Fault::kUsage, name, "is a program, whose plan and batch are fixed",
                "use trnsim run, which gives its time and dollars on any machine"};
  if (!std::filesystem::exists(name) && !workloads::names_workload(name)) {
    const auto near = base::closest(name, workloads::workload_names());
    throw Error{Fault::kUsage, name, fmt::format("is neither {}a workload nor a model", otherwise),
                near ? fmt::format("write \"{}\"", *near) : workloads::preset_fix(name)};
  }
  return workloads::load_workload(name);
}

}  // namespace

JobSource job_source(const std::string& name, const Settings& given, double samples,
                     const std::function<void(const std::string&)>& note) {
  if (is_model(name)) {
    require_amount(name, given, samples);
    const Settings settings = estimate_settings(given);
    return {.name = name, .settings = settings, .job_of = jobs_of_model(name, settings, samples, note), .model = name};
  }
  const workloads::Workload workload = known_workload(name, "");
  JobSource out{.name = workload.name, .settings = given};
  out.model = given.data.model_id.empty() ? workload.model : given.data.model_id;
  out.settings.machine.mode = "timed", out.settings.given.insert("mode");
  out.job_of = [workload](const Settings& s) { return projected_job(workload, s); };
  const Job job = out.job_of(out.settings);
  if (samples > 0 && !job.generation)
    throw Error{Fault::kUsage, "`samples`", fmt::format("is for a model, but {} has data of its own", workload.name),
                "use `num_train_epochs`, `max_steps` or `max_train_samples`"};
  out.batch = job.step.plan.sequences_per_step();
  return out;
}

BuyersJob buyers_job(const std::string& name, const Settings& given, double sequences,
                     const std::function<void(const std::string&)>& note) {
  const bool run = is_run(name) && !workloads::is_model_preset(name);
  if (!run && is_model(name))
    return asks(given) ? of_requests(name, given, sequences, note) : of_model(name, given, sequences, note);
  require_model(name, given);
  if (run || (std::filesystem::is_directory(name) && !workloads::names_workload(name))) return of_run(name, given);
  return of_workload(known_workload(name, "the folder of a run nor "), given);
}

std::vector<std::string> place(BuyersJob& job, const std::vector<int>& counts, int processes) {
  if (job.served) return place_requests(job, counts, processes);
  std::vector<std::string> left_out;
  if (!job.job_of)
    return {fmt::format("{}, so it cannot be simulated on other instances",
                        job.unknown.empty() ? job.name + " does not say which job it was" : job.unknown)};
  PlacementSpace space{.counts = counts, .keeps_batch = job.keeps_batch};
  if (space.counts.empty()) space.counts = {1};
  std::vector<PlacedJob> places = placements_of(job.settings, job.job_of, space);
  project_placements(places, job.project, processes);
  job.price.placements.clear();
  for (const PlacedJob& place : places) {
    if (!place.problem || place.too_large())
      job.price.placements.push_back(placement_of(place));
    else
      left_out.push_back(fmt::format("{} x {}: {}", place.instances, place.instance_type, place.problem->text));
  }
  return left_out;
}

}  // namespace trnsim
