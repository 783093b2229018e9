// The CC-cores: collectives between the ranks, beside the compute.
#pragma once

#include <array>
#include <deque>
#include <functional>
#include <map>
#include <vector>

#include "hw/collective.h"
#include "hw/network/fabric.h"
#include "hw/run/observer.h"
#include "hw/trace.h"
#include "isa/program.h"

namespace hw {

/// Meets the ranks of a group and lets their data move. A queue runs its collectives in order; the queues of a core
/// share one way out of it, so that only the floors overlap. Ranks that are not simulated are taken to arrive with the
/// last one that is. In a pair that runs two programs, one rank sends without waiting for the other; a receive holds up
/// its queue until the message is there.
class CcCores {
 public:
  struct Done {
    std::uint32_t rank;
    std::uint32_t call;
    std::uint8_t queue;
    Fs data_begin;  // the part that takes HBM and DMA engines
    Fs end;
    double hbm_bandwidth;  // B/s of the core's stack from data_begin to end
    double dma_width;      // of its DMA engines
  };
  struct Listener {
    /// Once per simulated rank, as soon as the end is known.
    std::function<void(const Done&)> known;
    /// Once per collective, as Observer::collective().
    std::function<void(const std::vector<Member>& members, Fs begin, Fs end)> runs;
  };

  CcCores(CollectivePlanner& planner, Fabric& fabric, Listener listener)
      : planner_{planner}, fabric_{fabric}, listener_{std::move(listener)} {}

  /// Programs begin: `simulated[r]` says whether rank r is.
  void reset(const isa::Programs& programs, std::vector<bool> simulated);
  /// `rank` issues `instr`, number `index` of its block, in call `call` at `when`.
  void submit(std::uint32_t rank, std::uint32_t call, const isa::Instr& instr, std::uint32_t index, Fs when);

  /// The collectives of `rank`.
  std::vector<CollectiveTime> records(std::uint32_t rank) const;
  /// The rank that waits, and the ranks that it waits for; empty when none does.
  std::string stuck() const;

 private:
  struct Arrival {
    std::uint32_t call;
    std::uint32_t index;
    const isa::Instr* instr;
    Fs when;
  };
  using Key = std::array<std::uint32_t, 3>;  // queue, group, which of the group's sets of ranks
  struct Meeting {
    const std::vector<std::uint32_t>* ranks = nullptr;
    std::map<std::uint32_t, std::deque<Arrival>> arrived;  // by simulated rank
  };

  struct Record {
    std::vector<Member> members;
    CollectiveTime time;
  };
  using Lane = std::pair<std::uint32_t, std::uint8_t>;  // rank and queue
  using Channel = std::array<std::uint32_t, 3>;         // sender, receiver, group

  std::uint32_t set_of(const isa::Instr& instr, std::uint32_t rank) const;
  bool separate_sides(const isa::Instr& instr, const std::vector<std::uint32_t>& set) const;
  void release(Lane lane);
  bool issue(std::uint32_t rank, const Arrival& arrival);
  void meet(std::uint32_t rank, const Key& key, const Arrival& arrival);
  static std::vector<Member> members_of(const Meeting& meeting);
  struct Ready {
    Fs issued = 0, queues = 0, paths = 0;
  };
  Ready ready(const Meeting& meeting, isa::Opcode op, std::uint8_t queue);
  void launch(const Key& key, Meeting& meeting);
  void send(std::uint32_t rank, std::uint32_t set, const Arrival& arrival);
  bool receive(std::uint32_t rank, std::uint32_t set, const Arrival& arrival);
  void record_side(std::uint32_t rank, const Arrival& arrival, const CollectivePlan& plan, Fs begin, Fs data_begin,
                   Fs end);
  Fs arrival(const isa::Instr& receive, const std::vector<std::uint32_t>& pair);

  CollectivePlanner& planner_;
  Fabric& fabric_;
  Listener listener_;
  const isa::Program* program_ = nullptr;  // one of them: ranks and groups are those of all
  std::vector<const isa::Program*> runs_;  // by rank
  std::vector<bool> simulated_;
  std::map<Lane, std::deque<Arrival>> lanes_;  // what waits behind a receive, which is the first
  std::map<Key, Meeting> meetings_;
  std::vector<std::array<Fs, isa::kCcQueues>> queue_free_;  // by rank
  std::vector<Fs> path_free_;                               // by rank
  std::map<Channel, std::deque<Fs>> sent_;                  // when messages arrive, not yet received
  std::vector<Record> records_;
};

}  // namespace hw
