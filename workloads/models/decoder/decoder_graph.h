// Decoders as graphs: Llama (Touvron et al., arXiv:2307.09288; grouped queries, rotary positions with Llama 3's
// scaling) and GPT (Brown et al., arXiv:2005.14165), for one of several ranks that share the model.
#pragma once

#include <vector>

#include "workloads/models/layers/arch.h"
#include "workloads/models/model.h"

namespace workloads {

/// One step of one rank. Tensors that the host writes, for each micro-batch m: "input_ids.m" [batch*length, 1] int32,
/// counted from the first row of the rank's part of the vocabulary, 0 where it is another rank's; "vocabulary.m" [rows,
/// 1], 1 or 0 for that, when ranks share the vocabulary; with a loss (in training, or step.kind.with_loss) "labels.m"
/// [rows, 1] int32, counted likewise, -1 where it is another rank's, and "weights.m" [rows, 1] fp32 (each token's
/// weight in the loss); in training "hyper" (hyper_values); with rotary positions those of rope_tables(), with slopes
/// of heads "slopes" [1, heads of the rank]; with learned ones "places" [rows of the rank, 1] int32, if
/// places_by_rank(). It leaves "logits.m" [rows, part of the vocabulary] fp32 with step.kind.keep_logits, "loss.m"
/// [rows, 1] fp32, and in training "grad_norm" and "grad.NAME" of every weight. With experts also "expert_load.LAYER.m"
/// [1, experts] fp32, how many of the rank's tokens chose each, and in training the last stage "router_loss.m" [1, 1],
/// the routers' part of the loss. Weights are in the shapes of shard_specs() of tensor rank 0 (linear ones as [in,
/// out]); a fused query-key-value of GPT is three:
/// "...c_attn.q.weight", and so on. With stages the graph is that of step.stage: the first one has ids, the last one
/// labels, weights, logits and losses; compile_options() says how it is compiled. Errors: Fault::kUsage for a sequence
/// that is longer than the model's positions, or a length that sequence parallelism does not divide; as
/// check(ShardPlan).
StepGraph decoder_step(const ModelPtr& model, const Step& step);

/// Whether tensor-parallel ranks share the tokens of one sequence: then a token's place in it differs between them.
bool places_by_rank(const Plan& plan);

/// Cosines and sines of `length` positions, each [length, rotated pairs of a head].
std::vector<HostTable> rope_tables(const RotaryArch& rotary, std::int64_t length);
/// "slopes" of the heads of one of `ranks` tensor-parallel ranks; empty without such.
std::vector<float> slopes_of_rank(const AttentionArch& attention, std::int64_t ranks, std::int64_t rank);

/// Matmul FLOPs of the whole model's optimizer step by the textbook, over all ranks and micro-batches: 6 per weight of
/// a linear layer and token (4 of a frozen one), 12 * layers * hidden * length per token for attention (all pairs
/// counted, as MFU does).
double decoder_flops(const DecoderArch& arch, const Step& step, double adapters = 0);

}  // namespace workloads
