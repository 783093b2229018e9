// BART (Lewis et al., arXiv:1910.13461), mBART (Liu et al., arXiv:2001.08210), Marian (Junczys-Dowmunt et al.,
// arXiv:1804.00344), Pegasus (Zhang et al., arXiv:1912.08777), M2M-100 (Fan et al., arXiv:2010.11125), Blenderbot
// (Roller et al., arXiv:2004.13637) and PLBART (Ahmad et al., arXiv:2103.06333): an encoder that reads one text and a
// decoder that writes another, with positions of tokens. Whisper (Radford et al., arXiv:2212.04356) reads a sound in
// place of the first text. Tensor names as in Hugging Face's BartForConditionalGeneration.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string_view>
#include <vector>

#include "workloads/models/config.h"
#include "workloads/models/model.h"
#include "workloads/models/pairs/pair_arch.h"
#include "workloads/models/registry.h"
#include "workloads/models/weights.h"

namespace workloads {

/// mBART's and Pegasus's layers have their norms in front of their parts, and one behind all; mBART's texts begin with
/// their last token. Positions of Marian, Pegasus and M2M-100 are sines and cosines, which the last counts from
/// fairseq's second row behind padding on. Blenderbot's layers are mBART's, PLBART's BART's, Whisper's mBART's, whose
/// keys have no bias.
enum class BartKind : std::uint8_t { kBart, kMbart, kMarian, kPegasus, kM2m100, kBlenderbot, kPlbart, kWhisper };

/// The differences of each. Source: transformers, modeling_NAME.py and configuration_NAME.py.
struct BartDialect {
  BartKind kind;
  std::string_view family, type, architecture;  // "mBART", "mbart", "MBart"
  bool norms_first = false;
  bool waves = false;       // positions are sines and cosines, and embeddings have no norm
  bool last_first = false;  // as TextPairs has it
  bool of_fairseq = false;  // positions as WaveArch has them otherwise, and no bias of the logits
  bool bare = false;        // embeddings have no norm, and positions begin with their table's first row
  bool hears = false;       // the source is a sound, whose positions are sines and cosines; a table for the other text
};
const BartDialect& dialect_of(BartKind kind);

/// The defaults are Hugging Face's.
struct BartConfig {
  BartKind kind = BartKind::kBart;
  std::int64_t vocab_size = 50265;
  std::int64_t d_model = 0;
  std::int64_t encoder_layers = 0, decoder_layers = 0;
  std::int64_t heads = 0;                       // of both stacks
  std::int64_t ffn = 0;                         // the same
  std::int64_t max_position_embeddings = 1024;  // of a sound's text
  SoundShape sound{};                           // of one that hears
  Activation activation_function = Activation::kGelu;
  double dropout = 0.1, attention_dropout = 0, activation_dropout = 0;
  double init_std = 0.02;
  bool scale_embedding = false;  // by the root of d_model
  std::int64_t pad_token_id = 1, eos_token_id = 2, decoder_start_token_id = 2;
  /// The first token of each text that is written, and tokens that it never has ("bad_words_ids").
  struct Written {
    std::optional<std::int64_t> first{};
    std::vector<std::int64_t> never{};
  } written{};
  std::optional<Lora> lora{};
};

BartConfig blank_bart(BartKind kind);
BartConfig read_bart(const Keys& keys, BartKind kind = BartKind::kBart);
void check(const BartConfig& config, std::string_view where);
void apply(const ModelChange& change, BartConfig& config);
nlohmann::json to_json(const BartConfig& config);
std::vector<WeightSpec> bart_weights(const BartConfig& config);
/// The stacks and their names.
PairArch pair_of(const BartConfig& config);

ModelPtr make_model(BartConfig config);

}  // namespace workloads
