#include "workloads/models/layers/layers.h"
#include "workloads/models/pairs/pair_arch.h"

namespace workloads {

runtime::ValueId stem(Layers& net, const StemArch& arch) {
  net.places().enter("embeddings");
  const std::int64_t frames = arch.sound.frames();
  runtime::ValueId x = net.input("frames", net.program().batch * frames, arch.sound.bands, net.numerics().activation);
  x = net.active("convolution.activation", net.convolved("convolution", x, {.length = frames}, arch.first),
                 arch.activation);
  return net.active("halving.activation", net.convolved("halving", x, {.length = frames, .stride = 2}, arch.second),
                    arch.activation);
}

}  // namespace workloads
