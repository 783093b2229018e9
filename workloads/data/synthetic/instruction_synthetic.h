// The embedded instruction data: made-up questions with answers that follow from them. It is synthetic, and every
// report that uses it has to say so. The question (a sum, an order, which of two people has a thing) and its wording
// vary freely, so that a model must learn to copy from the question and the context, not only how answers look.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "workloads/data/corpus.h"
#include "workloads/data/synthetic/emotion_synthetic.h"

namespace workloads {

inline constexpr std::string_view kSyntheticInstructions = "synthetic instructions (embedded)";

/// Sample `index` of a split depends on seed, split and index alone, not on how many are made.
Instruction synthetic_instruction(std::uint64_t seed, SyntheticSplit split, std::uint64_t index);

/// The texts of `count` samples; as pairs, without the template.
Corpus synthetic_corpus(SyntheticSplit split, std::size_t count, std::uint64_t seed = 42, bool pairs = false);

}  // namespace workloads
