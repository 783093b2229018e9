// From text to ids and back.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace workloads {

/// One sequence as a model takes it. The attention mask is 1 for the first `length` ids and 0 for the padding.
struct Encoding {
  std::vector<std::int32_t> ids;
  std::vector<std::int32_t> token_types;  // 0 for the first text and its special tokens, 1 for the second
  std::size_t length = 0;                 // ids before padding
  std::vector<std::int32_t> attention_mask() const;
};

class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  /// The tokens of `text` alone: no special tokens added, nothing cut. Special tokens written in the text are kept
  /// whole. `where` names the text in errors (file:line). Errors: Fault::kData when `text` is not UTF-8.
  virtual std::vector<std::int32_t> tokenize(std::string_view text, std::string_view where) const = 0;

  /// How many special tokens encode() adds to one text, or to two.
  virtual std::size_t added_tokens(bool pair) const = 0;
  /// `second` may be empty and still be there: then it has its separator.
  virtual Encoding with_special_tokens(std::span<const std::int32_t> first,
                                       std::optional<std::span<const std::int32_t>> second) const = 0;

  virtual std::string decode(std::span<const std::int32_t> ids, bool skip_special_tokens) const = 0;

  virtual std::int32_t pad_id() const = 0;
  /// The tokens that begin and end a text; models of the BERT kind have none.
  virtual std::optional<std::int32_t> bos_id() const { return std::nullopt; }
  virtual std::optional<std::int32_t> eos_id() const { return std::nullopt; }
  virtual std::size_t vocab_size() const = 0;
  /// Errors: Fault::kData when there is no such id.
  virtual const std::string& token(std::int32_t id) const = 0;
  /// Writes the files that load_tokenizer() and Hugging Face's AutoTokenizer read. Errors: Fault::kEnvironment.
  virtual void save(const std::filesystem::path& folder) const = 0;

  /// With special tokens, cut on the right to `max_length` (0: never cut).
  /// Errors: Fault::kData as tokenize(); Fault::kUsage when `max_length` leaves no room for the special tokens.
  Encoding encode(std::string_view text, std::size_t max_length = 0, std::string_view where = "text") const;
  /// Two texts; too long, the longer one is cut first, as Hugging Face's "longest_first".
  Encoding encode_pair(std::string_view first, std::string_view second, std::size_t max_length = 0,
                       std::string_view where = "text") const;
  /// Appends padding up to `length`. Errors: Fault::kInternal when it is longer already.
  void pad(Encoding& encoding, std::size_t length) const;

  /// The token that hides others, "[MASK]" or "<mask>", if there is one.
  std::optional<std::int32_t> mask_id() const;

  std::vector<std::string> tokens(std::span<const std::int32_t> ids) const;
};

/// Reads the tokenizer in `path`: a folder, or one of these files itself: tokenizer.json (WordPiece or BPE),
/// tokenizer.model, spiece.model, spm.model or sentencepiece.bpe.model (SentencePiece), vocab.txt (WordPiece),
/// tokenizer.bin (llama2.c; in a folder also the only tok*.bin); and the tokenizer_config.json beside it.
/// Errors: Fault::kData naming the file, the key and the supported values.
std::unique_ptr<Tokenizer> load_tokenizer(const std::filesystem::path& path);

}  // namespace workloads
