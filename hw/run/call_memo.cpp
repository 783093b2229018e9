#include "hw/run/call_memo.h"

#include <algorithm>

#include "hw/timed_block.h"

namespace hw {

const KnownCall* KnownCalls::find(double tokens, const ColdStart::State& warmth) const {
  const auto found = std::ranges::find_if(calls_, [&](const KnownCall& call) {
    return call.tokens == tokens && call.warmth.warm == warmth.warm && call.warmth.hot == warmth.hot;
  });
  return found == calls_.end() ? nullptr : &*found;
}

void KnownCalls::add(KnownCall call) {
  if (calls_.size() < kMost && !find(call.tokens, call.warmth)) calls_.push_back(std::move(call));
}

std::shared_ptr<const TimedBlock> BlockTimes::get(const isa::Block& block, const MachineParams& machine) {
  if (machine_ != machine.hash) entries_.clear();
  machine_ = machine.hash;
  const auto instrs = block.instrs.identity();
  if (const auto known = entries_.find(instrs.get()); instrs && known != entries_.end()) {
    ++found_;
    return known->second.timed;
  }
  std::erase_if(entries_, [](const auto& entry) { return entry.second.instrs.expired(); });
  const isa::ReadOnce reading{block.instrs};
  TimedBlock timed = time_block(block, machine);
  timed.known = std::make_shared<KnownCalls>();
  const auto out = std::make_shared<const TimedBlock>(std::move(timed));
  if (instrs) entries_[instrs.get()] = {instrs, out};
  return out;
}

void BlockTimes::mark() {
  for (auto& [at, entry] : entries_) entry.timed->known->mark();
}

std::vector<BlockNews> BlockTimes::news() const {
  std::vector<BlockNews> out;
  for (const auto& [at, entry] : entries_)
    for (KnownCall& call : entry.timed->known->news()) out.push_back({at, std::move(call)});
  return out;
}

void BlockTimes::learn(std::vector<BlockNews> news) {
  for (BlockNews& one : news)
    if (const auto entry = entries_.find(one.instrs); entry != entries_.end())
      entry->second.timed->known->add(std::move(one.call));
}

}  // namespace hw
