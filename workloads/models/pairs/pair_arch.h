// The architecture of a model that reads one text and writes another, as plain values: an encoder, and a decoder whose
// layers also attend to the encoder's output.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workloads/models/decoder/generation_graph.h"
#include "workloads/models/layers/arch.h"
#include "workloads/models/layers/distances.h"
#include "workloads/models/layers/layers.h"
#include "workloads/models/model.h"
#include "workloads/models/weights.h"

namespace workloads {

/// Names of an attention's weights after the layer's prefix, and of its norm.
struct PairAttention {
  AttentionNames names{};
  std::string norm{};
};

/// A stack of layers and its names.
struct PairStack {
  std::string name;    // "encoder"
  std::string blocks;  // names of a layer's weights begin with this and its number: "encoder.block."
  std::int64_t layers = 0;
  std::int64_t first = 0;  // number of its first layer among those of both stacks
  PairAttention self{}, cross{};
  MlpNames mlp{};
  std::string mlp_norm{};
  std::string relative{};      // the table of a bias by distance, of which its layers share one; empty: none
  bool each_relative = false;  // each layer has one, of that name behind its prefix
  std::string positions{};     // a table of positions; empty: none
  std::string embedding_norm{}, last_norm{};  // of the sum of embeddings, and behind the layers; empty: none

  std::string table(std::int64_t layer) const { return (each_relative ? prefix(layer) : "") + relative + ".weight"; }
  std::string prefix(std::int64_t layer) const { return blocks + std::to_string(layer - first) + "."; }
};

/// Two convolutions, each with an activation behind it, that make tokens of a sound: over each frame and its
/// neighbours, then over every other one and its neighbours.
struct StemArch {
  std::string first, second;  // names; empty: the source is a text
  isa::Fn activation = isa::Fn::kGelu;
  SoundShape sound{};
  explicit operator bool() const { return !first.empty(); }
};

/// Positions that are sines, and behind them as many cosines.
struct WaveArch {
  std::int64_t size = 0;   // elements; 0: there are none
  std::int64_t first = 0;  // the position of a text's first token
  bool closed = false;     // the slowest wave is 10000 times as long as the first; else the one after it would be
};

/// The stacks; norms, sizes, the table of tokens and the head, which they have alike, are those of ModelInfo::decoder.
struct PairArch {
  PairStack encoder{}, decoder{};
  Buckets buckets{};                // of the biases by distance
  std::int64_t first_position = 0;  // the row of a text's first token in a table of positions
  WaveArch waves{};                 // positions of stacks without a table
  StemArch stem{};                  // in place of the embeddings of the source
  std::int64_t positions = 0;       // tokens of the longest text; 0: there is no end
  std::int64_t source_positions() const { return stem ? stem.sound.tokens : positions; }

  const PairStack& stack_of(std::int64_t layer) const { return layer < decoder.first ? encoder : decoder; }
};

/// Tokens of a text that the step writes.
std::int64_t target_length(const StepKind& kind);

/// The model's step has, for each micro-batch m, the inputs of decoder_step(), with these differences. "input_ids.m"
/// and "vocabulary.m" are of the texts that are read, [batch * length, 1]; "source_mask.m" [batch, length] is 1 where
/// there is a token of them; "decoder_input_ids.m" and "decoder_vocabulary.m" are of those that are written, [batch *
/// target_length(), 1], each token's predecessor; "labels.m" and "weights.m" are of these too. Model::tables() beside
/// them. A sound has "frames.m" [batch * frames, bands], in the activations' type, in place of ids and mask of
/// the source. A pipeline has two stages, encoder and decoder: the first has the source, the last the rest, and both
/// the mask. Errors: Fault::kUsage for another plan, or lengths that sequence parallelism does not divide.
StepGraph pair_step(const ModelPtr& model, const PairArch& pair, const Step& step);

/// Generation has the inputs and outputs of prompt_graph() and token_graph(), but all texts of a batch are written in
/// step, the prompt's program writes their first token. Tensors that the host writes: in the prompt's program
/// "input_ids" [batch * prompt, 1] int32 and "distances.encoder" (Model::tables()); in both "source_mask" [batch,
/// prompt], 1 where there is a token, "decoder_input_ids" [batch, 1] int32, "positions" [batch, 1] int32, the place of
/// these, with a table of positions "places", their rows in it, "seen" [batch, length], 1 up to that place, and
/// "distances" (Model::host_tables() of the place). A sound has "frames" as above. One core. Errors: as
/// check(GenerationSpec).
runtime::Graph pair_generation(const ModelPtr& model, const PairArch& pair, const GenerationSpec& spec, bool prompt);

/// The tables of a step, or of a token at `position`: "distances..." of stacks with a bias by distance, and sines and
/// cosines of positions, "positions.encoder", "positions.decoder" and "place".
std::vector<HostTable> pair_tables(const PairArch& pair, const StepKind& kind, std::optional<std::int64_t> position);

/// Why a plan is not one of the model.
std::optional<Problem> pair_problem(const PairArch& pair, const Sizes& sizes, const Plan& plan);

/// Matmul FLOPs: keys and values of the source are computed once in each layer of the decoder; all pairs of tokens are
/// counted.
double pair_flops(const Model& model, const PairArch& pair, const Step& step);

/// The tokens of sounds, whose frames the host writes. In scope "embeddings".
runtime::ValueId stem(Layers& net, const StemArch& arch);

/// Names of the MLP in a layer.
MlpNames with_prefix(const std::string& prefix, const MlpNames& names);

}  // namespace workloads
