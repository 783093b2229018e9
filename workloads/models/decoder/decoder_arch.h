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

/// The slopes of heads, each of which adds its own to a score for every place farther on, from 2^-(most / heads) down
/// to 2^-most; ALiBi's most is 8. Source: Press et al., arXiv:2108.12409, section 3, and its code for a number of heads
/// that is no power of two: the slopes of every other of twice as many heads, beginning with the second, and then those
/// left out. So have transformers' modeling_bloom.py and modeling_mpt.py.
std::vector<double> slopes_of_heads(std::int64_t heads, double most);

/// Errors: Fault::kUsage for a step that the decoder or its plan cannot have.
void require_step(const DecoderArch& arch, const Step& step);

}  // namespace workloads
