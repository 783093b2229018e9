// Attention as the families' operations, and their results in the forms that a graph reads.
#include <algorithm>
#include <array>
#include <map>

#include "frontend/hlo/attrs_text.h"
#include "frontend/lower/lower.h"
#include "frontend/ops/operator.h"
#include "frontend/rewrite/attention.h"
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

class AttentionMaker {
 public:
  AttentionMaker(Function& function, const AttentionSearch& search, const AttentionUse& use, std::vector<Node>& made,
                 std::map<ValueId, ValueId>& replaced)
      : function_{function}, search_{search}, use_{use}, made_{made}, replaced_{replaced} {}

  /// Whether it is made: not where an operand is no whole memory, or a mask differs as no operation has it.
  bool run() {
    if (!divide_heads()) return false;
    const auto q = by_heads(use_.q), k = by_heads(use_.k), v = by_heads(use_.v);
    if (!q || !k || !v) return false;
    std::vector<ValueId> in{scaled(*q, use_.factor, use_.divides), *k, *v};
    if (use_.mask && !add_mask(in)) return false;
    forward(in);
    return !use_.gradient || backward(in);
  }

 private:
  /// The axes of a batch that come before the tokens in the queries' memory are sequences, those behind are heads: so
  /// nothing is turned.
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
    std::int64_t token = 0;
    for (const Axis& axis : use_.q.tokens) token = std::max(token, axis.stride);
    std::size_t first = use_.q.batch.size();
    while (first > 0 && use_.q.batch[first - 1].stride < token) --first;
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
    if (use_.gradient || !use_.q.group.empty()) return false;
    while (use_.k.batch.size() > sequences_ && use_.k.batch.back().stride == 0 && use_.v.batch.back().stride == 0) {
      kv_heads_ /= use_.k.batch.back().size;
      use_.k.batch.pop_back(), use_.v.batch.pop_back();
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

  ValueId op(std::string_view name, std::vector<ValueId> in, const Type& type) {
    made_.push_back(plain_node(function_, name, std::move(in), type));
    return made_.back().result();
  }

  ValueId spread(ValueId value, const Dims& dims, const Ints& places) {
    const ValueId out = op("broadcast_in_dim", {value}, tensor_type(function_.type(value).element, dims));
    made_.back().attributes.set("broadcast_dimensions", places);
    return out;
  }

  /// `value` times a number that data says, or through it.
  ValueId scaled(ValueId value, const std::optional<ValueId>& factor, bool divides) {
    if (!factor) return value;
    const Type type = function_.type(value);
    const ValueId number = formed(function_, *factor, scalar_type(type.element), made_);
    return op(divides ? "divide" : "multiply", {value, spread(number, type.dims, {})}, type);
  }

  /// A mask as a number for each key of a sequence, or as one for each score of a head in all sequences.
  bool add_mask(std::vector<ValueId>& in) {
    const Producers producers{function_};
    const Placed mask = placed(function_, producers, *use_.mask);
    Ints all(mask.dims.size());
    for (std::size_t d = 0; d < all.size(); ++d) all[d] = static_cast<std::int64_t>(d);
    const DimAxes flat = mask.joined(all);
    const std::array<std::int64_t, 4> sizes{batch_, heads_, use_.queries, use_.keys};
    Ints cuts;
    std::int64_t count = 1;
    for (const std::int64_t size : sizes) cuts.push_back(count *= size);
    const auto axes = cut_axes(flat, cuts);
    if (!axes || size_of_axes(*axes) != count) return false;
    std::array<DimAxes, 4> parts;
    std::int64_t done = 1;
    for (const Axis& axis : *axes) {
      std::size_t at = 0;
      while (done >= cuts[at]) ++at;
      parts[at].push_back(axis);
      done *= axis.size;
    }
    const auto varies = [](const DimAxes& of) {
      return std::ranges::any_of(of, [](const Axis& a) { return a.stride != 0; });
    };
    const bool of_keys = !varies(parts[1]) && !varies(parts[2]);
    if (varies(parts[0]) && !of_keys) return false;
    biased_ = !of_keys;
    const auto value = biased_
                           ? spread_out(mask.root, {parts[1], parts[2], parts[3]}, {heads_ * use_.queries, use_.keys})
                           : spread_out(mask.root, {parts[0], parts[3]}, {batch_, use_.keys});
    if (value) in.push_back(use_.hidden ? numbers_of(*value) : *value);
    return value.has_value();
  }

  /// Truths as numbers that are added to scores: so much less that nothing else counts.
  ValueId numbers_of(ValueId truths) {
    const Type type = tensor_type(function_.type(use_.p).element, function_.type(truths).dims);
    const auto number = [&](double value) {
      made_.push_back(plain_node(function_, "constant", {}, type));
      made_.back().attributes.set("value", literal_of(type, {value}));
      return made_.back().result();
    };
    const ValueId seen = number(0), hidden = number(*use_.hidden);
    return op("select", {truths, use_.hides ? hidden : seen, use_.hides ? seen : hidden}, type);
  }

  /// All of `root` in these axes, of which those without a stride repeat it.
  std::optional<ValueId> spread_out(ValueId root, const std::vector<DimAxes>& dims, const Dims& to) {
    std::vector<DimAxes> own;
    Dims whole;
    Ints places;
    for (const DimAxes& dim : dims)
      for (const Axis& axis : dim) {
        if (axis.size > 1 && axis.stride != 0)
          own.push_back({axis}), places.push_back(static_cast<std::int64_t>(whole.size()));
        whole.push_back(axis.size);
      }
    const auto value = arranged(function_, root, own, made_);
    if (!value) return std::nullopt;
    return formed(function_, spread(*value, whole, places), tensor_type(function_.type(root).element, to), made_);
  }

  Dims form(std::int64_t tokens, std::int64_t heads) const { return {batch_, tokens, heads, use_.head}; }

  runtime::AttentionAttrs attrs(const Type& result) const {
    const Element softmax = function_.type(use_.p).element, own = function_.type(use_.q.root).element;
    runtime::AttentionAttrs out{.scale = use_.scale,
                                .batch = batch_,
                                .seq = use_.queries,
                                .heads = heads_,
                                .kv_heads = kv_heads_,
                                .causal = use_.causal,
                                .biased = biased_,
                                .dtype = device_type(result.element, "attention")};
    if (softmax != own) out.softmax = device_type(softmax, "attention");
    return out;
  }

  void forward(const std::vector<ValueId>& in) {
    const Type result = tensor_type(function_.type(use_.context->result()).element, form(use_.queries, heads_));
    const Type kept = tensor_type(function_.type(use_.p).element, {batch_ * heads_ * use_.queries, use_.keys});
    Node node = custom_call(function_, "rewrite.attention", in, {result, kept});
    node.attributes.set("backend_config", hlo::words_of(runtime::Attrs{attrs(result)}));
    node.line = use_.context->line, node.metadata = use_.context->metadata;
    context_ = node.result(0), probabilities_ = node.result(1);
    made_.push_back(std::move(node));
    read_as(*use_.context, use_.p_side == 0, context_, use_.queries);
  }

  bool backward(const std::vector<ValueId>& in) {
    const AttentionGradientUse& g = *use_.gradient;
    HeadOperand dy = g.dy;
    const auto cut = cut_axes(dy.batch, cuts_of(use_.q.batch));
    if (!cut || cut->size() != use_.q.batch.size()) return false;
    dy.batch = *cut;
    const auto given = by_heads(dy);
    if (!given) return false;
    const std::vector<ValueId> operands{in[0], in[1], in[2], probabilities_, *given, context_};
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
    made_.push_back(std::move(node));
    const double rest = g.scale / use_.scale;
    const ValueId dq = times(scaled(out[0], g.factor, g.divides), rest);
    // Keys met queries that were scaled already.
    const ValueId dk = times(scaled(scaled(out[1], g.factor, g.divides), use_.factor, !use_.divides), rest);
    read_as(*g.dq.node, g.dq.side == 0, dq, use_.queries);
    read_as(*g.dk.node, g.dk.side == 0, dk, use_.keys);
    read_as(*g.dv.node, g.dv.side == 0, out[2], use_.keys);
    return true;
  }

  ValueId times(ValueId value, double number) {
    constexpr double kSame = 1e-6;
    if (std::abs(number - 1) < kSame) return value;
    const Type type = function_.type(value);
    made_.push_back(plain_node(function_, "constant", {}, type));
    made_.back().attributes.set("value", literal_of(type, {number}));
    return op("multiply", {value, made_.back().result()}, type);
  }

  /// Readers of a product read `value` [sequences, tokens, heads, elements], in their forms.
  void read_as(const Node& product, bool tokens_first, ValueId value, std::int64_t tokens) {
    const std::int64_t row = function_.type(value).dims[2] * use_.head;
    DimAxes sequences = part(use_.q.batch, 0, sequences_), heads = part(use_.q.batch, sequences_, use_.q.batch.size());
    heads.insert(heads.end(), use_.q.group.begin(), use_.q.group.end());
    std::int64_t step = tokens * row;
    for (std::size_t i = sequences.size(); i-- > 0;) sequences[i].stride = step, step *= sequences[i].size;
    step = use_.head;
    for (std::size_t i = heads.size(); i-- > 0;) heads[i].stride = step, step *= heads[i].size;
    const DimAxes all_tokens{{tokens, row}}, elements{{use_.head, 1}};
    const std::size_t own = use_.q.batch.size() - sequences_;
    const DimAxes group = part(heads, own, heads.size()), by_batch = joined({sequences, part(heads, 0, own)});
    const DimAxes flat = tokens_first ? joined({by_batch, group, all_tokens, elements})
                                      : joined({by_batch, elements, group, all_tokens});
    const auto dims = regrouped({flat}, function_.type(product.result()).dims);
    if (dims) replace_forms(product.result(), {.root = value, .dims = *dims});
  }

  void replace_forms(ValueId first, const Placed& at) {
    std::vector<std::pair<ValueId, Placed>> all{{first, at}};
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto [v, place] = all[i];
      const auto form = arranged(function_, place.root, place.dims, made_);
      if (form) replaced_[v] = *form;
      for (const Node* reader : search_.readers(v))
        if (reader && reader->operands.size() == 1 && reader->results == 1 && reader->op->name != "broadcast_in_dim")
          if (auto next = placed_by(function_, *reader, place)) all.emplace_back(reader->result(), std::move(*next));
    }
  }

  Function& function_;
  const AttentionSearch& search_;
  AttentionUse use_;
  std::vector<Node>& made_;
  std::map<ValueId, ValueId>& replaced_;
  std::size_t sequences_ = 0;  // axes of the batch that are sequences
  std::int64_t batch_ = 1, heads_ = 1, kv_heads_ = 1;
  bool biased_ = false;
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
