// Text generation as two programs that share weights and caches: one takes a prompt, the other a token of each
// sequence, at any position. Llama and GPT, for one of several tensor-parallel ranks.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/graph/graph.h"
#include "runtime/graph/numerics.h"
#include "workloads/checkpoints/shards.h"
#include "workloads/models/config.h"
#include "workloads/models/weights.h"

namespace workloads {

struct GenerationSpec {
  std::int64_t batch = 1;     // sequences that grow side by side, at most 128
  std::int64_t prompt = 128;  // tokens of each prompt, padded behind its end
  std::int64_t length = 128;  // tokens that a cache holds of each sequence: at most 128, or a multiple of it
  std::int64_t read = 0;      // a token's program reads only the first rows, this many; 0: all
  std::int64_t tensor_parallel = 1;
  /// A prompt's program splits norms and sums by tokens, with all-gathers and reduce-scatters in place of all-reduces.
  /// Source: NxD Inference, sequence_parallel_enabled. Not where ranks do not divide the tokens, nor of mixtures and
  /// models with learned positions.
  bool sequence = false;
  runtime::Numerics numerics;
  /// Prompts of so many tokens go to the library's attention kernel, whatever their heads; 0: as transformers-neuronx
  /// chooses.
  std::int64_t kernel_from = 0;
  /// Whether transformers-neuronx has such a kernel.
  bool prompt_kernel = true;
  /// Without such a kernel: whether the scores of all prompts are one tensor (AttentionAttrs::kUnfusedTogether).
  bool scores_together = false;
  /// Whether a cache has the rows of all sequences at a position side by side (runtime::CacheFillAttrs).
  bool beside = false;
  /// For a mixture: programs read as many experts of a layer as NxD's load, whichever these are, to be timed. Otherwise
  /// they read all, whose gates are 0 where a token did not choose them.
  bool timed_experts = false;

  /// Rows of a block of tokens of which one expert takes care in a prompt's program; 0: every expert has all tokens.
  /// The host names the tokens of each block; to be timed.
  std::int64_t expert_block = 0;

  /// Rows of the cache that a token's program reads.
  std::int64_t rows_read() const { return read > 0 ? read : length; }
  /// Rows that a layer's cache has of each sequence: a window's (0: none) is a ring, where a token takes the row of one
  /// that its layer sees no longer. Source: NxD Inference, modules/kvcache/kv_cache_manager.py: layers with a window
  /// keep sliding_window rows, here rounded up to tiles.
  std::int64_t cache_rows(std::int64_t window) const;
  /// Whether caches of a window are shorter than the others.
  bool has_ring(std::int64_t window) const { return cache_rows(window) < length; }
  /// Experts that a program of so many tokens reads in each layer of a mixture.
  std::int64_t experts_read(std::int64_t experts, std::int64_t top_k, std::int64_t tokens) const;
};
/// Experts of a layer that a program of `tokens` tokens loads: the chosen ones for each token by itself, unless that is
/// as much as all. Source: NxD, modules/moe/expert_mlps_v2.py, forward_selective_loading and
/// DEFAULT_SELECTIVE_LOADING_THRESHOLD.
std::int64_t loaded_experts(std::int64_t experts, std::int64_t top_k, std::int64_t tokens);
/// As above, for a model; 0 without experts.
std::int64_t loaded_experts(const ModelPtr& model, std::int64_t tokens);
/// The split of weights over tensor-parallel ranks: as in training, but by each expert's feed-forward size instead
/// of the number of experts, so that all ranks work for every token.
ShardPlan generation_plan(std::int64_t tensor_parallel);

/// Errors: Fault::kUsage for a model that does not generate text, or not by these programs.
void require_generator(const ModelPtr& model);
/// Errors: as require_generator(); Fault::kUsage naming the flag: a length that the model has no positions for, a
/// prompt longer than that, a batch that the programs cannot hold, or a degree of tensor parallelism that does not
/// divide the model.
void check(const GenerationSpec& spec, const ModelPtr& model);

/// "fp32", "bf16", "fp16": weights, activations and operands of that type, softmax in fp32 as Hugging Face computes it.
/// Errors: Fault::kUsage for another name.
runtime::Numerics generation_numerics(std::string_view name);

/// Tokens of a prompt's program: the next power of two from 128 on, at most `length`. Source: transformers-neuronx
/// compiles one graph for each such bucket.
std::int64_t prompt_bucket(std::int64_t tokens, std::int64_t length);
/// Rows of a cache that holds `tokens` tokens.
std::int64_t cache_length(std::int64_t tokens);
/// The rows that tokens' programs read of a cache of `length`, from the first number that suffices for position `first`
/// to the one that position `last` needs, their own rows among them: powers of two from 128 on, the last one `length`
/// itself. Source: transformers-neuronx, decoder.py, find_bucket_id().
std::vector<std::int64_t> token_buckets(std::int64_t first, std::int64_t last, std::int64_t length);

/// Tensors that the host writes: "input_ids" [rows, 1] int32 and, when ranks share the vocabulary, "vocabulary" [rows,
/// 1], both as decoder_step() has them; in a prompt's program rows are batch * prompt, and "last" [batch, 1] int32 is
/// the row of each prompt's last token; otherwise rows are the sequences, and "positions" [batch, 1] int32 is the place
/// of each token, and with learned positions whose first ones no token has "places" [batch, 1] int32, its row in their
/// table. Where caches of windows are rings of R rows, a token's program has "slots" [batch, 1] int32, positions mod R,
/// and one of longer prompts "kept" [batch * R, 1] int32, the rows of the prompts that rings begin with.
/// Both leave "logits" [batch, part of the vocabulary] fp32. Weights (generation_weights()) and
/// rope_tables() of `length` positions, or slopes of heads, have the same addresses in both programs, as do the caches
/// "cache.keys.L" and "cache.values.L" [batch * cache_rows(), key-value heads of the rank * head_dim] of each layer L.
/// Errors: as check().
runtime::Graph prompt_graph(const ModelPtr& model, const GenerationSpec& spec);
runtime::Graph token_graph(const ModelPtr& model, const GenerationSpec& spec);

/// A tensor of rank 0; the last rank's part of a vocabulary may be smaller and is padded.
struct GenerationWeight {
  WeightSpec spec;       // its shape is the rank's part, as in the file
  bool blocked = false;  // a matrix [in, out] on the device, rows in the order of runtime::blocked_row()
  bool once = false;     // read by the prompt's program alone
};
/// As decoder_weights(), and the head "lm_head.weight", which is a copy when it is tied to the embeddings: a head is
/// read by columns, embeddings by rows.
std::vector<GenerationWeight> generation_weights(const ModelPtr& model, std::int64_t tensor_parallel);

/// These as tensors of a graph, by their names. Errors: as check().
std::map<std::string, runtime::ValueId> generation_tensors(runtime::Graph& graph, const ModelPtr& model,
                                                           const GenerationSpec& spec);

/// The least work of any implementation, per core: bytes of weights and caches that one run of token_graph() reads,
/// and matmul FLOPs.
struct TokenWork {
  double weight_bytes = 0, cache_bytes = 0, flops = 0;
};
TokenWork token_work(const ModelPtr& model, const GenerationSpec& spec);

}  // namespace workloads
