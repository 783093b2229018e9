// Requests to a trained model behind one instance, and behind every kind of instance: latency, throughput, dollars.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/sweep/sweep.h"
#include "trnsim/projection.h"
#include "trnsim/search.h"

namespace trnsim {

/// A model behind one instance, with requests of one batch size: as many copies of the model as its cores hold, each of
/// which answers one batch after the other.
struct Served {
  Job job;  // of one copy, or of copies that share an instance's cores evenly
  Memory memory;
  double latency = 0;                     // s from a batch to its last answer
  double first_token = 0;                 // s, of a model that writes
  double requests = 0;                    // per second and instance
  double tokens = 0;                      // new ones per second and instance, of a model that writes; else those read
  std::optional<double> dollars{};        // of a million requests
  std::optional<double> token_dollars{};  // of a million of these tokens

  bool fits() const { return memory.fits(); }
  std::int64_t cores_of_copy() const { return job.step.plan.tensor * job.step.plan.pipeline; }
  /// Models that do not write have their copies in the plan: as many as cores, or as `nproc_per_node` says.
  std::int64_t copies() const;
  /// Requests that one instance works on: each copy has a batch.
  double at_once() const { return static_cast<double>(copies() * job.step.plan.micro_batch); }
  /// Until so many requests, all there from the beginning, are answered on `instances`: one batch's time at least.
  double seconds_of(double count, int instances = 1) const { return std::max(latency, count / (requests * instances)); }
};

/// "128 tokens read", "a sound of 1500 tokens read".
std::string tokens_read(const Job& job);
/// "32 copies of 1 core, batch 8, 128 tokens read and 128 written".
std::string describe(const Served& served);

/// The answers of a job as it was projected. `memory` alone, where that does not fit.
Served served_of(const Job& job, const Projection& projection);
/// The same of a generation's plan that has a time; its first token's is not known.
Served served_of(const TriedPlan& plan);
/// One entry for each batch size, in their order. `settings`: of generation_settings() with the setting `task`
/// inference. Errors: as job_of() and project_if_it_fits().
std::vector<Served> serve(const std::string& model, const Settings& settings, const std::vector<std::int64_t>& batches);
/// The entry with most requests per second whose latency is within `seconds` (0: any); null: none is.
const Served* most_within(const std::vector<Served>& served, double seconds);

/// Why settings of texts are refused.
inline constexpr std::string_view kNoTexts = "applies to texts, but these requests are only numbers of tokens";

/// The choices that serve_everywhere() tries.
struct ServingSpace {
  std::vector<std::string> instance_types{};  // empty: every machine that has a price, those for inference alone too
  std::vector<std::int64_t> tensor{};         // cores that share a copy; empty: powers of two, and all of an instance
  std::vector<std::int64_t> batches{};        // rising
};

/// serve() on each instance type with each number of cores for a copy. Cores that are the same are simulated once;
/// `processes` child processes share the work. Larger batches than one that does not fit are left out. Errors: as
/// job_of(), when no instance type can have the job; Fault::kUsage after Ctrl-C.
std::vector<Served> serve_everywhere(const std::string& model, const Settings& settings, const ServingSpace& space,
                                     int processes, const analysis::SweepWatch& watch = {});

/// Numbers of the entries that fit, have a price and are answered within `seconds` (0: any), of which no other one is
/// both cheaper for a million requests and sooner: the cheapest first, the soonest last.
std::vector<std::size_t> serving_front(const std::vector<Served>& served, double seconds = 0);

}  // namespace trnsim
