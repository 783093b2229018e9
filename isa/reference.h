// The instruction table for readers: `trnsim list isa`, docs/isa.md.
#pragma once

#include <string>

#include "base/table.h"

namespace isa {

/// One row per instruction: name, engines, cost in cycles of the engine, limits, source, note.
base::Table reference();

/// docs/isa.md: the meaning of the cost column, then the table.
std::string reference_markdown();

}  // namespace isa
