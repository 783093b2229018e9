// The architecture of a decoder of any family, as its graphs need it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "isa/program.h"
#include "workloads/models/config.h"
#include "workloads/models/layers/arch.h"
#include "workloads/models/lora.h"
#include "workloads/models/weights.h"
#include "workloads/step/step.h"

namespace workloads {

struct Sizes;  // workloads/models/model.h

struct DecoderArch {
  std::int64_t layers = 0, hidden = 0, vocabulary = 0, positions = 0;
  std::string blocks;  // names of a layer's weights begin with this and its number: "model.layers."
  BlockArch block{};
  EmbeddingArch embedding{};
  HeadArch head{};
  std::vector<std::int64_t> end_tokens{};  // text ends at any of them
  std::optional<Lora> lora{};              // adapters beside frozen weights

  std::string layer_prefix(std::int64_t layer) const;
  /// Elements of a row of the token table, and of the head's input.
  std::int64_t token_width() const { return embedding.width > 0 ? embedding.width : hidden; }
};
/// Errors: Fault::kUsage for an encoder.
DecoderArch decoder_arch(const ModelPtr& model);
Sizes sizes_of(const DecoderArch& arch);

/// All tensors of a decoder that has one table of tokens, in the order in which Hugging Face's Llama lists them.
std::vector<WeightSpec> decoder_specs(const DecoderArch& arch);

/// Errors: Fault::kUsage for a step that the decoder or its plan cannot have.
void require_step(const DecoderArch& arch, const Step& step);

}  // namespace workloads
