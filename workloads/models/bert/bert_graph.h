// BERT as a graph (Devlin et al., arXiv:1810.04805; module names as in Hugging Face's BertForSequenceClassification).
#pragma once

#include "workloads/models/bert/bert_config.h"
#include "workloads/step/step_graph.h"

namespace workloads {

/// One step of one rank. Tensors that the host writes, for each micro-batch m: "input_ids.m" and "token_type_ids.m"
/// [batch*length, 1] int32, "attention_mask.m" [batch, length] of ones and zeros in the activations' type; with a head
/// also "labels.m" [rows, 1] int32 and "weights.m" [rows, 1] fp32 (each row's weight in the loss); when it trains,
/// "hyper" (hyper_values). Outputs: "logits.m" [rows, labels] fp32 and "loss.m" [rows, 1] fp32 (each row's share
/// of the loss), or "hidden.m" without a head; "grad_norm"; and "grad.NAME" of every weight.
/// Head::kPretraining (BertForPreTraining; config.head must say so) reads instead "masked_positions.m" [batch *
/// predictions, 1] int32 (rows of the micro-batch: sequence * length + place), "masked_labels.m" and "masked_weights.m"
/// of the same shape, "next_labels.m" and "next_weights.m" [batch, 1]; it leaves "masked_loss.m" and "next_loss.m".
/// Tensor-parallel ranks that share the vocabulary read ids and labels of tokens, and "vocabulary.m", as those of
/// decoder_step(). Head::kMaskedTokens (BertForMaskedLM) has a label of each token, and "logits.m" with
/// kind.keep_logits. Part::kMicroStep adds to "sum.NAME" instead of updating; Part::kUpdate reads "grad.NAME". Errors:
/// Fault::kUsage when the sequence is longer than the position table.
StepGraph bert_graph(const BertConfig& config, const Step& step);

/// Matmul FLOPs of one rank's step by the textbook: 2 per weight of a linear layer and token, 4 * length * hidden for
/// attention; backward twice that, and once for weights that adapters freeze. Embeddings and element-wise work count
/// nothing. `adapters`: FLOPs of these for a token.
double bert_flops(const BertConfig& config, const Step& step, double adapters = 0);

}  // namespace workloads
