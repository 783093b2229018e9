// The gradients of a stage on their way to the update: reduced over ranks, and their norm.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/graph/graph.h"
#include "workloads/step/optimizer_step.h"
#include "workloads/step/step.h"

namespace workloads {

/// A weight's name taken apart: the repeated block that it belongs to (-1: none), and its name there.
struct WeightPlace {
  std::int32_t layer = -1;
  std::string label;
};
WeightPlace place_of(const std::string& name, std::string_view repeated);

class Gradients {
 public:
  using ValueId = runtime::ValueId;

  struct Parameter {
    ValueId weight, gradient;
  };
  /// The part of a bucket that one data-parallel rank updates.
  struct Shard {
    std::vector<std::size_t> members;
    ValueId gradient;
    bool split, shared, counted, decays;
  };

  /// Keeps references to all but `gradients`.
  Gradients(runtime::Graph& graph, const std::map<ValueId, ValueId>& gradients, const Step& step,
            std::string_view repeated, const ParameterSets& sets);

  void reduce_all();
  /// The factor of clipping by the norm over all ranks and stages.
  ValueId clip_factor();

  const std::vector<Parameter>& weights() const { return weights_; }
  /// Empty without ZeRO.
  const std::vector<Shard>& shards() const { return shards_; }
  bool is_tied(std::size_t i) const { return sets_.tied.contains(weights_[i].weight); }
  /// Each rank has its own part.
  bool is_split(std::size_t i) const { return sets_.split.contains(weights_[i].weight); }
  /// Neighbours have the same part.
  bool is_shared(std::size_t i) const { return sets_.shared.contains(weights_[i].weight); }
  bool decays(std::size_t i) const {
    return step_.optimizer.weight_decay > 0 &&
           (step_.optimizer.decay_all || !sets_.spared.contains(weights_[i].weight));
  }
  std::map<std::int32_t, std::vector<std::size_t>> by_layer() const;

  void enter(const char* what, std::int32_t layer, isa::Phase phase);
  /// A collective has a scope of its own.
  void enter_collective(const char* what, std::size_t number);

 private:
  /// Whether its gradient counts in the norm here: tensors on two stages count on the first.
  bool is_counted(std::size_t i) const { return step_.stage == 0 || !is_tied(i); }
  template <class KindOf>
  std::vector<std::vector<std::size_t>> buckets(const KindOf& kind_of) const;
  std::vector<ValueId> gradients_of(const std::vector<std::size_t>& members) const;
  void all_reduce(const std::vector<std::size_t>& members, const char* scope, std::size_t number, std::uint8_t group,
                  std::int64_t parts = 1);
  void reduce();
  void reduce_set(const std::set<ValueId>& set, const char* scope, std::uint8_t group);
  void reduce_tied();
  void scatter();
  void add_squares(std::vector<ValueId>& parts, const std::vector<ValueId>& gradients, bool shared);
  std::vector<ValueId> squares(bool split);
  void sum_over(std::vector<ValueId>& parts, const char* scope, std::uint8_t group);
  ValueId over_stages(const std::vector<ValueId>& parts);

  runtime::Graph& graph_;
  const Step& step_;
  const std::string_view repeated_;
  const ParameterSets& sets_;
  std::vector<Parameter> weights_;
  std::vector<Shard> shards_;
};

}  // namespace workloads
