#include "workloads/models/config/llama4.h"

#include <fmt/format.h>

namespace workloads {

using nlohmann::json;

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

json turning_layers(const LlamaConfig& c) {
  json list = json::array();
  for (std::int64_t l = 1; l <= c.num_hidden_layers; ++l) list.push_back(l % c.no_rope_every == 0 ? 0 : 1);
  return list;
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
