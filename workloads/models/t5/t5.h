// T5 (Raffel et al., arXiv:1910.10683) and its version 1.1: an encoder that reads one text and a decoder that writes
// another; biases by distance in place of positions, shared by the layers of a stack. Tensor names as in Hugging Face's
// T5ForConditionalGeneration.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string_view>
#include <vector>

#include "workloads/models/config.h"
#include "workloads/models/decoder/generation_graph.h"
#include "workloads/models/layers/arch.h"
#include "workloads/models/model.h"
#include "workloads/models/registry.h"
#include "workloads/models/weights.h"

namespace workloads {

/// Both have one architecture; mT5's files leave out other defaults.
enum class T5Kind : std::uint8_t { kT5, kMt5 };

/// The defaults are Hugging Face's.
struct T5Config {
  T5Kind kind = T5Kind::kT5;
  std::int64_t vocab_size = 32128;
  std::int64_t d_model = 0;
  std::int64_t d_kv = 64;  // of a head
  std::int64_t d_ff = 0;
  std::int64_t num_layers = 0;          // of the encoder
  std::int64_t num_decoder_layers = 0;  // a file without it has as many
  std::int64_t num_heads = 0;
  std::int64_t relative_attention_num_buckets = 32;
  std::int64_t relative_attention_max_distance = 128;
  std::int64_t n_positions = 512;  // that it was trained for; its biases have no end
  double dropout_rate = 0.1;
  double layer_norm_epsilon = 1e-6;
  double initializer_range = 1;  // "initializer_factor"
  bool gated = false;            // "feed_forward_proj" is "gated-gelu", not "relu"
  bool tie_word_embeddings = true;
  std::int64_t pad_token_id = 0, eos_token_id = 1, decoder_start_token_id = 0;

  std::int64_t inner() const { return num_heads * d_kv; }
};

T5Config blank_t5(T5Kind kind);
T5Config read_t5(const Keys& keys, T5Kind kind = T5Kind::kT5);
void check(const T5Config& config, std::string_view where);
void apply(const ModelChange& change, T5Config& config);
nlohmann::json to_json(const T5Config& config);
std::vector<WeightSpec> t5_weights(const T5Config& config);
/// Names of the MLP in a layer; `layer`: the prefix of its weights' names.
MlpNames t5_mlp(const T5Config& config, const std::string& layer);

/// Which of the biases a query has for a key `distance` places behind it. Source: transformers, modeling_t5.py,
/// _relative_position_bucket.
std::int64_t t5_bucket(const T5Config& config, bool both_ways, std::int64_t distance);

/// Tokens of a text that the step writes.
std::int64_t target_length(const StepKind& kind);

/// The model's step has, for each micro-batch m, the inputs of decoder_step(), with these differences. "input_ids.m"
/// and "vocabulary.m" are of the texts that are read, [batch * length, 1]; "source_mask.m" [batch, length] is 1 where
/// there is a token of them; "decoder_input_ids.m" and "decoder_vocabulary.m" are of those that are written, [batch *
/// target_length(), 1], each token's predecessor; "labels.m" and "weights.m" are of these too. Model::tables() beside
/// them. A pipeline has two stages, encoder and decoder: the first has the source, the last the rest, and both the
/// mask. Errors: Fault::kUsage for another plan, or lengths that sequence parallelism does not divide.
StepGraph t5_step(const ModelPtr& model, const T5Config& config, const Step& step);

/// Generation has the inputs and outputs of prompt_graph() and token_graph(), but all texts of a batch are written in
/// step, the prompt's program writes their first token. Tensors that the host writes: in the prompt's program
/// "input_ids" [batch
/// * prompt, 1] int32 and "distances.encoder" (Model::tables()); in both "source_mask" [batch, prompt], 1 where there
/// is a token, "decoder_input_ids" [batch, 1] int32, "positions" [batch, 1] int32, the place of these, "seen" [batch,
/// length], 1 up to that place, and "distances" (Model::host_tables() of the place). One core. Errors: as
/// check(GenerationSpec).
runtime::Graph t5_generation(const ModelPtr& model, const T5Config& config, const GenerationSpec& spec, bool prompt);

ModelPtr make_model(T5Config config);

}  // namespace workloads
