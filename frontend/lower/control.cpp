// The lowering of loops, branches and calls, and of communication.
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

std::vector<View> operands(Lowerer& l) {
  std::vector<View> out;
  for (std::size_t i = 0; i < l.node().operands.size(); ++i) out.push_back(l.in(i));
  return out;
}

std::vector<View> with_captures(Lowerer& l, std::vector<View> values, const Region& region) {
  for (const ValueId v : region.captures) values.push_back(l.frame().values[v]);
  return values;
}

void set_all(Lowerer& l, std::vector<View> values) {
  for (std::size_t i = 0; i < values.size(); ++i) l.set(std::move(values[i]), i);
}

/// Whether a trip left every number of the state as it was. Other values are data, on which no condition depends here.
bool same_numbers(const std::vector<View>& before, const std::vector<View>& after) {
  return std::ranges::equal(before, after, [](const View& a, const View& b) {
    return a.is_number() == b.is_number() && (!a.is_number() || a.number == b.number);
  });
}

/// Each trip is lowered by itself: its counter is a number, so that slices by it are places, and its calls are the same
/// blocks as the trips' before, with other addresses.
void loop(Lowerer& l) {
  const Region &condition = l.node().regions.at(0), &body = l.node().regions.at(1);
  std::vector<View> state = operands(l);
  const std::size_t count = state.size(), pinned = l.pinned();
  for (const Region* region : {&condition, &body})
    for (const ValueId v : region->captures) l.pin(l.frame().values[v]);
  for (std::int64_t trip = 0;; ++trip) {
    const auto again = l.called(l.module().functions[condition.function], with_captures(l, state, condition));
    if (!again.at(0).is_number())
      throw RefusedLoop{base::Fault::kProgram, l.where(),
                        "while: how often it runs depends on data, and the compiler takes no such loop",
                        "give it a counter that begins at a constant"};
    if (again[0].number == 0) break;
    if (trip >= l.options().most_trips || l.out().operations > l.options().most_operations)
      l.refuse(fmt::format("runs more than {} times, or {} operations with all loops in it", l.options().most_trips,
                           l.options().most_operations),
               "let each trip do more");
    l.cut();
    std::vector<View> after = l.called(l.module().functions[body.function], with_captures(l, state, body));
    after.resize(count);
    if (same_numbers(state, after))
      throw RefusedLoop{base::Fault::kProgram, l.where(), "while: never ends: a trip leaves its condition as it was",
                        "let each trip change the counter that the condition reads"};
    state = std::move(after);
  }
  l.unpin(l.pinned() - pinned);
  l.cut();
  set_all(l, std::move(state));
}

View without(const View& view, std::size_t d) {
  View out = view;
  out.dims.erase(out.dims.begin() + static_cast<std::ptrdiff_t>(d));
  if (!out.strides.empty()) out.strides.erase(out.strides.begin() + static_cast<std::ptrdiff_t>(d));
  return out;
}

/// Elements whose place in dimension d is k.
View layer(const View& view, std::size_t d, std::int64_t k) {
  Dims start(view.dims.size()), sizes = view.dims;
  start[d] = k, sizes[d] = 1;
  return sliced(view, start, sizes, Dims(sizes.size(), 1));
}

/// Memory for a result that is written part by part.
View unwritten(Lowerer& l, std::size_t i) {
  const auto [rows, cols] = matrix_form(l.type_out(i).dims);
  const runtime::ValueId memory =
      l.add(runtime::kEmpty, {}, runtime::RampAttrs{.rows = rows, .cols = cols, .dtype = l.dtype_out(i)});
  l.own(memory);
  return dense_view(memory, l.type_out(i).dims, l.dtype_out(i));
}

