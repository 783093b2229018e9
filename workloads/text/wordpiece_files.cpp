// Reading and writing the files of a WordPiece tokenizer.
#include <fmt/format.h>

#include <algorithm>

#include "base/files.h"
#include "workloads/checkpoints/json_file.h"
#include "workloads/text/protein_tokenizer.h"
#include "workloads/text/tokenizer_json.h"
#include "workloads/text/utf8.h"
#include "workloads/text/wordpiece.h"

namespace workloads {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

void read_normalizer(const json& part, BertNormalizer& normalizer, const fs::path& path) {
  require_type(part, "normalizer", {"BertNormalizer"}, path);
  normalizer.clean_text = flag(part, "clean_text", true, path);
  normalizer.handle_chinese_chars = flag(part, "handle_chinese_chars", true, path);
  normalizer.lowercase = flag(part, "lowercase", true, path);
  if (part.contains("strip_accents") && !part.at("strip_accents").is_null())
    normalizer.strip_accents = flag(part, "strip_accents", true, path);
}

/// Appends the tokens that were added behind model.vocab; those that are in it already are only never split.
void read_added_tokens(const json& file, WordPieceModel& model, const fs::path& path) {
  for (const json& entry : file.value("added_tokens", json::array())) {
    const auto [index, content, special, lstrip, rstrip, normalized] =
        read_added_token(entry, field(entry, "id", path), path);
    if (normalized) refuse_tokenizer(path, fmt::format("added token \"{}\" is \"normalized\": not supported", content));
    if (index == model.vocabulary.size()) model.vocabulary.push_back(content);
    if (index >= model.vocabulary.size() || model.vocabulary[index] != content)
      refuse_tokenizer(path, fmt::format("added token \"{}\" has id {}, which another token has or which leaves a gap",
                                         content, index));
    model.extra_whole_tokens.push_back(content);
  }
}

/// Names in a template: special tokens, and of texts "A" and "B".
std::vector<std::string> names_in(const json& form, const fs::path& path) {
  std::vector<std::string> names;
  for (const json& part : form.is_array() ? form : json::array()) {
    const bool special = part.is_object() && part.contains("SpecialToken");
    names.push_back(
        text_at(part.is_object() ? part.value(special ? "SpecialToken" : "Sequence", json::object()) : json::object(),
                "id", "", path));
  }
  return names;
}

/// Only "[CLS] A [SEP]" and "[CLS] A [SEP] B [SEP]" are BERT's, two separators between the texts MPNet's; anything else
/// would give other ids.
void read_post_processor(const json& file, WordPieceModel& model, const fs::path& path) {
  const json part = file.value("post_processor", json{});
  if (part.is_null()) return;
  const std::string &cls = model.special.classify, &sep = model.special.separator;
  require_type(part, "post_processor", {"BertProcessing", "RobertaProcessing", "TemplateProcessing"}, path);
  model.between = part.at("type") == "RobertaProcessing" ? 2 : 1;
  if (part.at("type") != "TemplateProcessing") return;
  using Names = std::vector<std::string>;
  if (names_in(field(part, "single", path), path) != Names{cls, "A", sep})
    refuse_tokenizer(path, fmt::format("post_processor is not \"{} A {}\"", cls, sep));
  if (!part.contains("pair")) return;
  const Names pair = names_in(part.at("pair"), path);
  if (pair == Names{cls, "A", sep, sep, "B", sep}) model.between = 2;
  if (model.between == 1 && pair != Names{cls, "A", sep, "B", sep})
    refuse_tokenizer(path, fmt::format("post_processor of two texts is not \"{} A {} B {}\"", cls, sep, sep));
}

WordPieceModel read_tokenizer_json(const json& file, const fs::path& path) {
  const json& part = field(file, "model", path);
  WordPieceModel model;
  const json& vocab = field(part, "vocab", path);
  model.vocabulary = ordered_vocabulary(vocab, vocab.size(), path);
  model.special.unknown = text_at(part, "unk_token", model.special.unknown, path);
  model.continuation = text_at(part, "continuing_subword_prefix", model.continuation, path);
  model.max_word_characters = part.value("max_input_chars_per_word", model.max_word_characters);
  read_normalizer(field(file, "normalizer", path), model.normalizer, path);
  require_type(field(file, "pre_tokenizer", path), "pre_tokenizer", {"BertPreTokenizer"}, path);
  read_added_tokens(file, model, path);
  return model;
}

void read_tokenizer_config(const fs::path& path, WordPieceModel& model, bool normalizer_too) {
  const json file = read_json_file(path);
  if (!file.is_object()) refuse_tokenizer(path, "is not a JSON object");
  read_token_name(file, "pad_token", model.special.pad);
  read_token_name(file, "unk_token", model.special.unknown);
  read_token_name(file, "cls_token", model.special.classify);
  read_token_name(file, "sep_token", model.special.separator);
  read_token_name(file, "mask_token", model.special.mask);
  if (!normalizer_too) return;
  const std::string kind = text_at(file, "tokenizer_class", "", path);
  if (kind.starts_with("MPNet")) model.between = 2;
  model.normalizer.lowercase = flag(file, "do_lower_case", true, path);
  model.normalizer.handle_chinese_chars = flag(file, "tokenize_chinese_chars", true, path);
  if (file.contains("strip_accents") && !file.at("strip_accents").is_null())
    model.normalizer.strip_accents = flag(file, "strip_accents", true, path);
}

bool is_of_proteins(const fs::path& config) {
  return fs::exists(config) && text_at(read_json_file(config), "tokenizer_class", "", config) == "EsmTokenizer";
}

std::unique_ptr<Tokenizer> load_protein_tokenizer(const fs::path& source, const fs::path& config) {
  const json file = read_json_file(config);
  SpecialTokens special{
      .pad = "<pad>", .unknown = "<unk>", .classify = "<cls>", .separator = "<eos>", .mask = "<mask>"};
  read_token_name(file, "pad_token", special.pad), read_token_name(file, "unk_token", special.unknown);
  read_token_name(file, "cls_token", special.classify), read_token_name(file, "eos_token", special.separator);
  read_token_name(file, "mask_token", special.mask);
  return std::make_unique<ProteinTokenizer>(read_vocabulary(source), std::move(special), source.string());
}

json special_token_entry(const std::string& token, std::size_t id) {
  return {{"id", id},        {"content", token},    {"single_word", false}, {"lstrip", false},
          {"rstrip", false}, {"normalized", false}, {"special", true}};
}

json template_part(const char* kind, const std::string& id, int type) {
  return {{kind, {{"id", id}, {"type_id", type}}}};
}

json post_processor(const WordPieceModel& model, std::int32_t classify, std::int32_t separator) {
  const SpecialTokens& special = model.special;
  const json cls = template_part("SpecialToken", special.classify, 0);
  const json sep = template_part("SpecialToken", special.separator, 0);
  const json a = template_part("Sequence", "A", 0);
  const auto entry = [](const std::string& token, std::int32_t id) {
    return json{{"id", token}, {"ids", {id}}, {"tokens", {token}}};
  };
  json pair = {cls, a, sep};
  for (std::size_t i = 1; i < model.between; ++i) pair.push_back(sep);
  pair.push_back(template_part("Sequence", "B", 1));
  pair.push_back(template_part("SpecialToken", special.separator, 1));
  return {{"type", "TemplateProcessing"},
          {"single", {cls, a, sep}},
          {"pair", pair},
          {"special_tokens",
           {{special.classify, entry(special.classify, classify)},
            {special.separator, entry(special.separator, separator)}}}};
}

/// The keys of tokenizer_config.json that transformers reads for a BertTokenizer.
json config_of(const WordPieceModel& model, const json& accents) {
  const SpecialTokens& s = model.special;
  return {{"tokenizer_class", model.between > 1 ? "MPNetTokenizer" : "BertTokenizer"},
          {"do_lower_case", model.normalizer.lowercase},
          {"tokenize_chinese_chars", model.normalizer.handle_chinese_chars},
          {"strip_accents", accents},
          {"pad_token", s.pad},
          {"unk_token", s.unknown},
          {"cls_token", s.classify},
          {"sep_token", s.separator},
          {"mask_token", s.mask}};
}

}  // namespace

