#include "trnsim/job/settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/param_file.h"
#include "base/suggest.h"
#include "base/text.h"
#include "trnsim/job.h"
#include "workloads/models/model.h"

namespace trnsim {

using base::Error;
using base::Fault;

const Setting* find_setting(std::string_view name) {
  const auto rows = settings_table();
  const auto found = std::ranges::find(rows, name, &Setting::name);
  return found == rows.end() ? nullptr : &*found;
}

const Setting& find_setting(std::string_view name, std::string_view where) {
  if (const Setting* found = find_setting(name)) return *found;
  std::vector<std::string> names;
  for (const Setting& s : settings_table()) names.emplace_back(s.name());
  throw Error{Fault::kUsage, where, fmt::format("unknown option '{}'", name), base::suggest_fix(name, names)};
}

bool shares_model(const Setting& setting) {
  constexpr std::array<std::string_view, 4> kNames = {"tensor_parallel_size", "pipeline_parallel_size",
                                                      "virtual_pipeline_size", "disable_sequence_parallel"};
  return std::ranges::count(kNames, setting.name()) > 0;
}

bool shares_model(const Setting& setting, const workloads::Model& model) {
  if (!shares_model(setting) || model.splits()) return shares_model(setting);
  return model.shares_tensors() && setting.name() == "tensor_parallel_size";
}

void refuse_shared_model(const Settings& settings, const workloads::Model& model) {
  const Settings one_core;
  const auto same = [&](auto member) { return member(settings) == member(one_core); };
  for (const Setting& s : settings_table()) {
    const bool true_anyway = model.shares_tensors() && s.name() == "disable_sequence_parallel";
    if (!shares_model(s) || shares_model(s, model) || true_anyway) continue;
    if (settings.given.contains(std::string{s.name()}) && !std::visit(same, s.member))
      throw Error{Fault::kUsage, fmt::format("`{}`", s.name()),
                  model.shares_tensors()
                      ? fmt::format("{} is an encoder: its cores can share tensors, but not layers", model.family())
                      : fmt::format("{} is an encoder: its cores can only be data parallel", model.family()),
                  "leave it out, or name the workload of a decoder"};
  }
}

bool is_requests(const Settings& settings) {
  return settings.generation.max_new_tokens > 0 || settings.data.task == kInference;
}

std::optional<std::int64_t> batch_of_requests(const Settings& settings) {
  if (!settings.given.contains("batch_size")) return {};
  if (settings.generation.batch_size < 1)
    throw Error{Fault::kUsage, "`batch_size`", "is 0, but a copy of the model answers at least one request",
                "give 1 or more, or leave it out"};
  return settings.generation.batch_size;
}

namespace {

/// The name in backquotes of a setting that was given and is one of those; empty: there is none.
template <class OneOfThose>
std::string given_of(const Settings& settings, OneOfThose one_of_those) {
  for (const Setting& s : settings_table())
    if (one_of_those(s) && settings.given.contains(std::string{s.name()})) return fmt::format("`{}`", s.name());
  return "";
}

}  // namespace

void refuse_training(const Settings& settings) {
  const bool heads = !settings.data.task.empty() && settings.data.task != kInference;
  const std::string name = heads ? "`task`" : given_of(settings, [](const Setting& s) { return s.effect.training; });
  if (name.empty()) return;
  throw Error{Fault::kUsage, name, "applies to training, but requests are answered by a trained model",
              name == "`per_device_train_batch_size`" ? "use `batch_size`" : "leave it out"};
}

void refuse_requests(const Settings& settings) {
  const std::string name = given_of(settings, [](const Setting& s) {
    return (s.group == kTextGroup || s.group == kSamplingGroup) && s.name() != "max_new_tokens";
  });
  if (!name.empty())
    throw Error{Fault::kUsage, name, "applies to requests, but this model is trained",
                "leave it out, or add `task` inference, or `max_new_tokens` for a model that generates text"};
}

void refuse_texts(const Settings& settings, std::string_view problem) {
  std::string name = given_of(settings, [](const Setting& s) {
    return s.group == kSamplingGroup || s.name() == "prompt" || s.name() == "vocab" || s.name() == "seed";
  });
  if (name.empty() && !settings.generation.prompt.empty()) name = "`prompt`";  // by a program, not by a flag
  if (!name.empty())
    throw Error{Fault::kUsage, name, std::string{problem}, name == "`prompt`" ? "use `prompt_length`" : "leave it out"};
}

void refuse_unread(const Settings& settings, Needs needs, std::string_view missing) {
  const std::string name = given_of(settings, [&](const Setting& s) { return s.effect.needs == needs; });
  if (!name.empty())
    throw Error{Fault::kUsage, name, fmt::format("has no effect without `{}`", missing),
                fmt::format("add `{}`, or leave it out", missing)};
}

void refuse_amounts(const Settings& settings) {
  const std::string name =
      given_of(settings, [](const Setting& s) { return s.name() == "num_train_epochs" || s.name() == "max_steps"; });
  if (!name.empty())
    throw Error{Fault::kUsage, name, "has no effect with `samples`, which counts those of the whole job",
                "give one of the two"};
}

void refuse_known_time(const Settings& settings) {
  const std::string name =
      given_of(settings, [](const Setting& s) { return s.effect.job && s.name() != "instance_type"; });
  if (!name.empty())
    throw Error{Fault::kUsage, name, "has no effect on a job whose time is given",
                "leave it out, or name the job instead of its time"};
}

bool writes_text(const workloads::Model& model) {
  return model.pairs() || (model.decoder() && model.task() == workloads::Task::kNextToken);
}

std::optional<workloads::Head> head_of(const Settings& settings) {
  if (settings.data.task.empty() || settings.data.task == kInference) return std::nullopt;
  return std::ranges::find(kTasks, settings.data.task, [](const auto& task) { return task.first; })->second;
}

workloads::ModelPtr headed(const Settings& settings, const workloads::ModelPtr& model) {
  const auto head = head_of(settings);
  if (!head) return model;
  workloads::ModelPtr out = model->with_head(*head);
  if (out->head() != *head)
    throw Error{Fault::kUsage, "`task`", fmt::format("{} has no head for {}", model->family(), settings.data.task),
                "leave it out, or name a model that has one, such as bert-base-uncased"};
  return out;
}

std::optional<workloads::Lora> lora_of(const Settings& settings) {
  const Settings none;
  if (settings.lora.r == 0) {
    const auto same = [&](auto member) { return member(settings) == member(none); };
    for (const Setting& s : settings_table())
      if (s.group == kLoraGroup && !std::visit(same, s.member))
        throw Error{Fault::kUsage, fmt::format("`{}`", s.name()),
                    "has no effect without a rank, because there are no adapters",
                    "also give `lora_r`, for example 16"};
    return std::nullopt;
  }
  workloads::Lora lora{.rank = settings.lora.r, .alpha = settings.lora.alpha, .dropout = settings.lora.dropout};
  for (std::size_t begin = 0; begin < settings.lora.target_modules.size();) {
    const std::size_t end =
        std::min(settings.lora.target_modules.find(',', begin), settings.lora.target_modules.size());
    lora.targets.push_back(settings.lora.target_modules.substr(begin, end - begin));
    begin = end + 1;
  }
  return lora;
}

workloads::ModelPtr adapted(const Settings& settings, const workloads::ModelPtr& model) {
  const std::optional<workloads::Lora> lora = lora_of(settings), there = model->lora();
  if (!lora) return model;
  const workloads::ModelPtr out = model->with_lora(lora);
  if (there && *there != *out->lora())
    throw Error{Fault::kUsage, "`lora_r`",
                fmt::format("rank {}, alpha {}, dropout {} or the targets differ from those of the model's adapters: "
                            "rank {}, alpha {}, dropout {}, {}",
                            lora->rank, lora->alpha, lora->dropout, there->rank, there->alpha, there->dropout,
                            fmt::join(there->targets, ",")),
                "leave out the LoRA settings to train these adapters further, or merge them into the base first"};
  return out;
}

bool pads_to_lengths(const Settings& settings, const workloads::Model& model) {
  if (model.fixed_length() > 0) return false;
  return !settings.data.buckets.empty() || (model.task() == workloads::Task::kNextToken && !settings.data.packing);
}

void require_lengths(const Settings& settings, const workloads::Model& model) {
  const bool decoder = model.task() == workloads::Task::kNextToken,
             masked = model.task() == workloads::Task::kMaskedTokens;
  if (masked && !settings.data.buckets.empty())
    throw Error{Fault::kUsage, "`buckets`", "texts with masked tokens all have one length", "leave it out"};
  const bool fixed = model.fixed_length() > 0;
  const char* form = model.image() ? "images" : "sounds";
  if (fixed && !settings.data.buckets.empty())
    throw Error{Fault::kUsage, "`buckets`", fmt::format("the {} of {} all have one length", form, model.family()),
                "leave it out"};
  if (fixed && settings.data.max_length > 0 && settings.given.contains("max_length") &&
      settings.data.max_length != model.fixed_length())
    throw Error{Fault::kUsage, "`max_length`",
                model.image()
                    ? fmt::format("the images of {} have {} patches each", model.family(), model.image()->patches())
                    : fmt::format("the sounds of {} have {} frames each, which become {} tokens", model.family(),
                                  model.sound()->frames(), model.sound()->tokens),
                !model.pairs()          ? "leave it out"
                : is_requests(settings) ? "leave it out: `max_new_tokens` is the length of the text"
                                        : "leave it out: `max_target_length` is the length of the text"};
  if (decoder && settings.data.packing && !settings.data.buckets.empty())
    throw Error{Fault::kUsage, "`buckets`", "packed texts are cut to one length", "add `packing` false"};
  if (!decoder && !masked && settings.data.packing && settings.given.contains("packing"))
    throw Error{Fault::kUsage, "`packing`",
                fmt::format("{} is an {}, whose samples are padded", model.family(),
                            model.pairs() ? "encoder-decoder" : "encoder"),
                "leave it out, or name the workload of a decoder"};
}

void require_room(const GenerationSettings& text, std::int64_t tokens, std::int64_t positions) {
  const std::int64_t prompt = text.prompt_length, bucket = text.prompt_bucket;
  const bool apart = tokens == text.max_new_tokens;  // an encoder-decoder's text
  if (tokens > positions && apart)
    throw Error{Fault::kUsage, "`max_new_tokens`",
                fmt::format("a text of {} is too long: the model has {}", base::counted(tokens, "token"),
                            base::counted(positions, "position")),
                fmt::format("use `max_new_tokens` {} or less", positions)};
  if (tokens > positions)
    throw Error{Fault::kUsage, prompt >= positions ? "`prompt`" : "`max_new_tokens`",
                fmt::format("a prompt of {} and {} new ones are too many: the model has {}",
                            base::counted(prompt, "token"), text.max_new_tokens, base::counted(positions, "position")),
                prompt >= positions ? std::string{"give a shorter prompt"}
                                    : fmt::format("use `max_new_tokens` {} or less", positions - prompt)};
  if (bucket != 0 && (bucket < prompt || bucket > positions))
    throw Error{Fault::kUsage, "`prompt_bucket`",
                bucket < prompt
                    ? fmt::format("a prompt of {} does not fit in {}", base::counted(prompt, "token"), bucket)
                    : fmt::format("the model has only {}", base::counted(positions, "position")),
                fmt::format("use {} to {}, or leave it out", prompt, positions)};
}

void require_prompts(const Settings& s, const workloads::Model& model) {
  if (!model.sound()) return;
  require_lengths(s, model);
  for (const char* name : {"prompt_length", "prompt_bucket"})
    if (s.given.contains(name))
      throw Error{Fault::kUsage, fmt::format("`{}`", name),
                  fmt::format("a {} model reads sounds, each of {} tokens", model.family(), model.sound()->tokens),
                  "leave it out"};
}

void require_caches(const Settings& s, std::int64_t tokens, std::int64_t positions) {
  if (!s.given.contains("max_length") || s.data.max_length == 0) return;
  if (s.data.max_length > positions) workloads::require_positions(s.data.max_length, positions);
  if (s.data.max_length < tokens)
    throw Error{
        Fault::kUsage, "`max_length`",
        fmt::format("caches of {} cannot hold the {} of a prompt and its continuation",
                    base::counted(s.data.max_length, "token"), tokens),
        s.given.contains("prompt_length") && s.given.contains("max_new_tokens")
            ? fmt::format("give {} or more, or leave it out", tokens)
            : fmt::format("give {} or more, or `prompt_length` {} and `max_new_tokens` {}, which are {} and {} now",
                          tokens, s.data.max_length / 2, s.data.max_length - s.data.max_length / 2,
                          s.generation.prompt_length, tokens - s.generation.prompt_length)};
}

Settings generation_settings(Settings given) {
  if (!given.given.contains("instance_type")) given.machine.instance_type = "trn1.32xlarge";
  if (!given.given.contains("max_new_tokens")) given.generation.max_new_tokens = kDefaultNewTokens;
  return given;
}

void apply_defaults(Settings& settings, const std::map<std::string, std::string>& values, std::string_view where) {
  for (const auto& [name, value] : values) {
    const Setting& row = find_setting(name, where);
    if (!settings.given.contains(name)) set_option<Settings>(settings, row, value);
  }
  resolve_numerics(settings);
}

void apply_config(Settings& settings, const std::string& path) {
  const base::ParamFile file = base::ParamFile::load(path);
  const std::set<std::string> given = settings.given;
  for (const std::string& key : file.keys()) {
    const auto& [where, values] = std::pair{file.parameter(key).where, file.parameter(key).values};
    const Setting& row = find_setting(key, where);
    if (given.contains(key)) continue;
    if (values.size() != 1 && !row.is<std::vector<std::string>>())
      throw Error{Fault::kUsage, where, fmt::format("`{}` has {}", key, base::counted(values.size(), "value")),
                  "give one"};
    for (const std::string& value : values)
      set_option<Settings>(settings, row, value, fmt::format("{}: `{}`", where, key));
    settings.given.insert(key);
  }
}

std::string config_text(const Settings& settings) {
  const nlohmann::ordered_json all = to_json(settings), defaults = to_json(Settings{});
  std::string out;
  for (const auto& [name, value] : all.items()) {
    if (name == "config" || (defaults.contains(name) && value == defaults.at(name) && !settings.given.contains(name)))
      continue;
    out += fmt::format("{} = {}\n", name, value.dump());
  }
  return out;
}

void apply_workload(Settings& settings, const workloads::Workload& workload, WorkloadPart part) {
  apply_defaults(settings, workload.options, workload.file);
  if (part == WorkloadPart::kProjected) return;
  auto trained = settings.data.model_id.empty() ? workload.small_options : workload.own_options;
  constexpr std::array<const char*, 4> kShared = {"tensor_parallel_size", "pipeline_parallel_size", "nproc_per_node",
                                                  "nnodes"};
  if (std::ranges::any_of(kShared, [&](const char* name) { return settings.given.contains(name); }))
    for (const char* name : kShared) trained.erase(name);
  apply_defaults(settings, trained, workload.file);
}

nlohmann::ordered_json to_json(const Settings& settings) {
  nlohmann::ordered_json out = nlohmann::ordered_json::object();
  const Settings defaults;
  for (const Setting& s : settings_table())
    std::visit(
        [&](auto member) {
          const bool of_generation = s.group == kTextGroup || s.group == kSamplingGroup;
          if (!of_generation || member(settings) != member(defaults)) out[std::string{s.name()}] = member(settings);
        },
        s.member);
  return out;
}

Settings settings_from(const nlohmann::ordered_json& json) {
  Settings settings;
  for (const Setting& s : settings_table()) {
    const std::string name{s.name()};
    if (!json.contains(name)) continue;  // of a run by an older trnsim
    std::visit([&](auto member) { json.at(name).get_to(member(settings)); }, s.member);
    if (name == "packing" && settings.data.packing) continue;  // also in files of encoders, which do not support it
    settings.given.insert(name);
  }
  if (is_requests(settings))
    for (const Setting& s : settings_table())
      if (s.effect.training) settings.given.erase(std::string{s.name()});
  return settings;
}

}  // namespace trnsim
