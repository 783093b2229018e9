// Keys of a config.json that nothing here reads: those that decide no number of a model, and all others.
#include "workloads/models/config/inert.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "base/text.h"

namespace workloads {
namespace {

using nlohmann::json;

/// Keys of any family that do not change what its layers compute from a token to logits: how a file was made, what a
/// program returns, how text is drawn, ids of tokens, and what older libraries wrote. Source: transformers,
/// configuration_utils.py, generation/configuration_utils.py and the configuration_NAME.py of the families.
// clang-format off
constexpr auto kInert = std::to_array<std::string_view>({
    // of every file
    "_attn_implementation", "_attn_implementation_autoset", "_commit_hash", "_flash_attn_2_enabled",
    "_from_model_config", "_name_or_path", "architectures", "attn_implementation", "auto_map", "base_model_tp_plan",
    "dtype", "finetuning_task", "gradient_checkpointing", "id2label", "label2id", "license", "model_type",
    "name_or_path", "num_labels", "output_attentions", "output_hidden_states", "output_past", "output_scores",
    "pretraining_tp", "problem_type", "return_dict", "return_dict_in_generate", "task_specific_params",
    "tf_legacy_loss", "tie_word_embeddings", "tokenizer_class", "torch_dtype", "torchscript", "transformers.js_config",
    "transformers_version", "cache_implementation", "model_max_length", "tokenizer_name", "unsloth_fixed",
    "unsloth_version", "use_bfloat16", "use_cache", "verbose", "chunk_size_feed_forward", "is_encoder_decoder",
    // ids of tokens
    "begin_suppress_tokens", "bos_index", "bos_token_id", "cls_token_id", "decoder_start_token_id", "eos_index",
    "eos_token_id", "forced_bos_token_id", "forced_decoder_ids", "forced_eos_token_id", "mask_index", "mask_token_id",
    "bos_token", "eos_token", "mask_token", "pad_token",
    "pad_index", "pad_token_id", "sep_token_id", "suppress_tokens", "unk_index", "unk_token_id",
    // of drawing text
    "bad_words_ids", "diversity_penalty", "do_sample", "early_stopping", "encoder_no_repeat_ngram_size",
    "exponential_decay_length_penalty", "force_bos_token_to_be_generated", "length_penalty", "max_length",
    "max_new_tokens", "min_length", "no_repeat_ngram_size", "num_beam_groups", "num_beams", "num_return_sequences",
    "prefix", "remove_invalid_values", "repetition_penalty", "temperature", "top_k", "top_p", "typical_p",
    // of first weights
    "embed_init_std", "init_config", "init_device", "init_std", "initializer_cutoff_factor", "initializer_factor",
    "initializer_range",
    // of heads that are not built from these files
    "classif_dropout", "classifier_dropout", "qa_dropout", "end_n_top", "pooler_act", "pooler_fc_size",
    "pooler_num_attention_heads", "pooler_num_fc_layers", "pooler_output_size", "pooler_size_per_head", "pooler_type",
    "start_n_top", "summary_activation", "summary_first_dropout", "summary_last_dropout", "summary_proj_to_labels",
    "summary_type", "summary_use_proj",
    // of kernels and programs, not of the mathematics
    "attention_softmax_in_fp32", "bias_dropout_fusion", "directionality", "ep_size", "fused_bias_fc",
    "fused_dropout_add_ln", "masked_softmax_fusion", "memory_efficient_attention", "offset_alibi",
    "reorder_and_upcast_attn", "scale_attention_softmax_in_fp32", "skip_bias_add", "slow_but_exact", "unpad_inputs",
    "use_flash_attn", "use_memory_efficient_attention", "use_xentropy", "xla_device",
    // of other libraries and other programs: transformers reads them nowhere
    "add_bias_logits", "add_final_layer_norm", "aux_loss_alpha", "emb_dim", "encoder_stride", "extra_pos_embeddings",
    "id2lang", "is_encoder", "lang2id", "max_vocab", "min_count", "n_ctx", "normalize_before", "normalize_embedding",
    "num_nextn_predict_layers", "seq_aux", "static_position_embeddings",
    // of sentence-transformers, which reads them behind the model
    "matryoshka_dimensions", "sbert_ce_default_activation_function", "sentence_transformers",
});

/// The same of a family, whose code in transformers does not read them, or reads the same under another key. A star
/// stands for any end of a key.
struct InertOf {
  std::string_view type, key;
};
bool is_key(std::string_view row, std::string_view key) {
  return row.ends_with('*') ? key.starts_with(row.substr(0, row.size() - 1)) : row == key;
}
constexpr auto kInertOf = std::to_array<InertOf>({
    {"", "rope_scaling.type"}, {"", "rope_parameters.type"}, {"", "attn_config.attn_impl"},
    {"", "attn_config.model_type"}, {"albert", "down_scale_factor"}, {"albert", "gap_size"},
    {"albert", "inner_group_num"}, {"albert", "net_structure_type"}, {"albert", "num_memory_blocks"},
    {"bart", "num_hidden_layers"}, {"biogpt", "layer_norm_eps"}, {"blenderbot", "do_blenderbot_90_layernorm"},
    {"blenderbot", "layernorm_variant"}, {"blenderbot", "num_hidden_layers"}, {"bloom", "n_embed"},
    {"chatglm", "apply_query_key_layer_scaling"}, {"chatglm", "original_rope"},
    {"dinov2", "apply_layernorm"}, {"dinov2", "out_features"}, {"dinov2", "out_indices"},
    {"dinov2", "reshape_hidden_states"}, {"dinov2", "stage_names"}, {"dinov2", "use_mask_token"},
    {"dinov2_with_registers", "apply_layernorm"}, {"dinov2_with_registers", "out_features"},
    {"dinov2_with_registers", "out_indices"}, {"dinov2_with_registers", "reshape_hidden_states"},
    {"dinov2_with_registers", "stage_names"}, {"dinov2_with_registers", "interpolate_*"},
    {"openai-gpt", "predict_special_tokens"}, {"ijepa", "pooler_*"},
    {"minimax_m2", "layernorm_*"}, {"minimax_m2", "mlp_intermediate_size"}, {"minimax_m2", "mtp_transformer_layers"},
    {"minimax_m2", "num_mtp_modules"}, {"minimax_m2", "shared_moe_mode"}, {"minimax_m2", "use_mtp"},
    {"hunyuan_v1_dense", "attention_head_dim"}, {"hunyuan_v1_dense", "org_vocab_size"},
    {"hunyuan_v1_dense", "anyres_pooling_size"}, {"hunyuan_v1_dense", "cla_share_factor"},
    {"hunyuan_v1_dense", "dense_list"}, {"hunyuan_v1_dense", "eod_token_id"}, {"hunyuan_v1_dense", "im_*"},
    {"hunyuan_v1_dense", "mask_init_id"}, {"hunyuan_v1_dense", "pad_id"}, {"hunyuan_v1_dense", "pool_type"},
    {"hunyuan_v1_dense", "text_end_id"}, {"hunyuan_v1_dense", "text_start_id"},
    {"hunyuan_v1_dense", "rope_scaling.beta_*"},
    {"hunyuan_v1_dense", "rope_scaling.mscale*"},
    {"qwen2_vl_text", "rope_scaling.mrope_*"}, {"qwen2_5_vl_text", "rope_scaling.mrope_*"},
    {"qwen3_vl_text", "rope_scaling.mrope_*"}, {"qwen3_vl_moe_text", "rope_scaling.mrope_*"},
    {"qwen2_vl_text", "rope_parameters.mrope_*"}, {"qwen2_5_vl_text", "rope_parameters.mrope_*"},
    {"qwen3_vl_text", "rope_parameters.mrope_*"}, {"qwen3_vl_moe_text", "rope_parameters.mrope_*"},
    {"qwen2_vl_text", "max_window_layers"}, {"qwen2_5_vl_text", "max_window_layers"},
    {"siglip", "logit_scale_init_value"}, {"siglip", "projection_dim"}, {"siglip", "text_config"},
    {"siglip", "vision_use_head"}, {"siglip_vision_model", "projection_dim"},
    {"siglip_vision_model", "vision_use_head"},
    {"clip", "logit_scale_init_value"}, {"clip", "projection_dim"}, {"clip", "text_config"},
    {"clip_vision_model", "projection_dim"},
    {"codegen", "rotary"}, {"cohere2", "order_of_interleaved_layers"}, {"cohere2", "rotary_pct"},
    {"cohere2", "use_embedding_sharing"}, {"cohere2", "use_gated_activation"}, {"cohere2", "use_parallel_block"},
    {"cohere2", "use_parallel_embedding"}, {"deberta", "legacy"}, {"deberta", "padding_idx"},
    {"deberta-v2", "legacy"}, {"deberta-v2", "padding_idx"}, {"deepseek", "n_group"}, {"deepseek", "topk_group"},
    {"deepseek_v2", "n_group"}, {"deepseek_v2", "topk_group"}, {"distilbert", "sinusoidal_pos_embds"},
    {"distilbert", "tie_weights_"}, {"dots1", "max_window_layers"}, {"ernie", "pool_act"},
    {"ernie", "task_id"}, {"ernie4_5_moe", "moe_norm_min"}, {"ernie4_5_moe", "output_router_logits"},
    {"ernie4_5_moe", "router_aux_loss_coef"},
    {"granitemoehybrid", "init_method"}, {"granitemoehybrid", "intermediate_size"},
    {"granitemoehybrid", "output_router_logits"}, {"granitemoehybrid", "router_aux_loss_coef"},
    {"granitemoehybrid", "num_experts_per_tok"}, {"granitemoehybrid", "mamba_*"},
    {"esm", "esmfold_config"}, {"esm", "hidden_act"}, {"esm", "vocab_list"}, {"falcon", "multi_query"},
    {"falcon", "n_head"}, {"falcon", "n_layer"}, {"flaubert", "amp"}, {"flaubert", "lang_id"},
    {"flaubert", "mask_id"}, {"flaubert", "n_langs"}, {"flaubert", "same_enc_dec"}, {"flaubert", "share_inout_emb"},
    {"flaubert", "use_lang_emb"}, {"flaubert", "vocab_size"}, {"gemma", "hidden_act"}, {"gemma2", "hidden_act"},
    {"gemma2", "sliding_window_size"}, {"gemma3_text", "hidden_act"}, {"glm4_moe", "max_window_layers"},
    {"gpt_bigcode", "inference_runner"}, {"gte", "logn_attention_clip1"}, {"new", "logn_attention_clip1"},
    {"nomic_bert", "dense_seq_output"}, {"nomic_bert", "max_trained_positions"},
    {"gpt_bigcode", "pad_key_length"}, {"gpt_bigcode", "pre_allocate_kv_cache"},
    {"gpt_bigcode", "validate_runner_input"}, {"gpt_neo", "attention_layers"}, {"gpt_oss", "experts_per_token"},
    {"gpt_oss", "initial_context_length"}, {"gptj", "rotary"},
    {"llama4_text", "for_llm_compressor"}, {"llama4_text", "output_router_logits"},
    {"llama4_text", "router_aux_loss_coef"},
    {"bailing_moe", "moe_shared_*"}, {"bailing_moe", "mtp_*"}, {"bailing_moe", "router_dtype"},
    {"bailing_moe_v2", "moe_shared_*"}, {"bailing_moe_v2", "mtp_*"}, {"bailing_moe_v2", "router_dtype"},
    {"bailing_moe", "norm_softmax"}, {"bailing_moe", "sliding_window"}, {"bailing_moe", "max_window_layers"},
    {"bailing_moe_v2", "sliding_window"}, {"bailing_moe_v2", "max_window_layers"},
    {"m2m_100", "num_hidden_layers"}, {"marian", "num_hidden_layers"}, {"mbart", "num_hidden_layers"},
    {"mbart", "save_step"}, {"minicpm", "mup_denominator"}, {"mobilebert", "layer_norm_eps"},
    {"mobilebert", "true_hidden_size"}, {"modernbert", "deterministic_flash_attn"}, {"modernbert", "layer_norm_eps"},
    {"modernbert", "reference_compile"}, {"modernbert", "repad_logits_with_grad"},
    {"modernbert", "sparse_pred_ignore_index"}, {"modernbert-decoder", "layer_norm_eps"},
    {"modernbert-decoder", "deterministic_flash_attn"}, {"modernbert-decoder", "reference_compile"},
    {"modernbert-decoder", "classifier_pooling"}, {"modernbert-decoder", "repad_logits_with_grad"},
    {"modernbert-decoder", "sparse_p*"}, {"modernbert-decoder", "causal_mask"}, {"mt5", "dense_act_fn"},
    {"mt5", "is_gated_act"},
    {"mt5", "n_positions"}, {"orion", "max_sequence_length"}, {"pegasus", "num_hidden_layers"},
    {"phi3", "original_max_position_embeddings"},
    {"plbart", "num_hidden_layers"}, {"qwen", "bf16"}, {"qwen", "fp16"}, {"qwen", "fp32"},
    {"qwen", "use_dynamic_ntk"}, {"qwen", "use_flash_attn"}, {"qwen", "use_logn_attn"},
    {"qwen2", "max_window_layers"}, {"qwen2_moe", "max_window_layers"},
    {"qwen3", "max_window_layers"}, {"qwen3_moe", "max_window_layers"}, {"smollm3", "max_window_layers"},
    {"stablelm", "norm_eps"}, {"stablelm", "rms_norm_eps"}, {"stablelm", "rope_pct"},
    {"starcoder2", "activation_function"}, {"starcoder2", "layer_norm_epsilon"}, {"starcoder2", "mlp_type"},
    {"starcoder2", "norm_type"}, {"t5", "dense_act_fn"}, {"t5", "is_gated_act"}, {"t5", "n_positions"},
    {"umt5", "dense_act_fn"}, {"umt5", "is_gated_act"}, {"umt5", "n_positions"}, {"umt5", "output_past"},
    {"umt5", "scalable_attention"}, {"vit", "pooler_act"}, {"whisper", "classifier_proj_size"},
    {"whisper", "mask_feature_length"}, {"whisper", "mask_feature_min_masks"}, {"whisper", "mask_feature_prob"},
    {"whisper", "mask_time_length"}, {"whisper", "mask_time_min_masks"}, {"whisper", "mask_time_prob"},
    {"whisper", "median_filter_width"}, {"whisper", "num_hidden_layers"}, {"whisper", "scale_embedding"},
    {"xlm", "n_langs"}, {"xlm", "same_enc_dec"}, {"xverse", "max_tokenizer_truncation"},
    {"xlm", "share_inout_emb"}, {"xlm", "use_lang_emb"}, {"xlm", "vocab_size"},
});
// clang-format on

/// Keys that change nothing with one value, of a family or of all; with any other value, off too, they do.
struct InertValue {
  std::string_view type, key, value;  // value: as JSON
};
constexpr auto kInertValues = std::to_array<InertValue>({
    {"cohere2", "position_embedding_type", "\"rope_gptj\""},
    {"", "position_embedding_type", "\"absolute\""},
    {"deepseek", "aux_loss_alpha", "0.0"},  // its publisher's code trains the router by it
    {"hunyuan_v1_dense", "norm_type", "\"rms\""},
    {"hunyuan_v1_dense", "use_rotary_pos_emb", "true"},
    {"llama", "is_llama_config", "true"},
    {"phi3", "full_attn_mod", "1"},
    {"phi3", "interpolate_factor", "1"},
    {"", "scale_attn_weights", "true"},
    {"", "share_encoder_decoder_embeddings", "true"},
    {"mpt", "embedding_fraction", "1.0"},
    {"mpt", "learned_pos_emb", "true"},
    {"mpt", "norm_type", "\"low_precision_layernorm\""},
    {"qwen2", "qkv_bias", "true"},
});

/// Families that are built in as their publishers' code has them, which "auto_map" names.
constexpr auto kPublishers = std::to_array<std::string_view>(
    {"new",       "gte",       "nomic_bert", "eurobert", "deepseek", "kimi_k2",     "internlm",
     "internlm2", "internlm3", "baichuan",   "exaone",   "chatglm",  "qwen",        "minicpm",
     "minicpm3",  "orion",     "aquila",     "xverse",   "Yi",       "bailing_moe", "bailing_moe_v2"});

/// Nothing, none, not: so says a file of a part that its model has not.
bool is_off(const json& value) {
  return value.is_null() || value == json(false) || (value.is_number() && value == 0) || value == json("") ||
         ((value.is_array() || value.is_object()) && value.empty());
}

bool is_inert(const Keys& keys, std::string key, const json& value) {
  constexpr std::string_view kInside = "vision_config.";  // which has the keys of a file of its own
  if (key.starts_with(kInside)) key.erase(0, kInside.size());
  const std::string type =
      keys.has("model_type") && keys.at("model_type").is_string() ? keys.at("model_type") : json("");
  const auto names = [&](const auto& row) { return is_key(row.key, key) && (row.type.empty() || row.type == type); };
  if (const auto* row = std::ranges::find_if(kInertValues, names); row != kInertValues.end())
    return value.is_null() || row->value == value.dump();
  if (is_off(value) || key.starts_with('_') || std::ranges::find(kInert, key) != kInert.end()) return true;
  if (std::ranges::any_of(kInertOf, names)) return true;
  const bool no_window = keys.has("use_sliding_window") && keys.at("use_sliding_window") == json(false);
  if (no_window && (key == "sliding_window" || key == "max_window_layers")) return true;
  const auto sees_all = [](const json& layer) { return layer == json("full_attention"); };
  return key == "layer_types" && value.is_array() && std::ranges::all_of(value, sees_all);
}

std::vector<std::string> unread_of(const Keys& keys) {
  std::vector<std::string> out;
  for (const auto& [key, value] : keys.unread())
    if (!is_inert(keys, key, value)) out.push_back(fmt::format("\"{}\" ({})", key, value.dump()));
  return out;
}

/// The heads that an answer may be about, as transformers names classes that have them. A file without one, or of
/// another task that the same layers are trained for, is the beginning of a training.
struct HeadsOfKind {
  std::string_view words;
  std::vector<std::string_view> names;
};
const HeadsOfKind& heads_of(const Model& model) {
  static const HeadsOfKind kPairs{"the encoder-decoder that writes a text", {"", "ForConditionalGeneration"}};
  static const HeadsOfKind kTexts{"the decoder that writes a text", {"", "ForCausalLM", "ForConditionalGeneration"}};
  static const HeadsOfKind kClasses{"the decoder that classifies texts", {"ForSequenceClassification"}};
  static const HeadsOfKind kPictures{
      "the classifier of pictures",
      {"", "ForImageClassification", "ForImageClassificationWithTeacher", "ForMaskedImageModeling", "ForPreTraining"}};
  static const HeadsOfKind kEncoders{
      "a classifier of texts or tokens, or a model of hidden tokens",
      {"", "ForSequenceClassification", "ForTokenClassification", "ForMaskedLM", "ForPreTraining"}};
  if (model.pairs()) return kPairs;
  if (model.image()) return kPictures;
  if (!model.decoder()) return kEncoders;
  return model.decoder()->head.classes > 0 ? kClasses : kTexts;
}

/// The head in a class's name: "ForMaskedLM" of "RoFormerForMaskedLM", "" of "RoFormerModel" and of "GPT2LMHeadModel".
std::string_view head_in(std::string_view name) {
  for (const std::string_view other : {"EncoderModel", "DoubleHeadsModel", "RewardModel"})
    if (name.ends_with(other)) return other;
  const std::size_t head = name.rfind("For");
  constexpr std::size_t kWord = 3;
  const bool begins_word = head != std::string_view::npos && head + kWord < name.size() &&
                           std::isupper(static_cast<unsigned char>(name[head + kWord])) != 0;
  return begins_word ? name.substr(head) : std::string_view{};
}

std::string model_type_of(const Keys& keys) {
  return keys.has("model_type") && keys.at("model_type").is_string() ? keys.at("model_type") : "";
}

/// The classes of models that a file says are code of its publisher; none for families that are built in as that.
std::vector<std::string> publishers_classes(const Keys& keys) {
  std::vector<std::string> names;
  const json map = keys.has("auto_map") ? keys.at("auto_map") : json();
  if (!map.is_object() || std::ranges::find(kPublishers, model_type_of(keys)) != kPublishers.end()) return names;
  for (const auto& [kind, code] : map.items())
    if (kind.starts_with("AutoModel") && code.is_string()) names.push_back(code.get<std::string>());
  return names;
}

[[noreturn]] void fail_of_code(const Keys& keys, const std::string& what) {
  keys.fail(what, fmt::format("run that code by 'trnsim torch SCRIPT.py'; if it computes the same as transformers' {}, "
                              "leave out \"auto_map\"",
                              model_type_of(keys)));
}

}  // namespace

void refuse_other_class(const Keys& keys, std::string_view architecture) {
  const std::string ours = base::lower(architecture.substr(0, architecture.rfind("For")));
  for (const std::string& name : publishers_classes(keys))
    if (!base::lower(name.substr(name.rfind('.') + 1)).starts_with(ours))
      fail_of_code(keys, fmt::format("\"auto_map\" names code of its publisher, {}, which is not transformers' {}",
                                     name, model_type_of(keys)));
}

void refuse_other_code(const Keys& keys) {
  const std::vector<std::string> unread = unread_of(keys);
  if (unread.empty() || publishers_classes(keys).empty()) return;
  fail_of_code(keys,
               fmt::format("\"auto_map\" names code of its publisher, for which it has {}: no keys of transformers' {}",
                           fmt::join(unread, ", "), model_type_of(keys)));
}

void warn_of_unread(const Keys& keys) {
  const std::vector<std::string> unread = unread_of(keys);
  if (unread.empty()) return;
  base::warn_once(
      fmt::format("{}: trnsim ignores {}; if that changes what the model computes, run its PyTorch code by 'trnsim "
                  "torch SCRIPT.py'",
                  keys.where(), fmt::join(unread, ", ")));
}

void warn_of_other_head(const Keys& keys, const Model& model) {
  if (!keys.has("architectures") || !keys.at("architectures").is_array() || keys.at("architectures").empty()) return;
  const json& first = keys.at("architectures").front();
  const std::string made = first.is_string() ? first.get<std::string>() : "";
  const HeadsOfKind& known = heads_of(model);
  if (std::ranges::find(known.names, head_in(made)) != known.names.end()) return;
  base::warn_once(
      fmt::format("{}: trnsim answers for {}, not for {}; for that one, run its PyTorch code by 'trnsim torch "
                  "SCRIPT.py'",
                  keys.where(), known.words, made));
}

}  // namespace workloads
