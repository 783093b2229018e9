// Layer norm and RMS norm. Every spelling has one number for each row, the
// reciprocal of its deviation: it is found first, then the values that are made
// of it.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "frontend/hlo/attrs_text.h"
#include "frontend/lower/lower.h"
#include "frontend/ops/operator.h"
#include "frontend/rewrite/norm_numbers.h"
#include "frontend/rewrite/samples.h"
#include "runtime/graph/attributes.h"

namespace trnsim::frontend::rewrite {
namespace {

using Numbers = Samples::Numbers;

constexpr std::size_t kMostBehind = 32, kMostReaders = 40, kMostBehindRow = 500, kMostBehindGradient = 32;
constexpr std::int64_t kMostColumns = 1 << 16;
constexpr double kSmall = 1e-2;  // of normal numbers: below it differences count as they are

/// The gradient of a norm for x, of another gradient.
struct NormGradient {
  ValueId dx = 0, dy = 0;
  std::optional<ValueId> gain{};
};

/// Where the graph has it.
struct Use {
  ValueId x = 0;
  Norm norm{};
  ValueId y = 0;
  std::optional<ValueId> gain{}, shift{};
  std::vector<ValueId> normal{}, deviation{};  // kept for a gradient
  std::optional<NormGradient> gradient{};
};

class Search {
 public:
  Search(const Module& module, const Function& function) : module_{module}, function_{function}, producers_{function} {
    readers_.resize(function.values.size());
    for (std::size_t n = 0; n < function.nodes.size(); ++n)
      for (const ValueId v : function.nodes[n].operands) readers_[v].push_back(n);
  }

  /// The norm whose deviation the node computes.
  std::optional<Use> at(const Node& node) const {
    const ValueId value = node.result();
    const std::string_view op = node.op->name;
    if ((op != "rsqrt" && op != "sqrt" && op != "power") || !is_float(function_.type(value).element)) return {};
    std::vector<ValueId> from = origins(function_, producers_, value, kMostBehind, true);
    std::ranges::sort(from);
    for (const ValueId x : from) {
      const Dims& dims = function_.type(x).dims;
      if (!is_float(function_.type(x).element) || dims.size() < 2 || dims.back() < 2 || dims.back() > kMostColumns)
        continue;
      if (others_behind(function_, producers_, value, x, true, 1) > 0) continue;
      if (auto found = use_of(x, value, from)) return found;
    }
    return {};
  }

 private:
  std::optional<Use> use_of(ValueId x, ValueId deviation, const std::vector<ValueId>& from) const {
    const std::int64_t cols = function_.type(x).dims.back();
    const Numbers at = rows_of(cols);
    Samples samples{module_, function_, producers_, x, at, {.by_rows = true}};
    const Numbers* numbers = samples.of(deviation);
    if (!numbers || !samples.is_column(deviation) || !samples.others().empty() || !samples.rows().empty()) return {};
    Numbers reciprocal = *numbers;
    if (producers_.of(deviation)->op->name == "sqrt")
      for (double& one : reciprocal) one = 1 / one;
    for (const ValueId v : from) {
      const auto eps = number_of(function_, producers_, v);
      if (!eps || *eps < 0 || *eps > 0.1) continue;
      for (const bool centred : {true, false}) {
        Norm norm = norm_of(at, cols, centred, *eps);
        if (difference(reciprocal, norm.deviation, 0) < samples.tolerance())
          return made_of({.x = x, .norm = std::move(norm)}, deviation, at);
      }
    }
    return {};
  }

  /// Values that are made of the deviation, at once or in steps.
  std::vector<ValueId> followers(ValueId deviation) const {
    std::vector<ValueId> out{deviation};
    for (std::size_t i = 0; i < out.size() && out.size() < kMostReaders; ++i)
      for (const std::size_t n : readers_[out[i]]) {
        const Node& node = function_.nodes[n];
        if (node.results == 1 && std::ranges::find(out, node.result()) == out.end()) out.push_back(node.result());
      }
    std::ranges::sort(out);
    return out;
  }

