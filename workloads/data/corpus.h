// Text that a decoder model is trained on: instruction data through its template, or plain text; and its packing into
// sequences of one length.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "workloads/data/batch.h"
#include "workloads/data/dataset.h"
#include "workloads/text/tokenizer.h"

namespace workloads {

/// One row of instruction data.
struct Instruction {
  std::string instruction;
  std::string context;  // may be empty
  std::string response;
};

/// "### Instruction\n...\n\n### Context\n...\n\n### Answer\n...", without the context when it is empty; the
/// end-of-sequence token is not text and is added by pack(). Source: optimum-neuron, tutorial "Fine-tune Llama",
/// format_dolly().
std::string instruction_text(const Instruction& row);
/// The same up to and including "### Answer\n": the prompt that a model continues.
std::string instruction_prompt(const Instruction& row);
/// The input of a model that generates the response separately: instruction and context, a line each.
std::string instruction_source(const Instruction& row);

enum class CorpusFormat {
  kInstructions,  // jsonl: instruction, response, and perhaps context
  kTasks,         // jsonl: instruction, instances: a list of input (the context, perhaps empty) and output
  kQuestions,     // jsonl: question, answer; in the same template, without context
  kTexts,         // jsonl: text
  kPairs,  // jsonl or a table, of pairs alone: source and target, document or article and summary or highlights, input
           // and output
  kPlain,  // a text file: documents between lines of "<|endoftext|>"; without any, one document
};

struct Corpus {
  std::string source{};
  CorpusFormat format = CorpusFormat::kPlain;
  std::vector<std::string> texts{};    // templates applied, valid UTF-8, none empty; of pairs the inputs
  std::vector<std::string> answers{};  // of pairs: the output for each text
  std::size_t skipped = 0;             // malformed rows
  std::vector<RowProblem> problems{};
};

struct CorpusOptions {
  bool strict = false;       // the first malformed row is an error
  std::size_t max_rows = 0;  // 0: all
  bool pairs = false;        // a text that is read and one that is written, without a template
};

/// Reads one file, or from a folder its train.jsonl, train.json or train.txt. The first row of a jsonl says which
/// format it is. Rows that are not a JSON object, lack a key, hold no text there, are empty or not UTF-8 are skipped
/// and counted. Errors: Fault::kData for a missing, empty or unusable file, keys of no format (with those of all
/// formats), and with `strict` for the first malformed row; Fault::kUsage for an ending other than .jsonl, .json and
/// .txt.
Corpus read_corpus(const std::filesystem::path& file_or_folder, const CorpusOptions& options = {});

/// As describe_problems(const Dataset&).
std::string describe_problems(const Corpus& corpus);

/// A folder's files: training, and optional held-out splits: validation.* (or val.*, dev.*) and test.*.
struct CorpusFiles {
  std::filesystem::path train;
  std::optional<std::filesystem::path> validation{}, test{};
};
/// A file is its own training file. Errors: Fault::kData when a folder has no training file, or two for one part.
CorpusFiles corpus_files(const std::filesystem::path& file_or_folder);

/// Sequences of one length, one after the other. The labels are the ids: the model shifts them itself. For pairs of
/// texts these are the inputs, padded at the end, and `answers` the outputs.
struct PackedDataset {
  std::vector<std::int32_t> ids{};
  std::size_t length = 0;
  std::vector<std::int32_t> answers{};  // [size(), answer_length], Batch::kIgnoredLabel behind the end of each
  std::size_t answer_length = 0;        // 0: no pairs
  std::size_t dropped = 0;              // tokens at the end that fill no sequence, or of texts that were cut
  std::size_t documents = 0;
  std::vector<std::uint32_t> used{};  // tokens of each without padding; empty: all

  std::size_t used_of(std::size_t index) const { return used.empty() ? length : used[index]; }

  std::size_t size() const { return ids.size() / length; }
  std::span<const std::int32_t> sequence(std::size_t index) const {
    return std::span{ids}.subspan(index * length, length);
  }
  std::span<const std::int32_t> answer(std::size_t index) const {
    return std::span{answers}.subspan(index * answer_length, answer_length);
  }
  /// Tokens that the model learns to write: of pairs the answers', else those with a token before them.
  std::size_t targets(std::span<const std::uint32_t> sequences) const;
};

/// Tokenizes every text with its special tokens and an end-of-sequence token (unless the tokenizer adds one itself),
/// joins all and cuts the row of tokens into sequences; the rest is dropped. Without `ends` texts have only the
/// tokenizer's own special tokens, as encoders read them. Errors: Fault::kUsage when `length` is below 2 (a label is
/// the next token), Fault::kData when the tokenizer has no end-of-sequence token, or when there are too few tokens for
/// one sequence.
PackedDataset pack(const Corpus& corpus, const Tokenizer& tokenizer, std::size_t length, bool ends = true);

/// Each text with its end as a sequence of its own, cut to `length` or padded to it. Errors: as pack().
PackedDataset pad(const Corpus& corpus, const Tokenizer& tokenizer, std::size_t length, bool ends = true);
/// Pairs of texts, each cut to its length and ended by the end-of-sequence token. Errors: Fault::kUsage when a length
/// has no room for it; as pack().
PackedDataset pair_up(const Corpus& corpus, const Tokenizer& tokenizer, std::size_t length, std::size_t answer_length);

/// Labels are the tokens themselves, but of padding. Adds filler rows of pad tokens up to `rows`. Errors:
/// Fault::kInternal when there are more sequences than rows.
Batch make_batch(const PackedDataset& dataset, std::span<const std::uint32_t> sequences, std::size_t rows,
                 std::int32_t pad_id);

}  // namespace workloads
