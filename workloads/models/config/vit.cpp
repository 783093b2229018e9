// The Vision Transformer's config.json.
#include <array>

#include "workloads/models/config/table.h"
#include "workloads/models/vit/vit.h"

namespace workloads {
namespace {

using nlohmann::json;
using V = VitConfig;

/// transformers' class for a DeiT that names none is the one without a teacher.
void read_heads(const Keys& keys, V& c) {
  if (c.kind == VitKind::kVit || !keys.has("architectures")) return;
  const bool teacher = keys.at("architectures").dump().find("WithTeacher") != std::string::npos;
  c.kind = teacher ? VitKind::kDeitTeacher : VitKind::kDeit;
}

// clang-format off
constexpr auto kVitFields = std::to_array<Field<V>>({
    {.key = "hidden_size", .member = &V::hidden_size, .required = true, .range = kWidth},
    {.key = "num_hidden_layers", .member = &V::num_hidden_layers, .required = true, .range = kLayers},
    {.key = "num_attention_heads", .member = &V::num_attention_heads, .required = true, .range = kHeadCounts},
    {.key = "intermediate_size", .member = &V::intermediate_size, .required = true, .range = kWidth},
    {.key = "image_size", .member = &V::image_size, .range = {.most = 1 << 14}},
    {.key = "patch_size", .member = &V::patch_size},
    {.key = "num_channels", .member = &V::num_channels, .range = {.most = 64}},
    {.key = "hidden_act", .member = &V::hidden_act, .choices = kGelus},
    {.key = "layer_norm_eps", .member = &V::layer_norm_eps},
    {.key = "initializer_range", .member = &V::initializer_range},
    {.key = "hidden_dropout_prob", .member = &V::hidden_dropout_prob, .range = kProbability},
    {.key = "attention_probs_dropout_prob", .member = &V::attention_probs_dropout_prob, .range = kProbability},
    {.key = "torch_multihead_attention", .member = &V::of_torch, .written = [](const V& c) { return c.of_torch; }},
    {.key = "qkv_bias", .only = true},
    {.key = "problem_type", .only = "single_label_classification"},
    {.key = "id2label", .read = [](const Keys& keys, V& c) { c.label_names = keys.label_names(); },
     .write = [](const V& c) { return labels_by_id(c.label_names); },
     .check = [](const Rules& r, const V& c) { r.positive("num_labels", std::ssize(c.label_names)); }},
    {.key = "label2id", .write = [](const V& c) { return ids_by_label(c.label_names); }},
    {.key = "encoder_stride", .write = [](const V& c) { return json(c.patch_size); }},
    {.key = "architectures", .read = read_heads,
     .write = [](const V& c) { return json::array({dialect_of(c.kind).architecture}); }},
    {.key = "model_type", .write = [](const V& c) { return json(dialect_of(c.kind).type); }},
    {.key = "torch_dtype", .always = "float32"},
});
// clang-format on

}  // namespace

VitConfig read_vit(const Keys& keys, VitKind kind) {
  V blank;
  blank.kind = kind;
  const VitConfig c = read_fields<V>(kVitFields, keys, std::move(blank));
  check(c, keys.where());
  return c;
}

void check(const VitConfig& c, std::string_view where) {
  const Rules rules{where};
  if (c.kind == VitKind::kClip)
    check_clip(c, rules);
  else
    check_fields<V>(kVitFields, c, rules);
  rules.divides("num_attention_heads", c.num_attention_heads, "hidden_size", c.hidden_size);
  rules.divides("patch_size", c.patch_size, "image_size", c.image_size);
}

json to_json(const VitConfig& c) { return c.kind == VitKind::kClip ? clip_json(c) : write_fields<V>(kVitFields, c); }

}  // namespace workloads
