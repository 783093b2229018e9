#include "workloads/text/tokenizer_json.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace workloads {

using nlohmann::json;
namespace fs = std::filesystem;

void refuse_tokenizer(const fs::path& path, std::string_view what) {
  throw base::Error{base::Fault::kData, path.string(), what, "use the tokenizer files of a BERT, GPT-2 or Llama model"};
}

const json& field(const json& object, const char* key, const fs::path& path) {
  if (!object.is_object() || !object.contains(key)) refuse_tokenizer(path, fmt::format("has no \"{}\"", key));
  return object.at(key);
}

std::string text_at(const json& object, const char* key, std::string otherwise, const fs::path& path) {
  if (!object.is_object())
    refuse_tokenizer(path, fmt::format("has {} where it needs an object with \"{}\"", object.dump(), key));
  if (!object.contains(key) || object.at(key).is_null()) return otherwise;
  if (!object.at(key).is_string())
    refuse_tokenizer(path, fmt::format("\"{}\" is {}, not a string", key, object.at(key).dump()));
  return object.at(key).get<std::string>();
}

bool flag(const json& object, const char* key, bool otherwise, const fs::path& path) {
  if (!object.contains(key) || object.at(key).is_null()) return otherwise;
  if (!object.at(key).is_boolean()) refuse_tokenizer(path, fmt::format("\"{}\" is not true or false", key));
  return object.at(key).get<bool>();
}

void require_type(const json& part, std::string_view name, std::initializer_list<std::string_view> known,
                  const fs::path& path) {
  const json& type = field(part, "type", path);
  if (type.is_string() && std::ranges::find(known, type.get_ref<const std::string&>()) != known.end()) return;
  refuse_tokenizer(path, fmt::format("{} is of type {}; supported: {}", name, type.dump(), fmt::join(known, ", ")));
}

std::vector<std::string> ordered_vocabulary(const json& vocab, std::size_t size, const fs::path& path) {
  if (!vocab.is_object()) refuse_tokenizer(path, "model.vocab is not an object of token to id");
  std::vector<std::string> tokens(size);
  std::vector<bool> taken(size, false);
  for (const auto& [token, id] : vocab.items()) {
    if (!id.is_number_unsigned() || id.get<std::size_t>() >= size || taken[id.get<std::size_t>()])
      refuse_tokenizer(
          path, fmt::format("token \"{}\" has id {}, which is not a free one in 0..{}", token, id.dump(), size - 1));
    tokens[id.get<std::size_t>()] = token;
    taken[id.get<std::size_t>()] = true;
  }
  return tokens;
}

void read_token_name(const json& file, const char* key, std::string& name) {
  const json token = file.value(key, json{});
  if (token.is_string()) name = token.get<std::string>();
  if (token.is_object()) name = token.value("content", name);
}

AddedToken read_added_token(const json& entry, const json& id, const fs::path& path) {
  const json& content = field(entry, "content", path);
  if (!content.is_string() || !id.is_number_unsigned())
    refuse_tokenizer(path, "added_tokens holds an entry without name or id");
  if (flag(entry, "single_word", false, path))
    refuse_tokenizer(path, fmt::format("added token {} is \"single_word\": not supported", content.dump()));
  return {.id = id.get<std::size_t>(),
          .content = content,
          .special = flag(entry, "special", false, path),
          .lstrip = flag(entry, "lstrip", false, path),
          .rstrip = flag(entry, "rstrip", false, path),
          .normalized = flag(entry, "normalized", false, path)};
}

}  // namespace workloads
