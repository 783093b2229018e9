// Keys of relatives of Llama whose code is in no release of transformers.
#pragma once

#include <nlohmann/json.hpp>

#include "workloads/models/config/keys.h"
#include "workloads/models/decoder/decoder_config.h"

namespace workloads {

/// Errors: Fault::kData for a file of an earlier model of the same type, which is another.
void refuse_earlier_model(const Keys& keys, LlamaKind kind);
/// Reads them into a configuration that has all others.
LlamaConfig read_own(const Keys& keys, LlamaConfig config);
void check_own(const Rules& rules, const LlamaConfig& config);
/// `file` has all others; it gets the words of the family.
nlohmann::json with_own(nlohmann::json file, const LlamaConfig& config);

}  // namespace workloads
