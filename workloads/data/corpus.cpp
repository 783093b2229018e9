#include "workloads/data/corpus.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <nlohmann/json.hpp>
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
using nlohmann::json;
namespace fs = std::filesystem;

constexpr std::string_view kSeparator = "<|endoftext|>";

struct RecordKeys {
  CorpusFormat format;
  const char* ask;  // nullptr: the answer is the whole text
  const char* context;
  const char* answer;
};
constexpr std::array kFormats = {RecordKeys{CorpusFormat::kInstructions, "instruction", "context", "response"},
                                 RecordKeys{CorpusFormat::kTasks, "instruction", nullptr, "instances"},
                                 RecordKeys{CorpusFormat::kQuestions, "question", nullptr, "answer"},
                                 RecordKeys{CorpusFormat::kTexts, nullptr, nullptr, "text"}};
/// Those of pairs alone. Source: the data sets of transformers' run_summarization.py and run_translation.py.
constexpr std::array kPairFormats = {RecordKeys{CorpusFormat::kPairs, "source", nullptr, "target"},
                                     RecordKeys{CorpusFormat::kPairs, "document", nullptr, "summary"},
                                     RecordKeys{CorpusFormat::kPairs, "text", nullptr, "summary"},
                                     RecordKeys{CorpusFormat::kPairs, "dialogue", nullptr, "summary"},
                                     RecordKeys{CorpusFormat::kPairs, "article", nullptr, "highlights"},
                                     RecordKeys{CorpusFormat::kPairs, "input", nullptr, "output"}};

/// A row as text, or its error.
struct Row {
  std::string text{};
  std::string answer{};  // of pairs
  std::string problem{};
};

class CorpusReader {
 public:
  CorpusReader(const fs::path& file, const CorpusOptions& options) : options_{options}, file_{file} {
    corpus_.source = file.string();
  }

  Corpus read() {
    const std::string ending = file_.extension().string();
    if (ending == ".txt" && !options_.pairs)
      read_plain();
    else if (ending == ".jsonl" || ending == ".json")
      read_json_lines();
    else if (options_.pairs && (ending == ".csv" || ending == ".tsv"))
      read_table(ending == ".tsv");
    else
      throw Error{Fault::kUsage, corpus_.source, "has an extension of no known text format",
                  options_.pairs ? "give .jsonl (one object per line), .csv or .tsv with columns for input and output"
                                 : "rename it to .jsonl (one object per line) or .txt (plain text)"};
    if (!corpus_.texts.empty()) return std::move(corpus_);
    const std::string first = corpus_.problems.empty() ? std::string{}
                                                       : fmt::format("; the first: {}: {}", corpus_.problems[0].where,
                                                                     corpus_.problems[0].what);
    throw Error{Fault::kData, corpus_.source,
                fmt::format("holds no usable text ({}{})", base::counted(corpus_.skipped, "malformed row"), first),
                "give a file with at least one text"};
  }

 private:
  bool full() const { return options_.max_rows > 0 && corpus_.texts.size() >= options_.max_rows; }

  void take(Row row, std::size_t line) {
    if (row.problem.empty() && (first_invalid_utf8(row.text) || first_invalid_utf8(row.answer)))
      row.problem = "the text is not valid UTF-8";
    if (row.problem.empty()) {
      if (options_.pairs) corpus_.answers.push_back(std::move(row.answer));
      corpus_.texts.push_back(std::move(row.text));
      return;
    }
    RowProblem problem{fmt::format("{}:{}", corpus_.source, line), std::move(row.problem)};
    if (options_.strict)
      throw Error{Fault::kData, problem.where, problem.what,
                  "correct the row, or leave out `strict` to skip such rows"};
    ++corpus_.skipped;
    if (corpus_.problems.size() < Dataset::kKeptProblems) corpus_.problems.push_back(std::move(problem));
  }

  void read_plain() {
    corpus_.format = CorpusFormat::kPlain;
    std::istringstream in{base::read_file(file_)};
    base::LineReader lines{in};
    std::string line, document;
    std::size_t begins = 1;
    const auto flush = [&] {
      document.erase(document.find_last_not_of(" \t\n") + 1);
      if (!document.empty()) take({.text = document}, begins);
      document.clear();
      begins = lines.number() + 1;
    };
    while (!full() && lines.next(line)) {
      if (line == kSeparator)
        flush();
      else
        document += line + "\n";
    }
    if (!full()) flush();
  }

