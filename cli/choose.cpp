// `trnsim choose NAME`: the instances, the plan and the batch for a job, by dollars and by time.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>

#include "base/error.h"
#include "base/log.h"
#include "base/progress.h"
#include "base/table.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/add_count.h"
#include "cli/choose_requests.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/serve.h"
#include "cli/tables.h"
#include "cli/verbs.h"
#include "trnsim/job/settings.h"
#include "trnsim/plans/answer.h"
#include "trnsim/plans/choose.h"
#include "trnsim/run/buyers_job.h"

namespace cli {
namespace {

using base::Error;
using base::Fault;
using trnsim::Choice;

struct ChooseOptions {
  trnsim::Settings settings;
  trnsim::ChoiceSpace space;
  std::string name, within;
  double samples = 0, under = 0;
  Tables tables;
};

std::string flags_of_change(const trnsim::Change& change) {
  std::string out;
  for (const auto& [name, value] : change.settings)
    out += fmt::format("{}--{}{}", out.empty() ? "" : " ", name, value == "true" ? "" : " " + value);
  return out;
}

std::string place_of(const Choice& choice) {
  return fmt::format("{} x {}, {}, {} sequences a step: {}", choice.job.instances(), choice.job.machine.name,
                     base::counted(choice.job.cores(), "core"), choice.job.step.plan.sequences_per_step(),
                     describe(choice.job));
}

std::string price_of(const Choice& choice) {
  return fmt::format("{} in {}", dollars(choice.change.dollars), base::duration_text(choice.change.seconds));
}

/// The user's own flags of the job, as typed, without those that the choice sets.
std::string own_flags(const ChooseOptions& options) {
  std::string out;
  for (const std::string& word : typed_job_flags("choose", options.settings)) out += " " + word;
  return out;
}

/// The command that shows a choice for a job of `model`: `estimate` where the user named the model itself.
std::string command_of(const ChooseOptions& options, const Choice& choice, const std::string& model) {
  std::string out = fmt::format("trnsim run {} --mode timed", options.name);
  if (options.name == model) out = "trnsim estimate " + model;
  if (options.samples > 0) out += fmt::format(" --sequences {:.0f}", options.samples);
  return fmt::format("{}{} {}", out, own_flags(options), flags_of_change(choice.change));
}

/// The command that starts the job on the real instances: torchrun with the arguments of optimum-neuron's scripts.
std::string launch_line(const Choice& choice, const std::string& model) {
  const trnsim::Job& job = choice.job;
  const runtime::Plan& plan = job.step.plan;
  std::string out = fmt::format("torchrun --nproc_per_node {}", job.cores() / job.instances());
  if (job.instances() > 1)
    out += fmt::format(" --nnodes {} --rdzv_backend c10d --rdzv_endpoint $HEAD:29500", job.instances());
  out +=
      fmt::format(" train.py --model_name_or_path {} --per_device_train_batch_size {} --gradient_accumulation_steps {}",
                  model, plan.micro_batch, plan.micro_batches);
  if (job.model->splits() || plan.tensor > 1) out += fmt::format(" --tensor_parallel_size {}", plan.tensor);
  if (job.model->splits()) out += fmt::format(" --pipeline_parallel_size {}", plan.pipeline);
  if (const auto lora = job.model->lora())
    out += fmt::format(" --lora_r {} --lora_alpha {:g}", lora->rank, lora->alpha);
  if (plan.zero1) out += " --zero_1";
  if (plan.recompute == runtime::Recompute::kFull) out += " --gradient_checkpointing";
  if (plan.recompute == runtime::Recompute::kSelective) out += " --recompute selective";
  if (plan.numerics.name.starts_with("bf16")) out += " --bf16";
  return job.model->fixed_length() > 0 ? out : out + fmt::format(" --max_length {}", job.step.kind.length);
}

void print_choice(const ChooseOptions& options, const char* name, const Choice& choice, const std::string& model) {
  print(paragraph(fmt::format("{}: {} on {}", name, price_of(choice), place_of(choice))));
  print(paragraph("  see: " + command_of(options, choice, model)));
  print(paragraph("  launch: " + launch_line(choice, model)));
}

/// The best of another instance type, by `better`.
template <class Better>
const Choice* next_type(const std::vector<Choice>& choices, const Choice& best, Better better) {
  const Choice* next = nullptr;
  for (const Choice& c : choices)
    if (c.fits && c.change.dollars && c.job.machine.name != best.job.machine.name && (!next || better(c, *next)))
      next = &c;
  return next;
}

void print_reasons(const std::vector<Choice>& choices, const Choice& cheapest, const Choice& fastest) {
  const auto cheaper = [](const Choice& a, const Choice& b) { return *a.change.dollars < *b.change.dollars; };
  const auto faster = [](const Choice& a, const Choice& b) { return a.change.seconds < b.change.seconds; };
  const auto why = [&](const char* name, const Choice& best, const Choice* next) {
    std::string out = fmt::format("why {}: a step takes {}, bound by {}", name,
                                  base::readable(best.step_seconds, base::Dimension::kTime), best.binds);
    if (next)
      out += fmt::format("; the next instance type, {}, needs at best {}", next->job.machine.name, price_of(*next));
    print(paragraph(out));
  };
  why("the cheapest", cheapest, next_type(choices, cheapest, cheaper));
  why("the fastest", fastest, next_type(choices, fastest, faster));
}

base::Table choice_table(const std::vector<Choice>& choices, const std::vector<std::size_t>& shown, bool people) {
  std::vector<base::Column> columns{{"dollars", "", base::Align::kRight},    {"seconds", "time", base::Align::kRight},
                                    {"instances", "n", base::Align::kRight}, {"instance_type", "instance"},
                                    {"cores", "", base::Align::kRight},      {"plan", ""}};
  if (!people) columns.insert(columns.end(), {{"hbm_bytes", ""}, {"binds", ""}, {"flags", ""}});
  base::Table table{std::move(columns)};
  for (const std::size_t i : shown) {
    const Choice& c = choices[i];
    std::vector<base::Cell> row{base::Cell{*c.change.dollars, dollars(c.change.dollars)},
                                base::Cell{c.change.seconds, base::duration_text(c.change.seconds)},
                                c.job.instances(),
                                c.job.machine.name,
                                c.job.cores(),
                                describe(c.job)};
    if (!people)
      row.insert(row.end(), {base::Cell{c.memory}, base::Cell{c.binds}, base::Cell{flags_of_change(c.change)}});
    table.add_row(std::move(row));
  }
  return table;
}

/// Errors: Fault::kCapacity when nothing fits, or nothing within the limits.
[[noreturn]] void refuse(const ChooseOptions& options, const std::vector<Choice>& choices) {
  const auto front = front_of(choices);
  if (front.empty())
    throw Error{Fault::kCapacity, options.name, fmt::format("none of {} fits", base::counted(choices.size(), "choice")),
                "allow more --instances, a shorter --max_length, or --lora_r 16"};
  throw Error{Fault::kCapacity, options.name,
              fmt::format("nothing is within these limits: the cheapest is {}, the fastest {}",
                          price_of(choices[front.front()]), price_of(choices[front.back()])),
              "raise --within or --under, or allow more --instances"};
}

/// Errors: Fault::kUsage for a flag of a training.
void require_requests(const ChooseOptions& options) {
  const trnsim::ChoiceSpace none;
  const char* flag = options.space.batches != none.batches               ? "--global_batch_size"
                     : options.space.micro_batches != none.micro_batches ? "--micro_batch_sizes"
                     : options.space.nnodes != none.nnodes               ? "--instances"
                     : options.under > 0                                 ? "--under"
                                                                         : nullptr;
  if (flag)
    throw Error{Fault::kUsage, flag, "applies to training, and --task inference sends requests to a trained model",
                "leave it out; requests take --batch_size and --within"};
}

void choose_serving(const ChooseOptions& options, const std::string& model, const trnsim::Settings& settings) {
  require_requests(options);
  choose_requests({.model = model,
                   .settings = settings,
                   .instance_types = options.space.instance_types,
                   .requests = options.samples,
                   .within = options.within,
                   .tables = options.tables});
}

/// The settings of requests to the model of a workload that writes text: its prompt, new tokens and stack. How many
/// cores share a copy, and how many texts are written at once, is chosen.
trnsim::Settings requests_of(const trnsim::JobSource& source, const trnsim::Job& job) {
  trnsim::Settings out = source.settings;
  out.given.erase("mode");
  for (const auto& [name, value] : {std::pair{"task", std::string{trnsim::kInference}},
                                    {"prompt_length", std::to_string(job.generation->prompt_tokens)},
                                    {"max_new_tokens", std::to_string(job.generation->new_tokens)},
                                    {"stack", job.stack}}) {
    set_option(out, trnsim::find_setting(name, "setting of a workload"), value);
    out.given.insert(name);
  }
  return out;
}

void choose(const ChooseOptions& options) {
  if (options.settings.data.task == trnsim::kInference) return choose_serving(options, options.name, options.settings);
  const base::Format form = base::parse_format(options.settings.output.format);
  const double within = seconds_in(options.within);
  const trnsim::JobSource source =
      trnsim::job_source(options.name, options.settings, options.samples,
                         [](const std::string& note) { base::log(base::LogLevel::kWarning, flags_in(note)); });
  if (const trnsim::Job job = source.job_of(source.settings); job.generation)
    return choose_serving(options, source.model, requests_of(source, job));
  trnsim::ChoiceSpace space = options.space;
  if (space.batches.empty()) space.batches = {source.batch};
  std::vector<Choice> choices = choices_of(source.settings, source.job_of, space);
  project_choices(choices, processes_of(options.settings), uneven_progress_of("choose", "choice"));
  const auto cheapest = cheapest_of(choices, within), fastest = fastest_of(choices, options.under);
  if (!cheapest || !fastest) refuse(options, choices);
  const bool people = form == base::Format::kTable;
  if (people) {
    print_choice(options, "cheapest", choices[*cheapest], source.model);
    if (options.tables.wanted())
      print_choice(options, "fastest", choices[*fastest], source.model);
    else  // its commands are those of the cheapest with other flags, which the tables have
      print(paragraph(fmt::format("fastest: {} on {}", price_of(choices[*fastest]), place_of(choices[*fastest]))));
    print_reasons(choices, choices[*cheapest], choices[*fastest]);
    if (!options.tables.wanted()) return print_next("the command after 'see', or --tables for the whole Pareto front");
    print("\n");
  }
  print(choice_table(choices, front_of(choices), people).render(form, columns()));
  base::log_info("{} of {} were projected, {} fit; the others cannot be cheaper or faster",
                 std::ranges::count_if(choices, [](const Choice& c) { return c.fits || c.memory > 0; }),
                 base::counted(choices.size(), "choice"), std::ranges::count_if(choices, &Choice::fits));
}

}  // namespace

void add_choose(CLI::App& app) {
  auto options = std::make_shared<ChooseOptions>();
  app.add_option("NAME", options->name, "a model (a name, or a Hugging Face folder), or a workload")->required();
  add_count(app, "--samples,--sequences", options->samples,
            "training samples of the whole job, for a model; with --task inference, requests");
  app.add_option("--within", options->within,
                 "longest time for the cheapest choice, as in 8h or 0:30:00; with --task inference for an answer, as "
                 "in \"20 ms\"");
  add_amount(app, "--under", options->under, "most dollars for the fastest choice");
  app.add_option("--instance_types", options->space.instance_types,
                 "instance types to try, with commas [all with a price]")
      ->delimiter(',');
  add_counts(app, "--instances", options->space.nnodes, "numbers of instances to try, with commas");
  add_counts(app, "--global_batch_size", options->space.batches,
             "sequences of an optimizer step to try, with commas [the workload's; 64 of a model]");
  add_counts(app, "--micro_batch_sizes", options->space.micro_batches,
             "sequences of a micro-batch to try, with commas");
  add_tables_flag(app, options->tables.asked);
  act_with_settings(app, "choose", options, choose);
}

}  // namespace cli
