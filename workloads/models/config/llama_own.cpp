// Keys of relatives of Llama whose code is in no release of transformers: as in their publishers' configuration_NAME.py
// and modeling_NAME.py.
#include "workloads/models/config/llama_own.h"

#include <fmt/format.h>

#include <algorithm>

#include "workloads/models/config/llama_experts.h"
#include "workloads/models/config/table.h"

namespace workloads {
namespace {

using nlohmann::json;
using L = LlamaConfig;

bool is_internlm(const L& c) { return c.kind == LlamaKind::kInternLm; }
bool is_internlm2(const L& c) { return c.kind == LlamaKind::kInternLm2; }
bool is_internlm3(const L& c) { return c.kind == LlamaKind::kInternLm3; }
bool is_early_internlm(const L& c) { return is_internlm(c) || is_internlm2(c); }
bool is_baichuan(const L& c) { return c.kind == LlamaKind::kBaichuan; }
bool is_exaone(const L& c) { return c.kind == LlamaKind::kExaone; }
bool is_chatglm(const L& c) { return c.kind == LlamaKind::kChatGlm; }
bool is_qwen(const L& c) { return c.kind == LlamaKind::kQwen; }
bool is_ernie_moe(const L& c) { return c.kind == LlamaKind::kErnie45Moe; }
bool is_minicpm3(const L& c) { return c.kind == LlamaKind::kMiniCpm3; }
bool is_minicpm(const L& c) { return c.kind == LlamaKind::kMiniCpm || is_minicpm3(c); }

bool is_granite4(const L& c) { return c.kind == LlamaKind::kGranite4; }
bool is_hunyuan(const L& c) { return c.kind == LlamaKind::kHunyuan; }

/// Granite 4's layers attend or are Mamba's; without a list all are Mamba's.
void read_attending_layers(const Keys& keys, L& c) {
  const auto attends = [](std::int64_t) { return json("attention"); };
  if (keys.has("layer_types") && keys.lists("layer_types", c.num_hidden_layers, attends)) return;
  keys.fail(fmt::format("\"layer_types\" is {}: layers of Mamba are not built in",
                        keys.has("layer_types") ? keys.at("layer_types").dump() : "not there"),
            "use a Granite 4 whose layers all attend, as granite-4.0-micro, -1b and -350m, or run its PyTorch code by "
            "'trnsim torch SCRIPT.py'");
}
json attending_layers(const L& c) { return json(std::vector<std::string>(c.num_hidden_layers, "attention")); }

/// Anything else turns nothing.
void read_rotation(const Keys& keys, L& c) {
  constexpr const char* kKey = "position_embedding_type";
  c.no_rope_every = keys.has(kKey) && keys.at(kKey) == "rope" ? 0 : 1;
}

bool is_bailing2(const L& c) { return c.kind == LlamaKind::kBailing2; }
bool is_bailing(const L& c) { return c.kind == LlamaKind::kBailing || is_bailing2(c); }

bool is_apertus(const L& c) { return c.kind == LlamaKind::kApertus; }
bool is_minimax(const L& c) { return c.kind == LlamaKind::kMiniMaxM2; }

/// The elements of a head that turn are counted; newer files have a share.
void read_turned(const Keys& keys, L& c) {
  std::int64_t turned = 0;
  keys.optional("rotary_dim", turned);
  if (turned > 0 && c.head_dim > 0) c.rotary_share = static_cast<double>(turned) / static_cast<double>(c.head_dim);
}
/// The kinds of layers: 1 for those whose scores have a softmax.
void read_attention_kinds(const Keys& keys, L& c) {
  constexpr const char* kKey = "attn_type_list";
  if (!keys.has(kKey) || keys.lists(kKey, c.num_hidden_layers, [](std::int64_t) { return json(1); })) return;
  keys.fail(fmt::format("\"{}\" is {}: only layers with a softmax (1) are built in", kKey, keys.at(kKey).dump()),
            "use a MiniMax-M2, or run the model's PyTorch code by 'trnsim torch SCRIPT.py'");
}

void read_bias(const Keys& keys, L& c) {
  keys.optional("bias", c.qkv_bias);
  c.out_bias = c.qkv_bias;
}

void read_bias_of_others(const Keys& keys, L& c) {
  keys.optional("bias", c.out_bias);
  c.mlp_bias = c.out_bias;
}

/// The angles of InternLM's first files; longer texts than the positions would change them.
void read_rotary(const Keys& keys, L& c) {
  if (!keys.has("rotary")) return;
  const Keys rotary{keys, "rotary"};
  rotary.optional("base", c.rope_theta);
  rotary.only("type", rotary.has("type") && rotary.at("type") == "origin" ? "origin" : "dynamic");
}

/// The configurations of the models without rotary positions have no max_position_embeddings.
void read_slopes(const Keys& keys, L& c) { c.alibi = !keys.holds("max_position_embeddings"); }

/// Baichuan 2 divides each row of its head by its length. Its configuration has the weight of a loss, which files may
/// leave out; so they are known by the words of its tokenizer too, as vLLM's models/baichuan.py does.
void read_second_generation(const Keys& keys, L& c) {
  constexpr std::int64_t kWords = 125696;
  c.norm_head = keys.has("z_loss_weight") || c.vocab_size == kWords;
  keys.only("z_loss_weight", 0);
}

/// Without it each head has keys and values of its own.
void read_groups(const Keys& keys, L& c) {
  bool shared = false;
  keys.optional("multi_query_attention", shared);
  if (!shared) c.num_key_value_heads = c.num_attention_heads;
}

constexpr double kFirstTheta = 10000;
void read_ratio(const Keys& keys, L& c) {
  double ratio = 1;
  keys.optional("rope_ratio", ratio);
  c.rope_theta = kFirstTheta * ratio;
}

/// The file counts gates and ups.
void read_both_wides(const Keys& keys, L& c) {
  if (c.intermediate_size % 2 != 0)
    keys.fail(fmt::format("\"intermediate_size\" is {}, which is odd, but counts gates and ups", c.intermediate_size),
              "correct it to the value that the model was made with");
  c.intermediate_size /= 2;
}

/// The last layer that has experts, where it is not the last one of all.
void read_last_layer(const Keys& keys, L& c) {
  std::int64_t last = -1;
  keys.optional("moe_layer_end_index", last);
  if (last != -1) keys.only("moe_layer_end_index", c.num_hidden_layers - 1);
}

/// Classes of Ling that its publisher has beside different weights have different defaults.
void require_of_ling(const Keys& keys, L& c) {
  keys.require("num_key_value_heads");
  if (!is_bailing2(c)) return;
  for (const char* key :
       {"num_shared_experts", "n_group", "topk_group", "routed_scaling_factor", "rope_theta", "partial_rotary_factor"})
    keys.require(key);
}

/// Where a file does not say, of the second generation no layer has one.
void read_out_bias(const Keys& keys, L& c) {
  c.out_bias = !is_bailing2(c);
  keys.optional("use_bias", c.out_bias);
}

bool is_modern(const L& c) { return c.kind == LlamaKind::kModernBertDecoder; }

/// It counts tokens on both sides, of which a decoder sees one.
void read_local(const Keys& keys, L& c) {
  std::int64_t both = 128;
  keys.optional("local_attention", both);
  if (both < 2) keys.fail(fmt::format("\"local_attention\" is {}, not a number of tokens", both), "write 2 or more");
  c.sliding_window = both / 2;
  keys.only("sliding_window", c.sliding_window);
}

/// Releases of transformers have different layers where a file does not say: the first or the last of each few that
/// sees all.
void read_global_layers(const Keys& keys, L& c) {
  c.full_every = 3;
  keys.optional("global_attn_every_n_layers", c.full_every);
  keys.require("layer_types");
  const json& list = keys.at("layer_types");
  c.full_first = list.is_array() && !list.empty() && list.front() == json("full_attention");
  const auto entry = [&](std::int64_t l) {
    return json((l + (c.full_first ? 0 : 1)) % c.full_every == 0 ? "full_attention" : "sliding_attention");
  };
  if (c.full_every > 0 && keys.lists("layer_types", c.num_hidden_layers, entry)) return;
  keys.fail(fmt::format("\"layer_types\" is {}; only one in \"global_attn_every_n_layers\" may see all", list.dump()),
            "use a model whose layers alternate regularly");
}
json global_layers(const L& c) {
  json list = json::array();
  for (std::int64_t l = 0; l < c.num_hidden_layers; ++l)
    list.push_back((l + (c.full_first ? 0 : 1)) % c.full_every == 0 ? "full_attention" : "sliding_attention");
  return list;
}

bool has_switch(const L& c) { return dialect_of(c.kind).positions.switched; }
bool has_switched_on(const L& c) { return has_switch(c) && c.sliding_window > 0; }

/// The layers from "max_window_layers" on have the window; newer files list them all. A window that is off, or that no
/// layer has, is none.
void read_window_switch(const Keys& keys, L& c) {
  constexpr const char *kSwitch = "use_sliding_window", *kTypes = "layer_types";
  bool on = false;
  keys.optional(kSwitch, on);
  c.sliding_window = c.windowed_from = 0;
  if (!on || keys.is_null("sliding_window")) return;
  c.sliding_window = 4096, c.windowed_from = 28;
  keys.optional("sliding_window", c.sliding_window), keys.optional("max_window_layers", c.windowed_from);
  if (c.sliding_window < 1)
    keys.fail(fmt::format("\"sliding_window\" is {}", c.sliding_window), "write a number of tokens");
  if (keys.has(kTypes) && keys.at(kTypes).is_array()) {
    const json& list = keys.at(kTypes);
    c.windowed_from = std::ranges::find(list, json("sliding_attention")) - list.begin();
    const auto entry = [&](std::int64_t l) { return l < c.windowed_from ? "full_attention" : "sliding_attention"; };
    if (!keys.lists(kTypes, c.num_hidden_layers, entry))
      keys.fail(fmt::format("\"{}\" is {}; only the last layers may have a window", kTypes, list.dump()),
                "use a model whose first layers see all tokens and whose last ones do not");
  }
  c.windowed_from = std::max<std::int64_t>(0, c.windowed_from);
  if (c.windowed_from >= c.num_hidden_layers) c.sliding_window = c.windowed_from = 0;
}

// clang-format off
constexpr auto kOwnFields = std::to_array<Field<L>>({
    {.key = "use_sliding_window", .when = has_switch, .written = has_switched_on, .read = read_window_switch,
     .write = [](const L&) { return json(true); }},
    {.key = "sliding_window", .when = has_switched_on, .read = [](const Keys&, L&) {},
     .write = [](const L& c) { return json(c.sliding_window); }},
    {.key = "max_window_layers", .when = has_switched_on, .read = [](const Keys&, L&) {},
     .write = [](const L& c) { return json(c.windowed_from); }},
    {.key = "decoder_sparse_step", .when = has_sparse_step, .read = read_sparse_step,
     .write = [](const L& c) { return json(c.expert_every); }},
    {.key = "mlp_only_layers", .when = has_sparse_step, .read = read_mlp_only,
     .write = [](const L& c) { return json(c.mlp_only_layers); }, .check = check_sparse},
    {.key = "bias", .when = is_early_internlm, .read = read_bias, .write = [](const L& c) { return json(c.qkv_bias); }},
    {.key = "rotary", .when = is_internlm, .written = kNever, .read = read_rotary},
    {.key = "qkv_bias", .member = &L::qkv_bias, .when = is_internlm3},
    {.key = "bias", .when = is_internlm3, .read = read_bias_of_others,
     .write = [](const L& c) { return json(c.out_bias); }},
    {.key = "max_position_embeddings", .when = is_baichuan, .written = [](const L& c) { return !c.alibi; },
     .read = read_slopes, .write = [](const L& c) { return json(c.max_position_embeddings); }},
    {.key = "z_loss_weight", .when = is_baichuan, .written = [](const L& c) { return c.norm_head; },
     .read = read_second_generation, .write = [](const L&) { return json(0); }},
    {.key = "embed_dropout", .only = 0.0, .when = is_exaone},
    {.key = "multi_query_attention", .when = is_chatglm, .read = read_groups,
     .write = [](const L&) { return json(true); }},
    {.key = "rope_ratio", .when = is_chatglm, .read = read_ratio,
     .write = [](const L& c) { return json(c.rope_theta / kFirstTheta); },
     .check = [](const Rules& rules, const L& c) { rules.positive("rope_ratio", c.rope_theta / kFirstTheta); }},
    {.key = "hidden_dropout", .only = 0.0, .when = is_chatglm},
    {.key = "add_bias_linear", .only = false, .when = is_chatglm},
    {.key = "apply_residual_connection_post_layernorm", .only = false, .when = is_chatglm},
    {.key = "post_layer_norm", .only = true, .when = is_chatglm},
    {.key = "rmsnorm", .only = true, .when = is_chatglm},
    {.key = "intermediate_size", .when = is_qwen, .read = read_both_wides,
     .write = [](const L& c) { return json(2 * c.intermediate_size); }},
    {.key = "no_bias", .only = true, .when = is_qwen},
    {.key = "emb_dropout_prob", .only = 0.0, .when = is_qwen},
    {.key = "scale_emb", .member = &L::embedding_multiplier, .when = is_minicpm},
    {.key = "scale_depth", .member = &L::scale_depth, .when = is_minicpm,
     .otherwise = [](L& c) { c.scale_depth = 1; }},
    {.key = "dim_model_base", .member = &L::dim_model_base, .range = kWidth, .when = is_minicpm,
     .otherwise = [](L& c) { c.dim_model_base = 1; }},
    {.key = "use_bias", .only = false, .when = is_ernie_moe},
    {.key = "moe_layer_end_index", .when = is_ernie_moe, .written = kNever, .read = read_last_layer},
    {.key = "num_experts", .only = 0, .when = is_minicpm, .written = kNever},
    {.key = "layer_types", .when = is_granite4, .read = read_attending_layers, .write = attending_layers},
    {.key = "position_embedding_type", .when = is_granite4, .read = read_rotation,
     .write = [](const L& c) { return json(c.no_rope_every == 0 ? "rope" : "nope"); }},
    {.key = "num_local_experts", .required = true, .only = 0, .when = is_granite4},
    {.key = "normalization_function", .only = "rmsnorm", .when = is_granite4, .written = kNever},
    {.key = "use_qk_norm", .only = true, .when = is_hunyuan, .written = kNever},
    {.key = "rotary_dim", .when = is_minimax, .read = read_turned,
     .write = [](const L& c) { return json(turned_elements(c)); }},
    {.key = "attn_type_list", .when = is_minimax, .written = kNever, .read = read_attention_kinds},
    {.key = "use_qk_norm", .only = true, .when = is_minimax, .written = kNever},
    {.key = "qk_norm_type", .only = "per_layer", .when = is_minimax, .written = kNever},
    {.key = "use_routing_bias", .only = true, .when = is_minimax, .written = kNever},
    {.key = "scoring_func", .only = "sigmoid", .when = is_minimax},
    {.key = "shared_intermediate_size", .only = 0, .when = is_minimax, .written = kNever},
    {.key = "sliding_window", .only = None{}, .when = is_minimax, .written = kNever},
    {.key = "output_router_logits", .only = false, .when = is_minimax},  // its loss would be that of sigmoids
    {.key = "num_key_value_heads", .when = is_bailing, .written = kNever, .read = require_of_ling},
    {.key = "use_bias", .when = is_bailing, .read = read_out_bias,
     .write = [](const L& c) { return json(c.out_bias); }},
    {.key = "norm_head", .only = false, .when = is_bailing, .written = kNever},  // of columns, over all words
    {.key = "multi_gate", .only = false, .when = is_bailing, .written = kNever},
    {.key = "embedding_dropout", .only = 0.0, .when = is_bailing},
    {.key = "output_dropout", .only = 0.0, .when = is_bailing},
    {.key = "output_router_logits", .only = false, .when = is_bailing, .written = kNever},
    {.key = "use_qk_norm", .only = true, .when = is_bailing2},
    {.key = "use_rmsnorm", .only = true, .when = is_bailing2, .written = kNever},
    {.key = "norm_topk_prob", .only = true, .when = is_bailing2},
    {.key = "moe_router_enable_expert_bias", .only = true, .when = is_bailing2, .written = kNever},
    {.key = "router_type", .only = "topN", .when = is_bailing2, .written = kNever},
    {.key = "local_attention", .when = is_modern, .read = read_local,
     .write = [](const L& c) { return json(2 * c.sliding_window); }},
    {.key = "global_attn_every_n_layers", .when = is_modern, .read = read_global_layers,
     .write = [](const L& c) { return json(c.full_every); }},
    {.key = "layer_types", .when = is_modern, .read = [](const Keys&, L&) {}, .write = global_layers},
    {.key = "local_rope_theta", .member = &L::local_theta, .when = is_modern,
     .otherwise = [](L& c) { c.local_theta = 10000; }},
    {.key = "hidden_activation", .member = &L::hidden_act, .choices = kEveryGelu, .when = is_modern},
    {.key = "decoder_bias", .member = &L::head_bias, .when = is_modern, .otherwise = [](L& c) { c.head_bias = true; }},
    {.key = "norm_bias", .only = false, .when = is_modern},
    {.key = "classifier_bias", .only = false, .when = is_modern},
    {.key = "classifier_activation", .only = "gelu", .when = is_modern},
    {.key = "embedding_dropout", .only = 0.0, .when = is_modern},
    {.key = "mlp_dropout", .only = 0.0, .when = is_modern},
    {.key = "attention_dropout", .only = 0.0, .when = is_modern, .written = kNever},  // of parts' outputs, too
    // Apertus' first code reads them, and transformers does not.
    {.key = "qk_norm", .only = true, .when = is_apertus, .written = kNever},
    {.key = "post_norm", .only = false, .when = is_apertus, .written = kNever},
    {.key = "hidden_dropout", .only = 0.0, .when = is_apertus, .written = kNever},
});
// clang-format on

}  // namespace

void refuse_earlier_model(const Keys& keys, LlamaKind kind) {
  if (kind != LlamaKind::kChatGlm || !keys.has("position_encoding_2d")) return;
  keys.fail("\"position_encoding_2d\" is of the first ChatGLM-6B, which is not built in",
            "run its PyTorch code by 'trnsim torch SCRIPT.py', or use ChatGLM2 or a later one");
}

LlamaConfig read_own(const Keys& keys, LlamaConfig c) { return read_fields<L>(kOwnFields, keys, std::move(c)); }

void check_own(const Rules& rules, const LlamaConfig& c) { check_fields<L>(kOwnFields, c, rules); }

json with_own(json file, const LlamaConfig& c) {
  for (const KeyName& name : dialect_of(c.kind).keys) {
    const auto at = file.find(name.key);
    if (at == file.end()) continue;
    file[name.in_file] = *at;
    file.erase(name.key);
  }
  file.update(write_fields<L>(kOwnFields, c));
  return file;
}

}  // namespace workloads
