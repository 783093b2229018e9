#include "frontend/rewrite/samples.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <span>

#include "frontend/ops/counted_places.h"
#include "frontend/ops/operator.h"

namespace trnsim::frontend::rewrite {
namespace {

struct OneRow {
  std::string_view op;
  double (*value)(double);
};
constexpr std::array kOne = {
    OneRow{"negate", [](double x) { return -x; }},
    OneRow{"exponential", [](double x) { return std::exp(x); }},
    OneRow{"exponential_minus_one", [](double x) { return std::expm1(x); }},
    OneRow{"log", [](double x) { return std::log(x); }},
    OneRow{"log_plus_one", [](double x) { return std::log1p(x); }},
    OneRow{"sqrt", [](double x) { return std::sqrt(x); }},
    OneRow{"rsqrt", [](double x) { return 1 / std::sqrt(x); }},
    OneRow{"tanh", [](double x) { return std::tanh(x); }},
    OneRow{"logistic", [](double x) { return 1 / (1 + std::exp(-x)); }},
    OneRow{"erf", [](double x) { return std::erf(x); }},
    OneRow{"chlo.erf", [](double x) { return std::erf(x); }},
    OneRow{"chlo.erfc", [](double x) { return std::erfc(x); }},
    OneRow{"chlo.square", [](double x) { return x * x; }},
};
struct TwoRow {
  std::string_view op;
  double (*value)(double, double);
};
constexpr std::array kTwo = {
    TwoRow{"add", [](double x, double y) { return x + y; }},
    TwoRow{"subtract", [](double x, double y) { return x - y; }},
    TwoRow{"multiply", [](double x, double y) { return x * y; }},
    TwoRow{"divide", [](double x, double y) { return x / y; }},
    TwoRow{"power", [](double x, double y) { return std::pow(x, y); }},
};

/// All that patterns ask about an operator, by its place in the table: they ask millions of times.
struct Traits {
  double (*one)(double) = nullptr;
  double (*two)(double, double) = nullptr;
  bool keeps_numbers = false;  // marks and changes of form that leave each number as it is
  bool is_convert = false, is_constant = false;
};

const Traits& traits_of(const Node& node) {
  static const std::vector<Traits> all = [] {
    std::vector<Traits> out(operators().size());
    for (std::size_t i = 0; i < out.size(); ++i) {
      const std::string_view op = operators()[i].name;
      if (const auto one = std::ranges::find(kOne, op, &OneRow::op); one != kOne.end()) out[i].one = one->value;
      if (const auto two = std::ranges::find(kTwo, op, &TwoRow::op); two != kTwo.end()) out[i].two = two->value;
      out[i].keeps_numbers = op == "broadcast_in_dim" || op == "broadcast" || op == "reshape" || op == "copy";
      out[i].is_convert = op == "convert", out[i].is_constant = op == "constant";
    }
    return out;
  }();
  return all[static_cast<std::size_t>(node.op - operators().data())];
}

}  // namespace

std::optional<ValueId> labels_of(const Function& function, const Producers& producers, ValueId truth) {
  const Node* node = producers.of(truth);
  if (!node || node->op->name != "compare" || node->attributes.text("comparison_direction") != "EQ") return {};
  const std::int64_t last = function.type(truth).rank() - 1;
  const auto maker = [&](ValueId v) { return producers.of(v); };
  for (const std::size_t i : {0U, 1U}) {
    if (counts_along(maker, node->operands[i]) != last) continue;
    const Node* spread = producers.of(node->operands[1 - i]);
    while (spread && spread->op->name == "convert") spread = producers.of(spread->operands[0]);
    if (!spread || spread->op->name != "broadcast_in_dim") continue;
    const ValueId labels = spread->operands[0];
    Ints in_order;
    for (std::int64_t d = 0; d < last; ++d) in_order.push_back(d);
    const bool of_rows = spread->attributes.ints("broadcast_dimensions") == in_order;
    if (of_rows && is_integer(function.type(labels).element)) return labels;
  }
  return {};
}

bool is_analytic(const Node& node) { return traits_of(node).one || traits_of(node).two; }

std::optional<double> number_of(const Function& function, const Producers& producers, ValueId value) {
  const Node* node = producers.of(value);
  while (node && (traits_of(*node).keeps_numbers || traits_of(*node).is_convert))
    node = producers.of(node->operands[0]);
  if (!node || !traits_of(*node).is_constant) return std::nullopt;
  const LiteralPtr literal = node->attributes.literal("value");
  const Element element = function.type(node->result()).element;
  if (!literal || !is_float(element) || (!literal->splat && literal->count() != 1)) return std::nullopt;
  return decode_float(element, literal->bits(0));
}

double difference(const Samples::Numbers& found, const Samples::Numbers& expected, double least) {
  double out = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double off = std::abs(found[i] - expected[i]) / std::max(std::abs(expected[i]), least);
    if (!(off <= out)) out = std::isnan(off) ? HUGE_VAL : off;
  }
  return out;
}

