#include "base/error.h"
#include "runtime/ops/ops.h"
#include "workloads/models/layers/layers.h"

namespace workloads {

using runtime::ValueId;

isa::Fn device_function(Activation activation) {
  switch (activation) {
    case Activation::kGelu: return isa::Fn::kGelu;
    case Activation::kGeluTanh: return isa::Fn::kGeluTanh;
    case Activation::kSilu: return isa::Fn::kSilu;
    case Activation::kRelu:
    case Activation::kRelu2: return isa::Fn::kRelu;
  }
  throw base::Error{base::Fault::kInternal, "layers", "unknown activation", "report it"};
}

ValueId Layers::mlp(ValueId h, const MlpArch& arch, const MlpNames& names) {
  if (program_.mode == Mode::kToken) {
    std::vector<std::string> wide{names.up};
    if (arch.gated) wide.insert(wide.begin(), names.gate);
    ValueId x = graph_.add1(runtime::kSkinnyActive, "mlp.up", skinny(h, wide),
                            runtime::SkinnyAttrs{.fn = arch.activation, .operand = numerics().operand});
    if (arch.squared) x = graph_.add1(runtime::kMul, "mlp.square", {x, x});
    return row_split("mlp.down", x, names.down);
  }
  const auto gate = [&] { return arch.gated ? linear("mlp.gate", h, names.gate) : runtime::kNoValue; };
  ValueId first = runtime::kNoValue;
  if (program_.mode == Mode::kPrompt) first = gate();  // as transformers-neuronx orders them
  const ValueId up = linear("mlp.up", h, names.up);
  if (program_.mode == Mode::kTrain) first = gate();
  ValueId x = active("mlp.activation", arch.gated ? first : up, arch.activation);
  if (arch.squared) x = graph_.add1(runtime::kMul, "mlp.square", {x, x});
  if (arch.gated) x = graph_.add1(runtime::kMul, "mlp.product", {x, up});
  return row_split("mlp.down", dropout("mlp.inner.dropout", x, arch.dropout), names.down);
}

}  // namespace workloads
