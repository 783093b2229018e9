#include "frontend/rewrite/moves.h"

#include <algorithm>
#include <numeric>

#include "frontend/graph/grid.h"

namespace trnsim::frontend {
namespace {

std::int64_t ranks_of(const Module& module) {
  return std::max<std::int64_t>(module.replicas, 1) * std::max<std::int64_t>(module.partitions, 1);
}

/// The attributes of a collective whose groups are those of flat numbers.
Attributes flat_groups(IntTable groups) {
  Attributes out = with("replica_groups", std::move(groups));
  out.set("channel_id", std::int64_t{1});
  out.set("use_global_device_ids", true);
  return out;
}

IntTable all_ranks(const Module& module) {
  IntTable out{.columns = ranks_of(module), .values = Ints(static_cast<std::size_t>(ranks_of(module)))};
  std::iota(out.values.begin(), out.values.end(), 0);
  return out;
}

/// A row of whole numbers for each rank; each takes its own, [columns]: all bring the same table and each keeps its
/// part.
ValueId of_rank(Composer& c, const std::vector<double>& numbers) {
  const Module& module = c.b().module();
  const std::int64_t ranks = ranks_of(module), columns = static_cast<std::int64_t>(numbers.size()) / ranks;
  Node node;
  node.op = &operator_named("reduce_scatter");
  node.operands = {c.b().constant(literal_of(tensor_type(Element::kI32, {ranks, columns}), numbers))};
  node.regions = {Region{.function = c.pair("maximum", Element::kI32), .captures = {}}};
  node.attributes = flat_groups(all_ranks(module));
  node.attributes.set("scatter_dimension", std::int64_t{0});
  const ValueId row = c.b().add(std::move(node), {tensor_type(Element::kI32, {1, columns})}).result();
  return c.b().op("reshape", {row}, {}, {tensor_type(Element::kI32, {columns})});
}

/// Element `place` of a row [columns], a scalar.
ValueId element_of(Composer& c, ValueId row, ValueId place) {
  const ValueId one = c.b().op("dynamic_slice", {row, place}, with("slice_sizes", Ints{1}));
  return c.b().op("reshape", {one}, {}, {scalar_type(c.type(row).element)});
}

ValueId whole(Composer& c, std::int64_t number) {
  return c.number(static_cast<double>(number), scalar_type(Element::kI32));
}

ValueId compared(Composer& c, ValueId a, const char* direction, ValueId b) {
  return c.b().op("compare", {a, b}, with("comparison_direction", std::string{direction}));
}

/// Operand i of the rank whose number is `source`, zeros where that is negative: all gather, and each takes one.
ValueId taken_from(Composer& c, std::size_t i, ValueId source) {
  const Type type = c.type(c.given(i));
  Dims one = type.dims, all = type.dims;
  one.insert(one.begin(), 1), all.insert(all.begin(), ranks_of(c.b().module()));
  Attributes gather = flat_groups(all_ranks(c.b().module()));
  gather.set("all_gather_dim", std::int64_t{0});
  const ValueId row = c.b().op("reshape", {c.given(i)}, {}, {tensor_type(type.element, one)});
  const ValueId every = c.b().op("all_gather", {row}, std::move(gather), {tensor_type(type.element, all)});
  std::vector<ValueId> slice{every, source};
  for (std::size_t d = 0; d < type.dims.size(); ++d) slice.push_back(whole(c, 0));
  const ValueId taken = c.b().op("dynamic_slice", std::move(slice), with("slice_sizes", one));
  return c.b().op("reshape", {taken}, {}, {type});
}

ValueId or_zeros(Composer& c, ValueId truth, ValueId value) {
  return c.op("select", {truth, value, c.number(0, c.type(value))});
}

/// The source of each rank by pairs, -1 where it has none; empty: a number is none of a replica or, with a channel, of
/// a partition.
std::vector<double> sources_of(const Module& module, const Node& node) {
  const std::int64_t partitions = std::max<std::int64_t>(module.partitions, 1), ranks = ranks_of(module);
  const bool of_partitions = node.attributes.integer("channel_id") > 0;
  const std::int64_t ids = of_partitions ? partitions : ranks / partitions, others = ranks / ids;
  const auto rank = [&](std::int64_t id, std::int64_t other) {
    return of_partitions ? other * partitions + id : id * partitions + other;
  };
  std::vector<double> out(static_cast<std::size_t>(ranks), -1);
  const IntTable pairs = node.attributes.table("source_target_pairs");
  for (std::int64_t r = 0; r < pairs.rows(); ++r) {
    const std::int64_t source = pairs.at(r, 0), target = pairs.at(r, 1);
    if (source < 0 || target < 0 || source >= ids || target >= ids) return {};
    for (std::int64_t other = 0; other < others; ++other)
      out[static_cast<std::size_t>(rank(target, other))] = static_cast<double>(rank(source, other));
  }
  return out;
}

void permute(Composer& c) {
  const std::vector<double> sources = sources_of(c.b().module(), c.node());
  const ValueId source = element_of(c, of_rank(c, sources), whole(c, 0));
  const bool all = std::ranges::find(sources, -1) == sources.end();
  std::vector<ValueId> out;
  for (std::size_t i = 0; i < c.node().operands.size(); ++i) {
    const ValueId taken = taken_from(c, i, source);
    out.push_back(all ? taken : or_zeros(c, compared(c, source, "GE", whole(c, 0)), taken));
  }
  c.b().returns(out);
}

/// For each rank its group, -1 behind the last member and for ranks of no group.
std::vector<double> groups_by_rank(const Module& module, const IntTable& groups) {
  std::vector<double> out(static_cast<std::size_t>(ranks_of(module) * groups.columns), -1);
  for (std::int64_t row = 0; row < groups.rows(); ++row)
    for (std::int64_t member = 0; member < groups.columns; ++member)
      for (std::int64_t column = 0; column < groups.columns && groups.at(row, member) >= 0; ++column)
        out[static_cast<std::size_t>(groups.at(row, member) * groups.columns + column)] =
            static_cast<double>(groups.at(row, column));
  return out;
}

bool has_roots(const Node& node) { return node.attributes.flag("has_dynamic_root"); }

/// Each member's place in its group that operand i has its root at.
ValueId root_of(Composer& c, std::size_t i) {
  if (!has_roots(c.node())) return whole(c, 0);
  return element_of(c, c.given(c.node().operands.size() - 1), whole(c, static_cast<std::int64_t>(i)));
}

void broadcast(Composer& c) {
  const Module& module = c.b().module();
  const ValueId group = of_rank(c, groups_by_rank(module, process_groups(module, c.node())));
  std::vector<ValueId> out;
  for (std::size_t i = 0; i < c.node().results; ++i) {
    const ValueId source = element_of(c, group, root_of(c, i));
    out.push_back(or_zeros(c, compared(c, source, "GE", whole(c, 0)), taken_from(c, i, source)));
  }
  c.b().returns(out);
}

/// For each rank its place in its group, -1 for ranks of none. They become groups of their own.
std::vector<double> places_by_rank(const Module& module, IntTable& groups) {
  std::vector<double> out(static_cast<std::size_t>(ranks_of(module)), -1);
  for (std::int64_t row = 0; row < groups.rows(); ++row)
    for (std::int64_t column = 0; column < groups.columns; ++column)
      if (groups.at(row, column) >= 0)
        out[static_cast<std::size_t>(groups.at(row, column))] = static_cast<double>(column);
  for (std::size_t rank = 0; rank < out.size(); ++rank) {
    if (out[rank] >= 0) continue;
    groups.values.push_back(static_cast<std::int64_t>(rank));
    groups.values.resize(groups.values.size() + static_cast<std::size_t>(groups.columns) - 1, -1);
  }
  return out;
}

/// A sum, or another combination, of all members' operands, which the root alone keeps.
void reduce(Composer& c) {
  const Module& module = c.b().module();
  IntTable groups = process_groups(module, c.node());
  const ValueId place = element_of(c, of_rank(c, places_by_rank(module, groups)), whole(c, 0));
  std::vector<ValueId> out;
  for (std::size_t i = 0; i < c.node().results; ++i) {
    Node sum;
    sum.op = &operator_named("all_reduce");
    sum.operands = {c.given(i)};
    sum.regions = c.node().regions;
    sum.attributes = flat_groups(groups);
    const ValueId made = c.b().add(std::move(sum), {c.result(i)}).result();
    out.push_back(or_zeros(c, compared(c, place, "EQ", root_of(c, i)), made));
  }
  c.b().returns(out);
}

}  // namespace

bool is_move(const Module& module, const Node& node) {
  if (node.op->name == "collective_permute") return !sources_of(module, node).empty();
  if (node.op->name != "collective_broadcast" && node.op->name != "collective_reduce") return false;
  const IntTable groups = process_groups(module, node);
  return groups.columns > 0 && *std::ranges::max_element(groups.values) < ranks_of(module);
}

void compute_move(Composer& c) {
  const std::string_view op = c.node().op->name;
  op == "collective_permute" ? permute(c) : op == "collective_broadcast" ? broadcast(c) : reduce(c);
}

bool is_rank_number(const Node& node) { return node.op->name == "replica_id" || node.op->name == "partition_id"; }

void compute_rank_number(Composer& c) {
  const Module& module = c.b().module();
  std::vector<double> numbers(static_cast<std::size_t>(ranks_of(module)));
  const auto partitions = static_cast<std::size_t>(std::max<std::int64_t>(module.partitions, 1));
  for (std::size_t r = 0; r < numbers.size(); ++r)
    numbers[r] = static_cast<double>(c.node().op->name == "replica_id" ? r / partitions : r % partitions);
  const ValueId mine = c.in(Element::kU32, of_rank(c, numbers));
  c.b().returns({c.b().op("reshape", {mine}, {}, {scalar_type(Element::kU32)})});
}

}  // namespace trnsim::frontend
