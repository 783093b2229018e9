// Traces read back: Perfetto's and Chakra's by protobuf's own decoder, Chrome's by a JSON parser.
#include "analysis/trace/trace.h"

#include <gmock/gmock.h>

#include <map>
#include <set>

#include "base/error.h"
#include "base/files.h"
#include "tests/analysis/proto_json.h"
#include "tests/analysis/recorded.h"

namespace {

using analysis::Record;
using analysis::TraceOptions;
using analysis::TraceSummary;
using ProtoJson = proto_json::Json;
using proto_json::whole;
using testing::HasSubstr;

struct Read {
  struct Slice {
    std::string track, name, category;
    std::uint64_t begin = 0, end = 0;  // ns
    int depth = 0;
    std::map<std::string, double> args;
  };
  std::vector<Slice> slices;
  std::map<std::string, std::vector<std::pair<std::uint64_t, double>>> counters;
  std::map<std::uint64_t, std::size_t> flow_from, flow_to;  // slice of each arrow's ends
  std::set<std::string> processes;

  std::vector<Slice> on(const std::string& track, const std::string& category) const {
    std::vector<Slice> list;
    for (const Slice& s : slices) {
      if (s.track == track && s.category == category) list.push_back(s);
    }
    return list;
  }
};

/// Holds what Perfetto demands: tracks are described, slices nest, time does not go back, arrows have two ends.
class PerfettoReader {
 public:
  Read read(const std::filesystem::path& path) {
    const ProtoJson trace = proto_json::Schema{"perfetto.proto"}.decode("perfetto.protos.Trace", base::read_file(path));
    for (const ProtoJson& packet : trace["packet"]) {
      EXPECT_EQ(packet["trusted_packet_sequence_id"], 1);
      if (packet.contains("track_descriptor")) describe(packet["track_descriptor"]);
      if (packet.contains("interned_data")) intern(packet["interned_data"]);
      if (packet.contains("track_event")) event(packet["track_event"], whole(packet["timestamp"]));
    }
    for (const auto& [track, stack] : open_) EXPECT_TRUE(stack.empty()) << tracks_[track];
    for (const auto& [flow, slice] : out_.flow_from) EXPECT_EQ(out_.flow_to.count(flow), 1u) << flow;
    EXPECT_EQ(out_.flow_from.size(), out_.flow_to.size());
    return std::move(out_);
  }

 private:
  void describe(const ProtoJson& track) {
    const std::uint64_t uuid = whole(track["uuid"]);
    EXPECT_TRUE(tracks_.find(uuid) == tracks_.end()) << "described twice";
    if (track.contains("process")) {
      out_.processes.insert(track["process"]["process_name"].get<std::string>());
      tracks_[uuid] = "process";
    } else {
      EXPECT_EQ(tracks_.at(whole(track["parent_uuid"])), "process");
      const ProtoJson& name = track.contains("thread") ? track["thread"]["thread_name"] : track["name"];
      tracks_[uuid] = name.get<std::string>();
      if (track.contains("counter")) {
        EXPECT_NE(track["counter"]["unit_name"], "");
      }
    }
  }
  void intern(const ProtoJson& data) {
    for (const auto& [kind, entries] : data.items()) {
      for (const ProtoJson& entry : entries) {
        EXPECT_TRUE(names_[kind].emplace(whole(entry["iid"]), entry["name"].get<std::string>()).second);
      }
    }
  }
  void event(const ProtoJson& event, std::uint64_t time) {
    const std::uint64_t track = whole(event["track_uuid"]);
    ASSERT_TRUE(tracks_.count(track)) << track;
    EXPECT_GE(time, last_[track]) << tracks_[track];
    last_[track] = time;
    auto& stack = open_[track];
    if (event["type"] == 4) {
      out_.counters[tracks_[track]].emplace_back(time, event["double_counter_value"].get<double>());
    } else if (event["type"] == 2) {
      ASSERT_FALSE(stack.empty()) << tracks_[track];
      out_.slices[stack.back()].end = time;
      stack.pop_back();
    } else {
      begin(event, time, tracks_[track], stack);
    }
  }
  void begin(const ProtoJson& event, std::uint64_t time, const std::string& track, std::vector<std::size_t>& stack) {
    EXPECT_EQ(event["type"], 1);
    Read::Slice slice{.track = track,
                      .name = names_["event_names"].at(whole(event["name_iid"])),
                      .category = names_["event_categories"].at(whole(event["category_iids"][0])),
                      .begin = time,
                      .end = 0,
                      .depth = static_cast<int>(stack.size()),
                      .args = {}};
    for (const ProtoJson& arg : event.value("debug_annotations", ProtoJson::array())) {
      const std::string& name = names_["debug_annotation_names"].at(whole(arg["name_iid"]));
      slice.args[name] = arg.value("double_value", 0.0);
    }
    const std::size_t index = out_.slices.size();
    for (const ProtoJson& flow : event.value("flow_ids", ProtoJson::array()))
      EXPECT_TRUE(out_.flow_from.emplace(whole(flow), index).second);
    for (const ProtoJson& flow : event.value("terminating_flow_ids", ProtoJson::array()))
      EXPECT_TRUE(out_.flow_to.emplace(whole(flow), index).second);
    stack.push_back(index);
    out_.slices.push_back(std::move(slice));
  }

