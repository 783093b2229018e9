#include "hw/cc_core.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "isa/table.h"

namespace hw {

void CcCores::reset(const isa::Program& program, std::vector<bool> simulated) {
  program_ = &program;
  simulated_ = std::move(simulated);
  meetings_.clear();
  queue_free_.assign(program.ranks, {});
  path_free_.assign(program.ranks, 0);
  sent_.clear();
  records_.clear();
  planner_.reset(program.groups);
  fabric_.reset();
}

std::uint32_t CcCores::set_of(const isa::Instr& instr, std::uint32_t rank) const {
  const auto name = isa::row(instr.op).name;
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
  const Key key{instr.queue, instr.group, set_of(instr, rank)};
  Meeting& meeting = meetings_[key];
  if (!meeting.ranks) {
    meeting.ranks = &program_->groups[key[1]][key[2]];
    for (const auto member : *meeting.ranks) {
      if (simulated_[member]) meeting.arrived[member];
    }
  }
  meeting.arrived[rank].push_back({call, index, &instr, when});
  const bool complete = std::ranges::none_of(meeting.arrived, [](const auto& rank) { return rank.second.empty(); });
  if (complete) launch(key, meeting);
}

/// When the oldest message that the pair's sender has not seen received is there.
Fs CcCores::arrival(const isa::Instr& receive, const std::vector<std::uint32_t>& pair) {
  auto& messages = sent_[{pair.at(receive.peer), pair.at(1u - receive.peer)}];
  if (messages.empty())
    throw base::Error{base::Fault::kProgram, isa::row(receive.op).name,
                      fmt::format("rank {} has sent nothing to rank {}", pair[receive.peer], pair[1u - receive.peer]),
                      "issue the send before it, from the same engine"};
  const Fs end = messages.front();
  messages.pop_front();
  return end;
}

void CcCores::launch(const Key& key, Meeting& meeting) {
  const auto queue = static_cast<std::uint8_t>(key[0]);
  const Arrival first = meeting.arrived.begin()->second.front();
  const isa::Instr& instr = *first.instr;
  const CollectivePlan& plan = planner_.plan(instr, key[2]);
  Fs issued = 0, begin = 0, path = 0;
  for (const auto& [rank, arrivals] : meeting.arrived) {
    const Arrival& arrival = arrivals.front();
    base::ensure(arrival.instr->op == instr.op, "collective", "ranks of a group meet with other operations");
    issued = std::max(issued, arrival.when);
    begin = std::max({begin, arrival.when, queue_free_[rank][queue]});
    path = std::max(path, path_free_[rank]);
  }
  Fs data_begin = std::max(begin + plan.floor, plan.moving > 0 ? path : 0);
  if (instr.op == isa::Opcode::kRecv) data_begin = std::max(data_begin, arrival(instr, *meeting.ranks));
  const Fs end = fabric_.move(data_begin, plan.moving, plan.links);
  if (instr.op == isa::Opcode::kSend)
    sent_[{meeting.ranks->at(1u - instr.peer), meeting.ranks->at(instr.peer)}].push_back(end);

  const double pace = end > data_begin ? static_cast<double>(plan.moving) / static_cast<double>(end - data_begin) : 0;
  std::vector<std::uint32_t> calls;
  std::vector<Done> done;
  for (auto& [rank, arrivals] : meeting.arrived) {
    queue_free_[rank][queue] = end;
    if (plan.moving > 0) path_free_[rank] = end;
    done.push_back(
        {rank, arrivals.front().call, queue, data_begin, end, plan.hbm_bandwidth * pace, plan.dma_width * pace});
    arrivals.pop_front();
  }
  for (const auto member : *meeting.ranks) {
    const auto found = std::ranges::find(done, member, &Done::rank);
    calls.push_back(found == done.end() ? first.call : found->call);
  }
  records_.push_back({meeting.ranks,
                      {.op = instr.op,
                       .queue = queue,
                       .ranks = static_cast<std::uint32_t>(meeting.ranks->size()),
                       .call = first.call,
                       .bytes = plan.bytes,
                       .link_bytes = plan.link_bytes,
                       .issued = issued,
                       .begin = begin,
                       .end = end}});
  listener_.runs(*meeting.ranks, calls, first.index, begin, end);
  for (const Done& one : done) listener_.known(one);
}

std::vector<CollectiveTime> CcCores::records(std::uint32_t rank) const {
  std::vector<CollectiveTime> records;
  for (const Record& record : records_) {
    if (std::ranges::find(*record.ranks, rank) != record.ranks->end()) records.push_back(record.time);
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
                             isa::row(arrivals.front().instr->op).name, key[0], other);
      }
    }
  }
  return {};
}

}  // namespace hw
