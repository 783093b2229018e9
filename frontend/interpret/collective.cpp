// Collectives by the specification's process groups, channels, feeds, and programs that run beside each other.
#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <optional>
#include <thread>

#include "base/error.h"
#include "frontend/graph/indices.h"
#include "frontend/interpret/control.h"
#include "frontend/interpret/interpreter.h"
#include "frontend/interpret/processes.h"
#include "frontend/interpret/reduction.h"

namespace trnsim::frontend::evaluate {
namespace {

enum class Strategy { kReplicas, kPartitions, kBoth, kFlat };

/// For the reducing and gathering collectives; the others work between replicas, or with a channel between partitions.
Strategy strategy_of(const Attributes& a) {
  if (a.integer("channel_id") <= 0) return Strategy::kReplicas;
  return a.flag("use_global_device_ids") ? Strategy::kFlat : Strategy::kBoth;
}
Strategy pairwise_strategy_of(const Attributes& a) {
  return a.integer("channel_id") > 0 ? Strategy::kPartitions : Strategy::kReplicas;
}

/// The members of a row of groups that this process belongs to, by flat ids; nothing when it does not.
std::optional<World::Group> members(const Process& self, const Ints& row, Strategy strategy) {
  World::Group group;
  const std::int64_t partitions = self.partitions();
  for (std::int64_t p = 0; p < (strategy == Strategy::kBoth ? partitions : 1); ++p)
    for (const std::int64_t id : row) {
      if (id < 0) continue;
      if (strategy == Strategy::kReplicas) group.push_back(id * partitions + self.partition());
      if (strategy == Strategy::kPartitions) group.push_back(self.replica() * partitions + id);
      if (strategy == Strategy::kBoth) group.push_back(id * partitions + p);
      if (strategy == Strategy::kFlat) group.push_back(id);
    }
  if (std::ranges::find(group, self.flat()) == group.end()) return std::nullopt;
  return group;
}

/// Without groups all processes of the strategy are one.
std::optional<World::Group> group_of(const Evaluation& e, Strategy strategy) {
  const IntTable groups = e.attributes().table("replica_groups");
  const Process& self = e.process();
  if (groups.values.empty()) {
    Ints all;
    const std::int64_t count = strategy == Strategy::kFlat         ? self.replicas() * self.partitions()
                               : strategy == Strategy::kPartitions ? self.partitions()
                                                                   : self.replicas();
    for (std::int64_t i = 0; i < count; ++i) all.push_back(i);
    return members(self, all, strategy);
  }
  for (std::int64_t r = 0; r < groups.rows(); ++r) {
    Ints row;
    for (std::int64_t c = 0; c < groups.columns; ++c) row.push_back(groups.at(r, c));
    if (const auto group = members(self, row, strategy)) return group;
  }
  return std::nullopt;
}

/// The operands of all members, in the group's order.
std::vector<std::vector<Value>> meet(const Evaluation& e, const World::Group& group) {
  Process& self = e.process();
  for (const std::int64_t id : group)
    if (id >= self.replicas() * self.partitions())
      e.fail(fmt::format("its groups name process {}, but there are {}", id, self.replicas() * self.partitions()));
  if (group.size() == 1 || self.world() == nullptr) return {e.all_operands()};
  auto all = self.world()->meet(group, e.attributes().integer("channel_id"), self.flat(), e.all_operands());
  for (const std::vector<Value>& values : all) {
    bool same = values.size() == e.operands();
    for (std::size_t i = 0; same && i < values.size(); ++i) same = values[i].type == e.operand(i).type;
    if (!same) e.fail("meets a process with values of other types");
  }
  return all;
}

World::Group required(const Evaluation& e, std::optional<World::Group> group) {
  if (!group) e.fail(fmt::format("process {} is in none of its groups", e.process().flat()));
  return *group;
}

std::int64_t rank_in(const Evaluation& e, const World::Group& group) {
  return std::ranges::find(group, e.process().flat()) - group.begin();
}

/// Tensors joined along a dimension.
Value concatenated(const std::vector<Value>& parts, std::int64_t along) {
  Dims dims = parts.front().type.dims;
  dims[at(along)] = 0;
  for (const Value& part : parts) dims[at(along)] += part.type.dims[at(along)];
  std::int64_t outer = 1, inner = 1;
  for (std::size_t d = 0; d < dims.size(); ++d) (d < at(along) ? outer : inner) *= d == at(along) ? 1 : dims[d];
  const auto join = [&](const auto& first) -> Data {
    using Numbers = std::decay_t<decltype(first)>;
    Numbers out;
    for (std::int64_t o = 0; o < outer; ++o)
      for (const Value& part : parts) {
        const auto& from = std::get<Numbers>(*part.data);
        const std::int64_t run = part.type.dims[at(along)] * inner;
        out.insert(out.end(), from.begin() + o * run, from.begin() + (o + 1) * run);
      }
    return out;
  };
  return exact_value(tensor_type(parts.front().type.element, dims), std::visit(join, *parts.front().data));
}

/// Part `i` of `count` along a dimension.
Value part_of(const Value& from, std::int64_t along, std::int64_t i, std::int64_t count) {
  Dims dims = from.type.dims;
  dims[at(along)] /= count;
  const Ints strides = strides_of(from.type.dims);
  std::vector<std::int64_t> index;
  Ints position(dims.size());
  if (element_count(dims) > 0) do {
      std::int64_t place = i * dims[at(along)] * strides[at(along)];
      for (std::size_t d = 0; d < dims.size(); ++d) place += position[d] * strides[d];
      index.push_back(place);
    } while (next_position(position, dims));
  return picked(from, dims, index);
}

std::vector<Value> column(const std::vector<std::vector<Value>>& all, std::size_t i) {
  std::vector<Value> out;
  for (const std::vector<Value>& values : all) out.push_back(values[i]);
  return out;
}

/// The group's rank whose operand i is the root's.
std::int64_t root_of(const Evaluation& e, const std::vector<std::vector<Value>>& all, std::size_t i) {
  if (!e.attributes().flag("has_dynamic_root")) return 0;
  const std::int64_t root = all.front().back().integers()[i];
  if (root < 0 || root >= static_cast<std::int64_t>(all.size()))
    e.fail(fmt::format("root {} is not in the group", root));
  return root;
}

}  // namespace

void all_gather(Evaluation& e) {
  const World::Group group = required(e, group_of(e, strategy_of(e.attributes())));
  const auto all = meet(e, group);
  for (std::size_t i = 0; i < e.operands(); ++i) {
    const Value out = concatenated(column(all, i), e.attributes().integer("all_gather_dim"));
    if (!(out.type == e.result_type(i)))
      e.fail("gathers " + mlir_text(out.type) + ", not the type that the program states");
    e.put(out);
  }
}

void all_reduce(Evaluation& e) {
  const auto all = meet(e, required(e, group_of(e, strategy_of(e.attributes()))));
  for (std::size_t i = 0; i < e.operands(); ++i) e.put(reduced_by(e, 0, column(all, i), e.result_type(i)));
}

void reduce_scatter(Evaluation& e) {
  const World::Group group = required(e, group_of(e, strategy_of(e.attributes())));
  const auto all = meet(e, group);
  const std::int64_t along = e.attributes().integer("scatter_dimension");
  for (std::size_t i = 0; i < e.operands(); ++i) {
    const Value sum = reduced_by(e, 0, column(all, i), e.result_type(i));
    e.put(part_of(sum, along, rank_in(e, group), static_cast<std::int64_t>(group.size())));
  }
}

void all_to_all(Evaluation& e) {
  const World::Group group = required(e, group_of(e, pairwise_strategy_of(e.attributes())));
  const auto all = meet(e, group);
  const std::int64_t split = e.attributes().integer("split_dimension"), count = e.attributes().integer("split_count");
  for (std::size_t i = 0; i < e.operands(); ++i) {
    std::vector<Value> parts;
    for (const std::vector<Value>& values : all) parts.push_back(part_of(values[i], split, rank_in(e, group), count));
    e.put(concatenated(parts, e.attributes().integer("concat_dimension")));
  }
}

/// All pairs are one meeting: a process may send and receive.
void collective_permute(Evaluation& e) {
  const IntTable pairs = e.attributes().table("source_target_pairs");
  const Strategy strategy = pairwise_strategy_of(e.attributes());
  const Process& self = e.process();
  Ints everyone;
  for (std::int64_t i = 0; i < (strategy == Strategy::kPartitions ? self.partitions() : self.replicas()); ++i)
    everyone.push_back(i);
  const World::Group group = required(e, members(self, everyone, strategy));
  const auto all = meet(e, group);
  const std::int64_t own = rank_in(e, group);
  for (std::size_t i = 0; i < e.operands(); ++i) {
    Value out = zeros(e.result_type(i));
    for (std::int64_t p = 0; p < pairs.rows(); ++p)
      if (pairs.at(p, 1) == own && pairs.at(p, 0) < static_cast<std::int64_t>(all.size()))
        out = all[at(pairs.at(p, 0))][i];
    e.put(out);
  }
}

void collective_broadcast(Evaluation& e) {
  const auto group = group_of(e, pairwise_strategy_of(e.attributes()));
  const std::size_t results = e.node().results;
  if (!group) {
    for (std::size_t i = 0; i < results; ++i) e.put(zeros(e.result_type(i)));
    return;
  }
  const auto all = meet(e, *group);
  for (std::size_t i = 0; i < results; ++i) e.put(all[at(root_of(e, all, i))][i]);
}

void collective_reduce(Evaluation& e) {
  const auto group = group_of(e, pairwise_strategy_of(e.attributes()));
  const std::size_t results = e.node().results;
  std::vector<std::vector<Value>> all;
  if (group) all = meet(e, *group);
  for (std::size_t i = 0; i < results; ++i) {
    const bool root = group && rank_in(e, *group) == root_of(e, all, i);
    e.put(root ? reduced_by(e, 0, column(all, i), e.result_type(i)) : zeros(e.result_type(i)));
  }
}

void partition_id(Evaluation& e) { e.put(value_of(e.result_type(), Integers{e.process().partition()})); }
void replica_id(Evaluation& e) { e.put(value_of(e.result_type(), Integers{e.process().replica()})); }

void send(Evaluation& e) {
  if (e.process().world() == nullptr) e.fail("has no other process to send to");
  std::vector<Value> values = e.all_operands();
  values.pop_back();  // the token
  e.process().world()->send(e.attributes().integer("channel_id"), std::move(values));
  e.put(token_value());
}

void receive(Evaluation& e) {
  if (e.process().world() == nullptr) e.fail("has no other process to receive from");
  for (Value& value : e.process().world()->receive(e.attributes().integer("channel_id"))) e.put(std::move(value));
  e.put(token_value());
}

void infeed(Evaluation& e) {
  World* world = e.process().world();
  if (world == nullptr) e.fail("has no feed");
  const std::lock_guard lock{world->feeds};
  if (world->infeed.empty()) e.fail("reads more than is fed");
  for (Value& value : world->infeed.front()()) e.put(std::move(value));
  world->infeed.pop_front();
  e.put(token_value());
}

void outfeed(Evaluation& e) {
  if (World* world = e.process().world()) {
    const std::lock_guard lock{world->feeds};
    world->outfeed.push_back(e.all_operands());
  }
  e.put(token_value());
}

}  // namespace trnsim::frontend::evaluate
