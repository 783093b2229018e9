// Attention as the families' operations, and their results in the forms that a graph reads.
#include <algorithm>
#include <array>
#include <map>

#include "frontend/hlo/attrs_text.h"
#include "frontend/lower/lower.h"
#include "frontend/ops/operator.h"
#include "frontend/rewrite/attention.h"
#include "frontend/rewrite/attention_masks.h"
#include "frontend/rewrite/factors.h"
#include "runtime/graph/attributes.h"

namespace trnsim::frontend::rewrite {
namespace {

DimAxes joined(std::initializer_list<DimAxes> parts) {
  DimAxes out;
  for (const DimAxes& part : parts) out.insert(out.end(), part.begin(), part.end());
  return out;
}

bool repeats(const DimAxes& axes) {
  return std::ranges::any_of(axes, [](const Axis& axis) { return axis.size > 1 && axis.stride == 0; });
}

DimAxes part(const DimAxes& axes, std::size_t first, std::size_t last) {
  return {axes.begin() + static_cast<std::ptrdiff_t>(first), axes.begin() + static_cast<std::ptrdiff_t>(last)};
}

constexpr std::int64_t kSummed = -1;  // the stride of an axis that readers sum over

bool is_summed(const DimAxes& axes) {
  return std::ranges::any_of(axes, [](const Axis& axis) { return axis.size > 1 && axis.stride < 0; });
}
bool is_summed(const Placed& place) {
  return std::ranges::any_of(place.dims, [](const DimAxes& axes) { return is_summed(axes); });
}

/// Behind the sum over all axes that are to be summed, and no others; none: it is another sum.
std::optional<Placed> summed(const Node& sum, const Placed& place) {
  const Ints over = sum.attributes.ints("dimensions");
  Placed out{.root = place.root};
  for (std::size_t d = 0; d < place.dims.size(); ++d) {
    const bool is_over = std::ranges::find(over, static_cast<std::int64_t>(d)) != over.end();
    const bool all = std::ranges::all_of(place.dims[d], [](const Axis& a) { return a.size == 1 || a.stride < 0; });
    if (is_over && !all) return std::nullopt;
    if (!is_over) out.dims.push_back(place.dims[d]);
  }
  return is_summed(out) ? std::nullopt : std::optional{out};
}

/// Gives the readers of a value, in all forms that they read it in, another one in its place.
class FormsReplaced {
 public:
  FormsReplaced(Function& function, const AttentionSearch& search, std::vector<Node>& made,
                std::map<ValueId, ValueId>& replaced)
      : function_{function}, search_{search}, made_{made}, replaced_{replaced} {}

  /// `behind`: `at` is the value behind this scale of data. Returns whether any reader was found.
  bool run(ValueId first, const Placed& at, const Scaling& behind) {
    std::vector<Form> all{{first, at, !behind.value}};
    bool any = false;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto [v, place, found] = all[i];
      const bool is_whole = found && !is_summed(place);
      const auto form = is_whole ? arranged(function_, place.root, place.dims, made_) : std::nullopt;
      if (form) replaced_[v] = *form, any = true;
      for (const Node* reader : search_.readers(v)) {
        if (!reader || reader->results != 1 || reader->op->name == "broadcast_in_dim") continue;
        if (!found && search_.is_scaling(*reader, v, behind)) {
          all.push_back({reader->result(), place, true});
          continue;
        }
        auto next = search_.is_sum(*reader)        ? summed(*reader, place)
                    : reader->operands.size() == 1 ? placed_by(function_, *reader, place)
                                                   : std::nullopt;
        if (next) all.push_back({reader->result(), std::move(*next), found});
      }
    }
    return any;
  }

 private:
  struct Form {
    ValueId value = 0;
    Placed place;
    bool found = true;  // it is behind the scale
  };

  Function& function_;
  const AttentionSearch& search_;
  std::vector<Node>& made_;
  std::map<ValueId, ValueId>& replaced_;
};

class AttentionMaker : NodeMaker {
 public:
  AttentionMaker(Function& function, const AttentionSearch& search, const AttentionUse& use, std::vector<Node>& made,
                 std::map<ValueId, ValueId>& replaced)
      : NodeMaker{function, made}, search_{search}, use_{use}, replaced_{replaced} {}

