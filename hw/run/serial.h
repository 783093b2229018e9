// A result as bytes, from a child process to its parent on the same host.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hw/run/call_memo.h"
#include "hw/trace.h"

namespace hw {

/// The outcome of a simulation in a child process.
struct Outcome {
  std::vector<SimResult> results;
  std::vector<BlockNews> news;
};

std::string to_bytes(const Outcome& outcome);
/// Errors: Fault::kInternal when `bytes` is cut short or too long.
Outcome from_bytes(std::string_view bytes);

}  // namespace hw
