// Keys of a config.json that nothing reads.
#pragma once

#include "workloads/models/config/keys.h"

namespace workloads {

/// After a family has read its keys. Errors: Fault::kData for a key that no one read and whose value is neither off nor
/// known to change nothing: a key is obeyed or refused.
void require_understood(const Keys& keys);

}  // namespace workloads
