// Layer norm and RMS norm. Every spelling has one number for each row, the reciprocal of its deviation: it is found
// first, then the values that are made of it.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "frontend/hlo/attrs_text.h"
#include "frontend/lower/lower.h"
#include "frontend/ops/operator.h"
#include "frontend/rewrite/samples.h"
#include "runtime/graph/attributes.h"

namespace trnsim::frontend::rewrite {
namespace {

using Numbers = Samples::Numbers;

constexpr std::size_t kMostBehind = 32, kMostReaders = 24, kMostBehindRow = 500;
constexpr std::int64_t kMostColumns = 1 << 16;
constexpr double kSmall = 1e-2;  // of normal numbers: below it differences count as they are

double fraction(double x) { return x - std::floor(x); }

/// Rows of numbers around 1 and of such as are small beside the usual eps, so that eps shows.
Numbers rows_of(std::int64_t cols) {
  Numbers out;
  for (const double scale : {1.0, 2e-3})
    for (std::int64_t c = 0; c < cols; ++c)
      out.push_back(scale * (0.3 + 2 * fraction(0.6180339887498949 * static_cast<double>(c + 1))));
  return out;
}

/// A norm at the samples.
struct Norm {
  bool centred = false;
  double eps = 0;
  Numbers deviation{}, normal{};  // its reciprocal, and (x - mean) times that
};

Norm norm_of(const Numbers& x, std::int64_t cols, bool centred, double eps) {
  Norm out{.centred = centred, .eps = eps};
  const auto n = static_cast<std::size_t>(cols);
  for (std::size_t row = 0; row < x.size(); row += n) {
    double mean = 0, squares = 0;
    for (std::size_t c = row; c < row + n; ++c) mean += x[c] / static_cast<double>(n);
    if (!centred) mean = 0;
    for (std::size_t c = row; c < row + n; ++c) squares += (x[c] - mean) * (x[c] - mean);
    const double deviation = 1 / std::sqrt(squares / static_cast<double>(n) + eps);
    for (std::size_t c = row; c < row + n; ++c) {
      out.deviation.push_back(deviation);
      out.normal.push_back((x[c] - mean) * deviation);
    }
  }
  return out;
}

/// Where the graph has it.
struct Use {
  ValueId x = 0;
  Norm norm{};
  ValueId y = 0;
  std::optional<ValueId> gain{}, shift{};
  std::vector<ValueId> normal{}, deviation{};  // kept for a gradient
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
    for (const ValueId v : followers(deviation)) {
      constexpr std::size_t kMostRows = 2;  // a gain and a shift
      if (others_behind(function_, producers_, v, found.x, true, kMostRows + 1) > kMostRows) continue;
      Samples samples{module_, function_, producers_, found.x, at, {.by_rows = true}};
      const Numbers* numbers = samples.of(v);
      if (!numbers || !samples.others().empty()) continue;
      const double same = 4 * samples.tolerance();
      if (samples.is_column(v) && difference(*numbers, found.norm.deviation, 0) < same)
        found.deviation.push_back(v);
      else if (samples.is_whole(v) && difference(*numbers, found.norm.normal, kSmall) < same)
        found.normal.push_back(v);
      else if (samples.is_whole(v) && gained(found, v, deviation, samples, *numbers))
        any = true;
    }
    if (!any && !found.normal.empty() && fuses_alone(found)) {
      found.y = found.normal.back(), any = true;
      found.normal.pop_back();
    }
    return any ? std::optional{found} : std::nullopt;
  }

  /// Whether a norm without a gain is worth one. In types of 16 bits the layer norm's product and sum with rows of ones
  /// and zeros cost more than its own steps: 160 of 145 us for [4096, 768] on Trn1; in fp32 165 of 346 us.
  bool fuses_alone(const Use& found) const {
    return !found.norm.centred || info(function_.type(found.normal.back()).element).bits >= 32;
  }

  /// Whether a row is computed from the norm itself. Values of a function that was read are numbered in their order.
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

  /// Whether a value is the norm times a row, and with another row added; the last one is the result.
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
  made.push_back(std::move(norm));
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
