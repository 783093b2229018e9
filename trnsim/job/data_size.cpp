#include "trnsim/job/data_size.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "trnsim/job/settings.h"
#include "workloads/models/model.h"
#include "workloads/tasks/classification.h"
#include "workloads/tasks/language_modelling.h"

namespace trnsim {
namespace {

using base::Error;
using base::Fault;
using workloads::TokenLengths;

std::int64_t at_most(std::int64_t count, std::int64_t most) { return most > 0 ? std::min(count, most) : count; }

workloads::DataOptions files_of(const Settings& s) {
  workloads::DataOptions files;
  files.model_folder = s.data.model_id, files.dataset_path = s.data.dataset_path,
  files.validation_file = s.data.validation_file;
  files.vocab = s.data.vocab, files.max_train_samples = static_cast<std::size_t>(s.data.max_train_samples);
  files.seed = static_cast<std::uint64_t>(s.training.seed);
  files.read.text_column = s.data.text_column, files.read.label_column = s.data.label_column;
  files.read.backslash_escapes = s.data.backslash_escapes, files.read.strict = s.data.strict;
  return files;
}

class Texts {
 public:
  Texts(const Settings& s, const DataSource& source) : s_{s}, source_{source} {}

  TokenLengths lengths(const std::filesystem::path& file, std::int64_t most) const {
    TokenLengths out = workloads::token_lengths(file, workloads::tokenizer_path(s_.data.vocab, s_.data.model_id),
                                                static_cast<std::size_t>(most), s_.data.strict);
    if (out.estimated && source_.note)
      source_.note(fmt::format("{} tokens of {} are assumed from its bytes, {} each: give `vocab` to count them",
                               out.tokens(), out.source, workloads::kBytesPerToken));
    return out;
  }

  /// Sequences that a file's texts make. Errors: Fault::kData when they fill none.
  std::int64_t sequences(const TokenLengths& texts, std::int64_t length) const {
    if (!s_.data.packing) return texts.count();
    if (texts.tokens() >= length) return texts.tokens() / length;
    throw Error{Fault::kData, texts.source,
                fmt::format("has {} tokens in total, too few for a sequence of {}", texts.tokens(), length),
                "give more text, or a smaller `max_length`"};
  }

  DataSize size(std::int64_t length) const {
    const workloads::CorpusFiles files = workloads::corpus_files(s_.data.dataset_path);
    DataSize out{.lengths = lengths(files.train, s_.data.max_train_samples)};
    std::int64_t samples = sequences(out.lengths, length);
    if (s_.training.eval_strategy == "epoch") {
      const auto validation = s_.data.validation_file.empty()
                                  ? files.validation
                                  : std::optional<std::filesystem::path>{s_.data.validation_file};
      if (validation)
        out.eval_samples = sequences(lengths(*validation, s_.data.max_eval_samples), length);
      else
        out.eval_samples = samples / static_cast<std::int64_t>(workloads::kHeldOutOneOf), samples -= out.eval_samples;
      out.eval_samples = at_most(out.eval_samples, s_.data.max_eval_samples);
    }
    out.samples = static_cast<double>(samples);
    return out;
  }

