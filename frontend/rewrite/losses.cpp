// Cross-entropy over logits, and its gradient. A vocabulary's rows are longer than SBUF: three operations go over them
// in pieces, as the families' do. Every spelling has exponentials that are summed along rows: they are found first.
#include <algorithm>
#include <array>
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

constexpr std::size_t kSampleRows = 5, kLossBehind = 12, kLossReaders = 60;
constexpr double kLossFloor = 1e-2;  // below it differences count as they are

/// The parts of a loss, each a number of a row.
enum LossPart : std::size_t { kMost, kSum, kLog, kLogSum, kChosen, kLoss, kCount, kParts };

struct Loss {
  std::array<Numbers, kParts> parts{};
  Numbers gradient{};  // softmax less one at the label
};

Loss loss_of(const Numbers& x, const Samples& samples) {
  Loss out;
  for (Numbers& part : out.parts) part.resize(x.size());
  out.gradient.resize(x.size());
  for (std::size_t row = 0; row * kSampleWidth < x.size(); ++row) {
    const auto* at = x.data() + row * kSampleWidth;
    const double most = *std::max_element(at, at + kSampleWidth);
    double sum = 0;
    for (std::size_t c = 0; c < kSampleWidth; ++c) sum += std::exp(at[c] - most);
    const auto label = static_cast<std::size_t>(samples.label_of(row));
    const double log = std::log(sum), chosen = at[label];
    for (std::size_t c = 0; c < kSampleWidth; ++c) {
      const std::array<double, kParts> numbers{most, sum, log, log + most, chosen, log + most - chosen, 1};
      for (std::size_t part = 0; part < kParts; ++part) out.parts[part][row * kSampleWidth + c] = numbers[part];
      out.gradient[row * kSampleWidth + c] = std::exp(at[c] - most) / sum - (c == label ? 1 : 0);
    }
  }
  return out;
}

struct LossColumn {
  ValueId value = 0;
  LossPart part = kMost;
  double sign = 1;
  std::vector<ValueId> counts{};  // truths of rows that multiply it
  std::optional<ValueId> labels{};
};

/// Where the graph has it.
struct LossUse {
  ValueId x = 0;
  std::optional<ValueId> labels{};  // those beside which x is read: others are of another loss of the same form
  std::vector<LossColumn> columns{};
  std::optional<ValueId> gradient{};  // the last one of those that are: it is the result
  std::vector<ValueId> weights{};     // numbers of rows, or of all, that multiply it,
  double scale = 1;                   // and a constant
};

class LossSearch {
 public:
  LossSearch(const Module& module, const Function& function)
      : module_{module}, function_{function}, producers_{function}, readers_(function.values.size()) {
    for (const Node& node : function.nodes)
      for (const ValueId v : node.operands) readers_[v].push_back(&node);
    for (const Node& node : function.nodes)
      if (node.op->name == "select" && is_at_label(node.operands[0])) hot_.push_back(&node);
  }

  /// The loss of which a node computes the exponentials.
  std::optional<LossUse> at(const Node& node) const {
    if (node.op->name != "exponential" || function_.type(node.result()).rank() < 2) return {};
    const bool summed = std::ranges::any_of(readers_[node.result()], [&](const Node* reader) {
      return reader->op->name == "reduce" && is_region_of(module_, *reader, "add");
    });
    if (!summed) return {};
    const Dims& dims = function_.type(node.result()).dims;
    if (dims.back() < 2) return {};
    std::vector<ValueId> from = origins(function_, producers_, node.operands[0], kLossBehind, true);
    std::ranges::sort(from);  // the furthest first: less is left beside it
    for (const ValueId x : from)
      if (is_float(function_.type(x).element) && function_.type(x).dims == dims)
        if (auto found = of(x, node.result())) return found;
    return {};
  }

 private:
  std::optional<LossUse> of(ValueId x, ValueId exponentials) const {
    LossUse out{.x = x};
    const Numbers at = row_samples(0.6180339887498949, 4, -1.7, kSampleRows);
    for (const ValueId v : followers(x, exponentials)) take(out, v, at);
    std::erase_if(out.columns, [&](const LossColumn& c) { return c.labels && c.labels != out.labels; });
    const bool any = out.gradient || std::ranges::any_of(out.columns, [](const LossColumn& c) {
                       return c.part == kChosen || c.part == kLoss;
                     });
    return any ? std::optional{out} : std::nullopt;
  }

  bool is_at_label(ValueId truth) const {
    const Node* node = producers_.of(truth);
    if (!node || node->op->name != "and") return labels_of(function_, producers_, truth).has_value();
    return std::ranges::any_of(node->operands,
                               [&](ValueId v) { return labels_of(function_, producers_, v).has_value(); });
  }

