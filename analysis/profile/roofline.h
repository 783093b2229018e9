// The distance of each operation from the limits of its FLOPs and its bytes.
#pragma once

#include <string>
#include <vector>

#include "hw/trace.h"

namespace analysis {

/// All instructions that carry one label, over all calls of one core.
struct RoofPoint {
  std::string op;            // the label: "layer.attention.softmax"
  double matmul_flops = 0;   // on TensorE, transposes not counted
  double element_flops = 0;  // on the other engines
  double hbm_bytes = 0;      // read and written
  double seconds = 0;        // busy time of the engine that it keeps busy longest
  std::string engine;        // that engine
  double intensity = 0;      // matmul FLOPs per HBM byte; 0 without either
  double achieved = 0;       // matmul FLOP/s, over `seconds` or the least time of the bytes, whichever is longer
  double roof = 0;           // min(peak, intensity * HBM bandwidth), FLOP/s; 0 without matmuls
  double share_of_roof = 0;  // per cent
};

/// In falling order of `seconds`; labels that take no time and move nothing are left out.
std::vector<RoofPoint> roofline(const hw::SimResult& result, const isa::Program& program);

}  // namespace analysis
