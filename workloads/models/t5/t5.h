// T5 (Raffel et al., arXiv:1910.10683) and its version 1.1: an encoder that reads one text and a decoder that writes
// another; biases by distance in place of positions, shared by the layers of a stack. Tensor names as in Hugging Face's
// T5ForConditionalGeneration.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string_view>
#include <vector>

#include "workloads/models/config.h"
#include "workloads/models/layers/distances.h"
#include "workloads/models/model.h"
#include "workloads/models/pairs/pair_arch.h"
#include "workloads/models/registry.h"
#include "workloads/models/weights.h"

namespace workloads {

/// All have one architecture, but that UMT5 (Chung et al., arXiv:2304.09151) has biases of each layer; files leave out
/// other defaults.
enum class T5Kind : std::uint8_t { kT5, kMt5, kUmt5 };

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
  std::optional<Lora> lora{};

  std::int64_t inner() const { return num_heads * d_kv; }
  Buckets buckets() const { return {relative_attention_num_buckets, relative_attention_max_distance}; }
};

T5Config blank_t5(T5Kind kind);
T5Config read_t5(const Keys& keys, T5Kind kind = T5Kind::kT5);
void check(const T5Config& config, std::string_view where);
void apply(const ModelChange& change, T5Config& config);
nlohmann::json to_json(const T5Config& config);
std::vector<WeightSpec> t5_weights(const T5Config& config);
/// The stacks and their names.
PairArch pair_of(const T5Config& config);

ModelPtr make_model(T5Config config);

}  // namespace workloads