std::vector<std::string> read_vocabulary(const fs::path& path) {
  const std::string text = base::read_file(path);
  std::vector<std::string> tokens;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = std::string_view{text}.substr(at, end - at);
    if (line.ends_with('\r')) line.remove_suffix(1);
    require_utf8(line, fmt::format("{}:{}", path.string(), tokens.size() + 1));
    tokens.emplace_back(line);
    at = end + 1;
  }
  return tokens;
}

std::unique_ptr<Tokenizer> load_wordpiece(const fs::path& source, const json* tokenizer_json) {
  const fs::path config = source.parent_path() / "tokenizer_config.json";
  if (!tokenizer_json && is_of_proteins(config)) return load_protein_tokenizer(source, config);
  WordPieceModel model;
  if (tokenizer_json)
    model = read_tokenizer_json(*tokenizer_json, source);
  else
    model.vocabulary = read_vocabulary(source);
  if (fs::exists(config)) read_tokenizer_config(config, model, !tokenizer_json);
  if (tokenizer_json) read_post_processor(*tokenizer_json, model, source);
  return std::make_unique<WordPiece>(std::move(model), source.string());
}

void WordPiece::save(const fs::path& folder) const {
  const SpecialTokens& s = model_.special;
  const BertNormalizer& n = model_.normalizer;
  const json accents = n.strip_accents ? json(*n.strip_accents) : json();
  json vocab = json::object();
  for (std::size_t i = 0; i < model_.vocabulary.size(); ++i) vocab[model_.vocabulary[i]] = i;
  json added = json::array();
  for (const std::string& token : whole_tokens_) added.push_back(special_token_entry(token, vocab.at(token)));
  const json file = {{"version", "1.0"},
                     {"truncation", nullptr},
                     {"padding", nullptr},
                     {"added_tokens", added},
                     {"normalizer",
                      {{"type", "BertNormalizer"},
                       {"clean_text", n.clean_text},
                       {"lowercase", n.lowercase},
                       {"handle_chinese_chars", n.handle_chinese_chars},
                       {"strip_accents", accents}}},
                     {"pre_tokenizer", {{"type", "BertPreTokenizer"}}},
                     {"post_processor", post_processor(model_, classify_, separator_)},
                     {"decoder", {{"type", "WordPiece"}, {"prefix", model_.continuation}, {"cleanup", true}}},
                     {"model",
                      {{"type", "WordPiece"},
                       {"unk_token", s.unknown},
                       {"continuing_subword_prefix", model_.continuation},
                       {"max_input_chars_per_word", model_.max_word_characters},
                       {"vocab", vocab}}}};
  base::write_file(folder / "tokenizer.json", file.dump(2) + "\n");
  base::write_file(folder / "tokenizer_config.json", config_of(model_, accents).dump(2) + "\n");
  std::string lines;
  for (const std::string& token : model_.vocabulary) lines += token + "\n";
  base::write_file(folder / "vocab.txt", lines);
}

}  // namespace workloads
