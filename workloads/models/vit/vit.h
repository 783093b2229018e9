// The Vision Transformer as an image classifier (Dosovitskiy et al., arXiv:2010.11929; tensor names as in Hugging
// Face's ViTForImageClassification), and DeiT (Touvron et al., arXiv:2012.12877), which has a second special token, of
// distillation: DeiTForImageClassification classifies by the first one alone, DeiTForImageClassificationWithTeacher by
// the mean of a head on each; and the vision model of CLIP (Radford et al., arXiv:2103.00020), which
// CLIPForImageClassification classifies by the mean of its patches; that of SigLIP (Zhai et al., arXiv:2303.15343), the
// same without a special token; DINOv2 (Oquab et al., arXiv:2304.07193), whose layers scale the columns of their
// outputs, and which classifies by its special token and the mean of its patches side by side, also with registers
// (Darcet et al., arXiv:2309.16588), special tokens without positions that no head reads; ViT-MSN (Assran et al.,
// arXiv:2204.07141), a ViT; and I-JEPA (Assran et al., arXiv:2301.08243), a ViT without a special token, which
// classifies by the mean; and DINOv3 (Siméoni et al., arXiv:2508.10104), DINOv2 with registers, whose queries and keys
// turn by the patches' places in the picture in place of a table of positions. transformers has no classifier of it;
// its publisher's (dinov3/hub/classifiers.py) is that of DINOv2. Training minimises the loss of these logits; no
// teacher takes part.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/models/config.h"
#include "workloads/models/config/keys.h"
#include "workloads/models/model.h"
#include "workloads/models/registry.h"

namespace workloads {

enum class VitKind : std::uint8_t {
  kVit,
  kDeit,
  kDeitTeacher,
  kClip,
  kSiglip,
  kDinov2,
  kDinov2Registers,
  kMsn,
  kIjepa,
  kDinov3
};

/// Names behind the prefix of the weights, and behind that of a layer.
struct VitNames {
  std::string_view layers = "encoder.layer.", positions = "embeddings.position_embeddings",
                   projection = "embeddings.patch_embeddings.projection";
  std::string_view first_norm{}, last_norm = "layernorm";  // of embeddings, and of the tokens that heads read
  std::string_view query = "attention.attention.query", key = "attention.attention.key",
                   value = "attention.attention.value", out = "attention.output.dense";
  std::string_view up = "intermediate.dense", down = "output.dense", norm1 = "layernorm_before",
                   norm2 = "layernorm_after";
  std::string_view scale1{}, scale2{};                        // of the factors of the outputs of a layer's parts
  std::string_view gate{}, gated_up{}, fused{}, out_gated{};  // of an MLP with a gate, gate and up in one tensor
};

/// The tokens that a head reads.
enum class VitReads : std::uint8_t { kSpecial, kMeanOfPatches, kBoth };

/// The differences of each kind, and its names.
struct VitDialect {
  VitKind kind;
  std::string_view family, type, architecture, prefix;
  std::vector<std::string_view> tokens;  // in front of the patches
  std::vector<std::string_view> heads;   // each on one of these tokens; logits are their mean
  VitNames names{};
  bool flat = false;  // tables of tokens and positions have no first axis of one
  bool patch_bias = true;
  VitReads reads = VitReads::kSpecial;
  std::string_view vision_type{};  // "model_type" of its vision model, where that is inside of a file of texts too
  double eps = 1e-12;              // of norms, when the file does not say
  bool scaled = false;             // config.json has the keys of DINOv2
  std::string_view registers{};    // one tensor of several tokens behind the others
  bool turned = false;             // queries and keys of patches turn, and config.json has the keys of DINOv3
};
const VitDialect& dialect_of(VitKind kind);

/// Queries and keys of patches turn by angles of their places, which are from -1 to 1 in both directions: a quarter of
/// a head's elements by rows, a quarter by columns, each with the element half a head behind it.
struct VitTurns {
  double rope_theta = 100;
  double pos_embed_rescale = 0;  // in training places are times a random number up to it, or over it; 0: they are not
  bool query_bias = true, value_bias = true;
};

/// The defaults are Hugging Face's.
struct VitConfig : VitTurns {
  VitKind kind = VitKind::kVit;
  std::int64_t hidden_size = 0;
  std::int64_t num_hidden_layers = 0;
  std::int64_t num_attention_heads = 0;
  std::int64_t intermediate_size = 0;
  std::int64_t image_size = 224;
  std::int64_t patch_size = 16;
  std::int64_t num_channels = 3;
  Activation hidden_act = Activation::kGelu;
  double layer_norm_eps = 1e-12;
  double initializer_range = 0.02;
  double hidden_dropout_prob = 0;
  double attention_probs_dropout_prob = 0;
  bool use_swiglu_ffn = false;           // an MLP has a gate
  std::int64_t num_register_tokens = 0;  // 0: the kind has none
  bool of_torch =
      false;  // its blocks are torch.nn.MultiheadAttention and Sequential: the host traces less than of HF's
  std::vector<std::string> label_names{"LABEL_0", "LABEL_1"};
  std::optional<Lora> lora{};
};

VitConfig read_vit(const Keys& keys, VitKind kind = VitKind::kVit);
/// The vision model of a CLIP or a SigLIP, from a file of its own or from one of both models. Errors: Fault::kData for
/// a file of both that does not say that it classifies pictures.
VitConfig read_clip(const Keys& keys, VitKind kind = VitKind::kClip);
VitConfig read_clip_vision(const Keys& keys, VitKind kind = VitKind::kClip);
/// Whether config.json is that of these.
inline bool is_clip(const VitConfig& c) { return c.kind == VitKind::kClip || c.kind == VitKind::kSiglip; }
/// Without sizes.
inline VitConfig of_kind(VitKind kind) {
  VitConfig c;
  c.kind = kind;
  return c;
}
/// With those that a file of CLIP or SigLIP may leave out.
VitConfig blank_vit(VitKind kind);
void check_clip(const VitConfig& config, const Rules& rules);
nlohmann::json clip_json(const VitConfig& config);
void check(const VitConfig& config, std::string_view where);
void apply(const ModelChange& change, VitConfig& config);
nlohmann::json to_json(const VitConfig& config);

ImageShape image_of(const VitConfig& config);

/// The angles of a patch of place 1, of each pair of a head's elements: of its row, then of its column. Empty: none
/// turn.
std::vector<double> angles_of(const VitConfig& config);
/// Cosines and sines of all tokens: those without pixels do not turn.
std::vector<HostTable> turn_tables(const VitConfig& config);

/// Its step reads, for each micro-batch m: "patches.m" [batch * length, channels * patch * patch] in the activations'
/// type, a sequence of each picture: rows of zeros, where the special tokens will be, and its patches, row by row of
/// the picture, each channel by channel; "labels.m" [batch, 1] int32 and "weights.m" [batch, 1] fp32 (each picture's
/// weight in the loss); "is_class", with a second token "is_distillation", and "is_patch" [length, 1]: 1 in the first
/// row, 1 in the second, 1 in all others; with registers "is_register" [length, registers] and "is_place" [length,
/// positions], the rows of these; where patches turn "rope.cos" and "rope.sin"; in training "hyper". It leaves
/// "logits.m" [batch, labels] fp32, "loss.m" [batch, 1] fp32, "grad_norm", and "grad.NAME" of every weight. Errors:
/// Fault::kUsage when the step's length is not that of the pictures.
ModelPtr make_model(VitConfig config);

}  // namespace workloads
