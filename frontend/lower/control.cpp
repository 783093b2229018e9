// The lowering of loops, branches and calls.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

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

/// A loop whose trips are lowered one after the other.
class Loop {
 public:
  explicit Loop(Lowerer& l) : l_{l}, state_{operands(l)} {}

  /// Each trip is lowered by itself: its counter is a number, so that slices by it are places, and its calls are the
  /// same blocks as the trips' before, with other addresses.
  void run() {
    const std::size_t pinned = l_.pinned();
    for (const Region& region : l_.node().regions)
      for (const ValueId v : region.captures) l_.pin(l_.frame().values[v]);
    for (std::int64_t trip = 0; goes_on(state_); ++trip) {
      if (trip == kKnown) require_few(trip);
      if (trip >= l_.options().most_trips) refuse(trip, l_.out().operations);
      l_.cut();
      const std::size_t before = l_.out().operations;
      step();
      operations_ = l_.out().operations - before;
    }
    l_.unpin(l_.pinned() - pinned);
    l_.cut();
    set_all(l_, std::move(state_));
  }

 private:
  static constexpr std::int64_t kKnown = 4;  // trips from which the others follow

  const Region& region(std::size_t i) const { return l_.node().regions.at(i); }

  bool goes_on(const std::vector<View>& state) {
    const auto again = l_.called(l_.module().functions[region(0).function], with_captures(l_, state, region(0)));
    if (again.at(0).is_number()) return again[0].number != 0;
    throw RefusedLoop{base::Fault::kProgram, l_.where(),
                      "while: its number of iterations depends on data, which the compiler does not accept",
                      "give it a counter that starts at a constant"};
  }

  void step() {
    const std::size_t count = state_.size();
    std::vector<View> after =
        l_.called(l_.module().functions[region(1).function], with_captures(l_, state_, region(1)));
    after.resize(count);
    if (same_numbers(state_, after))
      throw RefusedLoop{base::Fault::kProgram, l_.where(),
                        "while: never ends: an iteration does not change its condition",
                        "change the counter that the condition reads in each iteration"};
    older_ = std::exchange(before_, std::exchange(state_, std::move(after)));
  }

  /// Whether the numbers of the state have changed by the same in the last two trips.
  bool is_counting() const {
    for (std::size_t i = 0; i < state_.size(); ++i) {
      if (state_[i].is_number() != before_[i].is_number() || state_[i].is_number() != older_[i].is_number())
        return false;
      if (state_[i].is_number() && state_[i].number - before_[i].number != before_[i].number - older_[i].number)
        return false;
    }
    return true;
  }
  /// The state in so many trips, if its numbers go on as they did.
  std::vector<View> later(std::int64_t trips) const {
    std::vector<View> out = state_;
    for (std::size_t i = 0; i < out.size(); ++i)
      if (out[i].is_number() && before_[i].is_number())
        out[i].number += static_cast<double>(trips) * (state_[i].number - before_[i].number);
    return out;
  }

  /// A counter says early how many trips there are: a loop of millions is refused at once.
  void require_few(std::int64_t done) {
    constexpr std::int64_t kFarthest = std::int64_t{1} << 31;
    if (!is_counting()) return;
    std::int64_t ends = 1, goes = 0;
    while (ends < kFarthest && goes_on(later(ends))) goes = std::exchange(ends, 2 * ends);
    if (ends >= kFarthest) return;
    while (ends - goes > 1) {
      const std::int64_t middle = goes + (ends - goes) / 2;
      (goes_on(later(middle)) ? goes : ends) = middle;
    }
    const std::size_t all = l_.out().operations + static_cast<std::size_t>(ends) * operations_;
    if (all > l_.options().most_operations || done + ends > l_.options().most_trips) refuse(done + ends, all);
  }

  [[noreturn]] void refuse(std::int64_t trips, std::size_t operations) const {
    const bool documented = static_cast<double>(operations) > l_.options().most_instructions;
    l_.refuse(fmt::format("{}runs at least {} times, which gives the program {} operations with all its loops, {}",
                          documented ? "EVRF007: " : "", trips, operations,
                          documented ? "which the compiler unrolls" : "more than are timed here"),
              "do more in each iteration");
  }

  Lowerer& l_;
  std::vector<View> state_, before_ = {}, older_ = {};
  std::size_t operations_ = 0;  // of the last trip
};

void loop(Lowerer& l) { Loop{l}.run(); }

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
  if (callee == kNoFunction) l.refuse("calls a function that does not exist: " + name, "name one of the module");
  set_all(l, l.called(l.module().functions[callee], operands(l)));
}

struct ControlRow {
  std::string_view op;
  Rule rule;
};
constexpr std::array kControlRules = {ControlRow{"while", loop},      ControlRow{"chlo.scan", scan},
                                      ControlRow{"if", if_else},      ControlRow{"case", choose},
                                      ControlRow{"call", call},       ControlRow{"composite", composite},
                                      ControlRow{"after_all", token}, ControlRow{"create_token", token}};

}  // namespace

Rule control_rule(std::string_view op) {
  const auto row = std::ranges::find(kControlRules, op, &ControlRow::op);
  return row == kControlRules.end() ? nullptr : row->rule;
}

}  // namespace trnsim::frontend
