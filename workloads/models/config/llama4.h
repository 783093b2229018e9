// The keys of Llama 4 that no other relative of Llama has.
#pragma once

#include <nlohmann/json.hpp>

#include "workloads/models/config/keys.h"
#include "workloads/models/decoder/decoder_config.h"

namespace workloads {

/// "interleave_moe_layer_step" and "moe_layers": the layers that have experts, with one of all tokens each.
void read_expert_layers(const Keys& keys, LlamaConfig& config);
/// "no_rope_layers": 1 for each layer that turns.
nlohmann::json turning_layers(const LlamaConfig& config);
/// "attn_temperature_tuning", a number in old files, with "floor_scale".
void read_tuning(const Keys& keys, LlamaConfig& config);

}  // namespace workloads
