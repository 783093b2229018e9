// Requests to a model that reads and does not write: an encoder, a classifier, a model of pictures. Each core answers a
// batch of its own; the graph is traced ahead, as torch_neuronx.trace() does, so the host launches it and waits.
#pragma once

#include "trnsim/projection.h"

namespace trnsim {

/// A job without new tokens: PromptAndTokens::new_tokens is 0. Errors: as project_generation().
Projection project_inference(const Job& job, const ProjectOptions& options);
/// The times of the whole job from that of its program on the device.
void time_inference(const Job& job, Projection& projection);

}  // namespace trnsim
