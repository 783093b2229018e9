#include "runtime/compiler/memory_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/units.h"
#include "runtime/compiler/flights.h"
#include "runtime/ops/ops.h"
#include "runtime/ops/optimizer_inputs.h"

namespace runtime {

std::int64_t bucket_elements(const Graph& graph, const std::vector<ValueId>& values, std::int64_t ranks) {
  std::int64_t elements = 0;
  for (const ValueId v : values) elements += bucket_elements(graph.value(v));
  const std::int64_t part = static_cast<std::int64_t>(isa::kHbmAlign) * ranks;
  return (elements + part - 1) / part * part;
}

namespace {

/// Addresses that come and go, first fit. It keeps the holes, which join again: there are few, however many tensors
/// live.
class Arena {
 public:
  std::uint64_t take(std::uint64_t bytes) {
    bytes = aligned(bytes);
    const auto hole = std::ranges::find_if(holes_, [&](const auto& h) { return h.second - h.first >= bytes; });
    const auto [begin, end] = *hole;
    const auto after = holes_.erase(hole);
    if (begin + bytes < end) holes_.emplace_hint(after, begin + bytes, end);
    used_[begin] = bytes;
    peak_ = std::max(peak_, begin + bytes);
    return begin;
  }

  void give_back(std::uint64_t at) {
    const auto used = used_.find(at);
    std::uint64_t end = at + used->second;
    used_.erase(used);
    auto after = holes_.lower_bound(at);
    if (after != holes_.end() && after->first == end) {
      end = after->second;
      after = holes_.erase(after);
    }
    if (after != holes_.begin() && std::prev(after)->second == at) {
      std::prev(after)->second = end;
    } else {
      holes_.emplace_hint(after, at, end);
    }
  }

  std::uint64_t peak() const { return peak_; }

 private:
  std::map<std::uint64_t, std::uint64_t> holes_{{0, ~std::uint64_t{0}}};  // [begin, end): the last one has no end
  std::unordered_map<std::uint64_t, std::uint64_t> used_;                 // begin: bytes
  std::uint64_t peak_ = 0;
};

class Planner {
 public:
  Planner(const Graph& graph, const std::vector<std::vector<NodeId>>& calls, const std::vector<isa::Region>* shared)
      : graph_{graph}, calls_{calls}, lives_(graph.value_count()) {
    if (!shared) return;
    for (const isa::Region& region : *shared) {
      if (region.kind == "weights" || region.kind == "optimizer" || region.kind == "cache")
        taken_[region.name] = &region;
      if (region.kind == "activations" || region.kind == "workspace") continue;
      plan_.persistent_end = std::max(plan_.persistent_end, region.offset + region.bytes);
    }
  }

  MemoryPlan run(const std::vector<bool>& in_hbm) {
    place_persistent();
    place_activations(in_hbm);
    return std::move(plan_);
  }

  MemoryPlan least() {
    place_persistent();
    std::vector<std::uint64_t> begins(calls_.size()), ends(calls_.size());
    for (ValueId v = 0; v < lives_.size(); ++v) {
      const Life& life = lives_[v];
      if (!life || graph_.value(v).kind != Kind::kActivation || life.first == life.last || plan_.address.contains(v))
        continue;
      begins[life.first] += aligned(graph_.value(v).bytes());
      ends[life.last] += aligned(graph_.value(v).bytes());
    }
    std::uint64_t live = 0, peak = 0;
    for (std::size_t c = 0; c < calls_.size(); ++c) {
      peak = std::max(peak, live += begins[c]);
      live -= ends[c];
    }
    plan_.total = plan_.persistent_end + peak;
    plan_.bytes_by_kind["activations"] = peak;
    return std::move(plan_);
  }

 private:
  /// The first and the last call that name a tensor, if any does.
  struct Life {
    std::size_t first = kNever, last = 0;
    explicit operator bool() const { return first != kNever; }
    void reach(std::size_t call) { last = std::max(last, call); }
  };
  static constexpr std::size_t kNever = ~std::size_t{0};

  void place_persistent() {
    find_lives();
    place_buckets();
    for (const Kind kind :
         {Kind::kWeight, Kind::kOptimizer, Kind::kGradient, Kind::kCache, Kind::kInput, Kind::kOutput})
      place_kind(kind);
    for (std::size_t c = calls_.size(); c-- > 0;)
      for (auto n = calls_[c].rbegin(); n != calls_[c].rend(); ++n) place_early(c, graph_.node(*n));
  }

