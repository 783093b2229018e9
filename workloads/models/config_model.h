// The common base of models with a configuration of their own.
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>

#include "base/error.h"
#include "workloads/models/config/keys.h"
#include "workloads/models/model.h"

namespace workloads {

/// A model whose family applies changes to its configuration by `apply(change, config)`.
template <class Config>
class ConfigModel : public Model {
 public:
  ConfigModel(Config config, ModelInfo info) : Model{adapted(std::move(info), config)}, config_{std::move(config)} {}

  const Config& config() const { return config_; }
  /// With adapters under "lora": only our own checkpoints have some in this file.
  std::string config_json() const override {
    nlohmann::json json = to_json(config_);
    if (lora()) json["lora"] = to_json(*lora());
    return json.dump(2) + "\n";
  }
  void require_valid(std::string_view where) const override { check(config_, where); }
  ModelPtr with(const ModelChange& change) const override {
    require_possible(change);
    Config config = config_;
    apply(change, config);
    if (change.lora) config.lora = adapters_of(config, *change.lora);
    return make_model(std::move(config));
  }

 protected:
  const Config config_;

 private:
  static ModelInfo adapted(ModelInfo info, const Config& config) {
    info.lora = config.lora;
    if (info.decoder) info.decoder->lora = config.lora;
    return info;
  }
  static std::optional<Lora> adapters_of(Config config, const std::optional<Lora>& wanted) {
    config.lora.reset();
    return wanted ? std::optional{resolved(*wanted, *make_model(std::move(config)))} : std::nullopt;
  }
};

/// Sets `to` to a size that is given.
inline void set_size(std::int64_t& to, std::int64_t size) {
  if (size > 0) to = size;
}
/// The sizes that most configurations have.
template <class Config>
void set_common(Config& c, const Sizes& s) {
  set_size(c.num_hidden_layers, s.layers), set_size(c.hidden_size, s.hidden);
  set_size(c.num_attention_heads, s.heads), set_size(c.intermediate_size, s.ffn);
}

/// The configuration of a model that has one of this type, or null.
template <class Config>
const Config* config_if(const ModelPtr& model) {
  const auto* one = dynamic_cast<const ConfigModel<Config>*>(model.get());
  return one ? &one->config() : nullptr;
}

/// For callers that can take only one family. Errors: Fault::kData when the file is of another.
template <class Config>
Config read_one(const std::filesystem::path& path, std::string_view wanted) {
  const ModelPtr model = read_config(path);
  if (const Config* config = config_if<Config>(model)) return *config;
  const std::filesystem::path file = std::filesystem::is_directory(path) ? path / "config.json" : path;
  throw base::Error{base::Fault::kData, file.string(), fmt::format("is a {} model", model->family()),
                    fmt::format("use a model of type {} here", wanted)};
}

}  // namespace workloads
