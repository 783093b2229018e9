// T5's config.json.
#include "workloads/models/t5/t5.h"

#include <array>
#include <cctype>

#include "workloads/models/config/table.h"

namespace workloads {
namespace {

using nlohmann::json;
using T = T5Config;

void read_form(const Keys& keys, T5Config& c) {
  if (!keys.has("feed_forward_proj")) return;
  const json& form = keys.at("feed_forward_proj");
  if (form != "relu" && form != "gated-gelu")
    keys.fail("\"feed_forward_proj\" is " + form.dump(), "use \"relu\" or \"gated-gelu\"");
  c.gated = form == "gated-gelu";
}

std::string type_of(const T& c) { return c.kind == T5Kind::kMt5 ? "mt5" : c.kind == T5Kind::kUmt5 ? "umt5" : "t5"; }

// clang-format off
constexpr auto kT5Fields = std::to_array<Field<T>>({
    {.key = "vocab_size", .member = &T::vocab_size, .required = true, .range = kVocabulary},
    {.key = "d_model", .member = &T::d_model, .required = true, .range = kWidth},
    {.key = "d_kv", .member = &T::d_kv, .required = true, .range = {.most = 128}},
    {.key = "d_ff", .member = &T::d_ff, .required = true, .range = kWidth},
    {.key = "num_layers", .member = &T::num_layers, .required = true, .range = kLayers},
    {.key = "num_heads", .member = &T::num_heads, .required = true, .range = kHeadCounts},
    {.key = "num_decoder_layers", .member = &T::num_decoder_layers, .range = kLayers,
     .otherwise = [](T& c) { c.num_decoder_layers = c.num_layers; }},
    {.key = "relative_attention_num_buckets", .member = &T::relative_attention_num_buckets, .range = {.most = 1024}},
    {.key = "relative_attention_max_distance", .member = &T::relative_attention_max_distance},
    {.key = "n_positions", .member = &T::n_positions},
    {.key = "dropout_rate", .member = &T::dropout_rate, .range = kProbability},
    {.key = "layer_norm_epsilon", .member = &T::layer_norm_epsilon},
    {.key = "initializer_factor", .member = &T::initializer_range},
    {.key = "feed_forward_proj", .read = read_form,
     .write = [](const T& c) { return json(c.gated ? "gated-gelu" : "relu"); }},
    {.key = "tie_word_embeddings", .member = &T::tie_word_embeddings},
    {.key = "pad_token_id", .member = &T::pad_token_id, .range = kToken},
    {.key = "eos_token_id", .member = &T::eos_token_id, .range = kToken},
    {.key = "decoder_start_token_id", .member = &T::decoder_start_token_id, .range = kToken,
     .otherwise = [](T& c) { c.decoder_start_token_id = c.pad_token_id; }},
    {.key = "is_encoder_decoder", .only = true},
    {.key = "architectures",
     .write = [](const T& c) {
       std::string name = type_of(c);
       for (char& letter : name) letter = static_cast<char>(std::toupper(letter));
       return json::array({name + "ForConditionalGeneration"});
     }},
    {.key = "model_type", .write = [](const T& c) { return json(type_of(c)); }},
    {.key = "torch_dtype", .always = "float32"},
});
// clang-format on

}  // namespace

/// Source: transformers, configuration_mt5.py.
T5Config blank_t5(T5Kind kind) {
  T5Config c{.kind = kind};
  if (kind == T5Kind::kUmt5) c.vocab_size = 250112, c.gated = true;
  if (kind == T5Kind::kMt5) c.vocab_size = 250112, c.gated = true, c.tie_word_embeddings = false;
  return c;
}

T5Config read_t5(const Keys& keys, T5Kind kind) {
  const T5Config c = read_fields<T>(kT5Fields, keys, blank_t5(kind));
  check(c, keys.where());
  return c;
}

void check(const T5Config& c, std::string_view where) {
  const Rules rules{where};
  check_fields<T>(kT5Fields, c, rules);
  if (c.relative_attention_num_buckets % 4 != 0) rules.fail("relative_attention_num_buckets", "is not a multiple of 4");
  if (2 * c.relative_attention_max_distance <= c.relative_attention_num_buckets)
    rules.fail("relative_attention_max_distance", "leaves no distances for the last buckets");
}

json to_json(const T5Config& c) { return write_fields<T>(kT5Fields, c); }

}  // namespace workloads
