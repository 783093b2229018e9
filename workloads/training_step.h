// One optimizer step as a graph: what is common to all model families, and how the host feeds it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "runtime/graph.h"
#include "runtime/numerics.h"
#include "workloads/batches.h"
#include "workloads/weights.h"

namespace workloads {

/// Which part of a model a step needs.
enum class Head : std::uint8_t {
  kClassifier,  // of sequences
  kTokens,      // of every token
  kNone,        // the encoder's last hidden states
};

/// What one rank does in one optimizer step.
struct StepSpec {
  std::int64_t batch = 8;     // sequences per micro-batch
  std::int64_t length = 128;  // tokens of each
  std::int64_t micro_batches = 1;
  std::uint32_t ranks = 1;    // data parallel
  bool training = true;       // otherwise forward only, without dropout
  bool fold_weights = false;  // linear weights stored as TensorE multiplies them: for programs that only infer
  Head head = Head::kClassifier;
  runtime::Numerics numerics;
  double adam_beta1 = 0.9, adam_beta2 = 0.999, adam_epsilon = 1e-8;
  double weight_decay = 0;          // 0: no parameter decays
  bool decay_all = true;            // also biases and gains, as plain torch.optim.AdamW; HF Trainer spares them
  double max_grad_norm = 0;         // 0: not limited
  std::string optimizer = "adamw";  // or "lamb"
  double bucket_bytes = 50e6;       // of gradients that are reduced together: torch-xla's BUCKET_CAP_MB default of 50
};

/// Adds gradients' reduction over ranks, clipping and the update of every weight. `blocks`: names in front of a number
/// that repeats ("bert.encoder.layer."), so that equal layers share a block.
void add_update(runtime::Graph& graph, const std::map<runtime::ValueId, runtime::ValueId>& gradients,
                const StepSpec& spec, std::string_view repeated);

/// Declares the weights of a model as tensors of the graph, under their Hugging Face names, linear ones as [in, out].
/// `fold`: linear ones in the type that TensorE multiplies, because nobody updates them.
std::map<std::string, runtime::ValueId> declare_weights(runtime::Graph& graph, const std::vector<WeightSpec>& specs,
                                                        bool fold = false);

/// The factors of one update, for the input "hyper". `step` counts from 1.
std::vector<float> hyper_values(const StepSpec& spec, double learning_rate, std::int64_t step);

/// "input_ids.0": an input or output of a micro-batch.
std::string micro_name(std::string_view name, std::int64_t micro_batch);

/// Learning rate of step `step` (from 0) of `total`: linear warm-up, then constant, linear or cosine decay to 0.
/// Source: transformers, optimization.py. Errors: Fault::kUsage for an unknown schedule.
double scheduled_rate(std::string_view schedule, double rate, std::int64_t step, std::int64_t warmup,
                      std::int64_t total);

}  // namespace workloads
