#include "frontend/interpret/control.h"
#include "frontend/ops/rules.h"
#include "frontend/ops/table.h"

namespace trnsim::frontend::table {
namespace {

// clang-format off
const Rows kRowsCollectives = {
    {.name = "all_gather", .hlo = "all-gather", .group = kCollective, .attributes = {integer("all_gather_dim"),
     optional(table("replica_groups")), optional(integer("channel_id")), flag("use_global_device_ids")},
     .infer = rules::all_gather, .evaluate = evaluate::all_gather},
    {.name = "all_reduce", .hlo = "all-reduce", .group = kCollective, .regions = 1,
     .attributes = {optional(table("replica_groups")), optional(integer("channel_id")), flag("use_global_device_ids")},
     .infer = rules::all_reduce, .evaluate = evaluate::all_reduce},
    {.name = "reduce_scatter", .hlo = "reduce-scatter", .group = kCollective, .regions = 1,
     .attributes = {integer("scatter_dimension"), optional(table("replica_groups")), optional(integer("channel_id")),
     flag("use_global_device_ids")}, .infer = rules::reduce_scatter, .evaluate = evaluate::reduce_scatter},
    {.name = "all_to_all", .hlo = "all-to-all", .group = kCollective, .attributes = {integer("split_dimension"),
     integer("concat_dimension"), integer("split_count"), optional(table("replica_groups")),
     optional(integer("channel_id"))}, .infer = rules::all_to_all, .evaluate = evaluate::all_to_all},
    {.name = "collective_permute", .hlo = "collective-permute", .group = kCollective,
     .attributes = {table("source_target_pairs"), optional(integer("channel_id"))}, .infer = rules::collective_permute,
     .evaluate = evaluate::collective_permute},
    {.name = "collective_broadcast", .hlo = "collective-broadcast", .group = kCollective,
     .attributes = {optional(table("replica_groups")), optional(integer("channel_id")), flag("has_dynamic_root")},
     .infer = rules::collective_rooted, .evaluate = evaluate::collective_broadcast},
    {.name = "collective_reduce", .group = kCollective, .regions = 1, .attributes = {optional(table("replica_groups")),
     optional(integer("channel_id")), flag("has_dynamic_root")}, .infer = rules::collective_rooted,
     .evaluate = evaluate::collective_reduce},
    {.name = "partition_id", .hlo = "partition-id", .group = kCollective, .operands = 0, .infer = rules::process_id,
     .evaluate = evaluate::partition_id},
    {.name = "replica_id", .hlo = "replica-id", .group = kCollective, .operands = 0, .infer = rules::process_id,
     .evaluate = evaluate::replica_id},
};
// clang-format on

}  // namespace

Rows collectives() { return kRowsCollectives; }

}  // namespace trnsim::frontend::table
