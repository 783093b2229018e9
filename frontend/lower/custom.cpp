// The lowering of custom calls that have a meaning, of random bits, and of sorting.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "frontend/hlo/attrs_text.h"
#include "frontend/lower/lowerer.h"
#include "frontend/ops/operator.h"
#include "runtime/ops/ops.h"

namespace trnsim::frontend {
namespace {

/// The number behind "name = " in a configuration like {attn_heads = 32 : i64, scaling_factor = 1.0 : f64}.
double number_in(std::string_view config, std::string_view name, double otherwise) {
  const std::size_t at = config.find(std::string{name} + " = ");
  if (at == std::string_view::npos) return otherwise;
  const char* begin = config.data() + at + name.size() + 3;
  double value = otherwise;
  std::from_chars(begin, config.data() + config.size(), value);
  return value;
}

runtime::AttentionAttrs attention_of(Lowerer& l) {
  const std::string config = l.node().attributes.text("backend_config");
  const Dims &q = l.type_in(0).dims, &k = l.type_in(1).dims;  // [batch, sequence, heads, elements]
  if (q.size() != 4 || k.size() != 4) l.refuse("its operands do not have rank 4", "give [batch, length, heads, size]");
  const auto mask = static_cast<std::int64_t>(number_in(config, "mask_type", 0));
  const auto window = static_cast<std::int64_t>(number_in(config, "window_size_left", -1));
  // Transformer Engine, NVTE_Mask_Type: 2, 3 and above are causal.
  return {.scale = number_in(config, "scaling_factor", 1),
          .batch = q[0],
          .seq = q[1],
          .heads = q[2],
          .kv_heads = k[2],
          .causal = mask >= 2,
          .window = window < 0 ? 0 : window + 1,
          .flash = true,
          .p = number_in(config, "dropout_probability", 0),
          .dtype = l.dtype_out()};
}

runtime::ValueId by_tokens(Lowerer& l, std::size_t i) {
  const Dims& d = l.type_in(i).dims;
  return l.matrix(l.in(i), d[0] * d[1], d[2] * d[3]);
}

void set_rest(Lowerer& l, std::size_t first) {
  for (std::size_t i = first; i < l.node().results; ++i)
    if (!l.type_out(i).is_token()) l.set(number_view(0, l.type_out(i).dims, l.dtype_out(i)), i);
}

/// te_fused_attn_forward_ffi: q, k, v -> context, logarithms of sums, state and space of another device.
void attention(Lowerer& l) {
  const auto out = l.add_all(runtime::kAttention, {by_tokens(l, 0), by_tokens(l, 1), by_tokens(l, 2)}, attention_of(l));
  l.set(dense_view(out[0], l.type_out(0).dims, l.dtype_out(0)), 0);
  l.set(dense_view(out[1], l.type_out(1).dims, Dtype::kFp32), 1);
  set_rest(l, 2);
}

/// te_fused_attn_backward_ffi: q, k, v, bias, logarithms of sums, state, context, its gradient -> dq, dk, dv.
void attention_gradient(Lowerer& l) {
  const Dims& kept = l.type_in(4).dims;
  const runtime::ValueId sums = l.matrix(l.in(4), element_count(kept), 1);
  const auto out = l.add_all(
      runtime::kAttentionGrad,
      {by_tokens(l, 0), by_tokens(l, 1), by_tokens(l, 2), sums, by_tokens(l, 7), by_tokens(l, 6)}, attention_of(l));
  for (std::size_t i = 0; i < 3; ++i) l.set(dense_view(out[i], l.type_out(i).dims, l.dtype_out(i)), i);
  set_rest(l, 3);
}

/// Settings that a rewrite has found, whose program had `products`; they take their operands in its type.
runtime::AttentionAttrs rewritten_attention(Lowerer& l, double products) {
  auto out = hlo::attrs_from(l.node().attributes.text("backend_config"), l.where()).as<runtime::AttentionAttrs>();
  out.operand = l.options().operand;
  const double keys = static_cast<double>(l.in(1).count()) / static_cast<double>(out.batch * out.kv_heads);
  l.out().flops += products * 2 * static_cast<double>(out.batch * out.heads * out.seq) * keys;  // keys of all elements
  return out;
}

/// made by frontend/rewrite/attention.cpp: q, k, v, masks and a scale -> context, probabilities.
void found_attention(Lowerer& l) {
  std::vector<runtime::ValueId> in{by_tokens(l, 0), by_tokens(l, 1), by_tokens(l, 2)};
  for (std::size_t i = 3; i < l.node().operands.size(); ++i) in.push_back(l.matrix(l.in(i)));
  const auto out = l.add_all(runtime::kAttention, in, rewritten_attention(l, 2));
  for (std::size_t i = 0; i < 2; ++i) l.set_result(out[i], i);
}

/// The same: q, k, v, probabilities, the context's gradient, the context, and a scale -> dq, dk, dv.
void found_attention_gradient(Lowerer& l) {
  std::vector<runtime::ValueId> in{by_tokens(l, 0),   by_tokens(l, 1), by_tokens(l, 2),
                                   l.matrix(l.in(3)), by_tokens(l, 4), by_tokens(l, 5)};
  for (std::size_t i = in.size(); i < l.node().operands.size(); ++i) in.push_back(l.matrix(l.in(i)));
  const auto out = l.add_all(runtime::kAttentionGrad, in, rewritten_attention(l, 4));
  for (std::size_t i = 0; i < l.node().results; ++i) {
    View made = dense_view(out[i], l.type_out(i).dims, l.graph().value(out[i]).dtype);  // scores: as TensorE takes them
    if (made.dtype != l.dtype_out(i))
      made = l.element({.form = runtime::ElementForm::kFunction}, {made}, made.dims, l.dtype_out(i));
    l.set(std::move(made), i);
  }
}

/// made by frontend/rewrite/updates.cpp: a parameter, its gradient, its moments and factors -> the parameter and the
/// moments, in the memory that they have if nothing else reads that later.
void found_update(Lowerer& l) {
  auto attrs = hlo::attrs_from(l.node().attributes.text("backend_config"), l.where()).as<runtime::UpdateAttrs>();
  const auto [rows, cols] = matrix_form(l.type_out().dims);
  std::vector<runtime::ValueId> in;
  std::uint32_t result = 0;
  for (std::size_t i = 0; i < l.node().operands.size(); ++i) {
    const bool is_factor = i > l.node().results;
    if (i != 1 && !is_factor) attrs.in_place |= l.may_write(i) ? 1U << result : 0U, ++result;
    in.push_back(is_factor ? l.matrix(l.in(i), 1, 1) : l.matrix(l.in(i), rows, cols));
  }
  const auto out = l.add_all(runtime::kUpdate, in, attrs);
  for (std::size_t i = 0; i < out.size(); ++i) l.set_result(out[i], i);
}

/// Rounds over rows, each of which takes the eight largest that are left: VectorE has no other order of elements.
void ordered(Lowerer& l, std::int64_t wanted) {
  constexpr std::int64_t kAtOnce = 8, kMostRounds = 1024;
  const View& view = l.in(0);
  const std::int64_t cols = view.dims.empty() ? 1 : view.dims.back();
  const std::int64_t rounds = (wanted + kAtOnce - 1) / kAtOnce;
  if (rounds > kMostRounds)
    l.refuse(fmt::format("sorts {} elements, but at most {} are supported", wanted, kAtOnce * kMostRounds),
             "sort fewer, or on the host");
  l.only_timed("the order of elements");
  runtime::ValueId rows = l.matrix(view, view.count() / cols, cols);
  for (std::int64_t r = 0; r < rounds; ++r) {
    const runtime::ValueId most = l.add(runtime::kRowReduce, {rows}, runtime::ReduceAttrs{.alu = isa::Alu::kMax});
    rows =
        l.add(runtime::kElement, {rows, most},
              runtime::ElementAttrs{.form = runtime::ElementForm::kPair, .alu = isa::Alu::kMin, .dtype = view.dtype});
  }
  for (std::size_t i = 0; i < l.node().results; ++i) {
    const Dims& dims = l.type_out(i).dims;
    const std::int64_t count = element_count(dims), all = l.graph().value(rows).elements();
    View out = dense_view(rows, {count}, view.dtype);
    if (count > all) l.refuse("returns more elements than it takes", "return as many");
    out = *reshaped(out, dims);
    l.set(l.element({.form = runtime::ElementForm::kFunction}, {out}, dims, l.dtype_out(i)), i);
  }
}

/// Pairs of elements that an order may compare: beyond, it is made by rounds.
constexpr std::int64_t kMostPairs = std::int64_t{1} << 22;

void sort(Lowerer& l) {
  const Dims& dims = l.in(0).dims;
  if (dims.empty() || l.in(0).count() == 0) {
    for (std::size_t i = 0; i < l.node().operands.size(); ++i) l.set(l.in(i), i);
    return;
  }
  const std::int64_t given = l.node().attributes.integer("dimension", -1);
  const std::int64_t size = dims[static_cast<std::size_t>(given < 0 ? given + l.type_in(0).rank() : given)];
  return l.in(0).count() * size <= kMostPairs ? region_rule("sort")(l) : ordered(l, size);
}

void top_k(Lowerer& l) {
  const View& view = l.in(0);
  const bool few = !view.dims.empty() && view.count() * view.dims.back() <= kMostPairs && l.node().results == 2;
  return few ? region_rule("chlo.top_k")(l) : ordered(l, l.type_out(0).dims.back());
}

/// A new state and random bits.
void random_bits(Lowerer& l) {
  l.only_timed("random bits");
  l.set(l.in(0), 0);
  const View bits = l.owned_copy(number_view(0, l.type_out(1).dims, l.dtype_out(1)));
  l.set(bits, 1);
}

/// Writes as many numbers as a distribution would give.
void random_numbers(Lowerer& l) {
  l.only_timed("random numbers");
  l.set(l.owned_copy(number_view(0, l.type_out().dims, l.dtype_out())));
}

struct CustomRow {
  std::string_view target;
  Rule rule;
};
constexpr std::array kTargets = {
    CustomRow{"te_fused_attn_forward_ffi", attention}, CustomRow{"te_fused_attn_backward_ffi", attention_gradient},
    CustomRow{"rewrite.attention", found_attention}, CustomRow{"rewrite.update", found_update},
    CustomRow{"rewrite.attention_grad", found_attention_gradient}};

/// Marks, which leave their operands as they are.
constexpr std::array<std::string_view, 13> kMarks = {"Sharding",
                                                     "SPMDFullToShardShape",
                                                     "SPMDShardToFullShape",
                                                     "annotate_device_placement",
                                                     "LayoutConstraint",
                                                     "AwsNeuronTransferWithStaticRing",
                                                     "AwsNeuronLNCShardingConstraint",
                                                     "AwsNeuronModuleMarkerStart-Forward",
                                                     "AwsNeuronModuleMarkerStart-Backward",
                                                     "AwsNeuronModuleMarkerEnd-Forward",
                                                     "AwsNeuronModuleMarkerEnd-Backward",
                                                     "NeuronBoundaryMarker-Start",
                                                     "NeuronBoundaryMarker-End"};

struct FunctionTarget {
  std::string_view target;
  isa::Fn fn;
  std::string_view composed = {};  // of others, by this operator's name
};
constexpr std::array kFunctions = {
    FunctionTarget{"AwsNeuronErf", isa::Fn::kErf}, FunctionTarget{"AwsNeuronGelu", isa::Fn::kGelu},
    FunctionTarget{"AwsNeuronGeluApprxTanh", isa::Fn::kGeluTanh}, FunctionTarget{"AwsNeuronSilu", isa::Fn::kSilu},
    // made by frontend/rewrite/functions.cpp
    FunctionTarget{"rewrite.gelu_sigmoid", isa::Fn::kGeluSigmoid}, FunctionTarget{"rewrite.sigmoid", isa::Fn::kSigmoid},
    FunctionTarget{"rewrite.gelu_grad", isa::Fn::kGeluGrad},
    FunctionTarget{"rewrite.gelu_tanh_grad", isa::Fn::kGeluTanhGrad},
    FunctionTarget{"rewrite.silu_grad", isa::Fn::kSiluGrad}, FunctionTarget{"rewrite.tanh_grad", isa::Fn::kTanhGrad},
    FunctionTarget{"mhlo.erf", isa::Fn::kErf}, FunctionTarget{"mhlo.erf_inv", isa::Fn::kCopy, "chlo.erf_inv"},
    FunctionTarget{"mhlo.tan", isa::Fn::kCopy, "tan"}, FunctionTarget{"mhlo.cosh", isa::Fn::kCopy, "chlo.cosh"},
    FunctionTarget{"mhlo.sinh", isa::Fn::kCopy, "chlo.sinh"},
    FunctionTarget{"mhlo.acosh", isa::Fn::kCopy, "chlo.acosh"},
    FunctionTarget{"mhlo.asinh", isa::Fn::kCopy, "chlo.asinh"},
    FunctionTarget{"mhlo.atanh", isa::Fn::kCopy, "chlo.atanh"}};

/// Whether the target is a mark or a function.
bool simple_target(Lowerer& l, std::string_view target) {
  if (std::ranges::find(kMarks, target) != kMarks.end()) {
    for (std::size_t i = 0; i < l.node().results; ++i) l.set(l.in(i), i);
    return true;
  }
  const auto row = std::ranges::find(kFunctions, target, &FunctionTarget::target);
  if (row == kFunctions.end()) return false;
  if (!row->composed.empty())
    apply_function(l, row->composed);
  else
    l.set(l.element({.form = runtime::ElementForm::kFunction, .fn = row->fn}, {l.in(0)}, l.type_out().dims,
                    l.dtype_out()));
  return true;
}

/// An operation of the compiler's own, in a program that trnsim wrote.
void own_operation(Lowerer& l, std::string_view name) {
  const auto all = runtime::all_ops();
  const auto op = std::ranges::find(all, name, [](const runtime::Op* one) { return one->name; });
  if (op == all.end()) l.refuse(fmt::format("trnsim has no operation {}", name), "write the program again");
  std::vector<runtime::ValueId> in;
  for (std::size_t i = 0; i < l.node().operands.size(); ++i) in.push_back(l.matrix(l.in(i)));
  const auto out = l.add_all(**op, in, hlo::attrs_from(l.node().attributes.text("backend_config"), l.where()));
  if (out.size() != l.node().results) l.refuse("has another number of results", "write the program again");
  for (std::size_t i = 0; i < out.size(); ++i) l.set_result(out[i], i);
}

void custom_call(Lowerer& l) {
  const std::string target = l.node().attributes.text("call_target_name");
  if (target.starts_with(hlo::kTargetPrefix)) return own_operation(l, target.substr(hlo::kTargetPrefix.size()));
  if (simple_target(l, target)) return;
  const auto row = std::ranges::find(kTargets, target, &CustomRow::target);
  if (row == kTargets.end())
    l.refuse(fmt::format("EVRF015: the custom call {} is not known here", target), "build it from operators");
  row->rule(l);
}

}  // namespace

Rule custom_rule(std::string_view op) {
  if (op == "custom_call") return custom_call;
  if (op == "sort") return sort;
  if (op == "chlo.top_k") return top_k;
  return op == "rng_bit_generator" ? random_bits : op == "rng" ? random_numbers : nullptr;
}

}  // namespace trnsim::frontend
