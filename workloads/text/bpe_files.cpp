// tokenizer.json with a BPE model. Unsupported features are refused: they would change the ids.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "workloads/text/bpe.h"
#include "workloads/text/tokenizer_json.h"

namespace workloads {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;
using Prefix = BpeStyle::Prefix;

constexpr std::string_view kVisibleBlank = "\u2581";

/// The parts of a "Sequence", or the one part; nothing for null.
std::vector<json> parts_of(const json& file, const char* key, const char* list, const fs::path& path) {
  if (!file.contains(key) || file.at(key).is_null()) return {};
  const json& part = file.at(key);
  if (!part.is_object() || part.value("type", json()) != "Sequence") return {part};
  const json& inner = field(part, list, path);
  if (!inner.is_array()) refuse_tokenizer(path, fmt::format("{}.{} is not a list", key, list));
  return inner.get<std::vector<json>>();
}

class BpeReader {
 public:
  BpeReader(const fs::path& path, const json& file) : path_{path}, file_{file}, model_{field(file, "model", path)} {}

  std::unique_ptr<Tokenizer> read(std::string config) {
    read_model();
    read_normalizer();
    read_pre_tokenizer();
    read_decoder();
    for (const json& entry : file_.value("added_tokens", json::array()))
      add_whole_token(read_added_token(entry, field(entry, "id", path_), path_), path_, parts_);
    read_post_processor();
    guess_roles();
    apply_tokenizer_config(config, path_.parent_path() / "tokenizer_config.json", parts_);
    parts_.files["tokenizer.json"] = file_.dump(2, ' ', false) + "\n";
    if (!config.empty()) parts_.files["tokenizer_config.json"] = std::move(config);
    return std::make_unique<Bpe>(std::move(parts_), style_, merges_, path_.string());
  }

 private:
  template <typename... Args>
  [[noreturn]] void refuse(fmt::format_string<Args...> what, Args&&... args) const {
    refuse_tokenizer(path_, fmt::format(what, std::forward<Args>(args)...));
  }

  void read_model() {
    for (const char* key : {"dropout", "continuing_subword_prefix", "end_of_word_suffix"})
      if (model_.contains(key) && !model_.at(key).is_null() && model_.at(key) != json("") && model_.at(key) != 0.0)
        refuse("model.{} is {}, which is not supported", key, model_.at(key).dump());
    const json& vocab = field(model_, "vocab", path_);
    parts_.vocabulary = ordered_vocabulary(vocab, vocab.size(), path_);
    for (std::size_t i = 0; i < parts_.vocabulary.size(); ++i)
      ids_.emplace(parts_.vocabulary[i], static_cast<std::int32_t>(i));
    style_.byte_fallback = flag(model_, "byte_fallback", false, path_);
    style_.fuse_unknown = flag(model_, "fuse_unk", false, path_);
    style_.ignore_merges = flag(model_, "ignore_merges", false, path_);
    if (const json unknown = model_.value("unk_token", json()); unknown.is_string()) style_.unknown = id_of(unknown);
    const json& merges = field(model_, "merges", path_);
    if (!merges.is_array()) refuse("model.merges is not a list");
    merges_.reserve(merges.size());
    for (const json& merge : merges) merges_.push_back(read_merge(merge));
  }

  std::int32_t id_of(const std::string& token) const {
    if (const auto at = ids_.find(token); at != ids_.end()) return at->second;
    refuse("token \"{}\" is used, but not in the vocabulary", token);
  }

  BpeMerge read_merge(const json& merge) const {
    std::string left, right;
    if (merge.is_string()) {
      const auto& text = merge.get_ref<const std::string&>();
      const std::size_t blank = text.find(' ');
      left = text.substr(0, blank);
      if (blank != std::string::npos) right = text.substr(blank + 1);
    } else if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string()) {
      left = merge[0], right = merge[1];
    }
    if (left.empty() || right.empty()) refuse("merge {} is not two tokens", merge.dump());
    return {id_of(left), id_of(right), id_of(left + right)};
  }

