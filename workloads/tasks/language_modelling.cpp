#include "workloads/tasks/language_modelling.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "workloads/checkpoints/adapter.h"
#include "workloads/checkpoints/model_files.h"
#include "workloads/data/synthetic/emotion_synthetic.h"
#include "workloads/data/synthetic/instruction_synthetic.h"
#include "workloads/models/presets.h"
#include "workloads/text/bpe_trainer.h"

namespace workloads {
namespace {

using base::Error;
using base::Fault;
namespace fs = std::filesystem;

constexpr std::size_t kOwnTokens = 1024, kSyntheticTokens = 512;  // of a vocabulary made from the data
constexpr std::size_t kOwnWords = 8192, kSyntheticWords = 1024;   // of an encoder's
constexpr std::size_t kSyntheticTexts = 3000, kSyntheticHeldOut = 200;

struct Parts {
  Corpus train;
  std::optional<Corpus> validation{}, test{};
};

Corpus read(const std::filesystem::path& file, const DataOptions& o, std::size_t most, LanguageModelling& out) {
  Corpus corpus = read_corpus(file, {.strict = o.read.strict, .max_rows = most, .pairs = o.target_length > 0});
  if (corpus.skipped > 0) out.notes.push_back(describe_problems(corpus));
  return corpus;
}

Parts synthetic_parts(const DataOptions& o, LanguageModelling& out) {
  out.synthetic = true;
  const std::size_t texts = o.max_train_samples > 0 ? std::min(o.max_train_samples, kSyntheticTexts) : kSyntheticTexts;
  const std::size_t held = o.max_eval_samples > 0 ? std::min(o.max_eval_samples, kSyntheticHeldOut) : kSyntheticHeldOut;
  const bool pairs = o.target_length > 0;
  return {.train = synthetic_corpus(SyntheticSplit::kTrain, texts, o.seed, pairs),
          .validation = synthetic_corpus(SyntheticSplit::kValidation, held, o.seed, pairs)};
}

/// Takes every n-th sequence out of the training data, and keeps at most so many of them (0: all), as the scripts of
/// Hugging Face do. Nothing when there are fewer than n.
std::optional<PackedDataset> held_out(PackedDataset& train, std::size_t most) {
  if (train.size() < kHeldOutOneOf) return std::nullopt;
  PackedDataset held{.length = train.length, .answer_length = train.answer_length}, kept = held;
  for (std::size_t i = 0; i < train.size(); ++i) {
    const auto sequence = train.sequence(i), answer = train.answer(train.answer_length > 0 ? i : 0);
    PackedDataset& to = (i + 1) % kHeldOutOneOf == 0 ? held : kept;
    if (&to == &held && most > 0 && held.size() >= most) continue;
    to.ids.insert(to.ids.end(), sequence.begin(), sequence.end());
    to.answers.insert(to.answers.end(), answer.begin(), answer.end());
    if (!train.used.empty()) to.used.push_back(train.used[i]);
  }
  kept.dropped = train.dropped, kept.documents = train.documents;
  train = std::move(kept);
  return held;
}

Parts own_parts(const DataOptions& o, LanguageModelling& out) {
  const CorpusFiles files = corpus_files(o.dataset_path);
  using File = std::optional<std::filesystem::path>;
  const File validation = o.validation_file.empty() ? files.validation : File{o.validation_file};
  const File test = o.test_file.empty() ? files.test : File{o.test_file};
  Parts parts{.train = read(files.train, o, o.max_train_samples, out)};
  if (validation) parts.validation = read(*validation, o, o.max_eval_samples, out);
  if (test) parts.test = read(*test, o, o.max_eval_samples, out);
  return parts;
}

/// Whether an encoder learns which tokens are hidden.
bool masks(const DataOptions& o) { return o.head == Head::kMaskedTokens; }

/// An encoder's vocabulary from the texts.
void train_words(const Corpus& train, LanguageModelling& out) {
  if (!out.synthetic)
    out.notes.push_back("no `vocab`: a WordPiece vocabulary is made from the training data, not bert-base-uncased's");
  Dataset texts{.source = train.source};
  for (const std::string& text : train.texts) texts.samples.push_back({text});
  out.tokenizer = train_tokenizer(texts, out.synthetic ? kSyntheticWords : kOwnWords);
}

/// Errors: Fault::kData for a vocabulary without a token that hides others.
TokenMask mask_of(const Tokenizer& tokenizer, std::uint64_t seed) {
  TokenMask out{.vocabulary = static_cast<std::uint32_t>(tokenizer.vocab_size()),
                .kept = tokenizer.with_special_tokens({}, std::nullopt).ids,
                .seed = seed};
  out.kept.push_back(tokenizer.pad_id());
  if (const auto id = tokenizer.mask_id()) {
    out.id = *id;
    out.kept.push_back(out.id);
    return out;
  }
  throw Error{Fault::kData, "tokenizer", "has no token [MASK] or <mask> to hide others with",
              "use the vocabulary of an encoder, as bert-base-uncased's"};
}

void load_tokenizer_of(const DataOptions& o, const Corpus& train, LanguageModelling& out) {
  if (!o.vocab.empty() || !o.model_folder.empty()) {
    out.tokenizer = load_tokenizer(tokenizer_path(o.vocab, o.model_folder));
    return;
  }
  if (masks(o)) return train_words(train, out);
  if (!out.synthetic) out.notes.push_back("no `vocab`: a BPE vocabulary is made from the training data, not Llama's");
  std::vector<std::string> texts = train.texts;
  texts.insert(texts.end(), train.answers.begin(), train.answers.end());
  out.tokenizer = train_bpe(texts, out.synthetic ? kSyntheticTokens : kOwnTokens, train.source);
}

/// A new model whose table fits the tokenizer.
ModelPtr new_model(const std::string& preset, const Tokenizer& tokenizer) {
  const auto tokens = static_cast<std::int64_t>(tokenizer.vocab_size());
  return model_preset(preset)->with_tokens({.vocabulary = shared_rows(tokens),
                                            .pad = tokenizer.pad_id(),
                                            .begin = tokenizer.bos_id().value_or(tokenizer.eos_id().value_or(0)),
                                            .end = tokenizer.eos_id(),
                                            .mask = tokenizer.mask_id()});
}

void load_model_of(const DataOptions& o, LanguageModelling& out) {
  if (o.model_folder.empty()) {
    out.config = new_model(o.preset, *out.tokenizer);
    if (o.head) out.config = out.config->with_head(*o.head);
    out.weights = initial_weights(out.config, o.seed);
  } else {
    auto [config, weights] = load_model(o.model_folder, o.seed, o.head);
    out.config = std::move(config), out.weights = std::move(weights);
    for (const std::string& note : out.weights.notes) out.notes.push_back(note);
  }
  const std::string name = o.model_folder.empty() ? o.preset : o.model_folder;
  if (out.config->task() == Task::kClassification)
    throw Error{Fault::kUsage, name, "is an encoder, not a decoder", "use trnsim run bert_emotion for it"};
  if (out.config->sound())
    throw Error{Fault::kUsage, name, "reads sounds, of which there is no data set here",
                "use trnsim estimate, plan, cost or choose for its time"};
  if ((out.config->pairs() != nullptr) != (o.target_length > 0))
    throw Error{Fault::kUsage, "`max_target_length`",
                fmt::format("{} {}", name, out.config->pairs() ? "writes a new text" : "continues its own text"),
                out.config->pairs() ? "give its maximum length" : "leave it out"};
  if (o.model_folder.empty() || !is_adapter_folder(o.model_folder)) adapt(o, out);
  const std::int64_t rows = out.config->sizes().vocabulary, positions = out.config->sizes().positions;
  if (static_cast<std::int64_t>(out.tokenizer->vocab_size()) > rows)
    throw Error{Fault::kData, o.vocab.empty() ? o.model_folder : o.vocab,
                fmt::format("the vocabulary has {}, but the model's table {}",
                            base::counted(out.tokenizer->vocab_size(), "token"), rows),
                "use the vocabulary that the model was trained with"};
  require_positions(static_cast<std::int64_t>(o.length), positions);
}

}  // namespace

TrainerData LanguageModelling::data() const {
  const auto if_any = [](const std::optional<PackedDataset>& split) { return split ? &*split : nullptr; };
  const auto of = [this](const PackedDataset* split) {
    return mask ? masked_sequences(split, tokenizer->pad_id(), *mask) : token_sequences(split, tokenizer->pad_id());
  };
  return {of(&train), of(if_any(validation)), of(if_any(test)), tokenizer.get()};
}

TokenLengths LanguageModelling::lengths() const {
  TokenLengths out{.samples = {}, .source = source};
  for (std::size_t i = 0; i < train.size(); ++i) ++out.samples[static_cast<std::int64_t>(train.used_of(i))];
  return out;
}

LanguageModelling load_language_modelling(const DataOptions& o) {
  LanguageModelling out;
  Parts parts = o.dataset_path.empty() ? synthetic_parts(o, out) : own_parts(o, out);
  out.source = parts.train.source;
  load_tokenizer_of(o, parts.train, out);
  if (masks(o)) out.mask = mask_of(*out.tokenizer, o.seed);
  load_model_of(o, out);
  out.texts = parts.train.texts.size();
  const auto sequences = [&](const Corpus& texts) {
    if (o.target_length > 0) return pair_up(texts, *out.tokenizer, o.length, o.target_length);
    return o.packing ? pack(texts, *out.tokenizer, o.length, !out.mask)
                     : pad(texts, *out.tokenizer, o.length, !out.mask);
  };
  out.train = sequences(parts.train);
  if (!o.packing && out.train.dropped > 0)
    out.notes.push_back(fmt::format("{} tokens of texts longer than {} were cut off", out.train.dropped, o.length));
  if (parts.validation) {
    out.validation = sequences(*parts.validation);
  } else if (o.hold_out) {
    out.validation = held_out(out.train, o.max_eval_samples);
    out.notes.push_back(out.validation ? fmt::format("one of {} sequences is held out for evaluation", kHeldOutOneOf)
                                       : fmt::format("{} sequences are too few to hold any out for evaluation: give "
                                                     "`validation_file`, or `eval_strategy` no",
                                                     out.train.size()));
  }
  if (parts.test) out.test = sequences(*parts.test);
  return out;
}

std::filesystem::path tokenizer_path(const std::string& vocab, const std::filesystem::path& model) {
  if (!vocab.empty()) return vocab;
  if (is_adapter_folder(model) && !fs::exists(model / "tokenizer.json") && !fs::exists(model / "tokenizer.model"))
    return tokenizer_path({}, base_of_adapter(model));
  return model.extension() == ".bin" ? model.parent_path() : model;
}

std::size_t count_pairs(const fs::path& dataset, std::size_t max_rows, bool strict) {
  return read_corpus(dataset, {.strict = strict, .max_rows = max_rows, .pairs = true}).texts.size();
}

TokenLengths token_lengths(const std::filesystem::path& dataset, const std::filesystem::path& tokenizer,
                           std::size_t max_rows, bool strict) {
  const Corpus corpus = read_corpus(dataset, {.strict = strict, .max_rows = max_rows});
  TokenLengths out{.samples = {}, .source = corpus.source, .estimated = tokenizer.empty()};
  const auto loaded = out.estimated ? nullptr : load_tokenizer(tokenizer);
  for (const std::string& text : corpus.texts) {
    const std::size_t tokens = loaded ? loaded->encode(text, 0, corpus.source).ids.size()
                                      : (text.size() + kBytesPerToken / 2) / kBytesPerToken;
    ++out.samples[static_cast<std::int64_t>(tokens) + 1];
  }
  return out;
}

}  // namespace workloads
