// A generation by its settings: prompts, text token by token, then the time of the same programs.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "hw/params.h"
#include "trnsim/generate/generation_time.h"
#include "trnsim/generate/text_job.h"
#include "trnsim/generation.h"
#include "trnsim/job/settings.h"
#include "trnsim/project/memory.h"
#include "workloads/checkpoints/model_files.h"
#include "workloads/generation/generation.h"
#include "workloads/generation/generator.h"
#include "workloads/models/model.h"
#include "workloads/models/presets.h"
#include "workloads/tasks/language_modelling.h"
#include "workloads/text/tokenizer.h"

namespace trnsim {

/// A model to compute with, or its sizes alone.
struct TextSource {
  workloads::ModelPtr config;
  std::optional<workloads::Weights> weights;
  std::unique_ptr<workloads::Tokenizer> tokenizer;
};

namespace {

using base::Error;
using base::Fault;
using Ids = std::vector<std::int32_t>;
namespace fs = std::filesystem;

/// A config.json alone says the time, not the text.
void require_weights(const fs::path& folder) {
  const auto is_weights = [](const fs::directory_entry& entry) {
    const fs::path& file = entry.path();
    return file.extension() == ".safetensors" || file.extension() == ".bin" ||
           file.filename() == "model.safetensors.index.json" || file.filename() == "shards.json";
  };
  if (!fs::exists(folder / "config.json") || fs::exists(folder / "adapter_config.json")) return;
  if (std::ranges::any_of(fs::directory_iterator{folder}, is_weights)) return;
  throw Error{Fault::kData, folder.string(), "has no weights (model.safetensors), so it cannot write text",
              "add `numerics` off for the time alone, or download the weights too"};
}

/// There are no files of sounds here, and a text is none.
void require_texts(const workloads::Model& model, const Settings& o) {
  if (!model.sound()) return;
  const std::string reads = fmt::format("a {} model reads sounds, and not from files", model.family());
  if (!o.generation.prompt.empty()) throw Error{Fault::kUsage, "`prompt`", reads, "leave it out"};
  refuse_texts(o, "has no effect: " + reads);
  if (o.numerics.name != "off")
    throw Error{Fault::kUsage, "`numerics`", reads, "add `numerics` off for the time alone"};
}

TextSource open_source(const std::string& name, const Settings& o) {
  if (workloads::names_preset(name) || !fs::exists(name)) {
    if (name.find('/') != std::string::npos)
      throw Error{Fault::kUsage, name, "does not exist", workloads::preset_fix(name)};
    workloads::ModelPtr config = workloads::model_preset(name);
    refuse_texts(o, fmt::format("has no effect: {} is a model name, without weights and tokenizer", name));
    return {.config = std::move(config), .weights = {}, .tokenizer = {}};
  }
  TextSource source;
  if (o.numerics.name == "off") {
    source.config = workloads::load_model_config(name)->with_lora(std::nullopt);
    require_texts(*source.config, o);
  } else {
    require_weights(name);
    require_texts(*workloads::load_model_config(name), o);
    workloads::LoadedModel model = workloads::load_model(name, static_cast<std::uint64_t>(o.training.seed));
    source.weights = workloads::merged(model.config, std::move(model.weights));
    source.config = model.config->with_lora(std::nullopt);
  }
  if (o.numerics.name == "off" && o.generation.prompt.empty()) return source;
  const fs::path folder = fs::is_directory(name) ? fs::path{name} : fs::path{name}.parent_path();
  source.tokenizer = workloads::load_tokenizer(workloads::tokenizer_path(o.data.vocab, folder));
  const auto there = source.config->sizes().vocabulary;
  if (static_cast<std::int64_t>(source.tokenizer->vocab_size()) > there)
    throw Error{Fault::kUsage, "`vocab`",
                fmt::format("the tokenizer has {}, the model {}",
                            base::counted(source.tokenizer->vocab_size(), "token"), there),
                "give the tokenizer that the model was trained with"};
  return source;
}

/// The tokens of each sequence's prompt.
std::vector<Ids> prompts_of(const Settings& o, const TextSource& source) {
  const auto batch = static_cast<std::size_t>(std::max<std::int64_t>(o.generation.batch_size, 1));
  if (!source.tokenizer) return std::vector<Ids>(batch, Ids(static_cast<std::size_t>(o.generation.prompt_length)));
  std::vector<Ids> out;
  for (const std::string& text : o.generation.prompt.empty() ? std::vector<std::string>{""} : o.generation.prompt) {
    const workloads::TextPairs* pairs = source.config->pairs();
    Ids ids = pairs ? source.tokenizer->tokenize(text, "`prompt`") : source.tokenizer->encode(text, 0, "`prompt`").ids;
    if (pairs) ids.push_back(static_cast<std::int32_t>(pairs->end));
    if (ids.empty()) {  // GPT-2 begins with the token that ends a text
      const auto first = source.tokenizer->bos_id() ? source.tokenizer->bos_id() : source.tokenizer->eos_id();
      if (!first) throw Error{Fault::kUsage, "`prompt`", "has no token", "give a text to continue"};
      ids.push_back(*first);
    }
    out.push_back(std::move(ids));
  }
  if (o.generation.batch_size > 0 && out.size() == 1) out.resize(batch, out.front());
  if (o.generation.batch_size > 0 && out.size() != batch)
    throw Error{Fault::kUsage, "`batch_size`",
                fmt::format("is {}, but the number of prompts is {}", batch, base::counted(out.size(), "prompt")),
                "give one prompt, or as many as sequences"};
  return out;
}

/// One sequence as it grows.
struct Sequence {
  GeneratedText out;
  workloads::TokenSampler sampler;
  workloads::TextStream stream;
  bool ended = false;
};

bool ends_text(const workloads::ModelPtr& model, const workloads::Tokenizer& tokenizer, std::int32_t id) {
  if (tokenizer.eos_id() == id) return true;
  return model->ends_text(id);
}

/// The sequences of a batch, with their prompts as text.
class Writer {
 public:
  Writer(const Settings& settings, const TextSource& source, const std::vector<Ids>& prompts,
         const GenerateObserver& observer)
      : settings_{settings}, source_{source}, observer_{observer} {
    const workloads::SamplingOptions sampling{.temperature = settings.generation.temperature,
                                              .top_k = settings.generation.top_k,
                                              .top_p = settings.generation.top_p,
                                              .seed = static_cast<std::uint64_t>(settings.training.seed)};
    const bool apart = source.config->pairs() != nullptr;  // the prompt is not part of the text
    for (std::size_t b = 0; b < prompts.size(); ++b)
      sequences_.push_back({{apart ? Ids{} : prompts[b], ""}, {sampling, b}, {*source.tokenizer, true}});
    for (std::size_t b = 0; b < prompts.size() && !apart; ++b)
      for (const std::int32_t id : prompts[b]) grow(b, sequences_[b].stream.push(id));
  }

