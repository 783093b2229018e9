// The experts of a decoder's layers as nodes: a router, slots, all-to-all between ranks, and the router's loss.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "runtime/graph/graph.h"
#include "workloads/models/decoder/decoder_arch.h"
#include "workloads/step/step.h"

namespace workloads {

/// Slots of each expert for the tokens that a rank routes: capacity_factor over an even share, at most all tokens;
/// without a factor all tokens, so that none is dropped.
std::int64_t expert_capacity(const MixtureArch& mixture, std::int64_t tokens);

class Mixture {
 public:
  using ValueId = runtime::ValueId;
  struct Places {
    std::function<ValueId(const std::string&)> weight;  // of the present layer
    std::function<void(const char*)> enter_part;        // of the present layer
    std::function<void(const char*)> enter;             // beside the layers
    std::function<std::string()> load;                  // what the present layer's load is called
  };
  Mixture(runtime::Graph& graph, const DecoderArch& arch, const Step& step, Places places)
      : graph_{graph}, arch_{arch}, mixture_{*arch.mixture}, step_{step}, places_{std::move(places)} {}

  /// h [the rank's tokens, hidden] -> the same shape, complete: nothing is left to be summed over ranks.
  ValueId layer(ValueId h);
  /// The router's loss of the layers since the last call; kNoValue when it has no weight or there were none.
  ValueId loss();

 private:
  ValueId expert(ValueId rows, std::int64_t number);
  ValueId experts(ValueId slots);
  ValueId over_ranks(const char* part, ValueId partial);
  runtime::CollectiveAttrs group() const;

  runtime::Graph& graph_;
  const DecoderArch& arch_;
  const MixtureArch& mixture_;
  const Step& step_;
  const Places places_;
  std::vector<ValueId> loads_, masses_;  // of the layers since the last loss
};

}  // namespace workloads
