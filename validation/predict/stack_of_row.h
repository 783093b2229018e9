// The host software that a training row ran on: its name, and which release of it.
#pragma once

#include <string>

#include "validation/rows/rows.h"

namespace trnsim {

/// The stack that models the row's software. Rows seldom say which release: an SDK from 2.26 on, optimum-neuron from
/// 0.2 on, a year from 2025 on, or a repository as source, whose loops are younger than the published tables, mean
/// today's PyTorch. Empty when no stack models the name.
std::string stack_of(const analysis::Row& row);

/// Whether the row is of somebody's trial, whose samples/s count the whole run from its first step on, not of a
/// tutorial or a table.
bool is_trial(const analysis::Row& row);

}  // namespace trnsim
