// Custom calls that torch-neuronx and transformers-neuronx write, by the formulas beside them
// (torch_neuronx.xla_impl.ops, whose forms these are; the axis, or the count of the largest, is the text of
// `backend_config`).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <numbers>

#include "base/error.h"
#include "frontend/rewrite/compose.h"
#include "frontend/rewrite/composer.h"

namespace trnsim::frontend {
namespace {

/// One axis of the first operand, computed in fp32 at least.
class Along {
 public:
  Along(Composer& c, std::int64_t axis)
      : c_{c},
        axis_{axis},
        given_{c.type(c.given(0)).element},
        element_{stored_bytes(given_) < 4 ? Element::kF32 : given_} {
    whole_ = tensor_type(element_, c.type(c.given(0)).dims);
  }

  ValueId operand(std::size_t i) { return c_.in(element_, c_.given(i)); }
  std::int64_t size() const { return whole_.dims[static_cast<std::size_t>(axis_)]; }
  ValueId reduce(std::string_view name, double begin, ValueId v) { return c_.reduce(name, begin, v, {axis_}); }
  /// A value of all other axes, or one of this axis alone, in every place.
  ValueId spread(ValueId v) {
    Ints dims;
    for (std::int64_t d = 0; d < static_cast<std::int64_t>(whole_.dims.size()); ++d)
      if (d != axis_) dims.push_back(d);
    return spread_by(v, std::move(dims));
  }
  ValueId spread_axis(ValueId v) { return spread_by(v, {axis_}); }
  ValueId spread_number(ValueId v) { return spread_by(v, {}); }
  ValueId op(std::string_view name, std::vector<ValueId> operands) { return c_.op(name, std::move(operands)); }
  ValueId number(double value, const Type& type) { return c_.number(value, type); }
  const Type& whole() const { return whole_; }
  std::int64_t axis() const { return axis_; }
  const Type& type(ValueId v) { return c_.type(v); }
  Composer& c() { return c_; }
  void returns(ValueId v) { c_.b().returns({c_.in(given_, v)}); }

 private:
  ValueId spread_by(ValueId v, Ints dims) {
    const Type type = tensor_type(c_.type(v).element, whole_.dims);
    return c_.b().op("broadcast_in_dim", {v}, with("broadcast_dimensions", std::move(dims)), {type});
  }