double Samples::tolerance() const { return bits_ >= 32 ? 4e-6 : 8e-3; }

Samples::Samples(const Module& module, const Function& function, const Producers& producers, ValueId variable,
                 Numbers at, const SampleForm& form)
    : module_{module},
      function_{function},
      producers_{producers},
      variable_{variable},
      dims_{function.type(variable).dims},
      cols_{!form.by_rows    ? 1
            : form.width > 0 ? form.width
                             : dims_.back()},
      bits_{info(function.type(variable).element).bits},
      count_{at.size()},
      form_{form} {
  known_.emplace(variable, std::move(at));
}

bool Samples::is_column(ValueId value) const {
  Dims dims = function_.type(value).dims;
  if (dims.size() == dims_.size() && dims.back() == 1) dims.pop_back();
  return form_.by_rows && cols_ > 1 && dims == Dims{dims_.begin(), dims_.end() - 1};
}

const Samples::Numbers* Samples::of(ValueId value) {
  if (const auto known = known_.find(value); known != known_.end()) return known->second ? &*known->second : nullptr;
  const Type& type = function_.type(value);
  if (known_.size() > kMostValues || !is_float(type.element)) return nullptr;
  bits_ = std::min(bits_, info(type.element).bits);
  known_.emplace(value, std::nullopt);  // until it is known
  std::optional<Numbers>& place = known_[value];
  place = computed(value);
  return place ? &*place : nullptr;
}

std::optional<Samples::Numbers> Samples::computed(ValueId value) {
  if (const auto number = number_of(function_, producers_, value)) return Numbers(count_, *number);
  const Node* node = producers_.of(value);
  if (node && !form_.by_rows && !depends(value)) return leaf(value);
  if (node && form_.losses && node->op->name == "maximum")  // of nothing and the largest number
    for (const std::size_t i : {0U, 1U})
      if (number_of(function_, producers_, node->operands[i]) == -HUGE_VAL) return held(node->operands[1 - i]);
  if (node && is_analytic(*node)) return function_of(*node);
  if (node && node->op->name == "convert" && is_float(function_.type(node->operands[0]).element))
    return held(node->operands[0]);
  if (node && traits_of(*node).keeps_numbers && (form_.by_rows || function_.type(value).dims.empty()))
    return spread(value, *node);
  if (node && form_.by_rows && node->op->name == "reduce" && node->results == 1) return folded_rows(*node);
  if (node && form_.losses && (node->op->name == "convert" || node->op->name == "select"))
    if (auto known = node->op->name == "select" ? chosen(*node) : at_label(node->operands[0])) return known;
  return leaf(value);
}

/// Whether a value is computed from the variable.
bool Samples::depends(ValueId value) const {
  return depends_on(function_, producers_, value, variable_, form_.by_rows, kMostValues);
}

