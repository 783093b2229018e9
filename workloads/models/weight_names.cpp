#include "workloads/models/weight_names.h"

#include <algorithm>
#include <initializer_list>

namespace workloads {
namespace {

bool starts_with_any(std::string_view name, std::initializer_list<std::string_view> starts) {
  return std::ranges::any_of(starts, [name](std::string_view start) { return name.starts_with(start); });
}

bool classifies(const ModelConfig& config) {
  const auto* bert = std::get_if<BertConfig>(&config);
  return bert && bert->head == BertHead::kClassifier;
}

/// The task-independent part of a model may be saved without its prefix (BertModel, LlamaModel, GPT2Model).
struct NamePrefix {
  std::string_view prefix;
  std::initializer_list<std::string_view> tops;
};

std::string with_prefix(const std::string& name, const NamePrefix& prefix) {
  return starts_with_any(name, prefix.tops) ? std::string{prefix.prefix} + name : name;
}

}  // namespace

std::string canonical_name(const ModelConfig& config, std::string name) {
  if (std::holds_alternative<LlamaConfig>(config))
    return with_prefix(name, {"model.", {"embed_tokens.", "layers.", "norm."}});
  if (std::holds_alternative<GptConfig>(config))
    return with_prefix(name, {"transformer.", {"wte.", "wpe.", "h.", "ln_f."}});
  const auto replace_end = [&name](std::string_view from, std::string_view to) {
    if (name.ends_with(from)) name.replace(name.size() - from.size(), from.size(), to);
  };
  replace_end("LayerNorm.gamma", "LayerNorm.weight");
  replace_end("LayerNorm.beta", "LayerNorm.bias");
  return with_prefix(name, {"bert.", {"embeddings.", "encoder.", "pooler."}});
}

bool is_left_out(const ModelConfig& config, std::string_view name) {
  if (std::holds_alternative<LlamaConfig>(config)) return name.ends_with(".rotary_emb.inv_freq");
  if (std::holds_alternative<GptConfig>(config))  // the causal masks of older files
    return name.ends_with(".attn.bias") || name.ends_with(".attn.masked_bias");
  return name == "bert.embeddings.position_ids" || name.starts_with(classifies(config) ? "cls." : "classifier.");
}

bool may_be_missing(const ModelConfig& config, std::string_view name) {
  if (!std::holds_alternative<BertConfig>(config)) return false;
  return starts_with_any(name, {"bert.pooler.", classifies(config) ? "classifier." : "cls."});
}

std::optional<std::string> tied_to(const ModelConfig& config, std::string_view name) {
  if (const auto* llama = std::get_if<LlamaConfig>(&config)) {
    if (llama->tie_word_embeddings && name == "lm_head.weight") return "model.embed_tokens.weight";
  } else if (const auto* gpt = std::get_if<GptConfig>(&config)) {
    if (gpt->tie_word_embeddings && name == "lm_head.weight") return "transformer.wte.weight";
  } else if (!classifies(config)) {
    if (name == "cls.predictions.decoder.weight") return "bert.embeddings.word_embeddings.weight";
    if (name == "cls.predictions.decoder.bias") return "cls.predictions.bias";
  }
  return std::nullopt;
}

}  // namespace workloads
