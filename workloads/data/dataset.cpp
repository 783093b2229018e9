#include "workloads/data/dataset.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "workloads/data/dataset_rows.h"
#include "workloads/text/utf8.h"

namespace workloads {
namespace {

using base::Error;
using base::Fault;
namespace fs = std::filesystem;

/// More classes than this in a file mean that the wrong column was taken for the label.
constexpr std::size_t kMostLabels = 1000;

struct Ending {
  std::string_view extension;
  TextFormat format;
};
constexpr std::array kEndings = {Ending{".csv", TextFormat::kCsv},         Ending{".tsv", TextFormat::kTsv},
                                 Ending{".jsonl", TextFormat::kJsonLines}, Ending{".json", TextFormat::kJsonLines},
                                 Ending{".txt", TextFormat::kSemicolon},   Ending{".conll", TextFormat::kConll}};

std::optional<TextFormat> format_of(const fs::path& file) {
  const auto at = std::ranges::find(kEndings, file.extension().string(), &Ending::extension);
  return at == kEndings.end() ? std::nullopt : std::optional{at->format};
}

TextFormat require_format(const fs::path& file, const ReadOptions& options) {
  if (options.format) return *options.format;
  if (const auto format = format_of(file)) return *format;
  throw Error{Fault::kUsage, file.string(), "has an extension of no known format",
              "rename or convert it to .csv, .tsv, .jsonl, .txt (text;label) or .conll"};
}

/// The rows of a file, with every different label kept once.
struct RawRows {
  struct Row {
    std::string text;
    std::vector<std::string> words;
    std::vector<std::uint32_t> labels;  // in `labels` below: one, or one of each word
    std::size_t line;
  };
  std::vector<Row> rows;
  std::vector<std::string> labels;
  std::vector<std::size_t> label_counts;
};

class DatasetReader {
 public:
  DatasetReader(const fs::path& file, const ReadOptions& options) : options_{options} {
    dataset_.source = file.string();
  }

  Dataset read() {
    read_rows();
    set_label_names();
    for (RawRows::Row& row : raw_.rows) resolve(row);
    if (!dataset_.samples.empty()) return std::move(dataset_);
    const std::string first =
        dataset_.problems.empty() ? "" : fmt::format("; the first: {}", describe(dataset_.problems[0]));
    throw Error{Fault::kData, dataset_.source,
                fmt::format("holds no usable row ({} malformed{})", dataset_.skipped, first),
                "give a file with at least one text and its label"};
  }

 private:
  static std::string describe(const RowProblem& problem) { return problem.where + ": " + problem.what; }

  void read_rows() {
    std::error_code error;
    const bool plain = fs::is_regular_file(dataset_.source, error);  // others are not read row by row
    std::ifstream file{plain ? dataset_.source : "", std::ios::binary};
    std::istringstream whole{plain ? "" : base::read_file(dataset_.source)};
    if (plain && !file)
      throw Error{Fault::kData, dataset_.source, "cannot be read", "check the path and its permissions"};
    std::istream& in = plain ? static_cast<std::istream&>(file) : whole;
    const RowSource source{in, dataset_.source, options_};
    const RowSink sink = [this](RawRow&& row) { return take(std::move(row)); };
    const TextFormat format = require_format(dataset_.source, options_);
    try {
      switch (format) {
        case TextFormat::kCsv: return read_csv_rows(source, sink);
        case TextFormat::kTsv: return read_tsv_rows(source, sink);
        case TextFormat::kJsonLines: return read_json_lines_rows(source, sink);
        case TextFormat::kSemicolon: return read_semicolon_rows(source, sink);
        case TextFormat::kConll: return read_conll_rows(source, sink);
      }
    } catch (const std::ios_base::failure&) {
      throw Error{Fault::kData, dataset_.source, "cannot be read to its end", "check the disk"};
    }
  }

  bool take(RawRow&& row) {
    if (row.problem.empty()) row.problem = problem_in(row);
    if (row.problem.empty())
      keep(std::move(row));
    else
      skip(row.line, row.problem);
    return options_.max_rows == 0 || raw_.rows.size() < options_.max_rows;
  }

