// SentencePiece models (tokenizer.model, spiece.model), read by Google's own library.
#include <fmt/format.h>
#include <sentencepiece_processor.h>

#include "base/files.h"
#include "workloads/text/causal_tokenizer.h"
#include "workloads/text/tokenizer_json.h"

namespace workloads {
namespace {

namespace fs = std::filesystem;
using sentencepiece::SentencePieceProcessor;

/// Every part of a text between whole tokens is encoded by itself, with the model's prefix blank, as Hugging Face's
/// LlamaTokenizer (legacy) does; decode() takes that blank away again.
class SentencePiece final : public CausalTokenizer {
 public:
  SentencePiece(CausalParts parts, std::unique_ptr<SentencePieceProcessor> processor)
      : CausalTokenizer{std::move(parts)}, processor_{std::move(processor)} {}

 protected:
  void tokenize_plain(std::string_view text, bool, std::vector<std::int32_t>& ids) const override {
    std::vector<int> found;
    const auto status = processor_->Encode(text, &found);
    if (!status.ok()) refuse_tokenizer("SentencePiece", status.ToString());
    ids.insert(ids.end(), found.begin(), found.end());
  }

  std::string decode_plain(std::span<const std::int32_t> ids, bool) const override {
    std::string text;
    const auto status = processor_->Decode(std::vector<int>(ids.begin(), ids.end()), &text);
    if (!status.ok()) refuse_tokenizer("SentencePiece", status.ToString());
    return text;
  }

 private:
  std::unique_ptr<SentencePieceProcessor> processor_;
};

std::optional<std::int32_t> role(int id) {  // the library says -1 for a token that the model has not
  return id >= 0 ? std::optional{static_cast<std::int32_t>(id)} : std::nullopt;
}

}  // namespace

std::unique_ptr<Tokenizer> load_sentencepiece(const fs::path& source, std::string config) {
  CausalParts parts;
  const bool of_t5 = source.filename() == "spiece.model";  // as T5 calls it
  std::string& model = parts.files[of_t5 ? "spiece.model" : "tokenizer.model"] = base::read_file(source);
  auto processor = std::make_unique<SentencePieceProcessor>();
  if (const auto status = processor->LoadFromSerializedProto(model); !status.ok())
    refuse_tokenizer(source, fmt::format("is not a SentencePiece model ({})", status.ToString()));
  for (int id = 0; id < processor->GetPieceSize(); ++id) {
    parts.vocabulary.push_back(processor->IdToPiece(id));
    if (processor->IsControl(id) || processor->IsUnknown(id)) parts.whole[id] = {parts.vocabulary.back()};
  }
  parts.bos = role(processor->bos_id());
  parts.eos = role(processor->eos_id());
  parts.pad = role(processor->pad_id()).value_or(parts.eos.value_or(0));
  if (parts.bos) parts.before = {*parts.bos};
  apply_tokenizer_config(config, source.parent_path() / "tokenizer_config.json", parts);
  if (!config.empty()) parts.files["tokenizer_config.json"] = std::move(config);
  return std::make_unique<SentencePiece>(std::move(parts), std::move(processor));
}

}  // namespace workloads
