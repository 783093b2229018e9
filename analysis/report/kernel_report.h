// One kernel on one page that opens from disk without a network: time by engine and by line, roofline.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "hw/trace.h"

namespace analysis {

/// One line of a kernel's source: the work of its instructions.
struct KernelLine {
  std::string place, source;  // "kernel.py:12", the text there
  std::string engine;
  std::uint64_t instructions = 0;
  double busy = 0, waiting = 0, critical = 0;  // seconds
};

struct KernelReport {
  std::string name;
  std::vector<std::pair<std::string, std::string>> figures;  // name, text: the cards at the top
  hw::SimResult result;                                      // with the trace of all instructions
  double matmul_flops = 0, hbm_bytes = 0;
  std::vector<KernelLine> lines;  // the most important one first
};

/// One HTML page with a part for each kernel.
std::string kernel_html(const std::vector<KernelReport>& kernels);

}  // namespace analysis
