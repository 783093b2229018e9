#include "runtime/ops/ops.h"
#include "workloads/models/layers/layers.h"

namespace workloads {

using runtime::ValueId;

ValueId Layers::gain(const std::string& label, const NormArch& arch, const std::string& name) {
  const ValueId weight = w(name + ".weight");
  if (arch.offset == 0) return weight;
  return graph_.add1(runtime::kAffine, label + ".gain", {weight}, runtime::AffineAttrs{.beta = arch.offset});
}

ValueId Layers::norm(const std::string& label, ValueId x, const NormArch& arch, const std::string& name) {
  std::vector<ValueId> in{x, gain(label, arch, name)};
  if (!arch.rms && has(name + ".bias")) in.push_back(w(name + ".bias"));
  return graph_.add(arch.rms ? runtime::kRmsNorm : runtime::kLayerNorm, label, in,
                    runtime::NormAttrs{.eps = arch.eps})[0];
}

ValueId Layers::skinny_norm(const std::string& label, ValueId& x, const NormArch& arch, const std::string& name,
                            ValueId pending, ValueId bias) {
  std::vector<ValueId> in{x, gain(label, arch, name)};
  if (!arch.rms) in.push_back(w(name + ".bias"));
  for (const ValueId more : {pending, bias})
    if (more != runtime::kNoValue) in.push_back(more);
  const auto out = graph_.add(arch.rms ? runtime::kSkinnyRmsNorm : runtime::kSkinnyLayerNorm, label, in,
                              runtime::NormAttrs{.eps = arch.eps});
  if (out.size() > 1) x = out[1];
  return out[0];
}

}  // namespace workloads