  /// A temporary tensor of which an element-wise node makes a gradient, after which nothing reads it, is where the
  /// gradient will be from the start, and so is the one that it is made of: micro-batches are summed in one place.
  /// Source: XLA, BufferAssignment: an operand shares its user's buffer.
  void place_early(std::size_t call, const Node& node) {
    if (!node.op->lower_columns || node.out.size() != 1) return;
    const ValueId y = node.out[0];
    const Value& result = graph_.value(y);
    const bool placed = result.kind == Kind::kGradient || result.kind == Kind::kActivation;
    if (!placed || !plan_.address.contains(y) || graph_.root(y) != y || lives_[y].first != call) return;
    for (const ValueId x : node.in) {
      const Value& value = graph_.value(x);
      const bool alike = value.rows == result.rows && value.cols == result.cols && value.dtype == result.dtype;
      if (!alike || value.kind != Kind::kActivation || graph_.root(x) != x || plan_.address.contains(x)) continue;
      if (lives_[x].first == call || lives_[x].last != call || readers(call, x) != 1) continue;
      plan_.address[x] = plan_.address.at(y);
      return;
    }
  }

  /// How often nodes of a call name a tensor.
  std::int64_t readers(std::size_t call, ValueId tensor) const {
    std::int64_t count = 0;
    for (const NodeId n : calls_[call])
      count += std::ranges::count_if(graph_.node(n).in, [&](ValueId v) { return graph_.root(v) == tensor; });
    return count;
  }

  void find_lives() {
    Flights flights{graph_};
    for (std::size_t c = 0; c < calls_.size(); ++c) {
      for (const NodeId n : calls_[c]) {
        const Node& node = graph_.node(n);
        // Collectives alongside the compute may still be at work long after its call.
        const bool beside = node.op->collective == Collective::kBeside;
        for (const auto* list : {&node.in, &node.out})
          for (const ValueId v : *list) {
            Life& life = lives_[graph_.root(v)];
            if (!life) life = {c, c};
            life.reach(beside ? calls_.size() - 1 : c);
          }
      }
      flights.awaited_by(calls_[c]);
      for (const ValueId v : flights.landed()) lives_[v].reach(c);
      flights.begin(calls_[c]);
    }
    for (const ValueId v : flights.landed(true)) lives_[v].reach(calls_.size() - 1);
  }

  void place(ValueId v) {
    if (plan_.address.contains(v)) return;
    const Value& value = graph_.value(v);
    const auto taken = taken_.find(value.name);
    const bool fresh = taken == taken_.end();
    const std::uint64_t at = fresh ? plan_.persistent_end : taken->second->offset;
    if (fresh) plan_.persistent_end += aligned(value.bytes());
    plan_.address[v] = at;
    plan_.bytes_by_kind[std::string{name_of(value.kind)}] += aligned(value.bytes());
    plan_.regions.push_back({.name = value.name,
                             .kind = std::string{name_of(value.kind)},
                             .dtype = value.dtype,
                             .shape = {value.rows, value.cols},
                             .offset = at,
                             .bytes = value.bytes()});
  }

  void place_kind(Kind kind) {
    for (ValueId v = 0; v < graph_.value_count(); ++v)
      if (graph_.value(v).kind == kind && graph_.root(v) == v && (kind != Kind::kGradient || lives_[v])) place(v);
  }

  void place_buckets() {
    for (const auto& call : calls_)
      for (const NodeId n : call) place_bucket(graph_.node(n));
  }

  /// Side by side, each as long as in any other bucket of the same tensors, then padding that makes it divisible by the
  /// ranks.
  void place_bucket(const Node& node) {
    if (node.op->bucket_from < 0) return;
    std::vector<ValueId> members{node.in.begin() + node.op->bucket_from, node.in.end()};
    for (ValueId& v : members) v = graph_.root(v);
    if (plan_.address.contains(members.front())) return;
    const std::uint64_t begin = plan_.persistent_end;
    const auto size = static_cast<std::uint64_t>(isa::size_of(graph_.value(members.front()).dtype));
    for (const ValueId v : members) {
      const std::uint64_t at = plan_.persistent_end;
      place(v);
      if (plan_.persistent_end > at)  // not where another program has it
        plan_.persistent_end = at + static_cast<std::uint64_t>(bucket_elements(graph_.value(v))) * size;
    }
    if (plan_.persistent_end == begin) return;
    const std::int64_t ranks = node.attrs.as<CollectiveAttrs>().ranks;
    plan_.persistent_end = begin + static_cast<std::uint64_t>(bucket_elements(graph_, members, ranks)) * size;
  }

  using ByCall = std::vector<std::vector<ValueId>>;

