#include "frontend/rewrite/deep_products.h"

#include <algorithm>
#include <cmath>

#include "frontend/ops/dimensions.h"

namespace trnsim::frontend {
namespace {

constexpr double kWhole = 16777216;  // whole numbers up to here are exact in fp32
constexpr std::int64_t kMostParts = 256;

std::int64_t size_at(const Type& type, std::int64_t dim) { return type.dims[static_cast<std::size_t>(dim)]; }

/// The most that a number of the type can be, without its sign; 0: the type is no short integer.
double bound_of(const Type& type) {
  const Element element = type.element;
  if (!is_integer(element) || info(element).bits > 16) return 0;
  return std::exp2(std::max(info(element).bits, 8) - (is_signed_integer(element) ? 1 : 0));
}

/// The largest summed dimension, among those of the operands' lists, and how much of it a part takes.
struct Cut {
  std::size_t place = 0;
  std::int64_t size = 0, part = 0;
};

Cut cut_of(const DotDims& dims, const Type& x, const Type& w) {
  Cut out;
  double depth = 1;
  for (std::size_t i = 0; i < dims.lhs_contracting.size(); ++i) {
    const std::int64_t size = size_at(x, dims.lhs_contracting[i]);
    depth *= static_cast<double>(size);
    if (size > out.size) out.place = i, out.size = size;
  }
  if (depth == 0) return {};
  const double largest = depth / static_cast<double>(out.size) * bound_of(x) * bound_of(w);  // of one place in it
  out.part = std::min(out.size, static_cast<std::int64_t>(kWhole / largest));
  return out;
}

ValueId sliced(Composer& c, ValueId v, std::int64_t dim, std::int64_t begin, std::int64_t end) {
  Ints start(c.type(v).dims.size(), 0), limit = c.type(v).dims;
  start[static_cast<std::size_t>(dim)] = begin, limit[static_cast<std::size_t>(dim)] = end;
  Attributes attributes = with("start_indices", std::move(start));
  attributes.set("strides", Ints(limit.size(), 1));
  attributes.set("limit_indices", std::move(limit));
  return c.b().op("slice", {v}, std::move(attributes));
}

}  // namespace

bool is_deep_product(const Function& around, const Node& node) {
  if (node.op->name != "dot_general") return false;
  const Type &x = around.type(node.operands[0]), &w = around.type(node.operands[1]);
  if (bound_of(x) == 0 || bound_of(w) == 0) return false;
  const Cut cut = cut_of(dot_dims(node.attributes), x, w);
  return cut.part > 0 && cut.part < cut.size && (cut.size - 1) / cut.part < kMostParts;
}

void compute_deep_product(Composer& c) {
  const DotDims dims = dot_dims(c.node().attributes);
  const Cut cut = cut_of(dims, c.type(c.given(0)), c.type(c.given(1)));
  ValueId sum = 0;
  for (std::int64_t begin = 0; begin < cut.size; begin += cut.part) {
    const std::int64_t end = std::min(begin + cut.part, cut.size);
    const ValueId x = sliced(c, c.given(0), dims.lhs_contracting[cut.place], begin, end);
    const ValueId w = sliced(c, c.given(1), dims.rhs_contracting[cut.place], begin, end);
    const ValueId part = c.b().op("dot_general", {x, w}, c.node().attributes, {c.result(0)});
    sum = begin == 0 ? part : c.op("add", {sum, part});
  }
  c.b().returns({sum});
}

}  // namespace trnsim::frontend
