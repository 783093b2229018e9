#include "workloads/models/config/llama4.h"

#include <fmt/format.h>

namespace workloads {

using nlohmann::json;

namespace {

bool turns(const LlamaConfig& c, std::int64_t layer) {
  return c.no_rope_every == 0 || (layer + 1) % c.no_rope_every != 0;
}

}  // namespace

void read_expert_layers(const Keys& keys, LlamaConfig& c) {
  keys.optional("interleave_moe_layer_step", c.expert_every);
  if (c.expert_every < 1 || c.expert_every > c.num_hidden_layers)
    keys.fail(fmt::format("\"interleave_moe_layer_step\" is {}; no layer would have experts", c.expert_every),
              fmt::format("write 1 to {}", c.num_hidden_layers));
  c.first_dense = c.expert_every - 1, c.shared_size = c.intermediate_size;
  json layers = json::array();
  for (std::int64_t l = c.first_dense; l < c.num_hidden_layers; l += c.expert_every) layers.push_back(l);
  if (keys.has("moe_layers") && keys.at("moe_layers") != layers)
    keys.fail(fmt::format("\"moe_layers\" is {}; only every {}th layer may have experts", keys.at("moe_layers").dump(),
                          c.expert_every),
              "use a model whose layers alternate regularly");
}

void read_turning_layers(const Keys& keys, LlamaConfig& c) {
  if (!keys.has("no_rope_layers") || keys.at("no_rope_layers").empty()) return;
  const auto entry = [&](std::int64_t l) { return json(turns(c, l) ? 1 : 0); };
  if (!keys.lists("no_rope_layers", c.num_hidden_layers, entry))
    keys.fail(fmt::format("\"no_rope_layers\" is {}; only every {}th layer may differ",
                          keys.at("no_rope_layers").dump(), c.no_rope_every),
              "use a model whose layers alternate regularly");
}

json turning_layers(const LlamaConfig& c) {
  json list = json::array();
  for (std::int64_t l = 0; l < c.num_hidden_layers; ++l) list.push_back(turns(c, l) ? 1 : 0);
  return list;
}

void read_chunked_layers(const Keys& keys, LlamaConfig& c) {
  const auto entry = [&](std::int64_t l) { return json(turns(c, l) ? "chunked_attention" : "full_attention"); };
  if (keys.has("layer_types") && !keys.lists("layer_types", c.num_hidden_layers, entry))
    keys.fail(
        fmt::format("\"layer_types\" is {}; the layers that turn are those in chunks", keys.at("layer_types").dump()),
        "use a model whose \"no_rope_layers\" say the same");
}

void read_tuning(const Keys& keys, LlamaConfig& c) {
  constexpr const char* kKey = "attn_temperature_tuning";
  bool tunes = true;
  if (keys.has(kKey) && keys.at(kKey).is_number())
    tunes = keys.at(kKey) != 0;
  else
    keys.optional(kKey, tunes);
  c.floor_scale = 8192;
  keys.optional("floor_scale", c.floor_scale);
  keys.optional("attn_scale", c.attn_scale);
  if (c.floor_scale < 1)
    keys.fail(fmt::format("\"floor_scale\" is {}; no position is a multiple of it", c.floor_scale), "write 1 or more");
  if (!tunes) c.floor_scale = 0;
}

}  // namespace workloads
