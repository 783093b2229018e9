// From the last norm to logits, and from these to a loss.
#include "runtime/ops/ops.h"
#include "workloads/models/layers/layers.h"

namespace workloads {

using isa::Dtype;
using runtime::ValueId;

ValueId Layers::before_logits(ValueId x, const HeadArch& arch, const NormArch& norm_arch) {
  if (arch.dense.empty()) return x;
  x = active("head.activation", linear("head.dense", x, arch.dense), arch.activation);
  return norm("head.dense.norm", x, norm_arch, arch.dense_norm);
}

ValueId Layers::logits(ValueId x, const HeadArch& arch, const std::string& table) {
  ValueId y = runtime::kNoValue;
  if (program_.mode != Mode::kTrain) {  // of few rows, and a head of its own, which is read by columns
    y = graph_.add1(runtime::kSkinnyMatmul, "head", skinny(x, {arch.name}),
                    runtime::SkinnyAttrs{.dtype = Dtype::kFp32, .operand = numerics().operand});
  } else {
    y = matmul("head", x, w((arch.tied ? table : arch.name) + ".weight"),
               {.trans_b = arch.tied, .dtype = Dtype::kFp32});
    if (arch.unit_rows) y = by_lengths(y, arch.tied ? table : arch.name, arch.tied);
    if (has(arch.name + ".bias")) y = add("head.bias", y, w(arch.name + ".bias"));
  }
  return soft_capped("logits.cap", y, arch.soft_cap);
}

/// Products with rows of length 1: those with the rows themselves over their lengths, at least 1e-12 as PyTorch's
/// normalize() has it. A device's weights have them as columns, whose squares a product with ones adds up.
ValueId Layers::by_lengths(ValueId y, const std::string& head, bool rows) {
  const ValueId weight = w(head + ".weight");
  const runtime::Value& shape = graph_.value(weight);
  const runtime::RampAttrs ones_attrs{.cols = rows ? shape.cols : shape.rows, .start = 1, .dtype = shape.dtype};
  const ValueId ones = graph_.add1(runtime::kRamp, "head.ones", {}, ones_attrs);
  const ValueId squares = graph_.add1(runtime::kMul, "head.squares", {weight, weight});
  const ValueId sums = matmul("head.sums", ones, squares, {.trans_b = rows, .dtype = Dtype::kFp32});
  const ValueId inverse =
      graph_.add1(runtime::kInverseRoot, "head.lengths", {sums}, runtime::AffineAttrs{.beta = 1e-24});
  return graph_.add1(runtime::kMul, "head.by_lengths", {y, inverse});
}

ValueId Layers::token_loss(ValueId logits, std::int64_t rows, std::int64_t classes, const LossNames& names,
                           Across ranks) {
  const bool split = program_.split() && ranks == Across::kParts;
  const ValueId labels = input(names.labels, rows, 1, Dtype::kInt32),
                weights = input(names.weights, rows, 1, Dtype::kFp32);
  const runtime::LossAttrs attrs{.scale = numerics().loss_scale,
                                 .smoothing = program_.smoothing,
                                 .classes = classes,
                                 .dtype = numerics().activation};
  runtime::CollectiveAttrs most_attrs = group();
  most_attrs.alu = isa::Alu::kMax;
  ValueId most = graph_.add1(runtime::kRowMax, "loss.max", {logits});
  if (split) {
    places_.enter("head.max");
    most = graph_.add1(runtime::kRankSum, "loss.max.all", {most}, most_attrs);
    places_.enter("head.sums");
  }
  ValueId sums = graph_.add1(runtime::kLossSums, "loss.sums", {logits, labels, most}, attrs);
  if (split) {
    places_.enter("head.sum");
    sums = graph_.add1(runtime::kRankSum, "loss.sums.all", {sums}, group());
    places_.enter("head.loss");
  }
  const ValueId loss = graph_.add(runtime::kSplitLoss, names.loss, {logits, labels, weights, most, sums}, attrs)[0];
  graph_.output(loss, places_.host_name(names.loss));
  return loss;
}

ValueId Layers::class_loss(ValueId logits, std::int64_t rows, const LossNames& names) {
  const ValueId labels = input(names.labels, rows, 1, Dtype::kInt32);
  const ValueId weights = input(names.weights, rows, 1, Dtype::kFp32);
  const ValueId loss = graph_.add(
      runtime::kCrossEntropy, names.loss, {logits, labels, weights},
      runtime::LossAttrs{
          .scale = numerics().loss_scale, .smoothing = program_.smoothing, .dtype = numerics().activation})[0];
  graph_.output(loss, places_.host_name(names.loss));
  return loss;
}

}  // namespace workloads
