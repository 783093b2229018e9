// The table of all settings, and their processing: values from files and workloads, adapters, heads, lengths.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "trnsim/job/option_table.h"
#include "trnsim/settings.h"
#include "workloads/jobs/workload.h"
#include "workloads/models/config.h"
#include "workloads/models/lora.h"
#include "workloads/step/step.h"

namespace trnsim {

using Setting = OptionRow<Settings>;

/// All settings, in the order in which help prints them.
std::span<const Setting> settings_table();
/// The row of the setting; null for an unknown name.
const Setting* find_setting(std::string_view name);
/// Errors: Fault::kUsage with a suggestion for an unknown name; `where` is the place of the name.
const Setting& find_setting(std::string_view name, std::string_view where);

/// Groups of the settings in help.
inline constexpr std::string_view kPlanGroup = "Parallel plan", kLoraGroup = "LoRA", kTextGroup = "Text",
                                  kSamplingGroup = "Sampling";

/// The adapters of the settings. Errors: Fault::kUsage for other settings of LoRA without a rank.
std::optional<workloads::Lora> lora_of(const Settings& settings);
/// The model with these adapters. Errors: as Model::with_lora(); Fault::kUsage when it has other ones.
workloads::ModelPtr adapted(const Settings& settings, const workloads::ModelPtr& model);

/// Derives `numerics` from its other spellings: `bf16`, stochastic rounding, the switches of torch-xla, and "fp32" with
/// the compiler's `auto_cast`. Errors: Fault::kUsage when they contradict each other.
void resolve_numerics(Settings& settings);
/// The number format that the compiler's casts make of fp32.
std::string cast_of(const NumericsSettings& numerics);
/// Errors: Fault::kUsage for a cast by the compiler that was asked for where there is no fp32 to cast.
void require_cast(const Settings& settings, std::string_view numerics);

/// Hugging Face's names of tasks, and the head that a model needs for each; and BERT's own pre-training.
inline constexpr std::array<std::pair<std::string_view, workloads::Head>, 4> kTasks = {
    {{"sequence-classification", workloads::Head::kClassifier},
     {"token-classification", workloads::Head::kTokens},
     {"fill-mask", workloads::Head::kMaskedTokens},
     {"pretraining", workloads::Head::kPretraining}}};

/// Hidden tokens of a sequence of BERT's pre-training. Source: google-research/bert and NVIDIA's DeepLearningExamples,
/// max_predictions_per_seq of sequences of 128 and of 512 tokens.
constexpr std::int64_t predictions_of(std::int64_t length) {
  constexpr std::int64_t kShort = 128, kOfShort = 20, kOfLong = 80;
  return length <= kShort ? std::min(kOfShort, length) : kOfLong;
}

/// The value of `task` for requests to a trained model, which is no head.
inline constexpr std::string_view kInference = "inference";
/// Whether the settings ask for answers of a model, written or read, and not for a training.
bool is_requests(const Settings& settings);
/// The batch of `task` inference, if one is given. Errors: Fault::kUsage for one of no requests.
std::optional<std::int64_t> batch_of_requests(const Settings& settings);
/// Errors: Fault::kUsage for a setting that was given and is of a training alone.
void refuse_training(const Settings& settings);
/// The same for a setting of requests alone.
void refuse_requests(const Settings& settings);
/// The same for a setting of texts, where none is read or written; `problem` says why.
void refuse_texts(const Settings& settings, std::string_view problem);
/// The same for another amount of data, where the sequences of the whole job are given.
void refuse_amounts(const Settings& settings);
/// The same for any but the instance, where nothing is simulated.
void refuse_known_time(const Settings& settings);
/// Errors: Fault::kUsage for a setting that was given and needs what is missing; `missing`: the setting that brings it.
void refuse_unread(const Settings& settings, Needs needs, std::string_view missing);
/// Whether the model answers with a text of its own, token by token.
bool writes_text(const workloads::Model& model);

/// The head that `task` names, if it names one.
std::optional<workloads::Head> head_of(const Settings& settings);
/// The model with that head. Errors: Fault::kUsage when it has no head for tokens.
workloads::ModelPtr headed(const Settings& settings, const workloads::ModelPtr& model);

/// Whether cores with other values of the setting hold other parts of the model.
bool shares_model(const Setting& setting);
/// And whether cores can share this model so.
bool shares_model(const Setting& setting, const workloads::Model& model);
/// Errors: Fault::kUsage when the user gave a setting of a plan by which cores cannot share the model.
void refuse_shared_model(const Settings& settings, const workloads::Model& model);

/// Whether samples are padded to lengths of their own. Packed texts, pictures and samples that all have one length are
/// not.
bool pads_to_lengths(const Settings& settings, const workloads::Model& model);
/// Errors: Fault::kUsage for buckets of packed texts or of pictures, and for an encoder that is to pack.
void require_lengths(const Settings& settings, const workloads::Model& model);

/// Errors: Fault::kUsage for `tokens`, of a prompt and its continuation, that are more than `positions`, and for a
/// bucket that does not hold the prompt or has more.
void require_room(const GenerationSettings& text, std::int64_t tokens, std::int64_t positions);
/// Errors: Fault::kUsage for settings of prompts, where a sound stands for them.
void require_prompts(const Settings& settings, const workloads::Model& model);
/// Errors: Fault::kUsage for caches that the user made too short for the tokens, or longer than the model's positions.
void require_caches(const Settings& settings, std::int64_t tokens, std::int64_t positions);

/// Applies values by the settings' names; those in `given` stay. Errors: Fault::kUsage with a suggestion for an unknown
/// name, and for values that the setting refuses; `where` is the file.
void apply_defaults(Settings& settings, const std::map<std::string, std::string>& values, std::string_view where);

/// A workload's jobs: the published one that is projected, and the one that is trained for real.
enum class WorkloadPart { kProjected, kTrained };
/// Applies a file of settings (TOML: `name = value` lines, under the flags' names) where the user gave nothing; its
/// settings count as given. Errors: Fault::kUsage as apply_defaults().
void apply_config(Settings& settings, const std::string& path);
/// The non-default settings as such a file.
std::string config_text(const Settings& settings);

/// Applies a workload file where the user gave nothing. For training the small model's settings come on top, or with
/// the user's own model (`model_id`) those for it; a user who gives a plan or cores gives all of them.
void apply_workload(Settings& settings, const workloads::Workload& workload, WorkloadPart part);

/// The settings as names and values; those of a generation when they are not the defaults.
nlohmann::ordered_json to_json(const Settings& settings);
/// Those of a run as it resolved them; all that it read count as given.
Settings settings_from(const nlohmann::ordered_json& json);

}  // namespace trnsim
