// stdout: data only. Messages go to stderr through base/log.h.
#pragma once

#include <optional>
#include <string_view>

#include "base/error.h"

namespace cli {

/// The reader of our stdout has gone (`trnsim list isa | head -1`): main() ends silently.
struct ClosedPipe {};

/// Writes all of `text` to stdout. Errors: ClosedPipe; Fault::kEnvironment when stdout cannot take it (disk full).
void print(std::string_view text);
/// Columns of the terminal that shows stdout, or $COLUMNS where it is exported; 0: unknown.
int columns();

/// The error of a stdout that took less than was printed, where work for the disk went on all the same; none for a
/// reader that has gone.
std::optional<base::Error> lost_output();

/// Hands everything printed to the reader; the same errors.
void flush();

}  // namespace cli
