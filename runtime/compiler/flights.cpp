#include "runtime/compiler/flights.h"

#include <algorithm>

#include "runtime/graph/op.h"

namespace runtime {

void Flights::wait_for(const std::unordered_map<ValueId, std::uint32_t>& last, ValueId v) {
  if (const auto found = last.find(graph_.root(v)); found != last.end()) awaited_ = std::max(awaited_, found->second);
}

std::uint32_t Flights::awaited_by(const std::vector<NodeId>& call) {
  for (const NodeId n : call) {
    const Node& node = graph_.node(n);
    if (node.op->looks_on) continue;
    for (const ValueId v : node.in) wait_for(writes_, v);
    for (const ValueId v : node.out) wait_for(writes_, v), wait_for(reads_, v);
  }
  return awaited_;
}

std::vector<ValueId> Flights::landed(bool all) {
  std::vector<ValueId> out;
  for (; !flights_.empty() && (all || flights_.front().count <= awaited_); flights_.pop_front())
    out.insert(out.end(), {flights_.front().source, flights_.front().result});
  return out;
}

void Flights::begin(const std::vector<NodeId>& call) {
  for (const NodeId n : call) {
    const Node& node = graph_.node(n);
    if (node.op->collective != Collective::kInStep && node.op->collective != Collective::kAhead) continue;
    ++issued_;
    if (node.op->collective == Collective::kInStep) {
      awaited_ = issued_;
      continue;
    }
    flights_.push_back({issued_, graph_.root(node.in[0]), graph_.root(node.out[0])});
    reads_[graph_.root(node.in[0])] = writes_[graph_.root(node.out[0])] = issued_;
  }
}

}  // namespace runtime
