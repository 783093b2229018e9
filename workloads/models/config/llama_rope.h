// "rope_scaling" of Llama and its relatives, as rows of the table of their keys read, check and write it.
#pragma once

#include <nlohmann/json.hpp>

#include "workloads/models/config/table.h"
#include "workloads/models/decoder/decoder_config.h"

namespace workloads {

void read_rope(const Keys& keys, LlamaConfig& c);
void check_rope(const Rules& rules, const LlamaConfig& c);
nlohmann::json rope_json(const LlamaConfig& c);
/// In Phi-3's files the original positions are beside the scaling.
bool has_long_rope(const LlamaConfig& c);
void read_original_positions(const Keys& keys, LlamaConfig& c);

}  // namespace workloads
