#include "workloads/text/causal_tokenizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "workloads/text/tokenizer_json.h"
#include "workloads/text/utf8.h"

namespace workloads {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr std::string_view kBlanks = " \t\n\v\f\r";

std::optional<std::int32_t> find_token(const CausalParts& parts, const std::string& text) {
  for (const auto& [id, token] : parts.whole)
    if (token.text == text) return id;
  const auto at = std::ranges::find(parts.vocabulary, text);
  if (at == parts.vocabulary.end()) return std::nullopt;
  return static_cast<std::int32_t>(at - parts.vocabulary.begin());
}

void read_role(const json& config, const char* key, const fs::path& path, const CausalParts& parts,
               std::optional<std::int32_t>& id) {
  std::string name;
  read_token_name(config, key, name);
  if (name.empty()) return;
  id = find_token(parts, name);
  if (!id) refuse_tokenizer(path, fmt::format("\"{}\" is \"{}\", which is not in the vocabulary", key, name));
}

}  // namespace

CausalTokenizer::CausalTokenizer(CausalParts parts) : parts_{std::move(parts)} {
  for (const auto& [id, token] : parts_.whole) whole_.add(token.text, id);
}

std::vector<std::int32_t> CausalTokenizer::tokenize(std::string_view text, std::string_view where) const {
  require_utf8(text, where);
  std::vector<std::int32_t> ids;
  ids.reserve(text.size() / 2);
  std::size_t start = 0;
  const auto plain_until = [&](std::size_t end) {
    if (end > start) tokenize_plain(text.substr(start, end - start), start == 0, ids);
  };
  for (std::size_t at = 0; at < text.size();) {
    const auto found = whole_.at(text, at);
    if (!found) {
      ++at;
      continue;
    }
    const WholeToken& token = parts_.whole.at(found->id);
    const std::size_t last = token.lstrip ? text.substr(0, at).find_last_not_of(kBlanks) + 1 : at;
    plain_until(std::max(last, start));
    ids.push_back(found->id);
    at += found->size;
    if (token.rstrip) at = std::min(text.find_first_not_of(kBlanks, at), text.size());
    start = at;
  }
  plain_until(text.size());
  return ids;
}

std::size_t CausalTokenizer::added_tokens(bool pair) const {
  const std::size_t around = parts_.before.size() + parts_.after.size();
  if (!pair) return around;
  return around + (parts_.between ? parts_.between->size() : around);
}

Encoding CausalTokenizer::with_special_tokens(std::span<const std::int32_t> first,
                                              std::optional<std::span<const std::int32_t>> second) const {
  Encoding encoding;
  const auto append = [&](std::initializer_list<std::span<const std::int32_t>> parts, std::int32_t type) {
    for (const auto& ids : parts) encoding.ids.insert(encoding.ids.end(), ids.begin(), ids.end());
    encoding.token_types.resize(encoding.ids.size(), type);
  };
  if (!second) {
    append({parts_.before, first, parts_.after}, 0);
  } else {
    append({parts_.before, first, parts_.between.value_or(parts_.after)}, 0);
    if (!parts_.between) append({parts_.before}, 1);
    append({*second, parts_.after}, 1);
  }
  encoding.length = encoding.ids.size();
  return encoding;
}

std::string CausalTokenizer::decode(std::span<const std::int32_t> ids, bool skip_special_tokens) const {
  std::string text;
  std::vector<std::int32_t> run;
  const auto flush = [&] {
    if (!run.empty()) text += decode_plain(run, text.empty());
    run.clear();
  };
  for (const std::int32_t id : ids) {
    token(id);  // is there such an id?
    const auto whole = parts_.whole.find(id);
    if (whole == parts_.whole.end()) {
      run.push_back(id);
      continue;
    }
    const WholeToken& found = whole->second;
    if (skip_special_tokens && found.special) continue;
    flush();
    text += found.text;
  }
  flush();
  return text;
}

const std::string& CausalTokenizer::token(std::int32_t id) const {
  if (id >= 0 && static_cast<std::size_t>(id) < parts_.vocabulary.size())
    return parts_.vocabulary[static_cast<std::size_t>(id)];
  throw base::Error{base::Fault::kData, "tokenizer",
                    fmt::format("token id {} is not in 0..{}", id, parts_.vocabulary.size() - 1),
                    "use the tokenizer that made the ids"};
}

void CausalTokenizer::save(const fs::path& folder) const {
  for (const auto& [name, content] : parts_.files) base::write_file(folder / name, content);
}

void apply_tokenizer_config(const std::string& text, const fs::path& path, CausalParts& parts) {
  if (text.empty()) return;
  base::require_shallow_json(text, path.string());
  const json config = json::parse(text, nullptr, false);
  if (!config.is_object()) refuse_tokenizer(path, "is not a JSON object");
  const json added = config.value("added_tokens_decoder", json::object());
  std::vector<AddedToken> tokens;
  for (const auto& [id, entry] : added.items())
    tokens.push_back(read_added_token(entry, json::parse(id, nullptr, false), path));
  std::ranges::sort(tokens, {}, &AddedToken::id);  // as text, "10" comes before "9"
  for (const AddedToken& token : tokens) add_whole_token(token, path, parts);
  std::optional<std::int32_t> pad;
  read_role(config, "bos_token", path, parts, parts.bos);
  read_role(config, "eos_token", path, parts, parts.eos);
  read_role(config, "pad_token", path, parts, pad);
  if (pad) parts.pad = *pad;
  const std::string kind = config.value("tokenizer_class", std::string{});
  if (!kind.starts_with("Llama")) return;
  if (config.contains("add_bos_token"))
    parts.before =
        flag(config, "add_bos_token", true, path) && parts.bos ? std::vector{*parts.bos} : std::vector<std::int32_t>{};
  if (config.contains("add_eos_token"))
    parts.after =
        flag(config, "add_eos_token", false, path) && parts.eos ? std::vector{*parts.eos} : std::vector<std::int32_t>{};
}

void add_whole_token(const AddedToken& token, const fs::path& path, CausalParts& parts) {
  if (token.id == parts.vocabulary.size()) parts.vocabulary.push_back(token.content);
  if (token.id >= parts.vocabulary.size() || parts.vocabulary[token.id] != token.content)
    refuse_tokenizer(path, fmt::format("added token \"{}\" has id {}, which another token has or which leaves a gap",
                                       token.content, token.id));
  if (!token.content.empty())
    parts.whole[static_cast<std::int32_t>(token.id)] = {token.content, token.special, token.lstrip, token.rstrip};
}

}  // namespace workloads
