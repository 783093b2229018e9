#include "frontend/ops/refusals.h"

#include <algorithm>
#include <array>

#include "frontend/ops/dimensions.h"
#include "frontend/ops/operator.h"

namespace trnsim::frontend {
namespace {

bool above_one(std::int64_t x) { return x > 1; }

template <class Test>
bool any_type(const Contract& c, Test test) {
  for (std::size_t i = 0; i < c.operands(); ++i)
    if (test(c.operand(i))) return true;
  return std::ranges::any_of(c.stated(), test);
}

/// Whether a value of the operation has one of these elements.
template <Element... kElements>
bool has_element(const Contract& c) {
  return any_type(c, [](const Type& type) { return ((type.element == kElements) || ...); });
}

bool is(const Contract& c, std::string_view op) { return c.node().op->name == op; }

bool complex_numbers(const Contract& c) { return has_element<Element::kC64, Element::kC128>(c); }

bool fnuz(const Contract& c) {
  return has_element<Element::kF8E4M3FNUZ, Element::kF8E4M3B11FNUZ, Element::kF8E5M2FNUZ>(c);
}

bool e4m3fn(const Contract& c) { return has_element<Element::kF8E4M3FN>(c); }

bool small_types(const Contract& c) {
  return has_element<Element::kF4E2M1FN, Element::kF6E2M3FN, Element::kF6E3M2FN, Element::kF8E8M0FNU, Element::kI2,
                     Element::kI4, Element::kU2, Element::kU4>(c);
}

bool unknown_operator(const Contract& c) { return c.node().op->code == "EVRF001"; }

bool random_algorithm(const Contract& c) {
  return is(c, "rng_bit_generator") && c.attributes().text("rng_algorithm") != "DEFAULT";
}

bool both_dilations(const Contract& c) {
  if (!is(c, "convolution")) return false;
  const WindowDims w = convolution_window(c.attributes(), c.operand(1));
  return std::ranges::any_of(w.base_dilation, above_one) && std::ranges::any_of(w.window_dilation, above_one);
}

bool strided_dilation(const Contract& c) {
  if (!is(c, "convolution")) return false;
  const WindowDims w = convolution_window(c.attributes(), c.operand(1));
  return std::ranges::any_of(w.base_dilation, above_one) && std::ranges::any_of(w.stride, above_one);
}

bool integer_top_k(const Contract& c) {
  return is(c, "chlo.top_k") && (c.operand(0).element == Element::kI32 || c.operand(0).element == Element::kI64);
}

bool unknown_custom_call(const Contract& c) {
  static constexpr std::array<std::string_view, 9> kPrefixes = {
      "AwsNeuron", "check.", "Sharding", "SPMD", "Neuron", "Resize", "mhlo.", "annotate", "LayoutConstraint"};
  if (!is(c, "custom_call")) return false;
  const std::string target = c.attributes().text("call_target_name");
  return std::ranges::none_of(kPrefixes, [&](std::string_view prefix) { return target.starts_with(prefix); });
}

/// A scatter that computes, and does not only overwrite: its region returns something else than the update.
bool integer_scatter(const Contract& c) {
  if (!is(c, "scatter") || is_float(c.operand(0).element) || is_complex(c.operand(0).element)) return false;
  const std::size_t n = c.operands() / 2;  // parameters: n numbers of the input, n updates
  return std::ranges::any_of(c.region(0).results, [n](ValueId r) { return r < n || r >= 2 * n; });
}

bool base_dilation(const Contract& c) {
  return is(c, "reduce_window") &&
         std::ranges::any_of(window_dims(c.attributes(), c.operand(0).rank()).base_dilation, above_one);
}

bool window_dilation(const Contract& c) {
  return is(c, "reduce_window") &&
         std::ranges::any_of(window_dims(c.attributes(), c.operand(0).rank()).window_dilation, above_one);
}

bool window_operands(const Contract& c) { return is(c, "reduce_window") && c.operands() != 2; }

bool narrow_shift(const Contract& c) {
  return is(c, "shift_right_arithmetic") && info(c.operand(0).element).bits != 32;
}

/// A product of integers of which one has that many bits.
template <int kBits>
bool integer_dot(const Contract& c) {
  if (c.node().op->group != Group::kProduct || c.operands() != 2) return false;
  return any_type(c, [](const Type& t) { return is_integer(t.element) && info(t.element).bits == kBits; });
}

bool long_constant(const Contract& c) {
  if (!is(c, "constant") || c.stated().front().element != Element::kU64) return false;
  const LiteralPtr value = c.attributes().literal("value");
  const std::int64_t count = value->splat ? 1 : value->count();
  for (std::int64_t i = 0; i < count; ++i)
    if (value->bits(i) > 0xffffffffU) return true;
  return false;
}

constexpr std::string_view kFloats = "cast the operands to a floating-point type",
                           kOtherType = "use a type that the chip has";

// clang-format off
constexpr std::array kRules = {
    RefusalRule{"EVRF001", "the operator is not supported", "build it from other operators", unknown_operator},
    RefusalRule{"EVRF004", "complex numbers are not supported", "compute real and imaginary parts", complex_numbers},
    RefusalRule{"EVRF005", "fp8 of the FNUZ kinds is not supported", kOtherType, fnuz},
    RefusalRule{"EVRF051", "f8E4M3FN is not supported on Trn1 and Trn2", "use f8E4M3", e4m3fn},
    RefusalRule{"ESPP004", "the element type is not supported", kOtherType, small_types},
    RefusalRule{"EVRF006", "random bits of a named algorithm are not supported", "use DEFAULT", random_algorithm},
    RefusalRule{"EVRF010", "input and kernel are both dilated", "dilate one of them", both_dilations},
    RefusalRule{"EVRF011", "a strided convolution has a dilated input", "use stride 1", strided_dilation},
    RefusalRule{"EVRF013", "top-k of integers is not supported", kFloats, integer_top_k},
    RefusalRule{"EVRF015", "the target of a custom call is not known", "use a documented target", unknown_custom_call},
    RefusalRule{"EVRF016", "a scatter with arithmetic is only for floating-point types", kFloats, integer_scatter},
    RefusalRule{"EVRF017", "reduce_window with a dilated input", "dilate the input by hand", base_dilation},
    RefusalRule{"EVRF018", "reduce_window with a dilated window", "dilate by hand", window_dilation},
    RefusalRule{"EVRF019", "reduce_window of several inputs", "reduce each of them", window_operands},
    RefusalRule{"EVRF022", "arithmetic shift right of a type that does not have 32 bits", "cast to 32 bits",
                narrow_shift},
    RefusalRule{"EVRF035", "a product of 64-bit integers, on Trn2 also of 32-bit ones, is not supported", kFloats,
                integer_dot<64>, integer_dot<32>},
    RefusalRule{"ESFH002", "a ui64 constant does not fit into 32 bits", "use ui32", long_constant},
};
// clang-format on

}  // namespace

std::span<const RefusalRule> refusal_rules() { return kRules; }

std::vector<Refusal> refusals(const Module& module, std::size_t most, std::int64_t generation) {
  std::vector<Refusal> out;
  for (const Function& f : module.functions)
    for (const Node& node : f.nodes) {
      const Contract contract{
          module, f, node,
          std::vector<Type>(f.values.begin() + node.first_result, f.values.begin() + node.first_result + node.results)};
      for (const RefusalRule& rule : kRules)
        if (rule.breaks(contract) || (generation >= 3 && rule.breaks_v3 && rule.breaks_v3(contract))) {
          out.push_back({&rule, module.where(node), std::string{node.op->name}});
          break;
        }
      if (out.size() >= most) return out;
    }
  return out;
}

}  // namespace trnsim::frontend