  void read_json_lines() {
    std::istringstream in{base::read_file(file_)};
    base::LineReader lines{in};
    std::string line;
    while (!full() && lines.next(line)) {
      if (line.empty()) continue;
      if (lines.number() == 1 && line.front() == '[')
        throw Error{Fault::kData, fmt::format("{}:1", corpus_.source),
                    "is a JSON array, but must have one object per line",
                    "convert it, for example with: jq -c '.[]' FILE > FILE.jsonl"};
      const json object = base::is_shallow_json(line) ? json::parse(line, nullptr, false) : json();
      if (object.is_discarded() || !object.is_object()) {
        take({.problem = first_invalid_utf8(line) ? "is not valid UTF-8" : "is not a JSON object"}, lines.number());
        continue;
      }
      if (!keys_) choose_format(object, lines.number());
      if (keys_->format == CorpusFormat::kTasks)
        take_task(object, lines.number());
      else
        take(row_of(object, *keys_), lines.number());
    }
  }

  /// A table whose header names the columns of input and output.
  void read_table(bool tabs) {
    std::istringstream in{base::read_file(file_)};
    std::string header;
    base::LineReader{in}.next(header);
    json names = json::object();
    for (std::size_t begin = 0; begin < header.size();) {
      const std::size_t end = std::min(header.find(tabs ? '\t' : ',', begin), header.size());
      const std::string name = header.substr(begin, end - begin);
      names[name.size() > 1 && name.front() == '"' ? name.substr(1, name.size() - 2) : name] = "";
      begin = end + 1;
    }
    choose_format(names, 1);
    if (keys_->format == CorpusFormat::kTasks || (keys_->context && names.contains(keys_->context)))
      throw Error{Fault::kUsage, corpus_.source, "has more columns than one for the input and one for the output",
                  "give .jsonl (one object per line)"};
    const ReadOptions columns{.text_column = keys_->ask, .label_column = keys_->answer};
    std::istringstream all{base::read_file(file_)};
    (tabs ? read_tsv_rows : read_csv_rows)({all, corpus_.source, columns}, [this](RawRow&& row) {
      if (row.problem.empty() && (row.text.empty() || row.label.empty()))
        row.problem = fmt::format("\"{}\" is empty", row.text.empty() ? keys_->ask : keys_->answer);
      take({.text = std::move(row.text), .answer = std::move(row.label), .problem = std::move(row.problem)}, row.line);
      return !full();
    });
  }

  /// A task is as many rows as it has instances.
  void take_task(const json& task, std::size_t line) {
    if (!task.contains(keys_->answer) || !task.at(keys_->answer).is_array() || task.at(keys_->answer).empty())
      return take({.problem = fmt::format("\"{}\" is not a non-empty list", keys_->answer)}, line);
    for (const json& instance : task.at(keys_->answer)) {
      if (full()) return;
      json row = instance.is_object() ? instance : json::object();
      if (task.contains(keys_->ask)) row[keys_->ask] = task.at(keys_->ask);
      take(row_of(row, {CorpusFormat::kTasks, keys_->ask, "input", "output"}), line);
    }
  }

  void choose_format(const json& object, std::size_t line) {
    for (const RecordKeys& keys : kFormats)
      if (object.contains(keys.answer) && (keys.ask ? object.contains(keys.ask) : !options_.pairs)) keys_ = keys;
    for (const RecordKeys& keys : kPairFormats)
      if (options_.pairs && !keys_ && object.contains(keys.answer) && object.contains(keys.ask)) keys_ = keys;
    if (keys_) {
      corpus_.format = keys_->format;
      return;
    }
    std::vector<std::string> names;
    for (const auto& [name, value] : object.items()) names.push_back(name);
    throw Error{Fault::kData, fmt::format("{}:{}", corpus_.source, line),
                fmt::format("has the keys {}, which match no known format", fmt::join(names, ", ")),
                options_.pairs
                    ? "give each row source and target, document and summary, article and highlights, or instruction "
                      "and response"
                    : "give each row instruction and response (and optionally context), or instruction and instances, "
                      "or question and answer, or text"};
  }

