// `trnsim plan MODEL`: every legal way to share a model's training between the cores, ranked by time and by dollars.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "analysis/cost/cost.h"
#include "base/error.h"
#include "base/log.h"
#include "base/progress.h"
#include "base/table.h"
#include "base/text.h"
#include "cli/add_count.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/serve.h"
#include "cli/tables.h"
#include "cli/verbs.h"
#include "trnsim/job/job_price.h"
#include "trnsim/plans/serving.h"
#include "trnsim/project/compiler_memory.h"
#include "trnsim/project/memory.h"
#include "trnsim/project/stages.h"
#include "trnsim/projection.h"
#include "trnsim/search.h"

namespace cli {

using trnsim::TriedPlan;
namespace {

struct PlanOptions {
  trnsim::Settings settings;
  std::string model;
  std::int64_t batch = 256, limit = 20;
  double sequences = 0;
  std::vector<std::int64_t> micro_batches;
  bool refused = false;
  Tables tables;
};

constexpr std::int64_t kFirst = 3;  // plans that are shown where there is no table

base::Cell with(double value, fmt::format_string<double&> form) { return {value, fmt::format(form, value)}; }

/// Dollars of a million tokens: of text on an instance that is full of such plans.
base::Cell dollars_of(const TriedPlan& plan) {
  const auto price = plan.job.price_per_hour;
  if (!price) return "no price";
  if (plan.job.generation) return money_cell(served_of(plan).token_dollars);
  const double step = analysis::dollars_of(plan.seconds, *price, static_cast<double>(plan.job.instances()));
  return money_cell(analysis::per_million(step, plan.job.tokens_per_step()));
}

/// The steps of a job of so many sequences: its time without start and read-backs, and dollars.
void add_job(std::vector<base::Cell>& row, const TriedPlan& plan, const PlanOptions& options) {
  if (options.sequences <= 0) return;
  trnsim::Job job = plan.job;
  job.sizes = {.samples = options.sequences};
  const double seconds = plan.seconds * job.steps();
  row.emplace_back(base::Cell{seconds, base::duration_text(seconds)});
  const auto price = plan.job.price_per_hour;
  row.push_back(price ? money_cell(analysis::dollars_of(seconds, *price, static_cast<double>(plan.job.instances())))
                      : base::Cell{"no price"});
}

/// All flags with which `estimate`, or `generate`, gives this plan its figures.
std::string full_flags(const trnsim::Job& job, const PlanOptions& options) {
  std::string out = fmt::format("--instance_type {}", job.machine.name);
  if (!job.generation && job.model->fixed_length() == 0) out += fmt::format(" --max_length {}", job.step.kind.length);
  const std::vector<std::string> typed = typed_job_flags("plan", options.settings);
  const std::string plan = " " + plan_flags(job) + " ";
  for (std::size_t i = 0; i < typed.size(); ++i) {
    const bool flag = typed[i].starts_with("--");
    const bool said = typed[i] == "--instance_type" || typed[i] == "--virtual_pipeline_size" ||
                      (typed[i] == "--max_length" && !job.generation) || typed[i] == "--per_device_train_batch_size" ||
                      plan.find(" " + typed[i] + " ") != plan.npos;
    if (flag && said) {
      while (i + 1 < typed.size() && !typed[i + 1].starts_with("--")) ++i;
      continue;
    }
    out += " " + typed[i];
  }
  return out + plan.substr(0, plan.size() - 1);
}

trnsim::Memory memory_of(const TriedPlan& plan) {
  return {.by_kind = plan.by_kind, .total = plan.memory, .capacity = plan.job.machine.hbm_bytes_per_core()};
}

/// The best plans in a few lines, the first one with its command: a terminal has no room for a table with flags.
void print_first(const std::vector<TriedPlan>& plans, const PlanOptions& options) {
  const bool writes = plans.front().job.generation.has_value();
  std::int64_t rank = 0;
  for (const std::size_t i : trnsim::by_time(plans)) {
    if (++rank > std::min(kFirst, options.limit)) break;
    const TriedPlan& r = plans[i];
    print(paragraph(fmt::format("{}. {}: {:.5g} s a {}, {:.1f} GiB of a core, {} of the device's FLOPs", rank,
                                describe(r.job), r.seconds, writes ? "token" : "step",
                                static_cast<double>(r.memory) / (1 << 30), fmt::format("{:.1f} %", 100 * r.mfu))));
    if (rank == 1)
      print(paragraph(fmt::format("   trnsim {} {} {}", writes ? "generate" : "estimate", options.model,
                                  full_flags(r.job, options))));
  }
  print_next("that command for time, dollars and memory of the first plan, or --tables for all plans");
}

/// Programs get each plan's memory in the compiler's words too.
void print_ranked(const std::vector<TriedPlan>& plans, const PlanOptions& options, base::Format form) {
  const bool writes = !plans.empty() && plans.front().job.generation.has_value();
  const bool for_programs = form == base::Format::kJson || form == base::Format::kCsv;
  std::vector<base::Column> head{{"rank", ""},
                                 {"plan", ""},
                                 {"step_seconds", writes ? "token s" : "step s"},
                                 writes ? base::Column{"instance_tokens_per_second", "tokens/s"}
                                        : base::Column{"sequences_per_second", "sequences/s"},
                                 {"device_mfu_percent", "device MFU %"},
                                 {"hbm_bytes", "HBM GiB"},
                                 {"verdict", ""},
                                 {"dollars_per_million_tokens", "$ per million tokens"},
                                 {"flags", ""}};
  if (options.sequences > 0) head.insert(head.end(), {{"job_seconds", "steps of the job"}, {"job_dollars", "dollars"}});
  if (for_programs)
    for (const auto& [part, bytes] : trnsim::compiler_parts({})) head.push_back({part, ""});
  base::Table table{std::move(head)};
  int rank = 0;
  for (const std::size_t i : trnsim::by_time(plans)) {
    if (++rank > options.limit) break;
    const TriedPlan& r = plans[i];
    const trnsim::Memory memory = memory_of(r);
    std::vector<base::Cell> row{rank,
                                describe(r.job),
                                with(r.seconds, "{:.5g}"),
                                with(writes ? served_of(r).tokens : r.job.sequences_per_step() / r.seconds, "{:.2f}"),
                                with(100 * r.mfu, "{:.1f}"),
                                base::Cell{r.memory, fmt::format("{:.1f}", static_cast<double>(r.memory) / (1 << 30))},
                                std::string{verdict(memory)},
                                dollars_of(r),
                                full_flags(r.job, options)};
    add_job(row, r, options);
    if (for_programs)
      for (const auto& [part, bytes] : compiler_parts(memory)) row.emplace_back(bytes);
    table.add_row(std::move(row));
  }
  if (form == base::Format::kTable && !options.tables.wanted()) return print_first(plans, options);
  print(table.render(form, columns()));
}

void print_refused(const std::vector<TriedPlan>& plans, const PlanOptions& options, base::Format form) {
  base::Table table{{{"plan", ""}, {"reason", ""}, {"flags", ""}}};
  for (const TriedPlan& plan : plans)
    if (!plan.refused.empty())
      table.add_row({describe(plan.job), flags_in(plan.refused), full_flags(plan.job, options)});
  print(table.render(form, columns()));
}

/// Plans that trnsim's compiler alone refuses, which is no statement about the machine. Empty: there are none.
std::string of_our_compiler(const std::vector<TriedPlan>& plans) {
  const auto ours = [](const TriedPlan& p) { return p.refused.find("SBUF") != std::string::npos; };
  const auto count = std::ranges::count_if(plans, ours);
  if (count == 0) return "";
  return fmt::format("; {} might fit, but trnsim's own compiler (not neuronx-cc) finds no tiles for them in SBUF",
                     base::counted(count, "plan"));
}

/// Errors when no plan is left: with the least memory needed, or the reason that all plans share.
void require_some(const std::vector<TriedPlan>& plans, const PlanOptions& options) {
  const std::string where = "trnsim plan " + options.model;
  if (plans.empty())
    throw base::Error{base::Fault::kUsage, where, "no degrees use all cores",
                      "use another --nnodes or --nproc_per_node"};
  if (std::ranges::any_of(plans, [](const TriedPlan& p) { return p.refused.empty(); })) return;
  const TriedPlan* least = nullptr;
  for (const TriedPlan& p : plans)
    if (p.too_large && p.memory > 0 && (!least || p.memory < least->memory)) least = &p;
  if (least)
    throw base::Error{base::Fault::kCapacity, where,
                      fmt::format("no plan fits; nearest is {}, which {}{}", describe(least->job), least->refused,
                                  of_our_compiler(plans)),
                      "use more --nnodes, or a smaller --max_length"};
  throw base::Error{
      base::Fault::kUsage, where,
      fmt::format("no plan can be formed; the first one, {}: {}", describe(plans.front().job), plans.front().refused),
      "see --refused for all reasons; use another --global_batch_size, --max_length or --nnodes"};
}

/// The settings that all plans share.
std::string heading(const PlanOptions& options, const trnsim::Job& job) {
  if (job.generation)
    return fmt::format(
        "{} on {} with {}, {} and {}, {}, stack {}", options.model, job.machine.name,
        base::counted(job.machine.instance_cores(), "core"),
        base::counted(job.generation->prompt_tokens, "token") + (job.model->sound() ? " of a sound" : " of a prompt"),
        base::counted(job.generation->new_tokens, "new one"), job.step.plan.numerics.name, job.stack);
  return fmt::format("{} on {} x {}, {}, {:.0f} sequences of {} tokens a step, {}, stack {}", options.model,
                     job.instances(), job.machine.name, base::counted(job.cores(), "core"), job.sequences_per_step(),
                     job.step.kind.length, flags_in(trnsim::describe(job.step.plan.numerics)), job.stack);
}

/// Errors: Fault::kUsage for a flag of a training, where text is written.
void refuse_steps(const PlanOptions& options) {
  const char* flag = options.batch != PlanOptions{}.batch ? "--global_batch_size"
                     : options.sequences > 0              ? "--sequences"
                                                          : nullptr;
  if (flag)
    throw base::Error{base::Fault::kUsage, flag, "applies to training, and with --max_new_tokens text is generated",
                      "leave it out; --micro_batch_sizes sets how many sequences are generated at once"};
}

void plan(const PlanOptions& options) {
  const trnsim::Settings& s = options.settings;
  const base::Format form = base::parse_format(s.output.format);
  const trnsim::Job job = job_of(s, trnsim::load_model_config(options.model), 0);
  if (job.generation)
    refuse_steps(options);
  else
    trnsim::require_trains(job.machine);
  if (const std::string prices = unread_prices(job, s); !prices.empty())
    base::log(base::LogLevel::kWarning, flags_in(prices));
  const auto sizes =
      options.micro_batches.empty() ? trnsim::default_micro_batches(s, job, options.batch) : options.micro_batches;
  std::vector<TriedPlan> plans = plans_of(job, {.batch = options.batch, .micro_batches = sizes});
  const auto untried =
      static_cast<std::size_t>(std::ranges::count_if(plans, [](const TriedPlan& p) { return !p.refused.empty(); }));
  const bool brief = form == base::Format::kTable && !options.tables.wanted();
  time_plans(plans, {.processes = processes_of(s),
                     .exact = s.machine.exact,
                     .settled = static_cast<std::size_t>(brief ? std::min(kFirst, options.limit) : options.limit),
                     .watch = uneven_progress_of("plan", "plan")});
  if (options.refused) {
    print_refused(plans, options, form);
  } else {
    require_some(plans, options);
    const TriedPlan& first = plans[trnsim::by_time(plans).front()];
    const bool people = form == base::Format::kTable || form == base::Format::kMarkdown;
    if (people) print(paragraph(heading(options, first.job)) + "\n");
    print_ranked(plans, options, form);
    if (people && options.tables.wanted())
      print("\n" + paragraph("memory of " + describe(first.job)) + "\n" + memory_text(memory_of(first), form));
  }
  const auto large = static_cast<std::size_t>(std::ranges::count(plans, true, &TriedPlan::too_large));
  const std::size_t good = trnsim::by_time(plans).size();
  base::log_info("{}: {} fit, {} do not, {} cannot be formed; {} were compiled. --refused prints the reasons",
                 base::counted(plans.size(), "plan"), good, large, plans.size() - good - large, plans.size() - untried);
}

}  // namespace

void add_plan(CLI::App& app) {
  auto options = std::make_shared<PlanOptions>();
  app.add_option("MODEL", options->model, "a model by name (llama2-7b), or a Hugging Face folder")->required();
  add_count(app, "--global_batch_size", options->batch, "sequences of an optimizer step, over all cores");
  add_count(app, "--sequences,--samples", options->sequences,
            "sequences of the whole job; adds the time and the dollars of its steps");
  add_counts(
      app, "--micro_batch_sizes", options->micro_batches,
      "sequences of a micro-batch to try (1,2,4); default: --per_device_train_batch_size, or without it up to 8 of "
      "an encoder and 1 of a decoder");
  add_count(app, "--limit", options->limit, "number of plans to show");
  app.add_flag("--refused", options->refused, "print the refused plans instead, each with its reason");
  add_tables_flag(app, options->tables.asked);
  add_settings(app, "plan", options->settings);
  app.final_callback([options, &app] {
    finish_settings(app, "plan", options->settings);
    if (!options->settings.given.contains("instance_type")) options->settings.machine.instance_type = "trn1.32xlarge";
    if (!options->settings.given.contains("per_device_train_batch_size"))
      options->settings.training.per_device_train_batch_size = 1;
    plan(*options);
  });
}

}  // namespace cli