  /// The next token of each sequence by the logits [batch, vocabulary]; of one that has ended the last again.
  Ids choose(std::span<const float> logits) {
    const std::size_t all = logits.size() / sequences_.size();
    Ids next;
    for (std::size_t b = 0; b < sequences_.size(); ++b) {
      Sequence& s = sequences_[b];
      next.push_back(s.ended ? s.out.ids.back() : s.sampler.next(logits.subspan(b * all, all)));
      if (s.ended) continue;
      s.out.ids.push_back(next.back());
      s.ended = !settings_.generation.ignore_eos && ends_text(source_.config, *source_.tokenizer, next.back());
      grow(b, s.stream.push(next.back()));
    }
    return next;
  }

  bool all_ended() const { return std::ranges::all_of(sequences_, &Sequence::ended); }

  std::vector<GeneratedText> finish() {
    std::vector<GeneratedText> texts;
    for (std::size_t b = 0; b < sequences_.size(); ++b) {
      grow(b, sequences_[b].stream.finish());
      texts.push_back(std::move(sequences_[b].out));
    }
    return texts;
  }

 private:
  void grow(std::size_t b, const std::string& text) {
    if (observer_.grown) observer_.grown(b, sequences_.size(), text);
    sequences_[b].out.text += text;
  }

  const Settings& settings_;
  const TextSource& source_;
  const GenerateObserver& observer_;
  std::vector<Sequence> sequences_;
};

void require_sampling(const Settings& o) {
  workloads::check(workloads::SamplingOptions{
      .temperature = o.generation.temperature, .top_k = o.generation.top_k, .top_p = o.generation.top_p});
  if (o.generation.temperature == 0 && (o.generation.top_k != 0 || o.generation.top_p != 1))
    throw Error{Fault::kUsage, o.generation.top_k != 0 ? "`top_k`" : "`top_p`",
                "has no effect: the most likely token is always taken", "also give a `temperature` above 0"};
}

}  // namespace

struct TextJob::Parts {
  Settings settings;
  TextSource source;
  std::vector<Ids> prompts;
};

TextJob::TextJob(const std::string& model, const Settings& given) : parts_{std::make_unique<Parts>()} {
  check_options(given, settings_table());
  require_range("`max_new_tokens`", static_cast<double>(given.generation.max_new_tokens), 1, 1 << 30);
  require_sampling(given);
  Settings& settings = parts_->settings = given;
  const TextSource& source = parts_->source = open_source(model, given);
  const std::vector<Ids>& prompts = parts_->prompts = prompts_of(given, source);
  if (source.weights && settings.numerics.name.empty()) settings.numerics.name = "fp32";
  settings.generation.batch_size = static_cast<std::int64_t>(prompts.size());
  settings.generation.prompt_length =
      static_cast<std::int64_t>(std::ranges::max(prompts, {}, [](const Ids& ids) { return ids.size(); }).size());
}

TextJob::~TextJob() = default;

const Settings& TextJob::settings() const { return parts_->settings; }
Job TextJob::job() const { return job_of(parts_->settings, parts_->source.config, 0); }
bool TextJob::has_weights() const { return parts_->source.weights.has_value(); }

std::vector<GeneratedText> TextJob::write(const Job& job, const GenerateObserver& observer) const {
  const Settings& o = parts_->settings;
  Writer writer{o, parts_->source, parts_->prompts, observer};
  workloads::Generator generator{job.model,
                                 program_spec(job),
                                 *parts_->source.weights,
                                 job.machine.target(),
                                 isa::make_numeric_device(),
                                 static_cast<int>(o.machine.host_threads)};
  std::vector<float> logits = generator.begin(parts_->prompts);
  for (std::int64_t step = 0; step < o.generation.max_new_tokens; ++step) {
    const Ids next = writer.choose(logits);
    if (writer.all_ended() || step + 1 == o.generation.max_new_tokens) break;
    logits = generator.next(next);
  }
  return writer.finish();
}

Generated generate(const std::string& model, const Settings& given, const GenerateObserver& observer) {
  const TextJob text{model, given};
  Generated out{.job = text.job(), .texts = {}, .projection = {}};
  require_legal_generation(out.job);
  require_fit(out.job, least_generation_memory(out.job));
  if (text.has_weights()) out.texts = text.write(out.job, observer);
  if (observer.written) observer.written(out);
  out.projection = project(out.job, {.exact = text.settings().machine.exact});
  return out;
}

}  // namespace trnsim
