// The type that a config.json says its weights are stored in.
#pragma once

#include "workloads/models/config/keys.h"

namespace workloads {

/// Errors: Fault::kData for a "torch_dtype" ("dtype" in newer files) that PyTorch has not, or that no weights of a
/// model that is computed here can have.
void refuse_stored_type(const Keys& keys);

}  // namespace workloads
