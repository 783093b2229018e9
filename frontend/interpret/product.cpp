#include "frontend/interpret/product.h"

#include <algorithm>
#include <map>

#include "frontend/graph/indices.h"
#include "frontend/ops/dimensions.h"

namespace trnsim::frontend::evaluate {

template <class Numbers>
Numbers numbers_as(const Value& value) {
  return std::visit(
      [](const auto& from) -> Numbers {
        using From = std::decay_t<decltype(from)>;
        if constexpr (std::is_same_v<From, Numbers>) return from;
        if constexpr (std::is_same_v<From, Complexes> && !std::is_same_v<Numbers, Complexes>) {
          Numbers out;
          for (const Complex& x : from) out.push_back(static_cast<typename Numbers::value_type>(x.real()));
          return out;
        }
        if constexpr (!std::is_same_v<From, Complexes>) {
          Numbers out;
          for (const auto x : from) {
            if constexpr (std::is_same_v<Numbers, Complexes>)
              out.emplace_back(static_cast<double>(x), 0.0);
            else
              out.push_back(static_cast<typename Numbers::value_type>(x));
          }
          return out;
        }
      },
      *value.data);
}
template Reals numbers_as<Reals>(const Value&);
template Integers numbers_as<Integers>(const Value&);
template Complexes numbers_as<Complexes>(const Value&);

namespace {

std::int64_t multiply_add(std::int64_t sum, std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(sum) +
                                   static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}
double multiply_add(double sum, double a, double b) { return sum + a * b; }
float multiply_add(float sum, float a, float b) { return sum + a * b; }
Complex multiply_add(Complex sum, Complex a, Complex b) { return sum + a * b; }

using Floats = std::vector<float>;

/// Calls f with an empty list of the numbers in which the result is computed.
template <class F>
void in_numbers_of(const Type& result, F f) {
  if (is_complex(result.element)) return f(Complexes{});
  if (!is_float(result.element)) return f(Integers{});
  return result.element == Element::kF64 ? f(Reals{}) : f(Floats{});
}

/// The sums as a value.
template <class Numbers>
Value sums_of(const Type& result, Numbers numbers) {
  if constexpr (std::is_same_v<Numbers, Floats>)
    return value_of(result, Reals(numbers.begin(), numbers.end()));
  else
    return value_of(result, std::move(numbers));
}

Dims sizes_of(const Dims& dims, const Ints& chosen) {
  Dims out;
  for (const std::int64_t d : chosen) out.push_back(dims[at(d)]);
  return out;
}

/// The numbers with their dimensions in another order.
template <class Numbers>
Numbers ordered(const Value& value, const Ints& order) {
  const Numbers from = numbers_as<Numbers>(value);
  const Dims sizes = sizes_of(value.type.dims, order);
  const Ints strides = strides_of(value.type.dims);
  Numbers out;
  out.reserve(from.size());
  Ints position(order.size());
  if (!from.empty()) do {
      std::int64_t index = 0;
      for (std::size_t d = 0; d < order.size(); ++d) index += position[d] * strides[at(order[d])];
      out.push_back(from[at(index)]);
    } while (next_position(position, sizes));
  return out;
}

/// Batching, free and contracting dimensions of an operand, in this order.
struct Sides {
  Ints order;
  std::int64_t batch = 1, free = 1, depth = 1;
};
Sides sides_of(const Dims& dims, const Ints& batch, const Ints& contracting) {
  Sides out{.order = batch};
  for (const std::int64_t d : batch) out.batch *= dims[at(d)];
  for (std::int64_t d = 0; d < static_cast<std::int64_t>(dims.size()); ++d) {
    if (holds(batch, d) || holds(contracting, d)) continue;
    out.order.push_back(d);
    out.free *= dims[at(d)];
  }
  out.order.insert(out.order.end(), contracting.begin(), contracting.end());
  for (const std::int64_t d : contracting) out.depth *= dims[at(d)];
  return out;
}

/// `chosen`: zeros on the right take nothing of the left, infinities neither.
template <class Numbers>
Numbers products(const Numbers& a, const Numbers& b, const Sides& left, const Sides& right, bool chosen) {
  Numbers out(at(left.batch * left.free * right.free));
  std::size_t to = 0;
  for (std::int64_t batch = 0; batch < left.batch; ++batch)
    for (std::int64_t i = 0; i < left.free; ++i) {
      const auto* row = a.data() + (batch * left.free + i) * left.depth;
      for (std::int64_t j = 0; j < right.free; ++j) {
        const auto* column = b.data() + (batch * right.free + j) * left.depth;
        typename Numbers::value_type sum{};
        for (std::int64_t k = 0; k < left.depth; ++k)
          if (!chosen || column[k] != typename Numbers::value_type{}) sum = multiply_add(sum, row[k], column[k]);
        out[to++] = sum;
      }
    }
  return out;
}

/// An attribute of products whose right side says how much is taken of which row, as an enlarged picture's does.
constexpr std::string_view kChosen = "trnsim.chosen";

void contract(Evaluation& e, const DotDims& d) {
  const Sides left = sides_of(e.operand(0).type.dims, d.lhs_batch, d.lhs_contracting);
  const Sides right = sides_of(e.operand(1).type.dims, d.rhs_batch, d.rhs_contracting);
  const Type result = e.result_type();
  require_room(result);
  e.require_work(static_cast<double>(element_count(result.dims)) * static_cast<double>(left.depth));
  in_numbers_of(result, [&](auto none) {
    using Numbers = decltype(none);
    e.put(sums_of(
        result, products(ordered<Numbers>(e.operand(0), left.order), ordered<Numbers>(e.operand(1), right.order), left,
                         right, e.attributes().has(kChosen))));
  });
}

/// One convolution, as its loops need it.
struct Convolution {
  ConvolutionDims dims;
  WindowDims window;
  Dims in, kernel, out;
  Ints in_strides, kernel_strides;
};

/// The offset of the input under a kernel's element, without features; -1: in the padding or between dilated elements.
std::int64_t input_place(const Convolution& c, const Ints& out, const Ints& inside) {
  std::int64_t place = 0;
  for (std::size_t s = 0; s < c.dims.input_spatial.size(); ++s) {
    const std::int64_t step = c.window.reversed[s] ? c.window.size[s] - 1 - inside[s] : inside[s];
    const std::size_t d = at(c.dims.input_spatial[s]);
    const std::int64_t dilated =
        out[at(c.dims.output_spatial[s])] * c.window.stride[s] + step * c.window.window_dilation[s] - c.window.low[s];
    if (dilated < 0 || dilated % c.window.base_dilation[s] != 0) return -1;
    if (dilated / c.window.base_dilation[s] >= c.in[d]) return -1;
    place += dilated / c.window.base_dilation[s] * c.in_strides[d];
  }
  return place;
}

template <class Numbers>
typename Numbers::value_type convolved(const Convolution& c, const Numbers& input, const Numbers& kernel,
                                       const Ints& out) {
  const ConvolutionDims& d = c.dims;
  const std::int64_t feature = out[at(d.output_feature)], features = c.out[at(d.output_feature)];
  const std::int64_t group = feature / (features / d.feature_groups);
  const std::int64_t batches = c.in[at(d.input_batch)] / d.batch_groups;
  const std::int64_t batch = out[at(d.output_batch)] + feature / (features / d.batch_groups) * batches;
  const std::int64_t depth = c.kernel[at(d.kernel_input_feature)];
  typename Numbers::value_type sum{};
  Ints inside(d.kernel_spatial.size());
  do {
    const std::int64_t place = input_place(c, out, inside);
    if (place < 0) continue;
    std::int64_t from =
        place + batch * c.in_strides[at(d.input_batch)] + group * depth * c.in_strides[at(d.input_feature)];
    std::int64_t by = feature * c.kernel_strides[at(d.kernel_output_feature)];
    for (std::size_t s = 0; s < inside.size(); ++s) by += inside[s] * c.kernel_strides[at(d.kernel_spatial[s])];
    for (std::int64_t k = 0; k < depth; ++k) {
      sum = multiply_add(sum, input[at(from)], kernel[at(by)]);
      from += c.in_strides[at(d.input_feature)], by += c.kernel_strides[at(d.kernel_input_feature)];
    }
  } while (next_position(inside, c.window.size));
  return sum;
}

void convolve(Evaluation& e, const WindowDims& window) {
  const Type result = e.result_type();
  require_room(result);
  e.require_work(
      static_cast<double>(element_count(result.dims)) * static_cast<double>(e.operand(1).count()) /
      static_cast<double>(std::max<std::int64_t>(result.dims[at(convolution_dims(e.attributes()).output_feature)], 1)));
  const Convolution c{.dims = convolution_dims(e.attributes()),
                      .window = window,
                      .in = e.operand(0).type.dims,
                      .kernel = e.operand(1).type.dims,
                      .out = result.dims,
                      .in_strides = strides_of(e.operand(0).type.dims),
                      .kernel_strides = strides_of(e.operand(1).type.dims)};
  const bool empty_window = std::ranges::find(window.size, 0) != window.size.end();
  in_numbers_of(result, [&](auto none) {
    using Numbers = decltype(none);
    const Numbers input = numbers_as<Numbers>(e.operand(0)), kernel = numbers_as<Numbers>(e.operand(1));
    Numbers out;
    Ints position(c.out.size());
    if (element_count(c.out) > 0) do
        out.push_back(empty_window ? typename Numbers::value_type{} : convolved(c, input, kernel, position));
      while (next_position(position, c.out));
    e.put(sums_of(result, std::move(out)));
  });
}

/// "ij,jk->ik": letters of each operand and of the result.
struct Letters {
  std::vector<std::string> operands;
  std::string result;
};
Letters letters_of(const std::string& config) {
  Letters out;
  const std::size_t arrow = config.find("->"), comma = config.find(',');
  out.operands.push_back(config.substr(0, std::min(comma, arrow)));
  if (comma < arrow) out.operands.push_back(config.substr(comma + 1, arrow - comma - 1));
  out.result = config.substr(arrow + 2);
  return out;
}

}  // namespace

void dot(Evaluation& e) { contract(e, {{}, {}, {e.operand(0).type.rank() - 1}, {0}}); }
void dot_general(Evaluation& e) { contract(e, dot_dims(e.attributes())); }
void convolution(Evaluation& e) { convolve(e, convolution_window(e.attributes(), e.operand(1).type)); }

void dynamic_convolution(Evaluation& e) {
  Attributes attributes = e.attributes();
  attributes.set("padding", IntTable{2, e.ints(2)});
  e.as_static("convolution", std::move(attributes), 2);
}

/// By its definition: for each element of the result, the sum over all letters that it does not have.
void einsum(Evaluation& e) {
  const Letters letters = letters_of(e.attributes().text("einsum_config"));
  std::string all = letters.result;
  std::map<char, std::int64_t> sizes;
  for (std::size_t i = 0; i < e.operands(); ++i)
    for (std::size_t d = 0; d < letters.operands[i].size(); ++d) {
      sizes[letters.operands[i][d]] = e.operand(i).type.dims[d];
      if (all.find(letters.operands[i][d]) == std::string::npos) all += letters.operands[i][d];
    }
  Dims dims;
  for (const char letter : all) dims.push_back(sizes.at(letter));
  e.require_work(static_cast<double>(element_count(dims)));
  const auto index = [&](std::size_t i, const Ints& position) {
    const Ints strides = strides_of(e.operand(i).type.dims);
    std::int64_t out = 0;
    for (std::size_t d = 0; d < strides.size(); ++d) out += position[all.find(letters.operands[i][d])] * strides[d];
    return at(out);
  };
  in_numbers_of(e.result_type(), [&](auto none) {
    using Numbers = decltype(none);
    std::vector<Numbers> from;
    for (const Value& value : e.all_operands()) from.push_back(numbers_as<Numbers>(value));
    Numbers out(at(element_count(e.result_type().dims)));
    const Ints strides = strides_of(e.result_type().dims);
    Ints position(dims.size());
    if (element_count(dims) > 0) do {
        std::int64_t to = 0;
        for (std::size_t d = 0; d < strides.size(); ++d) to += position[d] * strides[d];
        const typename Numbers::value_type other = from.size() == 2 ? from[1][index(1, position)] : 1;
        out[at(to)] = multiply_add(out[at(to)], from[0][index(0, position)], other);
      } while (next_position(position, dims));
    e.put(sums_of(e.result_type(), std::move(out)));
  });
}

}  // namespace trnsim::frontend::evaluate
