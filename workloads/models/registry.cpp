// The families, one row each.
#include "workloads/models/registry.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "base/error.h"
#include "base/files.h"
#include "base/suggest.h"
#include "base/text.h"
#include "workloads/models/bart/bart.h"
#include "workloads/models/bert/bert_config.h"
#include "workloads/models/config/inert.h"
#include "workloads/models/config/keys.h"
#include "workloads/models/config/not_built_in.h"
#include "workloads/models/config/stored_type.h"
#include "workloads/models/decoder/decoder_config.h"
#include "workloads/models/decoder/plain.h"
#include "workloads/models/mobilebert/mobilebert.h"
#include "workloads/models/model.h"
#include "workloads/models/presets.h"
#include "workloads/models/t5/t5.h"
#include "workloads/models/vit/vit.h"

namespace workloads {
namespace {

using base::Error;
using base::Fault;

struct FamilyRow {
  std::string_view name;
  std::string_view type;          // "model_type" of config.json
  std::string_view architecture;  // prefix of "architectures", for old files that name no type
  ModelPtr (*read)(const Keys& keys);
  ModelPtr (*blank)();
};

/// A relative of Llama.
template <LlamaKind kind>
constexpr FamilyRow relative(std::string_view type, std::string_view architecture) {
  return {architecture, type, architecture, [](const Keys& keys) { return make_model(read_llama(keys, kind)); },
          [] { return blank_llama(kind); }};
}

/// Without a causal mask it is an encoder, EmbeddingGemma.
ModelPtr read_gemma3(const Keys& keys) {
  const bool both_ways = keys.has("use_bidirectional_attention") && keys.at("use_bidirectional_attention") == true;
  return both_ways ? make_model(read_bert(keys, BertKind::kEmbeddingGemma))
                   : make_model(read_llama(keys, LlamaKind::kGemma3));
}

/// Ling's two generations: files of both may have the first one's type.
ModelPtr read_bailing(const Keys& keys) {
  const std::string made = keys.has("architectures") ? keys.at("architectures").dump() : "";
  const bool second = made.find("BailingMoeV2") != std::string::npos;
  return make_model(read_llama(keys, second ? LlamaKind::kBailing2 : LlamaKind::kBailing));
}

/// The text model of a model that reads pictures too: with texts alone it is a family that has rows of its own.
template <LlamaKind kind>
constexpr FamilyRow text_of(std::string_view name, std::string_view type) {
  return {name, type, type, [](const Keys& keys) { return make_model(read_llama(keys, kind)); },
          [] { return blank_llama(kind); }};
}

/// A relative of ViT.
template <VitKind kind>
constexpr FamilyRow pictures(std::string_view name, std::string_view type, std::string_view architecture) {
  return {name, type, architecture, [](const Keys& keys) { return make_model(read_vit(keys, kind)); },
          [] { return make_model(of_kind(kind)); }};
}

/// A relative of T5.
template <T5Kind kind>
constexpr FamilyRow pair(std::string_view name, std::string_view type, std::string_view architecture) {
  return {name, type, architecture, [](const Keys& keys) { return make_model(read_t5(keys, kind)); },
          [] { return make_model(blank_t5(kind)); }};
}

/// A relative of BART.
template <BartKind kind>
constexpr FamilyRow pair(std::string_view name, std::string_view type, std::string_view architecture) {
  return {name, type, architecture, [](const Keys& keys) { return make_model(read_bart(keys, kind)); },
          [] { return make_model(blank_bart(kind)); }};
}

/// A relative of BERT.
template <BertKind kind>
constexpr FamilyRow encoder(std::string_view type, std::string_view architecture) {
  return {architecture, type, architecture, [](const Keys& keys) { return make_model(read_bert(keys, kind)); },
          [] { return blank_bert(kind); }};
}

}  // namespace

const PlainFamily& neox_family();  // workloads/models/decoder/neox.cpp
const PlainFamily& phi_family();   // workloads/models/decoder/phi.cpp
const PlainFamily &starcoder2_family(), &gpt_neo_family(), &gpt_bigcode_family(), &falcon_family();
const PlainFamily &persimmon_family(), &biogpt_family();
const PlainFamily &gptj_family(), &codegen_family(), &bloom_family(), &mpt_family(), &dbrx_family();
ModelPtr read_falcon(const Keys& keys);  // workloads/models/decoder/falcon.cpp

namespace {

/// A decoder that is defined by its keys and names.
template <const PlainFamily& (*family)()>
constexpr FamilyRow plain(std::string_view name, std::string_view type, std::string_view architecture) {
  return {name, type, architecture, [](const Keys& keys) { return read_plain(keys, family()); },
          [] { return make_model(blank(family())); }};
}

// clang-format off
constexpr std::array kFamilies = {
    FamilyRow{"BERT", "bert", "Bert", [](const Keys& keys) { return make_model(read_bert(keys)); },
              [] { return make_model(BertConfig{}); }},
    encoder<BertKind::kRobertaPreLayerNorm>("roberta-prelayernorm", "RobertaPreLayerNorm"),
    encoder<BertKind::kRoberta>("roberta", "Roberta"),
    encoder<BertKind::kXlmRobertaXl>("xlm-roberta-xl", "XLMRobertaXL"),
    encoder<BertKind::kXlmRoberta>("xlm-roberta", "XLMRoberta"),
    encoder<BertKind::kCamembert>("camembert", "Camembert"),
    encoder<BertKind::kDistilBert>("distilbert", "DistilBert"),
    encoder<BertKind::kElectra>("electra", "Electra"),
    encoder<BertKind::kAlbert>("albert", "Albert"),
    encoder<BertKind::kEsm>("esm", "Esm"),
    encoder<BertKind::kMpnet>("mpnet", "MPNet"),
    encoder<BertKind::kModernBert>("modernbert", "ModernBert"),
    encoder<BertKind::kMegatronBert>("megatron-bert", "MegatronBert"),
    encoder<BertKind::kData2VecText>("data2vec-text", "Data2VecText"),
    encoder<BertKind::kRemBert>("rembert", "RemBert"),
    encoder<BertKind::kErnie>("ernie", "Ernie"),
    encoder<BertKind::kDeberta>("deberta", "DebertaFor"),
    encoder<BertKind::kDebertaV2>("deberta-v2", "DebertaV2"),
    encoder<BertKind::kRoFormer>("roformer", "RoFormer"),
    encoder<BertKind::kNew>("new", "New"),
    encoder<BertKind::kGte>("gte", "Gte"),
    encoder<BertKind::kNomic>("nomic_bert", "NomicBert"),
    encoder<BertKind::kEuroBert>("eurobert", "EuroBert"),
    encoder<BertKind::kXlm>("xlm", "XLM"),
    encoder<BertKind::kFlaubert>("flaubert", "Flaubert"),
    FamilyRow{"MobileBERT", "mobilebert", "MobileBert",
              [](const Keys& keys) { return make_model(read_mobilebert(keys)); },
              [] { return make_model(MobileBertConfig{}); }},
    relative<LlamaKind::kLlama>("llama", "Llama"),
    relative<LlamaKind::kMistral>("mistral", "Mistral"),
    relative<LlamaKind::kQwen2>("qwen2", "Qwen2"),
    relative<LlamaKind::kQwen3>("qwen3", "Qwen3"),
    relative<LlamaKind::kGemma>("gemma", "Gemma"),
    relative<LlamaKind::kGemma2>("gemma2", "Gemma2"),
    FamilyRow{"Gemma3", "gemma3_text", "Gemma3", read_gemma3, [] { return blank_llama(LlamaKind::kGemma3); }},
    relative<LlamaKind::kGranite>("granite", "GraniteFor"),
    relative<LlamaKind::kPhi3>("phi3", "Phi3"),
    relative<LlamaKind::kMixtral>("mixtral", "Mixtral"),
    relative<LlamaKind::kQwen3Moe>("qwen3_moe", "Qwen3Moe"),
    relative<LlamaKind::kOlmoe>("olmoe", "Olmoe"),
    relative<LlamaKind::kOlmo2>("olmo2", "Olmo2"),
    relative<LlamaKind::kSmolLm3>("smollm3", "SmolLM3"),
    relative<LlamaKind::kStableLm>("stablelm", "StableLm"),
    relative<LlamaKind::kCohere>("cohere", "CohereFor"),
    relative<LlamaKind::kCohere2>("cohere2", "Cohere2"),
    relative<LlamaKind::kGlm>("glm", "GlmFor"),
    relative<LlamaKind::kGlm4>("glm4", "Glm4For"),
    relative<LlamaKind::kHelium>("helium", "Helium"),
    relative<LlamaKind::kErnie45>("ernie4_5", "Ernie4_5For"),
    relative<LlamaKind::kNemotron>("nemotron", "NemotronFor"),
    relative<LlamaKind::kArcee>("arcee", "Arcee"),
    relative<LlamaKind::kSeedOss>("seed_oss", "SeedOss"),
    relative<LlamaKind::kExaone4>("exaone4", "Exaone4For"),
    relative<LlamaKind::kOlmo>("olmo", "OlmoFor"),
    relative<LlamaKind::kOlmo3>("olmo3", "Olmo3For"),
    relative<LlamaKind::kGraniteMoe>("granitemoe", "GraniteMoeFor"),
    relative<LlamaKind::kGraniteMoeShared>("granitemoeshared", "GraniteMoeShared"),
    relative<LlamaKind::kDeepseek>("deepseek", "DeepseekFor"),
    relative<LlamaKind::kDeepseekV2>("deepseek_v2", "DeepseekV2"),
    relative<LlamaKind::kDeepseekV3>("deepseek_v3", "DeepseekV3"),
    relative<LlamaKind::kGlm4Moe>("glm4_moe", "Glm4Moe"),
    relative<LlamaKind::kDots1>("dots1", "Dots1"),
    relative<LlamaKind::kFlexOlmo>("flex_olmo", "FlexOlmo"),
    relative<LlamaKind::kGptOss>("gpt_oss", "GptOss"),
    relative<LlamaKind::kLlama4>("llama4_text", "Llama4ForCausal"),
    relative<LlamaKind::kQwen2Moe>("qwen2_moe", "Qwen2Moe"),
    relative<LlamaKind::kInternLm>("internlm", "InternLMFor"),
    relative<LlamaKind::kInternLm2>("internlm2", "InternLM2"),
    relative<LlamaKind::kInternLm3>("internlm3", "InternLM3"),
    relative<LlamaKind::kBaichuan>("baichuan", "Baichuan"),
    relative<LlamaKind::kExaone>("exaone", "ExaoneFor"),
    relative<LlamaKind::kChatGlm>("chatglm", "ChatGLM"),
    relative<LlamaKind::kQwen>("qwen", "QWen"),
    relative<LlamaKind::kMiniCpm>("minicpm", "MiniCPMFor"),
    relative<LlamaKind::kMiniCpm3>("minicpm3", "MiniCPM3"),
    relative<LlamaKind::kOrion>("orion", "Orion"),
    relative<LlamaKind::kAquila>("aquila", "Aquila"),
    relative<LlamaKind::kXverse>("xverse", "Xverse"),
    relative<LlamaKind::kErnie45Moe>("ernie4_5_moe", "Ernie4_5_Moe"),
    relative<LlamaKind::kYi>("Yi", "YiFor"),
    relative<LlamaKind::kKimiK2>("kimi_k2", "KimiK2"),
    relative<LlamaKind::kMinistral3>("ministral3", "Ministral3"),
    relative<LlamaKind::kGranite4>("granitemoehybrid", "GraniteMoeHybrid"),
    relative<LlamaKind::kHunyuan>("hunyuan_v1_dense", "HunYuanDenseV1"),
    relative<LlamaKind::kMiniMaxM2>("minimax_m2", "MiniMaxM2"),
    relative<LlamaKind::kApertus>("apertus", "Apertus"),
    relative<LlamaKind::kModernBertDecoder>("modernbert-decoder", "ModernBertDecoder"),
    relative<LlamaKind::kBailing2>("bailing_moe_v2", "BailingMoeV2"),
    FamilyRow{"Ling", "bailing_moe", "BailingMoe", read_bailing, [] { return blank_llama(LlamaKind::kBailing); }},
    text_of<LlamaKind::kQwen2>("Qwen2-VL's text model", "qwen2_vl_text"),
    text_of<LlamaKind::kQwen2>("Qwen2.5-VL's text model", "qwen2_5_vl_text"),
    text_of<LlamaKind::kQwen3>("Qwen3-VL's text model", "qwen3_vl_text"),
    text_of<LlamaKind::kQwen3Moe>("Qwen3-VL-MoE's text model", "qwen3_vl_moe_text"),
    plain<gpt_family>("GPT", "gpt2", "GPT2"),
    plain<first_gpt_family>("GPT-1", "openai-gpt", "OpenAIGPT"),
    plain<neox_family>("GPT-NeoX", "gpt_neox", "GPTNeoX"),
    plain<opt_family>("OPT", "opt", "OPT"),
    plain<biogpt_family>("BioGPT", "biogpt", "BioGpt"),
    plain<phi_family>("Phi-2", "phi", "PhiFor"),
    plain<persimmon_family>("Persimmon", "persimmon", "PersimmonFor"),
    plain<starcoder2_family>("StarCoder2", "starcoder2", "Starcoder2"),
    plain<gpt_neo_family>("GPT-Neo", "gpt_neo", "GPTNeoFor"),
    plain<gpt_bigcode_family>("GPTBigCode", "gpt_bigcode", "GPTBigCode"),
    plain<gptj_family>("GPT-J", "gptj", "GPTJ"),
    plain<codegen_family>("CodeGen", "codegen", "CodeGen"),
    plain<bloom_family>("BLOOM", "bloom", "Bloom"),
    plain<mpt_family>("MPT", "mpt", "MptFor"),
    plain<dbrx_family>("DBRX", "dbrx", "Dbrx"),
    FamilyRow{"Falcon", "falcon", "Falcon", read_falcon, [] { return make_model(blank(falcon_family())); }},
    pictures<VitKind::kVit>("ViT", "vit", "ViTFor"),
    pictures<VitKind::kDeit>("DeiT", "deit", "DeiT"),
    FamilyRow{"CLIP", "clip", "CLIPFor", [](const Keys& keys) { return make_model(read_clip(keys)); },
              [] { return make_model(of_kind(VitKind::kClip)); }},
    FamilyRow{"CLIP", "clip_vision_model", "CLIPVision",
              [](const Keys& keys) { return make_model(read_clip_vision(keys)); },
              [] { return make_model(of_kind(VitKind::kClip)); }},
    FamilyRow{"SigLIP", "siglip", "SiglipFor",
              [](const Keys& keys) { return make_model(read_clip(keys, VitKind::kSiglip)); },
              [] { return make_model(of_kind(VitKind::kSiglip)); }},
    FamilyRow{"SigLIP", "siglip_vision_model", "SiglipVision",
              [](const Keys& keys) { return make_model(read_clip_vision(keys, VitKind::kSiglip)); },
              [] { return make_model(of_kind(VitKind::kSiglip)); }},
    pictures<VitKind::kDinov2>("DINOv2", "dinov2", "Dinov2For"),
    pictures<VitKind::kDinov2Registers>("DINOv2 with registers", "dinov2_with_registers", "Dinov2WithRegisters"),
    pictures<VitKind::kDinov3>("DINOv3", "dinov3_vit", "DINOv3ViT"),
    pictures<VitKind::kMsn>("ViT-MSN", "vit_msn", "ViTMSN"),
    pictures<VitKind::kIjepa>("I-JEPA", "ijepa", "IJepa"),
    pair<T5Kind::kT5>("T5", "t5", "T5"),
    pair<T5Kind::kMt5>("mT5", "mt5", "MT5"),
    pair<T5Kind::kUmt5>("UMT5", "umt5", "UMT5"),
    pair<BartKind::kBart>("BART", "bart", "Bart"),
    pair<BartKind::kMbart>("mBART", "mbart", "MBart"),
    pair<BartKind::kMarian>("Marian", "marian", "Marian"),
    pair<BartKind::kPegasus>("Pegasus", "pegasus", "Pegasus"),
    pair<BartKind::kM2m100>("M2M-100", "m2m_100", "M2M100"),
    pair<BartKind::kPlbart>("PLBART", "plbart", "PLBart"),
    pair<BartKind::kBlenderbot>("Blenderbot", "blenderbot", "BlenderbotFor"),
    pair<BartKind::kWhisper>("Whisper", "whisper", "WhisperFor"),
};
// clang-format on

constexpr const char* kAllTypes = "docs/your_model.md lists all";

/// The built-in types whose names are near: that begin with the same letters, or differ by few.
std::string near_types(std::string_view type) {
  constexpr std::size_t kMost = 4, kLeastLetters = 3;
  const auto letters = [](std::string_view name) {
    return name.substr(0, std::ranges::find_if_not(name, [](char c) { return std::isalpha(c) != 0; }) - name.begin());
  };
  std::vector<std::pair<std::size_t, std::string>> near;
  for (const FamilyRow& row : kFamilies) {
    const std::size_t edits = base::edit_distance(base::lower(type), base::lower(row.type));
    const bool alike = letters(type).size() >= kLeastLetters && letters(type) == letters(row.type);
    if (alike || edits <= type.size() / 3) near.emplace_back(edits, row.type);
  }
  if (near.empty()) return fmt::format("of the built-in types none has a name like it; {}", kAllTypes);
  std::ranges::sort(near);
  near.resize(std::min(near.size(), kMost));
  std::vector<std::string> names;
  for (const auto& [edits, name] : near) names.push_back(name);
  return fmt::format("built-in types with names like it: {}; {}", fmt::join(names, ", "), kAllTypes);
}

/// The built-in type of the text model inside a model that reads pictures or sound too, also where older files have its
/// keys beside the others'; empty: there is none.
std::string type_of_text(const Keys& keys) {
  std::string type = keys.at("model_type").get<std::string>() + "_text";
  if (keys.has("text_config") && keys.at("text_config").is_object()) {
    const nlohmann::json text = keys.at("text_config").value("model_type", nlohmann::json());
    if (text.is_string()) type = text.get<std::string>();
  }
  return std::ranges::find(kFamilies, type, &FamilyRow::type) == kFamilies.end() ? std::string{} : type;
}

/// Old files name no model_type, but their architectures begin with it.
const FamilyRow& family_row_of(const Keys& keys) {
  if (keys.has("quantization_config") && keys.at("quantization_config").is_object())
    keys.fail("\"quantization_config\" is set, but quantized weights are not supported",
              "use the folder of the original model in bf16, fp16 or fp32; for its time alone, a config.json without "
              "\"quantization_config\" is enough");
  if (keys.has("model_type") && keys.at("model_type").is_string()) {
    const std::string type = keys.at("model_type");
    const auto* row = std::ranges::find(kFamilies, type, &FamilyRow::type);
    if (row != kFamilies.end()) return *row;
    if (const std::string text = type_of_text(keys); !text.empty())
      keys.fail(fmt::format("\"model_type\" is \"{}\", a family that is not built in", type),
                fmt::format("run its PyTorch code by 'trnsim torch SCRIPT.py'; its text model is of the built-in type "
                            "{}: AutoConfig.from_pretrained(MODEL).get_text_config().save_pretrained(DIR) of "
                            "transformers writes its config.json, with the sizes that \"text_config\" leaves out",
                            text));
    constexpr const char* kRunCode = "run its PyTorch code by 'trnsim torch SCRIPT.py', which takes any layers; ";
    if (const auto known = not_built_in(type))
      keys.fail(fmt::format("\"model_type\" is \"{}\", a family that is not built in: it has {}", type, known->part),
                fmt::format("{}the nearest built-in type is {}; {}", kRunCode, known->near, kAllTypes));
    keys.fail(fmt::format("\"model_type\" is \"{}\", a family that is not built in", type),
              kRunCode + near_types(type));
  }
  const std::string made = keys.has("architectures") ? keys.at("architectures").dump() : "";
  for (const FamilyRow& row : kFamilies)
    if (made.starts_with(fmt::format("[\"{}", row.architecture))) return row;
  keys.fail("has no \"model_type\"", fmt::format("add the model's, such as \"model_type\": \"llama\"; {}", kAllTypes));
}

}  // namespace

ModelPtr read_config(const Keys& keys) {
  refuse_stored_type(keys);
  const ModelPtr model = family_row_of(keys).read(keys);
  return keys.has("lora") ? model->with_lora(lora_from(keys.at("lora"), keys.where())) : model;
}

ModelPtr read_config(const std::filesystem::path& file_or_folder) {
  const Keys keys{std::filesystem::is_directory(file_or_folder) ? file_or_folder / "config.json" : file_or_folder};
  refuse_other_class(keys, family_row_of(keys).architecture);
  ModelPtr model = read_config(keys);
  refuse_other_code(keys);
  warn_of_unread(keys);
  warn_of_other_head(keys, *model);
  return model;
}

void write_config(const ModelPtr& model, const std::filesystem::path& folder) {
  base::write_file(folder / "config.json", model->config_json());
}

std::vector<std::string_view> model_types() {
  std::vector<std::string_view> types;
  for (const FamilyRow& row : kFamilies) types.push_back(row.type);
  return types;
}

ModelPtr blank_model(std::string_view model_type) {
  const auto* row = std::ranges::find(kFamilies, model_type, &FamilyRow::type);
  return row == kFamilies.end() ? nullptr : row->blank();
}

}  // namespace workloads
