// A model with its weights, in any form on disk.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "workloads/models/model.h"
#include "workloads/models/weights.h"

namespace workloads {

struct LoadedModel {
  ModelPtr config;
  Weights weights;
};

/// Reads what it finds: an adapter as PEFT saves it (workloads/checkpoints/adapter.h) with its base, a folder with
/// shards.json (workloads/checkpoints/shards.h), one with config.json and safetensors as Hugging Face writes it, a
/// llama2.c file, or a folder whose only model is one (stories260K.bin beside tok512.bin). `head`: of an encoder, for a
/// task, if not as it was saved; shards say themselves. `seed` draws what a checkpoint may lack. Errors: as
/// load_weights(), read_shards() and read_llama2c(); Fault::kData when nothing of these is there.
LoadedModel load_model(const std::filesystem::path& path, std::uint64_t seed, std::optional<Head> head = std::nullopt);

/// The head that a model was saved with, where reading it leaves that to the task (BertForMaskedLM); empty: as it is
/// read.
std::optional<Head> saved_head(const std::filesystem::path& folder);

/// The configuration alone. Errors: as load_model(), as far as it looks.
ModelPtr load_model_config(const std::filesystem::path& path);

}  // namespace workloads
