// Linear layers, element-wise operations, and sums between ranks.
#include "runtime/ops/ops.h"
#include "workloads/models/layers/layers.h"

namespace workloads {

using runtime::ValueId;

ValueId Layers::input(std::string_view name, std::int64_t rows, std::int64_t cols, isa::Dtype type) {
  return graph_.tensor(places_.host_name(name), rows, cols, type, runtime::Kind::kInput);
}

ValueId Layers::matmul(const std::string& label, ValueId x, ValueId weight, runtime::MatmulAttrs attrs) {
  attrs.operand = numerics().operand;
  return graph_.add1(runtime::kMatmul, label, {x, weight}, attrs);
}

ValueId Layers::linear(const std::string& label, ValueId x, const std::string& name, runtime::MatmulAttrs attrs) {
  if (program_.mode == Mode::kToken)
    return graph_.add1(runtime::kSkinnyMatmul, label, skinny(x, {name}),
                       runtime::SkinnyAttrs{.dtype = attrs.dtype, .operand = numerics().operand});
  const ValueId y = partial(label, x, name, attrs);
  return has(name + ".bias") ? add(label + ".bias", y, w(name + ".bias")) : y;
}

std::vector<ValueId> Layers::products(const std::string& label, ValueId x, const std::vector<std::string>& names) {
  if (program_.mode == Mode::kToken)
    return graph_.add(runtime::kSkinnyMatmul, label, skinny(x, names),
                      runtime::SkinnyAttrs{.operand = numerics().operand});
  std::vector<ValueId> out;
  for (const std::string& name : names) out.push_back(linear(label, x, name));
  return out;
}

std::vector<ValueId> Layers::skinny(ValueId x, const std::vector<std::string>& names, bool bias) const {
  std::vector<ValueId> in{x};
  for (const std::string& name : names) {
    in.push_back(w(name + ".weight"));
    if (bias && has(name + ".bias")) in.push_back(w(name + ".bias"));
  }
  return in;
}

ValueId Layers::partial(const std::string& label, ValueId x, const std::string& name, runtime::MatmulAttrs attrs,
                        Across ranks) {
  if (program_.mode == Mode::kToken)
    return graph_.add1(runtime::kSkinnyMatmul, label, skinny(x, {name}, false),
                       runtime::SkinnyAttrs{.operand = numerics().operand});
  attrs.blocked = program_.mode == Mode::kPrompt;
  const ValueId y = matmul(label, x, w(name + ".weight"), attrs);
  const bool adapts = program_.mode == Mode::kTrain && has(name + ".lora_A.weight");
  return adapts ? adapted(label + ".lora", y, x, name, ranks) : y;
}

ValueId Layers::row_split(const std::string& label, ValueId x, const std::string& name) {
  return program_.split() ? partial(label, x, name, {}, Across::kParts) : linear(label, x, name);
}

/// Adds the low-rank product to a frozen weight's product y. Layers that a file has as one share its first factor.
/// Between ranks a product of split inputs is a sum, and so is this; one of split outputs has the same columns.
ValueId Layers::adapted(const std::string& label, ValueId y, ValueId x, const std::string& name, Across ranks) {
  const ValueId a = w(name + ".lora_A.weight");
  const auto [low, added] = low_.try_emplace({x, a}, ValueId{});
  if (added) low->second = matmul(label + ".a", dropout(label + ".dropout", x, program_.lora->dropout, ranks), a);
  x = matmul(label + ".b", low->second, w(name + ".lora_B.weight"), {.alpha = program_.lora->scale()});
  return add(label, y, x);
}

ValueId Layers::add(const std::string& label, ValueId x, ValueId y) {
  return graph_.add1(runtime::kAdd, label, {x, y});
}

ValueId Layers::times(const std::string& label, ValueId x, double factor) {
  return factor == 1 ? x : graph_.add1(runtime::kAffine, label, {x}, runtime::AffineAttrs{.alpha = factor});
}

ValueId Layers::dropout(const std::string& label, ValueId x, double p, Across ranks) {
  if (!program_.training || p <= 0) return x;
  // Copies of a value must stay equal; under sequence parallelism each rank has tokens of its own.
  const bool alike = program_.split() && !program_.sequence && ranks == Across::kSame;
  return graph_.add1(runtime::kDropout, label, {x},
                     runtime::DropoutAttrs{
                         .p = p, .stream = stream_++, .alike = static_cast<std::uint16_t>(alike ? program_.ranks : 0)});
}

ValueId Layers::active(const std::string& label, ValueId x, isa::Fn fn) {
  return graph_.add1(runtime::kActivate, label, {x}, runtime::ActivationAttrs{.fn = fn});
}

ValueId Layers::soft_capped(const std::string& label, ValueId x, double cap) {
  if (cap <= 0) return x;
  return times(label, active(label + ".tanh", times(label + ".scale", x, 1 / cap), isa::Fn::kTanh), cap);
}

ValueId Layers::hidden(const std::string& label, ValueId mask, isa::Dtype type) {
  const double hide = numerics().softmax == isa::Dtype::kFp16 ? 3e4 : 1e9;  // large, and still a number in fp16
  return graph_.add1(runtime::kAffine, label, {mask},
                     runtime::AffineAttrs{.alpha = hide, .beta = -hide, .dtype = type});
}

ValueId Layers::shared(ValueId x) {
  if (!program_.split()) return x;
  return graph_.add1(program_.sequence ? runtime::kRankGather : runtime::kRankFork, "share", {x}, group());
}

ValueId Layers::summed(ValueId x) {
  if (!program_.split()) return x;
  return graph_.add1(program_.sequence ? runtime::kRankScatter : runtime::kRankSum, "sum", {x}, group());
}

}  // namespace workloads
