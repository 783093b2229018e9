// How many operations a framework dispatches for one micro-batch: what the host traces.
#pragma once

#include "workloads/block_graph.h"
#include "workloads/config.h"
#include "workloads/optimizer_step.h"

namespace workloads {

/// Operations of one micro-batch on one rank, and the parameter tensors that the optimizer walks.
struct FrameworkOps {
  double forward = 0;
  double backward = 0;  // with what is computed again, and the addition to the gradients that are there
  double tensors = 0;
};

/// Counted with PyTorch's dispatch mode (views and casts count: the host dispatches them too) on one layer written as
/// the reference implementation writes it: transformers' modeling_bert and modeling_llama with eager attention,
/// Megatron-LM's ParallelTransformerLayer; embeddings, masks and heads likewise. Collectives of tensor and sequence
/// parallelism cost what torch_xla's all_reduce, all_gather and reduce_scatter dispatch.
FrameworkOps framework_ops(const ModelConfig& config, const Step& spec);
/// Of bare blocks: layers as Megatron-LM's, without embeddings and head.
FrameworkOps framework_ops(const BlockSpec& spec);

}  // namespace workloads