  /// Values that are computed of the exponentials, of their operand, or of labels beside it, in their order.
  std::vector<ValueId> followers(ValueId x, ValueId exponentials) const {
    std::vector<ValueId> out{exponentials};
    const Node* made = producers_.of(exponentials);
    if (made->operands[0] != x) out.push_back(made->operands[0]);
    for (const Node* node : hot_)
      if (function_.type(node->result()).dims == function_.type(x).dims) out.push_back(node->result());
    const Dims& dims = function_.type(x).dims;
    const std::int64_t count = element_count(dims), rows = count / dims.back();
    for (std::size_t i = 0; i < out.size() && out.size() < kLossReaders; ++i)
      for (const Node* node : readers_[out[i]]) {
        const std::int64_t size = node->results == 1 ? element_count(function_.type(node->result()).dims) : 0;
        if ((size == count || size == rows) && std::ranges::find(out, node->result()) == out.end())
          out.push_back(node->result());
      }
    std::ranges::sort(out);
    return out;
  }

  Samples sampled(ValueId x, const Numbers& at, int draw) const {
    const SampleForm form{.by_rows = true, .width = kSampleWidth, .losses = true, .draw = draw};
    return {module_, function_, producers_, x, at, form};
  }

  void take(LossUse& use, ValueId v, const Numbers& at) const {
    Samples samples = sampled(use.x, at, 0);
    const Numbers* numbers = samples.of(v);
    if (!numbers || !samples.others().empty() || !samples.rows().empty() || samples.labels().size() > 1) return;
    const std::optional<ValueId> labels =
        samples.labels().empty() ? std::nullopt : std::optional{samples.labels().front()};
    if (labels && use.labels && use.labels != labels) return;
    const Loss expected = loss_of(at, samples);
    const double same = 4 * samples.tolerance();
    if (samples.is_column(v) && only_counts(samples))
      for (std::size_t part = 0; part < kParts; ++part)
        for (const double sign : {1.0, -1.0})
          if ((part < kChosen || labels) &&
              difference(*numbers, weighted(times(expected.parts[part], sign), samples), kLossFloor) < same) {
            use.columns.push_back({v, static_cast<LossPart>(part), sign, samples.columns(), labels});
            if (part == kChosen || part == kLoss) use.labels = labels;
            return;
          }
    if (!samples.is_whole(v) || !labels) return;
    const auto scale = scale_of(samples, *numbers, expected.gradient);
    if (!scale) return;
    // a number that is divided by, and not multiplied, has been taken into the constant: another one gives another
    Samples again = sampled(use.x, at, 1);
    const auto same_scale = scale_of(again, *again.of(v), expected.gradient);
    if (!same_scale || std::abs(*same_scale / *scale - 1) >= same) return;
    use.gradient = v, use.weights = samples.columns(), use.labels = labels, use.scale = *scale;
  }

  /// Whether all given numbers of rows are truths.
  bool only_counts(const Samples& samples) const {
    return std::ranges::all_of(samples.columns(), [&](ValueId v) { return is_bool(function_.type(v).element); });
  }

  static Numbers weighted(Numbers numbers, const Samples& samples) {
    for (std::size_t c = 0; c < samples.columns().size(); ++c)
      for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] *= samples.column(c)[i];
    return numbers;
  }

  /// The constant, where numbers are the gradient, times numbers of rows and a constant.
  static std::optional<double> scale_of(const Samples& samples, const Numbers& numbers, const Numbers& gradient) {
    const Numbers expected = weighted(gradient, samples);
    const auto largest = std::ranges::max_element(expected, {}, [](double one) { return std::abs(one); });
    const double scale = numbers[static_cast<std::size_t>(largest - expected.begin())] / *largest;
    if (!std::isfinite(scale) || scale == 0) return {};
    const double whole = std::round(scale), used = std::abs(scale - whole) < 1e-2 && whole != 0 ? whole : scale;
    if (difference(times(numbers, 1 / used), expected, kLossFloor) >= 4 * samples.tolerance()) return {};
    return used;
  }

  static Numbers times(Numbers numbers, double factor) {
    for (double& one : numbers) one *= factor;
    return numbers;
  }

  const Module& module_;
  const Function& function_;
  const Producers producers_;
  std::vector<std::vector<const Node*>> readers_;
  std::vector<const Node*> hot_;  // selects at labels
};