/// Each trip reads a layer of each input and writes one of each output; like a loop's it is lowered by itself.
void scan(Lowerer& l) {
  const Attributes& attributes = l.node().attributes;
  const Region& region = l.node().regions.at(0);
  const auto n = static_cast<std::size_t>(attributes.integer("inputs", 1)),
             d = static_cast<std::size_t>(attributes.integer("dimension"));
  const std::vector<View> all = operands(l);
  std::vector<View> state{all.begin() + static_cast<std::ptrdiff_t>(n), all.end()}, out;
  const std::size_t pinned = l.pinned(), outputs = l.node().results - state.size();
  const std::int64_t size = all[0].dims[d];
  if (size > l.options().most_trips)
    l.refuse(fmt::format("scans more than {} elements", l.options().most_trips), "scan fewer, or by reduce_window");
  for (std::size_t i = 0; i < n; ++i) l.pin(all[i]);
  for (const View& view : with_captures(l, {}, region)) l.pin(view);
  for (std::size_t i = 0; i < outputs; ++i)
    out.push_back(size == 0 ? number_view(0, l.type_out(i).dims, l.dtype_out(i)) : unwritten(l, i));
  for (std::int64_t k = 0; k < size; ++k) {
    const std::int64_t at = attributes.flag("is_reverse") ? size - 1 - k : k;
    l.cut();
    std::vector<View> arguments;
    for (std::size_t i = 0; i < n; ++i) arguments.push_back(without(layer(all[i], d, at), d));
    arguments.insert(arguments.end(), state.begin(), state.end());
    const std::vector<View> made =
        l.called(l.module().functions[region.function], with_captures(l, std::move(arguments), region));
    for (std::size_t i = 0; i < outputs; ++i) out[i] = l.written(out[i], without(layer(out[i], d, at), d), made[i]);
    state.assign(made.begin() + static_cast<std::ptrdiff_t>(outputs), made.end());
  }
  l.unpin(l.pinned() - pinned);
  l.cut();
  out.insert(out.end(), state.begin(), state.end());
  set_all(l, std::move(out));
}

std::size_t size_of(const Module& module, FunctionId function) { return module.functions[function].nodes.size(); }

/// HLO's form gives each branch an operand of its own.
std::vector<View> results_of(Lowerer& l, std::size_t chosen) {
  const Region& region = l.node().regions.at(chosen);
  std::vector<View> arguments;
  if (l.node().operands.size() > 1) arguments.push_back(l.in(chosen + 1));
  return l.called(l.module().functions[region.function], with_captures(l, std::move(arguments), region));
}

void branch(Lowerer& l, std::size_t chosen) { set_all(l, results_of(l, chosen)); }

/// A function of an index or a truth and of the results of two branches: the first ones where it is `number`, or true.
Function choice(Lowerer& l, std::size_t number) {
  Module scratch;
  Builder b{scratch, add_function(scratch, "choice")};
  const Type which = l.type_in(0);
  std::vector<ValueId> values{b.parameter(which)}, out;
  for (int branch = 0; branch < 2; ++branch)
    for (std::uint32_t i = 0; i < l.node().results; ++i) values.push_back(b.parameter(l.type_out(i)));
  ValueId here = values[0];
  if (!is_bool(which.element)) {
    Attributes equal;
    equal.set("comparison_direction", std::string{"EQ"});
    here = b.op("compare", {here, b.constant(literal_of(which, {static_cast<double>(number)}))}, std::move(equal));
  }
  for (std::uint32_t i = 0; i < l.node().results; ++i) {
    const ValueId first = values[1 + i], second = values[1 + l.node().results + i];
    if (l.type_out(i).is_token()) {
      out.push_back(first);
      continue;
    }
    Attributes scalar;
    scalar.set("broadcast_dimensions", Ints{});
    const Type truths = tensor_type(Element::kI1, l.type_out(i).dims);
    out.push_back(b.op("select", {b.op("broadcast_in_dim", {here}, std::move(scalar), {truths}), first, second}));
  }
  b.returns(out);
  return std::move(b.function());
}

