#include "workloads/checkpoints/model_files.h"

#include <fmt/format.h>

#include <vector>

#include "base/error.h"
#include "workloads/checkpoints/adapter.h"
#include "workloads/checkpoints/llama2c.h"
#include "workloads/checkpoints/shards.h"
#include "workloads/models/config/keys.h"

namespace workloads {
namespace {

namespace fs = std::filesystem;

/// The model files of llama2.c in a folder; its vocabularies are called tok*.bin.
std::vector<fs::path> llama2c_files(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator{folder})
    if (entry.path().extension() == ".bin" && !entry.path().filename().string().starts_with("tok"))
      files.push_back(entry.path());
  return files;
}

LoadedModel from_llama2c(const fs::path& file) {
  auto [config, weights] = read_llama2c(file);
  return {make_model(std::move(config)), std::move(weights)};
}

fs::path only_llama2c_file(const fs::path& path) {
  const auto files = fs::is_directory(path) ? llama2c_files(path) : std::vector<fs::path>{};
  if (files.size() == 1) return files[0];
  throw base::Error{
      base::Fault::kData, path.string(),
      files.empty() ? std::string{"holds no model"} : fmt::format("holds {} .bin files", files.size()),
      "give a folder with config.json and model.safetensors, a sharded checkpoint, or a llama2.c .bin file"};
}

/// A base model with the adapter of a folder.
ModelPtr with_adapter_of(const fs::path& folder, const ModelPtr& base) {
  if (base->lora())
    throw base::Error{base::Fault::kData, folder.string(), "is an adapter of a base that already has an adapter",
                      "merge that adapter first: consolidate with `merge`"};
  return base->with_lora(read_adapter_config(folder));
}

LoadedModel without_adapter(const fs::path& path, std::uint64_t seed, std::optional<Head> head) {
  if (!fs::is_directory(path) && path.extension() == ".bin") return from_llama2c(path);
  if (fs::exists(path / "shards.json")) return {read_shard_config(path), read_shards(path)};
  if (fs::exists(path / "config.json")) {
    ModelPtr config = read_config(path);
    if (head) config = config->with_head(*head);
    Weights weights = load_weights(path, config, seed);
    return {std::move(config), std::move(weights)};
  }
  return from_llama2c(only_llama2c_file(path));
}

ModelPtr config_without_adapter(const fs::path& path) {
  if (!fs::is_directory(path) && path.extension() == ".bin") return from_llama2c(path).config;
  if (fs::exists(path / "shards.json")) return read_shard_config(path);
  if (fs::exists(path / "config.json")) return read_config(path);
  return from_llama2c(only_llama2c_file(path)).config;
}

}  // namespace

LoadedModel load_model(const fs::path& path, std::uint64_t seed, std::optional<Head> head) {
  if (!is_adapter_folder(path)) return without_adapter(path, seed, head);
  LoadedModel model = without_adapter(base_of_adapter(path), seed, head);
  model.config = with_adapter_of(path, model.config);
  load_adapter(path, model.config, model.weights);
  return model;
}

std::optional<Head> saved_head(const fs::path& folder) {
  if (!fs::exists(folder / "config.json") || fs::exists(folder / "shards.json")) return std::nullopt;
  const Keys keys{folder / "config.json"};
  const std::string made = keys.has("architectures") ? keys.at("architectures").dump() : "";
  const bool masked = made.ends_with("ForMaskedLM\"]") || made.ends_with("WithLMHeadModel\"]");  // XLM's name of it
  return masked ? std::optional{Head::kMaskedTokens} : std::nullopt;
}

ModelPtr load_model_config(const fs::path& path) {
  if (!is_adapter_folder(path)) return config_without_adapter(path);
  return with_adapter_of(path, config_without_adapter(base_of_adapter(path)));
}

}  // namespace workloads
