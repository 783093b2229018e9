// Model files of karpathy/llama2.c: a header of 7 int32, then fp32 tensors ("legacy", version 0). Source: llama2.c,
// export.py legacy_export() and run.c memory_map_weights().
#pragma once

#include <filesystem>

#include "workloads/models/decoder/decoder_config.h"
#include "workloads/models/weights.h"

namespace workloads {

struct Llama2cModel {
  LlamaConfig config;
  Weights weights;  // Hugging Face's names and shapes
};

/// llama2.c rotates neighbours (2j, 2j + 1), Hugging Face halves (j, j + head_dim / 2): the rows of the query and key
/// weights are reordered, so that both compute the same. The file does not say the norm's epsilon: llama2.c's is 1e-5;
/// nor where a text ends: there the next one begins (token 1).
/// Errors: Fault::kData when the file is missing, its header is of another version or out of range, or its size is not
/// the one that the header says; Fault::kNumerics when a value is NaN or infinite.
Llama2cModel read_llama2c(const std::filesystem::path& file);

}  // namespace workloads
