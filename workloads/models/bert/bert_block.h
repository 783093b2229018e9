// The layers of BERT and its relatives: their architecture, their weights, and the tables that a host writes for them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workloads/models/bert/bert_config.h"
#include "workloads/models/layers/arch.h"
#include "workloads/models/layers/distances.h"
#include "workloads/models/model.h"
#include "workloads/models/spec_list.h"

namespace workloads {

BlockArch bert_block(const BertConfig& config);

/// Appends the weights of a norm, of rows or of heads.
void norm_weights(SpecList& list, const std::string& name, std::int64_t size, const BertConfig& config);
/// Appends the weights of a layer.
void bert_layer(SpecList& list, const BertConfig& config, std::int64_t layer);

/// The standard deviation of the first values of a layer that ends a part; 0: as all others.
double out_deviation(const BertConfig& config);
/// Says where a file has layers' weights whose names have the layer's number behind.
void number_behind(std::vector<WeightSpec>& specs, const BertDialect& dialect);

/// Names of tables: ones at the bucket of each distance [buckets, 2 * length - 1], and where a distance is within the
/// window of layers that have one [1, 2 * length - 1]; the first distance is 1 - length.
inline constexpr const char *kDistances = "distances", *kNear = "near";
/// Ones at the relative place of each distance, as PlaceTable has them.
inline constexpr const char *kForwards = "places", *kBackwards = "places_back";
/// The buckets of MPNet's bias, which its configuration cannot change. Source: transformers, modeling_mpnet.py,
/// compute_position_bias() and relative_position_bucket().
inline constexpr Buckets kMpnetBuckets{.count = 32, .most = 128};

/// The relative places of one side.
Buckets places_of(const BertConfig& config);

/// The tables of a step with sequences of `length` tokens: these, and those of rotary positions.
std::vector<HostTable> bert_tables(const BertConfig& config, std::int64_t length);
/// Whether some tokens of a sequence are outside the window of others on both sides.
bool hides_far(const AttentionArch& attention, std::int64_t length);

}  // namespace workloads