  /// Whether it is made: not where an operand is no whole memory, or a mask differs as no operation has it.
  bool run() {
    if (scale() == 0 || !divide_heads()) return false;
    const auto q = by_heads(use_.q), k = by_heads(use_.k), v = by_heads(use_.v);
    if (!q || !k || !v) return false;
    scales_ = takes_scale();
    if (is_cleared() && !scales_) return false;
    std::vector<ValueId> in{scales_ ? *q : scaled(scaled(*q, use_.scaling), use_.q.scaling), *k, *v};
    if (use_.mask) {
      MaskMaker masks{function_, made_, use_, batch_, heads_};
      if (!masks.add_mask(in)) return false;
      biased_ = masks.biased();
    }
    if (scales_) in.push_back(made_scale());
    forward(in);
    return !use_.gradient || backward(in);
  }

 private:
  /// The axes of a batch that come before the tokens in the memory of queries, keys and values alike are sequences.
  /// Those that come behind in any of them are heads, as are those for which keys are repeated: queries and keys that
  /// were scaled or turned by their positions have the order in which the program spelled that.
  bool divide_heads() {
    Ints cuts;
    for (const HeadOperand* one : {&use_.q, &use_.k, &use_.v}) {
      const Ints own = cuts_of(one->batch);
      cuts.insert(cuts.end(), own.begin(), own.end());
    }
    for (HeadOperand* one : {&use_.q, &use_.k, &use_.v}) {
      const auto cut = cut_axes(one->batch, cuts);
      if (!cut) return false;
      one->batch = *cut;
    }
    std::size_t first = use_.q.batch.size();
    for (const HeadOperand* one : {&use_.q, &use_.k, &use_.v}) {
      std::int64_t token = 0;
      for (const Axis& axis : one->tokens) token = std::max(token, axis.stride);
      std::size_t own = one->batch.size();
      while (own > 0 && one->batch[own - 1].stride < token) --own;
      first = std::min(first, own);
    }
    sequences_ = first;
    batch_ = size_of_axes(part(use_.q.batch, 0, first));
    heads_ = size_of_axes(part(use_.q.batch, first, use_.q.batch.size())) * size_of_axes(use_.q.group);
    kv_heads_ = heads_ / size_of_axes(use_.q.group);
    return share_keys();
  }

  /// Heads for which the graph repeats keys and values share them.
  bool share_keys() {
    const bool repeated = repeats(use_.k.batch) || repeats(use_.v.batch);
    if (!repeated) return true;
    if (!use_.q.group.empty()) return false;
    while (use_.k.batch.size() > sequences_ && use_.k.batch.back().stride == 0 && use_.v.batch.back().stride == 0) {
      kv_heads_ /= use_.k.batch.back().size;
      use_.k.batch.pop_back(), use_.v.batch.pop_back(), ++shared_;
    }
    return !repeats(use_.k.batch) && !repeats(use_.v.batch);
  }

  /// [sequences, tokens, heads, elements].
  std::optional<ValueId> by_heads(const HeadOperand& of) {
    const std::size_t all = of.batch.size();
    return arranged(
        function_, of.root,
        {part(of.batch, 0, sequences_), of.tokens, joined({part(of.batch, sequences_, all), of.group}), of.size},
        made_);
  }

  /// `value` times a number that data says, or through it.
  ValueId scaled(ValueId value, const Scaling& by, bool inversely = false) {
    if (!by.value) return value;
    const Type type = function_.type(value);
    const ValueId number = formed(function_, *by.value, scalar_type(type.element), made_);
    return op(by.divides != inversely ? "divide" : "multiply", {value, spread(number, type.dims, {})}, type);
  }

  /// Whether a scale that is data is an operand: where the gradient has the same, and rows of scores are whole.
  bool takes_scale() const {
    constexpr std::int64_t kMostTokens = 2048;
    const bool in_front = use_.q.scaling.value.has_value(), behind = use_.scaling.value.has_value();
    const bool known =
        !use_.gradient || (same_scale() && use_.soft_cap == 0 &&
                           (!in_front || search_.always_scaled(*use_.gradient->dq.node, use_.q.scaling)));
    return (in_front != behind || (!in_front && is_cleared())) && known &&
           std::max(use_.keys, use_.queries) <= kMostTokens;
  }

  bool same_scale() const {
    const Scaling& behind = use_.gradient->scaling;
    return behind.value == use_.scaling.value && behind.divides == use_.scaling.divides;
  }

  bool is_cleared() const { return use_.gradient && use_.gradient->cleared; }

  ValueId made_scale() {
    Factors factors;
    FactorId all = factors.number(scale());
    const Scaling& by = use_.q.scaling.value ? use_.q.scaling : use_.scaling;
    if (const auto value = by.value) {
      const FactorId data = factors.value(*value);
      all = by.divides ? factors.quotient(all, data) : factors.product(all, data);
    }
    return formed(function_, factors.made(all, function_, made_), tensor_type(Element::kF32, {1, 1}), made_);
  }

