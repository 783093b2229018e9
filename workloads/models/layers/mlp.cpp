#include <fmt/format.h>

#include "base/error.h"
#include "runtime/ops/ops.h"
#include "workloads/models/layers/layers.h"

namespace workloads {

using runtime::ValueId;

isa::Fn device_function(Activation activation) {
  switch (activation) {
    case Activation::kGelu: return isa::Fn::kGelu;
    case Activation::kGeluTanh: return isa::Fn::kGeluTanh;
    case Activation::kQuickGelu: return isa::Fn::kGeluSigmoid;
    case Activation::kSilu: return isa::Fn::kSilu;
    case Activation::kRelu:
    case Activation::kRelu2:
    case Activation::kXielu: return isa::Fn::kRelu;
  }
  throw base::Error{base::Fault::kInternal, "layers", "unknown activation", "report it"};
}

ValueId Layers::gated(const std::string& label, ValueId gate, ValueId up, const MlpArch& arch) {
  gate = times(label + ".gate.slope", clipped(label + ".gate.limit", gate, arch.limit, true), arch.slope);
  up = clipped(label + ".up.limit", up, arch.limit);
  ValueId x = active(label + ".activation", gate, arch.activation);
  if (arch.squared) x = graph_.add1(runtime::kMul, label + ".square", {x, x});
  if (arch.slope != 1 || arch.shift != 0)
    up = graph_.add1(runtime::kAffine, label + ".up.shift", {up},
                     runtime::AffineAttrs{.alpha = 1 / arch.slope, .beta = arch.shift / arch.slope});
  return graph_.add1(runtime::kMul, label + ".product", {x, up});
}

/// x > 0: p x^2 + x / 2; else n (exp(x) - 1 - x) + x / 2. A file's numbers are those whose softplus is p and n - 1 / 2,
/// as transformers' activations.py has it, but for its eps: there exp(x) counts as exp(-1e-6) where x is nearer to 0.
ValueId Layers::xielu(const std::string& label, ValueId x, const std::string& curve) {
  const std::int64_t columns = graph_.value(x).cols;
  const auto times_number = [&](ValueId of, const char* name, double least) {
    const std::string part = fmt::format("{}.{}", label, name);
    ValueId number = active(part, w(fmt::format("{}.{}", curve, name)), isa::Fn::kSoftplus);
    if (least != 0)
      number = graph_.add1(runtime::kAffine, part + ".least", {number}, runtime::AffineAttrs{.beta = least});
    const runtime::RampAttrs all_one{
        .rows = 1, .cols = columns, .start = 1, .dtype = graph_.value(w(curve + "." + name)).dtype};
    const ValueId row = matmul(part + ".row", number, graph_.add1(runtime::kRamp, part + ".ones", {}, all_one));
    return graph_.add1(runtime::kMul, part + ".product", {of, row});
  };
  const ValueId above = active(label + ".above", x, isa::Fn::kRelu);
  const ValueId square = graph_.add1(runtime::kMul, label + ".square", {above, above});
  const ValueId rest = graph_.add1(runtime::kExpRest, label + ".rest", {x});
  const ValueId curved =
      add(label + ".curved", times_number(square, "alpha_p", 0), times_number(rest, "alpha_n", kXieluSlope));
  return add(label, curved, times(label + ".line", x, kXieluSlope));
}

/// The operand of `down` of an MLP without a gate.
ValueId Layers::activated(ValueId x, const MlpArch& arch, const MlpNames& names) {
  if (arch.xielu) return xielu("mlp.activation", x, names.curve);
  x = active("mlp.activation", x, arch.activation);
  return arch.squared ? graph_.add1(runtime::kMul, "mlp.square", {x, x}) : x;
}

ValueId Layers::mlp(ValueId h, const MlpArch& arch, const MlpNames& names) {
  if (program_.mode == Mode::kToken && arch.is_plain()) {
    std::vector<std::string> wide{names.up};
    if (arch.gated) wide.insert(wide.begin(), names.gate);
    ValueId x = graph_.add1(runtime::kSkinnyActive, "mlp.up", skinny(h, wide),
                            runtime::SkinnyAttrs{.fn = arch.activation, .operand = numerics().operand});
    if (arch.squared) x = graph_.add1(runtime::kMul, "mlp.square", {x, x});
    return row_split("mlp.down", x, names.down);
  }
  const auto gate = [&] { return arch.gated ? linear("mlp.gate", h, names.gate) : runtime::kNoValue; };
  if (program_.mode == Mode::kToken && !arch.gated)
    return row_split("mlp.down", activated(products("mlp.up", h, {names.up})[0], arch, names), names.down);
  if (program_.mode == Mode::kToken) {
    const std::vector<ValueId> two = products("mlp.up", h, {names.gate, names.up});
    return row_split("mlp.down", gated("mlp", two[0], two[1], arch), names.down);
  }
  ValueId first = runtime::kNoValue;
  if (program_.mode == Mode::kPrompt) first = gate();  // as transformers-neuronx orders them
  const ValueId up = linear("mlp.up", h, names.up);
  if (program_.mode == Mode::kTrain) first = gate();
  const ValueId x = arch.gated ? gated("mlp", first, up, arch) : activated(up, arch, names);
  return row_split("mlp.down", dropout("mlp.inner.dropout", x, arch.dropout, Across::kParts), names.down);
}

}  // namespace workloads