  Read out_;
  std::map<std::uint64_t, std::string> tracks_;
  std::map<std::string, std::map<std::uint64_t, std::string>> names_;
  std::map<std::uint64_t, std::vector<std::size_t>> open_;
  std::map<std::uint64_t, std::uint64_t> last_;
};

struct Written {
  TraceSummary summary;
  Read read;
};

Written written(const Record& record, const TraceOptions& options = {}) {
  const auto path = recorded::folder() / "trace.pftrace";
  const TraceSummary summary = write_trace(record, path, "pftrace", options);
  EXPECT_EQ(summary.bytes, std::filesystem::file_size(path));
  return {summary, PerfettoReader{}.read(path)};
}

TEST(Perfetto, EveryEngineIsAsBusyAsTheStatisticsSay) {
  const Record record = recorded::record();
  const Read read = written(record).read;
  const char* names[] = {"core 0 tensor", "core 0 vector", "core 0 scalar", "core 0 gpsimd", "core 0 sync"};
  for (int e = 0; e < isa::kEngineCount; ++e) {
    const auto slices = read.on(names[e], "instruction");
    EXPECT_EQ(slices.size(), record.result.engines[e].instructions);
    double ns = 0;
    for (const auto& slice : slices) ns += static_cast<double>(slice.end - slice.begin);
    // Both ends of a slice are rounded to whole nanoseconds.
    EXPECT_NEAR(ns, hw::seconds(record.result.engines[e].busy) * 1e9, static_cast<double>(slices.size()) + 1e-6);
  }
}

TEST(Perfetto, SlicesNestPhaseCallAndOpInstruction) {
  const Read read = written(recorded::record()).read;
  EXPECT_EQ(read.on("core 0 calls", "phase").size(), 2u);
  for (const auto& call : read.on("core 0 calls", "call")) EXPECT_EQ(call.depth, 1);
  const auto matmuls = read.on("core 0 tensor", "instruction");
  ASSERT_FALSE(matmuls.empty());
  for (const auto& slice : matmuls) EXPECT_EQ(slice.depth, 1);
  EXPECT_EQ(read.on("core 0 tensor", "op")[0].name, "layer.mlp.matmul");
  EXPECT_EQ(read.processes, std::set<std::string>{"chip 0"});
  EXPECT_FALSE(read.on("core 1 tensor", "instruction").empty());  // both cores of the chip were simulated
}

TEST(Perfetto, ArrowsLeadFromTheSignalToTheWaiter) {
  const Written w = written(recorded::record());
  EXPECT_EQ(w.summary.flows, w.read.flow_from.size());
  int dma_to_matmul = 0, tensor_to_scalar = 0, issue_to_ring = 0, issue_to_collective = 0;
  for (const auto& [flow, from] : w.read.flow_from) {
    const auto &a = w.read.slices[from], &b = w.read.slices[w.read.flow_to.at(flow)];
    EXPECT_LE(a.begin, b.begin);
    if (a.category == "dma") {
      EXPECT_LE(a.end, b.begin);
    }
    dma_to_matmul += a.track == "core 0 dma3" && b.track == "core 0 tensor" && b.name == "matmul";
    tensor_to_scalar += a.track == "core 0 tensor" && b.track == "core 0 scalar";
    issue_to_ring += a.track == "core 0 sync" && b.track.starts_with("core 0 dma");
    issue_to_collective += a.track == "core 0 sync" && b.track == "core 0 cc0";
  }
  EXPECT_EQ(dma_to_matmul, 2);
  EXPECT_EQ(tensor_to_scalar, 2);
  EXPECT_EQ(issue_to_ring, 4);
  EXPECT_EQ(issue_to_collective, 1);
}

TEST(Perfetto, TheBandwidthCounterCarriesEveryByte) {
  const Record record = recorded::record();
  const Read read = written(record).read;
  const auto& values = read.counters.at("core 0 HBM bandwidth");
  double bytes = 0;
  for (std::size_t i = 0; i + 1 < values.size(); ++i)
    bytes += values[i].second * static_cast<double>(values[i + 1].first - values[i].first);  // GB/s * ns
  const double moved = static_cast<double>(record.result.dma.read_bytes + record.result.dma.written_bytes);
  EXPECT_NEAR(bytes, moved, 0.01 * moved);  // bins of 1/2000 of the time, rounded to nanoseconds
  EXPECT_EQ(read.counters.at("core 0 SBUF per partition")[0].second, 6144);
  EXPECT_EQ(values.back().second, 0);
}

TEST(Perfetto, ThePowerCounterCarriesEveryFlop) {
  const Record record = recorded::record();
  const Read read = written(record).read;
  const auto& values = read.counters.at("core 0 power: load of the PE array");
  double flops = 0;
  for (std::size_t i = 0; i + 1 < values.size(); ++i)
    flops += values[i].second / 100 * static_cast<double>(values[i + 1].first - values[i].first) * 1e-9 *
             record.result.peaks.matmul_flops;
  // A call's load is drawn until the next call begins: the steps between calls count too.
  EXPECT_GE(flops, 0.999 * record.result.matmul_flops);
  EXPECT_LE(flops, 1.5 * record.result.matmul_flops);
}

TEST(Perfetto, CoarserDetailMergesInstructionsAndKeepsTheirTime) {
  const Record record = recorded::record();
  const Written ops = written(record, {.detail = "ops", .lanes = {}});
  EXPECT_TRUE(ops.read.on("core 0 tensor", "instruction").empty());
  double busy = 0;
  for (const auto& slice : ops.read.on("core 0 tensor", "op")) busy += slice.args.at("busy_us");
  EXPECT_NEAR(busy, hw::seconds(record.result.engines[0].busy) * 1e6, 1e-6);
  const Written calls = written(record, {.detail = "calls", .lanes = {}});
  EXPECT_TRUE(calls.read.on("core 0 tensor", "op").empty());
  EXPECT_EQ(calls.read.on("core 0 cc0", "collective").size(), 1u);
  EXPECT_LT(calls.summary.bytes, ops.summary.bytes);
}

TEST(Perfetto, AutoTakesTheFinestDetailBelowTheLimit) {
  const Record record = recorded::record();
  const TraceSummary fine = written(record).summary;
  EXPECT_EQ(fine.detail, "instructions");
  const TraceSummary ops = written(record, {.lanes = {}, .limit_bytes = fine.bytes - 1}).summary;
  EXPECT_EQ(ops.detail, "ops");
  EXPECT_LT(ops.bytes, fine.bytes);
  EXPECT_EQ(written(record, {.lanes = {}, .limit_bytes = 1}).summary.detail, "calls");
  EXPECT_EQ(written(recorded::record(false)).summary.detail, "calls");
}

TEST(Perfetto, AWindowAndLanesShowNothingElse) {
  const Record record = recorded::record();
  const hw::CallTime& second = record.result.calls[1];
  const Read read =
      written(record, {.from = hw::seconds(second.begin), .until = hw::seconds(second.end), .lanes = {"tensor"}}).read;
  EXPECT_EQ(read.on("core 0 calls", "call").size(), 1u);
  EXPECT_EQ(read.on("core 0 tensor", "instruction").size(), 1u);
  EXPECT_TRUE(read.on("core 0 scalar", "instruction").empty());
  EXPECT_TRUE(read.on("core 0 dma3", "dma").empty());
}

TEST(Perfetto, UndrawableInputIsRefused) {
  const auto path = recorded::folder() / "x";
  const Record bare = recorded::record(false);
  const auto refused = [&](const Record& record, const char* format, const TraceOptions& options) {
    EXPECT_THROW(write_trace(record, path, format, options), base::Error) << format << options.detail;
    EXPECT_FALSE(std::filesystem::exists(path));
  };
  refused(bare, "pftrace", {.detail = "instructions", .lanes = {}});
  refused(bare, "pftrace", {.detail = "instrs", .lanes = {}});
  refused(bare, "perfetto", {});
  refused(bare, "pftrace", {.lanes = {"tensorr"}});
  refused(bare, "pftrace", {.from = 2, .until = 1, .lanes = {}});
  refused(bare, "pftrace", {.from = 1e3, .until = 1e4, .lanes = {}});
}

TEST(Chrome, TheJsonHasTheSameSlicesAndArrows) {
  const Record record = recorded::record();
  const auto path = recorded::folder() / "trace.json";
  const TraceSummary summary = write_trace(record, path, "json", {});
  std::map<std::string, std::uint64_t> phases;
  std::map<std::pair<int, int>, double> end;  // of the last outermost slice of each thread
  const ProtoJson trace = ProtoJson::parse(base::read_file(path));
  for (const ProtoJson& event : trace["traceEvents"]) {
    ++phases[event["ph"].get<std::string>()];
    if (event["ph"] != "X") continue;
    double& last = end[{event["pid"].get<int>(), event["tid"].get<int>()}];
    const double begin = event["ts"].get<double>(), until = begin + event["dur"].get<double>();
    EXPECT_TRUE(begin >= last - 2e-6 || until <= last + 2e-6) << event;  // after the last one or inside it
    last = std::max(last, until);
  }
  EXPECT_EQ(phases["X"], summary.slices);
  EXPECT_EQ(phases["s"], summary.flows);
  EXPECT_EQ(phases["f"], summary.flows);
  EXPECT_EQ(phases["C"], summary.counter_values);
}

TEST(Chakra, NodesDependOnEarlierNodesAndKeepTheTime) {
  const Record record = recorded::record(false);
  const auto path = recorded::folder() / "trace.0.et";
  const TraceSummary summary = write_chakra(record, path);
  const auto items = proto_json::delimited(base::read_file(path));
  ASSERT_EQ(items.size(), summary.slices + 1);
  proto_json::Schema schema{"chakra.proto"};
  EXPECT_NE(schema.decode("ChakraProtoMsg.GlobalMetadata", items[0])["version"], "");
  std::set<std::uint64_t> seen;
  int collectives = 0;
  double micros = 0;
  for (std::size_t i = 1; i < items.size(); ++i) {
    const ProtoJson node = schema.decode("ChakraProtoMsg.Node", items[i]);
    for (const char* kind : {"ctrl_deps", "data_deps"}) {
      for (const ProtoJson& id : node.value(kind, ProtoJson::array())) EXPECT_TRUE(seen.count(whole(id))) << node;
    }
    EXPECT_TRUE(seen.insert(whole(node["id"])).second);
    micros += static_cast<double>(whole(node.value("duration_micros", ProtoJson(0)))) * (node["type"] == 4);
    if (node["type"] != 7) continue;
    ++collectives;
    EXPECT_EQ(node["name"], "all_reduce");
    EXPECT_EQ(whole(node["data_deps"][0]), whole(node["id"]) - 1);  // what ran before it in its call
  }
  EXPECT_EQ(collectives, 1);
  double calls = 0;
  for (const auto& call : record.result.calls) calls += hw::seconds(call.end - call.begin) * 1e6;
  EXPECT_NEAR(micros, calls, static_cast<double>(items.size()));  // whole microseconds each
}

}  // namespace