  Row row_of(const json& object, const RecordKeys& keys) const {
    Row row;
    const auto text = [&](const char* key, bool needed) -> std::string {
      if (!key || !row.problem.empty()) return {};
      if (!object.contains(key) || object.at(key).is_null()) {
        if (needed) row.problem = fmt::format("has no \"{}\"", key);
        return {};
      }
      if (!object.at(key).is_string()) {
        row.problem = fmt::format("\"{}\" is not a string", key);
        return {};
      }
      const auto& value = object.at(key).get_ref<const std::string&>();
      if (needed && value.empty()) row.problem = fmt::format("\"{}\" is empty", key);
      return value;
    };
    const std::string ask = text(keys.ask, true), context = text(keys.context, false);
    const std::string answer = text(keys.answer, true);
    if (options_.pairs)
      row.text = instruction_source({ask, context, {}}), row.answer = answer;
    else
      row.text = keys.ask ? instruction_text({ask, context, answer}) : answer;
    return row;
  }

  const CorpusOptions& options_;
  fs::path file_;
  Corpus corpus_;
  std::optional<RecordKeys> keys_;
};

/// The one file of a folder with any of these names and an ending of texts.
std::optional<fs::path> part_file(const fs::path& folder, std::initializer_list<const char*> names) {
  std::vector<fs::path> found;
  for (const char* name : names)
    for (const char* ending : {".jsonl", ".json", ".txt"})
      if (fs::exists(folder / (std::string{name} + ending))) found.push_back(folder / (std::string{name} + ending));
  if (found.empty()) return std::nullopt;
  if (found.size() == 1) return found[0];
  throw Error{
      Fault::kData, folder.string(),
      fmt::format("has two files for one part: {} and {}", found[0].filename().string(), found[1].filename().string()),
      "put the texts in one of them, or name the file itself"};
}

}  // namespace

std::string instruction_prompt(const Instruction& row) {
  std::string text = fmt::format("### Instruction\n{}\n\n", row.instruction);
  if (!row.context.empty()) text += fmt::format("### Context\n{}\n\n", row.context);
  return text + "### Answer\n";
}

std::string instruction_source(const Instruction& row) {
  return row.context.empty() ? row.instruction : row.instruction + "\n" + row.context;
}

std::string instruction_text(const Instruction& row) { return instruction_prompt(row) + row.response; }

CorpusFiles corpus_files(const fs::path& file_or_folder) {
  if (!fs::is_directory(file_or_folder)) return {.train = file_or_folder};
  const auto train = part_file(file_or_folder, {"train"});
  if (!train)
    throw Error{Fault::kData, file_or_folder.string(), "holds no training file",
                "put the texts in one train.jsonl or train.txt, or name the file itself"};
  return {.train = *train,
          .validation = part_file(file_or_folder, {"validation", "val", "dev"}),
          .test = part_file(file_or_folder, {"test"})};
}

Corpus read_corpus(const fs::path& file_or_folder, const CorpusOptions& options) {
  return CorpusReader{corpus_files(file_or_folder).train, options}.read();
}

std::string describe_problems(const Corpus& corpus) {
  return describe_problems(corpus.source, corpus.skipped, corpus.texts.size(), corpus.problems);
}

namespace {

/// `use`: "end a text with".
std::int32_t end_token(const Tokenizer& tokenizer, std::string_view use) {
  if (const auto eos = tokenizer.eos_id()) return *eos;
  throw Error{Fault::kData, "tokenizer", fmt::format("has no end-of-sequence token to {}", use),
              "name its \"eos_token\" in tokenizer_config.json"};
}

/// The end token of texts whose labels are their own tokens.
std::optional<std::int32_t> end_of_texts(const Tokenizer& tokenizer, std::size_t length, bool ends) {
  if (!ends) return std::nullopt;
  if (length < 2)
    throw Error{Fault::kUsage, "sequence length",
                fmt::format("is {}, but the label of a token is the next one", length), "set it to 2 or more"};
  return end_token(tokenizer, "put between texts");
}

std::vector<std::int32_t> with_end(const Corpus& corpus, std::size_t i, const Tokenizer& tokenizer,
                                   std::optional<std::int32_t> eos) {
  Encoding encoding = tokenizer.encode(corpus.texts[i], 0, fmt::format("{}: text {}", corpus.source, i + 1));
  if (eos && (encoding.ids.empty() || encoding.ids.back() != *eos)) encoding.ids.push_back(*eos);
  return std::move(encoding.ids);
}

}  // namespace

