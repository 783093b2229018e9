// A result as bytes, from a child process to its parent on the same host.
#pragma once

#include <string>
#include <string_view>

#include "hw/trace.h"

namespace hw {

std::string to_bytes(const SimResult& result);
/// Errors: Fault::kInternal when `bytes` is cut short or too long.
SimResult from_bytes(std::string_view bytes);

}  // namespace hw
