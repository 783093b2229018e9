#include "frontend/rewrite/shorthands.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/graph/producers.h"
#include "frontend/ops/dimensions.h"

namespace trnsim::frontend {
namespace {

constexpr std::string_view kBroadcast = "chlo.broadcast_";

/// A tensor whose dimensions have letters.
struct Lettered {
  ValueId value = 0;
  std::string letters;
};

std::vector<std::string> letters_of(const std::string& config) {
  const std::size_t arrow = config.find("->"), comma = config.find(',');
  std::vector<std::string> out{config.substr(0, std::min(comma, arrow))};
  if (comma < arrow) out.push_back(config.substr(comma + 1, arrow - comma - 1));
  out.push_back(config.substr(arrow + 2));
  return out;
}

bool has(std::string_view letters, char letter) { return letters.find(letter) != std::string_view::npos; }

/// Without the letters that neither the result nor another operand has: sums over them.
Lettered summed(Composer& c, Lettered t, std::string_view kept) {
  Ints dims;
  std::string left;
  for (std::size_t d = 0; d < t.letters.size(); ++d)
    has(kept, t.letters[d]) ? left.push_back(t.letters[d]) : dims.push_back(static_cast<std::int64_t>(d));
  return dims.empty() ? t : Lettered{c.reduce("add", 0, t.value, dims), left};
}

ValueId ordered(Composer& c, const Lettered& t, std::string_view letters) {
  if (t.letters == letters) return t.value;
  Ints order;
  for (const char letter : letters) order.push_back(static_cast<std::int64_t>(t.letters.find(letter)));
  return c.b().op("transpose", {t.value}, with("permutation", std::move(order)));
}

Lettered product(Composer& c, const Lettered& x, const Lettered& y, std::string_view result) {
  Ints batch_x, batch_y, depth_x, depth_y;
  Lettered out;
  std::string rest;
  for (std::size_t d = 0; d < x.letters.size(); ++d) {
    const char letter = x.letters[d];
    if (!has(y.letters, letter)) {
      rest.push_back(letter);
      continue;
    }
    const bool batch = has(result, letter);
    (batch ? batch_x : depth_x).push_back(static_cast<std::int64_t>(d));
    (batch ? batch_y : depth_y).push_back(static_cast<std::int64_t>(y.letters.find(letter)));
    if (batch) out.letters.push_back(letter);
  }
  for (const char letter : y.letters)
    if (!has(x.letters, letter)) rest.push_back(letter);
  out.letters += rest;
  Attributes dims;
  dims.set("lhs_batching_dimensions", std::move(batch_x));
  dims.set("rhs_batching_dimensions", std::move(batch_y));
  dims.set("lhs_contracting_dimensions", std::move(depth_x));
  dims.set("rhs_contracting_dimensions", std::move(depth_y));
  Dims sizes;
  for (const char letter : out.letters) {
    const Lettered& from = has(x.letters, letter) ? x : y;
    sizes.push_back(c.type(from.value).dims[from.letters.find(letter)]);
  }
  out.value = c.b().op("dot_general", {x.value, y.value}, std::move(dims), {tensor_type(c.result(0).element, sizes)});
  return out;
}

void einsum(Composer& c) {
  const std::vector<std::string> letters = letters_of(c.node().attributes.text("einsum_config"));
  const std::string& result = letters.back();
  Lettered out = summed(c, {c.given(0), letters[0]}, letters.size() == 3 ? result + letters[1] : result);
  if (letters.size() == 3) out = product(c, out, summed(c, {c.given(1), letters[1]}, result + letters[0]), result);
  c.b().returns({ordered(c, out, result)});
}

/// Indices name slices along one dimension, each of a batch its own.
void index_select(Composer& c) {
  const std::int64_t dim = c.node().attributes.integer("dim"), batch = c.node().attributes.integer("batch_dims");
  const Dims table = c.type(c.given(0)).dims;
  const auto indices = static_cast<std::int64_t>(c.type(c.given(1)).dims.size());
  const auto ranks = static_cast<std::int64_t>(table.size());
  Ints batches(static_cast<std::size_t>(batch)), kept, sizes = table;
  std::iota(batches.begin(), batches.end(), 0);
  for (std::int64_t d = batch; d < ranks; ++d)
    if (d != dim) kept.push_back(d < dim ? d : d + indices - batch - 1);
  for (std::int64_t d = 0; d < ranks; ++d)
    if (d < batch || d == dim) sizes[static_cast<std::size_t>(d)] = 1;
  Attributes dims;
  dims.set("offset_dims", std::move(kept));
  dims.set("collapsed_slice_dims", Ints{dim});
  dims.set("operand_batching_dims", batches);
  dims.set("start_indices_batching_dims", std::move(batches));
  dims.set("start_index_map", Ints{dim});
  dims.set("index_vector_dim", indices);
  dims.set("slice_sizes", std::move(sizes));
  c.b().returns({c.b().op("gather", {c.given(0), c.given(1)}, std::move(dims))});
}

/// Operands become as large as the result.
void broadcast(Composer& c) {
  const std::string own{c.node().op->name.substr(kBroadcast.size())}, chlo = "chlo." + own;
  const Type& to = c.result(0);
  std::vector<ValueId> operands;
  for (std::size_t i = 0; i < c.node().operands.size(); ++i) {
    const Type from = c.type(c.given(i));
    Ints places = broadcast_places(c.node().attributes, from.rank(), to.rank());
    operands.push_back(from.dims == to.dims
                           ? c.given(i)
                           : c.b().op("broadcast_in_dim", {c.given(i)}, with("broadcast_dimensions", std::move(places)),
                                      {tensor_type(from.element, to.dims)}));
  }
  c.b().returns({c.b().op(find_operator(own) ? own : chlo, std::move(operands), c.node().attributes)});
}

/// An operator with sizes or places as operands behind its `tensors`, and the one with attributes of these names.
struct Dynamic {
  std::string_view name, other;
  std::size_t tensors;
  std::array<std::string_view, 3> attributes = {};  // in the order of the operands; none: the result's type has them
};
constexpr std::array kDynamic = {
    Dynamic{"dynamic_broadcast_in_dim", "broadcast_in_dim", 1},
    Dynamic{"dynamic_reshape", "reshape", 1},
    Dynamic{"dynamic_iota", "iota", 0},
    Dynamic{"dynamic_gather", "gather", 2, {"slice_sizes"}},
    Dynamic{"dynamic_pad", "pad", 2, {"edge_padding_low", "edge_padding_high", "interior_padding"}},
    Dynamic{"real_dynamic_slice", "slice", 1, {"start_indices", "limit_indices", "strides"}}};

const Dynamic* dynamic_row(const Node& node) {
  const auto row = std::ranges::find(kDynamic, node.op->name, &Dynamic::name);
  return row == kDynamic.end() ? nullptr : row;
}

/// The numbers of a value that is a constant of integers.
std::optional<Ints> constant_ints(const Function& around, ValueId value) {
  const Node* made = Producers{around}.of(value);
  const LiteralPtr literal =
      made != nullptr && made->op->name == "constant" ? made->attributes.literal("value") : nullptr;
  if (!literal || is_float(literal->type.element)) return std::nullopt;
  Ints out;
  for (std::int64_t i = 0; i < literal->count(); ++i)
    out.push_back(wrap_to(literal->type.element, static_cast<std::int64_t>(literal->bits(i))));
  return out;
}

/// The attributes that a node's operands are; none: an operand is no constant.
std::optional<Attributes> settled(const Function& around, const Node& node, const Dynamic& row) {
  Attributes out = node.attributes;
  for (std::size_t i = 0; i < row.attributes.size() && !row.attributes.at(i).empty(); ++i) {
    std::optional<Ints> numbers = constant_ints(around, node.operands.at(row.tensors + i));
    if (!numbers) return std::nullopt;
    out.set(row.attributes.at(i), std::move(*numbers));
  }
  return out;
}

void as_static(const Function& around, Composer& c, const Dynamic& row) {
  std::vector<ValueId> operands;
  for (std::size_t i = 0; i < row.tensors; ++i) operands.push_back(c.given(i));
  c.b().returns({c.b().op(row.other, std::move(operands), *settled(around, c.node(), row), {c.result(0)})});
}

bool is_einsum(const Node& node) { return node.op->name == "einsum" || node.op->name == "unary_einsum"; }

}  // namespace

bool is_shorthand(const Function& around, const Node& node) {
  if (const Dynamic* row = dynamic_row(node)) return settled(around, node, *row).has_value();
  if (node.op->name == "torch_index_select" || node.op->name.starts_with(kBroadcast)) return true;
  if (!is_einsum(node)) return false;
  const std::vector<std::string> letters = letters_of(node.attributes.text("einsum_config"));
  return std::ranges::all_of(letters, [](const std::string& of) {
    return std::set<char>{of.begin(), of.end()}.size() == of.size();
  });
}

void compute_shorthand(const Function& around, Composer& c) {
  if (const Dynamic* row = dynamic_row(c.node())) return as_static(around, c, *row);
  if (is_einsum(c.node())) return einsum(c);
  c.node().op->name == "torch_index_select" ? index_select(c) : broadcast(c);
}

}  // namespace trnsim::frontend
