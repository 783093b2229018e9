#include "workloads/checkpoints/adapter.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/error.h"
#include "base/files.h"
#include "workloads/checkpoints/json_file.h"

namespace workloads {
namespace {

using base::Error;
using base::Fault;
namespace fs = std::filesystem;

constexpr const char *kConfig = "adapter_config.json", *kTensors = "adapter_model.safetensors", *kBase = "base";
constexpr std::string_view kPeft = "base_model.model.";

std::string file_name_of(const WeightSpec& spec) { return std::string{kPeft} + spec.file_tensor(); }

/// The factors of a model with adapters, in its order.
std::vector<WeightSpec> factors(const ModelPtr& model) {
  std::vector<WeightSpec> out = model->weights();
  std::erase_if(out, [](const WeightSpec& spec) { return spec.frozen; });
  return out;
}

std::vector<float> read_factor(const Checkpoint& file, const WeightSpec& spec) {
  const std::string name = file_name_of(spec), where = file.path().string();
  const char* fix = "use the base that it was trained on, and the adapter_config.json that was saved with it";
  if (!file.contains(name))
    throw Error{Fault::kData, where, fmt::format("has no tensor \"{}\" of shape {}", name, to_string(spec.shape)), fix};
  const TensorInfo& info = file.info(name);
  const Shape& shape = spec.pieces.empty() ? spec.shape : spec.pieces.front().shape;
  if (info.shape != shape)
    throw Error{Fault::kData, where,
                fmt::format("tensor \"{}\" has shape {}, but for this base and the rank in {} it must have {}", name,
                            to_string(info.shape), kConfig, to_string(shape)),
                fix};
  std::vector<float> values = stored_values(file, kPeft, spec);
  if (!std::ranges::all_of(values, [](float x) { return std::isfinite(x); }))
    throw Error{Fault::kNumerics, where, fmt::format("tensor \"{}\" holds NaN or infinity", name),
                "use an adapter of a training run that did not diverge"};
  return values;
}

}  // namespace

namespace {

/// PEFT's word; null where it has none.
nlohmann::json task_type(const Model& model) {
  if (model.image()) return nullptr;
  switch (model.task()) {
    case Task::kNextToken: return "CAUSAL_LM";
    case Task::kTextToText: return "SEQ_2_SEQ_LM";
    case Task::kClassification: return model.head() == Head::kTokens ? "TOKEN_CLS" : "SEQ_CLS";
    case Task::kMaskedTokens: return nullptr;
  }
  return nullptr;
}

}  // namespace

bool is_adapter_folder(const fs::path& path) { return fs::exists(path / kConfig); }

fs::path base_of_adapter(const fs::path& folder) {
  if (fs::exists(folder / kBase)) return folder / kBase;
  if (fs::exists(folder / "config.json")) return folder;
  const auto config = read_json_file(folder / kConfig);
  const auto name = config.value("base_model_name_or_path", nlohmann::json());
  if (name.is_string() && fs::exists(name.get<std::string>())) return name.get<std::string>();
  throw Error{Fault::kData, (folder / kConfig).string(),
              fmt::format("\"base_model_name_or_path\" is {}, which is not a folder here", name.dump()),
              fmt::format("put the base's config.json and model.safetensors into {}", (folder / kBase).string())};
}

Lora read_adapter_config(const fs::path& folder) {
  return lora_from(read_json_file(folder / kConfig), (folder / kConfig).string());
}

void load_adapter(const fs::path& folder, const ModelPtr& model, Weights& weights) {
  const Checkpoint file = Checkpoint::open(folder / kTensors);
  const std::vector<WeightSpec> specs = factors(model);
  for (const WeightSpec& spec : specs) weights.values[spec.name] = read_factor(file, spec);
  std::set<std::string> known;
  for (const WeightSpec& spec : specs) known.insert(file_name_of(spec));
  for (const std::string& name : file.names())
    if (!known.contains(name))
      throw Error{Fault::kData, (folder / kTensors).string(),
                  fmt::format("tensor \"{}\" belongs to none of the targets of this base", name),
                  "use the base that it was trained on, and the adapter_config.json that was saved with it"};
}

void save_adapter(const fs::path& folder, const ModelPtr& model, const Weights& weights, ElementType type) {
  const ModelPtr base = model->with_lora(std::nullopt);
  fs::create_directories(folder / kBase);
  write_config(base, folder / kBase);
  save_weights(folder / kBase, base, weights, type);
  const std::vector<WeightSpec> specs = factors(model);
  for (const WeightSpec& spec : specs)
    base::ensure(weights.values.contains(spec.name), spec.name, "is not among the weights");
  const auto values = [&](const WeightSpec& spec) { return weights.values.at(spec.name); };
  std::vector<NewTensor> tensors;
  for (StoredTensor& one : stored_tensors(specs, [&](const WeightSpec&) { return type; }))
    tensors.push_back({std::string{kPeft} + one.name, type, one.shape,
                       [one, values, type] { return from_floats(type, stored_values(one, values)); }});
  write_safetensors(folder / kTensors, std::move(tensors));
  nlohmann::json config = to_json(model->lora().value());
  config["base_model_name_or_path"] = fs::absolute(folder / kBase).lexically_normal().string();
  config["peft_type"] = "LORA";
  config["task_type"] = task_type(*model);
  config["bias"] = "none";
  config["fan_in_fan_out"] = false;
  config["inference_mode"] = true;
  config["init_lora_weights"] = true;
  base::write_file(folder / kConfig, config.dump(2) + "\n");
}

}  // namespace workloads
