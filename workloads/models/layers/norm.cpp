#include "runtime/ops/ops.h"
#include "workloads/models/layers/layers.h"

namespace workloads {

using runtime::ValueId;

ValueId Layers::gain(const std::string& label, const NormArch& arch, const std::string& name) {
  const ValueId weight = w(name + ".weight");
  if (arch.offset == 0) return weight;
  return graph_.add1(runtime::kAffine, label + ".gain", {weight}, runtime::AffineAttrs{.beta = arch.offset});
}

std::vector<ValueId> Layers::norm_operands(const std::string& label, ValueId x, const NormArch& arch,
                                           const std::string& name) {
  std::vector<ValueId> in{x};
  if (arch.rms || arch.gain) in.push_back(gain(label, arch, name));
  if (!arch.rms && arch.bias) in.push_back(w(name + ".bias"));
  return in;
}

namespace {

runtime::NormAttrs attrs_of(const NormArch& arch) {
  runtime::NormAttrs attrs{.eps = arch.eps};
  if (!arch.rms) attrs.vectors = (arch.gain ? 1U : 0U) + (arch.bias ? 1U : 0U);
  return attrs;
}

}  // namespace

ValueId Layers::norm(const std::string& label, ValueId x, const NormArch& arch, const std::string& name) {
  return graph_.add(arch.rms ? runtime::kRmsNorm : runtime::kLayerNorm, label, norm_operands(label, x, arch, name),
                    attrs_of(arch))[0];
}

/// Where several ranks hold the same heads, the mean is over all copies of these.
ValueId Layers::joint_norm(const std::string& label, ValueId x, ValueId squares, const NormArch& arch,
                           const std::string& name) {
  const auto columns = static_cast<double>(graph_.value(x).cols * program_.ranks);
  const ValueId scale = graph_.add1(runtime::kInverseRoot, label + ".root", {squares},
                                    runtime::AffineAttrs{.alpha = 1 / columns, .beta = arch.eps});
  const ValueId y = graph_.add1(runtime::kMul, label, {x, scale});
  return graph_.add1(runtime::kMul, label + ".gain", {y, gain(label, arch, name)});
}

/// By a norm whose weights are ones, and a product.
ValueId Layers::own_norms(const std::string& label, ValueId x, const NormArch& arch, const std::string& name,
                          std::int64_t size) {
  const ValueId gains = w(name + ".weight");
  const ValueId y = bare_norms(label, x, arch, size, graph_.value(gains).dtype);
  return graph_.add1(runtime::kMul, label + ".gains", {y, gains});
}

ValueId Layers::bare_norms(const std::string& label, ValueId x, const NormArch& arch, std::int64_t size,
                           isa::Dtype type) {
  const runtime::RampAttrs all_one{.rows = 1, .cols = size, .start = 1, .dtype = type};
  const ValueId ones = graph_.add1(runtime::kRamp, label + ".ones", {}, all_one);
  return graph_.add(arch.rms ? runtime::kRmsNorm : runtime::kLayerNorm, label, {x, ones},
                    runtime::NormAttrs{.eps = arch.eps, .vectors = 1})[0];
}

ValueId Layers::skinny_norm(const std::string& label, ValueId& x, const NormArch& arch, const std::string& name,
                            ValueId pending, ValueId bias) {
  std::vector<ValueId> in = norm_operands(label, x, arch, name);
  for (const ValueId more : {pending, bias})
    if (more != runtime::kNoValue) in.push_back(more);
  const auto out =
      graph_.add(arch.rms ? runtime::kSkinnyRmsNorm : runtime::kSkinnyLayerNorm, label, in, attrs_of(arch));
  if (out.size() > 1) x = out[1];
  return out[0];
}

}  // namespace workloads
