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
#include "frontend/rewrite/factors.h"
#include "frontend/rewrite/norm_gradient.h"
#include "frontend/rewrite/samples.h"
#include "runtime/graph/attributes.h"

namespace trnsim::frontend::rewrite {
namespace {

using Numbers = Samples::Numbers;

constexpr std::size_t kMostBehind = 32, kMostReaders = 64, kMostBehindRow = 500;
constexpr std::int64_t kMostColumns = 1 << 16;
constexpr double kSmall = NormGradients::kSmall;

class Search {
 public:
  Search(const Module& module, const Function& function)
      : function_{function}, producers_{function}, gradients_{module, function, producers_} {
    readers_.resize(function.values.size());
    for (std::size_t n = 0; n < function.nodes.size(); ++n)
      for (const ValueId v : function.nodes[n].operands) readers_[v].push_back(n);
  }

  /// The norm whose deviation the node computes.
  std::optional<NormUse> at(const Node& node) const {
    const ValueId value = node.result();
    const std::string_view op = node.op->name;
    if ((op != "rsqrt" && op != "sqrt" && op != "power") || !is_float(function_.type(value).element)) return {};
    std::vector<ValueId> from = origins(function_, producers_, value, kMostBehind, true);
    std::ranges::sort(from);
    for (const ValueId x : from) {
      const Dims& dims = function_.type(x).dims;
      if (!is_float(function_.type(x).element) || dims.size() < 2 || dims.back() < 2 || dims.back() > kMostColumns)
        continue;
      if (others_behind(function_, producers_, value, x, true, 2) > (data_in(from) ? 1 : 0)) continue;
      if (auto found = use_of(x, value, from)) return found;
    }
    return {};
  }

 private:
  std::optional<NormUse> use_of(ValueId x, ValueId deviation, const std::vector<ValueId>& from) const {
    const std::int64_t cols = function_.type(x).dims.back();
    const Numbers at = rows_of(cols);
    const auto data = data_in(from);
    Samples samples = gradients_.samples_of(x, at, data);
    const Numbers* numbers = samples.of(deviation);
    if (!numbers || !samples.is_column(deviation) || !samples.others().empty() || !samples.rows().empty()) return {};
    Numbers reciprocal = *numbers;
    if (producers_.of(deviation)->op->name == "sqrt")
      for (double& one : reciprocal) one = 1 / one;
    NormUse best{.x = x};
    double least = samples.tolerance();
    for (const ValueId v : from) {
      const auto eps = v == data ? std::optional{NormGradients::kEpsAtSamples} : number_of(function_, producers_, v);
      if (!eps || *eps < 0 || *eps > 0.1) continue;
      for (const bool centred : {true, false}) {
        Norm norm = norm_of(at, cols, centred, *eps);
        const double off = difference(reciprocal, norm.deviation, 0);
        if (off >= least) continue;
        least = off, best.norm = std::move(norm);
        best.eps = v == data ? data : std::nullopt;
      }
    }
    return least < samples.tolerance() ? made_of(std::move(best), deviation, at) : std::nullopt;
  }

  /// The one value of these that is so.
  std::optional<ValueId> data_in(const std::vector<ValueId>& from) const {
    const auto is = [&](ValueId v) { return gradients_.is_data(v); };
    const auto found = std::ranges::find_if(from, is);
    return std::ranges::count_if(from, is) == 1 ? std::optional{*found} : std::nullopt;
  }

  /// Values that are made of the deviation, at once or in steps.
  std::vector<ValueId> followers(ValueId deviation) const {
    std::vector<ValueId> out{deviation};
    for (std::size_t i = 0; i < out.size() && out.size() < kMostReaders; ++i)
      for (const std::size_t n : readers_[out[i]]) {
        const Node& node = function_.nodes[n];
        if (node.results == 1 && is_followed(node, true) && std::ranges::find(out, node.result()) == out.end())
          out.push_back(node.result());
      }
    std::ranges::sort(out);
    return out;
  }

