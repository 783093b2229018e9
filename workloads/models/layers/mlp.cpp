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
    case Activation::kRelu2: return isa::Fn::kRelu;
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
  if (program_.mode == Mode::kToken) {
    const std::vector<ValueId> two = products("mlp.up", h, {names.gate, names.up});
    return row_split("mlp.down", gated("mlp", two[0], two[1], arch), names.down);
  }
  ValueId first = runtime::kNoValue;
  if (program_.mode == Mode::kPrompt) first = gate();  // as transformers-neuronx orders them
  const ValueId up = linear("mlp.up", h, names.up);
  if (program_.mode == Mode::kTrain) first = gate();
  ValueId x = runtime::kNoValue;
  if (arch.gated) {
    x = gated("mlp", first, up, arch);
  } else {
    x = active("mlp.activation", up, arch.activation);
    if (arch.squared) x = graph_.add1(runtime::kMul, "mlp.square", {x, x});
  }
  return row_split("mlp.down", dropout("mlp.inner.dropout", x, arch.dropout, Across::kParts), names.down);
}

}  // namespace workloads
