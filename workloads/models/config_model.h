// What models with a configuration of their own share.
#pragma once

#include <fmt/format.h>

#include <array>
#include <string>
#include <utility>

#include "base/error.h"
#include "workloads/models/config/keys.h"
#include "workloads/models/model.h"

namespace workloads {

template <class Config>
class ConfigModel : public Model {
 public:
  explicit ConfigModel(Config config) : config_{std::move(config)} {}

  const Config& config() const { return config_; }
  std::string config_json() const override { return to_json(config_).dump(2) + "\n"; }
  void require_valid(std::string_view where) const override { check(config_, where); }
  double initializer_range() const override { return config_.initializer_range; }

 protected:
  template <class Change>
  ModelPtr changed(const Change& change) const {
    Config config = config_;
    change(config);
    return make_model(std::move(config));
  }
  /// Gives `to` a size that is told.
  static void set(std::int64_t& to, std::int64_t size) {
    if (size > 0) to = size;
  }
  /// The sizes that every configuration has.
  static void set_common(Config& c, const Sizes& s) {
    set(c.num_hidden_layers, s.layers), set(c.hidden_size, s.hidden), set(c.num_attention_heads, s.heads);
    set(c.intermediate_size, s.ffn);
  }

  const Config config_;
};

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

/// The task-independent part of a model may be saved without its prefix (BertModel, LlamaModel, GPT2Model): put in
/// front of names that begin with one of `tops`.
template <std::size_t Size>
std::string with_prefix(std::string name, std::string_view prefix, const std::array<std::string_view, Size>& tops) {
  for (const std::string_view top : tops)
    if (name.starts_with(top)) return std::string{prefix} + name;
  return name;
}

}  // namespace workloads