  std::optional<NormUse> made_of(NormUse found, ValueId deviation, const Numbers& at) const {
    bool any = false;
    std::vector<ValueId> mixed;  // with another value: a gradient's
    for (const ValueId v : followers(deviation)) {
      const std::size_t kMostRows = found.eps ? 3 : 2;  // a gain and a shift
      if (others_behind(function_, producers_, v, found.x, true, kMostRows + 1) > kMostRows) mixed.push_back(v);
      if (!mixed.empty() && mixed.back() == v) continue;
      Samples samples = gradients_.samples_of(found.x, at, found.eps);
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
    if (any || !found.normal.empty()) found.gradient = gradients_.of(found, mixed, at);
    if (!any && !found.normal.empty() && (found.gradient || fuses_alone(found))) {
      found.y = found.normal.back(), any = true;
      found.normal.pop_back();
    }
    return any ? std::optional{found} : std::nullopt;
  }

  /// Whether a norm without a gain is worth one. In types of 16 bits the layer
  /// norm's product and sum with rows of ones and zeros cost more than its own
  /// steps: 160 of 145 us for [4096, 768] on Trn1; in fp32 165 of 346 us.
  bool fuses_alone(const NormUse& found) const {
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
  bool gained(NormUse& found, ValueId v, ValueId deviation, Samples& samples, const Numbers& numbers) const {
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

  const Function& function_;
  const Producers producers_;
  const NormGradients gradients_;
  std::vector<std::vector<std::size_t>> readers_;
};

/// A row of one number, for a norm without a gain or a shift.
ValueId row(Function& function, std::int64_t cols, double number, std::vector<Node>& made) {
  const Type type = tensor_type(Element::kF32, {cols});
  made.push_back(plain_node(function, "constant", {}, type));
  made.back().attributes.set("value", literal_of(type, {number}));
  return made.back().result();
}

/// The number of data that a value has for all elements.
ValueId number_behind(const Function& function, ValueId value) {
  const Producers producers{function};
  return producers.of(value)->operands[0];
}

/// The factor of a row's sum, in the place of -1 / columns.
ValueId made_factor(Function& function, Factors& factors, const DataFactor& factor, std::int64_t cols,
                    std::vector<Node>& made) {
  FactorId all = factors.number(-factor.number / static_cast<double>(cols));
  for (const auto& [value, power] : factor.powers)
    for (int i = 0; i < std::abs(power); ++i) {
      const FactorId one = factors.value(value);
      all = power > 0 ? factors.product(all, one) : factors.quotient(all, one);
    }
  return factors.made(all, function, made);
}

/// The factors of both sums, one where they are the same; none: those of a norm.
std::optional<ValueId> made_factors(Function& function, Factors& factors, const NormUse& use, std::vector<Node>& made) {
  constexpr double kSame = 1e-6;
  const auto& [of_g, of_product] = use.gradient->factors;
  const std::int64_t cols = function.type(use.x).dims.back();
  const auto usual = [](const DataFactor& f) { return f.powers.empty() && std::abs(f.number - 1) < kSame; };
  if (usual(of_product) && (!use.norm.centred || usual(of_g))) return {};
  const ValueId second = made_factor(function, factors, of_product, cols, made);
  const bool same = of_g.powers == of_product.powers && std::abs(of_g.number / of_product.number - 1) < kSame;
  if (!use.norm.centred || same) return second;
  const Type one = tensor_type(Element::kF32, {1, 1});
  const ValueId first = made_factor(function, factors, of_g, cols, made);
  std::vector<ValueId> both{formed(function, first, one, made), formed(function, second, one, made)};
  made.push_back(plain_node(function, "concatenate", std::move(both), tensor_type(Element::kF32, {1, 2})));
  made.back().attributes.set("dimension", std::int64_t{1});
  return made.back().result();
}

/// The operation in the place of the values that it makes.
void put(Function& function, Factors& factors, const NormUse& use, const Node& place, std::vector<Node>& made,
         std::map<ValueId, ValueId>& replaced) {
  const Type type = function.type(use.y);
  const std::int64_t cols = type.dims.back();
  Type column = tensor_type(Element::kF32, type.dims);
  column.dims.back() = 1;
  std::vector<ValueId> operands{use.x, use.gain ? *use.gain : row(function, cols, 1, made)};
  if (use.norm.centred) operands.push_back(use.shift ? *use.shift : row(function, cols, 0, made));
  if (use.eps)
    operands.push_back(formed(function, number_behind(function, *use.eps), scalar_type(Element::kF32), made));
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
  if (const auto own = made_factors(function, factors, use, made)) in.push_back(*own);
  Node back = custom_call(function, use.norm.centred ? "trnsim.layernorm_grad" : "trnsim.rmsnorm_grad", in, {to});
  back.line = place.line, back.metadata = place.metadata;
  back.attributes.set("backend_config",
                      hlo::words_of(runtime::Attrs{runtime::ResultAttrs{.dtype = device_type(to.element, "norm")}}));
  ValueId dx = back.result();
  made.push_back(std::move(back));
  if (gradient.rest) {
    made.push_back(plain_node(function, "add", {*gradient.rest, dx}, to));
    dx = made.back().result();
  }
  replaced[gradient.dx] = dx;
}

}  // namespace

std::size_t norms(Module& module, Function& function) {
  std::vector<NormUse> all;
  std::vector<const Node*> places;
  const bool any = std::ranges::any_of(function.nodes, [](const Node& node) { return node.op->name == "reduce"; });
  if (!any) return 0;
  const Search search{module, function};
  for (const Node& node : function.nodes)
    if (auto found = search.at(node)) all.push_back(std::move(*found)), places.push_back(&node);
  if (all.empty()) return 0;
  std::vector<Node> made;
  std::map<ValueId, ValueId> replaced;
  Factors factors;  // those of several norms are made once
  for (std::size_t i = 0; i < all.size(); ++i) put(function, factors, all[i], *places[i], made, replaced);
  replace_by(function, made, replaced);
  return all.size();
}

}  // namespace trnsim::frontend::rewrite
