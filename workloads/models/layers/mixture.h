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

/// Blocks of rows in which `tokens` tokens pass their experts, however they choose: all experts but one have a token
/// each, the rest are of the last. Source: NxD Inference, modules/moe/expert_mlps_v2.py, forward_blockwise.
std::int64_t expert_blocks(const MixtureArch& mixture, std::int64_t tokens, std::int64_t rows);

/// Sums over the layers of a micro-batch, [1, experts] each: the tokens that chose an expert, and its probabilities.
struct RouterSums {
  runtime::ValueId load = runtime::kNoValue, mass = runtime::kNoValue;
};

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
      : net_{net}, arch_{arch}, mixture_{*arch.mixture}, layers_{mixture_.count(layers)} {}

  /// h [the rank's tokens, hidden] -> the same shape, complete: nothing is left to be summed over ranks. Leaves the
  /// layer's "expert_load.NUMBER".
  ValueId routed(ValueId h, std::int64_t number, const std::string& prefix);
  /// Every expert on all rows, independent of their choices: partial sums.
  ValueId gated(ValueId h, const std::string& prefix);
  /// Whether the routers have a loss: in training, when it has a weight.
  bool has_loss() const { return mixture_.balance > 0 && net_.program().training; }
  /// The sums of the layers since the last call, added to those of earlier layers, if there are any.
  RouterSums sums(const MixtureLoss& loss, const RouterSums& earlier);
  /// The routers' loss from the sums of all layers of the model.
  ValueId loss(const MixtureLoss& loss, const RouterSums& all);

 private:
  ValueId expert(ValueId rows, std::int64_t number, const std::string& prefix);
  ValueId experts(ValueId slots, const std::string& prefix);
  runtime::RouteAttrs choice() const;
  /// The operands of a choice: the logits, and a bias if there is one.
  std::vector<ValueId> choosing(ValueId logits, const std::string& prefix) const;
  ValueId with_shared(ValueId sum, ValueId h, const std::string& prefix);
  /// Blocks of tokens through their experts, which the host names.
  ValueId in_blocks(ValueId h, ValueId gates, const std::string& prefix);
  ValueId share_of_bias(const std::string& name);
  ValueId over_ranks(const char* part, ValueId partial, const MixtureLoss& loss);

  Layers& net_;
  const BlockArch& arch_;
  const MixtureArch& mixture_;
  const std::int64_t layers_;
  std::vector<ValueId> loads_, masses_;  // of the layers since the last loss
  ValueId blocks_ = runtime::kNoValue;   // tokens of the rows of blocks
};

}  // namespace workloads