std::optional<Samples::Numbers> Samples::function_of(const Node& node) {
  std::vector<const Numbers*> in;
  for (const ValueId operand : node.operands) {
    in.push_back(of(operand));
    if (!in.back()) return std::nullopt;
  }
  Numbers out(count_);
  const Traits& op = traits_of(node);
  for (std::size_t i = 0; i < count_; ++i) out[i] = op.one ? op.one((*in[0])[i]) : op.two((*in[0])[i], (*in[1])[i]);
  return out;
}

/// A number for each row, in another form or for all elements of the row, or a row for all rows.
std::optional<Samples::Numbers> Samples::spread(ValueId value, const Node& node) {
  const ValueId from = node.operands[0];
  const Dims& to = function_.type(value).dims;
  const auto rank = static_cast<std::int64_t>(dims_.size());
  const Ints places = node.attributes.ints("broadcast_dimensions");
  const bool is_reshape = node.op->name == "reshape" || node.op->name == "copy";
  if (is_column(from) && is_reshape && is_column(value)) return held(from);
  if (node.op->name != "broadcast_in_dim") return leaf(value);
  Ints in_order;
  for (std::int64_t d = 0; d < static_cast<std::int64_t>(places.size()); ++d) in_order.push_back(d);
  if (is_column(from) && places == in_order && (to == dims_ || is_column(value))) return held(from);
  const Dims& form = function_.type(from).dims;
  const bool is_row =
      to == dims_ && !form.empty() && form.back() == cols_ && element_count(form) == cols_ && places.back() == rank - 1;
  if (!is_row) return leaf(value);
  if (const auto known = std::ranges::find(rows_, from); known != rows_.end())
    return row_numbers_[static_cast<std::size_t>(known - rows_.begin())];
  rows_.push_back(from);
  row_numbers_.push_back(drawn(true));
  return row_numbers_.back();
}

std::optional<Samples::Numbers> Samples::held(ValueId value) {
  const Numbers* numbers = of(value);
  return numbers ? std::optional{*numbers} : std::nullopt;
}

/// Sums of rows, and where losses are looked for their largest numbers.
std::optional<Samples::Numbers> Samples::folded_rows(const Node& node) {
  const bool along_rows = node.attributes.ints("dimensions") == Ints{static_cast<std::int64_t>(dims_.size()) - 1};
  if (node.operands.size() != 2 || !along_rows || !is_whole(node.operands[0])) return std::nullopt;
  const bool sums = is_region_of(module_, node, "add") && number_of(function_, producers_, node.operands[1]) == 0.0;
  if (!sums && !(form_.losses && is_region_of(module_, node, "maximum"))) return std::nullopt;
  const Numbers* in = of(node.operands[0]);
  if (!in) return std::nullopt;
  Numbers out(count_);
  for (std::size_t begin = 0; begin < count_; begin += static_cast<std::size_t>(cols_)) {
    const std::span row{in->data() + begin, static_cast<std::size_t>(cols_)};
    const double number = sums ? std::accumulate(row.begin(), row.end(), 0.0) : *std::ranges::max_element(row);
    std::fill_n(out.begin() + static_cast<std::ptrdiff_t>(begin), cols_, number);
  }
  return out;
}

/// One at the label of each row, where the row counts at all.
std::optional<Samples::Numbers> Samples::at_label(ValueId truth) {
  if (const Node* both = producers_.of(truth); both && both->op->name == "and")
    for (const std::size_t i : {0U, 1U}) {
      auto hot = at_label(both->operands[i]);
      const auto counts = hot ? counted_rows(both->operands[1 - i]) : std::nullopt;
      if (!counts) continue;
      for (std::size_t n = 0; n < count_; ++n) (*hot)[n] *= (*counts)[n];
      return hot;
    }
  const auto labels = labels_of(function_, producers_, truth);
  if (!labels || function_.type(truth).dims != dims_) return std::nullopt;
  if (std::ranges::find(labels_, *labels) == labels_.end()) labels_.push_back(*labels);
  Numbers out(count_);
  const auto cols = static_cast<std::size_t>(cols_);
  for (std::size_t row = 0; row * cols < count_; ++row) out[row * cols + static_cast<std::size_t>(label_of(row))] = 1;
  return out;
}

