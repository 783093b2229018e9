// Every figure that a run answers, with its one name: what result.json, tables, pages, exports, sweeps and Python call
// it.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

#include "analysis/figures/figures.h"

namespace analysis {

struct Figure {
  std::string_view section;  // of result.json: "job", "workload/model"
  std::string_view name;     // the same everywhere; no other figure has it
  std::string_view unit;     // "s", "%", "B", "$", "1/s", "FLOP", "FLOP/B", "share" (of 1), "1" (a plain number)
  std::string_view text;     // what it is
  std::string_view title;    // on a card of the report and in compare; empty: not shown there
  Maybe (*of)(const Figures&);
  void (*set)(Figures&, double) = nullptr;  // none: it follows from the others
};

std::span<const Figure> figure_table();
/// By its name or one that it had earlier ("samples_per_second", "cost"); null for an unknown name.
const Figure* find_figure(std::string_view name);
/// Those of the sections of a projection: what a sweep compares and Python shows.
std::map<std::string, double> projected_figures(const Figures& figures);
/// Those of a section that have a value, in the table's order.
std::vector<std::pair<const Figure*, double>> figures_of_section(const Figures& figures, std::string_view section);

/// "8:30", "170 ms", "$0.19", "41.2 %", "94.1": a figure of that unit for people.
std::string figure_text(std::string_view unit, double value);

}  // namespace analysis
