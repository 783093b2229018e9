// What the graphs of decoders need to know of Llama, its relatives and GPT alike: sizes, traits, names of weights.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "isa/program.h"
#include "workloads/models/config.h"
#include "workloads/models/lora.h"
#include "workloads/step/step.h"

namespace workloads {

struct Sizes;  // workloads/models/model.h

/// Experts in place of each layer's feed-forward part. Tensor-parallel ranks hold equal numbers of them.
struct MixtureArch {
  std::int64_t experts = 0, top_k = 0;             // top_k: of a token
  bool normalised = true;                          // the gates of a token add up to 1
  double capacity_factor = 0;                      // slots of an expert over an even share; 0: for every token
  double balance = 0;                              // weight of the router's loss
  const char *router, *prefix, *gate, *up, *down;  // names: "mlp.gate", "mlp.experts.", "gate_proj", ...
};

struct DecoderArch {
  std::int64_t layers, hidden, heads, kv_heads, head, ffn, vocabulary, positions;
  double eps;
  bool rms, gated, rotary, bias, tied;
  isa::Fn activation;
  double dropout = 0, embedding_dropout = 0, attention_dropout = 0;
  const char *blocks = nullptr, *norm1 = nullptr, *norm2 = nullptr, *last_norm = nullptr, *query = nullptr,
             *key = nullptr, *value = nullptr, *out = nullptr, *up = nullptr, *down = nullptr, *embedding = nullptr;
  const char *query_norm = nullptr, *key_norm = nullptr;  // of each head, before it is turned
  double norm_offset = 0;                                 // norms multiply by weight + this
  double embedding_scale = 1, residual_scale = 1;         // of the embeddings, and of what is added to them
  double logit_scale = 1;
  double last_dropout = 0;                 // behind the last norm
  double score_scale = 0;                  // of q k^T; 0: 1 / sqrt(head)
  std::int64_t window = 0;                 // tokens that a query sees, itself among them; 0: all
  std::vector<double> frequencies{};       // radians per position of each rotated pair of a head
  std::vector<double> long_frequencies{};  // the same in sequences of more than `long_from` tokens, if they differ
  std::int64_t long_from = 0;
  double rope_magnitude = 1;               // of cosines and sines
  bool norms_behind = false;               // norm1 and norm2 are of what a layer's parts give, not of what they get
  std::vector<std::int64_t> end_tokens{};  // text ends at any of them
  std::optional<Lora> lora{};              // adapters beside frozen weights
  double adapter_parameters = 0;           // in all of them
  std::optional<MixtureArch> mixture{};    // ffn is then that of one expert
};
/// Errors: Fault::kUsage for an encoder.
DecoderArch decoder_arch(const ModelPtr& model);
Sizes sizes_of(const DecoderArch& arch);

/// Errors: Fault::kUsage for a step that the decoder or its plan cannot have.
void require_step(const DecoderArch& arch, const Step& spec);

isa::Fn device_function(Activation activation);
double score_scale(const DecoderArch& arch);

}  // namespace workloads
