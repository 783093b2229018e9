// The config.json of BART, mBART, Marian, Pegasus, M2M-100, Blenderbot, PLBART and Whisper.
#include "workloads/models/bart/bart.h"

#include <fmt/format.h>

#include <array>

#include "workloads/models/config/table.h"

namespace workloads {
namespace {

using nlohmann::json;
using A = BartConfig;

constexpr Activation kBartActivations[] = {Activation::kGelu, Activation::kGeluTanh, Activation::kRelu,
                                           Activation::kSilu};

bool is_marian(const A& c) { return c.kind == BartKind::kMarian; }
bool of_sound(const A& c) { return dialect_of(c.kind).hears; }
bool of_text(const A& c) { return !of_sound(c); }

/// Both stacks have as many heads, and layers as wide.
void read_other(const Keys& keys, const char* key, std::int64_t size) { keys.only(key, size); }

void read_forced(const Keys& keys, BartConfig& c) {
  if (keys.has("forced_bos_token_id")) keys.optional("forced_bos_token_id", c.written.first.emplace());
}

/// Lists of one token each; longer ones would need the tokens before.
void read_never(const Keys& keys, BartConfig& c) {
  if (!keys.has("bad_words_ids")) return;
  const json& lists = keys.at("bad_words_ids");
  for (const json& one : lists.is_array() ? lists : json::array({lists})) {
    if (!one.is_array() || one.size() != 1 || !one.front().is_number_integer())
      keys.fail(fmt::format("\"bad_words_ids\" is {}; only lists of one token each are modelled", lists.dump()),
                "leave out the longer ones");
    c.written.never.push_back(one.front().get<std::int64_t>());
  }
}

json never_json(const A& c) {
  json lists = json::array();
  for (const std::int64_t id : c.written.never) lists.push_back(json::array({id}));
  return lists;
}

// clang-format off
constexpr auto kBartFields = std::to_array<Field<A>>({
    {.key = "vocab_size", .member = &A::vocab_size, .required = true, .range = kVocabulary},
    {.key = "d_model", .member = &A::d_model, .required = true, .range = kWidth},
    {.key = "encoder_layers", .member = &A::encoder_layers, .required = true, .range = kLayers},
    {.key = "decoder_layers", .member = &A::decoder_layers, .required = true, .range = kLayers},
    {.key = "encoder_attention_heads", .member = &A::heads, .required = true, .range = kHeadCounts},
    {.key = "decoder_attention_heads", .required = true,
     .read = [](const Keys& keys, A& c) { read_other(keys, "decoder_attention_heads", c.heads); },
     .write = [](const A& c) { return json(c.heads); }},
    {.key = "encoder_ffn_dim", .member = &A::ffn, .required = true, .range = kWidth},
    {.key = "decoder_ffn_dim", .required = true,
     .read = [](const Keys& keys, A& c) { read_other(keys, "decoder_ffn_dim", c.ffn); },
     .write = [](const A& c) { return json(c.ffn); }},
    {.key = "max_position_embeddings", .member = &A::max_position_embeddings, .when = of_text},
    {.key = "max_target_positions", .member = &A::max_position_embeddings, .when = of_sound},
    {.key = "max_source_positions", .when = of_sound,
     .read = [](const Keys& keys, A& c) { keys.optional("max_source_positions", c.sound.tokens); },
     .write = [](const A& c) { return json(c.sound.tokens); },
     .check = [](const Rules& r, const A& c) { r.positive("max_source_positions", c.sound.tokens); }},
    {.key = "num_mel_bins", .when = of_sound,
     .read = [](const Keys& keys, A& c) { keys.optional("num_mel_bins", c.sound.bands); },
     .write = [](const A& c) { return json(c.sound.bands); },
     .check = [](const Rules& r, const A& c) { r.positive("num_mel_bins", c.sound.bands, 1024); }},
    {.key = "activation_function", .member = &A::activation_function, .choices = kBartActivations},
    {.key = "dropout", .member = &A::dropout, .range = kProbability},
    {.key = "attention_dropout", .member = &A::attention_dropout, .range = kProbability},
    {.key = "activation_dropout", .member = &A::activation_dropout, .range = kProbability},
    {.key = "encoder_layerdrop", .only = 0.0},
    {.key = "decoder_layerdrop", .only = 0.0},
    {.key = "init_std", .member = &A::init_std},
    {.key = "scale_embedding", .member = &A::scale_embedding, .when = of_text},
    {.key = "tie_word_embeddings", .only = true},
    {.key = "pad_token_id", .member = &A::pad_token_id, .range = kToken},
    {.key = "eos_token_id", .member = &A::eos_token_id, .range = kToken},
    {.key = "decoder_start_token_id", .member = &A::decoder_start_token_id, .range = kToken,
     .otherwise = [](A& c) {
       const bool padding = dialect_of(c.kind).waves && !dialect_of(c.kind).of_fairseq;
       c.decoder_start_token_id = padding ? c.pad_token_id : c.eos_token_id;
       if (c.kind == BartKind::kBlenderbot) c.decoder_start_token_id = 1;
       if (of_sound(c)) c.decoder_start_token_id = 50257;
     }},
    {.key = "forced_bos_token_id", .written = [](const A& c) { return c.written.first.has_value(); },
     .read = read_forced, .write = [](const A& c) { return json(*c.written.first); },
     .check = [](const Rules& r, const A& c) {
       if (c.written.first) r.token("forced_bos_token_id", *c.written.first, c.vocab_size);
     }},
    {.key = "is_encoder_decoder", .only = true},
    {.key = "use_weighted_layer_sum", .only = false, .when = of_sound},
    {.key = "bad_words_ids", .written = [](const A& c) { return !c.written.never.empty(); }, .read = read_never,
     .write = never_json,
     .check = [](const Rules& r, const A& c) {
       for (const std::int64_t id : c.written.never) r.token("bad_words_ids", id, c.vocab_size);
     }},
    {.key = "share_encoder_decoder_embeddings", .only = true, .when = is_marian},
    {.key = "decoder_vocab_size", .when = is_marian,
     .read = [](const Keys& keys, A& c) { read_other(keys, "decoder_vocab_size", c.vocab_size); }},
    {.key = "architectures",
     .write = [](const A& c) {
       return json::array({fmt::format("{}", dialect_of(c.kind).architecture) +
                           (is_marian(c) ? "MTModel" : "ForConditionalGeneration")});
     }},
    {.key = "model_type", .write = [](const A& c) { return json(dialect_of(c.kind).type); }},
    {.key = "torch_dtype", .always = "float32"},
});
// clang-format on

}  // namespace

/// Source: transformers, configuration_NAME.py.
BartConfig blank_bart(BartKind kind) {
  BartConfig c{.kind = kind};
  if (kind == BartKind::kMarian)
    c.vocab_size = 58101, c.eos_token_id = 0, c.pad_token_id = c.decoder_start_token_id = 58100;
  if (kind == BartKind::kM2m100) c.vocab_size = 128112, c.activation_function = Activation::kRelu;
  if (kind == BartKind::kM2m100) c.scale_embedding = true, c.attention_dropout = 0.1;
  if (kind == BartKind::kBlenderbot) {
    c.vocab_size = 8008, c.max_position_embeddings = 128, c.pad_token_id = 0, c.scale_embedding = false;
  }
  if (kind == BartKind::kPlbart) c.vocab_size = 50005, c.scale_embedding = true;
  if (kind == BartKind::kWhisper) {
    c.vocab_size = 51865, c.max_position_embeddings = 448, c.sound = {.tokens = 1500, .bands = 80}, c.dropout = 0;
    c.eos_token_id = c.pad_token_id = 50256, c.decoder_start_token_id = 50257;
  }
  if (kind == BartKind::kPegasus) c.eos_token_id = 1, c.pad_token_id = c.decoder_start_token_id = 0;
  return c;
}

BartConfig read_bart(const Keys& keys, BartKind kind) {
  const BartConfig c = read_fields<A>(kBartFields, keys, blank_bart(kind));
  check(c, keys.where());
  return c;
}

void check(const BartConfig& c, std::string_view where) {
  const Rules rules{where};
  check_fields<A>(kBartFields, c, rules);
  rules.divides("encoder_attention_heads", c.heads, "d_model", c.d_model);
  if ((dialect_of(c.kind).of_fairseq || of_sound(c)) && c.d_model < 4)
    rules.fail("d_model", fmt::format("{} elements have no sines of several lengths", c.d_model));
  if (of_sound(c) && c.d_model % 2 != 0)
    rules.fail("d_model", fmt::format("{} elements are not as many sines as cosines", c.d_model));
}

json to_json(const BartConfig& c) { return write_fields<A>(kBartFields, c); }

}  // namespace workloads
