// The keys of experts of Llama's relatives, and of the router that chooses them.
#pragma once

#include <nlohmann/json.hpp>

#include "workloads/models/config/keys.h"
#include "workloads/models/decoder/decoder_config.h"

namespace workloads {

/// Whether scores are sigmoids, to which a bias is added for the choice alone.
bool chooses_by_bias(const LlamaConfig& config);
/// Whether "decoder_sparse_step" and "mlp_only_layers" say which layers have experts.
bool has_sparse_step(const LlamaConfig& config);
void read_sparse_step(const Keys& keys, LlamaConfig& config);
void read_mlp_only(const Keys& keys, LlamaConfig& config);
void check_sparse(const Rules& rules, const LlamaConfig& config);
void read_shared(const Keys& keys, LlamaConfig& config);
nlohmann::json shared_json(const LlamaConfig& config);
void read_choice(const Keys& keys, LlamaConfig& config);
nlohmann::json choice_json(const LlamaConfig& config);
void check_groups(const Rules& rules, const LlamaConfig& config);
void check_first(const Rules& rules, const LlamaConfig& config);
void check_balance(const Rules& rules, const LlamaConfig& config);
void check_capacity(const Rules& rules, const LlamaConfig& config);

}  // namespace workloads
