// The experts of a layer as nodes: a router, slots, all-to-all between ranks, and the router's loss.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "workloads/models/layers/layers.h"

namespace workloads {

/// Slots of each expert for the tokens that a rank routes: capacity_factor over an even share, at most all tokens;
/// without a factor all tokens, so that none is dropped.
std::int64_t expert_capacity(const MixtureArch& mixture, std::int64_t tokens);

/// The destination of the loss, and the whole that it is a share of.
struct MixtureLoss {
  std::function<void(const char*)> enter;
  double parts = 1;  // micro-batches of all replicas
};

class Mixture {
 public:
  using ValueId = runtime::ValueId;

  /// Keeps references to both. `layers`: of the model.
  Mixture(Layers& net, const BlockArch& arch, std::int64_t layers)
      : net_{net}, arch_{arch}, mixture_{*arch.mixture}, layers_{layers} {}

  /// h [the rank's tokens, hidden] -> the same shape, complete: nothing is left to be summed over ranks. Leaves the
  /// layer's "expert_load.NUMBER".
  ValueId routed(ValueId h, std::int64_t number, const std::string& prefix);
  /// Every expert on all rows, whatever they chose: partial sums.
  ValueId gated(ValueId h, const std::string& prefix);
  /// The router's loss of the layers since the last call; kNoValue without a weight or without such layers.
  ValueId loss(const MixtureLoss& loss);

 private:
  ValueId expert(ValueId rows, std::int64_t number, const std::string& prefix);
  ValueId experts(ValueId slots, const std::string& prefix);
  ValueId over_ranks(const char* part, ValueId partial, const MixtureLoss& loss);

  Layers& net_;
  const BlockArch& arch_;
  const MixtureArch& mixture_;
  const std::int64_t layers_;
  std::vector<ValueId> loads_, masses_;  // of the layers since the last loss
};

}  // namespace workloads
