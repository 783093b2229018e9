#include "frontend/rewrite/compose.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "frontend/rewrite/composer.h"

namespace trnsim::frontend {
namespace {

/// Batch normalisation of x [.., features, ..]: vectors [features] are spread over it, and sums over all else make one.
class BatchNorm {
 public:
  explicit BatchNorm(Composer& c)
      : c_{c},
        given_{c.type(c.given(0)).element},
        element_{stored_bytes(given_) < 4 ? Element::kF32 : given_},
        feature_{c.node().attributes.integer("feature_index")} {
    x_ = operand(0), scale_ = operand(1);
    whole_ = c.type(x_), vector_ = c.type(scale_);
    count_ = static_cast<double>(element_count(whole_.dims)) / static_cast<double>(element_count(vector_.dims));
  }

  void training() {
    const ValueId mean = mean_of(x_);
    const ValueId apart = c_.op("subtract", {x_, spread(mean)});
    const ValueId variance = mean_of(c_.op("multiply", {apart, apart}));
    c_.b().returns({back(normal(apart, variance, operand(2))), back(mean), back(variance)});
  }

  void inference() {
    const ValueId apart = c_.op("subtract", {x_, spread(operand(3))});
    c_.b().returns({back(normal(apart, operand(4), operand(2)))});
  }

  /// x, scale, mean, variance, dy -> dx, dscale, doffset.
  void gradient() {
    const ValueId apart = c_.op("subtract", {x_, spread(operand(2))}), dy = operand(4);
    const ValueId r = deviation(operand(3));
    const ValueId normal = c_.op("multiply", {apart, spread(r)});
    const ValueId dscale = sum(c_.op("multiply", {dy, normal})), doffset = sum(dy);
    const ValueId n = c_.number(count_, vector_);
    const ValueId shift = spread(c_.op("divide", {doffset, n})), tilt = spread(c_.op("divide", {dscale, n}));
    ValueId dx = c_.op("subtract", {c_.op("subtract", {dy, shift}), c_.op("multiply", {normal, tilt})});
    dx = c_.op("multiply", {dx, spread(c_.op("multiply", {scale_, r}))});
    c_.b().returns({back(dx), back(dscale), back(doffset)});
  }

 private:
  ValueId operand(std::size_t i) { return c_.in(element_, c_.given(i)); }
  ValueId back(ValueId v) { return c_.in(given_, v); }
  ValueId spread(ValueId vector) {
    return c_.b().op("broadcast_in_dim", {vector}, with("broadcast_dimensions", Ints{feature_}), {whole_});
  }
  ValueId sum(ValueId v) {
    Ints others;
    for (std::int64_t d = 0; d < static_cast<std::int64_t>(whole_.dims.size()); ++d)
      if (d != feature_) others.push_back(d);
    return c_.reduce("add", 0, v, std::move(others));
  }
  ValueId mean_of(ValueId v) { return c_.op("divide", {sum(v), c_.number(count_, vector_)}); }
  ValueId deviation(ValueId variance) {
    const ValueId eps = c_.number(c_.node().attributes.real("epsilon"), vector_);
    return c_.op("rsqrt", {c_.op("add", {variance, eps})});
  }
  ValueId normal(ValueId apart, ValueId variance, ValueId offset) {
    const ValueId factor = c_.op("multiply", {deviation(variance), scale_});
    return c_.op("add", {c_.op("multiply", {apart, spread(factor)}), spread(offset)});
  }

