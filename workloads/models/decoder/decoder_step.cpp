// Which steps a decoder can have.
#include <fmt/format.h>

#include "base/error.h"
#include "workloads/models/decoder/decoder_arch.h"
#include "workloads/models/decoder/decoder_graph.h"

namespace workloads {

using base::Error;
using base::Fault;

bool places_by_rank(const Plan& plan) { return plan.sequence && plan.micro_batch % plan.tensor != 0; }

void require_step(const DecoderArch& arch, const Step& step) {
  require_positions(step.kind.length, arch.positions);
  if (step.plan.sequence && step.plan.micro_batch * step.kind.length % step.plan.tensor != 0)
    throw Error{Fault::kUsage, "`max_length`",
                fmt::format("{} tokens cannot be divided by {} tensor-parallel ranks",
                            step.plan.micro_batch * step.kind.length, step.plan.tensor),
                "choose a length that is a multiple of that, or `disable_sequence_parallel`"};
  if (arch.block.mixture && step.plan.tensor > 1 && !step.plan.sequence)
    throw Error{Fault::kUsage, "`disable_sequence_parallel`",
                "tensor-parallel ranks that share experts must each route their own tokens",
                "leave sequence parallelism on"};
}

}  // namespace workloads
