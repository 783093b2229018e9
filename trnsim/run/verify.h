// A training trajectory of PyTorch, repeated on the cores that the settings describe.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>

#include "trnsim/settings.h"
#include "workloads/training/verify.h"

namespace trnsim {

/// `folder`: as workloads::verify() reads it. One core, unless `nproc_per_node` or the plan's degrees say otherwise.
/// `step_done` may be empty. Errors: as workloads::verify(); Fault::kUsage for settings that compute nothing, and for a
/// plan that does not divide the cores.
workloads::VerifyReport verify(const std::filesystem::path& folder, const Settings& settings,
                               const std::function<void(std::int64_t step)>& step_done = {});

}  // namespace trnsim