  std::optional<Use> made_of(Use found, ValueId deviation, const Numbers& at) const {
    bool any = false;
    std::vector<ValueId> mixed;  // with another value: a gradient's
    for (const ValueId v : followers(deviation)) {
      constexpr std::size_t kMostRows = 2;  // a gain and a shift
      if (others_behind(function_, producers_, v, found.x, true, kMostRows + 1) > kMostRows) mixed.push_back(v);
      if (!mixed.empty() && mixed.back() == v) continue;
      Samples samples{module_, function_, producers_, found.x, at, {.by_rows = true}};
      const Numbers* numbers = samples.of(v);
      if (numbers && !samples.others().empty()) mixed.push_back(v);
      if (!numbers || !samples.others().empty()) continue;
      const double same = 4 * samples.tolerance();
      if (samples.is_column(v) && difference(*numbers, found.norm.deviation, 0) < same)
        found.deviation.push_back(v);
      else if (samples.is_whole(v) && difference(*numbers, found.norm.normal, kSmall) < same)
        found.normal.push_back(v);
      else if (samples.is_whole(v) && gained(found, v, deviation, samples, *numbers))
        any = true;
    }
    if (any || !found.normal.empty()) found.gradient = gradient_of(found, mixed, at);
    if (!any && !found.normal.empty() && (found.gradient || fuses_alone(found))) {
      found.y = found.normal.back(), any = true;
      found.normal.pop_back();
    }
    return any ? std::optional{found} : std::nullopt;
  }

  /// The last value that is the gradient for x, of a value that x does not make.
  std::optional<NormGradient> gradient_of(const Use& found, const std::vector<ValueId>& all, const Numbers& at) const {
    for (std::size_t i = all.size(); i-- > 0;) {
      if (!has_rows_of(all[i], found.x)) continue;
      Samples samples{module_, function_, producers_, found.x, at, {.by_rows = true}};
      if (!samples.of(all[i]) || samples.others().empty()) continue;
      std::vector<ValueId> from = origins(function_, producers_, all[i], kMostBehindGradient, true);
      std::ranges::sort(from);  // the furthest first: a gain is behind it
      for (const ValueId dy : from)
        if (has_rows_of(dy, found.x) && makes_all(dy, samples.others(), found.x))
          if (auto gradient = gradient_by(found, all[i], dy, at)) return gradient;
    }
    return {};
  }

  bool has_rows_of(ValueId value, ValueId x) const {
    return is_float(function_.type(value).element) && function_.type(value).dims == function_.type(x).dims;
  }

  /// Whether a value is computed of all these, and not of x.
  bool makes_all(ValueId value, const std::vector<ValueId>& of, ValueId x) const {
    const std::vector<ValueId> from = origins(function_, producers_, value, kMostBehindGradient, true);
    const auto has = [&](ValueId v) { return std::ranges::find(from, v) != from.end(); };
    return value != x && !has(x) && std::ranges::all_of(of, has);
  }

  std::optional<NormGradient> gradient_by(const Use& found, ValueId value, ValueId dy, const Numbers& at) const {
    Samples samples{module_, function_, producers_, found.x, at, {.by_rows = true}};
    Numbers given = rows_of(function_.type(found.x).dims.back());
    for (std::size_t i = 0; i < given.size(); ++i)
      given[i] = fraction(0.7548776662466927 * static_cast<double>(i + 1)) - 0.4;
    samples.know(dy, given);
    const Numbers* numbers = samples.of(value);
    if (!numbers || !samples.others().empty() || samples.rows().size() > 1) return {};
    NormGradient out{.dx = value, .dy = dy};
    if (samples.rows().size() == 1) {
      out.gain = samples.rows()[0];
      for (std::size_t i = 0; i < given.size(); ++i) given[i] *= samples.row(0)[i];
    }
    const Numbers expected = norm_gradient(found.norm, given, function_.type(found.x).dims.back());
    if (difference(*numbers, expected, kSmall) >= 4 * samples.tolerance()) return {};
    return out;
  }

  /// Whether a norm without a gain is worth one. In types of 16 bits the layer
  /// norm's product and sum with rows of ones and zeros cost more than its own
  /// steps: 160 of 145 us for [4096, 768] on Trn1; in fp32 165 of 346 us.
  bool fuses_alone(const Use& found) const {
    return !found.norm.centred || info(function_.type(found.normal.back()).element).bits >= 32;
  }

