// Text generation between two runs of the model: picks the next token, and prints the text so far.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "workloads/data/random.h"
#include "workloads/text/tokenizer.h"

namespace workloads {

/// Named and meant as in Hugging Face's GenerationConfig.
struct SamplingOptions {
  double temperature = 1;  // 0: always the most likely token
  std::int64_t top_k = 0;  // keep so many of the likeliest tokens; 0: all
  double top_p = 1;        // keep the likeliest tokens that together reach this probability
  std::uint64_t seed = 42;
};
/// Errors: Fault::kUsage naming the flag when a value is negative, top_p is not in (0, 1], or something is not a
/// number.
void check(const SamplingOptions& options);

/// Picks tokens for one sequence; sequence `index` of a batch has random numbers of its own, whatever the batch.
class TokenSampler {
 public:
  /// Errors: as check().
  TokenSampler(const SamplingOptions& options, std::uint64_t index);

  /// Temperature, then top_k, then top_p, then a draw; of equally likely tokens the first is preferred.
  /// Errors: Fault::kNumerics when a logit is NaN or +infinity, or all are -infinity.
  std::int32_t next(std::span<const float> logits);

 private:
  SamplingOptions options_;
  Random random_;
};

/// The text of a growing sequence, as soon as it is certain: half a character is kept back.
class TextStream {
 public:
  TextStream(const Tokenizer& tokenizer, bool skip_special_tokens)
      : tokenizer_{tokenizer}, skip_{skip_special_tokens} {}
  /// The text that `id` adds; perhaps nothing yet.
  std::string push(std::int32_t id);
  /// The text kept back, at the end of the sequence.
  std::string finish();

 private:
  std::string emit(bool all);

  const Tokenizer& tokenizer_;
  bool skip_;
  std::vector<std::int32_t> ids_;
  std::size_t printed_ = 0;  // characters
};

}  // namespace workloads