  Composer& c_;
  std::int64_t axis_;
  Element given_, element_;
  Type whole_;
};

constexpr double kInfinity = std::numeric_limits<double>::infinity();

void rms_norm(Along& a) {
  const ValueId x = a.operand(0);
  const ValueId sum = a.reduce("add", 0, a.op("multiply", {x, x}));
  const ValueId mean = a.op("divide", {sum, a.number(static_cast<double>(a.size()), a.type(sum))});
  const ValueId scale = a.op("rsqrt", {a.op("add", {a.spread(mean), a.spread_number(a.operand(2))})});
  a.returns(a.op("multiply", {a.op("multiply", {x, scale}), a.spread_axis(a.operand(1))}));
}

void softmax(Along& a) {
  const ValueId x = a.operand(0);
  const ValueId powers = a.op("exponential", {a.op("subtract", {x, a.spread(a.reduce("maximum", -kInfinity, x))})});
  a.returns(a.op("divide", {powers, a.spread(a.reduce("add", 0, powers))}));
}

/// dy, y -> dx
void softmax_gradient(Along& a) {
  const ValueId dy = a.operand(0), y = a.operand(1);
  const ValueId sum = a.spread(a.reduce("add", 0, a.op("multiply", {dy, y})));
  a.returns(a.op("multiply", {y, a.op("subtract", {dy, sum})}));
}

/// The first place of the largest number, or of the smallest.
void place_of(Along& a, std::string_view extreme, double begin) {
  const ValueId x = a.operand(0);
  const ValueId is_it = a.c().b().op("compare", {x, a.spread(a.reduce(extreme, begin, x))},
                                     with("comparison_direction", std::string{"EQ"}));
  const Type places = tensor_type(Element::kI32, a.whole().dims);
  const auto last = static_cast<double>(a.size() - 1);
  const ValueId number = a.c().b().op("iota", {}, with("iota_dimension", a.axis()), {places});
  const ValueId first = a.reduce("minimum", last, a.op("select", {is_it, number, a.number(last, places)}));
  const Type& stated = a.c().result(0);
  a.c().b().returns({a.c().b().op("reshape", {a.c().in(stated.element, first)}, {}, {stated})});
}
void largest(Along& a) { place_of(a, "maximum", -kInfinity); }
void smallest(Along& a) { place_of(a, "minimum", kInfinity); }

/// The largest numbers of the last axis, and their places.
void several_largest(Along& a) {
  Composer& c = a.c();
  Node node;
  node.op = &operator_named("chlo.top_k");
  node.operands = {c.given(0)};
  node.attributes = with("k", c.result(0).dims.back());
  const Node& made = c.b().add(std::move(node));
  c.b().returns({made.result(0), c.in(c.result(1).element, made.result(1))});
}

/// Pictures [n, h, w, features] between a size and a whole multiple of it: each pixel several times, or their sum.
void resize(Composer& c, const Type& small, const Type& large, bool grows) {
  const Dims &s = small.dims, &l = large.dims;
  const Type apart = tensor_type(small.element, {s[0], s[1], l[1] / s[1], s[2], l[2] / s[2], s[3]});
  if (grows) {
    const ValueId v =
        c.b().op("broadcast_in_dim", {c.given(0)}, with("broadcast_dimensions", Ints{0, 1, 3, 5}), {apart});
    return c.b().returns({c.b().op("reshape", {v}, {}, {large})});
  }
  const ValueId v = c.in(Element::kF32, c.b().op("reshape", {c.given(0)}, {}, {apart}));
  c.b().returns({c.in(small.element, c.reduce("add", 0, v, {2, 4}))});
}
void nearest(Along& a) { resize(a.c(), a.type(a.c().given(0)), a.c().result(0), true); }
void nearest_gradient(Along& a) { resize(a.c(), a.c().result(0), a.type(a.c().given(0)), false); }

/// The slope of GELU, which torch_neuronx multiplies by the gradient itself.
void gelu_slope(Along& a) {
  const ValueId x = a.operand(0);
  const auto times = [&](ValueId v, double factor) { return a.op("multiply", {v, a.number(factor, a.whole())}); };
  const ValueId erf = a.c().b().op("chlo.erf", {times(x, std::numbers::sqrt2 / 2)}, {}, {a.whole()});
  const ValueId share = times(a.op("add", {erf, a.number(1, a.whole())}), 0.5);
  const ValueId density = a.op("exponential", {times(a.op("multiply", {x, x}), -0.5)});
  const double scale = std::numbers::inv_sqrtpi * std::numbers::sqrt2 / 2;
  a.returns(a.op("add", {share, times(a.op("multiply", {x, density}), scale)}));
}

/// By which rule `backend_config` and the types are checked.
enum class Form : std::uint8_t { kAxis, kCount, kLast, kPicture, kElement };

struct Target {
  std::string_view name;
  std::size_t operands;
  std::uint32_t results;
  Form form;
  void (*compose)(Along&);
};
constexpr std::array kTargets = {Target{"AwsNeuronRmsNorm", 3, 1, Form::kAxis, rms_norm},
                                 Target{"AwsNeuronSoftmax", 1, 1, Form::kAxis, softmax},
                                 Target{"AwsNeuronSoftmaxBackward", 2, 1, Form::kAxis, softmax_gradient},
                                 Target{"AwsNeuronArgMax", 1, 1, Form::kAxis, largest},
                                 Target{"AwsNeuronArgMin", 1, 1, Form::kAxis, smallest},
                                 Target{"AwsNeuronTopK", 1, 2, Form::kCount, several_largest},
                                 Target{"TopK", 1, 2, Form::kLast, several_largest},       // XLA's
                                 Target{"mhlo.topk", 1, 2, Form::kLast, several_largest},  // the same as a call
                                 Target{"AwsNeuronGeluBackward", 1, 1, Form::kElement, gelu_slope},
                                 Target{"ResizeNearest", 1, 1, Form::kPicture, nearest},
                                 Target{"ResizeNearestGrad", 1, 1, Form::kPicture, nearest_gradient}};

/// Whether one of two pictures has each size of the other a whole number of times, beside samples and features.
bool is_multiple(const Type& small, const Type& large) {
  const Dims &s = small.dims, &l = large.dims;
  if (s.size() != 4 || l.size() != 4 || s[0] != l[0] || s[3] != l[3] || s[1] == 0 || s[2] == 0) return false;
  return l[1] % s[1] == 0 && l[2] % s[2] == 0;
}

/// The axis that `backend_config` names, the last one where it is a number of results or has no meaning; none: -1.
std::int64_t axis_of(const Function& f, const Node& node, Form form) {
  if (form == Form::kElement || form == Form::kPicture) return 0;
  const Type& type = f.type(node.operands[0]);
  if (form == Form::kLast) {
    const Dims& dims = f.type(node.result(0)).dims;
    return type.rank() > 0 && dims.size() == type.dims.size() && dims.back() <= type.dims.back() ? type.rank() - 1 : -1;
  }
  const std::string text = node.attributes.text("backend_config");
  std::int64_t number = std::numeric_limits<std::int64_t>::max();
  if (std::from_chars(text.data(), text.data() + text.size(), number).ec != std::errc{} || type.rank() == 0) return -1;
  if (form == Form::kCount) {
    const Dims& dims = f.type(node.result(0)).dims;
    return !dims.empty() && dims.back() == number && number <= type.dims.back() ? type.rank() - 1 : -1;
  }
  if (number < 0) number += type.rank();
  return number < type.rank() ? number : -1;
}

/// Errors: the call has another form than its formula.
void require_form(const Module& module, const Function& f, const Node& node, const Target& target) {
  const auto refuse = [&](const std::string& what, const std::string& fix) {
    throw base::Error{base::Fault::kProgram, module.where(node), fmt::format("custom_call {}: {}", target.name, what),
                      fix};
  };
  if (node.operands.size() != target.operands || node.results != target.results)
    refuse(fmt::format("{} operands and {} results", node.operands.size(), node.results),
           fmt::format("give {} and {}, as torch_neuronx.xla_impl.ops does", target.operands, target.results));
  const Type& x = f.type(node.operands[0]);
  if (target.form == Form::kLast) {
    for (const Region& region : node.regions)
      if (const auto& nodes = module.functions[region.function].nodes;
          nodes.empty() || nodes.back().attributes.text("comparison_direction") != "GT")
        refuse("its comparison is not GT", "sort instead: TopK gives the largest");
    if (!node.attributes.flag("largest", true))
      refuse("it asks for the smallest", "negate the operand and the numbers: TopK gives the largest");
    if (axis_of(f, node, target.form) < 0)
      refuse(fmt::format("its results do not fit {}", mlir_text(x)), "let them have its rank and no more columns");
  } else if (target.form == Form::kPicture) {
    const Type& y = f.type(node.result());
    if (target.name == "ResizeNearest" ? !is_multiple(x, y) : !is_multiple(y, x))
      refuse(fmt::format("{} becomes {}", mlir_text(x), mlir_text(y)),
             "give pictures [samples, height, width, features] and whole factors, as torch_neuronx does");
  } else if (axis_of(f, node, target.form) < 0) {
    refuse(fmt::format("backend_config \"{}\" does not fit {}", node.attributes.text("backend_config"), mlir_text(x)),
           target.form == Form::kCount ? "write the number of the results' columns"
                                       : fmt::format("write the number of an axis, from 0 to {}", x.rank() - 1));
  }
  if (!is_float(x.element)) refuse(fmt::format("the operand is {}", mlir_text(x)), "give it floating-point numbers");
}

/// Errors: a tensor is divided among cores, which a partitioner does.
void require_undivided(const Module& module, const Function& f, const Node& node, std::string_view target) {
  if (!target.starts_with("SPMD") || node.operands.size() != 1 || f.type(node.operands[0]) == f.type(node.result()))
    return;
  throw base::Error{base::Fault::kProgram, module.where(node), fmt::format("{} divides tensors among cores", target),
                    "give the program that XLA's partitioner leaves, such as JAX's lowered.compile().as_text()"};
}

}  // namespace

void compose_targets(Module& module) {
  const std::size_t own = module.functions.size();
  for (std::size_t f = 0; f < own; ++f)
    for (Node& node : module.functions[f].nodes) {
      if (node.op->name != "custom_call") continue;
      const std::string name = node.attributes.text("call_target_name");
      require_undivided(module, module.functions[f], node, name);
      const auto target = std::ranges::find(kTargets, name, &Target::name);
      if (target == kTargets.end()) continue;
      require_form(module, module.functions[f], node, *target);
      Composer composer{module, module.functions[f], node};
      Along along{composer, axis_of(module.functions[f], node, target->form)};
      target->compose(along);
      composer.replace(node);
    }
}

}  // namespace trnsim::frontend