 private:
  const Settings& s_;
  const DataSource& source_;
};

/// Token lengths of the small model's data, when the workload's are not available.
TokenLengths bundled_lengths(const Settings& s, const DataSource& source) {
  if (!source.workload || source.workload->labels == 0) return {};
  workloads::DataOptions files = files_of(s);
  files.preset = source.workload->small_model;
  TokenLengths out = workloads::token_lengths(files);
  if (source.note)
    source.note(fmt::format("the lengths of samples are those of the bundled data, {}: give `dataset_path` for others",
                            out.source));
  return out;
}

DataSize of_loaded(const Settings& s, const workloads::TrainingData& data) {
  DataSize out{.samples = static_cast<double>(data.train_samples()),
               .eval_samples = data.validation_samples(),
               .of_words = data.config->head() == workloads::Head::kTokens};
  if (pads_to_lengths(s, *data.config)) out.lengths = data.lengths();
  return out;
}

DataSize of_labelled(const Settings& s, const workloads::ModelPtr& model) {
  if (model->image()) {
    const workloads::SampleCount count = workloads::count_images(s.data.dataset_path);
    return {.samples = static_cast<double>(at_most(count.train, s.data.max_train_samples)),
            .eval_samples = at_most(count.validation, s.data.max_eval_samples)};
  }
  const workloads::SampleCount count = workloads::count_samples(files_of(s));
  return {.samples = static_cast<double>(at_most(count.train, s.data.max_train_samples)),
          .eval_samples = at_most(count.validation, s.data.max_eval_samples),
          .of_words = count.of_words};
}

DataSize of_pairs(const Settings& s, const DataSource& source) {
  const std::size_t pairs =
      workloads::count_pairs(s.data.dataset_path, static_cast<std::size_t>(s.data.max_train_samples), s.data.strict);
  return {.samples = static_cast<double>(pairs),
          .eval_samples = source.workload ? at_most(source.workload->eval_samples, s.data.max_eval_samples) : 0};
}

/// The samples of a workload have no other form for another model: pictures are no texts.
void require_same_samples(const workloads::Workload& workload, const Settings& s, const workloads::Model& model) {
  if (s.data.model_id.empty() || workload.program) return;
  const auto form = [](const workloads::Model& of) {
    return of.image() ? "pictures" : of.sound() ? "sounds" : "texts";
  };
  const char *has = form(*load_model_config(workload.model)), *reads = form(model);
  if (std::string_view{has} != reads)
    throw Error{Fault::kUsage, "`model_id`",
                fmt::format("is a model of {}, but the samples of {} are {}", reads, workload.name, has),
                model.sound() ? "no workload has sounds: use trnsim estimate with the model"
                              : "choose a workload with such samples, or give your own as `dataset_path`"};
}

}  // namespace

PublishedSamples published_samples(const workloads::Workload& workload, const Settings& s,
                                   const workloads::Model& model) {
  require_same_samples(workload, s, model);
  double samples = static_cast<double>(workload.samples), evaluation = static_cast<double>(workload.eval_samples);
  const bool packed = s.data.packing && model.task() == workloads::Task::kNextToken && workload.labels == 0;
  const auto own = workload.options.find("max_length");
  if (packed && s.data.max_length > 0 && own != workload.options.end()) {
    const double sequences = std::stod(own->second) / static_cast<double>(s.data.max_length);
    samples = std::floor(samples * sequences), evaluation = std::floor(evaluation * sequences);
  }
  return {.train =
              s.data.max_train_samples > 0 ? std::min(samples, static_cast<double>(s.data.max_train_samples)) : samples,
          .evaluation = at_most(static_cast<std::int64_t>(evaluation), s.data.max_eval_samples)};
}

namespace {

DataSize size_of_data(const Settings& s, const workloads::ModelPtr& given, const workloads::TrainingData* loaded,
                      const DataSource& source) {
  const workloads::ModelPtr model = headed(s, given);
  require_lengths(s, *model);
  const bool text = model->task() != workloads::Task::kClassification;
  const bool pads = pads_to_lengths(s, *model);
  if (!s.data.dataset_path.empty()) {
    if (loaded && (!text || !s.data.model_id.empty())) return of_loaded(s, *loaded);
    if (model->sound())
      throw Error{Fault::kUsage, "`dataset_path`",
                  fmt::format("a {} model reads sounds, and not from files", model->family()),
                  "give their number as `samples`"};
    if (model->pairs()) return of_pairs(s, source);
    if (text) return Texts{s, source}.size(s.data.max_length > 0 ? s.data.max_length : kDefaultTextLength);
    DataSize size = of_labelled(s, model);
    if (pads) size.lengths = workloads::token_lengths(files_of(s));
    return size;
  }
  DataSize size;
  if (source.workload) {
    const auto [samples, eval_samples] = published_samples(*source.workload, s, *model);
    size = {.samples = samples, .eval_samples = eval_samples};
  }
  if (pads && !text) size.lengths = bundled_lengths(s, source);
  if (pads && size.lengths.samples.empty())
    throw Error{Fault::kUsage, s.data.packing ? "`buckets`" : "`packing`",
                "needs data, because lengths come from texts", "give `dataset_path`"};
  return size;
}

}  // namespace

DataSize data_size(const Settings& s, const workloads::ModelPtr& model, const workloads::TrainingData* loaded,
                   const DataSource& source) {
  DataSize size = size_of_data(s, model, loaded, source);
  const bool evaluates = loaded || s.training.eval_strategy == "epoch";  // a training ends with an evaluation anyway
  if (s.given.contains("max_eval_samples") && !(evaluates && size.eval_samples > 0) && source.note)
    source.note(fmt::format("`max_eval_samples` has no effect, because nothing is evaluated: give {}",
                            evaluates ? "`validation_file`" : "`eval_strategy` epoch"));
  return size;
}

}  // namespace trnsim
