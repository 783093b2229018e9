#include "trnsim/plans/serving.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "analysis/cost/cost.h"
#include "base/error.h"
#include "base/text.h"
#include "hw/params.h"
#include "trnsim/generate/generation_time.h"
#include "trnsim/job/settings.h"
#include "trnsim/plans/advice.h"
#include "trnsim/plans/placement.h"
#include "trnsim/plans/point_metrics.h"
#include "trnsim/plans/possible.h"
#include "trnsim/project/memory.h"
#include "trnsim/project/same_device.h"
#include "workloads/models/model.h"

namespace trnsim {
namespace {

using base::Error;
using base::Fault;

constexpr const char *kLatency = "latency", *kFirstToken = "first_token";

/// Prices a copy's times on its instance.
void price(Served& one) {
  const bool writes = writes_text(*one.job.model);
  const auto of_request =
      static_cast<double>(writes ? one.job.generation->new_tokens : one.job.generation->prompt_tokens);
  one.requests = one.at_once() / one.latency;
  // In the order of work_figures() and of a generation's own dollars: verbs agree to the last digit.
  const double tokens = one.job.sequences_per_step() * of_request;
  one.tokens = tokens / one.latency * copies_of(one.job);
  if (!one.job.price_per_hour) return;
  const double dollars = *generation_dollars(one.job, one.latency);
  one.dollars = dollars / one.job.sequences_per_step() * 1e6;
  one.token_dollars = analysis::per_million(dollars, tokens);
}

Settings with_batch(Settings settings, std::int64_t batch) {
  settings.generation.batch_size = batch, settings.given.insert("batch_size");
  return settings;
}

/// Instances whose cores are the same, with one number of cores for a copy: entries by instance, each with all batches.
struct Alike {
  std::int64_t tensor = 1;
  std::vector<std::vector<Served>> entries;
};

class Everywhere {
 public:
  Everywhere(const std::string& model, const Settings& settings, const ServingSpace& space)
      : model_{load_model_config(model)}, settings_{settings}, space_{space} {
    refuse_texts(settings, kNoTexts);
    for (const std::string& name : space.instance_types.empty() ? priced_machines() : space.instance_types) {
      const hw::MachineParams machine = hw::load_machine(name, settings.machine.set);
      for (const std::int64_t tensor : degrees(machine)) add(machine, tensor);
    }
  }

  std::vector<Alike> take() {
    if (alike_.empty() && problem_) throw Error{*problem_};
    return std::move(alike_);
  }

 private:
  std::vector<std::int64_t> degrees(const hw::MachineParams& machine) const {
    if (!space_.tensor.empty()) return space_.tensor;
    std::vector<std::int64_t> out{1};
    if (model_->shares_tensors())
      while (2 * out.back() <= machine.instance_cores()) out.push_back(2 * out.back());
    if (model_->shares_tensors() && out.back() < machine.instance_cores()) out.push_back(machine.instance_cores());
    return out;
  }

  void add(const hw::MachineParams& machine, std::int64_t tensor) {
    // Copies of one core are looked at together: they share the memory of their chip.
    Change place{.settings = {{"instance_type", machine.name}}, .text = ""};
    if (model_->splits())
      place.settings.insert(place.settings.end(), {{"nproc_per_node", std::to_string(tensor)},
                                                   {"tensor_parallel_size", std::to_string(tensor)}});
    else if (tensor > 1)
      place.settings.emplace_back("tensor_parallel_size", std::to_string(tensor));
    std::vector<Served> entries;
    try {
      for (const std::int64_t batch : space_.batches)
        entries.push_back({.job = job_of(with_batch(changed(settings_, place), batch), model_, 0), .memory = {}});
    } catch (const Error& error) {  // the model does not divide so, or the instance has not as many cores
      if (!problem_) problem_ = error;
      return;
    }
    if (entries.empty()) return;
    if (const auto problem = possible(entries.front().job)) {
      if (!problem_)
        problem_ =
            Error{Fault::kCapacity, machine.name, problem->text, "name other `instance_types`, or a smaller model"};
      return;
    }
    const auto same = std::ranges::find_if(alike_, [&](const Alike& other) {
      const Job &one = entries.front().job, &there = other.entries.front().front().job;
      return one.cores() == there.cores() && other.tensor == tensor && same_device(there.machine, machine, one.cores());
    });
    if (same == alike_.end())
      alike_.push_back({.tensor = tensor, .entries = {std::move(entries)}});
    else
      same->entries.push_back(std::move(entries));
  }

