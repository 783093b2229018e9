// Requests to a model that reads and does not write: an encoder, a classifier, a model of pictures. Each core answers a
// batch of its own; the graph is traced ahead, as torch_neuronx.trace() does, so the host launches it and waits.
#pragma once

#include <string>
#include <vector>

#include "trnsim/projection.h"

namespace trnsim {

/// A job without new tokens: PromptAndTokens::new_tokens is 0. Errors: as project_generation().
Projection project_inference(const Job& job, const ProjectOptions& options);
/// The times of the whole job from that of its program on the device.
void time_inference(const Job& job, Projection& projection);

/// A model behind one instance, with requests of one batch size: as many copies of the job as its cores hold, each of
/// which answers one batch after the other.
struct Served {
  Job job;
  Projection projection;                  // of one copy; when it does not fit: the memory alone
  double latency = 0;                     // s from a batch to its last answer
  double first_token = 0;                 // s, of a model that writes
  double requests = 0;                    // per second and instance
  double tokens = 0;                      // new ones per second and instance, of a model that writes; else those read
  std::optional<double> dollars{};        // of a million requests
  std::optional<double> token_dollars{};  // of a million of these tokens

  bool fits() const { return projection.memory.fits(); }
};

/// One entry for each batch size, in their order. `settings`: of generation_settings() with the setting `task`
/// inference. Errors: as job_of() and project_if_it_fits().
std::vector<Served> serve(const std::string& model, const Settings& settings, const std::vector<std::int64_t>& batches);
/// The entry with most requests per second whose latency is within `seconds`; null: none is.
const Served* most_within(const std::vector<Served>& served, double seconds);

}  // namespace trnsim
