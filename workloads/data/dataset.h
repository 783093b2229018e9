// Labelled text: what a classification job trains on, and the readers of its files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace workloads {

struct Sample {
  std::string text;  // valid UTF-8; of words with blanks between them
  std::int32_t label = 0;
  std::vector<std::string> words{};         // where every word has a label instead of the text
  std::vector<std::int32_t> word_labels{};  // as many as words
};

/// A row that could not be used.
struct RowProblem {
  std::string where;  // file:line
  std::string what;
};

struct Dataset {
  std::string source{};  // file, or the name of the generator
  std::vector<Sample> samples{};
  std::vector<std::string> label_names{};  // by label id
  std::size_t skipped = 0;                 // malformed rows
  std::vector<RowProblem> problems{};      // the first kKeptProblems of them

  static constexpr std::size_t kKeptProblems = 20;
  /// Whether words have labels, not texts: what a model with a label of every token learns from.
  bool of_words() const { return !samples.empty() && !samples.front().words.empty(); }
};

struct Splits {
  Dataset train{};
  std::optional<Dataset> validation{};
  std::optional<Dataset> test{};
};

enum class TextFormat {
  kCsv,        // RFC 4180, comma: fields may be quoted, "" is a quote in a quoted field
  kTsv,        // tabs between fields, nothing quoted
  kJsonLines,  // one object a line
  kSemicolon,  // text;label, split at the last semicolon, nothing quoted
  kConll,      // a word a line, its label last, blanks or tabs between; an empty line ends a sentence (CoNLL-2003)
};

struct ReadOptions {
  std::optional<TextFormat> format{};      // unset: by the file's name (.csv .tsv .jsonl .json .txt .conll)
  std::string text_column{};               // empty: the first of text, sentence, content, ... that the file has
  std::string label_column{};              // empty: the first of label, label_name, labels, ...
  std::vector<std::string> label_names{};  // empty: from the file (see read_dataset)
  bool backslash_escapes = false;          // csv: \" in a quoted field is a quote, \\ a backslash
  bool strict = false;                     // the first malformed row is an error
  std::size_t max_rows = 0;                // 0: all
};

/// Reads one file. Labels are ids (0, 1, ...) or names, whichever most rows have. Names get ids in the order of
/// `options.label_names`; else in Hugging Face's order for `emotion` when they are exactly its six; else sorted.
/// A row of JSON with a list of words ("tokens" or "words") and one of labels ("ner_tags", "tags", "labels"), or a
/// sentence of .conll, has a label of each word; the names' ids are sorted alike.
/// Rows with the wrong number of fields, broken quoting, bad UTF-8, an empty text, no label, an unknown one or one out
/// of range are skipped and counted. Errors: Fault::kData for a missing, empty or unusable file, an unknown column, a
/// quote that never closes, and with `strict` for the first malformed row; Fault::kUsage for an unknown file ending.
Dataset read_dataset(const std::filesystem::path& file, const ReadOptions& options = {});

/// Reads a file as the training split, or from a folder the files named train, val / valid / validation / dev / eval,
/// and test, with any known ending. Labels mean the same in all splits: the training split's names are used.
/// Errors: as read_dataset(); Fault::kData when the training file is missing or a split has two.
Splits read_splits(const std::filesystem::path& file_or_folder, const ReadOptions& options = {});

/// "3 of 16,000 rows skipped: train.csv:7: ..." and so on, one line each; empty when nothing was skipped.
std::string describe_problems(const Dataset& dataset);
/// The same for any data, of which `used` rows were good.
std::string describe_problems(std::string_view source, std::size_t skipped, std::size_t used,
                              const std::vector<RowProblem>& problems);

/// The six names in the order of dair-ai/emotion.
const std::vector<std::string>& emotion_label_names();

}  // namespace workloads
