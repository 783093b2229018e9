// The sections of a run's page, each with one question, its picture, and its tables folded below it.
#pragma once

#include <string>
#include <string_view>

#include "analysis/report/report.h"

namespace analysis {

/// The question that a picture answers, with the words that it needs.
std::string question(std::string_view text);
/// A library's sentence: settings in backquotes become flags.
std::string sentence_html(std::string_view text);
/// Settings of a change as they are pasted: "--a 1 --b 2".
std::string flags_of(const Named<std::string>& settings);

/// Where the time of the job and of a device step goes; tables by phase, layer, block, instruction and op.
std::string time_html(const ReportRun& run, std::string_view id);
/// Everything of a step on a time line that zooms.
std::string timeline_html(const ReportRun& run);
std::string engines_html(const ReportRun& run);
/// Layers and cores, drawn where they differ.
std::string layers_html(const ReportRun& run);
std::string roofline_html(const ReportRun& run, std::string_view id);
std::string memory_html(const ReportRun& run);
std::string collectives_html(const ReportRun& run);
std::string curves_html(const ReportRun& run);
/// Measured figures beside the predicted ones; empty when this very job was not published.
std::string published_html(const ReportRun& run);
std::string what_if_html(const ReportRun& run);
std::string cost_html(const ReportRun& run);

}  // namespace analysis
