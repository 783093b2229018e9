// A job and its projection as figures: the values that result.json, tables, sweeps and Python show.
#pragma once

#include <optional>
#include <vector>

#include "analysis/figures/figures.h"
#include "trnsim/plans/answer.h"
#include "trnsim/projection.h"

namespace trnsim {

/// All figures that follow from the job and its projection.
analysis::Figures figures_of(const Job& job, const Projection& projection);
/// Device memory by kind and in the compiler's words.
analysis::MemoryFigures figures_of(const Memory& memory);
/// Sentences, and the changes with their settings and gains.
analysis::AnswerFigures figures_of(const Answer& answer, const std::optional<std::vector<Change>>& changes);

}  // namespace trnsim
