// Samples of different lengths: how many tokens they have, and the few lengths that they are padded to.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace workloads {

/// Tokens of the samples of a data set with their special tokens, before anything is cut.
struct TokenLengths {
  std::map<std::int64_t, std::int64_t> samples;  // by tokens
  std::string source;
  bool estimated = false;  // without a vocabulary: kBytesPerToken each (workloads/tasks/language_modelling.h)

  std::int64_t count() const;
  std::int64_t tokens() const;
  std::int64_t longest() const { return samples.empty() ? 0 : samples.rbegin()->first; }
};

/// Samples in one bucket: those that no shorter bucket holds; the last has what is cut to it, too.
struct Bucket {
  std::int64_t length = 0, samples = 0, cut = 0;  // cut: of them, those with more tokens than the bucket
  std::int64_t tokens = 0;                        // of its samples, as cut: the rest of samples * length is padding
};

/// Deals samples to buckets; one without samples is left out. `lengths` rise.
std::vector<Bucket> bucketed(const TokenLengths& data, const std::vector<std::int64_t>& lengths);

/// At most `most_buckets` multiples of 32, of at most `longest` tokens, with the least padding; one more is taken only
/// when it saves a twentieth of the tokens, since each has to be compiled. The last holds the longest sample.
std::vector<std::int64_t> fitted_buckets(const TokenLengths& data, std::int64_t longest, std::int64_t most_buckets = 4);

/// "128,256,512". Errors: as buckets_of().
std::vector<std::int64_t> listed_buckets(std::string_view text);

/// The lengths of the setting `buckets`: lengths with commas, or "auto"; empty: one bucket of `longest`. Errors:
/// Fault::kUsage for text that is not a number, does not rise, or exceeds `longest`, which `limit` names ("bert's
/// positions").
std::vector<std::int64_t> buckets_of(std::string_view text, const TokenLengths& data, std::int64_t longest,
                                     std::string_view limit);

}  // namespace workloads
