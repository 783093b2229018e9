// Biases of attention by the distance of key and query, as T5 has them: near distances have one each, farther ones
// share buckets that grow with the logarithm.
#pragma once

#include <cstdint>
#include <vector>

namespace workloads {

struct Buckets {
  std::int64_t count = 32;  // of both sides together
  std::int64_t most = 128;  // the distance from which on all are in the last one
};

/// Which of the biases a query has for a key `distance` places behind it; on one side alone, those in front of the
/// query share one. Source: transformers, modeling_t5.py, _relative_position_bucket.
std::int64_t bucket_of(const Buckets& buckets, bool both_ways, std::int64_t distance);

/// Ones at the bucket of each of `columns` distances, of which the first is `from`: [buckets, columns].
std::vector<float> by_bucket(const Buckets& buckets, bool both_ways, std::int64_t columns, std::int64_t from);

/// DeBERTa-v2's buckets of a query's place less its key's: the near half have one each, farther ones share those that
/// are left up to `most`. Source: transformers, modeling_deberta_v2.py, make_log_bucket_position().
std::int64_t log_bucket_of(std::int64_t distance, const Buckets& buckets);

/// Ones at the row of a table of 2 * `buckets.count` places that each distance has [2 * length - 1, rows]: from length
/// - 1 down to 1 - length, or `backwards` up. `log`: far distances share rows.
std::vector<float> by_place(const Buckets& buckets, bool log, std::int64_t length, bool backwards);

}  // namespace workloads
