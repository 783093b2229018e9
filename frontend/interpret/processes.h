// Several processes that run a program at once and talk to each other: collectives, channels, feeds. One thread each.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "frontend/interpret/value.h"

namespace trnsim::frontend {

/// All processes of a program: a grid of replicas by partitions.
class World {
 public:
  World(std::int64_t replicas, std::int64_t partitions) : replicas_{replicas}, partitions_{partitions} {}

  std::int64_t replicas() const { return replicas_; }
  std::int64_t partitions() const { return partitions_; }
  std::int64_t size() const { return replicas_ * partitions_; }

  /// A collective's members by their flat id: replica * partitions + partition.
  using Group = std::vector<std::int64_t>;
  /// Waits until all of the group have brought their values under the same key, and returns all of them in the group's
  /// order. Errors: Fault::kProgram when that cannot happen any more.
  std::vector<std::vector<Value>> meet(const Group& group, std::int64_t channel, std::int64_t self,
                                       std::vector<Value> values);
  void send(std::int64_t channel, std::vector<Value> values);
  std::vector<Value> receive(std::int64_t channel);
  /// The process has ended, well or not.
  void leave(bool failed);

  /// The values that a host would feed: called for each infeed, in turn.
  std::deque<std::function<std::vector<Value>()>> infeed;
  std::vector<std::vector<Value>> outfeed;
  std::mutex feeds;

 private:
  struct Meeting {
    std::map<std::int64_t, std::vector<Value>> brought;
    std::vector<std::vector<Value>> all;
    std::int64_t left = 0;  // members that have yet to take the values
  };
  using Done = std::function<bool()>;
  void wait(std::unique_lock<std::mutex>& lock, const Done& done);
  bool stuck() const;

  std::int64_t replicas_, partitions_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::pair<Group, std::int64_t>, Meeting> meetings_;
  std::map<std::int64_t, std::deque<std::vector<Value>>> channels_;
  std::list<const Done*> waiting_;
  std::int64_t gone_ = 0;
  bool failed_ = false;
};

/// One of them; without a world, the only one.
class Process {
 public:
  Process() = default;
  Process(World& world, std::int64_t replica, std::int64_t partition)
      : world_{&world}, replica_{replica}, partition_{partition} {}

  std::int64_t replica() const { return replica_; }
  std::int64_t partition() const { return partition_; }
  std::int64_t replicas() const { return world_ == nullptr ? 1 : world_->replicas(); }
  std::int64_t partitions() const { return world_ == nullptr ? 1 : world_->partitions(); }
  std::int64_t flat() const { return replica_ * partitions() + partition_; }
  World* world() const { return world_; }

 private:
  World* world_ = nullptr;
  std::int64_t replica_ = 0, partition_ = 0;
};

}  // namespace trnsim::frontend
