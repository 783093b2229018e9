// From the records of a simulation to answers: how busy each engine is, where the time goes, the binding resource.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hw/trace.h"

namespace analysis {

/// One engine's time in per cent of the whole; busy + waiting + idle = 100.
struct EngineShare {
  std::string engine;
  double busy = 0;
  std::array<double, hw::kHoldCount> waiting{};  // by cause, hw::kHoldNames
  double idle = 0;
  std::uint64_t instructions = 0;
  double waited() const;
};
/// Errors: Fault::kInternal when an engine's records do not cover the whole time.
std::vector<EngineShare> engine_shares(const hw::SimResult& result);

/// The groups of time. kOp: "layer.attention.softmax"; kPart: its last word; kSource: its place in the user's program,
/// where a graph says it; kEngine, kOpcode; of calls: kLayer, kPhase, kBlock.
enum class By { kOp, kPart, kSource, kEngine, kOpcode, kLayer, kPhase, kBlock };
/// "op", "part", "source", "engine", "opcode", "layer", "phase", "block". Errors: Fault::kUsage with a suggestion.
By parse_by(std::string_view name);

struct Group {
  std::string key;
  std::uint64_t count = 0;  // instructions; for layers, phases and blocks: calls
  double busy = 0;          // s: of the engines for instructions, from begin to end for calls
  double waiting = 0;       // s: of the engines
  double share = 0;         // of all groups, per cent
};
/// Longest first; layers in their order. Layers, phases and blocks add up to the step: the time between calls is a
/// group of its own.
std::vector<Group> time_by(By by, const hw::SimResult& result, const isa::Program& program);

/// FLOPs of one core in the run, and their share of its peak.
struct Utilisation {
  double seconds = 0;
  double model_flops = 0;      // analytic, by the program
  double matmul_flops = 0;     // executed for matmuls
  double transpose_flops = 0;  // executed for transposes
  double mfu = 0;              // per cent: model FLOPs / (peak * time)
  double mfu_advertised = 0;   // relative to the advertised peak
  double hfu = 0;              // per cent: all work of the array, transposes included
  double mbu = 0;              // per cent: HBM bytes / (nominal bandwidth * time)
  double intensity = 0;        // matmul FLOPs per HBM byte
  double mfu_achievable = 0;   // per cent: the limit by HBM bytes, at most 100
};
Utilisation utilisation(const hw::SimResult& result, const isa::Program& program);

/// A resource of one core, per cent of the time that it is in use.
struct Resource {
  std::string name;  // an engine, "dma engines", "hbm", "collectives (exposed)"
  double busy = 0;
  double waiting = 0;  // engines: waited for others
};
/// Busiest first: the first one binds.
std::vector<Resource> resources(const hw::SimResult& result);

/// One named figure of a run, as in stats.txt.
struct Stat {
  std::string name;
  double value = 0;
  std::string unit;
  std::string text;
};
/// All figures of a simulation, under the names that neuron-explorer's summary uses.
std::vector<Stat> summary_stats(const hw::SimResult& result, const isa::Program& program);

}  // namespace analysis
