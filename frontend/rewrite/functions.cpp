// Several operators that compute a function which ScalarE has: gelu by erf or by tanh, silu, sigmoid, and derivatives.
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "frontend/ops/operator.h"
#include "frontend/rewrite/samples.h"

namespace trnsim::frontend::rewrite {
namespace {

double cdf(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }
double pdf(double x) { return std::exp(-0.5 * x * x) / std::sqrt(2 * std::numbers::pi); }
double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// Hendrycks and Gimpel, arXiv:1606.08415: the approximations of GELU by tanh and by a sigmoid.
constexpr double kCubic = 0.044715, kSigmoidSlope = 1.702;
double inner_tanh(double x) { return std::tanh(std::sqrt(2 / std::numbers::pi) * (x + kCubic * x * x * x)); }
double gelu_tanh(double x) { return 0.5 * x * (1 + inner_tanh(x)); }
double gelu_tanh_slope(double x) {
  const double t = inner_tanh(x), slope = std::sqrt(2 / std::numbers::pi) * (1 + 3 * kCubic * x * x);
  return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * slope;
}
double tanh_slope(double x) { return 1 - std::tanh(x) * std::tanh(x); }
double silu_slope(double x) { return sigmoid(x) * (1 + x * (1 - sigmoid(x))); }

struct FunctionRow {
  std::string_view target;  // of the custom call (frontend/lower/custom.cpp)
  double (*value)(double);
  bool is_slope = false;  // a gradient multiplies it
};
constexpr std::array kFunctions = {
    FunctionRow{"AwsNeuronGelu", [](double x) { return x * cdf(x); }},
    FunctionRow{"AwsNeuronGeluApprxTanh", gelu_tanh},
    FunctionRow{"rewrite.gelu_sigmoid", [](double x) { return x * sigmoid(kSigmoidSlope * x); }},
    FunctionRow{"AwsNeuronSilu", [](double x) { return x * sigmoid(x); }},
    FunctionRow{"rewrite.sigmoid", sigmoid},
    FunctionRow{"rewrite.gelu_grad", [](double x) { return cdf(x) + x * pdf(x); }, true},
    FunctionRow{"rewrite.gelu_tanh_grad", gelu_tanh_slope, true},
    FunctionRow{"rewrite.silu_grad", silu_slope, true},
    FunctionRow{"rewrite.tanh_grad", tanh_slope, true},
};

constexpr std::size_t kMostOrigins = 28;

Samples::Numbers arguments() {
  Samples::Numbers out;
  constexpr double kFirst = -8.93, kStep = 0.2931;
  constexpr int kSamples = 61;
  for (int i = 0; i < kSamples; ++i) out.push_back(kFirst + kStep * i);
  return out;
}

bool bends(std::string_view op) {
  return op == "exponential" || op == "exponential_minus_one" || op == "tanh" || op == "logistic" || op == "erf" ||
         op == "chlo.erf" || op == "chlo.erfc";
}

struct Found {
  const FunctionRow* row = nullptr;
  ValueId variable = 0;
  std::optional<ValueId> factor{};
};

/// The function of `variable` that `root` is, alone or as the factor of another value.
std::optional<Found> function_of(const Module& module, const Function& function, const Producers& producers,
                                 ValueId root, ValueId variable) {
  const Samples::Numbers at = arguments();
  Samples samples{module, function, producers, variable, at, {}};
  const Samples::Numbers* numbers = samples.of(root);
  if (!numbers || samples.others().size() > 1) return std::nullopt;
  const bool scaled = samples.others().size() == 1;
  const Samples::Numbers factor = scaled ? *samples.of(samples.others()[0]) : Samples::Numbers(at.size(), 1);
  Found best;
  double least = samples.tolerance();
  for (const FunctionRow& row : kFunctions) {
    if (scaled && !row.is_slope) continue;
    Samples::Numbers expected;
    for (std::size_t i = 0; i < at.size(); ++i) expected.push_back(row.value(at[i]) * factor[i]);
    constexpr double kSmall = 0.05;  // of the functions' range: below it differences count as they are
    if (const double off = difference(*numbers, expected, kSmall); off < least) least = off, best.row = &row;
  }
  if (!best.row || (scaled && !(function.type(samples.others()[0]) == function.type(root)))) return std::nullopt;
  best.variable = variable;
  if (scaled) best.factor = samples.others()[0];
  return best;
}

/// Whether the node alone makes its result of the variable and numbers: there is nothing to join.
bool is_one_step(const Function& function, const Producers& producers, const Node& node, ValueId variable) {
  return variable == node.result() || std::ranges::all_of(node.operands, [&](ValueId v) {
           return v == variable || number_of(function, producers, v).has_value();
         });
}

std::optional<Found> found(const Module& module, const Function& function, const Producers& producers,
                           const Node& node) {
  const Type& type = function.type(node.result());
  if (!is_analytic(node) || !is_float(type.element) || element_count(type.dims) < 2) return std::nullopt;
  std::vector<ValueId> from = origins(function, producers, node.result(), kMostOrigins, false);
  const bool curved = std::ranges::any_of(from, [&](ValueId v) {
    return producers.of(v) && producers.of(v)->op != node.op && bends(producers.of(v)->op->name);
  });
  if (!curved && !bends(node.op->name)) return std::nullopt;
  std::ranges::sort(from);
  for (const ValueId variable : from) {  // the furthest first: the largest expression
    const Type& argument = function.type(variable);
    if (argument.dims != type.dims || !is_float(argument.element) || is_one_step(function, producers, node, variable))
      continue;
    if (const Node* made = producers.of(variable); made && made->op->name == "constant") continue;
    if (others_behind(function, producers, node.result(), variable, false, 2) > 1) continue;
    if (const auto one = function_of(module, function, producers, node.result(), variable)) return one;
  }
  return std::nullopt;
}

/// The count of readers of each value: parts of a larger expression are not looked at once more.
class Readers {
 public:
  Readers(const Function& function, const Producers& producers)
      : producers_{producers}, count_(function.values.size()) {
    for (const Node& node : function.nodes) add(node, 1);
    for (const ValueId v : function.results) ++count_[v];
  }
  bool any(const Node& node) const {
    for (std::uint32_t i = 0; i < node.results; ++i)
      if (count_[node.result(i)] > 0) return true;
    return node.results == 0;
  }
  /// The node reads its operands no more; nor do those that it was the only one to read.
  void drop(const Node& node) {
    std::vector<const Node*> gone{&node};
    for (std::size_t i = 0; i < gone.size(); ++i) {
      const Node& one = *gone[i];
      add(one, -1);
      for (const ValueId v : one.operands) {
        const Node* made = producers_.of(v);
        if (made && is_removable(*made) && !any(*made) && std::ranges::find(gone, made) == gone.end())
          gone.push_back(made);
      }
    }
  }
  void add(const Node& node, int by) {
    for (const ValueId v : node.operands)
      if (v < count_.size()) count_[v] += by;
    for (const Region& region : node.regions)
      for (const ValueId v : region.captures) count_[v] += by;
  }

