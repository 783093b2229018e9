#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "frontend/graph/indices.h"
#include "frontend/ops/dimensions.h"
#include "frontend/ops/rules.h"

namespace trnsim::frontend::rules {
namespace {

/// Operands 0 ... n - 1 as tensors of one shape; n is half of all operands, the others are their initial values.
std::size_t inputs_of(const Contract& c) {
  c.need(c.operands() > 0 && c.operands() % 2 == 0, "needs as many initial values as inputs (C3)");
  const std::size_t n = c.operands() / 2;
  for (std::size_t i = 0; i < n; ++i) {
    c.need(c.tensor(i).dims == c.tensor(0).dims, fmt::format("inputs 0 and {} have different shapes (C1)", i));
    c.need(c.tensor(n + i, 0).element == c.operand(i).element,
           fmt::format("initial value {} is {}, its input {} (C2)", i, mlir_text(c.operand(n + i)),
                       mlir_text(c.operand(i))));
  }
  return n;
}

Types first(const Contract& c, std::size_t n) {
  Types out;
  for (std::size_t i = 0; i < n; ++i) out.push_back(c.operand(i));
  return out;
}

Types shaped(const Types& scalars, const Dims& dims) {
  Types out;
  for (const Type& scalar : scalars) out.push_back(tensor_type(scalar.element, dims));
  return out;
}

void check_window(const Contract& c, const WindowDims& w, std::int64_t rank) {
  for (const Ints* list : {&w.size, &w.stride, &w.base_dilation, &w.window_dilation}) {
    c.need(static_cast<std::int64_t>(list->size()) == rank,
           "a list of the window does not have one entry for each dimension");
    c.need(std::ranges::all_of(*list, [](std::int64_t v) { return v > 0; }),
           "sizes, strides and dilations must be positive");
  }
  const IntTable padding = c.attributes().table("padding");
  c.need(padding.values.empty() || (padding.columns == 2 && padding.rows() == rank),
         fmt::format("padding is [{}, {}], but must be [{}, 2]", padding.rows(), padding.columns, rank));
}

}  // namespace

const Function& region_of(const Contract& c, std::size_t i, const Types& parameters, std::size_t results) {
  c.need(i < c.node().regions.size(), fmt::format("has {} regions, but needs {}", c.node().regions.size(), i + 1));
  const Region& region = c.node().regions[i];
  c.need(region.function < c.module().functions.size(), fmt::format("region {} has no function", i));
  const Function& f = c.region(i);
  c.need(f.parameters == parameters.size() + region.captures.size(),
         fmt::format("region {} has {} parameters, but must have {}", i, f.parameters - region.captures.size(),
                     parameters.size()));
  for (std::size_t p = 0; p < parameters.size(); ++p)
    c.need(f.values[p] == parameters[p], fmt::format("parameter {} of region {} is {}, but must be {}", p, i,
                                                     mlir_text(f.values[p]), mlir_text(parameters[p])));
  c.need(f.results.size() == results,
         fmt::format("region {} returns {} values, but must return {}", i, f.results.size(), results));
  return f;
}

Types reducer_results(const Contract& c, std::size_t region, const Types& operands) {
  c.need(region < c.node().regions.size(), "needs a region");
  const Function& f = c.region(region);
  c.need(f.results.size() == operands.size(),
         fmt::format("its region returns {} values for {} operands", f.results.size(), operands.size()));
  Types results = f.result_types();
  for (const Type& type : results) c.need(type.is_tensor() && type.rank() == 0, "its region must return scalars");
  Types parameters = results;  // inputs are converted to the types in which is reduced
  parameters.insert(parameters.end(), results.begin(), results.end());
  region_of(c, region, parameters, operands.size());
  return results;
}

Types reduce(const Contract& c) {
  const std::size_t n = inputs_of(c);
  const Ints along = c.attributes().ints("dimensions");
  c.distinct(along, c.operand(0).rank(), "dimensions");
  Dims dims;
  for (std::int64_t d = 0; d < c.operand(0).rank(); ++d)
    if (std::ranges::find(along, d) == along.end()) dims.push_back(c.operand(0).dims[at(d)]);
  return shaped(reducer_results(c, 0, first(c, n)), dims);
}

Types reduce_window(const Contract& c) {
  const std::size_t n = inputs_of(c);
  const Type& from = c.operand(0);
  const WindowDims w = window_dims(c.attributes(), from.rank());
  check_window(c, w, from.rank());
  Dims dims;
  for (std::size_t d = 0; d < from.dims.size(); ++d) dims.push_back(window_count(from.dims[d], w, d));
  return shaped(reducer_results(c, 0, first(c, n)), dims);
}

Types select_and_scatter(const Contract& c) {
  const Type &from = c.tensor(0), source = c.tensor(1);
  c.need(source.element == from.element && c.tensor(2, 0).element == from.element,
         "operand, source and initial value must have one type (C1, C3)");
  const WindowDims w = window_dims(c.attributes(), from.rank());
  check_window(c, w, from.rank());
  Dims dims;
  for (std::size_t d = 0; d < from.dims.size(); ++d) dims.push_back(window_count(from.dims[d], w, d));
  c.need(source.dims == dims,
         fmt::format("source is {}, but there are [{}] windows (C2)", mlir_text(source), fmt::join(dims, ", ")));
  const Type scalar = scalar_type(from.element);
  const Function& select = region_of(c, 0, {scalar, scalar}, 1);
  c.need(select.result_types()[0] == scalar_type(Element::kI1), "select must return i1 (C9)");
  return shaped(reducer_results(c, 1, {scalar}), from.dims);
}

Types sort(const Contract& c) {
  Types parameters;
  for (std::size_t i = 0; i < c.operands(); ++i) {
    c.need(c.tensor(i).dims == c.tensor(0).dims, "operands must have one shape (C3)");
    parameters.insert(parameters.end(), 2, scalar_type(c.operand(i).element));
  }
  const std::int64_t rank = c.tensor(0).rank(), along = c.attributes().integer("dimension", -1);
  c.need(along >= -rank && along < rank, fmt::format("dimension {} is not one of {} (C4)", along, rank));
  const Function& f = region_of(c, 0, parameters, 1);
  c.need(f.result_types()[0] == scalar_type(Element::kI1), "comparator must return i1 (C5)");
  Types out;
  for (std::size_t i = 0; i < c.operands(); ++i) out.push_back(tensor_type(c.operand(i).element, c.operand(i).dims));
  return out;
}

Types map(const Contract& c) {
  Types parameters;
  for (std::size_t i = 0; i < c.operands(); ++i) {
    c.need(c.tensor(i).dims == c.tensor(0).dims, "operands must have one shape (C1)");
    parameters.push_back(scalar_type(c.operand(i).element));
  }
  const Function& f = region_of(c, 0, parameters, 1);
  return shaped(f.result_types(), c.tensor(0).dims);
}

Types scan(const Contract& c) {
  const auto n = static_cast<std::size_t>(c.attributes().integer("inputs", 1));
  c.need(n > 0 && n <= c.operands(), "needs inputs and initial values");
  const std::int64_t along = c.attributes().integer("dimension");
  c.distinct({along}, c.tensor(0).rank(), "dimension");
  Dims slice = c.operand(0).dims;
  slice.erase(slice.begin() + along);
  Types parameters;
  for (std::size_t i = 0; i < n; ++i) {
    c.need(c.tensor(i).dims == c.operand(0).dims, "inputs must have one shape");
    parameters.push_back(tensor_type(c.operand(i).element, slice));
  }
  const std::size_t carries = c.operands() - n;
  for (std::size_t i = 0; i < carries; ++i) parameters.push_back(c.tensor(n + i));
  c.need(!c.node().regions.empty(), "needs a region");
  const Types results = region_of(c, 0, parameters, c.region(0).results.size()).result_types();
  c.need(results.size() >= carries, "its region must return outputs and carries");
  Types out;
  for (std::size_t i = 0; i + carries < results.size(); ++i) {
    c.need(results[i].dims == slice, "outputs of its region must have the shape of its inputs");
    out.push_back(tensor_type(results[i].element, c.operand(0).dims));
  }
  for (std::size_t i = 0; i < carries; ++i) {
    c.need(results[out.size()] == c.operand(n + i), "carries must keep their types");
    out.push_back(c.operand(n + i));
  }
  return out;
}

Types top_k(const Contract& c) {
  const Type& from = c.tensor(0);
  const std::int64_t k = c.attributes().integer("k");
  c.need(from.rank() > 0 && k >= 0 && k <= from.dims.back(),
         fmt::format("k = {} is more than the last dimension of {}", k, mlir_text(from)));
  Dims dims = from.dims;
  dims.back() = k;
  return {tensor_type(from.element, dims), tensor_type(Element::kI32, dims)};
}

namespace {

/// A float tensor with a feature dimension, and vectors of its size behind it.
Type features(const Contract& c, std::size_t vectors) {
  const Type& from = c.tensor(0);
  c.need(is_float(from.element), "operand must be of a floating-point type");
  const std::int64_t along = c.attributes().integer("feature_index");
  c.distinct({along}, from.rank(), "feature_index");
  const Type vector = tensor_type(from.element, {from.dims[at(along)]});
  for (std::size_t i = 1; i <= vectors; ++i)
    c.need(c.tensor(i) == vector,
           fmt::format("operand {} is {}, but must be {}", i, mlir_text(c.operand(i)), mlir_text(vector)));
  return vector;
}

}  // namespace

Types batch_norm_training(const Contract& c) {
  const Type vector = features(c, 2);
  return {c.operand(0), vector, vector};
}
Types batch_norm_inference(const Contract& c) {
  features(c, 4);
  return {c.operand(0)};
}
Types batch_norm_grad(const Contract& c) {
  const Type vector = features(c, 3);
  c.need(c.tensor(4) == c.operand(0), "grad_output must have the operand's type (C3)");
  return {c.operand(0), vector, vector};
}

}  // namespace trnsim::frontend::rules
