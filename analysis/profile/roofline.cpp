#include "analysis/profile/roofline.h"

#include <algorithm>
#include <array>
#include <map>

#include "isa/flops.h"
#include "isa/names.h"

namespace analysis {
namespace {

struct Work {
  RoofPoint point;
  std::array<double, isa::kEngineCount> busy{};
};
using Works = std::map<std::string, Work>;

std::string label_of(const isa::Block& block, std::uint32_t label) {
  return label < block.labels.size() ? block.labels[label] : "(no label)";
}

double hbm(const isa::Traffic& traffic) {
  return static_cast<double>(traffic[static_cast<std::size_t>(isa::Space::kHbm)]);
}

/// Adds the work of a block's instructions, `calls` times.
void add_work(const isa::Block& block, double calls, Works& works) {
  for (const isa::Instr& instr : block.instrs) {
    RoofPoint& point = works[label_of(block, instr.label)].point;
    point.matmul_flops += calls * isa::matmul_flops(instr);
    point.element_flops += calls * isa::elementwise_flops(instr);
    if (isa::is_dma(instr.op))
      point.hbm_bytes += calls * (hbm(isa::bytes_read(instr)) + hbm(isa::bytes_written(instr)));
  }
}

void finish(const std::string& label, const hw::Peaks& peaks, Work& work) {
  RoofPoint& point = work.point;
  const auto longest = std::ranges::max_element(work.busy);
  point.op = label;
  point.seconds = *longest;
  point.engine = isa::name_of(static_cast<isa::Engine>(longest - work.busy.begin()));
  if (point.matmul_flops <= 0) return;
  point.intensity = point.hbm_bytes > 0 ? point.matmul_flops / point.hbm_bytes : 0;
  point.roof =
      point.hbm_bytes > 0 ? std::min(peaks.matmul_flops, point.intensity * peaks.hbm_bandwidth) : peaks.matmul_flops;
  // While its bytes move, the engine works for other operations: its busy time alone would be above the roof.
  const double of_bytes = peaks.hbm_bandwidth > 0 ? point.hbm_bytes / peaks.hbm_bandwidth : 0;
  const double seconds = std::max(point.seconds, of_bytes);
  point.achieved = seconds > 0 ? point.matmul_flops / seconds : 0;
  point.share_of_roof = point.roof > 0 ? point.achieved / point.roof * 100 : 0;
}

}  // namespace

std::vector<RoofPoint> roofline(const hw::SimResult& result, const isa::Program& program) {
  std::vector<double> calls(program.blocks.size());
  for (const isa::Call& call : program.calls) ++calls.at(call.block);
  Works works;
  for (std::size_t b = 0; b < calls.size(); ++b) add_work(program.blocks[b], calls[b], works);
  for (const hw::OpTime& op : result.ops) {
    works[label_of(program.blocks.at(op.block), op.label)].busy[static_cast<int>(op.engine)] += hw::seconds(op.busy);
  }
  std::vector<RoofPoint> points;
  for (auto& [label, work] : works) {
    finish(label, result.peaks, work);
    if (work.point.seconds > 0 || work.point.hbm_bytes > 0) points.push_back(work.point);
  }
  std::ranges::stable_sort(points, std::greater{}, &RoofPoint::seconds);
  return points;
}

}  // namespace analysis