  void read_normalizer() {
    for (const json& part : parts_of(file_, "normalizer", "normalizers", path_)) {
      require_type(part, "normalizer", {"NFC", "Prepend", "Replace"}, path_);
      const json& type = part.at("type");
      if (type == "NFC") style_.nfc = true;
      if (type == "Prepend") {
        if (field(part, "prepend", path_) != kVisibleBlank) refuse("normalizer prepends {}", part.at("prepend").dump());
        style_.prefix = Prefix::kAlways;
      }
      if (type == "Replace") {
        if (field(part, "pattern", path_) != json{{"String", " "}} || field(part, "content", path_) != kVisibleBlank)
          refuse("normalizer replaces {}; supported: blanks by U+2581", part.at("pattern").dump());
        style_.byte_level = false;
      }
    }
  }

  void read_pre_tokenizer() {
    bool byte_level = false;
    for (const json& part : parts_of(file_, "pre_tokenizer", "pretokenizers", path_)) {
      require_type(part, "pre_tokenizer", {"ByteLevel", "Split", "Digits", "Metaspace"}, path_);
      const json& type = part.at("type");
      if (type == "ByteLevel") {
        byte_level = true;
        style_.prefix_once = true;
        if (flag(part, "add_prefix_space", true, path_)) style_.prefix = Prefix::kAlways;
        if (flag(part, "use_regex", true, path_)) style_.splits.push_back(split_pattern(kGpt2Split));
      }
      if (type == "Digits")
        style_.splits.push_back(split_pattern(flag(part, "individual_digits", false, path_) ? "\\p{N}" : "\\p{N}+"));
      if (type == "Split") read_split(part);
      if (type == "Metaspace") read_metaspace(part);
    }
    if (byte_level != style_.byte_level)
      refuse(
          "neither byte-level (pre_tokenizer ByteLevel) nor with U+2581 for blanks (normalizer Replace or Metaspace)");
  }

  void read_split(const json& part) {
    const json regex = field(part, "pattern", path_).value("Regex", json());
    if (!regex.is_string()) refuse("pre_tokenizer splits by {}; supported: a Regex", part.at("pattern").dump());
    if (part.value("behavior", json()) != "Isolated" || flag(part, "invert", false, path_))
      refuse("pre_tokenizer Split is not \"Isolated\"");
    style_.splits.push_back(split_pattern(regex.get_ref<const std::string&>(), path_.string()));
  }

  void read_metaspace(const json& part) {
    style_.byte_level = false;
    style_.prefix_once = true;
    if (part.value("replacement", std::string{kVisibleBlank}) != kVisibleBlank)
      refuse("pre_tokenizer Metaspace replaces blanks by {}", part.at("replacement").dump());
    const bool old = flag(part, "add_prefix_space", true, path_);
    const json scheme = part.value("prepend_scheme", json(old ? "always" : "never"));
    if (scheme != "always" && scheme != "first" && scheme != "never") refuse("prepend_scheme is {}", scheme.dump());
    style_.prefix = scheme == "always" ? Prefix::kAlways : scheme == "first" ? Prefix::kFirst : Prefix::kNever;
    style_.split_at_blanks = flag(part, "split", true, path_);
  }

  void read_decoder() {
    for (const json& part : parts_of(file_, "decoder", "decoders", path_)) {
      require_type(part, "decoder", {"ByteLevel", "Replace", "ByteFallback", "Fuse", "Strip", "Metaspace"}, path_);
      const json& type = part.at("type");
      if ((type == "ByteLevel") != style_.byte_level && type != "Fuse")
        refuse("decoder {} does not fit the pre_tokenizer", type.dump());
      if (type == "Strip") {
        if (part.value("content", json()) != " " || part.value("start", 0) != 1 || part.value("stop", 0) != 0)
          refuse("decoder Strip is not one blank at the start");
        style_.strip_prefix = true;
      }
      if (type == "Metaspace") style_.strip_prefix = style_.prefix != Prefix::kNever;
    }
  }

