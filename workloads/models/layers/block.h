// A layer of a transformer: attention and MLP with their norms, and the sum that both are added to.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "workloads/models/layers/layers.h"
#include "workloads/models/layers/mixture.h"

namespace workloads {

/// The sum that layers add to. A part's result is added where the sum is read next: when text is written that saves a
/// way through HBM and, between ranks, a call.
struct Residual {
  runtime::ValueId sum = runtime::kNoValue;
  // Still to be added to `sum`:
  runtime::ValueId pending = runtime::kNoValue;
  std::vector<std::string> biases{};  // that are added with it, once for all ranks
  double scale = 1;                   // of both
  std::string factors{};              // of their columns; empty: none
  std::string label{};                // of the addition
  std::string norm{};                 // of the sum then; empty: none
};

/// Inputs of a layer besides the sum.
struct LayerInputs {
  Caches caches{};                            // its own, when text is written
  runtime::ValueId mask = runtime::kNoValue;  // added to the scores of each key
  runtime::ValueId bias = runtime::kNoValue;  // of each head's scores, or of any head's
  PlaceTable places{};                        // of a layer that has scores of them
};

class Block {
 public:
  using ValueId = runtime::ValueId;

  /// Keeps references to both. `layers`: how many the model has.
  Block(Layers& net, const BlockArch& arch, std::int64_t layers);

  /// Layer `number`, whose weights' names begin with `prefix`.
  void layer(Residual& x, std::int64_t number, std::string prefix, const LayerInputs& inputs = {});

  /// Adds the pending value and returns the sum.
  ValueId add_pending(Residual& x);
  /// The norm of the sum. `few`: x has few rows.
  ValueId normed(const std::string& label, Residual& x, const std::string& name, bool few);
  /// The routers of the layers, if they have a loss.
  Mixture* routers() { return mixture_ && mixture_->has_loss() ? &*mixture_ : nullptr; }

 private:
  struct Part;
  static const Part kAttention, kMlp;

  bool trains() const { return net_.program().mode == Mode::kTrain; }
  /// Whether what is split by heads or columns has places of its own, with the tokens gathered in front of it.
  bool apart() const { return trains() || net_.program().sequence; }
  bool behind() const {
    return arch_.residual.norms == NormPlace::kBehind || arch_.residual.norms == NormPlace::kAround;
  }
  std::string name(const std::string& part) const { return prefix_ + part; }
  void enter_apart(const char* part);
  void part(Residual& x, const Part& part);
  void parallel(Residual& x);
  void end(Residual& x);
  ValueId body(const Part& part, ValueId h);
  void defer(Residual& x, ValueId y, const Part& part, std::vector<std::string> outs);
  ValueId normed_behind(const Part& part, ValueId y);
  ValueId with_biases(Residual& x);
  /// The layer's experts, if it has them.
  Mixture* experts() { return mixture_ && arch_.mixture->is_of(number_) ? &*mixture_ : nullptr; }
  ValueId attention(ValueId h);
  std::vector<ValueId> queries_keys_values(ValueId h);
  std::vector<ValueId> by_latents(ValueId h);
  bool joins_ranks() const;
  std::array<ValueId, 2> squares_of_ranks(const std::vector<ValueId>& qkv);
  ValueId rotated(bool queries, ValueId x, ValueId squares = runtime::kNoValue);
  ValueId normed_heads(bool queries, ValueId x, ValueId squares);

  Layers& net_;
  const BlockArch& arch_;
  std::optional<Mixture> mixture_;
  // the present layer
  std::int64_t number_ = 0;
  std::string prefix_;
  LayerInputs inputs_;
};

}  // namespace workloads