PackedDataset pack(const Corpus& corpus, const Tokenizer& tokenizer, std::size_t length, bool ends) {
  const std::optional<std::int32_t> eos = end_of_texts(tokenizer, length, ends);
  PackedDataset packed{.length = length, .documents = corpus.texts.size()};
  for (std::size_t i = 0; i < corpus.texts.size(); ++i) {
    const std::vector<std::int32_t> ids = with_end(corpus, i, tokenizer, eos);
    packed.ids.insert(packed.ids.end(), ids.begin(), ids.end());
  }
  packed.dropped = packed.ids.size() % length;
  packed.ids.resize(packed.ids.size() - packed.dropped);
  if (packed.ids.empty())
    throw Error{
        Fault::kData, corpus.source,
        fmt::format("has {} in total, too few for a sequence of {}", base::counted(packed.dropped, "token"), length),
        "give more text, or shorter sequences"};
  return packed;
}

PackedDataset pad(const Corpus& corpus, const Tokenizer& tokenizer, std::size_t length, bool ends) {
  const std::optional<std::int32_t> eos = end_of_texts(tokenizer, length, ends);
  PackedDataset padded{.length = length, .documents = corpus.texts.size()};
  for (std::size_t i = 0; i < corpus.texts.size(); ++i) {
    std::vector<std::int32_t> ids = with_end(corpus, i, tokenizer, eos);
    const std::size_t used = std::min(ids.size(), length);
    padded.dropped += ids.size() - used;
    padded.used.push_back(static_cast<std::uint32_t>(used));
    ids.resize(length, tokenizer.pad_id());
    padded.ids.insert(padded.ids.end(), ids.begin(), ids.end());
  }
  return padded;
}

PackedDataset pair_up(const Corpus& corpus, const Tokenizer& tokenizer, std::size_t length, std::size_t answer_length) {
  if (length < 2 || answer_length < 2)
    throw Error{Fault::kUsage, length < 2 ? "`max_length`" : "`max_target_length`",
                "leaves no room for a token before the end of a text", "set it to 2 or more"};
  const std::int32_t eos = end_token(tokenizer, "end a text with");
  PackedDataset out{.length = length, .answer_length = answer_length, .documents = corpus.texts.size()};
  /// Appends the tokens and their end, filled up to `most`; returns how many there are.
  const auto append = [&](std::vector<std::int32_t>& to, const std::string& text, std::size_t i, std::size_t most,
                          std::int32_t fill) {
    std::vector<std::int32_t> ids = tokenizer.tokenize(text, fmt::format("{}: text {}", corpus.source, i + 1));
    ids.resize(std::min(ids.size(), most - 1));
    ids.push_back(eos);
    const std::size_t count = ids.size();
    ids.resize(most, fill);
    to.insert(to.end(), ids.begin(), ids.end());
    return count;
  };
  for (std::size_t i = 0; i < corpus.texts.size(); ++i) {
    const std::size_t used = append(out.ids, corpus.texts[i], i, length, tokenizer.pad_id());
    out.used.push_back(static_cast<std::uint32_t>(used));
    append(out.answers, corpus.answers.at(i), i, answer_length, Batch::kIgnoredLabel);
  }
  return out;
}

std::size_t PackedDataset::targets(std::span<const std::uint32_t> sequences) const {
  std::size_t count = 0;
  for (const std::uint32_t s : sequences) {
    const auto written = answer(s);  // empty unless there are pairs
    count += answer_length == 0 ? used_of(s) - 1 : written.size() - std::ranges::count(written, Batch::kIgnoredLabel);
  }
  return count;
}

Batch make_batch(const PackedDataset& dataset, std::span<const std::uint32_t> sequences, std::size_t rows,
                 std::int32_t pad_id) {
  base::ensure(sequences.size() <= rows, "batch", "more sequences than rows");
  Batch batch{.rows = rows, .length = dataset.length, .samples = sequences.size()};
  batch.input_ids.reserve(rows * dataset.length);
  for (const std::uint32_t index : sequences) {
    base::ensure(index < dataset.size(), "batch", "a sequence that is not there");
    const auto sequence = dataset.sequence(index);
    batch.input_ids.insert(batch.input_ids.end(), sequence.begin(), sequence.end());
  }
  batch.labels = batch.input_ids;
  for (std::size_t row = 0; row < sequences.size(); ++row) {
    const auto begin = batch.labels.begin() + static_cast<std::ptrdiff_t>(row * dataset.length);
    std::fill(begin + static_cast<std::ptrdiff_t>(dataset.used_of(sequences[row])),
              begin + static_cast<std::ptrdiff_t>(dataset.length), Batch::kIgnoredLabel);
  }
  batch.input_ids.resize(rows * dataset.length, pad_id);
  batch.labels.resize(rows * dataset.length, Batch::kIgnoredLabel);
  return batch;
}

}  // namespace workloads
