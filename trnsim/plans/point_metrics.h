// Names of the metrics with which a process of a sweep answers for one plan or placed job.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>

namespace trnsim {

constexpr const char *kSeconds = "seconds", *kDollars = "dollars", *kMemory = "memory", *kFits = "fits",
                     *kBinds = "binds.", *kStep = "step", *kSteps = "steps", *kSamples = "samples", *kTokens = "tokens",
                     *kBatch = "batch", *kCutSeconds = "interrupted seconds", *kCutDollars = "interrupted dollars",
                     *kCutSteps = "interrupted save steps";

/// The name of a metric of plan `i`, where a process answers for several.
inline std::string name_of(std::size_t i, const std::string& metric) { return fmt::format("{}.{}", i, metric); }

/// The number of micro-batches that are timed: further ones take as long as the last.
constexpr std::int64_t kTimedMicroBatches = 3;

}  // namespace trnsim
