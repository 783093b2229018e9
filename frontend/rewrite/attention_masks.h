// Masks of scores as operands of attention.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "frontend/ops/operator.h"
#include "frontend/rewrite/attention.h"
#include "frontend/rewrite/samples.h"

namespace trnsim::frontend::rewrite {

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

  /// A mask as a number for each key of a sequence, or as one for each score of a head, or of any, in all sequences.
  bool add_mask(std::vector<ValueId>& in) {
    const Producers producers{function_};
    if (!take_mask(producers, *use_.mask)) return false;
    for (const std::optional<ValueId>& one : {of_keys_, bias_})
      if (one) in.push_back(use_.hidden ? chosen(*one, hidden_numbers()) : *one);
    return true;
  }

 private:
  /// A mask, or both summands of one that is a sum: one of each sequence's keys and one of heads, queries and keys.
  bool take_mask(const Producers& producers, ValueId value) {
    std::optional<Chosen> numbers;
    const Placed mask = behind(producers, value, numbers);
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
    std::vector<DimAxes> dims{(*parts)[of_keys ? 0 : 2], (*parts)[3]};
    if (!of_keys && varies(1)) dims.insert(dims.begin(), (*parts)[1]);
    std::int64_t rows = 1;
    for (std::size_t d = 0; d + 1 < dims.size(); ++d) rows *= size_of_axes(dims[d]);
    place = spread_out(mask.root, dims, {rows, use_.keys});
    if (place && numbers) place = chosen(*place, *numbers);
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

  /// Numbers that truths choose: one where they are true, the other elsewhere.
  using Chosen = std::pair<double, double>;

  /// Where a mask is in memory, or the truths that choose its numbers.
  Placed behind(const Producers& producers, ValueId value, std::optional<Chosen>& numbers) const {
    const Node* node = producers.of(value);
    const std::string_view op = node ? std::string_view{node->op->name} : "";
    if (op == "select" && function_.type(node->operands[0]).dims == function_.type(value).dims) {
      const auto yes = number_of(function_, producers, node->operands[1]),
                 no = number_of(function_, producers, node->operands[2]);
      if (yes && no) return numbers = {*yes, *no}, placed(function_, producers, node->operands[0]);
    }
    if (op == "copy" || op == "reshape" || op == "transpose" || op == "broadcast_in_dim")
      if (auto found = placed_by(function_, *node, behind(producers, node->operands[0], numbers))) return *found;
    numbers.reset();
    return placed(function_, producers, value);
  }

  /// Added to scores, what is hidden is so much less that nothing else counts.
  Chosen hidden_numbers() const { return use_.hides ? Chosen{*use_.hidden, 0} : Chosen{0, *use_.hidden}; }

  ValueId chosen(ValueId truths, const Chosen& numbers) {
    const Type type = tensor_type(function_.type(use_.p).element, function_.type(truths).dims);
    const auto number = [&](double value) {
      made_.push_back(plain_node(function_, "constant", {}, type));
      made_.back().attributes.set("value", literal_of(type, {value}));
      return made_.back().result();
    };
    const ValueId yes = number(numbers.first), no = number(numbers.second);
    return op("select", {truths, yes, no}, type);
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

}  // namespace trnsim::frontend::rewrite
