// Questions about jobs: projection, training, search of plans, ablation.
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "analysis/cost/cost.h"
#include "analysis/figures/json_fields.h"
#include "analysis/profile/stats.h"
#include "base/text.h"
#include "python/api/settings.h"
#include "trnsim/plans/choose.h"
#include "trnsim/plans/known_blocks.h"
#include "trnsim/plans/serving.h"
#include "trnsim/project/estimate.h"
#include "trnsim/project/figures.h"
#include "trnsim/project/memory.h"
#include "trnsim/run/buyers_job.h"
#include "trnsim/run/run.h"
#include "trnsim/search.h"
#include "workloads/jobs/workload.h"

namespace trnsim_python {
namespace {

using trnsim::Projection;

Json engines_of(const hw::SimResult& device) {
  Json out = Json::array();
  for (const analysis::EngineShare& e : analysis::engine_shares(device))
    out.push_back({{"engine", e.engine},
                   {"busy_percent", e.busy},
                   {"waiting_percent", e.waited()},
                   {"idle_percent", e.idle},
                   {"instructions", e.instructions}});
  return out;
}

Json stages_of(const Projection& p) {
  Json out = Json::array();
  for (std::size_t s = 0; s < p.stages.size(); ++s) {
    const hw::SimResult& device = p.stages[s].device();
    out.push_back({{"stage", s},
                   {"seconds", hw::seconds(device.total - device.lead_in)},
                   {"collectives_exposed_seconds", hw::seconds(device.collective_exposed)},
                   {"hbm_bytes", p.stages[s].hbm_bytes()},
                   {"engines", engines_of(device)}});
  }
  return out;
}

/// The figures of any projection, whatever made its job, by their names.
Json named_figures(const trnsim::Job& job, const Projection& p) {
  const analysis::Figures figures = figures_of(job, p);
  Json out = flat_json(figures);
  out["memory"]["by_kind"] = analysis::json_of(figures.memory.kinds);
  out["parts"] = Json::array();
  for (const analysis::TimeItem& part : figures.time.parts)
    out["parts"].push_back({{"name", part.name}, {"seconds", part.seconds}});
  out["stages"] = stages_of(p), out["slowest_stage"] = p.slowest;
  return out;
}

/// `known`: blocks of others that the same process projects; may be null.
Json project_workload(const Json& arguments, const Listener& hear, trnsim::KnownBlocks* known) {
  if (arguments.contains("sequences"))
    throw base::Error{base::Fault::kUsage, "`sequences`", "is for a model, but a workload has data of its own",
                      "use `num_train_epochs`, `max_steps` or `max_train_samples`"};
  trnsim::RunRequest request{.workload = workload_named(text_in(arguments, "job")),
                             .given = settings_of(arguments),
                             .command = "trnsim run " + text_in(arguments, "job"),
                             .folder = {},
                             .trace = {},
                             .known = known};
  if (request.given.machine.mode.empty()) request.given.machine.mode = "timed", request.given.given.insert("mode");
  const trnsim::RunResult result = trnsim::projected_run(request, observer_of(hear));
  if (!result.projection)
    throw base::Error{base::Fault::kUsage, "`mode` " + result.settings.machine.mode, "projects nothing",
                      "leave it out, or use trnsim.train()"};
  return {{"job", text_in(arguments, "job")},
          {"figures", named_figures(*result.job, *result.projection)},
          {"result", to_json(figures_of(result))}};
}

Json project_model(const Json& arguments) {
  const double sequences = arguments.value("sequences", 0.0);
  if (!(sequences >= 0))
    throw base::Error{base::Fault::kUsage, "`sequences`", "is below 0",
                      "give the sequences of the job, or leave it out"};
  const trnsim::Estimate e =
      trnsim::estimate(text_in(arguments, "job"), trnsim::estimate_settings(settings_of(arguments)), sequences);
  require_fit(e);
  return {{"job", text_in(arguments, "job")}, {"figures", named_figures(e.job, e.projection)}, {"result", to_json(e)}};
}

/// A step as it is heard of.
Json step_of(const workloads::StepRecord& r, double step_seconds, std::chrono::steady_clock::time_point begin) {
  return to_json(analysis::StepFigures{
      .step = r.step,
      .epoch = r.epoch,
      .loss = r.loss,
      .learning_rate = r.learning_rate,
      .grad_norm = r.grad_norm,
      .simulated_seconds = static_cast<double>(r.step) * step_seconds,
      .host_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count()});
}

Json plan_of(const trnsim::TriedPlan& plan) {
  Json settings = Json::object();
  for (const auto& [name, value] : plan_settings(plan.job)) settings[name] = value.empty() ? "true" : value;
  const double tokens = plan.job.tokens_per_step();
  const auto price = plan.job.price_per_hour;
  const bool timed = plan.refused.empty();
  const bool writes = plan.job.generation.has_value();
  const trnsim::Served served = timed && writes ? served_of(plan) : trnsim::Served{.job = plan.job, .memory = {}};
  const double step_dollars =
      analysis::dollars_of(plan.seconds, price.value_or(0), static_cast<double>(plan.job.instances()));
  return {{"plan", describe(plan.job)},
          {"settings", settings},
          {"refused", plan.refused},
          {"too_large", plan.too_large},
          {"hbm_bytes", plan.memory},
          {"step_seconds", timed ? Json(plan.seconds) : Json()},
          {writes ? "instance_tokens_per_second" : "sequences_per_second",
           !timed ? Json() : Json(writes ? served.tokens : plan.job.sequences_per_step() / plan.seconds)},
          {"device_mfu_percent", timed ? Json(100 * plan.mfu) : Json()},
          {"dollars_per_million_tokens", !timed || !price ? Json()
                                         : writes         ? Json(served.token_dollars.value())
                                                          : Json(analysis::per_million(step_dollars, tokens))}};
}

}  // namespace

Json project(const Json& arguments, const Listener& hear) {
  return is_workload(text_in(arguments, "job")) ? project_workload(arguments, hear, nullptr) : project_model(arguments);
}

/// The graphs of a script have most blocks in common. Each answer is heard as soon as it is there, or {"where", "what"}
/// of its error.
Json project_each(const Json& arguments, const Listener& hear) {
  trnsim::KnownBlocks known;
  for (const Json& job : arguments.at("jobs")) {
    Json answer;
    try {
      answer = project_workload(job, {}, &known);
    } catch (const base::Error& error) {
      answer = {{"where", error.where()}, {"what", error.problem()}};
    }
    if (hear) hear(answer);
  }
  return {};
}

Json run(const Json& arguments, const Listener& hear) {
  const std::filesystem::path folder = text_in(arguments, "folder");
  const trnsim::RunRequest request{.workload = workload_named(text_in(arguments, "job")),
                                   .given = settings_of(arguments),
                                   .command = "trnsim run " + text_in(arguments, "job"),
                                   .folder = folder,
                                   .trace = {}};
  trnsim::RunObserver observer = observer_of(hear);
  const auto begin = std::chrono::steady_clock::now();
  double step_seconds = 0;
  std::int64_t max_steps = 0;
  observer.training.begin = [&](const trnsim::Training& t, const workloads::Trainer& trainer) {
    step_seconds = t.simulated_step_seconds, max_steps = trainer.max_steps();
    if (hear)
      hear({{"event", "begin"},
            {"model", t.model},
            {"dataset", t.dataset},
            {"numerics", t.numerics},
            {"samples", t.train_samples},
            {"max_steps", trainer.max_steps()},
            {"simulated_step_seconds", t.simulated_step_seconds}});
  };
  observer.training.step = [&](const workloads::StepRecord& r) {
    if (!hear) return;
    Json line = step_of(r, step_seconds, begin);
    line["event"] = "step", line["max_steps"] = max_steps;
    hear(line);
  };
  observer.training.evaluated = [&](const workloads::EvalRecord& e) {
    Json event{{"event", "evaluated"}, {"split", e.split}, {"step", e.step}, {"epoch", e.epoch}, {"loss", e.loss}};
    for (const auto& [name, value] : e.scores) std::visit([&, key = name](auto v) { event[key] = v; }, value);
    if (hear) hear(event);
  };
  const trnsim::RunResult result = trnsim::run(request, observer);
  Json out{{"folder", folder.string()}, {"result", to_json(figures_of(result))}};
  if (result.projection) out["figures"] = named_figures(*result.job, *result.projection);
  return out;
}

Json search(const Json& arguments, const Listener& hear) {
  const trnsim::Settings s = trnsim::estimate_settings(settings_of(arguments));
  const trnsim::Job job = job_of(s, trnsim::load_model_config(text_in(arguments, "job")), 0);
  const std::int64_t batch = counts_in<std::int64_t>(arguments, "global_batch_size", {256}).front();
  auto micro = counts_in<std::int64_t>(arguments, "micro_batch_sizes", {});
  if (micro.empty()) micro = trnsim::default_micro_batches(s, job, batch);
  auto plans = plans_of(job, {.batch = batch, .micro_batches = micro});
  time_plans(plans, {.processes = processes_in(arguments),
                     .exact = s.machine.exact,
                     .settled = plans.size(),
                     .watch = watch_of(hear, "plan")});
  std::ranges::stable_sort(plans, {}, [](const trnsim::TriedPlan& p) {
    return std::pair{!p.refused.empty(), p.seconds};
  });
  Json out = Json::array();
  for (const trnsim::TriedPlan& plan : plans) out.push_back(plan_of(plan));
  return out;
}

/// A row of choose().
Json row_of(const trnsim::Choice& choice) {
  Json settings = Json::object();
  for (const auto& [name, value] : choice.change.settings) settings[name] = value;
  return {{"dollars", choice.change.dollars.value()},
          {"seconds", choice.change.seconds},
          {"instances", choice.job.instances()},
          {"instance_type", choice.job.machine.name},
          {"cores", choice.job.cores()},
          {"plan", describe(choice.job)},
          {"hbm_bytes", choice.memory},
          {"binds", choice.binds},
          {"settings", settings}};
}

Json choose(const Json& arguments, const Listener& hear) {
  const std::string name = text_in(arguments, "job");
  const trnsim::JobSource source =
      trnsim::job_source(name, settings_of(arguments), arguments.value("samples", 0.0), observer_of(hear).note);
  if (is_requests(source.settings) || source.job_of(source.settings).generation)
    throw base::Error{base::Fault::kUsage, name, "answers requests, but trainings are chosen here",
                      "ask the command line: trnsim choose"};
  trnsim::ChoiceSpace space;
  space.instance_types = arguments.value("instance_types", space.instance_types);
  space.nnodes = counts_in(arguments, "instances", space.nnodes);
  space.batches = counts_in<std::int64_t>(arguments, "global_batch_size", {source.batch});
  space.micro_batches = counts_in(arguments, "micro_batch_sizes", space.micro_batches);
  auto choices = choices_of(source.settings, source.job_of, space);
  project_choices(choices, processes_in(arguments), watch_of(hear, "choice"));
  Json out = Json::array();
  for (const std::size_t i : front_of(choices)) out.push_back(row_of(choices[i]));
  if (out.empty())
    throw base::Error{base::Fault::kCapacity, name, "none of " + base::counted(choices.size(), "choice") + " fits",
                      "allow more `instances`, a shorter `max_length`, or `lora_r` 16"};
  return out;
}

Json ablate(const Json& arguments, const Listener& hear) {
  const trnsim::Settings given = settings_of(arguments);
  const auto variants = pass_variants(projected_job(workload_named(text_in(arguments, "job")), given));
  Json out = Json::array();
  for (const trnsim::PassVariant& variant : variants) {
    if (hear) hear({{"event", "progress"}, {"what", "passes"}, {"done", out.size()}, {"all", variants.size()}});
    const trnsim::PassFigures f = pass_figures(variant.job, given.machine.exact);
    out.push_back({{"passes", variant.name},
                   {"text", variant.text},
                   {"device_step_seconds", f.seconds},
                   {"hbm_bytes", f.hbm_bytes},
                   {"hbm_traffic_bytes", f.traffic},
                   {"instructions", f.instructions}});
  }
  return out;
}

}  // namespace trnsim_python
