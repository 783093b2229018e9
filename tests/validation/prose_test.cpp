// A prediction depends on the columns of a table, never on the wording of its source and its notes.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <random>
#include <set>

#include "base/csv.h"
#include "validation/predict/validate.h"

namespace validation {
namespace {

/// As many words, all of them others. Some would have been guessed from.
std::string other_words(const std::string& cell, std::mt19937& random) {
  static const std::vector<std::string> kWords = {
      "github",        "2031",         "optimum-neuron 0.9", "timed steps", "MLM",  "lorem",
      "community run", "3000 samples", "not published",      "ipsum",       "dolor"};
  std::string out;
  for (std::size_t i = 0; i <= static_cast<std::size_t>(std::ranges::count(cell, ' ')); ++i)
    out += (i > 0 ? " " : "") + kWords[random() % kWords.size()];
  return out;
}

std::string reworded(const std::filesystem::path& path) {
  const base::CsvTable table = base::read_csv(path);
  std::mt19937 random{7};
  const auto line = [](const std::vector<std::string>& cells) {
    std::string out;
    for (const std::string& cell : cells) out += (out.empty() ? "" : ",") + base::csv_cell(cell);
    return out + "\n";
  };
  std::string text = line(table.header);
  for (const base::CsvRecord& record : table.records) {
    std::vector<std::string> cells = record.cells;
    for (std::size_t i = 0; i < cells.size(); ++i)
      if (table.header[i] == "source" || table.header[i] == "notes") cells[i] = other_words(cells[i], random);
    text += line(cells);
  }
  return text;
}

/// Predictions of the rows that take no time to predict.
std::vector<Comparison> quick_predictions(const std::vector<Row>& rows) {
  static const std::set<std::string> kQuick = {"compile", "launch", "host", "collective", "instruction"};
  std::vector<Row> some;
  for (const Row& row : rows)
    if (kQuick.contains(row.kind) || row.id == "emotion_128" || row.id == "vit_mnist") some.push_back(row);
  return validate(some, predict_context(trnsim::Settings{})).report.rows;
}

TEST(Prose, AnotherWordingOfSourceAndNotesChangesNoPrediction) {
  std::size_t predicted = 0;
  for (const auto& entry : std::filesystem::directory_iterator{TRNSIM_SOURCE_DIR "/validation/tables"}) {
    if (entry.path().extension() != ".csv") continue;
    const std::vector<Row> as_is = load_validation(entry.path());
    const std::vector<Row> other = parse_validation(reworded(entry.path()), entry.path().filename());
    // All that a predictor is given is the same...
    EXPECT_EQ(as_is, other) << entry.path();
    // ... and so are its answers.
    const std::vector<Comparison> before = quick_predictions(as_is), after = quick_predictions(other);
    for (std::size_t i = 0; i < before.size(); ++i) {
      EXPECT_EQ(before[i].predicted, after[i].predicted) << before[i].id;
      EXPECT_EQ(before[i].untold, after[i].untold) << before[i].id;
      predicted += before[i].predicted.has_value();
    }
  }
  EXPECT_GT(predicted, 45u);
}

}  // namespace
}  // namespace validation
