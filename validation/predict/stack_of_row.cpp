#include "validation/predict/stack_of_row.h"

#include <regex>

#include "analysis/host/stack.h"
#include "base/text.h"

namespace trnsim {
namespace {

std::string words_of_row(const analysis::Row& row) { return base::lower(row.source + " " + row.notes); }

/// The number behind `pattern`'s group, or 0.
int number_in(const std::string& text, const std::regex& pattern) {
  std::smatch found;
  return std::regex_search(text, found, pattern) ? std::stoi(found[1]) : 0;
}

bool is_recent(const std::string& text) {
  static const std::regex kSdk{R"(sdk 2\.(\d{1,3}))"}, kOptimum{R"(optimum-neuron (?:v)?0\.(\d{1,3}))"},
      kYear{R"(\b(20[23]\d)\b)"};
  if (const int minor = number_in(text, kSdk)) return minor >= 26;
  if (const int minor = number_in(text, kOptimum)) return minor >= 2;
  if (const int year = number_in(text, kYear)) return year >= 2025;
  return text.find("github") != std::string::npos;
}

}  // namespace

std::string stack_of(const analysis::Row& row) {
  const std::string named = analysis::stack_for(std::get<analysis::TrainingRow>(row.job).stack),
                    text = words_of_row(row);
  if (!is_recent(text) || (named != "torch-xla" && named != "hf-trainer")) return named;
  return text.find("optimum") != std::string::npos ? "optimum-neuron" : "torch-xla-2025";
}

bool is_trial(const analysis::Row& row) { return words_of_row(row).find("community run") != std::string::npos; }

}  // namespace trnsim