/// A truth of each row: whether its label counts.
std::optional<Samples::Numbers> Samples::counted_rows(ValueId truth) {
  const Node* spread = producers_.of(truth);
  if (!spread || spread->op->name != "broadcast_in_dim" || function_.type(truth).dims != dims_) return std::nullopt;
  const ValueId rows = spread->operands[0];
  Ints in_order(dims_.size() - 1);
  std::iota(in_order.begin(), in_order.end(), 0);
  if (!is_column(rows) || spread->attributes.ints("broadcast_dimensions") != in_order) return std::nullopt;
  const auto known = std::ranges::find(columns_, rows);
  if (known != columns_.end()) return column_numbers_[static_cast<std::size_t>(known - columns_.begin())];
  Numbers out(count_);
  for (std::size_t i = 0; i < count_; ++i) out[i] = i / static_cast<std::size_t>(cols_) % 2 == 0 ? 1 : 0;
  columns_.push_back(rows);
  column_numbers_.push_back(out);
  return out;
}

/// A number at the label, and another one elsewhere.
std::optional<Samples::Numbers> Samples::chosen(const Node& node) {
  const auto hot = at_label(node.operands[0]);
  if (!hot) return std::nullopt;
  const Numbers *there = of(node.operands[1]), *elsewhere = of(node.operands[2]);
  if (!there || !elsewhere) return std::nullopt;
  Numbers out(count_);
  for (std::size_t i = 0; i < count_; ++i) out[i] = (*hot)[i] != 0 ? (*there)[i] : (*elsewhere)[i];
  return out;
}

std::optional<Samples::Numbers> Samples::leaf(ValueId value) {
  const Node* node = producers_.of(value);
  const bool is_scalar = node && node->op->name == "broadcast_in_dim" && function_.type(node->operands[0]).dims.empty();
  if (form_.losses && (is_column(value) || is_scalar)) {
    const ValueId given = is_scalar ? node->operands[0] : value;
    const auto known = std::ranges::find(columns_, given);
    if (known != columns_.end()) return column_numbers_[static_cast<std::size_t>(known - columns_.begin())];
    Numbers out = drawn(false);
    const std::size_t same = is_scalar ? count_ : static_cast<std::size_t>(cols_);
    for (std::size_t i = 0; i < count_; ++i) out[i] = out[i - i % same];
    columns_.push_back(given);
    column_numbers_.push_back(out);
    return out;
  }
  if (!is_whole(value)) return std::nullopt;
  others_.push_back(value);
  return drawn(false);
}

/// Numbers between 1/2 and 3/2 of either sign, which no sum of a few of the others is.
Samples::Numbers Samples::drawn(bool same_rows) const {
  Numbers out(count_);
  const double seed =
      0.7548776662466927 * static_cast<double>(1 + others_.size() + 3 * rows_.size() + 7 * columns_.size()) +
      0.3819660112501051 * form_.draw;
  for (std::size_t i = 0; i < count_; ++i) {
    const auto place = static_cast<double>(same_rows ? i % static_cast<std::size_t>(cols_) : i);
    const double sum = seed + 0.5698402909980532 * place, part = sum - std::floor(sum);
    out[i] = part < 0.5 ? part - 1.5 : part + 0.5;
  }
  return out;
}

Samples::Numbers row_samples(double seed, double span, double least, std::size_t rows) {
  Samples::Numbers out;
  for (std::size_t i = 0; i < rows * kSampleWidth; ++i) {
    const double place = seed * static_cast<double>(i * (3 + i / kSampleWidth) + 1);
    out.push_back(span * (place - std::floor(place)) + least);
  }
  return out;
}

}  // namespace trnsim::frontend::rewrite
