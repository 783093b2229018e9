#include <fmt/format.h>

#include "runtime/ops/ops.h"
#include "workloads/models/layers/layers.h"

namespace workloads {

using runtime::ValueId;

ValueId Layers::convolved(const std::string& label, ValueId x, const Neighbours& neighbours, const std::string& name) {
  const auto [places, length, stride] = neighbours;
  const std::int64_t batch = program_.batch, width = graph_.value(x).cols;
  const std::int64_t rows = length + places - 1;  // with zeros on both sides
  const isa::Dtype type = numerics().activation;
  const ValueId zeros =
      graph_.add1(runtime::kRamp, label + ".zeros", {},
                  runtime::RampAttrs{.rows = batch * rows, .cols = width, .dtype = graph_.value(x).dtype});
  const ValueId wide = graph_.add1(
      runtime::kPlace, label + ".padded", {zeros, x},
      runtime::MoveAttrs{.sizes = {batch, length * width}, .strides = {rows * width, 1}, .first = places / 2 * width});
  ValueId sum = runtime::kNoValue;
  for (std::int64_t i = 0; i < places; ++i) {
    const ValueId weight = w(fmt::format("{}.{}.weight", name, i));
    const ValueId part = graph_.add1(runtime::kBatchMatmul, fmt::format("{}.{}", label, i), {wide, weight},
                                     runtime::BatchMatmulAttrs{.batch = {batch},
                                                               .m = length / stride,
                                                               .k = width,
                                                               .n = graph_.value(weight).cols,
                                                               .x = {rows * width, stride * width, 1},
                                                               .w = {0, graph_.value(weight).cols, 1},
                                                               .x_first = i * width,
                                                               .dtype = type,
                                                               .operand = numerics().operand});
    sum = sum == runtime::kNoValue ? part : add(label + ".sum", sum, part);
  }
  return add(label + ".bias", sum, w(name + ".bias"));
}

}  // namespace workloads
