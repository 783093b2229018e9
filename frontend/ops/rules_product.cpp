#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "frontend/graph/indices.h"
#include "frontend/ops/dimensions.h"
#include "frontend/ops/rules.h"

namespace trnsim::frontend::rules {
namespace {

/// The stated element type, else the operands'.
Element result_element(const Contract& c) {
  return c.stated().size() == 1 && c.stated().front().is_tensor() ? c.stated().front().element : c.operand(0).element;
}

double product_of(const Dims& dims) {
  double out = 1;
  for (const std::int64_t size : dims) out *= static_cast<double>(size);
  return out;
}

}  // namespace

Types dot(const Contract& c) {
  const Type &a = c.tensor(0), b = c.tensor(1);
  c.need(a.rank() >= 1 && a.rank() <= 2 && b.rank() >= 1 && b.rank() <= 2, "is for vectors and matrices");
  c.need(a.dims.back() == b.dims.front(), fmt::format("{} and {} do not match", mlir_text(a), mlir_text(b)));
  Dims dims{a.dims.begin(), a.dims.end() - 1};
  dims.insert(dims.end(), b.dims.begin() + 1, b.dims.end());
  return {tensor_type(result_element(c), dims)};
}

Types dot_general(const Contract& c) {
  const Type &a = c.tensor(0), b = c.tensor(1);
  const DotDims d = dot_dims(c.attributes());
  const Ints left = joined(d.lhs_batch, d.lhs_contracting), right = joined(d.rhs_batch, d.rhs_contracting);
  c.need(d.lhs_batch.size() == d.rhs_batch.size(), "numbers of batching dimensions differ (C1)");
  c.need(left.size() == right.size(), "numbers of contracting dimensions differ (C2)");
  c.distinct(left, a.rank(), "dimensions of the left operand (C3)");
  c.distinct(right, b.rank(), "dimensions of the right operand (C4)");
  Dims dims;
  for (std::size_t i = 0; i < left.size(); ++i) {
    c.need(a.dims[at(left[i])] == b.dims[at(right[i])],
           fmt::format("dimension {} of {} does not fit dimension {} of {} (C9, C10)", left[i], mlir_text(a), right[i],
                       mlir_text(b)));
    if (i < d.lhs_batch.size()) dims.push_back(a.dims[at(left[i])]);
  }
  for (std::int64_t i = 0; i < a.rank(); ++i)
    if (!holds(left, i)) dims.push_back(a.dims[at(i)]);
  for (std::int64_t i = 0; i < b.rank(); ++i)
    if (!holds(right, i)) dims.push_back(b.dims[at(i)]);
  return {tensor_type(result_element(c), dims)};
}

Types einsum(const Contract& c) {
  const std::string config = c.attributes().text("einsum_config");
  const std::size_t arrow = config.find("->"), comma = config.find(',');
  c.need(arrow != std::string::npos && (comma < arrow) == (c.operands() == 2),
         "einsum_config is not like \"ij,jk->ik\"");
  std::map<char, std::int64_t> sizes;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < c.operands(); ++i) {
    const std::string names = config.substr(begin, (i + 1 == c.operands() ? arrow : comma) - begin);
    begin = comma + 1;
    c.need(static_cast<std::int64_t>(names.size()) == c.tensor(i).rank(), "einsum_config has other ranks");
    for (std::size_t d = 0; d < names.size(); ++d) {
      const auto [known, made] = sizes.emplace(names[d], c.operand(i).dims[d]);
      c.need(made || known->second == c.operand(i).dims[d], fmt::format("sizes of '{}' differ", names[d]));
    }
  }
  Dims dims;
  for (const char name : config.substr(arrow + 2)) {
    c.need(sizes.contains(name), fmt::format("no operand has '{}'", name));
    dims.push_back(sizes.at(name));
  }
  return {tensor_type(result_element(c), dims)};
}

namespace {

void check_convolution(const Contract& c, const ConvolutionDims& d) {
  const Type &a = c.tensor(0), k = c.tensor(1, a.rank());
  const auto spatial = static_cast<std::size_t>(a.rank() - 2);
  c.need(a.rank() >= 2, "operands must have at least two dimensions (C1)");
  c.need(d.input_spatial.size() == spatial && d.kernel_spatial.size() == spatial && d.output_spatial.size() == spatial,
         "numbers of spatial dimensions differ (C12, C17, C19)");
  c.distinct(joined(d.input_spatial, {d.input_batch, d.input_feature}), a.rank(), "dimensions of the input (C13)");
  c.distinct(joined(d.kernel_spatial, {d.kernel_input_feature, d.kernel_output_feature}), a.rank(),
             "dimensions of the kernel (C18)");
  c.distinct(joined(d.output_spatial, {d.output_batch, d.output_feature}), a.rank(), "dimensions of the output (C20)");
  c.need(d.feature_groups > 0 && d.batch_groups > 0 && (d.feature_groups == 1 || d.batch_groups == 1),
         "groups must be positive, and one of them 1 (C21 to C23)");
  const std::int64_t features = a.dims[at(d.input_feature)], outputs = k.dims[at(d.kernel_output_feature)];
  c.need(a.dims[at(d.input_batch)] % d.batch_groups == 0 && features % d.feature_groups == 0,
         "groups do not divide the input (C10, C11)");
  c.need(k.dims[at(d.kernel_input_feature)] == features / d.feature_groups,
         fmt::format("the kernel {} does not have the input's {} features in {} groups (C14)", mlir_text(k), features,
                     d.feature_groups));
  c.need(outputs % d.batch_groups == 0 && outputs % d.feature_groups == 0,
         "groups do not divide the kernel (C15, C16)");
}

}  // namespace

