// The compiler's part of a traced kernel: repeated instructions, tiles that stay in SBUF, order, addresses, semaphores.
#pragma once

#include <cstdint>
#include <vector>

#include "isa/program.h"
#include "isa/target.h"
#include "runtime/compiler/emitter.h"
#include "runtime/nki/doubts.h"
#include "runtime/nki/loops.h"

namespace runtime::nki {

/// Without any pass: the kernel's own instructions in the kernel's own order.
inline constexpr NkiPasses kAsWritten{.share = false,
                                      .join = false,
                                      .forward = false,
                                      .fuse = false,
                                      .reuse = false,
                                      .reload = false,
                                      .reorder = false,
                                      .transpose = false};

struct ArrangeOptions {
  NkiPasses passes{};
  std::int64_t reserved_sbuf = 0;  // bytes of a partition that kernels do not get
};

struct Arranged {
  isa::Block block;
  std::size_t joined = 0;        // instructions that others of their loop do too
  std::size_t forwarded = 0;     // copies whose source is written to their place
  bool fused = false;            // loops, where PSUM did not hold what is between them
  std::size_t reused = 0;        // instructions whose result was there already
  std::size_t reloads = 0;       // loads of tiles that had to leave SBUF and are still in HBM
  std::int64_t spills = 0;       // tiles saved to HBM; each is loaded again
  std::int64_t spill_bytes = 0;  // of HBM
  std::int64_t saved_bytes = 0, restored_bytes = 0;
  bool has_spill_area = false;  // the last register is its base
  std::vector<Doubt> doubts;
};

/// Errors: Fault::kProgram when an instruction needs more than SBUF, or PSUM is exhausted; `where` is its label.
/// `loops` and `open`: of the trace.
Arranged arrange(VirtualBlock block, const isa::Target& target, const ArrangeOptions& options,
                 const std::vector<LoopTrace>& loops = {}, const std::vector<std::uint32_t>& open = {});

}  // namespace runtime::nki
