// SentencePiece models, read by Google's own library.
#include <fmt/format.h>
#include <sentencepiece_processor.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/text.h"
#include "workloads/checkpoints/json_file.h"
#include "workloads/text/bert_text.h"
#include "workloads/text/causal_tokenizer.h"
#include "workloads/text/tokenizer_json.h"

namespace workloads {
namespace {

namespace fs = std::filesystem;
constexpr std::array<const char*, 4> kFairseq = {"<s>", "<pad>", "</s>", "<unk>"};
constexpr std::int32_t kUnknown = 3;  // the id of the last of these
using sentencepiece::SentencePieceProcessor;

/// TeX's quotation marks become ". Source: transformers, tokenization_albert.py, preprocess_text().
std::string plain_quotes(std::string text) {
  for (const char* quote : {"``", "''"})
    for (std::size_t at = 0; (at = text.find(quote, at)) != std::string::npos; ++at) text.replace(at, 2, "\"");
  return text;
}

/// Every part of a text between whole tokens is encoded by itself, with the model's prefix blank, as Hugging Face's
/// LlamaTokenizer (legacy) does; decode() takes that blank away again.
class SentencePiece final : public CausalTokenizer {
 public:
  /// `shift`: from the number of a piece to its id. `normalizer`: changes a text before the model cuts it up.
  SentencePiece(CausalParts parts, std::unique_ptr<SentencePieceProcessor> processor, std::int32_t shift,
                const std::optional<BertNormalizer>& normalizer)
      : CausalTokenizer{std::move(parts)}, processor_{std::move(processor)}, shift_{shift}, normalizer_{normalizer} {}

 protected:
  void tokenize_plain(std::string_view text, bool, std::vector<std::int32_t>& ids) const override {
    std::vector<int> found;
    const auto status = processor_->Encode(normalizer_ ? plain_quotes(normalizer_->apply(text)) : text, &found);
    if (!status.ok()) refuse_tokenizer("SentencePiece", status.ToString());
    for (const int piece : found)
      ids.push_back(processor_->IsUnknown(piece) ? piece + kUnknown * shift_ : piece + shift_);
  }

  std::string decode_plain(std::span<const std::int32_t> ids, bool) const override {
    std::string text;
    std::vector<int> pieces(ids.begin(), ids.end());
    for (int& piece : pieces) piece -= shift_;
    const auto status = processor_->Decode(pieces, &text);
    if (!status.ok()) refuse_tokenizer("SentencePiece", status.ToString());
    return text;
  }

 private:
  std::unique_ptr<SentencePieceProcessor> processor_;
  const std::int32_t shift_;
  const std::optional<BertNormalizer> normalizer_;
};

/// Settings that would give other ids than the model alone.
void require_known(const std::string& text, const fs::path& path, bool of_deberta) {
  if (text.empty()) return;
  base::require_shallow_json(text, path.string());
  const nlohmann::json config = nlohmann::json::parse(text, nullptr, false);
  if (!config.is_object()) refuse_tokenizer(path, "is not a JSON object");
  for (const char* key : {"do_lower_case", "split_by_punct"})
    if (of_deberta && flag(config, key, false, path)) refuse_tokenizer(path, fmt::format("\"{}\" is set", key));
}

/// The name that a file beside a model gives its tokenizer: "AlbertTokenizerFast", "albert".
struct Named {
  fs::path file;
  std::string key, kind;

