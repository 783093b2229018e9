// Makes a WordPiece vocabulary from text.
#pragma once

#include <string>
#include <vector>

#include "workloads/data/dataset.h"
#include "workloads/text/wordpiece.h"

namespace workloads {

/// The special tokens; then every character of the text, alone and as a continuation, so that nothing written in these
/// characters is unknown; then as many as fit of the whole words and of their endings of 2 to 6 characters, the most
/// frequent first (an ending counts for the different words that have it), at most one ending for three words. Ties are
/// broken by name: the same data gives the same vocabulary. Smaller than `size` when there is no more to take. Errors:
/// Fault::kUsage when `size` cannot hold special tokens and characters.
std::vector<std::string> train_wordpiece(const Dataset& dataset, const BertNormalizer& normalizer,
                                         const SpecialTokens& special, std::size_t size);

}  // namespace workloads
