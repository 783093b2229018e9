// What a step of a decoder may be, and its graph for each stage of a pipeline.
#include <fmt/format.h>

#include "base/error.h"
#include "workloads/models/decoder/decoder_arch.h"
#include "workloads/models/decoder/decoder_graph.h"
#include "workloads/step/pipeline.h"

namespace workloads {

using base::Error;
using base::Fault;

bool places_by_rank(const Plan& plan) { return plan.sequence && plan.micro_batch % plan.tensor != 0; }

void require_step(const DecoderArch& arch, const Step& spec) {
  require_positions(spec.kind.length, arch.positions);
  if (spec.plan.sequence && spec.plan.micro_batch * spec.kind.length % spec.plan.tensor != 0)
    throw Error{Fault::kUsage, "`max_length`",
                fmt::format("{} tokens are not divided by {} tensor-parallel ranks",
                            spec.plan.micro_batch * spec.kind.length, spec.plan.tensor),
                "choose a length that they divide, or `disable_sequence_parallel`"};
  if (arch.block.mixture && spec.plan.tensor > 1 && !spec.plan.sequence)
    throw Error{Fault::kUsage, "`disable_sequence_parallel`",
                "tensor-parallel ranks that share experts each route tokens of their own",
                "leave sequence parallelism on"};
}

DecoderPipeline decoder_pipeline(const ModelPtr& config, const Step& spec) {
  DecoderPipeline out;
  for (std::int64_t stage = 0; stage < spec.plan.pipeline; ++stage) {
    StepGraph step = config->step(of_stage(spec, stage));
    out.graphs.push_back(std::move(step.graph));
    out.zero.push_back(std::move(step.zero));
  }
  return out;
}

}  // namespace workloads
