// The families, one row each.
#include "workloads/models/registry.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/files.h"
#include "base/suggest.h"
#include "workloads/models/bert/bert_config.h"
#include "workloads/models/config_keys.h"
#include "workloads/models/decoder/decoder_config.h"
#include "workloads/models/model.h"
#include "workloads/models/presets.h"
#include "workloads/models/t5/t5.h"
#include "workloads/models/vit/vit.h"

namespace workloads {
namespace {

using base::Error;
using base::Fault;

struct FamilyRow {
  std::string_view name;
  std::string_view type;          // "model_type" of config.json
  std::string_view architecture;  // what "architectures" begins with, for old files that name no type
  ModelPtr (*read)(const Keys& keys);
  ModelPtr (*blank)();
  std::vector<Preset> (*presets)();
};

/// A relative of Llama.
template <LlamaKind kind>
constexpr FamilyRow relative(std::string_view type, std::string_view architecture) {
  return {architecture,
          type,
          architecture,
          [](const Keys& keys) { return make_model(read_llama(keys, kind)); },
          [] { return blank_llama(kind); },
          [] { return llama_presets(kind); }};
}

/// A relative of BERT.
template <BertKind kind>
constexpr FamilyRow encoder(std::string_view type, std::string_view architecture) {
  return {architecture,
          type,
          architecture,
          [](const Keys& keys) { return make_model(read_bert(keys, kind)); },
          [] { return blank_bert(kind); },
          [] { return bert_presets(kind); }};
}

// clang-format off
constexpr std::array kFamilies = {
    FamilyRow{"BERT", "bert", "Bert", [](const Keys& keys) { return make_model(read_bert(keys)); },
              [] { return make_model(BertConfig{}); }, [] { return bert_presets(); }},
    encoder<BertKind::kRoberta>("roberta", "Roberta"),
    encoder<BertKind::kDistilBert>("distilbert", "DistilBert"),
    encoder<BertKind::kElectra>("electra", "Electra"),
    encoder<BertKind::kAlbert>("albert", "Albert"),
    FamilyRow{"Llama", "llama", "Llama", [](const Keys& keys) { return make_model(read_llama(keys)); },
              [] { return make_model(LlamaConfig{}); }, [] { return llama_presets(); }},
    relative<LlamaKind::kMistral>("mistral", "Mistral"),
    relative<LlamaKind::kQwen2>("qwen2", "Qwen2"),
    relative<LlamaKind::kQwen3>("qwen3", "Qwen3"),
    relative<LlamaKind::kGemma>("gemma", "Gemma"),
    relative<LlamaKind::kGranite>("granite", "Granite"),
    relative<LlamaKind::kPhi3>("phi3", "Phi3"),
    relative<LlamaKind::kMixtral>("mixtral", "Mixtral"),
    relative<LlamaKind::kQwen3Moe>("qwen3_moe", "Qwen3Moe"),
    relative<LlamaKind::kOlmo2>("olmo2", "Olmo2"),
    FamilyRow{"GPT", "gpt2", "GPT2", [](const Keys& keys) { return make_model(read_gpt(keys)); },
              [] { return make_model(GptConfig{}); }, gpt_presets},
    FamilyRow{"ViT", "vit", "ViT", [](const Keys& keys) { return make_model(read_vit(keys)); },
              [] { return make_model(VitConfig{}); }, vit_presets},
    FamilyRow{"T5", "t5", "T5", [](const Keys& keys) { return make_model(read_t5(keys)); },
              [] { return make_model(T5Config{}); }, t5_presets},
};
// clang-format on

std::string types(std::string_view quote) {
  std::vector<std::string> names;
  for (const FamilyRow& row : kFamilies) names.push_back(fmt::format("{}{}{}", quote, row.type, quote));
  const std::string last = names.back();
  names.pop_back();
  return fmt::format("{} or {}", fmt::join(names, ", "), last);
}

/// Old files name no model_type, but their architectures begin with it.
const FamilyRow& family_row_of(const Keys& keys) {
  if (keys.has("model_type") && keys.at("model_type").is_string()) {
    const std::string type = keys.at("model_type");
    const auto* row = std::ranges::find(kFamilies, type, &FamilyRow::type);
    if (row != kFamilies.end()) return *row;
    keys.fail(fmt::format("\"model_type\" is \"{}\"", type), "use a model of type " + types(""));
  }
  const std::string made = keys.has("architectures") ? keys.at("architectures").dump() : "";
  for (const FamilyRow& row : kFamilies)
    if (made.starts_with(fmt::format("[\"{}", row.architecture))) return row;
  keys.fail("has no \"model_type\"", "add \"model_type\": " + types("\""));
}

std::vector<Preset> all_presets() {
  std::vector<Preset> out;
  for (const FamilyRow& row : kFamilies)
    for (Preset& preset : row.presets()) out.push_back(std::move(preset));
  return out;
}

}  // namespace

ModelPtr read_config(const std::filesystem::path& file_or_folder) {
  const Keys keys{std::filesystem::is_directory(file_or_folder) ? file_or_folder / "config.json" : file_or_folder};
  return family_row_of(keys).read(keys);
}

void write_config(const ModelPtr& model, const std::filesystem::path& folder) {
  base::write_file(folder / "config.json", model->config_json());
}

ModelPtr model_preset(std::string_view name) {
  for (const Preset& preset : all_presets())
    if (preset.name == name) return preset.model;
  throw Error{Fault::kUsage, "model preset", fmt::format("\"{}\" is unknown", name),
              base::suggest_fix(name, model_preset_names())};
}

ModelPtr blank_model(std::string_view model_type) {
  const auto* row = std::ranges::find(kFamilies, model_type, &FamilyRow::type);
  return row == kFamilies.end() ? nullptr : row->blank();
}

std::vector<PresetRow> model_presets() {
  std::vector<PresetRow> rows;
  for (const Preset& preset : all_presets()) rows.push_back({preset.name, preset.source});
  return rows;
}

std::vector<std::string> model_preset_names() {
  std::vector<std::string> names;
  for (const PresetRow& preset : model_presets()) names.emplace_back(preset.name);
  return names;
}

bool is_model_preset(std::string_view name) {
  return std::ranges::any_of(model_presets(), [name](const PresetRow& preset) { return preset.name == name; });
}

ModelPtr Model::with_capacity_factor(double) const {
  throw Error{Fault::kUsage, "`capacity_factor`", fmt::format("a {} model has no experts", family()),
              "leave it out, or take a mixture of experts"};
}

double Model::kept_elements(const Plan& plan, std::int64_t length) const {
  const Sizes c = sizes();
  const auto tokens = static_cast<double>(plan.micro_batch * length);
  return tokens * static_cast<double>(3 * c.hidden + c.ffn) + tokens * static_cast<double>(length * c.heads);
}

std::vector<StepGraph> pipeline_steps(const Model& model, const Step& step) {
  std::vector<StepGraph> out;
  for (std::int64_t stage = 0; stage < step.plan.pipeline; ++stage) {
    Step one = step;
    one.stage = stage;
    out.push_back(model.step(one));
  }
  return out;
}

void require_plan(const Model& model, const Plan& plan) {
  if (const auto problem = model.refuses(plan)) throw Error{Fault::kUsage, problem->where, problem->what, problem->fix};
}

}  // namespace workloads
