// T5's config.json.
#include "workloads/models/config_keys.h"
#include "workloads/models/t5/t5.h"

namespace workloads {

using nlohmann::json;

namespace {

bool is_gated(const Keys& keys) {
  const json& form = keys.at("feed_forward_proj");
  if (form == "relu") return false;
  if (form == "gated-gelu") return true;
  keys.fail("\"feed_forward_proj\" is " + form.dump(), "use \"relu\" or \"gated-gelu\"");
}

}  // namespace

T5Config read_t5(const Keys& keys) {
  T5Config c;
  keys.required("vocab_size", c.vocab_size);
  keys.required("d_model", c.d_model);
  keys.required("d_kv", c.d_kv);
  keys.required("d_ff", c.d_ff);
  keys.required("num_layers", c.num_layers);
  keys.required("num_heads", c.num_heads);
  c.num_decoder_layers = c.num_layers;
  keys.optional("num_decoder_layers", c.num_decoder_layers);
  keys.optional("relative_attention_num_buckets", c.relative_attention_num_buckets);
  keys.optional("relative_attention_max_distance", c.relative_attention_max_distance);
  keys.optional("n_positions", c.n_positions);
  keys.optional("dropout_rate", c.dropout_rate);
  keys.optional("layer_norm_epsilon", c.layer_norm_epsilon);
  keys.optional("initializer_factor", c.initializer_range);
  if (keys.has("feed_forward_proj")) c.gated = is_gated(keys);
  keys.optional("tie_word_embeddings", c.tie_word_embeddings);
  keys.optional("pad_token_id", c.pad_token_id);
  keys.optional("eos_token_id", c.eos_token_id);
  c.decoder_start_token_id = c.pad_token_id;
  keys.optional("decoder_start_token_id", c.decoder_start_token_id);
  keys.only("is_encoder_decoder", true);
  check(c, keys.where());
  return c;
}

void check(const T5Config& c, std::string_view where) {
  const Rules rules{where};
  rules.positive("vocab_size", c.vocab_size);
  rules.positive("d_model", c.d_model);
  rules.positive("d_kv", c.d_kv, 128);
  rules.positive("d_ff", c.d_ff);
  rules.positive("num_layers", c.num_layers, 10'000);
  rules.positive("num_decoder_layers", c.num_decoder_layers, 10'000);
  rules.positive("num_heads", c.num_heads);
  rules.positive("relative_attention_num_buckets", c.relative_attention_num_buckets, 1024);
  if (c.relative_attention_num_buckets % 4 != 0) rules.fail("relative_attention_num_buckets", "is no multiple of 4");
  rules.positive("relative_attention_max_distance", c.relative_attention_max_distance);
  if (2 * c.relative_attention_max_distance <= c.relative_attention_num_buckets)
    rules.fail("relative_attention_max_distance", "leaves no distance to the last buckets");
  rules.positive("n_positions", c.n_positions);
  rules.positive("layer_norm_epsilon", c.layer_norm_epsilon);
  rules.positive("initializer_factor", c.initializer_range);
  rules.probability("dropout_rate", c.dropout_rate);
  rules.token("pad_token_id", c.pad_token_id, c.vocab_size);
  rules.token("eos_token_id", c.eos_token_id, c.vocab_size);
  rules.token("decoder_start_token_id", c.decoder_start_token_id, c.vocab_size);
}

json to_json(const T5Config& c) {
  return {{"architectures", {"T5ForConditionalGeneration"}},
          {"d_ff", c.d_ff},
          {"d_kv", c.d_kv},
          {"d_model", c.d_model},
          {"decoder_start_token_id", c.decoder_start_token_id},
          {"dropout_rate", c.dropout_rate},
          {"eos_token_id", c.eos_token_id},
          {"feed_forward_proj", c.gated ? "gated-gelu" : "relu"},
          {"initializer_factor", c.initializer_range},
          {"is_encoder_decoder", true},
          {"layer_norm_epsilon", c.layer_norm_epsilon},
          {"model_type", "t5"},
          {"n_positions", c.n_positions},
          {"num_decoder_layers", c.num_decoder_layers},
          {"num_heads", c.num_heads},
          {"num_layers", c.num_layers},
          {"pad_token_id", c.pad_token_id},
          {"relative_attention_max_distance", c.relative_attention_max_distance},
          {"relative_attention_num_buckets", c.relative_attention_num_buckets},
          {"tie_word_embeddings", c.tie_word_embeddings},
          {"torch_dtype", "float32"},
          {"vocab_size", c.vocab_size}};
}

}  // namespace workloads
