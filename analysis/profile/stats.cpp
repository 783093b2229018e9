#include "analysis/profile/stats.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "isa/flops.h"
#include "isa/names.h"

namespace analysis {
namespace {

double percent(double part, double whole) { return whole > 0 ? part / whole * 100 : 0; }

std::string name_of(int engine) { return std::string{isa::name_of(static_cast<isa::Engine>(engine))}; }

/// FLOPs that the array spends on transposes over all calls; each block is counted once.
double transpose_flops(const isa::Program& program) {
  std::vector<double> per_block(program.blocks.size());
  for (std::size_t b = 0; b < program.blocks.size(); ++b) {
    for (const isa::Instr& instr : program.blocks[b].instrs) per_block[b] += isa::transpose_flops(instr);
  }
  double total = 0;
  for (const isa::Call& call : program.calls) total += per_block.at(call.block);
  return total;
}

}  // namespace

double EngineShare::waited() const {
  double sum = 0;
  for (const double cause : waiting) sum += cause;
  return sum;
}

std::vector<EngineShare> engine_shares(const hw::SimResult& result) {
  std::vector<EngineShare> shares;
  for (int e = 0; e < isa::kEngineCount; ++e) {
    const hw::EngineTime& time = result.engines[e];
    base::ensure(time.total() == result.total, name_of(e),
                 fmt::format("{} fs are booked of {} fs that passed", time.total(), result.total));
    const auto whole = static_cast<double>(result.total);
    EngineShare share{.engine = name_of(e),
                      .busy = percent(static_cast<double>(time.busy), whole),
                      .idle = percent(static_cast<double>(time.idle), whole),
                      .instructions = time.instructions};
    for (int h = 0; h < hw::kHoldCount; ++h) share.waiting[h] = percent(static_cast<double>(time.waiting[h]), whole);
    shares.push_back(std::move(share));
  }
  return shares;
}

Utilisation utilisation(const hw::SimResult& result, const isa::Program& program) {
  Utilisation u{.seconds = hw::seconds(result.total),
                .model_flops = program.model_flops,
                .matmul_flops = result.matmul_flops,
                .transpose_flops = transpose_flops(program)};
  const double array = result.peaks.matmul_flops * u.seconds;
  const auto bytes = static_cast<double>(result.dma.read_bytes + result.dma.written_bytes);
  u.mfu = percent(u.model_flops, array);
  u.mfu_advertised = percent(u.model_flops, result.peaks.advertised_flops * u.seconds);
  u.hfu = percent(u.matmul_flops + u.transpose_flops, array);
  u.mbu = percent(bytes, result.peaks.hbm_bandwidth * u.seconds);
  u.intensity = bytes > 0 ? u.matmul_flops / bytes : 0;
  const double knee = result.peaks.hbm_bandwidth > 0 ? result.peaks.matmul_flops / result.peaks.hbm_bandwidth : 0;
  u.mfu_achievable = bytes > 0 ? std::min(100.0, percent(u.intensity, knee)) : 100;
  return u;
}

std::vector<Resource> resources(const hw::SimResult& result) {
  const auto whole = static_cast<double>(result.total);
  std::vector<Resource> list;
  for (int e = 0; e < isa::kEngineCount; ++e) {
    const hw::EngineTime& time = result.engines[e];
    list.push_back({name_of(e), percent(static_cast<double>(time.busy), whole),
                    percent(static_cast<double>(time.waited()), whole)});
  }
  const auto bytes = static_cast<double>(result.dma.read_bytes + result.dma.written_bytes);
  list.push_back({"dma engines", percent(result.dma.engine_busy, whole * result.peaks.dma_engines), 0});
  list.push_back({"hbm", percent(bytes, result.peaks.hbm_bandwidth * hw::seconds(result.total)), 0});
  list.push_back({"collectives (exposed)", percent(static_cast<double>(result.collective_exposed), whole), 0});
  std::ranges::stable_sort(list, std::greater{}, &Resource::busy);
  return list;
}

namespace {

void add_engine_stats(const hw::SimResult& result, std::vector<Stat>& stats) {
  for (const EngineShare& share : engine_shares(result)) {
    const double busy = share.busy / 100 * hw::seconds(result.total);
    stats.push_back({share.engine + "_engine_active_time", busy, "s", "time that it executed instructions"});
    stats.push_back({share.engine + "_engine_active_time_percent", share.busy, "%", "share of total_time"});
    for (int h = 0; h < hw::kHoldCount; ++h) {
      std::string cause = hw::kHoldNames[h];
      std::ranges::replace(cause, ' ', '_');
      stats.push_back({fmt::format("{}_engine_wait_{}_percent", share.engine, cause), share.waiting[h], "%",
                       "share of total_time that it was held by this"});
    }
    stats.push_back(
        {share.engine + "_engine_idle_percent", share.idle, "%", "share of total_time with nothing left to issue"});
    stats.push_back({share.engine + "_engine_instruction_count", static_cast<double>(share.instructions), "1",
                     "instructions of one core"});
  }
}

void add_dma_stats(const hw::SimResult& result, std::vector<Stat>& stats) {
  const hw::DmaTime& dma = result.dma;
  const auto bytes = static_cast<double>(dma.read_bytes + dma.written_bytes);
  const auto transfers = static_cast<double>(dma.transfers);
  const double active = hw::seconds(dma.active);
  stats.insert(
      stats.end(),
      {{"dma_active_time", active, "s", "time with at least one transfer moving"},
       {"dma_active_time_percent", percent(active, hw::seconds(result.total)), "%", "share of total_time"},
       {"dma_engines_busy_percent",
        percent(dma.engine_busy, static_cast<double>(result.total) * result.peaks.dma_engines), "%",
        "share of total_time, mean of the DMA engines, as in 'bound by' and trnsim top"},
       {"dma_transfer_count", transfers, "1", "transfers of one core"},
       {"dma_descriptor_count", static_cast<double>(dma.descriptors), "1", "descriptors of one core"},
       {"dma_transfer_total_bytes", bytes, "B", "bytes read from and written to HBM"},
       {"dma_transfer_average_bytes", transfers > 0 ? bytes / transfers : 0, "B", "bytes per transfer"},
       {"hbm_read_bytes", static_cast<double>(dma.read_bytes), "B", "bytes moved by the DMA engines of one core"},
       {"hbm_write_bytes", static_cast<double>(dma.written_bytes), "B", "bytes moved by the DMA engines of one core"},
       {"cc_op_count", static_cast<double>(result.collectives.size()), "1", "collectives"},
       {"cc_op_active_time", hw::seconds(result.collective_active), "s", "time with at least one collective under way"},
       {"cc_op_exposed_time", hw::seconds(result.collective_exposed), "s",
        "time that engines waited for a collective"}});
}

}  // namespace

std::vector<Stat> summary_stats(const hw::SimResult& result, const isa::Program& program) {
  const Utilisation u = utilisation(result, program);
  const double tensor_clock = result.peaks.clock[static_cast<int>(isa::Engine::kTensor)];
  std::vector<Stat> stats = {
      {"total_time", u.seconds, "s", "simulated time from launch to the last instruction"},
      {"lead_in_time", hw::seconds(result.lead_in), "s", "time before the first instruction"},
      {"neuroncore_cycle_count", std::round(u.seconds * tensor_clock), "cycles", "cycles of the tensor engine's clock"},
      {"model_flops", u.model_flops, "FLOP", "analytic matmul FLOPs of one core"},
      {"hardware_flops", u.matmul_flops + u.transpose_flops, "FLOP", "FLOPs executed by the tensor engine of one core"},
      {"transpose_flops", u.transpose_flops, "FLOP", "FLOPs of these that are transposes"},
      {"mm_arithmetic_intensity", u.intensity, "FLOP/B", "matmul FLOPs per HBM byte"},
      {"peak_flops_bandwidth_ratio",
       result.peaks.hbm_bandwidth > 0 ? result.peaks.matmul_flops / result.peaks.hbm_bandwidth : 0, "FLOP/B",
       "FLOPs per byte at which the roofline bends"},
      {"mfu_estimated_percent", u.mfu, "%", "model_flops / (peak of one core * total_time)"},
      {"mfu_advertised_percent", u.mfu_advertised, "%",
       fmt::format("the same against the advertised {:g} TFLOPS", result.peaks.advertised_flops / 1e12)},
      {"mfu_max_achievable_estimated_percent", u.mfu_achievable, "%", "highest MFU that the HBM bytes allow"},
      {"hfu_estimated_percent", u.hfu, "%", "hardware_flops / (peak of one core * total_time)"},
      {"mbu_estimated_percent", u.mbu, "%", "HBM bytes / (nominal bandwidth of one core * total_time)"}};
  add_engine_stats(result, stats);
  add_dma_stats(result, stats);
  return stats;
}

}  // namespace analysis
