#include <fmt/format.h>

#include <algorithm>

#include "frontend/graph/indices.h"
#include "frontend/ops/rules.h"

namespace trnsim::frontend::rules {
namespace {

std::int64_t index_of(const Contract& c, std::string_view name, std::int64_t rank) {
  const std::int64_t d = c.attributes().integer(name);
  c.distinct({d}, rank, name);
  return d;
}

/// Each id is in one group at most; -1 fills shorter groups.
void check_groups(const Contract& c) {
  const IntTable groups = c.attributes().table("replica_groups");
  Ints seen;
  for (const std::int64_t id : groups.values) {
    if (id == -1) continue;
    c.need(id >= 0, fmt::format("replica_groups has {}", id));
    seen.push_back(id);
  }
  std::ranges::sort(seen);
  const auto twice = std::ranges::adjacent_find(seen);
  c.need(twice == seen.end(), "replica_groups has a process twice");
  c.need(!c.attributes().flag("use_global_device_ids") || c.attributes().integer("channel_id") > 0,
         "use_global_device_ids needs a channel_id above 0");
}

}  // namespace

std::int64_t group_size(const Attributes& attributes) { return attributes.table("replica_groups").columns; }

Types loop(const Contract& c) {
  const Types state = operands(c);
  const Function& condition = region_of(c, 0, state, 1);
  c.need(condition.result_types()[0] == scalar_type(Element::kI1), "its condition must return tensor<i1> (C1)");
  const Function& body = region_of(c, 1, state, state.size());
  c.need(body.result_types() == state, "its body must return the types of its operands (C2)");
  return state;
}

Types branches(const Contract& c) {
  c.need(!c.node().regions.empty(), "needs a branch (C1)");
  const bool two = c.node().op->regions == 2;
  const Type& index = c.tensor(0, 0);
  c.need(index.element == (two ? Element::kI1 : Element::kI32), two ? "the predicate must be i1" : "index must be i32");
  const Types results = c.region(0).result_types();
  // A branch has no parameters, or in HLO's form one operand each.
  const bool with_operands = c.operands() > 1;
  for (std::size_t i = 0; i < c.node().regions.size(); ++i) {
    if (with_operands) c.need(i + 1 < c.operands(), "needs an operand for each branch");
    const Function& branch = region_of(c, i, with_operands ? Types{c.operand(i + 1)} : Types{}, results.size());
    c.need(branch.result_types() == results, fmt::format("branches 0 and {} return different types (C3)", i));
  }
  return results;
}

Types call(const Contract& c) {
  c.need(c.node().regions.size() == 1, "names no function");
  return region_of(c, 0, operands(c), c.region(0).results.size()).result_types();
}

/// A future is a tuple of the results that its body returns.
Types async_start(const Contract& c) {
  const Types results = call(c);
  const bool one = c.stated().size() == 1 && !c.stated().front().is_tuple() && results.size() == 1;
  return one ? results : Types{tuple_type(results)};
}

Types all_gather(const Contract& c) {
  check_groups(c);
  Types out;
  for (std::size_t i = 0; i < c.operands(); ++i) {
    const Type& from = c.tensor(i);
    const std::int64_t d = index_of(c, "all_gather_dim", from.rank());
    Dims dims = from.dims;
    std::int64_t factor = group_size(c.attributes());
    // Groups of replicas stretch over partitions when a channel is named: the program states the size.
    if (i < c.stated().size() && c.stated()[i].rank() == from.rank() && dims[at(d)] > 0)
      factor = c.stated()[i].dims[at(d)] / dims[at(d)];
    dims[at(d)] *= std::max<std::int64_t>(factor, 1);
    out.push_back(tensor_type(from.element, dims));
  }
  return out;
}

Types all_reduce(const Contract& c) {
  check_groups(c);
  Types out;
  for (std::size_t i = 0; i < c.operands(); ++i) {
    const Types scalar = reducer_results(c, 0, {c.tensor(i)});
    out.push_back(tensor_type(scalar.front().element, c.operand(i).dims));
  }
  return out;
}

Types all_to_all(const Contract& c) {
  check_groups(c);
  const std::int64_t count = c.attributes().integer("split_count");
  c.need(count > 0, "split_count must be positive (C4)");
  Types out;
  for (std::size_t i = 0; i < c.operands(); ++i) {
    Dims dims = c.tensor(i).dims;
    const std::int64_t split = index_of(c, "split_dimension", c.operand(i).rank());
    const std::int64_t join = index_of(c, "concat_dimension", c.operand(i).rank());
    c.need(dims[at(split)] % count == 0, fmt::format("{} parts do not divide {} (C2)", count, dims[at(split)]));
    if (split != join) dims[at(split)] /= count, dims[at(join)] *= count;
    out.push_back(tensor_type(c.operand(i).element, dims));
  }
  return out;
}

Types reduce_scatter(const Contract& c) {
  check_groups(c);
  Types out;
  for (std::size_t i = 0; i < c.operands(); ++i) {
    const Type& from = c.tensor(i);
    Dims dims = from.dims;
    const std::int64_t d = index_of(c, "scatter_dimension", from.rank());
    std::int64_t parts = group_size(c.attributes());
    if (i < c.stated().size() && c.stated()[i].rank() == from.rank() && c.stated()[i].dims[at(d)] > 0)
      parts = dims[at(d)] / c.stated()[i].dims[at(d)];
    parts = std::max<std::int64_t>(parts, 1);
    c.need(dims[at(d)] % parts == 0, fmt::format("{} parts do not divide {}", parts, dims[at(d)]));
    dims[at(d)] /= parts;
    out.push_back(tensor_type(reducer_results(c, 0, {from}).front().element, dims));
  }
  return out;
}

Types collective_permute(const Contract& c) {
  const IntTable pairs = c.attributes().table("source_target_pairs");
  c.need(pairs.values.empty() || pairs.columns == 2, "source_target_pairs must have two columns (C1)");
  for (const std::int64_t column : {0, 1}) {
    Ints ids;
    for (std::int64_t i = 0; i < pairs.rows(); ++i) ids.push_back(pairs.at(i, column));
    std::ranges::sort(ids);
    c.need(std::ranges::adjacent_find(ids) == ids.end(), "source_target_pairs has a process twice (C2, C3)");
  }
  return operands(c);
}

Types collective_rooted(const Contract& c) {
  check_groups(c);
  Types out = operands(c);
  if (c.attributes().flag("has_dynamic_root")) {
    c.need(out.size() >= 2, "needs an operand with the roots (C4)");
    out.pop_back();
  }
  return out;
}

Types process_id(const Contract&) { return {scalar_type(Element::kU32)}; }

}  // namespace trnsim::frontend::rules
