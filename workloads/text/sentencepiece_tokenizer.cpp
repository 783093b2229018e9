// SentencePiece models, read by Google's own library.
#include <fmt/format.h>
#include <sentencepiece_processor.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/text.h"
#include "workloads/checkpoints/json_file.h"
#include "workloads/text/causal_tokenizer.h"
#include "workloads/text/tokenizer_json.h"

namespace workloads {
namespace {

namespace fs = std::filesystem;
constexpr std::array<const char*, 4> kFairseq = {"<s>", "<pad>", "</s>", "<unk>"};
constexpr std::int32_t kUnknown = 3;  // the id of the last of these
using sentencepiece::SentencePieceProcessor;

/// Every part of a text between whole tokens is encoded by itself, with the model's prefix blank, as Hugging Face's
/// LlamaTokenizer (legacy) does; decode() takes that blank away again.
class SentencePiece final : public CausalTokenizer {
 public:
  /// `shift`: from the model's number of a piece to its id.
  SentencePiece(CausalParts parts, std::unique_ptr<SentencePieceProcessor> processor, std::int32_t shift)
      : CausalTokenizer{std::move(parts)}, processor_{std::move(processor)}, shift_{shift} {}

 protected:
  void tokenize_plain(std::string_view text, bool, std::vector<std::int32_t>& ids) const override {
    std::vector<int> found;
    const auto status = processor_->Encode(text, &found);
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

/// CamemBERT's and mBART's files have the same name, and other ids.
void require_xlm_roberta(const fs::path& folder) {
  for (const auto& [file, key] :
       {std::pair{"tokenizer_config.json", "tokenizer_class"}, {"config.json", "model_type"}}) {
    if (!fs::exists(folder / file)) continue;
    const std::string kind = text_at(read_json_file(folder / file), key, "", folder / file);
    if (!kind.empty() && !kind.starts_with("XLMRoberta") && !kind.starts_with("xlm-roberta"))
      refuse_tokenizer(folder / file, fmt::format("\"{}\" is \"{}\", whose ids are not XLM-RoBERTa's", key, kind));
  }
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

}  // namespace

std::unique_ptr<Tokenizer> load_sentencepiece(const fs::path& source, std::string config) {
  CausalParts parts;
  const std::string name = source.filename();
  const bool of_deberta = name == "spm.model", of_fairseq = name == "sentencepiece.bpe.model";
  std::string& model = parts.files[of_deberta || of_fairseq || name == "spiece.model" ? name : "tokenizer.model"] =
      base::read_file(source);
  auto processor = std::make_unique<SentencePieceProcessor>();
  if (const auto status = processor->LoadFromSerializedProto(model); !status.ok())
    refuse_tokenizer(source, fmt::format("is not a SentencePiece model ({})", status.ToString()));
  const fs::path settings = source.parent_path() / "tokenizer_config.json";
  require_known(config, settings, of_deberta);
  if (of_fairseq) require_xlm_roberta(source.parent_path());
  read_pieces(*processor, of_fairseq, source, parts);
  parts.bos = role(processor->bos_id());
  parts.eos = role(processor->eos_id());
  parts.pad = of_fairseq ? 1 : role(processor->pad_id()).value_or(parts.eos.value_or(0));
  if (parts.bos) parts.before = {*parts.bos};
  apply_tokenizer_config(config, settings, parts);
  if (of_fairseq) surround(0, 2, 2, source, parts);
  if (of_deberta) surround(parts.bos, parts.eos, 1, source, parts);
  const auto is_mask = [](const auto& token) { return token.second.text == "[MASK]"; };
  if (of_deberta && std::ranges::none_of(parts.whole, is_mask)) {  // as transformers adds it
    parts.whole[static_cast<std::int32_t>(parts.vocabulary.size())] = {"[MASK]"};
    parts.vocabulary.emplace_back("[MASK]");
  }
  if (!config.empty()) parts.files["tokenizer_config.json"] = std::move(config);
  return std::make_unique<SentencePiece>(std::move(parts), std::move(processor), of_fairseq ? 1 : 0);
}

}  // namespace workloads
