// The Vision Transformer's config.json.
#include <fmt/format.h>

#include <array>
#include <cmath>

#include "workloads/models/config/table.h"
#include "workloads/models/vit/vit.h"

namespace workloads {
namespace {

using nlohmann::json;
using V = VitConfig;

/// transformers' class for a DeiT that names none is the one without a teacher.
void read_heads(const Keys& keys, V& c) {
  if ((c.kind != VitKind::kDeit && c.kind != VitKind::kDeitTeacher) || !keys.has("architectures")) return;
  const bool teacher = keys.at("architectures").dump().find("WithTeacher") != std::string::npos;
  c.kind = teacher ? VitKind::kDeitTeacher : VitKind::kDeit;
}

bool is_dinov2(const V& c) { return dialect_of(c.kind).scaled; }
bool has_registers(const V& c) { return !dialect_of(c.kind).registers.empty(); }
bool has_turns(const V& c) { return dialect_of(c.kind).turned; }
bool has_no_turns(const V& c) { return !has_turns(c); }
constexpr Activation kGelusAndSilu[] = {Activation::kGelu, Activation::kGeluTanh, Activation::kSilu};

/// A quarter of a head's elements turns by rows of the picture, and a quarter by columns.
void check_quarters(const Rules& rules, const V& c) {
  rules.positive("rope_theta", c.rope_theta);
  if (c.hidden_size % (4 * c.num_attention_heads) != 0)
    rules.fail("num_attention_heads",
               fmt::format("{} leaves heads of a size that is no multiple of 4", c.num_attention_heads));
}

bool has_stride(const V& c) {
  return c.kind == VitKind::kVit || c.kind == VitKind::kDeit || c.kind == VitKind::kDeitTeacher;
}
bool is_no_dinov2(const V& c) { return !is_dinov2(c); }

/// DINOv2's files have a ratio; with a gate an MLP has two thirds of that, as a multiple of 8.
void read_ratio(const Keys& keys, V& c) {
  double ratio = 4;
  keys.optional("mlp_ratio", ratio);
  keys.optional("use_swiglu_ffn", c.use_swiglu_ffn);
  if (!(ratio > 0 && ratio < 1e4)) keys.fail(fmt::format("\"mlp_ratio\" is {}", ratio), "write a positive number");
  c.intermediate_size = static_cast<std::int64_t>(static_cast<double>(c.hidden_size) * ratio);
  if (c.use_swiglu_ffn) c.intermediate_size = (c.intermediate_size * 2 / 3 + 7) / 8 * 8;
}
/// The ratio that gives the size: of a gated MLP that in the middle of those that do.
json ratio_of(const V& c) {
  if (c.hidden_size == 0) return json(4);
  const auto hidden = static_cast<double>(c.hidden_size), size = static_cast<double>(c.intermediate_size);
  if (!c.use_swiglu_ffn)
    return json(std::trunc(hidden * (size / hidden)) == size ? size / hidden : (size + 0.5) / hidden);
  return json(std::round((size - 3.5) * 1.5) / hidden);
}

constexpr std::int64_t kMostRegisters = 64;

// clang-format off
constexpr auto kVitFields = std::to_array<Field<V>>({
    {.key = "hidden_size", .member = &V::hidden_size, .required = true, .range = kWidth},
    {.key = "num_hidden_layers", .member = &V::num_hidden_layers, .required = true, .range = kLayers},
    {.key = "num_attention_heads", .member = &V::num_attention_heads, .required = true, .range = kHeadCounts},
    {.key = "intermediate_size", .member = &V::intermediate_size, .required = true, .range = kWidth,
     .when = is_no_dinov2},
    {.key = "mlp_ratio", .when = is_dinov2, .read = read_ratio, .write = ratio_of,
     .check = [](const Rules& r, const V& c) { r.positive("mlp_ratio", c.intermediate_size, kWidth.most); }},
    {.key = "use_swiglu_ffn", .when = is_dinov2, .write = [](const V& c) { return json(c.use_swiglu_ffn); }},
    {.key = "num_register_tokens", .member = &V::num_register_tokens, .range = {.most = kMostRegisters},
     .when = [](const V& c) { return has_registers(c) && has_no_turns(c); },
     .otherwise = [](V& c) { c.num_register_tokens = 4; }},
    {.key = "num_register_tokens", .member = &V::num_register_tokens,
     .range = {.kind = Range::Kind::kPositiveOrNone, .most = kMostRegisters}, .when = has_turns},
    {.key = "use_gated_mlp", .member = &V::use_swiglu_ffn, .when = has_turns},
    {.key = "rope_theta", .member = &V::rope_theta, .when = has_turns, .check = check_quarters},
    {.key = "pos_embed_rescale", .member = &V::pos_embed_rescale, .range = kPositiveOrNone, .when = has_turns,
     .otherwise = [](V& c) { c.pos_embed_rescale = 2; }},
    {.key = "pos_embed_shift", .only = None{}, .when = has_turns},
    {.key = "pos_embed_jitter", .only = None{}, .when = has_turns},
    {.key = "query_bias", .member = &V::query_bias, .when = has_turns},
    {.key = "key_bias", .only = false, .when = has_turns},
    {.key = "value_bias", .member = &V::value_bias, .when = has_turns},
    {.key = "proj_bias", .only = true, .when = has_turns},
    {.key = "mlp_bias", .only = true, .when = has_turns},
    {.key = "layerscale_value", .only = 1.0, .when = has_turns},
    {.key = "drop_path_rate", .only = 0.0, .when = has_turns},
    {.key = "attention_dropout", .member = &V::attention_probs_dropout_prob, .range = kProbability,
     .when = has_turns},
    {.key = "layerscale_value", .only = 1.0, .when = is_dinov2},
    {.key = "drop_path_rate", .only = 0.0, .when = is_dinov2},
    {.key = "image_size", .member = &V::image_size, .range = {.most = 1 << 14}},
    {.key = "patch_size", .member = &V::patch_size,
     .otherwise = [](V& c) {
       if (c.kind == VitKind::kDinov2) c.patch_size = 14;
     }},
    {.key = "num_channels", .member = &V::num_channels, .range = {.most = 64}},
    {.key = "hidden_act", .member = &V::hidden_act, .choices = kGelus, .when = has_no_turns},
    {.key = "hidden_act", .member = &V::hidden_act, .choices = kGelusAndSilu, .when = has_turns},
    {.key = "layer_norm_eps", .member = &V::layer_norm_eps,
     .otherwise = [](V& c) { c.layer_norm_eps = dialect_of(c.kind).eps; }},
    {.key = "initializer_range", .member = &V::initializer_range},
    {.key = "hidden_dropout_prob", .member = &V::hidden_dropout_prob, .range = kProbability, .when = has_no_turns},
    {.key = "attention_probs_dropout_prob", .member = &V::attention_probs_dropout_prob, .range = kProbability,
     .when = has_no_turns},
    {.key = "torch_multihead_attention", .member = &V::of_torch, .written = [](const V& c) { return c.of_torch; }},
    {.key = "qkv_bias", .only = true, .when = has_no_turns},
    {.key = "problem_type", .only = "single_label_classification"},
    {.key = "id2label", .read = [](const Keys& keys, V& c) { c.label_names = keys.label_names(); },
     .write = [](const V& c) { return labels_by_id(c.label_names); },
     .check = [](const Rules& r, const V& c) { r.positive("num_labels", std::ssize(c.label_names)); }},
    {.key = "label2id", .write = [](const V& c) { return ids_by_label(c.label_names); }},
    {.key = "encoder_stride", .when = has_stride, .write = [](const V& c) { return json(c.patch_size); }},
    {.key = "architectures", .read = read_heads,
     .write = [](const V& c) { return json::array({dialect_of(c.kind).architecture}); }},
    {.key = "model_type", .write = [](const V& c) { return json(dialect_of(c.kind).type); }},
    {.key = "torch_dtype", .always = "float32"},
});
// clang-format on

}  // namespace

VitConfig read_vit(const Keys& keys, VitKind kind) {
  const VitConfig c = read_fields<V>(kVitFields, keys, of_kind(kind));
  check(c, keys.where());
  return c;
}

void check(const VitConfig& c, std::string_view where) {
  const Rules rules{where};
  if (is_clip(c))
    check_clip(c, rules);
  else
    check_fields<V>(kVitFields, c, rules);
  rules.divides("num_attention_heads", c.num_attention_heads, "hidden_size", c.hidden_size);
  if (c.patch_size > c.image_size)  // of a picture that is no multiple, a last part of a patch is left out
    rules.fail("patch_size", fmt::format("{} is larger than image_size {}", c.patch_size, c.image_size));
}

json to_json(const VitConfig& c) { return is_clip(c) ? clip_json(c) : write_fields<V>(kVitFields, c); }

}  // namespace workloads