  bool is_of(std::initializer_list<const char*> known) const {
    return std::ranges::any_of(known, [&](const char* name) { return base::lower(kind).starts_with(name); });
  }
};

std::vector<Named> names_beside(const fs::path& folder) {
  std::vector<Named> out;
  for (const auto& [file, key] :
       {std::pair{"tokenizer_config.json", "tokenizer_class"}, {"config.json", "model_type"}}) {
    if (!fs::exists(folder / file)) continue;
    std::string kind = text_at(read_json_file(folder / file), key, "", folder / file);
    if (!kind.empty() && !kind.starts_with("PreTrained")) out.push_back({folder / file, key, std::move(kind)});
  }
  return out;
}

/// Several families have files of the same name, and other ids.
void require_of(const std::vector<Named>& named, std::initializer_list<const char*> known, const char* whose) {
  for (const Named& one : named)
    if (!one.is_of(known))
      refuse_tokenizer(one.file, fmt::format("\"{}\" is \"{}\", whose ids are not {}", one.key, one.kind, whose));
}

std::optional<std::int32_t> role(int id) {  // the library says -1 for a token that the model has not
  return id >= 0 ? std::optional{static_cast<std::int32_t>(id)} : std::nullopt;
}

/// The pieces by their ids. fairseq, where XLM-RoBERTa is from, has its own four tokens in front, of which the model
/// has three. Source: transformers, tokenization_xlm_roberta.py.
void read_pieces(const SentencePieceProcessor& model, bool of_fairseq, const fs::path& source, CausalParts& parts) {
  for (int id = 0; id < model.GetPieceSize(); ++id) {
    parts.vocabulary.push_back(model.IdToPiece(id));
    if (model.IsControl(id) || model.IsUnknown(id)) parts.whole[id] = {parts.vocabulary.back()};
  }
  if (!of_fairseq) return;
  constexpr std::array kFirst = {"<unk>", "<s>", "</s>"};
  if (parts.vocabulary.size() < kFirst.size() || !std::equal(kFirst.begin(), kFirst.end(), parts.vocabulary.begin()))
    refuse_tokenizer(source, "does not begin with <unk>, <s> and </s>");
  parts.vocabulary.erase(parts.vocabulary.begin(), parts.vocabulary.begin() + kFirst.size());
  parts.vocabulary.insert(parts.vocabulary.begin(), kFairseq.begin(), kFairseq.end());
  parts.vocabulary.emplace_back("<mask>");
  parts.whole.clear();
  for (const std::int32_t id : {0, 1, 2, kUnknown}) parts.whole[id] = {parts.vocabulary[static_cast<std::size_t>(id)]};
  parts.whole[static_cast<std::int32_t>(parts.vocabulary.size()) - 1] = {"<mask>", true, true};
}

/// An encoder's tokens around texts: "[CLS] A [SEP] B [SEP]", or "<s> A </s></s> B </s>".
void surround(std::optional<std::int32_t> first, std::optional<std::int32_t> last, std::size_t between,
              const fs::path& source, CausalParts& parts) {
  if (!first || !last) refuse_tokenizer(source, "names no tokens that begin and end a text");
  parts.bos = first, parts.eos = last;
  parts.before = {*first}, parts.after = {*last};
  parts.between.emplace(between, *last);
}

/// The id of a token that no text is cut into, as "[CLS]".
std::optional<std::int32_t> whole_token(const CausalParts& parts, std::string_view text) {
  const auto found = std::ranges::find_if(parts.whole, [&](const auto& token) { return token.second.text == text; });
  return found == parts.whole.end() ? std::nullopt : std::optional{found->first};
}

enum class PieceUse { kDecoder, kAlbert, kDeberta, kFairseq };

PieceUse use_of(const fs::path& source) {
  const std::string name = source.filename();
  const std::vector<Named> named = names_beside(source.parent_path());
  if (name == "spm.model") return PieceUse::kDeberta;
  if (name == "sentencepiece.bpe.model") {
    require_of(named, {"xlmroberta", "xlm-roberta"}, "XLM-RoBERTa's");
    return PieceUse::kFairseq;
  }
  if (name != "spiece.model") return PieceUse::kDecoder;
  if (std::ranges::any_of(named, [](const Named& one) { return one.is_of({"albert"}); })) return PieceUse::kAlbert;
  require_of(named, {"t5", "mt5", "umt5", "longt5", "switch"}, "T5's or ALBERT's");
  return PieceUse::kDecoder;
}

/// The steps before ALBERT's model. Source: transformers, tokenization_albert.py.
BertNormalizer albert_normalizer(const std::string& config, const fs::path& path) {
  const nlohmann::json given = config.empty() ? nlohmann::json::object() : nlohmann::json::parse(config);
  return {.clean_text = false,
          .handle_chinese_chars = false,
          .strip_accents = !flag(given, "keep_accents", false, path),
          .lowercase = flag(given, "do_lower_case", true, path)};
}

/// The tokens around an encoder's texts, and what stands for a hidden one.
void apply_use(PieceUse use, const fs::path& source, CausalParts& parts) {
  if (use == PieceUse::kFairseq) surround(0, 2, 2, source, parts);
  if (use == PieceUse::kAlbert) surround(whole_token(parts, "[CLS]"), whole_token(parts, "[SEP]"), 1, source, parts);
  if (use != PieceUse::kDeberta) return;
  surround(parts.bos, parts.eos, 1, source, parts);
  if (whole_token(parts, "[MASK]")) return;
  parts.whole[static_cast<std::int32_t>(parts.vocabulary.size())] = {"[MASK]"};  // as transformers adds it
  parts.vocabulary.emplace_back("[MASK]");
}

}  // namespace

std::unique_ptr<Tokenizer> load_sentencepiece(const fs::path& source, std::string config) {
  CausalParts parts;
  const std::string name = source.filename();
  const bool usual = name == "spm.model" || name == "sentencepiece.bpe.model" || name == "spiece.model";
  std::string& model = parts.files[usual ? name : "tokenizer.model"] = base::read_file(source);
  auto processor = std::make_unique<SentencePieceProcessor>();
  if (const auto status = processor->LoadFromSerializedProto(model); !status.ok())
    refuse_tokenizer(source, fmt::format("is not a SentencePiece model ({})", status.ToString()));
  const fs::path settings = source.parent_path() / "tokenizer_config.json";
  const PieceUse use = use_of(source);
  const bool of_fairseq = use == PieceUse::kFairseq;
  require_known(config, settings, use == PieceUse::kDeberta);
  read_pieces(*processor, of_fairseq, source, parts);
  parts.bos = role(processor->bos_id());
  parts.eos = role(processor->eos_id());
  parts.pad = of_fairseq ? 1 : role(processor->pad_id()).value_or(parts.eos.value_or(0));
  if (parts.bos) parts.before = {*parts.bos};
  apply_tokenizer_config(config, settings, parts);
  apply_use(use, source, parts);
  std::optional<BertNormalizer> normalizer;
  if (use == PieceUse::kAlbert) normalizer = albert_normalizer(config, settings);
  if (!config.empty()) parts.files["tokenizer_config.json"] = std::move(config);
  return std::make_unique<SentencePiece>(std::move(parts), std::move(processor), of_fairseq ? 1 : 0, normalizer);
}

}  // namespace workloads
