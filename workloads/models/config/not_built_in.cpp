// Source: transformers, modeling_NAME.py.
#include "workloads/models/config/not_built_in.h"

#include <algorithm>
#include <array>

namespace workloads {
namespace {

constexpr std::string_view kStates = "layers of state spaces (Mamba)", kDelta = "layers of gated delta rules",
                           kRecurrent = "recurrent layers in the place of attention",
                           kNear = "attention to near tokens and to a few global ones",
                           kPage = "places of words on a page", kRawSound = "convolutions of raw sound",
                           kConvolved = "convolutions of pictures in all its stages",
                           kWindows = "windows of a picture that are shifted, and patches that are merged",
                           kPlaces = "biases of attention by places in a picture's two directions",
                           kHidden = "a decoder of hidden patches", kBoxes = "boxes around objects";

// clang-format off
constexpr auto kNotBuiltIn = std::to_array<NotBuiltIn>({
    // decoders
    {"qwen3_next", kDelta, "qwen3_moe"}, {"olmo_hybrid", kDelta, "olmo3"}, {"kimi_linear", kDelta, "kimi_k2"},
    {"mamba", kStates, "llama"}, {"mamba2", kStates, "llama"}, {"falcon_mamba", kStates, "falcon"},
    {"falcon_h1", kStates, "llama"}, {"nemotron_h", kStates, "nemotron"}, {"jamba", kStates, "mixtral"},
    {"bamba", kStates, "granite"}, {"zamba", kStates, "llama"}, {"zamba2", kStates, "llama"},
    {"plamo2", kStates, "llama"}, {"rwkv", kRecurrent, "gpt_neox"}, {"xlstm", kRecurrent, "llama"},
    {"recurrent_gemma", kRecurrent, "gemma"}, {"lfm2", "layers of short convolutions", "qwen3"},
    {"lfm2_moe", "layers of short convolutions", "qwen3_moe"},
    {"minimax", "layers of lightning attention", "minimax_m2"},
    {"deepseek_v32", "an indexer that chooses the keys of each token", "deepseek_v3"},
    {"longcat_flash", "two attentions in each layer and experts that compute nothing", "deepseek_v3"},
    {"phimoe", "a router that is trained with noise (SparseMixer)", "mixtral"},
    {"gemma3n_text", "four streams of hidden states (AltUp) and embeddings of each layer", "gemma3_text"},
    {"bitnet", "weights of three values", "llama"}, {"diffllama", "differences of two attentions", "llama"},
    {"hunyuan_v1_moe", "experts, whose sizes are lists of layers", "hunyuan_v1_dense"},
    {"jetmoe", "experts of attention", "mixtral"}, {"xglm", "sines as a decoder's positions", "opt"},
    {"ctrl", "sines as a decoder's positions", "gpt2"}, {"xlnet", "attention in two streams", "bert"},
    {"t5gemma", "an encoder-decoder of Gemma's layers", "t5"},
    // encoders of texts
    {"longformer", kNear, "roberta"}, {"big_bird", kNear, "bert"}, {"led", kNear, "bart"},
    {"bigbird_pegasus", kNear, "pegasus"}, {"squeezebert", "layers of grouped convolutions", "bert"},
    {"convbert", "convolutions whose weights depend on the tokens", "electra"},
    {"funnel", "tokens that are pooled between layers", "bert"}, {"fnet", "Fourier transforms", "bert"},
    {"nystromformer", "landmarks in the place of keys", "bert"}, {"reformer", "keys that are found by hashes", "bert"},
    {"canine", "hashes of characters in the place of tokens", "bert"}, {"luke", "embeddings of entities", "roberta"},
    {"layoutlm", kPage, "bert"}, {"layoutlmv2", kPage, "bert"}, {"layoutlmv3", kPage, "roberta"},
    {"lilt", kPage, "roberta"}, {"markuplm", "places of words in a tree", "roberta"},
    // pictures
    {"swin", kWindows, "vit"}, {"swinv2", kWindows, "vit"}, {"beit", kPlaces, "vit"},
    {"data2vec-vision", kPlaces, "vit"},
    {"siglip2", "pictures of many sizes in one batch", "siglip"}, {"vit_mae", kHidden, "vit"},
    {"videomae", kHidden, "vit"}, {"resnet", kConvolved, "vit"}, {"regnet", kConvolved, "vit"},
    {"convnext", kConvolved, "vit"}, {"convnextv2", kConvolved, "vit"}, {"efficientnet", kConvolved, "vit"},
    {"mobilenet_v1", kConvolved, "vit"}, {"mobilenet_v2", kConvolved, "vit"}, {"mobilevit", kConvolved, "vit"},
    {"segformer", kConvolved, "vit"}, {"levit", kConvolved, "vit"}, {"poolformer", kConvolved, "vit"},
    {"pvt", kConvolved, "vit"}, {"cvt", kConvolved, "vit"}, {"timm_wrapper", "any layers of timm", "vit"},
    {"detr", kBoxes, "vit"}, {"yolos", kBoxes, "vit"}, {"owlvit", kBoxes, "clip"},
    // sounds
    {"wav2vec2", kRawSound, "whisper"}, {"hubert", kRawSound, "whisper"}, {"wavlm", kRawSound, "whisper"},
    {"unispeech-sat", kRawSound, "whisper"}, {"data2vec-audio", kRawSound, "whisper"}, {"sew", kRawSound, "whisper"},
    {"wav2vec2-conformer", kRawSound, "whisper"}, {"wav2vec2-bert", "convolutions in each layer", "whisper"},
    {"speecht5", kRawSound, "whisper"}, {"audio-spectrogram-transformer", "patches of a spectrum that overlap", "deit"},
});
// clang-format on

}  // namespace

std::span<const NotBuiltIn> types_not_built_in() { return kNotBuiltIn; }

std::optional<NotBuiltIn> not_built_in(std::string_view type) {
  const auto* row = std::ranges::find(kNotBuiltIn, type, &NotBuiltIn::type);
  return row == kNotBuiltIn.end() ? std::nullopt : std::optional{*row};
}

}  // namespace workloads
