// The columns of the record's tables and the rows of its table meta that are members, in one list each for the writer
// and the reader.
#pragma once

#include "analysis/record/record.h"
#include "base/archive.h"

namespace analysis {

// ---- `row` takes the members in the order of the table's columns, behind those that count the row

void columns(const auto& row, base::Is<isa::Block> auto& b) { row(b.name, b.sbuf_bytes, b.psum_bytes, b.matmul_flops); }
void columns(const auto& row, base::Is<hw::EngineTime> auto& t) {
  static_assert(hw::kHoldCount == 8, "a cause of waiting is a column of the tables: add it there");
  auto& w = t.waiting;
  row(t.busy, t.idle, t.instructions, w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7]);
}
void columns(const auto& row, base::Is<hw::CallTime> auto& t, auto& await) {
  static_assert(isa::kCcQueues == 2, "a queue is a column of the table: add it there");
  auto& dma = t.dma;
  row(t.block, t.layer, t.phase, t.replayed, t.begin, t.end, dma.transfers, dma.descriptors, dma.read_bytes,
      dma.written_bytes, dma.active, dma.engine_busy, await[0], await[1]);
}
void columns(const auto& row, base::Is<hw::OpTime> auto& t) {
  row(t.block, t.label, t.op, t.engine, t.count, t.busy, t.waiting);
}
void columns(const auto& row, base::Is<hw::CollectiveTime> auto& t) {
  row(t.op, t.queue, t.ranks, t.call, t.bytes, t.link_bytes, t.issued, t.begin, t.end);
}
void columns(const auto& row, base::Is<RoofPoint> auto& p) {
  row(p.op, p.engine, p.seconds, p.matmul_flops, p.element_flops, p.hbm_bytes, p.intensity, p.achieved, p.roof,
      p.share_of_roof);
}
void columns(const auto& row, base::Is<Stat> auto& s) { row(s.name, s.value, s.unit, s.text); }

inline constexpr bool kAdded = true;  // older records lack the row

/// `row` takes keys and members.
void meta_rows(const auto& row, base::Is<Record> auto& r) {
  row("trnsim", r.info.trnsim), row("workload", r.info.workload), row("command", r.info.command);
  row("instance_type", r.info.instance_type), row("instances", r.info.instances);
  row("cores_per_chip", r.info.cores_per_chip), row("hbm_bytes_per_core", r.info.hbm_bytes_per_core);
  row("machine_toml", r.info.machine_toml);
  row("stage", r.info.stage, kAdded), row("stages", r.info.stages, kAdded);
  row("micro_batches", r.info.micro_batches, kAdded);
  row("recorded_micro_batches", r.info.recorded_micro_batches, kAdded);
  row("trace_from_fs", r.info.trace_from, kAdded), row("trace_until_fs", r.info.trace_until, kAdded);
  row("trace_layer", r.info.trace_layer, kAdded);
  row("program", r.program.name), row("ranks", r.program.ranks), row("rounding", r.program.rounding);
  row("program_hbm_bytes", r.program.hbm_bytes), row("model_flops", r.program.model_flops);
  row("matmul_flops", r.result.matmul_flops), row("total_fs", r.result.total), row("lead_in_fs", r.result.lead_in);
  row("rank", r.result.rank), row("cores_simulated", r.result.cores), row("exact", r.result.exact);
  row("instructions_simulated", r.result.instructions), row("replayed_calls", r.result.replayed_calls);
  row("collective_active_fs", r.result.collective_active), row("collective_exposed_fs", r.result.collective_exposed);
  row("dropped_events", r.result.dropped_events);
}

}  // namespace analysis
