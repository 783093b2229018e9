#include "hw/network/cc_core.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "isa/names.h"

namespace hw {

void CcCores::reset(const isa::Programs& programs, std::vector<bool> simulated) {
  const isa::Program& program = *programs.front();
  program_ = &program;
  runs_.assign(program.ranks, nullptr);
  for (const isa::Program* one : programs)
    for (std::uint32_t rank = one->first_rank; rank < one->end_rank(); ++rank) runs_[rank] = one;
  simulated_ = std::move(simulated);
  meetings_.clear();
  lanes_.clear();
  queue_free_.assign(program.ranks, {});
  path_free_.assign(program.ranks, 0);
  sent_.clear();
  records_.clear();
  planner_.reset(program.groups);
  fabric_.reset();
}

std::uint32_t CcCores::set_of(const isa::Instr& instr, std::uint32_t rank) const {
  const auto name = isa::name_of(instr.op);
  if (instr.group >= program_->groups.size())
    throw base::Error{base::Fault::kProgram, name,
                      fmt::format("names replica group {} of {}", instr.group, program_->groups.size()),
                      "list the group in the program"};
  const auto& sets = program_->groups[instr.group];
  for (std::uint32_t s = 0; s < sets.size(); ++s) {
    if (std::ranges::find(sets[s], rank) != sets[s].end()) return s;
  }
  throw base::Error{base::Fault::kProgram, name, fmt::format("rank {} is in no set of group {}", rank, instr.group),
                    "put every rank into the group"};
}

void CcCores::submit(std::uint32_t rank, std::uint32_t call, const isa::Instr& instr, std::uint32_t index, Fs when) {
  auto& lane = lanes_[{rank, instr.queue}];
  lane.push_back({call, index, &instr, when});
  if (lane.size() == 1) release({rank, instr.queue});
}

/// Issues the collectives that wait in a lane, up to a receive without a message.
void CcCores::release(Lane lane) {
  auto& waiting = lanes_[lane];
  while (!waiting.empty() && issue(lane.first, waiting.front())) waiting.pop_front();
}

/// Whether the two ranks of a pair run two programs, so that each has its own instruction.
bool CcCores::separate_sides(const isa::Instr& instr, const std::vector<std::uint32_t>& set) const {
  return isa::between_two(instr.op) && set.size() == 2 && runs_.at(set[0]) != runs_.at(set[1]);
}

bool CcCores::issue(std::uint32_t rank, const Arrival& arrival) {
  const isa::Instr& instr = *arrival.instr;
  const std::uint32_t set = set_of(instr, rank);
  if (!separate_sides(instr, program_->groups[instr.group][set])) {
    meet(rank, {instr.queue, instr.group, set}, arrival);
    return true;
  }
  if (instr.op == isa::Opcode::kRecv) return receive(rank, set, arrival);
  send(rank, set, arrival);
  return true;
}

void CcCores::meet(std::uint32_t rank, const Key& key, const Arrival& arrival) {
  Meeting& meeting = meetings_[key];
  if (!meeting.ranks) {
    meeting.ranks = &program_->groups[key[1]][key[2]];
    for (const auto member : *meeting.ranks) {
      if (simulated_[member]) meeting.arrived[member];
    }
  }
  meeting.arrived[rank].push_back(arrival);
  const bool complete = std::ranges::none_of(meeting.arrived, [](const auto& rank) { return rank.second.empty(); });
  if (complete) launch(key, meeting);
}

/// Records one side of a pair, and notifies listeners.
void CcCores::record_side(std::uint32_t rank, const Arrival& arrival, const CollectivePlan& plan, Fs begin,
                          Fs data_begin, Fs end) {
  const std::uint8_t queue = arrival.instr->queue;
  queue_free_[rank][queue] = end;
  records_.push_back({{{rank, arrival.call, arrival.index}},
                      {.op = arrival.instr->op,
                       .queue = queue,
                       .ranks = 2,
                       .call = arrival.call,
                       .bytes = plan.bytes,
                       .link_bytes = plan.link_bytes,
                       .issued = arrival.when,
                       .begin = begin,
                       .end = end}});
  const double pace = end > data_begin ? static_cast<double>(plan.moving) / static_cast<double>(end - data_begin) : 0;
  listener_.runs(records_.back().members, begin, end);
  listener_.known({rank, arrival.call, queue, data_begin, end, plan.hbm_bandwidth * pace, plan.dma_width * pace});
}

void CcCores::send(std::uint32_t rank, std::uint32_t set, const Arrival& arrival) {
  const isa::Instr& instr = *arrival.instr;
  const std::uint32_t receiver = program_->groups[instr.group][set].at(instr.peer);
  const CollectivePlan& plan = planner_.plan(instr, set);
  const Fs begin = std::max(arrival.when, queue_free_[rank][instr.queue]);
  const Fs data_begin = std::max(begin + plan.floor, plan.moving > 0 ? path_free_[rank] : 0);
  const Fs end = fabric_.move(data_begin, plan.moving, plan.links);
  if (plan.moving > 0) path_free_[rank] = end;
  sent_[{rank, receiver, instr.group}].push_back(end);
  record_side(rank, arrival, plan, begin, data_begin, end);
  for (std::uint8_t queue = 0; queue < isa::kCcQueues; ++queue) release({receiver, queue});
}

bool CcCores::receive(std::uint32_t rank, std::uint32_t set, const Arrival& arrival) {
  const isa::Instr& instr = *arrival.instr;
  auto& messages = sent_[{program_->groups[instr.group][set].at(instr.peer), rank, instr.group}];
  if (messages.empty()) return false;
  const CollectivePlan& plan = planner_.plan(instr, set);
  const Fs begin = std::max(arrival.when, queue_free_[rank][instr.queue]);
  const Fs end = std::max(begin + plan.floor, messages.front());
  messages.pop_front();
  record_side(rank, arrival, plan, begin, end, end);
  return true;
}

/// When the oldest message that the pair's sender has not seen received is there.
Fs CcCores::arrival(const isa::Instr& receive, const std::vector<std::uint32_t>& pair) {
  auto& messages = sent_[{pair.at(receive.peer), pair.at(1u - receive.peer), receive.group}];
  if (messages.empty())
    throw base::Error{base::Fault::kProgram, isa::name_of(receive.op),
                      fmt::format("rank {} has sent nothing to rank {}", pair[receive.peer], pair[1u - receive.peer]),
                      "issue the send before it, from the same engine"};
  const Fs end = messages.front();
  messages.pop_front();
  return end;
}

/// In the order of the group. Ranks that are not simulated behave as the first one that is.
std::vector<Member> CcCores::members_of(const Meeting& meeting) {
  std::vector<Member> out;
  for (const auto rank : *meeting.ranks) {
    const auto found = meeting.arrived.find(rank);
    const Arrival& own = (found == meeting.arrived.end() ? meeting.arrived.begin() : found)->second.front();
    out.push_back({rank, own.call, own.index});
  }
  return out;
}

/// When the last rank has issued it, when all queues are free for it, and all paths to the links.
CcCores::Ready CcCores::ready(const Meeting& meeting, isa::Opcode op, std::uint8_t queue) {
  Ready out;
  for (const auto& [rank, arrivals] : meeting.arrived) {
    const Arrival& arrival = arrivals.front();
    base::ensure(arrival.instr->op == op, "collective", "ranks of a group run different operations at the same point");
    out.issued = std::max(out.issued, arrival.when);
    out.queues = std::max({out.queues, arrival.when, queue_free_[rank][queue]});
    out.paths = std::max(out.paths, path_free_[rank]);
  }
  return out;
}

void CcCores::launch(const Key& key, Meeting& meeting) {
  const auto queue = static_cast<std::uint8_t>(key[0]);
  const Arrival first = meeting.arrived.begin()->second.front();
  const isa::Instr& instr = *first.instr;
  const CollectivePlan& plan = planner_.plan(instr, key[2]);
  const auto [issued, begin, path] = ready(meeting, instr.op, queue);
  Fs data_begin = std::max(begin + plan.floor, plan.moving > 0 ? path : 0);
  if (instr.op == isa::Opcode::kRecv) data_begin = std::max(data_begin, arrival(instr, *meeting.ranks));
  const Fs end = fabric_.move(data_begin, plan.moving, plan.links);
  if (instr.op == isa::Opcode::kSend)
    sent_[{meeting.ranks->at(1u - instr.peer), meeting.ranks->at(instr.peer), instr.group}].push_back(end);

  const double pace = end > data_begin ? static_cast<double>(plan.moving) / static_cast<double>(end - data_begin) : 0;
  std::vector<Done> done;
  const std::vector<Member> members = members_of(meeting);
  for (auto& [rank, arrivals] : meeting.arrived) {
    queue_free_[rank][queue] = end;
    if (plan.moving > 0) path_free_[rank] = end;
    done.push_back(
        {rank, arrivals.front().call, queue, data_begin, end, plan.hbm_bandwidth * pace, plan.dma_width * pace});
    arrivals.pop_front();
  }
  records_.push_back({members,
                      {.op = instr.op,
                       .queue = queue,
                       .ranks = static_cast<std::uint32_t>(meeting.ranks->size()),
                       .call = first.call,
                       .bytes = plan.bytes,
                       .link_bytes = plan.link_bytes,
                       .issued = issued,
                       .begin = begin,
                       .end = end}});
  listener_.runs(members, begin, end);
  for (const Done& one : done) listener_.known(one);
}

std::vector<CollectiveTime> CcCores::records(std::uint32_t rank) const {
  std::vector<CollectiveTime> records;
  for (const Record& record : records_) {
    const auto found = std::ranges::find(record.members, rank, &Member::rank);
    if (found == record.members.end()) continue;
    records.push_back(record.time);
    records.back().call = found->call;
  }
  return records;
}

std::string CcCores::stuck() const {
  for (const auto& [key, meeting] : meetings_) {
    for (const auto& [rank, arrivals] : meeting.arrived) {
      if (arrivals.empty()) continue;
      for (const auto& [other, missing] : meeting.arrived) {
        if (missing.empty())
          return fmt::format("rank {} waits in {} on queue {} for rank {}", rank,
                             isa::name_of(arrivals.front().instr->op), key[0], other);
      }
    }
  }
  for (const auto& [lane, waiting] : lanes_) {
    if (waiting.empty()) continue;
    const isa::Instr& instr = *waiting.front().instr;
    return fmt::format("rank {} waits in {} on queue {} for a message of rank {}", lane.first, isa::name_of(instr.op),
                       lane.second, program_->groups[instr.group][set_of(instr, lane.first)].at(instr.peer));
  }
  return {};
}

}  // namespace hw