  Composer& c_;
  Element given_, element_;
  std::int64_t feature_;
  ValueId x_ = 0, scale_ = 0;
  Type whole_, vector_;
  double count_ = 1;
};

// ---- ranks

std::int64_t ranks_of(const Module& module) {
  return std::max<std::int64_t>(module.replicas, 1) * std::max<std::int64_t>(module.partitions, 1);
}

IntTable all_ranks(const Module& module) {
  IntTable out{.columns = ranks_of(module), .values = Ints(static_cast<std::size_t>(ranks_of(module)))};
  std::iota(out.values.begin(), out.values.end(), 0);
  return out;
}

/// A whole number of each rank, [1]: all bring the same table and each keeps its part.
ValueId of_rank(Composer& c, const std::vector<double>& numbers) {
  const Type table = tensor_type(Element::kI32, {static_cast<std::int64_t>(numbers.size())});
  Node node;
  node.op = &operator_named("reduce_scatter");
  node.operands = {c.b().constant(literal_of(table, numbers))};
  node.regions = {Region{.function = c.pair("maximum", Element::kI32), .captures = {}}};
  node.attributes = with("scatter_dimension", std::int64_t{0});
  node.attributes.set("replica_groups", all_ranks(c.b().module()));
  return c.b().add(std::move(node), {tensor_type(Element::kI32, {1})}).result();
}

/// Each rank's operand becomes that of the rank `sources` says, zeros where it says -1: all gather, and each takes one.
void from_ranks(Composer& c, const std::vector<double>& sources) {
  const Type type = c.type(c.given(0)), scalar = scalar_type(Element::kI32);
  Dims one = type.dims, all = type.dims;
  one.insert(one.begin(), 1), all.insert(all.begin(), static_cast<std::int64_t>(sources.size()));
  Attributes gather = with("all_gather_dim", std::int64_t{0});
  gather.set("replica_groups", all_ranks(c.b().module()));
  const ValueId row = c.b().op("reshape", {c.given(0)}, {}, {tensor_type(type.element, one)});
  const ValueId every = c.b().op("all_gather", {row}, std::move(gather), {tensor_type(type.element, all)});
  const ValueId source = c.b().op("reshape", {of_rank(c, sources)}, {}, {scalar});
  std::vector<ValueId> slice{every, source};
  for (std::size_t d = 0; d < type.dims.size(); ++d) slice.push_back(c.number(0, scalar));
  const ValueId taken = c.b().op("dynamic_slice", std::move(slice), with("slice_sizes", one));
  ValueId out = c.b().op("reshape", {taken}, {}, {type});
  if (std::ranges::find(sources, -1) != sources.end()) {
    const ValueId none =
        c.b().op("compare", {source, c.number(0, scalar)}, with("comparison_direction", std::string{"LT"}));
    out = c.op("select", {none, c.number(0, type), out});
  }
  c.b().returns({out});
}

/// The source of each rank, -1 where it has none; empty: an id is none of a replica or, with a channel, of a partition.
std::vector<double> sources_of(const Module& module, const Node& node) {
  const std::int64_t partitions = std::max<std::int64_t>(module.partitions, 1), ranks = ranks_of(module);
  const bool of_partitions = node.attributes.integer("channel_id") > 0;
  const std::int64_t ids = of_partitions ? partitions : ranks / partitions, others = ranks / ids;
  const auto rank = [&](std::int64_t id, std::int64_t other) {
    return of_partitions ? other * partitions + id : id * partitions + other;
  };
  std::vector<double> out(static_cast<std::size_t>(ranks), -1);
  const auto note = [&](std::int64_t source, std::int64_t target) {
    if (source < 0 || target < 0 || source >= ids || target >= ids) return false;
    for (std::int64_t other = 0; other < others; ++other)
      out[static_cast<std::size_t>(rank(target, other))] = static_cast<double>(rank(source, other));
    return true;
  };
  const bool pairs = node.op->name == "collective_permute";
  IntTable table = node.attributes.table(pairs ? "source_target_pairs" : "replica_groups");
  if (!pairs && table.values.empty()) {  // all are one group
    table = {.columns = ids, .values = Ints(static_cast<std::size_t>(ids))};
    std::iota(table.values.begin(), table.values.end(), 0);
  }
  for (std::int64_t r = 0; r < table.rows(); ++r)
    for (std::int64_t column = pairs ? 1 : 0; column < table.columns; ++column)
      if (table.at(r, column) >= 0 && !note(table.at(r, 0), table.at(r, column))) return {};
  return out;
}

bool is_norm(std::string_view op) { return op.starts_with("batch_norm_"); }

bool is_move(const Module& module, const Node& node) {
  if (node.op->name != "collective_permute" && node.op->name != "collective_broadcast") return false;
  return node.operands.size() == 1 && !node.attributes.flag("has_dynamic_root") && !sources_of(module, node).empty();
}

bool is_number(const Node& node) { return node.op->name == "replica_id" || node.op->name == "partition_id"; }

void compute(Module& module, Composer& c) {
  const std::string_view op = c.node().op->name;
  if (is_norm(op)) {
    BatchNorm norm{c};
    op == "batch_norm_training" ? norm.training() : op == "batch_norm_grad" ? norm.gradient() : norm.inference();
  } else if (is_number(c.node())) {
    std::vector<double> numbers(static_cast<std::size_t>(ranks_of(module)));
    const auto partitions = static_cast<std::size_t>(std::max<std::int64_t>(module.partitions, 1));
    for (std::size_t r = 0; r < numbers.size(); ++r)
      numbers[r] = static_cast<double>(op == "replica_id" ? r / partitions : r % partitions);
    const ValueId mine = c.b().op("convert", {of_rank(c, numbers)}, {}, {tensor_type(Element::kU32, {1})});
    c.b().returns({c.b().op("reshape", {mine}, {}, {scalar_type(Element::kU32)})});
  } else {
    from_ranks(c, sources_of(module, c.node()));
  }
}

}  // namespace

void compose(Module& module, bool rank_numbers) {
  const std::size_t own = module.functions.size();
  for (std::size_t f = 0; f < own; ++f)
    for (Node& node : module.functions[f].nodes) {
      if (!is_norm(node.op->name) && !is_move(module, node) && !(rank_numbers && is_number(node))) continue;
      Composer composer{module, module.functions[f], node};
      compute(module, composer);
      composer.replace(node);
    }
}

}  // namespace trnsim::frontend
