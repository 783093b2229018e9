#include "hw/run/serial.h"

#include "base/archive.h"
#include "base/error.h"

namespace hw {

void each_field(auto& archive, base::Is<DmaTime> auto& x) {
  auto& [transfers, descriptors, read_bytes, written_bytes, active, engine_busy] = x;
  archive(transfers, descriptors, read_bytes, written_bytes, active, engine_busy);
}
void each_field(auto& archive, base::Is<CallTime> auto& x) {
  auto& [block, layer, phase, replayed, begin, end, engines, dma] = x;
  archive(block, layer, phase, replayed, begin, end, engines, dma);
}
void each_field(auto& archive, base::Is<Peaks> auto& x) {
  auto& [matmul_flops, advertised, hbm_bandwidth, link_bandwidth, dma_bandwidth, dma_engines, clock] = x;
  archive(matmul_flops, advertised, hbm_bandwidth, link_bandwidth, dma_bandwidth, dma_engines, clock);
}
void each_field(auto& archive, base::Is<SimResult> auto& x) {
  auto& [total, lead_in, rank, cores, exact, instructions, replayed, flops, engines, dma, active, exposed, calls, ops,
         collectives, events, dropped, rank_total, peaks] = x;
  archive(total, lead_in, rank, cores, exact, instructions, replayed, flops, engines, dma, active, exposed, calls, ops,
          collectives, events, dropped, rank_total, peaks);
}
void each_field(auto& archive, base::Is<Replay::Record> auto& x) {
  auto& [time, slots] = x;
  archive(time, slots.busy, slots.waiting);
}
void each_field(auto& archive, base::Is<PowerLimit::State> auto& x) {
  auto& [tokens, at] = x;
  archive(tokens, at);
}
void each_field(auto& archive, base::Is<ColdStart::State> auto& x) {
  auto& [warm, end, hot] = x;
  archive(warm, end, hot);
}
void each_field(auto& archive, base::Is<KnownCall> auto& x) {
  auto& [record, tokens, warmth, matmuls, power_after, cold_after] = x;
  archive(record, tokens, warmth, matmuls, power_after, cold_after);
}
void each_field(base::ArchiveWriter& archive, const BlockNews& x) {
  archive(reinterpret_cast<std::uintptr_t>(x.instrs), x.call);  // parent and child have them at the same place
}
void each_field(base::ArchiveReader& archive, BlockNews& x) {
  std::uintptr_t instrs = 0;
  archive(instrs, x.call);
  x.instrs = reinterpret_cast<const void*>(instrs);
}

std::string to_bytes(const Outcome& outcome) {
  base::ArchiveWriter archive;
  archive(outcome.results, outcome.news);
  return archive.take();
}

Outcome from_bytes(std::string_view bytes) {
  constexpr std::string_view kReport = "please report this with the command that you ran";
  base::ArchiveReader archive{
      bytes, base::Error{base::Fault::kInternal, "simulation child", "its result is incomplete", kReport}};
  Outcome outcome;
  archive(outcome.results, outcome.news);
  base::ensure(archive.at_end(), "simulation child", "its result is too long");
  return outcome;
}

}  // namespace hw
