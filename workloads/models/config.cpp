#include "workloads/config.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/files.h"
#include "workloads/models/config_keys.h"

namespace workloads {
namespace {

namespace fs = std::filesystem;

fs::path config_file(const fs::path& path) { return fs::is_directory(path) ? path / "config.json" : path; }

/// Old files name no model_type, but their architectures begin with it.
std::string model_type(const Keys& keys) {
  if (keys.has("model_type") && keys.at("model_type").is_string()) return keys.at("model_type");
  const std::string made = keys.has("architectures") ? keys.at("architectures").dump() : "";
  if (made.starts_with("[\"Bert")) return "bert";
  if (made.starts_with("[\"Llama")) return "llama";
  if (made.starts_with("[\"GPT2")) return "gpt2";
  keys.fail("has no \"model_type\"", "add \"model_type\": \"bert\", \"llama\" or \"gpt2\"");
}

template <typename Config>
Config read_one(const fs::path& path, std::string_view wanted) {
  const ModelConfig config = read_config(path);
  if (const auto* one = std::get_if<Config>(&config)) return *one;
  throw base::Error{base::Fault::kData, config_file(path).string(), fmt::format("is a {} model", family_of(config)),
                    fmt::format("use a model of type {} here", wanted)};
}

}  // namespace

std::string_view family_of(const ModelConfig& config) {
  constexpr std::array<std::string_view, std::variant_size_v<ModelConfig>> kNames = {"BERT", "Llama", "GPT"};
  return kNames.at(config.index());
}

std::int64_t vocabulary_of(const ModelConfig& config) {
  return std::visit([](const auto& c) { return c.vocab_size; }, config);
}

ModelConfig read_config(const fs::path& file_or_folder) {
  const Keys keys{config_file(file_or_folder)};
  const std::string type = model_type(keys);
  if (type == "bert") return read_bert(keys);
  if (type == "llama") return read_llama(keys);
  if (type == "gpt2") return read_gpt(keys);
  keys.fail(fmt::format("\"model_type\" is \"{}\"", type), "use a model of type bert, llama or gpt2");
}

BertConfig read_bert_config(const fs::path& path) { return read_one<BertConfig>(path, "bert"); }
LlamaConfig read_llama_config(const fs::path& path) { return read_one<LlamaConfig>(path, "llama"); }
GptConfig read_gpt_config(const fs::path& path) { return read_one<GptConfig>(path, "gpt2"); }

void check(const ModelConfig& config, std::string_view where) {
  std::visit([where](const auto& one) { check(one, where); }, config);
}

std::string config_json(const ModelConfig& config) {
  return std::visit([](const auto& one) { return to_json(one); }, config).dump(2) + "\n";
}

void write_config(const ModelConfig& config, const fs::path& folder) {
  base::write_file(folder / "config.json", config_json(config));
}

}  // namespace workloads