Types convolution(const Contract& c) {
  const ConvolutionDims d = convolution_dims(c.attributes());
  check_convolution(c, d);
  const Type &a = c.operand(0), k = c.operand(1);
  const WindowDims w = convolution_window(c.attributes(), k);
  const IntTable padding = c.attributes().table("padding");
  for (const Ints* list : {&w.stride, &w.base_dilation, &w.window_dilation})
    c.need(list->size() == d.input_spatial.size() && std::ranges::all_of(*list, [](auto v) { return v > 0; }),
           "strides and dilations must be positive, one for each spatial dimension (C2 to C8)");
  c.need(padding.values.empty() || (padding.columns == 2 && at(padding.rows()) == d.input_spatial.size()),
         "padding must have two numbers for each spatial dimension (C4)");
  Dims dims(a.dims.size());
  dims[at(d.output_batch)] = a.dims[at(d.input_batch)] / d.batch_groups;
  dims[at(d.output_feature)] = k.dims[at(d.kernel_output_feature)];
  for (std::size_t i = 0; i < d.input_spatial.size(); ++i)
    dims[at(d.output_spatial[i])] = window_count(a.dims[at(d.input_spatial[i])], w, i);
  return {tensor_type(result_element(c), dims)};
}

double dot_flops(const Contract& c) {
  return 2 * product_of(dot(c).front().dims) * static_cast<double>(c.operand(0).dims.back());
}

double dot_general_flops(const Contract& c) {
  double flops = 2 * product_of(dot_general(c).front().dims);
  for (const std::int64_t d : dot_dims(c.attributes()).lhs_contracting)
    flops *= static_cast<double>(c.operand(0).dims[at(d)]);
  return flops;
}

double convolution_flops(const Contract& c) {
  const ConvolutionDims d = convolution_dims(c.attributes());
  const Type& k = c.operand(1);
  return 2 * product_of(convolution(c).front().dims) * product_of(k.dims) /
         static_cast<double>(std::max<std::int64_t>(k.dims[at(d.kernel_output_feature)], 1));
}

Types fft(const Contract& c) {
  const std::string kind = c.attributes().text("fft_type");
  const Ints lengths = c.attributes().ints("fft_length");
  const Type& from = c.tensor(0);
  const auto n = static_cast<std::int64_t>(lengths.size());
  c.need(n >= 1 && n <= 3 && n <= from.rank(), "fft_length must have 1 to 3 entries (C1, C3)");
  c.need(kind == "FFT" || kind == "IFFT" || kind == "RFFT" || kind == "IRFFT", "fft_type is not known");
  c.need(is_complex(from.element) == (kind != "RFFT"), fmt::format("{} is not for {} (C2)", kind, mlir_text(from)));
  Type to = tensor_type(from.element, from.dims);
  if (kind == "RFFT") {
    c.need(from.element == Element::kF32 || from.element == Element::kF64, "RFFT is for f32 and f64 (C2)");
    to.element = complex_of(from.element);
    to.dims.back() = to.dims.back() == 0 ? 0 : to.dims.back() / 2 + 1;
  } else if (kind == "IRFFT") {
    to.element = real_part(from.element);
    to.dims.back() = lengths.back();
  }
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t real = (kind == "IRFFT" ? to : from).dims[at(from.rank() - n + i)];
    c.need(real == lengths[at(i)], fmt::format("fft_length {} is not dimension {} (C4)", lengths[at(i)], real));
  }
  return {to};
}

Types cholesky(const Contract& c) {
  const Type& a = c.tensor(0);
  c.need(is_float(a.element) || is_complex(a.element), "is for floating-point and complex types");
  c.need(a.rank() >= 2 && a.dims[at(a.rank() - 2)] == a.dims.back(), "needs square matrices (C2, C3)");
  return {a};
}

Types triangular_solve(const Contract& c) {
  const Type &a = c.tensor(0), b = c.tensor(1, a.rank());
  c.need(a.element == b.element && (is_float(a.element) || is_complex(a.element)),
         "operands must have one floating-point or complex type (C1)");
  c.need(a.rank() >= 2 && a.dims[at(a.rank() - 2)] == a.dims.back(), "needs square matrices (C3)");
  const bool left = c.attributes().flag("left_side");
  c.need(b.dims[at(b.rank() - (left ? 2 : 1))] == a.dims.back(),
         fmt::format("{} and {} do not match (C3)", mlir_text(a), mlir_text(b)));
  c.need(std::equal(a.dims.begin(), a.dims.end() - 2, b.dims.begin()), "batch dimensions differ (C3)");
  return {b};
}

}  // namespace trnsim::frontend::rules