  /// Only texts with fixed tokens around them.
  void read_post_processor() {
    for (const json& part : parts_of(file_, "post_processor", "processors", path_)) {
      require_type(part, "post_processor", {"ByteLevel", "TemplateProcessing", "RobertaProcessing", "BertProcessing"},
                   path_);
      if (part.at("type") == "ByteLevel") continue;  // moves offsets, not ids
      if (part.at("type") != "TemplateProcessing") {
        const auto id_of = [&](const char* name) { return checked_id(field(part, name, path_).at(1)); };
        parts_.before = {id_of("cls")}, parts_.after = {id_of("sep")};
        parts_.between.emplace(part.at("type") == "RobertaProcessing" ? 2 : 1, id_of("sep"));
        continue;
      }
      const auto single = around_texts(part, "single", 1);
      parts_.before = single[0], parts_.after = single[1];
      if (!part.contains("pair")) continue;
      const auto pair = around_texts(part, "pair", 2);
      const bool alike = pair[0] == parts_.before && pair[2] == parts_.after;
      if (alike)
        parts_.between = pair[1];
      else if (pair[0].size() + pair[1].size() + pair[2].size() > 0)  // the library's own form of pairs has none
        refuse("post_processor has other tokens around two texts than around one");
    }
  }

  /// The tokens of a template before, between and behind its `count` texts.
  std::vector<std::vector<std::int32_t>> around_texts(const json& part, const char* form, std::size_t count) const {
    std::vector<std::vector<std::int32_t>> out(1);
    for (const json& item : field(part, form, path_)) {
      if (item.contains("Sequence")) {
        if (text_at(item.at("Sequence"), "id", "", path_) != (out.size() == 1 ? "A" : "B"))
          refuse("post_processor has its texts in another order, or one twice");
        out.emplace_back();
        continue;
      }
      const std::string name = text_at(field(item, "SpecialToken", path_), "id", "", path_);
      const json& special = field(field(part, "special_tokens", path_), name.c_str(), path_);
      for (const json& id : field(special, "ids", path_)) out.back().push_back(checked_id(id));
    }
    if (out.size() != count + 1) refuse("post_processor leaves a text out, or repeats it");
    return out;
  }

  std::int32_t checked_id(const json& id) const {
    if (!id.is_number_unsigned() || id.get<std::size_t>() >= parts_.vocabulary.size())
      refuse("post_processor adds the id {}, which is not a token", id.dump());
    return id.get<std::int32_t>();
  }

  /// tokenizer.json does not say which tokens begin and end a text; tokenizer_config.json does, if it is there.
  void guess_roles() {
    const auto first_of = [this](std::initializer_list<std::string_view> names) -> std::optional<std::int32_t> {
      for (const std::string_view name : names)
        for (const auto& [id, token] : parts_.whole)
          if (token.text == name) return id;
      return std::nullopt;
    };
    parts_.bos = first_of({"<s>", "<|begin_of_text|>", "<|endoftext|>"});
    parts_.eos = first_of({"</s>", "<|end_of_text|>", "<|endoftext|>"});
    const auto pad = first_of({"<pad>", "[PAD]", "<|finetune_right_pad_id|>"});
    parts_.pad = pad.value_or(parts_.eos.value_or(0));
  }

  const fs::path& path_;
  const json& file_;
  const json& model_;
  CausalParts parts_;
  BpeStyle style_;
  std::vector<BpeMerge> merges_;
  std::unordered_map<std::string, std::int32_t> ids_;
};

}  // namespace

std::unique_ptr<Tokenizer> load_bpe(const fs::path& source, const json& file, std::string config) {
  return BpeReader{source, file}.read(std::move(config));
}

}  // namespace workloads
