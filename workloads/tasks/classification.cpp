#include "workloads/tasks/classification.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "workloads/checkpoints/adapter.h"
#include "workloads/checkpoints/safetensors.h"
#include "workloads/data/image_files.h"
#include "workloads/data/image_folder.h"
#include "workloads/data/synthetic/digits.h"
#include "workloads/data/synthetic/emotion_synthetic.h"
#include "workloads/models/presets.h"

namespace workloads {
namespace {

using base::Error;
using base::Fault;

/// Tokens of a vocabulary made from the data: enough for common words, small enough that each is seen often.
constexpr std::size_t kOwnVocabulary = 8192;
constexpr std::size_t kSyntheticVocabulary = 1024;

/// Errors: Fault::kData when the folder's model has no head for labels.
ModelPtr classifier_at(const DataOptions& o) {
  const std::filesystem::path folder = o.model_folder;
  ModelPtr model = read_config(folder);
  if (o.head) model = model->with_head(*o.head);
  if (model->task() == Task::kClassification) return model;
  throw Error{Fault::kData, (folder / "config.json").string(), fmt::format("is a {} model", model->family()),
              "use a model of type bert here"};
}

void cut(Dataset& data, std::size_t most) {
  if (most > 0 && data.samples.size() > most) data.samples.resize(most);
}

/// The model's own names of its labels, when it knows all of the data's: learned classes keep their meaning. Empty
/// when it does not, or when the user gives the names.
std::vector<std::string> names_of_model(const DataOptions& o, const std::vector<std::string>& data) {
  if (o.model_folder.empty() || !o.read.label_names.empty()) return {};
  const std::vector<std::string> names = classifier_at(o)->label_names();
  const auto knows = [&](const std::string& name) { return std::ranges::find(names, name) != names.end(); };
  return std::ranges::all_of(data, knows) ? names : std::vector<std::string>{};
}

Splits read_data(const DataOptions& o, Classification& out) {
  if (o.dataset_path.empty()) {
    out.synthetic = true;
    out.source = std::string{kSyntheticName};
    return synthetic_splits(16000, 2000, 2000, o.seed);
  }
  ReadOptions same = o.read;
  Splits splits = read_splits(o.dataset_path, same);
  if (const auto names = names_of_model(o, splits.train.label_names); !names.empty()) {
    same.label_names = names;
    splits = read_splits(o.dataset_path, same);
  }
  same.label_names = splits.train.label_names;
  if (!o.validation_file.empty()) splits.validation = read_dataset(o.validation_file, same);
  if (!o.test_file.empty()) splits.test = read_dataset(o.test_file, same);
  out.source = splits.train.source;
  return splits;
}

void note_problems(const Dataset& data, Classification& out) {
  if (data.skipped > 0) out.notes.push_back(describe_problems(data));
}

std::unique_ptr<Tokenizer> make_tokenizer(const DataOptions& o, const Dataset& train, Classification& out) {
  if (!o.vocab.empty()) return load_tokenizer(o.vocab);
  if (!o.model_folder.empty()) return load_tokenizer(o.model_folder);
  if (!out.synthetic)
    out.notes.push_back("no `vocab`: a WordPiece vocabulary is made from the training data, not bert-base-uncased's");
  return train_tokenizer(train, out.synthetic ? kSyntheticVocabulary : kOwnVocabulary);
}

/// Whether the checkpoint has a classifier: that of a base model is drawn to fit the data.
bool has_head(const std::string& folder) {
  const auto names = Checkpoint::open(folder).names();
  return std::ranges::any_of(
      names, [](const std::string& name) { return name.starts_with("classifier.") || name.starts_with("score."); });
}

/// The model with the head that the data has labels for.
ModelPtr headed(const DataOptions& o, const Dataset& train, const ModelPtr& model) {
  const Head fits = train.of_words() ? Head::kTokens : Head::kClassifier, head = o.head.value_or(fits);
  if (head != fits)
    throw Error{Fault::kData, train.source,
                fits == Head::kTokens ? "has a label for each word" : "has a label for each text, not for each word",
                "leave out `task`, or give data for that task"};
  ModelPtr out = model->with_head(head);
  if (out->head() != head)
    throw Error{
        Fault::kUsage, "model",
        fmt::format("a {} model has no head for {}", model->family(), head == Head::kTokens ? "tokens" : "texts"),
        "use an encoder of texts, as bert-base-cased"};
  return out;
}

void fit_model(const DataOptions& o, const Dataset& train, Classification& out) {
  const std::size_t tokens = out.tokenizer->vocab_size(), labels = train.label_names.size();
  if (o.model_folder.empty()) {
    const ModelPtr model = headed(o, train, model_preset(o.preset));
    const auto rows = static_cast<std::int64_t>(tokens);
    out.config = model
                     ->with_tokens({.vocabulary = model->splits() ? shared_rows(rows) : rows,
                                    .pad = out.tokenizer->pad_id(),
                                    .mask = out.tokenizer->mask_id()})
                     ->with_labels(train.label_names);
    out.weights = initial_weights(out.config, o.seed);
    return;
  }
  out.config = headed(o, train, classifier_at(o));
  if (out.config->decoder())  // transformers finds a text's last token by the token behind it
    out.config =
        out.config->with_tokens({.vocabulary = out.config->sizes().vocabulary, .pad = out.tokenizer->pad_id()});
  if (static_cast<std::int64_t>(tokens) > out.config->sizes().vocabulary)
    throw Error{Fault::kData, o.vocab.empty() ? o.model_folder : o.vocab,
                fmt::format("the vocabulary has {}, but the model's table {}", base::counted(tokens, "token"),
                            out.config->sizes().vocabulary),
                "use the vocabulary that the model was trained with"};
  const std::vector<std::string> names = out.config->label_names();
  const std::size_t known = names.size();
  if (labels > known && has_head(o.model_folder))
    throw Error{Fault::kData, out.source,
                fmt::format("has {}, but the model's head {}: label {} is out of range", base::counted(labels, "label"),
                            known, train.label_names[known]),
                "correct the labels, or use a model without classifier.weight, which gets a new random head"};
  if (labels > known) out.config = out.config->with_labels(train.label_names);
  out.weights = load_weights(o.model_folder, out.config, o.seed);
  for (const std::string& note : out.weights.notes) out.notes.push_back(note);
}

TokenLengths lengths_of(const TokenizedDataset& data, std::string source) {
  TokenLengths out{.samples = {}, .source = std::move(source)};
  for (std::size_t i = 0; i < data.size(); ++i) ++out.samples[static_cast<std::int64_t>(data.length(i))];
  return out;
}

/// As many as the job of vit_mnist needs to learn.
constexpr std::size_t kDigits = 8192, kDigitsHeldOut = 1024;

void read_images(const DataOptions& o, const ModelPtr& model, Classification& out) {
  if (has_class_folders(o.dataset_path)) {
    const auto names = o.model_folder.empty() ? std::vector<std::string>{} : model->label_names();
    ClassFolders splits =
        read_class_folders(o.dataset_path, *model->image(), names, o.max_train_samples, o.max_eval_samples);
    out.train_images = std::move(splits.train);
    out.validation_images = std::move(splits.validation), out.test_images = std::move(splits.test);
    return;
  }
  ImageSplits splits = read_image_folder(o.dataset_path, o.max_train_samples, o.max_eval_samples);
  out.train_images = std::move(splits.train), out.test_images = std::move(splits.test);
}

void load_images(const DataOptions& o, const ModelPtr& model, Classification& out) {
  const auto at_most = [](std::size_t asked, std::size_t all) { return asked > 0 ? std::min(asked, all) : all; };
  if (o.dataset_path.empty()) {
    out.synthetic = true;
    out.train_images = synthetic_digits(SyntheticSplit::kTrain, at_most(o.max_train_samples, kDigits), o.seed);
    out.test_images = synthetic_digits(SyntheticSplit::kTest, at_most(o.max_eval_samples, kDigitsHeldOut), o.seed);
  } else {
    read_images(o, model, out);
  }
  out.source = out.train_images->source;
  const auto& names = out.train_images->label_names;
  const bool fits = !o.model_folder.empty() && model->label_names().size() >= names.size();
  out.config = fits ? model : model->with_labels(names);
  out.weights =
      o.model_folder.empty() ? initial_weights(out.config, o.seed) : load_weights(o.model_folder, out.config, o.seed);
  for (const std::string& note : out.weights.notes) out.notes.push_back(note);
}

}  // namespace

TrainerData Classification::data() const {
  const auto any = [](const auto& data) { return data ? &*data : nullptr; };
  if (!train_images)
    return {labelled_texts(&train), labelled_texts(any(validation)), labelled_texts(any(test)), tokenizer.get()};
  const ImageShape& shape = *config->image();
  const auto pictures = [&](const auto& data) { return labelled_pictures(any(data), shape); };
  if (!validation_images) return {pictures(train_images), pictures(test_images), nullptr};
  return {pictures(train_images), pictures(validation_images), pictures(test_images)};
}

TokenLengths Classification::lengths() const { return tokenizer ? lengths_of(train, source) : TokenLengths{}; }

Classification load_classification(const DataOptions& o) {
  Classification out;
  DataOptions base = o;
  if (!o.model_folder.empty() && is_adapter_folder(o.model_folder)) base.model_folder = base_of_adapter(o.model_folder);
  const ModelPtr model = o.model_folder.empty() ? model_preset(o.preset) : classifier_at(base);
  if (model->image()) {
    load_images(base, model, out);
    adapt(o, out);
    return out;
  }
  Splits splits = read_data(base, out);
  cut(splits.train, o.max_train_samples);
  note_problems(splits.train, out);
  out.tokenizer = make_tokenizer(o, splits.train, out);
  fit_model(base, splits.train, out);
  adapt(o, out);
  out.train = tokenize(splits.train, *out.tokenizer, o.length);
  const auto other = [&](std::optional<Dataset>& data, std::optional<TokenizedDataset>& to) {
    if (!data) return;
    cut(*data, o.max_eval_samples);
    note_problems(*data, out);
    to = tokenize(*data, *out.tokenizer, o.length);
  };
  other(splits.validation, out.validation);
  other(splits.test, out.test);
  return out;
}

SampleCount count_images(const std::filesystem::path& folder) {
  if (has_class_folders(folder)) {
    const ClassFolderCount count = count_class_folders(folder);
    return {.train = static_cast<std::int64_t>(count.train), .validation = static_cast<std::int64_t>(count.eval)};
  }
  const ImageSplits splits = read_image_folder(folder);
  return {.train = static_cast<std::int64_t>(splits.train.labels.size()),
          .validation = static_cast<std::int64_t>(splits.test.labels.size())};
}

TokenLengths token_lengths(const DataOptions& o) {
  Classification read;
  Splits splits = read_data(o, read);
  cut(splits.train, o.max_train_samples);
  return lengths_of(tokenize(splits.train, *make_tokenizer(o, splits.train, read), 0), read.source);
}

SampleCount count_samples(const DataOptions& o) {
  const Splits splits = read_splits(o.dataset_path, o.read);
  SampleCount count{.train = static_cast<std::int64_t>(splits.train.samples.size()),
                    .of_words = splits.train.of_words()};
  if (!o.validation_file.empty())
    count.validation = static_cast<std::int64_t>(read_dataset(o.validation_file, o.read).samples.size());
  else if (splits.validation)
    count.validation = static_cast<std::int64_t>(splits.validation->samples.size());
  return count;
}

}  // namespace workloads
