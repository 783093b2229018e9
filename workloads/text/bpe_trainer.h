// Makes a byte-level BPE tokenizer from text, for a model that is trained from scratch.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "workloads/text/tokenizer.h"

namespace workloads {

/// "<|endoftext|>" (the end of a text, and padding); the 256 bytes; then as many merges as fit, of the pair that is
/// most frequent in the words of the texts (GPT-2's words). Ties are broken by name: the same texts give the same
/// tokenizer. Smaller than `size` when no pair is left that occurs twice. save() writes files for Hugging Face's
/// AutoTokenizer. `source` names the texts in errors. Errors: Fault::kUsage when `size` cannot hold the bytes.
std::unique_ptr<Tokenizer> train_bpe(std::span<const std::string> texts, std::size_t size, std::string_view source);

}  // namespace workloads