 private:
  const Producers& producers_;
  std::vector<int> count_;
};

}  // namespace

std::size_t functions(Module& module, Function& function) {
  std::size_t count = 0;
  std::vector<Node> before;  // slopes, each of which comes in front of its product
  const Producers producers{function};
  Readers readers{function, producers};
  for (std::size_t n = function.nodes.size(); n-- > 0;) {
    Node& node = function.nodes[n];
    if (!is_analytic(node) || !readers.any(node)) continue;
    const auto one = found(module, function, producers, node);
    if (!one) continue;
    ++count;
    const Type type = function.type(node.result());
    Node made = custom_call(function, std::string{one->row->target}, {one->variable}, {type});
    made.line = node.line, made.metadata = node.metadata;
    readers.add(made, 1);
    if (one->factor) {
      Node product = plain_node(function, "multiply", {*one->factor, made.result()}, type);
      before.push_back(std::move(made));
      made = std::move(product);
      made.line = node.line, made.metadata = node.metadata;
      readers.add(made, 1);
    }
    function.values.pop_back();  // it is the old value
    made.first_result = node.first_result;
    readers.drop(node);
    node = std::move(made);
  }
  function.nodes.insert(function.nodes.end(), before.begin(), before.end());
  if (!before.empty()) put_in_order(function);
  return count;
}

}  // namespace trnsim::frontend::rewrite