/// Every branch, of whose results one is taken. None writes memory that another one reads.
void all_branches(Lowerer& l) {
  const auto& regions = l.node().regions;
  const std::size_t pinned = l.pinned();
  for (const Region& region : regions)
    for (const ValueId v : region.captures) l.pin(l.frame().values[v]);
  for (const View& view : operands(l)) l.pin(view);
  std::vector<std::vector<View>> made;
  for (std::size_t i = 0; i < regions.size(); ++i) {
    made.push_back(results_of(l, i));
    for (const View& view : made.back()) l.pin(view);
  }
  std::vector<View> out = made.back();
  for (std::size_t i = regions.size() - 1; i-- > 0;) {
    std::vector<View> arguments{l.in(0)};
    arguments.insert(arguments.end(), made[i].begin(), made[i].end());
    arguments.insert(arguments.end(), out.begin(), out.end());
    out = l.called(choice(l, i), std::move(arguments));
  }
  l.unpin(l.pinned() - pinned);
  set_all(l, std::move(out));
}

/// The largest branch, where only a run knows which it is.
std::size_t largest(Lowerer& l) {
  l.only_timed("which branch runs depends on data: the largest is timed");
  const auto& regions = l.node().regions;
  const auto most =
      std::ranges::max_element(regions, {}, [&](const Region& r) { return size_of(l.module(), r.function); });
  return static_cast<std::size_t>(most - regions.begin());
}

void if_else(Lowerer& l) {
  const View& which = l.in(0);
  if (!which.is_number() && l.options().computed) return all_branches(l);
  branch(l, which.is_number() ? (which.number != 0 ? 0 : 1) : largest(l));
}

void choose(Lowerer& l) {
  const View& which = l.in(0);
  if (is_bool(l.type_in(0).element)) return if_else(l);
  if (!which.is_number() && l.options().computed) return all_branches(l);
  const std::size_t last = l.node().regions.size() - 1;
  const bool inside = which.number >= 0 && which.number <= static_cast<double>(last);
  branch(l, !which.is_number() ? largest(l) : inside ? static_cast<std::size_t>(which.number) : last);
}

/// A composite is its decomposition.
void composite(Lowerer& l) {
  const Region& region = l.node().regions.at(0);
  set_all(l, l.called(l.module().functions[region.function], with_captures(l, operands(l), region)));
}

void token(Lowerer& l) { l.set(number_view(0, {}, Dtype::kUint8)); }

void call(Lowerer& l) {
  const std::string name = l.node().attributes.text("callee");
  const FunctionId callee = l.node().regions.empty() ? l.module().find(name) : l.node().regions[0].function;
  if (callee == kNoFunction) l.refuse("calls a function that is not there: " + name, "name one of the module");
  set_all(l, l.called(l.module().functions[callee], operands(l)));
}

// ---- communication

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
    l.set_result(l.add(runtime::kRankSum, {dense(l, l.in(i))},
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
        l.add(runtime::kRankGather, {dense(l, part)}, runtime::CollectiveAttrs{.ranks = ranks, .group = group(l)});
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
    l.set_result(l.add(runtime::kRankScatter, {l.matrix(parts, rows, cols)},
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

struct ControlRow {
  std::string_view op;
  Rule rule;
};
constexpr std::array kControlRules = {ControlRow{"while", loop},
                                      ControlRow{"chlo.scan", scan},
                                      ControlRow{"if", if_else},
                                      ControlRow{"case", choose},
                                      ControlRow{"call", call},
                                      ControlRow{"composite", composite},
                                      ControlRow{"after_all", token},
                                      ControlRow{"create_token", token},
                                      ControlRow{"all_reduce", all_reduce},
                                      ControlRow{"all_gather", all_gather},
                                      ControlRow{"reduce_scatter", reduce_scatter},
                                      ControlRow{"all_to_all", all_to_all},
                                      ControlRow{"partition_id", rank_number},
                                      ControlRow{"replica_id", rank_number}};

}  // namespace

Rule control_rule(std::string_view op) {
  const auto row = std::ranges::find(kControlRules, op, &ControlRow::op);
  return row == kControlRules.end() ? nullptr : row->rule;
}

}  // namespace trnsim::frontend
