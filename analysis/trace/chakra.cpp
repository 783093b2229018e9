// Chakra execution traces: a delimited stream of protocol buffers. Field numbers: schema/protobuf/et_def.proto of
// mlcommons/chakra.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <protozero/pbf_writer.hpp>
#include <protozero/varint.hpp>

#include "analysis/trace/trace.h"
#include "base/error.h"
#include "base/files.h"
#include "isa/names.h"

namespace analysis {
namespace {

constexpr std::uint64_t kComputation = 4, kSend = 5, kReceive = 6, kCollective = 7;  // NodeType
using Message = protozero::pbf_writer;
constexpr protozero::pbf_tag_type kName = 1, kInt64 = 9, kUint64 = 13, kBool = 27, kString = 29;  // AttributeProto

struct CollectiveType {
  isa::Opcode op;
  std::uint64_t type;  // CollectiveCommType
};
constexpr std::array kTypes = {
    CollectiveType{isa::Opcode::kAllReduce, 0},     CollectiveType{isa::Opcode::kAllGather, 2},
    CollectiveType{isa::Opcode::kBroadcast, 5},     CollectiveType{isa::Opcode::kAllToAll, 6},
    CollectiveType{isa::Opcode::kReduceScatter, 7}, CollectiveType{isa::Opcode::kBarrier, 9}};

/// An attribute of a message under `field`; its value is still to be added.
Message attribute(Message& of, protozero::pbf_tag_type field, const char* name) {
  Message a{of, field};
  a.add_string(kName, name);
  return a;
}

std::uint64_t micros(hw::Fs time) { return (time + 500'000'000) / 1'000'000'000; }

class ChakraWriter {
 public:
  explicit ChakraWriter(const Record& record) : record_{record}, result_{record.result} {
    for (std::size_t c = 0; c < result_.collectives.size(); ++c) {
      queues_.at(result_.collectives[c].queue).push_back(c);
    }
    nodes_.resize(result_.collectives.size());
  }

  std::string bytes() {
    std::string metadata;
    Message about{metadata};
    about.add_string(1, "0.0.4");
    attribute(about, 2, "source")
        .add_string(kString, fmt::format("trnsim {}, program {}, rank {}", record_.info.trnsim, record_.program.name,
                                         result_.rank));
    put(metadata);
    hw::Fs end = result_.lead_in;
    for (std::size_t c = 0; c < result_.calls.size(); ++c) {
      write_call(c, end);
      end = result_.calls[c].end;
    }
    return out_;
  }
  std::uint64_t nodes() const { return next_ - 1; }

 private:
  /// A call is cut at each collective that it issues, so that these depend only on earlier work.
  void write_call(std::size_t index, hw::Fs before) {
    const hw::CallTime& call = result_.calls[index];
    std::vector<std::uint64_t> data = awaited(index);
    std::vector<std::uint64_t> issued;
    hw::Fs at = call.begin;
    for (std::size_t c = 0; c < result_.collectives.size(); ++c) {
      const hw::CollectiveTime& collective = result_.collectives[c];
      if (collective.call != index) continue;
      const hw::Fs until = std::clamp(collective.issued, at, call.end);
      write_compute(call, at, until - at, data);
      data.clear();
      at = until;
      write_collective(c, last_compute_);
      issued.push_back(nodes_[c]);
    }
    const hw::Fs waited = std::min(waited_inside(index, before), call.end - at);
    if (waited > 0) data.insert(data.end(), issued.begin(), issued.end());
    write_compute(call, at, call.end - at - waited, data);
  }

  std::vector<std::uint64_t> awaited(std::size_t call) const {
    std::vector<std::uint64_t> ids;
    for (std::size_t q = 0; q < queues_.size(); ++q) {
      const std::uint32_t count = record_.program.calls[call].await[q];
      if (count > 0 && count <= queues_[q].size()) ids.push_back(nodes_[queues_[q][count - 1]]);
    }
    std::erase(ids, 0u);
    return ids;
  }

  /// How long the engines waited for collectives inside the call, not in the step to it.
  hw::Fs waited_inside(std::size_t index, hw::Fs before) const {
    const hw::CallTime& call = result_.calls[index];
    const auto hold = [](hw::Hold h) { return static_cast<std::size_t>(h); };
    hw::Fs most = 0;
    for (const hw::EngineTime& engine : call.engines) {
      const hw::Fs gap = call.begin - std::min(before, call.begin);
      const hw::Fs in_gap = gap - std::min(gap, engine.waiting[hold(hw::Hold::kBarrier)]);
      const hw::Fs waited = engine.waiting[hold(hw::Hold::kCollective)];
      most = std::max(most, waited - std::min(waited, in_gap));
    }
    return most;
  }

  /// An item of the delimited stream: its length, then the item.
  void put(const std::string& item) {
    protozero::write_varint(std::back_inserter(out_), item.size());
    out_ += item;
  }

  void begin_node(Message& n, std::string_view name, std::uint64_t type, hw::Fs begin, hw::Fs duration) {
    n.add_uint64(1, next_++);
    n.add_string(2, name.data(), name.size());
    n.add_uint64(3, type);
    n.add_uint64(6, micros(begin));
    n.add_uint64(7, micros(begin + duration) - micros(begin));
  }

  void write_compute(const hw::CallTime& call, hw::Fs begin, hw::Fs duration, const std::vector<std::uint64_t>& data) {
    const isa::Block& block = record_.program.blocks[call.block];
    const std::string name = call.layer < 0 ? block.name : fmt::format("{}[{}]", block.name, call.layer);
    const std::uint64_t id = next_;
    std::string bytes;
    Message n{bytes};
    begin_node(n, name, kComputation, begin, duration);
    if (last_compute_ > 0) n.add_uint64(4, last_compute_);
    for (const std::uint64_t dependence : data) n.add_uint64(5, dependence);
    attribute(n, 10, "is_cpu_op").add_bool(kBool, false);
    attribute(n, 10, "num_ops").add_int64(kInt64, std::llround(block.matmul_flops));
    attribute(n, 10, "tensor_size").add_uint64(kUint64, call.dma.read_bytes + call.dma.written_bytes);
    put(bytes);
    last_compute_ = id;
  }

  void write_collective(std::size_t index, std::uint64_t after) {
    const hw::CollectiveTime& c = result_.collectives[index];
    nodes_[index] = next_;
    const auto found = std::ranges::find(kTypes, c.op, &CollectiveType::op);
    const std::uint64_t type = c.op == isa::Opcode::kSend ? kSend : c.op == isa::Opcode::kRecv ? kReceive : kCollective;
    base::ensure(type != kCollective || found != kTypes.end(), isa::name_of(c.op), "has no type in Chakra");
    std::string bytes;
    Message n{bytes};
    begin_node(n, isa::name_of(c.op), type, c.begin, c.end - c.begin);
    n.add_uint64(5, after);
    attribute(n, 10, "is_cpu_op").add_bool(kBool, false);
    attribute(n, 10, "comm_size").add_int64(kInt64, static_cast<std::int64_t>(c.bytes));
    if (type == kCollective) attribute(n, 10, "comm_type").add_uint64(kInt64, found->type);
    put(bytes);
  }

  const Record& record_;
  const hw::SimResult& result_;
  std::string out_;
  std::uint64_t next_ = 1, last_compute_ = 0;
  std::array<std::vector<std::size_t>, isa::kCcQueues> queues_;
  std::vector<std::uint64_t> nodes_;  // of each collective
};

}  // namespace

TraceSummary write_chakra(const Record& record, const std::filesystem::path& path) {
  ChakraWriter writer{record};
  const std::string bytes = writer.bytes();
  base::write_file(path, bytes);
  return {.detail = "calls", .slices = writer.nodes(), .flows = 0, .counter_values = 0, .bytes = bytes.size()};
}

}  // namespace analysis
