// The keys of experts of Llama's relatives, and of the router that chooses them.
#include "workloads/models/config/llama_experts.h"

#include <fmt/format.h>

#include <algorithm>

namespace workloads {

using nlohmann::json;

bool chooses_by_bias(const LlamaConfig& c) { return *dialect_of(c.kind).experts.bias != '\0'; }

namespace {

/// As transformers' configurations have it where a file does not.
std::int64_t shared_otherwise(LlamaKind kind) {
  switch (kind) {
    case LlamaKind::kDeepseekV2:
    case LlamaKind::kErnie45Moe: return 2;
    case LlamaKind::kDeepseekV3:
    case LlamaKind::kKimiK2:
    case LlamaKind::kGlm4Moe: return 1;
    default: return 0;
  }
}

}  // namespace

bool has_sparse_step(const LlamaConfig& c) { return c.kind == LlamaKind::kQwen2Moe || c.kind == LlamaKind::kQwen3Moe; }

/// The last of each so many layers has experts.
void read_sparse_step(const Keys& keys, LlamaConfig& c) {
  keys.optional("decoder_sparse_step", c.expert_every);
  if (c.expert_every < 1) keys.fail(fmt::format("\"decoder_sparse_step\" is {}", c.expert_every), "write 1 or more");
  c.first_dense = c.expert_every - 1;
}

/// Those that have none all the same. A number behind the last layer means nothing.
void read_mlp_only(const Keys& keys, LlamaConfig& c) {
  constexpr const char* kKey = "mlp_only_layers";
  c.mlp_only_layers.clear();
  if (!keys.has(kKey)) return;
  const json& list = keys.at(kKey);
  if (!list.is_array() || !std::ranges::all_of(list, [](const json& l) { return l.is_number_unsigned(); }))
    keys.fail(fmt::format("\"{}\" is {}", kKey, list.dump()), "write a list of layers' numbers");
  c.mlp_only_layers = list.get<std::vector<std::int64_t>>();
}

void check_sparse(const Rules& rules, const LlamaConfig& c) {
  MixtureArch layers;
  layers.first = c.first_dense, layers.every = c.expert_every, layers.without = c.mlp_only_layers;
  if (layers.count(c.num_hidden_layers) == 0)
    rules.fail("decoder_sparse_step", fmt::format("{} leaves no layer with experts", c.expert_every));
}

/// "n_shared_experts" of DeepSeek, in experts' sizes.
void read_shared(const Keys& keys, LlamaConfig& c) {
  constexpr std::int64_t kMost = 64;
  std::int64_t count = keys.is_null("n_shared_experts") ? 0 : shared_otherwise(c.kind);
  keys.optional("n_shared_experts", count);
  if (count < 0 || count > kMost)
    keys.fail(fmt::format("\"{}\" is {}", in_file(dialect_of(c.kind).keys, "n_shared_experts"), count),
              fmt::format("write 0 to {}", kMost));
  c.shared_size = count * c.intermediate_size;
}

json shared_json(const LlamaConfig& c) {
  return json(c.intermediate_size > 0 ? c.shared_size / c.intermediate_size : 0);
}

/// How a token's experts are found: by their scores alone, by groups, or as DeepSeek-V3 does.
void read_choice(const Keys& keys, LlamaConfig& c) {
  const bool third = chooses_by_bias(c);
  keys.only("scoring_func", third ? "sigmoid" : "softmax");
  const json method = keys.has("topk_method") ? keys.at("topk_method") : json(third ? "noaux_tc" : "greedy");
  if (third || method != "greedy") {
    keys.optional("n_group", c.groups), keys.optional("topk_group", c.top_groups);
    keys.only("topk_method", third ? "noaux_tc" : "group_limited_greedy");
  }
}

json choice_json(const LlamaConfig& c) {
  if (chooses_by_bias(c)) return "noaux_tc";
  return c.groups > 1 ? "group_limited_greedy" : "greedy";
}

void check_groups(const Rules& rules, const LlamaConfig& c) {
  rules.positive("n_group", c.groups, 512);
  rules.divides("n_group", c.groups, "n_routed_experts", c.num_experts);
  if (c.top_groups < 1 || c.top_groups > c.groups)
    rules.fail("topk_group", fmt::format("{} is not in 1..{}", c.top_groups, c.groups));
  if (c.groups > 1 && c.top_groups * (c.num_experts / c.groups) < c.num_experts_per_tok)
    rules.fail("topk_group", fmt::format("{} groups do not have {} experts", c.top_groups, c.num_experts_per_tok));
}

void check_first(const Rules& rules, const LlamaConfig& c) {
  if (c.first_dense < 0 || c.first_dense >= c.num_hidden_layers)
    rules.fail("first_k_dense_replace", fmt::format("{} leaves no layer with experts", c.first_dense));
}

void check_balance(const Rules& rules, const LlamaConfig& c) {
  if (!(c.router_aux_loss_coef >= 0 && c.router_aux_loss_coef < 1e6))
    rules.fail("router_aux_loss_coef", fmt::format("{} is not a weight of a loss", c.router_aux_loss_coef));
}

void check_capacity(const Rules& rules, const LlamaConfig& c) {
  if (!(c.capacity_factor >= 0 && c.capacity_factor < 1e6))
    rules.fail("capacity_factor", fmt::format("{} is below 0", c.capacity_factor));
}

}  // namespace workloads
