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

/// Adds nodes to others.
class NodeMaker {
 public:
  NodeMaker(Function& function, std::vector<Node>& made) : function_{function}, made_{made} {}

  ValueId op(std::string_view name, std::vector<ValueId> in, const Type& type) {
    made_.push_back(plain_node(function_, name, std::move(in), type));
    return made_.back().result();
  }

  ValueId spread(ValueId value, const Dims& dims, const Ints& places) {
    const ValueId out = op("broadcast_in_dim", {value}, tensor_type(function_.type(value).element, dims));
    made_.back().attributes.set("broadcast_dimensions", places);
    return out;
  }

 protected:
  Function& function_;
  std::vector<Node>& made_;
};

/// The masks of scores as operands of attention.
class MaskMaker : NodeMaker {
 public:
  MaskMaker(Function& function, std::vector<Node>& made, const AttentionUse& use, std::int64_t batch,
            std::int64_t heads)
      : NodeMaker{function, made}, use_{use}, batch_{batch}, heads_{heads} {}

  bool biased() const { return bias_.has_value(); }

  /// A mask as a number for each key of a sequence, or as one for each score of a head in all sequences.
  bool add_mask(std::vector<ValueId>& in) {
    const Producers producers{function_};
    if (!take_mask(producers, *use_.mask)) return false;
    for (const std::optional<ValueId>& one : {of_keys_, bias_})
      if (one) in.push_back(use_.hidden ? numbers_of(*one) : *one);
    return true;
  }

 private:
  /// A mask, or both summands of one that is a sum: one of each sequence's keys and one of heads, queries and keys.
  bool take_mask(const Producers& producers, ValueId value) {
    const Placed mask = placed(function_, producers, value);
    Ints all(mask.dims.size());
    for (std::size_t d = 0; d < all.size(); ++d) all[d] = static_cast<std::int64_t>(d);
    const auto parts = parts_of(mask.joined(all));
    if (!parts) return false;
    const auto varies = [&](std::size_t i) {
      return std::ranges::any_of((*parts)[i], [](const Axis& a) { return a.stride != 0; });
    };
    const bool of_keys = !varies(1) && !varies(2);
    if (varies(0) && !of_keys) {
      const Node* sum = mask.root == value ? producers.of(value) : nullptr;
      if (!sum || sum->op->name != "add" || use_.hidden) return false;
      return take_mask(producers, sum->operands[0]) && take_mask(producers, sum->operands[1]);
    }
    std::optional<ValueId>& place = of_keys ? of_keys_ : bias_;
    if (place || (!of_keys && use_.soft_cap != 0)) return false;
    place = of_keys
                ? spread_out(mask.root, {(*parts)[0], (*parts)[3]}, {batch_, use_.keys})
                : spread_out(mask.root, {(*parts)[1], (*parts)[2], (*parts)[3]}, {heads_ * use_.queries, use_.keys});
    return place.has_value();
  }

  /// Axes of scores as those of sequences, heads, queries and keys.
  std::optional<std::array<DimAxes, 4>> parts_of(const DimAxes& flat) const {
    const std::array<std::int64_t, 4> sizes{batch_, heads_, use_.queries, use_.keys};
    Ints cuts;
    std::int64_t count = 1, done = 1;
    for (const std::int64_t size : sizes) cuts.push_back(count *= size);
    const auto axes = cut_axes(flat, cuts);
    if (!axes || size_of_axes(*axes) != count) return std::nullopt;
    std::array<DimAxes, 4> out;
    for (const Axis& axis : *axes) {
      std::size_t at = 0;
      while (done >= cuts[at]) ++at;
      out[at].push_back(axis);
      done *= axis.size;
    }
    return out;
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

  const AttentionUse& use_;
  const std::int64_t batch_, heads_;
  std::optional<ValueId> of_keys_{}, bias_{};
};

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

class AttentionMaker : NodeMaker {
 public:
  AttentionMaker(Function& function, const AttentionSearch& search, const AttentionUse& use, std::vector<Node>& made,
                 std::map<ValueId, ValueId>& replaced)
      : NodeMaker{function, made}, search_{search}, use_{use}, replaced_{replaced} {}

  /// Whether it is made: not where an operand is no whole memory, or a mask differs as no operation has it.
  bool run() {
    if (!divide_heads()) return false;
    const auto q = by_heads(use_.q), k = by_heads(use_.k), v = by_heads(use_.v);
    if (!q || !k || !v) return false;
    std::vector<ValueId> in{scaled(scaled(*q, use_.scaling), use_.q.scaling), *k, *v};
    if (use_.mask) {
      MaskMaker masks{function_, made_, use_, batch_, heads_};
      if (!masks.add_mask(in)) return false;
      biased_ = masks.biased();
    }
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

  Dims form(std::int64_t tokens, std::int64_t heads) const { return {batch_, tokens, heads, use_.head}; }

  runtime::AttentionAttrs attrs(const Type& result) const {
    const Element softmax = function_.type(use_.p).element, own = function_.type(use_.q.root).element;
    runtime::AttentionAttrs out{.scale = scale(),
                                .batch = batch_,
                                .seq = use_.queries,
                                .heads = heads_,
                                .kv_heads = kv_heads_,
                                .causal = use_.causal,
                                .biased = biased_,
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
    if (!given || (g.scores && !biased_)) return false;
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
    const auto first = node.first_result;
    made_.push_back(std::move(node));
    if (g.scores) replaced_[*g.scores] = formed(function_, first + 3, function_.type(*g.scores), made_);
    const double rest = g.scaling.number / scale();
    const ValueId dq = times(scaled(out[0], g.scaling), rest * use_.k.scaling.number);
    // Keys met queries that were scaled already; behind the product they were not yet.
    const ValueId dk = times(scaled(scaled(out[1], g.scaling), use_.scaling, true), rest * use_.q.scaling.number);
    read_as(*g.dq.node, g.dq.side == 0, dq, 0);
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
  /// its heads have keys together: readers sum over them. Returns whether any reader was found.
  bool read_as(const Node& product, bool tokens_first, ValueId value, std::size_t shared) {
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
    return forms && replace_forms(product.result(), {.root = value, .dims = *forms});
  }

  bool replace_forms(ValueId first, const Placed& at) {
    std::vector<std::pair<ValueId, Placed>> all{{first, at}};
    bool any = false;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto [v, place] = all[i];
      const auto form = is_summed(place) ? std::nullopt : arranged(function_, place.root, place.dims, made_);
      if (form) replaced_[v] = *form, any = true;
      for (const Node* reader : search_.readers(v)) {
        if (!reader || reader->results != 1 || reader->op->name == "broadcast_in_dim") continue;
        auto next = search_.is_sum(*reader)        ? summed(*reader, place)
                    : reader->operands.size() == 1 ? placed_by(function_, *reader, place)
                                                   : std::nullopt;
        if (next) all.emplace_back(reader->result(), std::move(*next));
      }
    }
    return any;
  }

  const AttentionSearch& search_;
  AttentionUse use_;
  std::map<ValueId, ValueId>& replaced_;
  std::size_t sequences_ = 0;  // axes of the batch that are sequences
  std::size_t shared_ = 0;     // the last axes of heads that share keys, as the graph repeats them
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
