// The config.json of BART, mBART, Marian, Pegasus, M2M-100, Blenderbot and PLBART.
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

/// Both stacks have as many heads, and layers as wide.
void read_other(const Keys& keys, const char* key, std::int64_t size) { keys.only(key, size); }

void read_forced(const Keys& keys, BartConfig& c) {
  if (keys.has("forced_bos_token_id")) keys.optional("forced_bos_token_id", c.forced_bos_token_id.emplace());
}

/// Lists of one token each; longer ones would need the tokens before.
void read_never(const Keys& keys, BartConfig& c) {
  if (!keys.has("bad_words_ids")) return;
  const json& lists = keys.at("bad_words_ids");
  for (const json& one : lists.is_array() ? lists : json::array({lists})) {
    if (!one.is_array() || one.size() != 1 || !one.front().is_number_integer())
      keys.fail(fmt::format("\"bad_words_ids\" is {}; only lists of one token each are modelled", lists.dump()),
                "leave out the longer ones");
    c.never.push_back(one.front().get<std::int64_t>());
  }
}

json never_json(const A& c) {
  json lists = json::array();
  for (const std::int64_t id : c.never) lists.push_back(json::array({id}));
  return lists;
}

// clang-format off
constexpr auto kBartFields = std::to_array<Field<A>>({
    {.key = "vocab_size", .member = &A::vocab_size, .required = true, .range = kVocabulary},
    {.key = "d_model", .member = &A::d_model, .required = true, .range = kWidth},
    {.key = "encoder_layers", .member = &A::encoder_layers, .required = true, .range = kLayers},
    {.key = "decoder_layers", .member = &A::decoder_layers, .required = true, .range = kLayers},
    {.key = "encoder_attention_heads", .member = &A::heads, .required = true, .range = kHeadCounts},
    {.key = "decoder_attention_heads",
     .read = [](const Keys& keys, A& c) { read_other(keys, "decoder_attention_heads", c.heads); },
     .write = [](const A& c) { return json(c.heads); }},
    {.key = "encoder_ffn_dim", .member = &A::ffn, .required = true, .range = kWidth},
    {.key = "decoder_ffn_dim", .read = [](const Keys& keys, A& c) { read_other(keys, "decoder_ffn_dim", c.ffn); },
     .write = [](const A& c) { return json(c.ffn); }},
    {.key = "max_position_embeddings", .member = &A::max_position_embeddings},
    {.key = "activation_function", .member = &A::activation_function, .choices = kBartActivations},
    {.key = "dropout", .member = &A::dropout, .range = kProbability},
    {.key = "attention_dropout", .member = &A::attention_dropout, .range = kProbability},
    {.key = "activation_dropout", .member = &A::activation_dropout, .range = kProbability},
    {.key = "encoder_layerdrop", .only = 0.0},
    {.key = "decoder_layerdrop", .only = 0.0},
    {.key = "init_std", .member = &A::init_std},
    {.key = "scale_embedding", .member = &A::scale_embedding},
    {.key = "tie_word_embeddings", .only = true},
    {.key = "pad_token_id", .member = &A::pad_token_id, .range = kToken},
    {.key = "eos_token_id", .member = &A::eos_token_id, .range = kToken},
    {.key = "decoder_start_token_id", .member = &A::decoder_start_token_id, .range = kToken,
     .otherwise = [](A& c) {
       const bool padding = dialect_of(c.kind).waves && !dialect_of(c.kind).of_fairseq;
       c.decoder_start_token_id = padding ? c.pad_token_id : c.eos_token_id;
       if (c.kind == BartKind::kBlenderbot) c.decoder_start_token_id = 1;
     }},
    {.key = "forced_bos_token_id", .written = [](const A& c) { return c.forced_bos_token_id.has_value(); },
     .read = read_forced, .write = [](const A& c) { return json(*c.forced_bos_token_id); },
     .check = [](const Rules& r, const A& c) {
       if (c.forced_bos_token_id) r.token("forced_bos_token_id", *c.forced_bos_token_id, c.vocab_size);
     }},
    {.key = "is_encoder_decoder", .only = true},
    {.key = "bad_words_ids", .written = [](const A& c) { return !c.never.empty(); }, .read = read_never,
     .write = never_json,
     .check = [](const Rules& r, const A& c) {
       for (const std::int64_t id : c.never) r.token("bad_words_ids", id, c.vocab_size);
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
  if (dialect_of(c.kind).of_fairseq && c.d_model < 4)
    rules.fail("d_model", fmt::format("{} elements have no sines of several lengths", c.d_model));
}

json to_json(const BartConfig& c) { return write_fields<A>(kBartFields, c); }

}  // namespace workloads
