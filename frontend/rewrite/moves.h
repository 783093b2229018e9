// Moves of values between ranks, and a rank's own number, as functions of the collectives that the machine has.
#pragma once

#include "frontend/graph/graph.h"
#include "frontend/rewrite/composer.h"

namespace trnsim::frontend {

/// collective_permute, collective_broadcast or collective_reduce between processes that the module has.
bool is_move(const Module& module, const Node& node);
void compute_move(Composer& c);

bool is_rank_number(const Node& node);
/// [] ui32: each rank takes its part of a table, which costs a collective.
void compute_rank_number(Composer& c);

}  // namespace trnsim::frontend
