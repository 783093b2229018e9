// The lowering of collectives.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "frontend/graph/grid.h"
#include "frontend/lower/lowerer.h"
#include "frontend/ops/operator.h"
#include "runtime/ops/ops.h"

namespace trnsim::frontend {
namespace {

std::uint8_t group(Lowerer& l) { return l.group_of(process_groups(l.module(), l.node())); }

std::int64_t ranks_of(Lowerer& l) { return process_groups(l.module(), l.node()).columns; }

runtime::ValueId dense(Lowerer& l, const View& view) { return l.matrix(view); }

/// How a region combines two ranks' elements: by one operation, around which it may change their type.
isa::Alu combination(Lowerer& l) {
  std::optional<isa::Alu> alu;
  const bool truths = is_bool(l.type_in(0).element);
  for (const Node& node : l.module().functions[l.node().regions.at(0).function].nodes) {
    const std::string_view op = node.op->name;
    if (op == "convert") continue;
    const bool add = op == "add" && !truths, more = op == "maximum" || (truths && op == "or"),
               less = op == "minimum" || (truths && op == "and");
    if (alu || !(add || more || less))
      l.refuse(fmt::format("combines ranks by {}", op), "add, or take the largest or smallest");
    alu = add ? isa::Alu::kAdd : more ? isa::Alu::kMax : isa::Alu::kMin;
  }
  if (!alu) l.refuse("its region combines nothing", "add, or take the largest or smallest");
  return *alu;
}

void all_reduce(Lowerer& l) {
  const isa::Alu alu = combination(l);
  for (std::size_t i = 0; i < l.node().operands.size(); ++i)
    l.set_result(l.add(runtime::kSumAhead, {dense(l, l.in(i))},
                       runtime::CollectiveAttrs{.ranks = ranks_of(l), .group = group(l), .alu = alu}),
                 i);
}

/// Ranks' parts follow each other in memory; the split dimension takes its place.
View joined(const View& parts, std::int64_t ranks, const Dims& part, std::size_t d) {
  Dims dims{ranks};
  dims.insert(dims.end(), part.begin(), part.end());
  Dims order;
  for (std::size_t i = 0; i < part.size(); ++i) {
    if (i == d) order.push_back(0);
    order.push_back(static_cast<std::int64_t>(i) + 1);
  }
  return transposed(dense_view(parts.base, dims, parts.dtype), order);
}

View merged(Lowerer& l, const View& view, const Dims& dims) {
  if (auto same = reshaped(view, dims)) return *same;
  return dense_view(
      l.matrix(dense_view(l.matrix(view), view.dims, view.dtype), element_count(dims) / dims.back(), dims.back()), dims,
      view.dtype);
}

void all_gather(Lowerer& l) {
  const auto d = static_cast<std::size_t>(l.node().attributes.integer("all_gather_dim"));
  const std::int64_t ranks = l.type_out().dims.at(d) / std::max<std::int64_t>(l.type_in(0).dims.at(d), 1);
  l.out().ranks = std::max(l.out().ranks, ranks);
  for (std::size_t i = 0; i < l.node().operands.size(); ++i) {
    const View part = l.in(i);
    const runtime::ValueId all =
        l.add(runtime::kGatherAhead, {dense(l, part)}, runtime::CollectiveAttrs{.ranks = ranks, .group = group(l)});
    l.set(merged(l, joined(dense_view(all, {}, part.dtype), ranks, part.dims, d), l.type_out(i).dims), i);
  }
}

/// The split dimension in front, in as many parts as there are ranks.
View parted(const View& view, std::int64_t ranks, std::size_t d) {
  View out = view;
  out.dims[d] /= ranks;
  const std::int64_t stride = view.strides[d] * out.dims[d];
  out.dims.insert(out.dims.begin(), ranks);
  out.strides.insert(out.strides.begin(), stride);
  return out;
}

void reduce_scatter(Lowerer& l) {
  const auto d = static_cast<std::size_t>(l.node().attributes.integer("scatter_dimension"));
  const std::int64_t ranks = ranks_of(l);
  const isa::Alu alu = combination(l);
  for (std::size_t i = 0; i < l.node().operands.size(); ++i) {
    const View parts = parted(l.in(i), ranks, d);
    const std::int64_t cols = parts.dims.back(), rows = parts.count() / cols;
    l.set_result(l.add(runtime::kScatterAhead, {l.matrix(parts, rows, cols)},
                       runtime::CollectiveAttrs{.ranks = ranks, .group = group(l), .alu = alu}),
                 i);
  }
}

void all_to_all(Lowerer& l) {
  const auto split = static_cast<std::size_t>(l.node().attributes.integer("split_dimension"));
  const auto concat = static_cast<std::size_t>(l.node().attributes.integer("concat_dimension"));
  const std::int64_t ranks = ranks_of(l);
  for (std::size_t i = 0; i < l.node().operands.size(); ++i) {
    const View parts = parted(l.in(i), ranks, split);
    const std::int64_t cols = parts.dims.back(), rows = parts.count() / cols;
    const runtime::ValueId all = l.add(runtime::kRankExchange, {l.matrix(parts, rows, cols)},
                                       runtime::CollectiveAttrs{.ranks = ranks, .group = group(l)});
    const Dims part{parts.dims.begin() + 1, parts.dims.end()};
    l.set(merged(l, joined(dense_view(all, {}, parts.dtype), ranks, part, concat), l.type_out(i).dims), i);
  }
}

void rank_number(Lowerer& l) {
  l.only_timed("ranks differ by it");
  l.set(number_view(0, {}, l.dtype_out()));
}

struct CollectiveRow {
  std::string_view op;
  Rule rule;
};
constexpr std::array kCollectiveRules = {
    CollectiveRow{"all_reduce", all_reduce},         CollectiveRow{"all_gather", all_gather},
    CollectiveRow{"reduce_scatter", reduce_scatter}, CollectiveRow{"all_to_all", all_to_all},
    CollectiveRow{"partition_id", rank_number},      CollectiveRow{"replica_id", rank_number}};

}  // namespace

Rule collective_rule(std::string_view op) {
  const auto row = std::ranges::find(kCollectiveRules, op, &CollectiveRow::op);
  return row == kCollectiveRules.end() ? nullptr : row->rule;
}

}  // namespace trnsim::frontend
