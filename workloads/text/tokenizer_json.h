// Shared by the readers of tokenizer.json, and one reader per kind of tokenizer.
#pragma once

#include <filesystem>
#include <initializer_list>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/text/tokenizer.h"

namespace workloads {

/// Throws Fault::kData.
[[noreturn]] void refuse_tokenizer(const std::filesystem::path& path, std::string_view what);

/// The object or value at `key`, or an error that names both.
const nlohmann::json& field(const nlohmann::json& object, const char* key, const std::filesystem::path& path);

/// The text at `key`; `otherwise` when there is none or null. Errors: Fault::kData for a value of another type.
std::string text_at(const nlohmann::json& object, const char* key, std::string otherwise,
                    const std::filesystem::path& path);

bool flag(const nlohmann::json& object, const char* key, bool otherwise, const std::filesystem::path& path);

/// `part` is an object whose "type" is one of `known`.
void require_type(const nlohmann::json& part, std::string_view name, std::initializer_list<std::string_view> known,
                  const std::filesystem::path& path);

/// Tokens by id; the ids must be 0 .. size-1 without a hole.
std::vector<std::string> ordered_vocabulary(const nlohmann::json& vocab, std::size_t size,
                                            const std::filesystem::path& path);

/// A token is written as its text, or as an object with "content". Unchanged when the file has none.
void read_token_name(const nlohmann::json& file, const char* key, std::string& name);

/// One entry of "added_tokens".
struct AddedToken {
  std::size_t id = 0;
  std::string content;
  bool special = true, lstrip = false, rstrip = false, normalized = false;
};
/// Errors: Fault::kData for entries without id and content, and for "single_word".
AddedToken read_added_token(const nlohmann::json& entry, const nlohmann::json& id, const std::filesystem::path& path);

/// Without `tokenizer_json`, `source` is a vocab.txt.
std::unique_ptr<Tokenizer> load_wordpiece(const std::filesystem::path& source, const nlohmann::json* tokenizer_json);
/// A tokenizer.json with a model of type BPE, byte-level (GPT-2, Llama 3) or with byte fallback (Llama 2).
/// `config` is the text of tokenizer_config.json, empty without one.
std::unique_ptr<Tokenizer> load_bpe(const std::filesystem::path& source, const nlohmann::json& file,
                                    std::string config);
/// The tokenizer.bin of llama2.c.
std::unique_ptr<Tokenizer> load_llama2c_tokenizer(const std::filesystem::path& source);
/// A SentencePiece model. `config` as above.
std::unique_ptr<Tokenizer> load_sentencepiece(const std::filesystem::path& source, std::string config);

}  // namespace workloads