  /// The call at which most bytes of temporary tensors are held.
  std::size_t fullest_call(const ByCall& born, const ByCall& dies) const {
    std::uint64_t held = 0, most = 0;
    std::size_t fullest = 0;
    for (std::size_t c = 0; c < born.size(); ++c) {
      for (const ValueId v : born[c]) held += aligned(graph_.value(v).bytes());
      if (held > most) most = held, fullest = c;
      for (const ValueId v : dies[c]) held -= aligned(graph_.value(v).bytes());
    }
    return fullest;
  }

  /// The largest tensors there, which layers have under one name.
  void note_fullest(const ByCall& born, const ByCall& dies) {
    constexpr std::size_t kShown = 12;
    const std::size_t fullest = fullest_call(born, dies);
    std::map<std::string, HeldTensors> named;
    for (std::size_t c = 0; c <= fullest && c < born.size(); ++c)
      for (const ValueId v : born[c]) {
        const Value& value = graph_.value(v);
        if (lives_[v].last < fullest) continue;
        const std::string name = value.producer == kNoNode ? value.name : graph_.node(value.producer).label;
        HeldTensors& held = named.try_emplace(name, HeldTensors{.name = name}).first->second;
        held.bytes += aligned(value.bytes()), ++held.count;
      }
    for (auto& [name, held] : named) plan_.fullest.push_back(std::move(held));
    std::ranges::stable_sort(plan_.fullest, std::greater{}, &HeldTensors::bytes);
    plan_.fullest.resize(std::min(plan_.fullest.size(), kShown));
  }

  void place_activations(const std::vector<bool>& in_hbm) {
    std::vector<std::vector<ValueId>> born(calls_.size()), dies(calls_.size());
    for (ValueId v = 0; v < graph_.value_count(); ++v) {
      if (graph_.value(v).kind != Kind::kActivation || graph_.root(v) != v) continue;
      // Tensors that never leave their group have no address; which ones, the blocks' registers say.
      const Life& life = lives_[v];
      if (!life || !in_hbm[v] || plan_.address.contains(v)) continue;
      born[life.first].push_back(v);
      dies[life.last].push_back(v);
    }
    Arena arena;
    std::vector<std::uint64_t> offsets(graph_.value_count());
    for (std::size_t c = 0; c < calls_.size(); ++c) {
      for (const ValueId v : born[c]) {
        offsets[v] = arena.take(graph_.value(v).bytes());
        plan_.activations_without_reuse += aligned(graph_.value(v).bytes());
      }
      for (const ValueId v : dies[c]) arena.give_back(offsets[v]);
    }
    note_fullest(born, dies);
    const std::uint64_t base = plan_.persistent_end;
    for (const auto& list : born)
      for (const ValueId v : list) plan_.address[v] = base + offsets[v];
    plan_.total = base + arena.peak();
    plan_.bytes_by_kind["activations"] = arena.peak();
    if (arena.peak() > 0)
      plan_.regions.push_back({.name = "activations",
                               .kind = "activations",
                               .dtype = Dtype::kUint8,
                               .shape = {static_cast<std::int64_t>(arena.peak())},
                               .offset = base,
                               .bytes = arena.peak()});
  }

  const Graph& graph_;
  const std::vector<std::vector<NodeId>>& calls_;
  std::map<std::string, const isa::Region*> taken_;
  std::vector<Life> lives_;
  MemoryPlan plan_;
};

}  // namespace

void require_fit(std::string_view where, const std::map<std::string, std::uint64_t>& by_kind, std::uint64_t total,
                 std::uint64_t capacity, std::string_view fix, bool least) {
  if (total <= capacity) return;
  const auto readable = [](std::uint64_t bytes) {
    return base::readable(static_cast<double>(bytes), base::Dimension::kBytes);
  };
  std::string table;
  for (const auto& [kind, bytes] : by_kind) table += fmt::format("\n  {:<12} {:>12}", kind, readable(bytes));
  throw base::Error{base::Fault::kCapacity, where,
                    fmt::format("does not fit: a core needs {}{} of HBM but has {}:{}", least ? "at least " : "",
                                readable(total), readable(capacity), table),
                    fix};
}

MemoryPlan plan_memory(const Graph& graph, const std::vector<std::vector<NodeId>>& calls,
                       const std::vector<bool>& in_hbm, const std::vector<isa::Region>* shared) {
  return Planner{graph, calls, shared}.run(in_hbm);
}

MemoryPlan least_memory(const Graph& graph, const std::vector<std::vector<NodeId>>& calls,
                        const std::vector<isa::Region>* shared) {
  return Planner{graph, calls, shared}.least();
}

}  // namespace runtime
