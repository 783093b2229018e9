// stdout: data only. Messages go to stderr through base/log.h.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"

namespace cli {

/// The reader of our stdout has gone (`trnsim list isa | head -1`): main() ends silently.
struct ClosedPipe {};

/// Writes all of `text` to stdout. Errors: ClosedPipe; Fault::kEnvironment when stdout cannot take it (disk full).
void print(std::string_view text);
/// Columns of the terminal that shows stdout, or $COLUMNS where it is exported; 0: unknown.
int columns();

/// Rows of the terminal that shows stdout; 0: unknown.
int rows();

/// Whether a person sees stdout at once: a terminal, whose rows are few.
bool on_terminal();
/// Whether an answer's tables are printed: always unless a terminal shows the output, and there by --tables.
struct Tables {
  bool asked = false;

  bool wanted() const { return asked || !on_terminal(); }
};
/// The last line on a terminal, which says what to do next; elsewhere nothing.
void print_next(const std::string& text);

/// The error of a stdout that took less than was printed, where work for the disk went on all the same; none for a
/// reader that has gone.
std::optional<base::Error> lost_output();

/// Hands everything printed to the reader; the same errors.
void flush();

}  // namespace cli
