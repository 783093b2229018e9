// A result as bytes, from a child process to its parent on the same host.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hw/run/call_memo.h"
#include "hw/trace.h"

namespace hw {

std::string to_bytes(const std::vector<SimResult>& results);
std::string to_bytes(const std::vector<BlockNews>& news);
std::vector<BlockNews> news_from_bytes(std::string_view bytes);
/// Errors: Fault::kInternal when `bytes` is cut short.
std::vector<SimResult> results_from_bytes(std::string_view bytes);

}  // namespace hw
