// Bare transformer blocks: no embedding, no vocabulary head. Benchmarks of "N decoder blocks" run these.
#pragma once

#include <cstdint>

#include "runtime/graph/graph.h"
#include "runtime/graph/numerics.h"
#include "workloads/models/model.h"

namespace validation {

/// x + attention(layernorm(x)), then x + mlp(layernorm(x)), `layers` times; the mlp is gelu between two linear layers.
struct BlockSpec {
  std::int64_t layers = 1, hidden = 768, heads = 12, ffn = 3072;
  std::int64_t batch = 1, seq = 128;
  bool causal = false;
  bool bias = true;       // of the linear layers
  bool training = false;  // also backward, and w -= rate * gradient for every weight
  runtime::Numerics numerics;
};

/// Inputs "x" [batch * seq, hidden], and in training "dy" (the gradient of the result: the loss is the sum of dy * y)
/// and "hyper" (column runtime::kRate is the rate); weights "blocks.L.NAME", linear ones [in, out]; output "y". Scopes:
/// a "block" per layer, in training "block.bwd" and "optimizer.block". Errors: Fault::kUsage when heads do not divide
/// hidden or a head is wider than 128.
runtime::Graph block_graph(const BlockSpec& spec);

/// Analytic matmul FLOPs of one run: forward, or three times that in training.
double block_flops(const BlockSpec& spec);

/// Operations of bare blocks: layers as Megatron-LM's, without embeddings and head.
workloads::FrameworkOps framework_ops(const BlockSpec& spec);

}  // namespace validation
