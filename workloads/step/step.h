// One optimizer step: its plan, its computation, and the update of weights.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/step/plan.h"

namespace workloads {

using runtime::Plan;
using runtime::Recompute;

/// Which part of a model a step needs.
enum class Head : std::uint8_t {
  kClassifier,    // of sequences
  kTokens,        // of every token
  kNone,          // the encoder's last hidden states
  kPretraining,   // masked language model and next sentence
  kMaskedTokens,  // every token by the table of tokens, of which some were hidden
};

/// Which of the graphs of an optimizer step: a framework that compiles each micro-step by itself has two.
enum class Part : std::uint8_t {
  kWhole,      // all micro-batches and the update
  kMicroStep,  // one micro-batch; its gradients are added to "sum.NAME"
  kUpdate,     // reduction over ranks, clipping, and the optimizer, from "grad.NAME"
};

/// The computation for each sequence.
struct StepKind {
  std::int64_t length = 128;  // tokens of a sequence
  bool training = true;       // otherwise forward only, without dropout
  Head head = Head::kClassifier;
  Part part = Part::kWhole;
  std::int64_t predictions = 20;   // masked tokens of a sequence, for Head::kPretraining
  bool fold_weights = false;       // linear weights stored as TensorE multiplies them: for programs that only infer
  bool keep_logits = false;        // "logits.m" stay in memory for the host
  bool with_loss = false;          // also when nothing is trained
  double smoothing = 0;            // of labels, in training: the share that all classes have alike
  std::int64_t target_length = 0;  // of a model that reads a sequence and writes another: of that; 0: as many
  bool operator==(const StepKind&) const = default;
};

/// How gradients become new weights.
struct OptimizerSpec {
  std::string name = "adamw";  // or "lamb", "sgd"
  double momentum = 0;         // of sgd
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
  double weight_decay = 0;     // 0: no parameter decays
  bool decay_all = true;       // also biases and norms, as plain torch.optim.AdamW; HF Trainer spares them
  double max_grad_norm = 0;    // 0: not limited
  double bucket_bytes = 50e6;  // of gradients that are reduced together: torch-xla's BUCKET_CAP_MB default of 50
  bool operator==(const OptimizerSpec&) const = default;
};

/// One rank's work in one optimizer step.
struct Step {
  Plan plan{};
  StepKind kind{};
  OptimizerSpec optimizer{};
  std::int64_t stage = 0;  // of plan.pipeline
};

/// Errors: Fault::kUsage for a sequence of `length` tokens that a model's positions do not reach.
void require_positions(std::int64_t length, std::int64_t positions, std::string_view setting = "max_length");

}  // namespace workloads