  /// The scale of each sequence's gradient: 0 where `mask` [sequences, keys] hides all keys, whose queries have equal
  /// probabilities, and scores without a gradient.
  ValueId seen_scale(ValueId mask, ValueId scale) {
    const Element element = function_.type(mask).element;
    const Type all = function_.type(mask), one = tensor_type(element, {batch_, 1});
    const auto number = [&](const Type& type, double value) {
      made_.push_back(plain_node(function_, "constant", {}, type));
      made_.back().attributes.set("value", literal_of(type, {value}));
      return made_.back().result();
    };
    const ValueId hidden = op("divide", {mask, number(all, *use_.hidden)}, all);
    const ValueId seen = op("subtract", {number(all, 1), hidden}, all);
    const ValueId count = op("dot_general", {seen, number(tensor_type(element, {use_.keys, 1}), 1)}, one);
    made_.back().attributes.set("lhs_contracting_dimensions", Ints{1});
    made_.back().attributes.set("rhs_contracting_dimensions", Ints{0});
    const Type scales = tensor_type(Element::kF32, {batch_, 1});
    const ValueId any = formed(function_, op("minimum", {count, number(one, 1)}, one), scales, made_);
    const ValueId flat = formed(function_, scale, scalar_type(Element::kF32), made_);
    return op("multiply", {any, spread(flat, scales.dims, {})}, scales);
  }

  Dims form(std::int64_t tokens, std::int64_t heads) const { return {batch_, tokens, heads, use_.head}; }

  runtime::AttentionAttrs attrs(const Type& result) const {
    const Element softmax = function_.type(use_.p).element, own = function_.type(use_.q.root).element;
    runtime::AttentionAttrs out{.scale = scales_ ? 0 : scale(),
                                .batch = batch_,
                                .seq = use_.queries,
                                .heads = heads_,
                                .kv_heads = kv_heads_,
                                .causal = use_.causal,
                                .term = biased_ ? runtime::ScoreTerm::kBias : runtime::ScoreTerm::kNone,
                                .soft_cap = use_.soft_cap,
                                .dtype = device_type(result.element, "attention")};
    if (softmax != own) out.softmax = device_type(softmax, "attention");
    return out;
  }

  /// The scale of the product, in front of it and behind it.
  double scale() const { return use_.scaling.number * use_.q.scaling.number * use_.k.scaling.number; }

  void forward(const std::vector<ValueId>& in) {
    const Type result = tensor_type(function_.type(use_.context->result()).element, form(use_.queries, heads_));
    const Type kept = tensor_type(function_.type(use_.p).element, {batch_ * heads_ * use_.queries, use_.keys});
    Node node = custom_call(function_, "rewrite.attention", in, {result, kept});
    node.attributes.set("backend_config", hlo::words_of(runtime::Attrs{attrs(result)}));
    node.line = use_.context->line, node.metadata = use_.context->metadata;
    context_ = node.result(0), probabilities_ = node.result(1);
    made_.push_back(std::move(node));
    read_as(*use_.context, use_.p_side == 0, context_, 0);
  }

  bool backward(const std::vector<ValueId>& in) {
    const AttentionGradientUse& g = *use_.gradient;
    HeadOperand dy = g.dy;
    const auto cut = cut_axes(dy.batch, cuts_of(use_.q.batch));
    if (!cut || cut->size() != use_.q.batch.size()) return false;
    dy.batch = *cut;
    const auto given = by_heads(dy);
    if (!given || (g.scores && !biased_) || (g.cleared && biased_)) return false;
    std::vector<ValueId> operands{in[0], in[1], in[2], probabilities_, *given, context_};
    if (scales_) operands.push_back(g.cleared ? seen_scale(in[3], in.back()) : in.back());
    const Type q = tensor_type(function_.type(g.dq.node->result()).element, form(use_.queries, heads_));
    const Type k = tensor_type(function_.type(g.dk.node->result()).element, form(use_.keys, kv_heads_));
    std::vector<Type> results{q, k, k};
    if (biased_)
      results.push_back(tensor_type(function_.type(use_.p).element, {batch_ * heads_ * use_.queries, use_.keys}));
    Node node = custom_call(function_, "rewrite.attention_grad", operands, results);
    runtime::AttentionAttrs own = attrs(q);
    node.attributes.set("backend_config", hlo::words_of(runtime::Attrs{own}));
    node.line = g.dq.node->line, node.metadata = g.dq.node->metadata;
    const std::array<ValueId, 3> out{node.result(0), node.result(1), node.result(2)};
    const auto first = node.first_result;
    made_.push_back(std::move(node));
    if (g.scores) replaced_[*g.scores] = formed(function_, first + 3, function_.type(*g.scores), made_);
    const double rest = g.scaling.number / scale();
    const ValueId dq = times(scales_ ? out[0] : scaled(out[0], g.scaling), rest * use_.k.scaling.number);
    // Keys met queries that were scaled already; behind the product they were not yet.
    const ValueId met = same_scale() ? out[1] : scaled(scaled(out[1], g.scaling), use_.scaling, true);
    const ValueId dk = times(met, rest * use_.q.scaling.number);
    // The operation's gradient is that of queries in front of their scale.
    read_as(*g.dq.node, g.dq.side == 0, dq, 0, scales_ ? use_.q.scaling : Scaling{});
    return read_as(*g.dk.node, g.dk.side == 0, dk, shared_) && read_as(*g.dv.node, g.dv.side == 0, out[2], shared_);
  }