  /// Whether a row is computed from the norm itself. Values of a function that
  /// was read are numbered in their order.
  bool depends(ValueId row, ValueId deviation) const {
    std::vector<ValueId> all{row};
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i] == deviation || all.size() > kMostBehindRow) return true;
      const Node* node = producers_.of(all[i]);
      if (!node || all[i] < deviation) continue;
      for (const ValueId v : node->operands)
        if (std::ranges::find(all, v) == all.end()) all.push_back(v);
      for (const Region& region : node->regions) all.insert(all.end(), region.captures.begin(), region.captures.end());
    }
    return false;
  }

  /// Whether a value is the norm times a row, and with another row added; the
  /// last one is the result.
  bool gained(Use& found, ValueId v, ValueId deviation, Samples& samples, const Numbers& numbers) const {
    const std::vector<ValueId> rows = samples.rows();
    if (rows.empty() || rows.size() > 2 || (rows.size() == 2 && !found.norm.centred)) return false;
    for (std::size_t gain = 0; gain < rows.size(); ++gain) {
      Numbers expected = found.norm.normal;
      const Numbers& g = samples.row(gain);
      for (std::size_t i = 0; i < expected.size(); ++i) {
        expected[i] *= g[i];
        if (rows.size() == 2) expected[i] += samples.row(1 - gain)[i];
      }
      if (difference(numbers, expected, kSmall) >= 4 * samples.tolerance()) continue;
      if (std::ranges::any_of(rows, [&](ValueId r) { return depends(r, deviation); })) continue;
      found.y = v, found.gain = rows[gain];
      found.shift = rows.size() == 2 ? std::optional{rows[1 - gain]} : std::nullopt;
      return true;
    }
    return false;
  }

  const Module& module_;
  const Function& function_;
  const Producers producers_;
  std::vector<std::vector<std::size_t>> readers_;
};

/// A row of one number, for a norm without a gain or a shift.
ValueId row(Function& function, std::int64_t cols, double number, std::vector<Node>& made) {
  const Type type = tensor_type(Element::kF32, {cols});
  made.push_back(plain_node(function, "constant", {}, type));
  made.back().attributes.set("value", literal_of(type, {number}));
  return made.back().result();
}

/// The operation in the place of the values that it makes.
void put(Function& function, const Use& use, const Node& place, std::vector<Node>& made,
         std::map<ValueId, ValueId>& replaced) {
  const Type type = function.type(use.y);
  const std::int64_t cols = type.dims.back();
  Type column = tensor_type(Element::kF32, type.dims);
  column.dims.back() = 1;
  std::vector<ValueId> operands{use.x, use.gain ? *use.gain : row(function, cols, 1, made)};
  if (use.norm.centred) operands.push_back(use.shift ? *use.shift : row(function, cols, 0, made));
  Node norm =
      custom_call(function, use.norm.centred ? "trnsim.layernorm" : "trnsim.rmsnorm", operands, {type, type, column});
  norm.line = place.line, norm.metadata = place.metadata;
  const runtime::NormAttrs attrs{.eps = use.norm.eps, .dtype = device_type(type.element, "norm")};
  norm.attributes.set("backend_config", hlo::words_of(attrs));
  replaced[use.y] = norm.result(0);
  for (const ValueId v : use.normal) replaced[v] = formed(function, norm.result(1), function.type(v), made);
  for (const ValueId v : use.deviation) replaced[v] = formed(function, norm.result(2), function.type(v), made);
  const ValueId normal = norm.result(1), deviation = norm.result(2);
  made.push_back(std::move(norm));
  if (!use.gradient) return;
  const NormGradient& gradient = *use.gradient;
  const Type to = function.type(gradient.dx);
  std::vector<ValueId> in{gradient.dy, gradient.gain ? *gradient.gain : row(function, cols, 1, made), normal,
                          deviation};
  Node back = custom_call(function, use.norm.centred ? "trnsim.layernorm_grad" : "trnsim.rmsnorm_grad", in, {to});
  back.line = place.line, back.metadata = place.metadata;
  back.attributes.set("backend_config",
                      hlo::words_of(runtime::Attrs{runtime::ResultAttrs{.dtype = device_type(to.element, "norm")}}));
  replaced[gradient.dx] = back.result();
  made.push_back(std::move(back));
}

}  // namespace

std::size_t norms(Module& module, Function& function) {
  std::vector<Use> all;
  std::vector<const Node*> places;
  const bool any = std::ranges::any_of(function.nodes, [](const Node& node) { return node.op->name == "reduce"; });
  if (!any) return 0;
  const Search search{module, function};
  for (const Node& node : function.nodes)
    if (auto found = search.at(node)) all.push_back(std::move(*found)), places.push_back(&node);
  if (all.empty()) return 0;
  std::vector<Node> made;
  std::map<ValueId, ValueId> replaced;
  for (std::size_t i = 0; i < all.size(); ++i) put(function, all[i], *places[i], made, replaced);
  replace_by(function, made, replaced);
  return all.size();
}

}  // namespace trnsim::frontend::rewrite
