// One optimizer step as a graph: what is common to all model families, and how the host feeds it.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "runtime/graph.h"
#include "runtime/numerics.h"
#include "workloads/training/batches.h"
#include "workloads/weights.h"

namespace workloads {

/// Which part of a model a step needs.
enum class Head : std::uint8_t {
  kClassifier,   // of sequences
  kTokens,       // of every token
  kNone,         // the encoder's last hidden states
  kPretraining,  // masked language model and next sentence
};

/// Which of the graphs of an optimizer step: a framework that compiles each micro-step by itself has two.
enum class Part : std::uint8_t {
  kWhole,      // all micro-batches and the update
  kMicroStep,  // one micro-batch; its gradients are added to "sum.NAME"
  kUpdate,     // reduction over ranks, clipping, and the optimizer, from "grad.NAME"
};

/// Which results of the forward pass the backward pass computes again instead of finding them in memory.
enum class Recompute : std::uint8_t {
  kNone,
  kSelective,  // attention's probabilities (Korthikanti et al., arXiv:2205.05198, section 5)
  kFull,       // everything inside of a layer
};
/// Errors: Fault::kUsage for another word than none, selective, full.
Recompute recompute_of(std::string_view name);
std::string_view name_of(Recompute recompute);

/// What one rank does in one optimizer step.
struct StepSpec {
  std::int64_t batch = 8;     // sequences per micro-batch
  std::int64_t length = 128;  // tokens of each
  std::int64_t micro_batches = 1;
  std::uint32_t ranks = 1;    // data parallel
  bool training = true;       // otherwise forward only, without dropout
  bool fold_weights = false;  // linear weights stored as TensorE multiplies them: for programs that only infer
  Head head = Head::kClassifier;
  Part part = Part::kWhole;
  std::int64_t predictions = 20;  // masked tokens of a sequence, for Head::kPretraining
  runtime::Numerics numerics{};
  double adam_beta1 = 0.9, adam_beta2 = 0.999, adam_epsilon = 1e-8;
  double weight_decay = 0;          // 0: no parameter decays
  bool decay_all = true;            // also biases and gains, as plain torch.optim.AdamW; HF Trainer spares them
  double max_grad_norm = 0;         // 0: not limited
  std::string optimizer = "adamw";  // or "lamb"
  double bucket_bytes = 50e6;       // of gradients that are reduced together: torch-xla's BUCKET_CAP_MB default of 50

  // Decoders only. Ranks count tensor-parallel ranks first, then data-parallel ones, then stages: see rank_of().
  std::int64_t tensor_parallel = 1;
  std::int64_t pipeline_parallel = 1;  // stages, each a program of its own:
  std::int64_t stage = 0;              // which of them this is
  std::int64_t virtual_stages = 1;     // chunks of layers on each stage: the interleaved schedule
  bool sequence_parallel = false;      // what is not split by heads or columns is split by tokens
  bool zero1 = false;                  // optimizer state is shared by data-parallel ranks
  bool master_weights = false;         // fp32 copies of the weights, which the optimizer updates
  Recompute recompute = Recompute::kNone;
  bool keep_logits = false;  // "logits.m" stay in memory for the host
  bool with_loss = false;    // also when nothing is trained

  std::uint32_t world() const { return ranks * static_cast<std::uint32_t>(tensor_parallel * pipeline_parallel); }
  std::uint32_t rank_of(std::int64_t data, std::int64_t tensor, std::int64_t on_stage) const {
    return static_cast<std::uint32_t>((on_stage * static_cast<std::int64_t>(ranks) + data) * tensor_parallel + tensor);
  }
  std::int64_t last_stage() const { return pipeline_parallel - 1; }
};

/// The replica groups of a step: data-parallel ones, then tensor-parallel ones, both only of more than one rank; with
/// stages, the pairs between each and the next (the last one's next is the first), all stages, and the first with the
/// last; then the `head_sharing` neighbours that have the same key-value head. Models give them to their graph.
isa::GroupTables replica_groups(const StepSpec& spec, std::int64_t head_sharing = 1);
std::uint8_t data_group(const StepSpec& spec);
std::uint8_t tensor_group(const StepSpec& spec);
std::uint8_t link_group(const StepSpec& spec, std::int64_t from_stage);
std::uint8_t stages_group(const StepSpec& spec);
std::uint8_t ends_group(const StepSpec& spec);
std::uint8_t heads_group(const StepSpec& spec);

/// What distinguishes the parameters of tensor-parallel ranks.
struct ParameterSets {
  std::set<runtime::ValueId> split;    // each rank has its own part; the others are the same on every rank
  std::set<runtime::ValueId> partial;  // the same, but gradients are sums over a rank's tokens only
  std::set<runtime::ValueId> shared;   // split, but `sharing` neighbours have the same part: gradients add up
  std::set<runtime::ValueId> tied;     // also on the other end of the pipeline: their gradients add up
  std::int64_t sharing = 1;
};

/// Parameters that ZeRO updates together: every data-parallel rank has its part of "shard.N" (runtime::bucket_elements
/// of each tensor, one after the other, cut in equal parts).
struct ZeroBucket {
  std::string name;                  // "shard.0"
  std::vector<std::string> weights;  // in their order
};

/// Adds gradients' reduction over ranks, clipping and the update of every weight. `blocks`: names in front of a number
/// that repeats ("bert.encoder.layer."), so that equal layers share a block.
/// Returns the buckets of ZeRO, whose shards the host fills before the first step.
std::vector<ZeroBucket> add_update(runtime::Graph& graph, const std::map<runtime::ValueId, runtime::ValueId>& gradients,
                                   const StepSpec& spec, std::string_view repeated, const ParameterSets& sets = {});

/// Adds each gradient to a tensor "sum.NAME" that outlives the program.
void add_accumulation(runtime::Graph& graph, const std::map<runtime::ValueId, runtime::ValueId>& gradients,
                      std::string_view repeated);

/// A tensor "grad.NAME" for each weight, when another program has computed them.
std::map<runtime::ValueId, runtime::ValueId> declare_gradients(runtime::Graph& graph,
                                                               const std::map<std::string, runtime::ValueId>& weights);

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