/// The operations of a loss.
class LossMaker {
 public:
  LossMaker(Function& function, const LossUse& use, const Node& place, std::vector<Node>& made)
      : function_{function},
        use_{use},
        place_{place},
        made_{made},
        column_{tensor_type(Element::kF32, function.type(use.x).dims)} {
    column_.dims.back() = 1;
    Type labels = column_;
    labels.element = Element::kI32;
    labels_ = formed(function, *use.labels, labels, made);
    most_ = call("row_max", {use.x}, {column_}, {});
    Type pair = column_;
    pair.dims.back() = 2;
    sums_ = call("loss_sums", {use.x, labels_, most_}, {pair}, attrs());
  }

  ValueId gradient() {
    const Type type = function_.type(*use_.gradient);
    const ValueId weight = weights();
    runtime::LossAttrs attrs = this->attrs();
    attrs.scale = use_.scale, attrs.dtype = device_type(type.element, "loss");
    return call("split_loss", {use_.x, labels_, weight, most_, sums_}, {column_, type}, attrs) + 1;
  }

  ValueId column(const LossColumn& of) {
    const auto log = [&] { return op("log", {sum(0)}); };
    ValueId out = of.part == kMost     ? most_
                  : of.part == kSum    ? sum(0)
                  : of.part == kChosen ? sum(1)
                  : of.part == kCount  ? one()
                                       : log();
    if (of.part == kLogSum) out = op("add", {out, most_});
    if (of.part == kLoss) out = op("add", {op("subtract", {most_, sum(1)}), out});  // exact for scores of any size
    if (of.sign < 0) out = op("negate", {out});
    for (const ValueId counts : of.counts) out = op("multiply", {out, formed(function_, counts, column_, made_)});
    return formed(function_, out, function_.type(of.value), made_);
  }

 private:
  runtime::LossAttrs attrs() const { return {.classes = function_.type(use_.x).dims.back(), .masked = true}; }

  ValueId call(const std::string& name, std::vector<ValueId> operands, const std::vector<Type>& results,
               const runtime::Attrs& attrs) {
    Node node = custom_call(function_, "trnsim." + name, std::move(operands), results);
    node.line = place_.line, node.metadata = place_.metadata;
    node.attributes.set("backend_config", hlo::words_of(attrs));
    made_.push_back(std::move(node));
    return made_.back().result();
  }

  ValueId op(std::string_view name, std::vector<ValueId> operands) {
    made_.push_back(plain_node(function_, name, std::move(operands), column_));
    return made_.back().result();
  }

  /// The product of all weights, one for each row.
  ValueId weights() {
    std::optional<ValueId> out;
    for (const ValueId v : use_.weights) {
      ValueId one = v;
      if (function_.type(v).dims.empty()) {
        one = formed(function_, v, tensor_type(Element::kF32, {}), made_);
        one = op("broadcast_in_dim", {one});
        made_.back().attributes.set("broadcast_dimensions", Ints{});
      }
      one = formed(function_, one, column_, made_);
      out = out ? op("multiply", {*out, one}) : one;
    }
    return out ? *out : one();
  }

  ValueId one() {
    made_.push_back(plain_node(function_, "constant", {}, column_));
    made_.back().attributes.set("value", literal_of(column_, {1}));
    return made_.back().result();
  }

  /// A column of the sums.
  ValueId sum(std::int64_t which) {
    const ValueId out = op("slice", {sums_});
    Ints begin(column_.dims.size()), end = column_.dims;
    begin.back() = which, end.back() = which + 1;
    made_.back().attributes.set("start_indices", begin);
    made_.back().attributes.set("limit_indices", end);
    return out;
  }

  Function& function_;
  const LossUse& use_;
  const Node& place_;
  std::vector<Node>& made_;
  Type column_;
  ValueId labels_ = 0, most_ = 0, sums_ = 0;
};

}  // namespace

std::size_t losses(Module& module, Function& function) {
  std::vector<LossUse> all;
  std::vector<const Node*> places;
  const LossSearch search{module, function};
  for (const Node& node : function.nodes)
    if (auto found = search.at(node)) all.push_back(std::move(*found)), places.push_back(&node);
  if (all.empty()) return 0;
  std::vector<Node> made;
  std::map<ValueId, ValueId> replaced;
  for (std::size_t i = 0; i < all.size(); ++i) {
    LossMaker maker{function, all[i], *places[i], made};
    if (all[i].gradient) replaced[*all[i].gradient] = maker.gradient();
    for (const LossColumn& column : all[i].columns) replaced[column.value] = maker.column(column);
  }
  replace_by(function, made, replaced);
  return all.size();
}

}  // namespace trnsim::frontend::rewrite
