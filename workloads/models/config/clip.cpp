// The config.json of CLIP's vision model, and of CLIPForImageClassification, which has that in an object inside; and
// the same of SigLIP.
#include <fmt/format.h>

#include "workloads/models/config/table.h"
#include "workloads/models/vit/vit.h"

namespace workloads {
namespace {

using nlohmann::json;
using V = VitConfig;

constexpr const char* kVision = "vision_config";

// clang-format off
/// Files leave out values of transformers' CLIPVisionConfig and SiglipVisionConfig.
constexpr auto kClipFields = std::to_array<Field<V>>({
    {.key = "hidden_size", .member = &V::hidden_size, .range = kWidth},
    {.key = "num_hidden_layers", .member = &V::num_hidden_layers, .range = kLayers},
    {.key = "num_attention_heads", .member = &V::num_attention_heads, .range = kHeadCounts},
    {.key = "intermediate_size", .member = &V::intermediate_size, .range = kWidth},
    {.key = "image_size", .member = &V::image_size, .range = {.most = 1 << 14}},
    {.key = "patch_size", .member = &V::patch_size},
    {.key = "num_channels", .member = &V::num_channels, .range = {.most = 64}},
    {.key = "hidden_act", .member = &V::hidden_act, .choices = kEveryGelu},
    {.key = "layer_norm_eps", .member = &V::layer_norm_eps},
    {.key = "initializer_range", .member = &V::initializer_range},
    {.key = "attention_dropout", .member = &V::attention_probs_dropout_prob, .range = kProbability},
    {.key = "dropout", .only = 0.0, .written = kNever},
    {.key = "model_type", .write = [](const V& c) { return json(dialect_of(c.kind).vision_type); }},
});
/// Beside it.
constexpr auto kHeadFields = std::to_array<Field<V>>({
    {.key = "problem_type", .only = "single_label_classification"},
    {.key = "id2label", .read = [](const Keys& keys, V& c) { c.label_names = keys.label_names(); },
     .write = [](const V& c) { return labels_by_id(c.label_names); },
     .check = [](const Rules& r, const V& c) { r.positive("num_labels", std::ssize(c.label_names)); }},
    {.key = "label2id", .write = [](const V& c) { return ids_by_label(c.label_names); }},
    {.key = "architectures", .write = [](const V& c) { return json::array({dialect_of(c.kind).architecture}); }},
    {.key = "model_type", .write = [](const V& c) { return json(dialect_of(c.kind).type); }},
    {.key = "torch_dtype", .always = "float32"},
});
// clang-format on

V read_both(const Keys& vision, const Keys& head, VitKind kind) {
  const V c = read_fields<V>(kHeadFields, head, read_fields<V>(kClipFields, vision, blank_vit(kind)));
  check(c, vision.where());
  return c;
}

}  // namespace

/// As transformers' configuration has it where files leave keys out.
VitConfig blank_vit(VitKind kind) {
  V c = of_kind(kind);
  if (!is_clip(c)) return c;
  c.hidden_size = 768, c.num_hidden_layers = c.num_attention_heads = 12, c.intermediate_size = 3072;
  if (kind == VitKind::kSiglip)
    c.hidden_act = Activation::kGeluTanh, c.layer_norm_eps = 1e-6;
  else
    c.hidden_act = Activation::kQuickGelu, c.layer_norm_eps = 1e-5, c.patch_size = 32;
  return c;
}

VitConfig read_clip_vision(const Keys& keys, VitKind kind) { return read_both(keys, keys, kind); }

VitConfig read_clip(const Keys& keys, VitKind kind) {
  const std::string made = keys.has("architectures") ? keys.at("architectures").dump() : "";
  const std::string_view classifier = dialect_of(kind).architecture;
  if (made.find(classifier) == std::string::npos)
    keys.fail("is a model of pictures and one of texts; their comparison is not built in",
              fmt::format("run its PyTorch code by 'trnsim torch SCRIPT.py'; for the model of pictures alone "
                          "AutoConfig.from_pretrained(MODEL).vision_config.save_pretrained(DIR) of transformers writes "
                          "its config.json, which trnsim takes as {} does",
                          classifier));
  keys.require(kVision);
  return read_both(Keys{keys, kVision}, keys, kind);
}

void check_clip(const VitConfig& c, const Rules& rules) {
  check_fields<V>(kClipFields, c, rules);
  check_fields<V>(kHeadFields, c, rules);
}

json clip_json(const VitConfig& c) {
  json file = write_fields<V>(kHeadFields, c);
  file[kVision] = write_fields<V>(kClipFields, c);
  return file;
}

}  // namespace workloads
