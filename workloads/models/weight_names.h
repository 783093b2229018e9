// How checkpoints in the wild name the tensors of a model.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "workloads/config.h"

namespace workloads {

/// The name that a tensor of a file has in our list: old LayerNorm names made new, the model's prefix put in front.
std::string canonical_name(const ModelConfig& config, std::string name);

/// Tensors of other tasks, and buffers that are no weights. Takes canonical names, as the next two.
bool is_left_out(const ModelConfig& config, std::string_view name);

/// The heads that a task adds to a pre-trained model: drawn anew when the file has none.
bool may_be_missing(const ModelConfig& config, std::string_view name);

/// The tensor that `name` is a copy of, by the model's own definition.
std::optional<std::string> tied_to(const ModelConfig& config, std::string_view name);

}  // namespace workloads