  ValueId times(ValueId value, double number) {
    constexpr double kSame = 1e-6;
    if (std::abs(number - 1) < kSame) return value;
    const Type type = function_.type(value);
    made_.push_back(plain_node(function_, "constant", {}, type));
    made_.back().attributes.set("value", literal_of(type, {number}));
    return op("multiply", {value, made_.back().result()}, type);
  }

  /// Readers of a product read `value` [sequences, tokens, heads, elements], in their forms. The last `shared` axes of
  /// its heads have keys together: readers sum over them. `behind`: the value is that behind this scale of data.
  /// Returns whether any reader was found.
  bool read_as(const Node& product, bool tokens_first, ValueId value, std::size_t shared, const Scaling& behind = {}) {
    const Dims& dims = function_.type(value).dims;
    const std::int64_t tokens = dims[1], row = dims[2] * use_.head;
    DimAxes sequences = part(use_.q.batch, 0, sequences_), heads = part(use_.q.batch, sequences_, use_.q.batch.size());
    heads.insert(heads.end(), use_.q.group.begin(), use_.q.group.end());
    std::int64_t step = tokens * row;
    for (std::size_t i = sequences.size(); i-- > 0;) sequences[i].stride = step, step *= sequences[i].size;
    for (std::size_t i = heads.size() - shared; i < heads.size(); ++i) heads[i].stride = kSummed;
    step = use_.head;
    for (std::size_t i = heads.size() - shared; i-- > 0;) heads[i].stride = step, step *= heads[i].size;
    const DimAxes all_tokens{{tokens, row}}, elements{{use_.head, 1}};
    const std::size_t own = use_.q.batch.size() - sequences_;
    const DimAxes group = part(heads, own, heads.size()), by_batch = joined({sequences, part(heads, 0, own)});
    const DimAxes flat = tokens_first ? joined({by_batch, group, all_tokens, elements})
                                      : joined({by_batch, elements, group, all_tokens});
    const auto forms = regrouped({flat}, function_.type(product.result()).dims);
    return forms && FormsReplaced{function_, search_, made_, replaced_}.run(product.result(),
                                                                            {.root = value, .dims = *forms}, behind);
  }

  const AttentionSearch& search_;
  AttentionUse use_;
  std::map<ValueId, ValueId>& replaced_;
  std::size_t sequences_ = 0;  // axes of the batch that are sequences
  std::size_t shared_ = 0;     // the last axes of heads that share keys, as the graph repeats them
  std::int64_t batch_ = 1, heads_ = 1, kv_heads_ = 1;
  bool biased_ = false, scales_ = false;
  ValueId context_ = 0, probabilities_ = 0;
};

}  // namespace

std::size_t attention(Module& module, Function& function) {
  std::vector<AttentionUse> all;
  const AttentionSearch search{module, function};
  for (const Node& node : function.nodes)
    if (auto found = search.at(node)) all.push_back(std::move(*found));
  std::size_t count = 0;
  std::vector<Node> made;
  std::map<ValueId, ValueId> replaced;
  for (const AttentionUse& use : all) {
    std::vector<Node> own;
    std::map<ValueId, ValueId> forms;
    if (!AttentionMaker{function, search, use, own, forms}.run()) continue;
    made.insert(made.end(), own.begin(), own.end());
    replaced.merge(forms);
    ++count;
  }
  if (count > 0) replace_by(function, made, replaced);
  return count;
}

}  // namespace trnsim::frontend::rewrite
