// Adapters as PEFT saves them: adapter_config.json and adapter_model.safetensors, whose tensors are named
// "base_model.model.NAME". Source: huggingface/peft, src/peft/utils/save_and_load.py.
#pragma once

#include <filesystem>

#include "workloads/models/lora.h"
#include "workloads/models/model.h"
#include "workloads/models/weights.h"

namespace workloads {

bool is_adapter_folder(const std::filesystem::path& path);

/// The folder of the base model: the folder's own "base", the folder itself, or "base_model_name_or_path". Errors:
/// Fault::kData when none of them exists.
std::filesystem::path base_of_adapter(const std::filesystem::path& folder);
/// The settings in the folder's adapter_config.json. Errors: as lora_from().
Lora read_adapter_config(const std::filesystem::path& folder);
/// Adds the factors to the weights of the base. `model`: the base with read_adapter_config(). Errors: Fault::kData for
/// tensors that are missing, too many, or of another shape, as of another base or rank; Fault::kNumerics as
/// load_weights().
void load_adapter(const std::filesystem::path& folder, const ModelPtr& model, Weights& weights);

/// Writes the adapter of a model with one, and the base into the folder's "base". Errors: Fault::kEnvironment.
void save_adapter(const std::filesystem::path& folder, const ModelPtr& model, const Weights& weights,
                  ElementType type = ElementType::kF32);

}  // namespace workloads