  void keep(RawRow&& row) {
    RawRows::Row kept{std::move(row.text), std::move(row.words), {}, row.line};
    if (kept.words.empty()) row.word_labels = {row.label};
    for (const std::string& label : row.word_labels) kept.labels.push_back(label_index(label));
    raw_.rows.push_back(std::move(kept));
  }

  std::string problem_in(const RawRow& row) const {
    if (!raw_.rows.empty() && raw_.rows.front().words.empty() != row.words.empty())
      return "this row has a label for each word and others do not, or the reverse";
    if (!row.words.empty()) return problem_in_words(row);
    if (const auto at = first_invalid_utf8(row.text)) return fmt::format("byte {} of the text is not valid UTF-8", *at);
    if (first_invalid_utf8(row.label)) return "the label is not valid UTF-8";
    if (row.text.empty()) return "the text is empty";
    if (row.label.empty()) return "has no label";
    return {};
  }

  static std::string problem_in_words(const RawRow& row) {
    if (row.words.size() != row.word_labels.size())
      return fmt::format("has {} and {}", base::counted(row.words.size(), "word"),
                         base::counted(row.word_labels.size(), "label"));
    for (std::size_t i = 0; i < row.words.size(); ++i) {
      if (first_invalid_utf8(row.words[i])) return fmt::format("word {} is not valid UTF-8", i + 1);
      if (first_invalid_utf8(row.word_labels[i])) return "a label is not valid UTF-8";
      if (row.words[i].empty() || row.word_labels[i].empty())
        return fmt::format("word {} or its label is empty", i + 1);
    }
    return {};
  }

  std::uint32_t label_index(const std::string& label) {
    const auto [at, fresh] = seen_.emplace(label, static_cast<std::uint32_t>(raw_.labels.size()));
    if (fresh) {
      raw_.labels.push_back(label);
      raw_.label_counts.push_back(0);
    }
    if (raw_.labels.size() > kMostLabels) {
      throw Error{Fault::kData, dataset_.source,
                  fmt::format("has more than {} different labels, such as \"{}\"", kMostLabels, label),
                  "name the right column with label_column"};
    }
    ++raw_.label_counts[at->second];
    return at->second;
  }

  void skip(std::size_t line, std::string what) {
    RowProblem problem{fmt::format("{}:{}", dataset_.source, line), std::move(what)};
    if (options_.strict)
      throw Error{Fault::kData, problem.where, problem.what,
                  "correct the row, or leave out `strict` to skip such rows"};
    ++dataset_.skipped;
    if (dataset_.problems.size() < Dataset::kKeptProblems) dataset_.problems.push_back(std::move(problem));
  }

  static std::optional<std::int64_t> as_integer(std::string_view label) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(label.data(), label.data() + label.size(), value);
    return error == std::errc{} && end == label.data() + label.size() ? std::optional{value} : std::nullopt;
  }

  bool labels_are_ids() const {
    std::size_t ids = 0, all = 0;
    for (std::size_t i = 0; i < raw_.labels.size(); ++i) {
      all += raw_.label_counts[i];
      if (as_integer(raw_.labels[i])) ids += raw_.label_counts[i];
    }
    return 2 * ids > all;
  }

  void set_label_names() {
    std::vector<std::string>& names = dataset_.label_names;
    names = options_.label_names;
    if (!names.empty()) return;
    if (!labels_are_ids()) {
      names = raw_.labels;
      std::ranges::sort(names);
      if (std::ranges::is_permutation(names, emotion_label_names())) names = emotion_label_names();
      return;
    }
    std::int64_t largest = 0;
    for (const std::string& label : raw_.labels)
      if (const auto id = as_integer(label); id && *id < static_cast<std::int64_t>(kMostLabels))
        largest = std::max(largest, *id);
    for (std::int64_t id = 0; id <= largest; ++id) names.push_back(fmt::format("LABEL_{}", id));
  }

