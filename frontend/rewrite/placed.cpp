#include "frontend/rewrite/placed.h"

#include <algorithm>
#include <numeric>

#include "frontend/ops/operator.h"
#include "frontend/rewrite/samples.h"

namespace trnsim::frontend::rewrite {

std::optional<std::vector<DimAxes>> regrouped(const std::vector<DimAxes>& from, const Dims& to) {
  DimAxes left;
  for (const DimAxes& dim : from)
    for (const Axis& axis : dim) {
      if (axis.size == 0) return std::nullopt;  // without elements there is no order
      if (axis.size != 1) left.push_back(axis);
    }
  std::vector<DimAxes> out;
  std::size_t next = 0;
  for (const std::int64_t size : to) {
    DimAxes dim;
    std::int64_t rest = size;
    while (rest > 1 && next < left.size()) {
      Axis& axis = left[next];
      if (axis.size <= rest) {
        if (rest % axis.size != 0) return std::nullopt;
        rest /= axis.size;
        dim.push_back(axis);
        ++next;
      } else {
        if (axis.size % rest != 0) return std::nullopt;
        dim.push_back({rest, axis.stride * (axis.size / rest)});
        axis.size /= rest;
        rest = 1;
      }
    }
    if (rest != 1) return std::nullopt;
    out.push_back(std::move(dim));
  }
  return out;
}

DimAxes Placed::joined(const Ints& which) const {
  DimAxes out;
  for (const std::int64_t d : which) {
    const DimAxes& dim = dims[static_cast<std::size_t>(d)];
    out.insert(out.end(), dim.begin(), dim.end());
  }
  return out;
}

std::optional<Placed> placed_by(const Function& function, const Node& node, const Placed& of) {
  const std::string_view op = node.op->name;
  const Dims& to = function.type(node.result()).dims;
  if (op == "copy") return of;
  Placed out{.root = of.root, .scaling = of.scaling};
  if (op == "reshape") {
    auto dims = regrouped(of.dims, to);
    if (!dims) return std::nullopt;
    out.dims = std::move(*dims);
    return out;
  }
  if (op == "transpose") {
    for (const std::int64_t d : node.attributes.ints("permutation")) out.dims.push_back(of.joined({d}));
    return out;
  }
  if (op != "broadcast_in_dim") return std::nullopt;
  for (const std::int64_t size : to) out.dims.push_back({Axis{size, 0}});
  const Ints places = node.attributes.ints("broadcast_dimensions");
  const Dims& from = function.type(node.operands[0]).dims;
  for (std::size_t d = 0; d < places.size(); ++d)
    if (from[d] != 1) out.dims[static_cast<std::size_t>(places[d])] = of.dims[d];
  return out;
}

std::optional<Factor> factor_of(const Function& function, const Producers& producers, ValueId value) {
  if (const auto number = number_of(function, producers, value)) return Factor{.number = *number};
  const Node* node = producers.of(value);
  while (node && (node->op->name == "convert" || node->op->name == "copy" || node->op->name == "reshape"))
    node = producers.of(node->operands[0]);
  if (!node || node->op->name != "broadcast_in_dim" || !function.type(node->operands[0]).dims.empty()) return {};
  return Factor{.value = node->operands[0]};
}

bool Scaling::take(const Factor& factor, bool through) {
  if (factor.value && value) return false;
  if (factor.value)
    value = factor.value, divides = through;
  else
    number = through ? number / factor.number : number * factor.number;
  return true;
}

namespace {

/// A product of a value with a number, looked through.
std::optional<Placed> placed_behind(const Function& function, const Producers& producers, const Node& node) {
  const bool divides = node.op->name == "divide";
  if (!divides && node.op->name != "multiply") return {};
  for (const std::size_t i : {1U, 0U}) {
    const auto factor = factor_of(function, producers, node.operands[i]);
    if (!factor || (divides && i == 0)) continue;
    Placed out = placed(function, producers, node.operands[1 - i], true);
    return out.scaling.take(*factor, divides) ? std::optional{out} : std::nullopt;
  }
  return {};
}

}  // namespace

Placed placed(const Function& function, const Producers& producers, ValueId value, bool scaled) {
  const Node* node = producers.of(value);
  if (node && node->operands.size() == 1 && node->results == 1)
    if (const std::string_view op = node->op->name;
        op == "copy" || op == "reshape" || op == "transpose" || op == "broadcast_in_dim")
      if (auto found = placed_by(function, *node, placed(function, producers, node->operands[0], scaled)))
        return *found;
  if (node && scaled)
    if (auto found = placed_behind(function, producers, *node)) return *found;
  Placed out{.root = value};
  const Dims& dims = function.type(value).dims;
  const Dims strides = dense_strides(dims);
  for (std::size_t d = 0; d < dims.size(); ++d) out.dims.push_back({Axis{dims[d], strides[d]}});
  return out;
}

Ints cuts_of(const DimAxes& axes) {
  Ints out;
  std::int64_t count = 1;
  for (const Axis& axis : axes) out.push_back(count *= axis.size);
  return out;
}

std::int64_t size_of_axes(const DimAxes& axes) {
  return std::accumulate(axes.begin(), axes.end(), std::int64_t{1},
                         [](std::int64_t count, const Axis& axis) { return count * axis.size; });
}

std::optional<DimAxes> cut_axes(const DimAxes& axes, const Ints& cuts) {
  Ints all = cuts_of(axes);
  all.insert(all.end(), cuts.begin(), cuts.end());
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  Dims sizes;
  std::int64_t before = 1;
  for (const std::int64_t cut : all) {
    if (cut % before != 0) return std::nullopt;
    if (cut != before) sizes.push_back(cut / before);
    before = cut;
  }
  const auto parts = regrouped({axes}, sizes);
  if (!parts) return std::nullopt;
  DimAxes out;
  for (const DimAxes& part : *parts) {
    if (part.size() != 1) return std::nullopt;
    out.push_back(part.front());
  }
  return out;
}

std::optional<ValueId> arranged(Function& function, ValueId root, const std::vector<DimAxes>& dims,
                                std::vector<Node>& made) {
  DimAxes axes;
  Dims result;
  for (const DimAxes& dim : dims) {
    result.push_back(size_of_axes(dim));
    for (const Axis& axis : dim)
      if (axis.size != 1) axes.push_back(axis);
  }
  std::vector<std::size_t> by_memory(axes.size());
  std::iota(by_memory.begin(), by_memory.end(), 0);
  std::ranges::stable_sort(by_memory, std::greater{}, [&](std::size_t i) { return axes[i].stride; });
  std::int64_t step = 1;
  for (std::size_t i = by_memory.size(); i-- > 0;) {
    if (axes[by_memory[i]].stride != step) return std::nullopt;
    step *= axes[by_memory[i]].size;
  }
  if (step != element_count(function.type(root).dims)) return std::nullopt;
  const Element element = function.type(root).element;
  ValueId out = root;
  const auto reshape = [&](const Dims& to) {
    if (function.type(out).dims == to) return;
    made.push_back(plain_node(function, "reshape", {out}, tensor_type(element, to)));
    out = made.back().result();
  };
  if (!std::ranges::is_sorted(by_memory)) {
    Dims memory, turned;
    Ints permutation(axes.size());
    for (std::size_t place = 0; place < by_memory.size(); ++place) {
      memory.push_back(axes[by_memory[place]].size), turned.push_back(axes[place].size);
      permutation[by_memory[place]] = static_cast<std::int64_t>(place);
    }
    reshape(memory);
    made.push_back(plain_node(function, "transpose", {out}, tensor_type(element, turned)));
    made.back().attributes.set("permutation", permutation);
    out = made.back().result();
  }
  reshape(result);
  return out;
}

}  // namespace trnsim::frontend::rewrite
