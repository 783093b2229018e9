// make_record(): the parts of a program that outlive it.
#include "analysis/record/record.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"
#include "isa/asm.h"
#include "isa/flops.h"
#include "isa/operands.h"

namespace analysis {
namespace {

struct Span {
  std::int64_t begin = 0, end = 0;
};
/// Bytes of HBM that a block touches, by base register; sorted, without overlap.
using Spans = std::map<std::uint32_t, std::vector<Span>>;

Span span_of(const isa::Tile& tile) {
  std::int64_t low = 0, high = 0;
  const auto reach = [&](std::int64_t step, std::int64_t count) { (step < 0 ? low : high) += step * (count - 1); };
  for (int d = 0; d < tile.rank; ++d) reach(tile.free[d].step, tile.free[d].size);
  low *= isa::size_of(tile.dtype);
  high *= isa::size_of(tile.dtype);
  reach(tile.pstep, std::max<std::int64_t>(tile.partitions, 1));
  return {tile.offset + low, tile.offset + high + isa::size_of(tile.dtype)};
}

void merge(std::vector<Span>& spans) {
  std::ranges::sort(spans, {}, &Span::begin);
  std::vector<Span> merged;
  for (const Span& span : spans) {
    if (merged.empty() || span.begin > merged.back().end) {
      merged.push_back(span);
    } else {
      merged.back().end = std::max(merged.back().end, span.end);
    }
  }
  spans = std::move(merged);
}

Spans spans_of(const isa::Block& block) {
  Spans spans;
  for (const isa::Instr& instr : block.instrs) {
    for (const isa::Tile* tile : {&instr.dst, &instr.dst2, &instr.a, &instr.b, &instr.c}) {
      if (tile->space == isa::Space::kHbm) spans[tile->reg].push_back(span_of(*tile));
    }
  }
  for (auto& [reg, list] : spans) merge(list);
  return spans;
}

std::vector<RegionUse> region_uses(const isa::Program& program) {
  std::vector<RegionUse> uses;
  for (const isa::Region& region : program.regions) uses.push_back({.region = region});
  std::ranges::stable_sort(uses, {}, [](const RegionUse& use) { return use.region.offset; });
  std::vector<Spans> blocks;
  for (const isa::Block& block : program.blocks) blocks.push_back(spans_of(block));
  for (std::size_t c = 0; c < program.calls.size(); ++c) {
    for (const auto& [reg, spans] : blocks.at(program.calls[c].block)) {
      const auto base = static_cast<std::int64_t>(program.calls[c].bases.at(reg));
      for (const Span& span : spans) {
        const auto end = std::ranges::lower_bound(uses, base + span.end, {}, [](const RegionUse& use) {
          return static_cast<std::int64_t>(use.region.offset);
        });
        for (auto use = end; use != uses.begin();) {
          --use;
          if (static_cast<std::int64_t>(use->region.offset + use->region.bytes) <= base + span.begin) break;
          if (use->first_call < 0) use->first_call = static_cast<std::int64_t>(c);
          use->last_call = static_cast<std::int64_t>(c);
        }
      }
    }
  }
  return uses;
}

/// "sbuf[...] <- sbuf[...], psum[...]", as docs/asm.md writes them.
std::string operands_of(const isa::Instr& instr) {
  std::string out;
  for (const isa::Tile* tile : {&instr.dst, &instr.dst2})
    if (tile->space != isa::Space::kNone) out += (out.empty() ? "" : ", ") + isa::print(*tile);
  std::string_view between = " <- ";
  for (const isa::Tile* tile : {&instr.a, &instr.b, &instr.c}) {
    if (tile->space == isa::Space::kNone) continue;
    out += std::string{between} + isa::print(*tile);
    between = ", ";
  }
  return out;
}

InstrWork work_of(const isa::Instr& instr) {
  const auto hbm = static_cast<std::size_t>(isa::Space::kHbm);
  const bool moves = isa::is_dma(instr.op) || isa::is_collective(instr.op);
  const auto bytes = static_cast<double>(isa::bytes_read(instr)[hbm] + isa::bytes_written(instr)[hbm]);
  return {.hbm_bytes = moves ? bytes : 0,
          .flops = isa::matmul_flops(instr) + isa::transpose_flops(instr) + isa::elementwise_flops(instr),
          .operands = operands_of(instr)};
}

/// The parts of an instruction that a trace reads.
isa::Instr outline(const isa::Instr& instr) {
  isa::Instr out;
  out.op = instr.op;
  out.engine = instr.engine;
  out.signal = instr.signal;
  out.queue = instr.queue;
  out.group = instr.group;
  out.label = instr.label;
  out.wait_count = instr.wait_count;
  std::copy_n(instr.waits.begin(), instr.wait_count, out.waits.begin());
  return out;
}

void add_blocks(const isa::Program& program, const std::set<std::uint32_t>& traced, Record& record) {
  for (std::uint32_t b = 0; b < program.blocks.size(); ++b) {
    const isa::Block& block = program.blocks[b];
    isa::Block kept{.name = block.name, .instrs = {}, .labels = block.labels};
    kept.sbuf_bytes = block.sbuf_bytes;
    kept.psum_bytes = block.psum_bytes;
    kept.matmul_flops = block.matmul_flops;
    std::vector<InstrWork> work;
    if (traced.contains(b)) {
      for (const isa::Instr& instr : block.instrs) {
        kept.instrs.own().push_back(outline(instr));
        work.push_back(work_of(instr));
      }
    }
    record.program.blocks.push_back(std::move(kept));
    record.work.push_back(std::move(work));
  }
}

}  // namespace

Record make_record(const hw::SimResult& result, const isa::Program& program, RecordInfo info) {
  base::ensure(result.calls.size() == program.calls.size(), program.name, "the result is of another program");
  Record record;
  record.info = std::move(info);
  record.result = result;
  std::set<std::uint32_t> traced;
  for (const hw::TraceEvent& event : result.events) traced.insert(program.calls.at(event.call).block);
  record.program.name = program.name;
  record.program.hbm_bytes = program.hbm_bytes;
  record.program.ranks = program.ranks;
  record.program.rounding = program.rounding;
  record.program.model_flops = program.model_flops;
  for (const isa::Call& call : program.calls) {
    isa::Call kept;
    kept.block = call.block;
    kept.layer = call.layer;
    kept.phase = call.phase;
    kept.await = call.await;
    record.program.calls.push_back(kept);
  }
  add_blocks(program, traced, record);
  record.regions = region_uses(program);
  for (const RegionUse& use : record.regions) record.program.regions.push_back(use.region);
  record.utilisation = utilisation(result, program);
  record.roofline = roofline(result, program);
  record.stats = summary_stats(result, program);
  return record;
}

void write_record(const std::filesystem::path& folder, const hw::SimResult& result, const isa::Program& program,
                  const RecordInfo& info) {
  write_record(folder, make_record(result, program, info));
}

}  // namespace analysis
