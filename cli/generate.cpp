// `trnsim generate MODEL`: text from real weights on simulated cores, and the time that the same programs take.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/error.h"
#include "cli/add_option.h"
#include "cli/output.h"
#include "cli/tables.h"
#include "cli/verbs.h"
#include "trnsim/generate.h"
#include "workloads/generation.h"
#include "workloads/generator.h"
#include "workloads/model_files.h"
#include "workloads/presets.h"
#include "workloads/tokenizer.h"

namespace cli {

using namespace trnsim;
namespace {

using base::Error;
using base::Fault;
using Ids = std::vector<std::int32_t>;
namespace fs = std::filesystem;

struct GenerateOptions {
  std::string model;
  std::vector<std::string> prompt;
  std::int64_t max_new_tokens = 128, batch_size = 0, prompt_length = 128, max_length = 0;
  double temperature = 0, top_p = 1;
  std::int64_t top_k = 0, seed = 42;
  bool ignore_eos = false;
  std::int64_t tensor_parallel_size = 1, host_threads = 0;
  std::string numerics, vocab, instance_type = "trn1.32xlarge", stack = "transformers-neuronx", format = "table";
  std::vector<std::string> set;
  bool exact = false;
};

using G = GenerateOptions;
// clang-format off
constexpr std::array kGenerateRows = {
    OptionRow<G>{"prompt", &G::prompt, "Text", "a text to go on with; several are a batch; default: the empty text"},
    OptionRow<G>{"max_new_tokens", &G::max_new_tokens, "Text", "tokens to add to each prompt", {}, {}, 1},
    OptionRow<G>{"batch_size", &G::batch_size, "Text",
                 "sequences at once, all from one prompt; 0: one per prompt", {}, {}, 0},
    OptionRow<G>{"prompt_length", &G::prompt_length, "Text", "tokens of a prompt where there is no text to count",
                 {}, {}, 1},
    OptionRow<G>{"max_length", &G::max_length, "Text", "tokens that the caches hold; 0: prompt and new tokens",
                 {}, {}, 0},
    OptionRow<G>{"temperature", &G::temperature, "Sampling", "0: always the likeliest token", {}, {}, 0},
    OptionRow<G>{"top_k", &G::top_k, "Sampling", "draw from so many of the likeliest tokens; 0: all", {}, {}, 0},
    OptionRow<G>{"top_p", &G::top_p, "Sampling", "draw from the likeliest tokens that reach this probability"},
    OptionRow<G>{"seed", &G::seed, "Sampling", "of the draws", {}, {}, 0},
    OptionRow<G>{"ignore_eos", &G::ignore_eos, "Sampling", "go on behind the end of a text"},
    OptionRow<G>{"numerics", &G::numerics, "Machine",
                 "of weights, caches and operands; default: fp32 with weights, else bf16", "fp32|bf16|fp16|off"},
    OptionRow<G>{"tensor_parallel_size,tp_degree", &G::tensor_parallel_size, "Machine",
                 "cores that share the model", {}, {}, 1},
    OptionRow<G>{"instance_type", &G::instance_type, "Machine", "machine to simulate, or a TOML file"},
    OptionRow<G>{"set", &G::set, "Machine", "change a machine number: KEY=VALUE (repeatable)"},
    OptionRow<G>{"stack", &G::stack, "Machine", "host software around the device"},
    OptionRow<G>{"exact", &G::exact, "Machine", "simulate every core and call"},
    OptionRow<G>{"host_threads", &G::host_threads, "Machine", "threads that compute; 0: all", {}, {}, 0},
    OptionRow<G>{"vocab", &G::vocab, "Model", "tokenizer, when it is not in the model's folder"},
    OptionRow<G>{"format", &G::format, "Output", "form of the result", "table|json|csv|md"},
};
// clang-format on

/// A model to compute with, or its sizes alone.
struct Source {
  workloads::ModelPtr config;
  std::optional<workloads::Weights> weights;
  std::unique_ptr<workloads::Tokenizer> tokenizer;
};

Source open(const GenerateOptions& o) {
  if (!fs::exists(o.model)) {
    if (o.model.find('/') != std::string::npos)
      throw Error{Fault::kUsage, o.model, "does not exist", "give the folder of a model, or a name such as llama2-7b"};
    workloads::ModelPtr config = workloads::model_preset(o.model);
    if (!o.prompt.empty())
      throw Error{Fault::kUsage, "--prompt", fmt::format("{} is a name: it has no weights and no tokenizer", o.model),
                  "give --prompt_length and see the time, or the model's folder"};
    return {.config = std::move(config), .weights = {}, .tokenizer = {}};
  }
  Source source;
  if (o.numerics == "off" && fs::exists(fs::path{o.model} / "config.json")) {
    source.config = workloads::read_config(o.model);
  } else {
    workloads::LoadedModel model = workloads::load_model(o.model, static_cast<std::uint64_t>(o.seed));
    source.config = std::move(model.config);
    if (o.numerics != "off") source.weights = std::move(model.weights);
  }
  if (o.numerics == "off" && o.prompt.empty()) return source;
  const fs::path folder = fs::is_directory(o.model) ? fs::path{o.model} : fs::path{o.model}.parent_path();
  source.tokenizer = workloads::load_tokenizer(o.vocab.empty() ? folder : fs::path{o.vocab});
  const auto there = source.config->sizes().vocabulary;
  if (static_cast<std::int64_t>(source.tokenizer->vocab_size()) > there)
    throw Error{Fault::kUsage, "--vocab",
                fmt::format("the tokenizer has {} tokens, the model {}", source.tokenizer->vocab_size(), there),
                "give the tokenizer that the model was trained with"};
  return source;
}

/// The tokens of each sequence's prompt.
std::vector<Ids> prompts_of(const GenerateOptions& o, const Source& source) {
  const auto batch = static_cast<std::size_t>(std::max<std::int64_t>(o.batch_size, 1));
  if (!source.tokenizer) return std::vector<Ids>(batch, Ids(static_cast<std::size_t>(o.prompt_length)));
  std::vector<Ids> out;
  for (const std::string& text : o.prompt.empty() ? std::vector<std::string>{""} : o.prompt) {
    Ids ids = source.tokenizer->encode(text, 0, "--prompt").ids;
    if (ids.empty()) {  // GPT-2 begins with the token that ends a text
      const auto first = source.tokenizer->bos_id() ? source.tokenizer->bos_id() : source.tokenizer->eos_id();
      if (!first) throw Error{Fault::kUsage, "--prompt", "has no token", "give a text to go on with"};
      ids.push_back(*first);
    }
    out.push_back(std::move(ids));
  }
  if (o.batch_size > 0 && out.size() == 1) out.resize(batch, out.front());
  if (o.batch_size > 0 && out.size() != batch)
    throw Error{Fault::kUsage, "--batch_size", fmt::format("is {}, but there are {} prompts", batch, out.size()),
                "give one prompt, or as many as sequences"};
  return out;
}

GenerationJob job_of(const GenerateOptions& o, const Source& source, const std::vector<Ids>& prompts) {
  const auto longest =
      static_cast<std::int64_t>(std::ranges::max(prompts, {}, [](const Ids& ids) { return ids.size(); }).size());
  const std::int64_t positions = source.config->sizes().positions;
  const std::int64_t wanted = longest + o.max_new_tokens;
  if (wanted > positions)
    throw Error{Fault::kUsage, longest >= positions ? "--prompt" : "--max_new_tokens",
                fmt::format("a prompt of {} tokens and {} new ones, the model has {} positions", longest,
                            o.max_new_tokens, positions),
                longest >= positions ? std::string{"give a shorter prompt"}
                                     : fmt::format("use --max_new_tokens {} or less", positions - longest)};
  const std::int64_t length = std::min(positions, std::max(wanted, o.max_length));
  const std::string type = o.numerics.empty() || o.numerics == "off" ? source.weights ? "fp32" : "bf16" : o.numerics;
  GenerationJob job{.config = source.config, .spec = {}};
  job.spec = {.batch = static_cast<std::int64_t>(prompts.size()),
              .length = workloads::cache_length(length),
              .tensor_parallel = o.tensor_parallel_size,
              .numerics = workloads::generation_numerics(type)};
  job.spec.prompt = workloads::prompt_bucket(longest, std::min(job.spec.length, positions));
  job.prompt_tokens = longest, job.new_tokens = o.max_new_tokens;
  job.stack = o.stack, job.exact = o.exact;
  return job;
}

// ---- text

/// One sequence as it grows.
struct Sequence {
  Ids ids;
  std::string text;
  workloads::TokenSampler sampler;
  workloads::TextStream stream;
  bool ended = false;
};

bool ends_text(const workloads::ModelPtr& config, const workloads::Tokenizer& tokenizer, std::int32_t id) {
  if (tokenizer.eos_id() == id) return true;
  return config->ends_text(id);
}

/// Writes the text of a single sequence as it comes if `live`.
std::vector<Sequence> write_texts(const GenerateOptions& o, const Source& source, const GenerationJob& job,
                                  const std::vector<Ids>& prompts, const isa::Target& target, bool live) {
  const workloads::SamplingOptions sampling{
      .temperature = o.temperature, .top_k = o.top_k, .top_p = o.top_p, .seed = static_cast<std::uint64_t>(o.seed)};
  std::vector<Sequence> sequences;
  for (std::size_t b = 0; b < prompts.size(); ++b)
    sequences.push_back({prompts[b], "", {sampling, b}, {*source.tokenizer, true}});
  const auto say = [&](Sequence& s, const std::string& text) {
    if (live) print(text), flush();
    s.text += text;
  };
  for (Sequence& s : sequences)
    for (const std::int32_t id : s.ids) say(s, s.stream.push(id));
  workloads::Generator generator{
      job.config, job.spec, *source.weights, target, isa::make_numeric_device(), static_cast<int>(o.host_threads)};
  std::vector<float> logits = generator.begin(prompts);
  const auto all = static_cast<std::size_t>(generator.vocabulary());
  for (std::int64_t step = 0; step < o.max_new_tokens; ++step) {
    Ids next;
    for (std::size_t b = 0; b < sequences.size(); ++b) {
      Sequence& s = sequences[b];
      next.push_back(s.ended ? s.ids.back() : s.sampler.next(std::span{logits}.subspan(b * all, all)));
      if (s.ended) continue;
      s.ids.push_back(next.back());
      s.ended = !o.ignore_eos && ends_text(job.config, *source.tokenizer, next.back());
      say(s, s.stream.push(next.back()));
    }
    if (std::ranges::all_of(sequences, &Sequence::ended) || step + 1 == o.max_new_tokens) break;
    logits = generator.next(next);
  }
  for (Sequence& s : sequences) say(s, s.stream.finish());
  return sequences;
}

// ---- figures

base::Table figures_of(const GenerationJob& job, const GenerationTime& t) {
  base::Table table{{{"figure", ""}, {"value", ""}, {"unit", ""}}};
  const auto row = [&](const char* name, double value, std::string shown, const char* unit) {
    table.add_row({name, base::Cell{value, std::move(shown)}, unit});
  };
  const auto ms = [&](const char* name, double seconds, const char* unit = "ms") {
    row(name, seconds * 1e3, fmt::format("{:.3f}", seconds * 1e3), unit);
  };
  ms("time_to_first_token", t.first_token);
  if (!t.tokens.empty()) {
    const GenerationStep& step = t.tokens.back();
    ms("time_per_output_token_p50", t.per_token);
    for (const analysis::TimeItem& part : step.parts)
      if (part.seconds > 0) ms(("last_token_" + part.name).c_str(), part.seconds);
    ms("last_token_collectives", hw::seconds(step.device.collective_exposed), "ms of the device's");
    const auto read = static_cast<double>(step.device.dma.read_bytes);
    const double rate = read / hw::seconds(step.device.total);
    row("last_token_read", read, base::readable(read, base::Dimension::kBytes), "per core");
    row("last_token_mbu", 100 * rate / step.device.peaks.hbm_bandwidth,
        fmt::format("{:.1f}", 100 * rate / step.device.peaks.hbm_bandwidth), "% of HBM's bandwidth");
  }
  row("tokens_per_second", t.tokens_per_second, fmt::format("{:.1f}", t.tokens_per_second), "1/s, all sequences");
  row("total", t.total, fmt::format("{:.3f}", t.total),
      fmt::format("s for {} tokens", job.spec.batch * job.new_tokens).c_str());
  return table;
}

std::string bounds_text(const GenerationTime& t) {
  std::string text = "the prompt is bound by " + bound_of(t.prompt);
  if (!t.tokens.empty()) text += ", a token by " + bound_of(t.tokens.back());
  return text + "\n";
}

nlohmann::ordered_json json_of(const GenerateOptions& o, const GenerationJob& job, const GenerationTime& t,
                               const std::vector<Sequence>& sequences) {
  nlohmann::ordered_json out{{"model", o.model},
                             {"cores", job.spec.tensor_parallel},
                             {"batch_size", job.spec.batch},
                             {"numerics", job.spec.numerics.name},
                             {"prompt_tokens", job.prompt_tokens},
                             {"new_tokens", job.new_tokens},
                             {"texts", nlohmann::ordered_json::array()}};
  for (const Sequence& s : sequences) out["texts"].push_back({{"text", s.text}, {"ids", s.ids}});
  out["time_to_first_token_seconds"] = t.first_token;
  out["time_per_output_token_p50_seconds"] = t.per_token;
  out["tokens_per_second"] = t.tokens_per_second;
  out["total_seconds"] = t.total;
  out["prompt_bound_by"] = bound_of(t.prompt);
  out["buckets"] = nlohmann::ordered_json::array();
  for (const GenerationStep& step : t.tokens) {
    nlohmann::ordered_json bucket{{"positions", step.read}, {"tokens", step.tokens}, {"seconds", step.seconds}};
    for (const analysis::TimeItem& part : step.parts) bucket["parts"][part.name] = part.seconds;
    bucket["collectives_seconds"] = hw::seconds(step.device.collective_exposed);
    bucket["read_bytes"] = step.device.dma.read_bytes;
    bucket["bound_by"] = bound_of(step);
    out["buckets"].push_back(std::move(bucket));
  }
  for (const auto& [kind, bytes] : t.memory.by_kind) out["memory"][kind] = bytes;
  out["memory"]["total"] = t.memory.total;
  out["memory"]["capacity"] = t.memory.capacity;
  return out;
}

void require_sampling(const GenerateOptions& o) {
  workloads::check(workloads::SamplingOptions{.temperature = o.temperature, .top_k = o.top_k, .top_p = o.top_p});
  if (o.temperature == 0 && (o.top_k != 0 || o.top_p != 1))
    throw Error{Fault::kUsage, o.top_k != 0 ? "--top_k" : "--top_p", "changes nothing: the likeliest token is taken",
                "give a --temperature above 0 too"};
}

void generate(const GenerateOptions& o) {
  const base::Format form = base::parse_format(o.format);
  require_sampling(o);
  const Source source = open(o);
  const std::vector<Ids> prompts = prompts_of(o, source);
  const GenerationJob job = job_of(o, source, prompts);
  const hw::MachineParams machine = hw::load_machine(o.instance_type, o.set);
  check(job, machine);
  const bool people = form == base::Format::kTable || form == base::Format::kMarkdown;
  const bool live = people && prompts.size() == 1;
  std::vector<Sequence> sequences;
  if (source.weights) sequences = write_texts(o, source, job, prompts, machine.target(), live);
  if (people) {
    for (std::size_t b = 0; b < sequences.size() && !live; ++b)
      print(fmt::format("[{}] {}\n", b + 1, sequences[b].text));
    if (live && source.weights) print("\n");
    if (!source.weights) print("time alone: no weights are computed with\n");
    print(fmt::format("\n{}: {} of {} cores of {}, {}, {} x ({} + {} tokens)\n\n", o.model, job.spec.tensor_parallel,
                      machine.core_count(), machine.name, job.spec.numerics.name, job.spec.batch, job.prompt_tokens,
                      job.new_tokens));
    flush();
  }
  const GenerationTime time = generation_time(job, machine);
  if (form == base::Format::kJson) return print(json_of(o, job, time, sequences).dump(2) + "\n");
  print(figures_of(job, time).render(form));
  if (people) print(bounds_text(time) + "\n" + memory_table(time.memory).render(form));
}

}  // namespace

void add_generate(CLI::App& app) {
  auto options = std::make_shared<GenerateOptions>();
  app.add_option(
         "MODEL", options->model,
         "a folder with weights and tokenizer (Hugging Face's or llama2.c's), or a name (llama2-7b): time alone")
      ->required();
  for (const OptionRow<G>& row : kGenerateRows) add_option(app, *options, row);
  app.final_callback([options] { generate(*options); });
}

}  // namespace cli