  workloads::ModelPtr model_;
  const Settings& settings_;
  const ServingSpace& space_;
  std::vector<Alike> alike_;
  std::optional<Error> problem_;
};

analysis::Metrics measured(const std::vector<Served>& batches, bool exact) {
  analysis::Metrics out;
  for (std::size_t b = 0; b < batches.size(); ++b) {
    const Projection p = project_if_it_fits(batches[b].job, {.exact = exact, .in_child = false});
    out[name_of(b, kMemory)] = static_cast<double>(p.memory.total);
    if (!p.memory.fits()) break;
    out[name_of(b, kLatency)] = p.time.total, out[name_of(b, kFirstToken)] = p.generation->first_token;
  }
  return out;
}

void note(std::vector<Served>& batches, const analysis::Metrics& metrics) {
  for (std::size_t b = 0; b < batches.size(); ++b) {
    const auto memory = metrics.find(name_of(b, kMemory));
    if (memory == metrics.end()) {
      batches.resize(b);
      return;
    }
    Served& one = batches[b];
    one.memory.total = static_cast<std::uint64_t>(memory->second);
    one.memory.capacity = one.job.machine.hbm_bytes_per_core();
    if (!one.fits()) continue;
    one.latency = metrics.at(name_of(b, kLatency)), one.first_token = metrics.at(name_of(b, kFirstToken));
    price(one);
  }
}

}  // namespace

Served served_of(const Job& job, const Projection& projection) {
  Served out{.job = job, .memory = projection.memory};
  if (!out.fits()) return out;
  out.latency = projection.time.total, out.first_token = projection.generation->first_token;
  price(out);
  return out;
}

Served served_of(const TriedPlan& plan) {
  Served out{.job = plan.job, .memory = {.total = plan.memory, .capacity = plan.job.machine.hbm_bytes_per_core()}};
  out.latency = plan.total;
  price(out);
  return out;
}

std::int64_t Served::copies() const {
  return job.generation && job.generation->new_tokens == 0 ? job.step.plan.data
                                                           : static_cast<std::int64_t>(copies_of(job));
}

std::vector<Served> serve(const std::string& name, const Settings& settings, const std::vector<std::int64_t>& batches) {
  const workloads::ModelPtr model = load_model_config(name);
  refuse_texts(settings, kNoTexts);
  std::vector<Served> out;
  for (const std::int64_t batch : batches) {
    const Job job = job_of(with_batch(settings, batch), model, 0);
    out.push_back(served_of(job, project_if_it_fits(job, {.exact = settings.machine.exact})));
  }
  return out;
}

std::string tokens_read(const Job& job) {
  const char* of = job.model->sound() ? "a sound of " : job.model->image() ? "a picture of " : "";
  return fmt::format("{}{} read", of, base::counted(job.generation->prompt_tokens, "token"));
}

std::string describe(const Served& served) {
  const PromptAndTokens& asked = *served.job.generation;
  return fmt::format("{} of {}, batch {}, {}{}", base::counted(served.copies(), "copy"),
                     base::counted(served.cores_of_copy(), "core"), served.job.step.plan.micro_batch,
                     tokens_read(served.job),
                     writes_text(*served.job.model) ? fmt::format(" and {} written", asked.new_tokens) : "");
}

const Served* most_within(const std::vector<Served>& served, double seconds) {
  const Served* best = nullptr;
  for (const Served& one : served)
    if (one.fits() && (seconds <= 0 || one.latency <= seconds) && (!best || one.requests > best->requests)) best = &one;
  return best;
}

std::vector<Served> serve_everywhere(const std::string& model, const Settings& settings, const ServingSpace& space,
                                     int processes, const analysis::SweepWatch& watch) {
  std::vector<Alike> alike = Everywhere{model, settings, space}.take();
  std::vector<analysis::SweepPoint> points;
  for (std::size_t i = 0; i < alike.size(); ++i) points.push_back({{"cores", std::to_string(i)}});
  const auto number = [](const analysis::SweepPoint& point) { return std::stoull(point.front().second); };
  const auto evaluate = [&](const analysis::SweepPoint& point) {
    return measured(alike[number(point)].entries.front(), settings.machine.exact);
  };
  const analysis::SweepRun run =
      analysis::run_sweep(points, {.hash = number, .evaluate = evaluate}, ":memory:", processes, {}, watch);
  if (run.interrupted)
    throw Error{Fault::kUsage, model, "was interrupted", "let it finish, or name fewer `instance_types`"};
  std::vector<Served> out;
  for (std::size_t i = 0; i < alike.size(); ++i)
    for (std::vector<Served>& batches : alike[i].entries) {
      note(batches, run.results[i].metrics);
      std::ranges::move(batches, std::back_inserter(out));
    }
  return out;
}

std::vector<std::size_t> serving_front(const std::vector<Served>& served, double seconds) {
  std::vector<std::size_t> order, front;
  for (std::size_t i = 0; i < served.size(); ++i)
    if (served[i].fits() && served[i].dollars && (seconds <= 0 || served[i].latency <= seconds)) order.push_back(i);
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return std::pair{*served[i].dollars, served[i].latency}; });
  double soonest = std::numeric_limits<double>::infinity();
  for (const std::size_t i : order) {
    if (served[i].latency >= soonest) continue;
    soonest = served[i].latency;
    front.push_back(i);
  }
  return front;
}

}  // namespace trnsim
