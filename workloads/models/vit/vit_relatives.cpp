// The relatives of the Vision Transformer: the differences of each, and its names. Source: transformers,
// modeling_NAME.py.
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "workloads/models/vit/vit.h"

namespace workloads {
namespace {

constexpr VitNames kDinov2Names{.up = "mlp.fc1",
                                .down = "mlp.fc2",
                                .norm1 = "norm1",
                                .norm2 = "norm2",
                                .scale1 = "layer_scale1.lambda1",
                                .scale2 = "layer_scale2.lambda1",
                                .gate = "mlp.weights_gate",
                                .gated_up = "mlp.weights_up",
                                .fused = "mlp.weights_in",
                                .out_gated = "mlp.weights_out"};

/// The dialect of a vision model beside a text model, as CLIP has them.
VitDialect beside_texts(VitKind kind, std::string_view family, std::string_view type, std::string_view architecture) {
  return {.kind = kind,
          .family = family,
          .type = type,
          .architecture = architecture,
          .prefix = "vision_model.",
          .tokens = {},
          .heads = {"classifier"},
          .names = {.layers = "encoder.layers.",
                    .positions = "embeddings.position_embedding.weight",
                    .projection = "embeddings.patch_embedding",
                    .query = "self_attn.q_proj",
                    .key = "self_attn.k_proj",
                    .value = "self_attn.v_proj",
                    .out = "self_attn.out_proj",
                    .up = "mlp.fc1",
                    .down = "mlp.fc2",
                    .norm1 = "layer_norm1",
                    .norm2 = "layer_norm2"},
          .flat = true,
          .reads = VitReads::kMeanOfPatches};
}
VitDialect clip() {
  VitDialect d = beside_texts(VitKind::kClip, "CLIP", "clip", "CLIPForImageClassification");
  d.tokens = {"class_embedding"}, d.patch_bias = false, d.vision_type = "clip_vision_model";
  d.names.first_norm = "pre_layrnorm", d.names.last_norm = "";
  return d;
}
VitDialect siglip() {
  VitDialect d = beside_texts(VitKind::kSiglip, "SigLIP", "siglip", "SiglipForImageClassification");
  d.names.last_norm = "post_layernorm", d.vision_type = "siglip_vision_model";
  return d;
}

VitDialect dinov2() {
  return {.kind = VitKind::kDinov2,
          .family = "DINOv2",
          .type = "dinov2",
          .architecture = "Dinov2ForImageClassification",
          .prefix = "dinov2.",
          .tokens = {"cls_token"},
          .heads = {"classifier"},
          .names = kDinov2Names,
          .reads = VitReads::kBoth,
          .eps = 1e-6,
          .scaled = true};
}
VitDialect dinov2_registers() {
  VitDialect d = dinov2();
  d.kind = VitKind::kDinov2Registers, d.family = "DINOv2 with registers", d.type = "dinov2_with_registers";
  d.architecture = "Dinov2WithRegistersForImageClassification", d.prefix = "dinov2_with_registers.";
  d.registers = "register_tokens";
  return d;
}

VitDialect dinov3() {
  return {.kind = VitKind::kDinov3,
          .family = "DINOv3",
          .type = "dinov3_vit",
          .architecture = "DINOv3ViTModel",
          .prefix = "dinov3_vit.",
          .tokens = {"cls_token"},
          .heads = {"classifier"},
          .names = {.layers = "layer.",
                    .positions = "",
                    .projection = "embeddings.patch_embeddings",
                    .last_norm = "norm",
                    .query = "attention.q_proj",
                    .key = "attention.k_proj",
                    .value = "attention.v_proj",
                    .out = "attention.o_proj",
                    .up = "mlp.up_proj",
                    .down = "mlp.down_proj",
                    .norm1 = "norm1",
                    .norm2 = "norm2",
                    .scale1 = "layer_scale1.lambda1",
                    .scale2 = "layer_scale2.lambda1",
                    .gate = "mlp.gate_proj",
                    .gated_up = "mlp.up_proj",
                    .out_gated = "mlp.down_proj"},
          .reads = VitReads::kBoth,
          .eps = 1e-5,
          .registers = "register_tokens",
          .turned = true};
}

const std::array kVitDialects = {
    VitDialect{VitKind::kVit, "ViT", "vit", "ViTForImageClassification", "vit.", {"cls_token"}, {"classifier"}},
    VitDialect{VitKind::kDeit,
               "DeiT",
               "deit",
               "DeiTForImageClassification",
               "deit.",
               {"cls_token", "distillation_token"},
               {"classifier"}},
    VitDialect{VitKind::kDeitTeacher,
               "DeiT",
               "deit",
               "DeiTForImageClassificationWithTeacher",
               "deit.",
               {"cls_token", "distillation_token"},
               {"cls_classifier", "distillation_classifier"}},
    clip(),
    siglip(),
    dinov2(),
    dinov2_registers(),
    dinov3(),
    VitDialect{.kind = VitKind::kMsn,
               .family = "ViT-MSN",
               .type = "vit_msn",
               .architecture = "ViTMSNForImageClassification",
               .prefix = "vit.",
               .tokens = {"cls_token"},
               .heads = {"classifier"},
               .eps = 1e-6},
    VitDialect{.kind = VitKind::kIjepa,
               .family = "I-JEPA",
               .type = "ijepa",
               .architecture = "IJepaForImageClassification",
               .prefix = "ijepa.",
               .tokens = {},
               .heads = {"classifier"},
               .reads = VitReads::kMeanOfPatches}};

}  // namespace

/// Source: transformers, modeling_dinov3_vit.py, DINOv3ViTRopePositionEmbedding.
std::vector<double> angles_of(const VitConfig& c) {
  std::vector<double> out;
  if (!dialect_of(c.kind).turned || c.num_attention_heads == 0) return out;
  const std::int64_t quarter = c.hidden_size / c.num_attention_heads / 4;
  for (std::int64_t i = 0; i < 2 * quarter; ++i)
    out.push_back(2 * std::numbers::pi *
                  std::pow(c.rope_theta, -static_cast<double>(i % quarter) / static_cast<double>(quarter)));
  return out;
}

std::vector<HostTable> turn_tables(const VitConfig& c) {
  const std::vector<double> angles = angles_of(c);
  const ImageShape image = image_of(c);
  const std::int64_t side = image.size / image.patch;
  HostTable cos{"rope.cos", {}}, sin{"rope.sin", {}};
  for (std::int64_t token = 0; token < image.tokens(); ++token)
    for (std::size_t i = 0; i < angles.size(); ++i) {
      const std::int64_t patch = token - image.specials, at = i < angles.size() / 2 ? patch / side : patch % side;
      const double place = (2 * static_cast<double>(at) + 1) / static_cast<double>(side) - 1;
      const double angle = patch < 0 ? 0 : place * angles[i];
      cos.values.push_back(static_cast<float>(std::cos(angle)));
      sin.values.push_back(static_cast<float>(std::sin(angle)));
    }
  return {std::move(cos), std::move(sin)};
}

const VitDialect& dialect_of(VitKind kind) { return *std::ranges::find(kVitDialects, kind, &VitDialect::kind); }

}  // namespace workloads