  void resolve(RawRows::Row& row) {
    const auto& names = dataset_.label_names;
    std::vector<std::int32_t> ids;
    for (const std::uint32_t index : row.labels) {
      const std::string& label = raw_.labels[index];
      const auto at = std::ranges::find(names, label);
      auto id = at != names.end() ? std::optional<std::int64_t>{at - names.begin()} : as_integer(label);
      if (!id) return skip(row.line, fmt::format("unknown label \"{}\"; known: {}", label, fmt::join(names, ", ")));
      if (*id < 0 || *id >= static_cast<std::int64_t>(names.size()))
        return skip(row.line, fmt::format("label {} is not in 0..{}", label, names.size() - 1));
      ids.push_back(static_cast<std::int32_t>(*id));
    }
    Sample sample{.text = std::move(row.text), .label = row.words.empty() ? ids.front() : 0};
    if (!row.words.empty()) {
      sample.text = fmt::format("{}", fmt::join(row.words, " "));
      sample.words = std::move(row.words), sample.word_labels = std::move(ids);
    }
    dataset_.samples.push_back(std::move(sample));
  }

  const ReadOptions& options_;
  Dataset dataset_;
  RawRows raw_;
  std::map<std::string, std::uint32_t, std::less<>> seen_;
};

const std::array<std::set<std::string>, 3> kSplitNames = {
    std::set<std::string>{"train", "training"}, {"val", "valid", "validation", "dev", "eval"}, {"test"}};

/// The file of one split in a folder, if there is one.
std::optional<fs::path> split_file(const fs::path& folder, const std::set<std::string>& names) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator{folder})
    if (entry.is_regular_file() && format_of(entry.path()) && names.contains(entry.path().stem().string()))
      found.push_back(entry.path());
  std::ranges::sort(found);
  if (found.size() > 1)
    throw Error{Fault::kData, folder.string(),
                fmt::format("has two files for one split: {} and {}", found[0].filename().string(),
                            found[1].filename().string()),
                "remove or rename one of them"};
  return found.empty() ? std::nullopt : std::optional{found[0]};
}

}  // namespace

const std::vector<std::string>& emotion_label_names() {
  static const std::vector<std::string> names{"sadness", "joy", "love", "anger", "fear", "surprise"};
  return names;
}

Dataset read_dataset(const fs::path& file, const ReadOptions& options) { return DatasetReader{file, options}.read(); }

Splits read_splits(const fs::path& file_or_folder, const ReadOptions& options) {
  if (!fs::is_directory(file_or_folder)) return {.train = read_dataset(file_or_folder, options)};
  const auto train = split_file(file_or_folder, kSplitNames[0]);
  if (!train)
    throw Error{
        Fault::kData, file_or_folder.string(), "holds no training file",
        "put the data in train.csv, train.tsv, train.jsonl or train.txt, and optionally validation.* and test.*"};
  Splits splits{.train = read_dataset(*train, options)};
  ReadOptions same_labels = options;
  same_labels.label_names = splits.train.label_names;
  if (const auto file = split_file(file_or_folder, kSplitNames[1]))
    splits.validation = read_dataset(*file, same_labels);
  if (const auto file = split_file(file_or_folder, kSplitNames[2])) splits.test = read_dataset(*file, same_labels);
  return splits;
}

std::string describe_problems(const Dataset& dataset) {
  return describe_problems(dataset.source, dataset.skipped, dataset.samples.size(), dataset.problems);
}

std::string describe_problems(std::string_view source, std::size_t skipped, std::size_t used,
                              const std::vector<RowProblem>& problems) {
  if (skipped == 0) return {};
  std::string text = fmt::format("{}: skipped {} of {}:\n", source, skipped, base::counted(skipped + used, "row"));
  for (const RowProblem& problem : problems) text += fmt::format("  {}: {}\n", problem.where, problem.what);
  if (skipped > problems.size()) text += fmt::format("  ... and {} more\n", skipped - problems.size());
  return text;
}

}  // namespace workloads
