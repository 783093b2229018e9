// What the readers of the families' config.json share: keys read with their types checked, and rules for the values.
#pragma once

#include <array>
#include <filesystem>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "workloads/models/config.h"

namespace workloads {

/// The keys of one config.json.
class Keys {
 public:
  explicit Keys(const std::filesystem::path& file);
  /// An object inside a file, such as "rope_scaling".
  Keys(const Keys& outer, const char* key);

  bool has(const char* key) const { return json_.contains(key) && !json_.at(key).is_null(); }
  const nlohmann::json& at(const char* key) const { return json_.at(key); }

  template <typename T>
  void required(const char* key, T& value) const {
    if (!has(key)) missing(key);
    optional(key, value);
  }
  void optional(const char* key, std::int64_t& value) const;
  void optional(const char* key, double& value) const;
  void optional(const char* key, bool& value) const;
  /// One whole number or a list of them.
  void optional(const char* key, std::vector<std::int64_t>& values) const;
  void optional(const char* key, Activation& value, std::initializer_list<Activation> legal) const;
  /// A key that, if it is there, must have this value: any other would need another model than ours.
  void only(const char* key, const nlohmann::json& value) const;
  /// A classifier's labels: from id2label if it is there (its keys are "0", "1", ...), else from num_labels, else
  /// Hugging Face's two.
  std::vector<std::string> label_names() const;
  [[noreturn]] void fail(std::string_view what, std::string_view fix) const;
  const std::string& where() const { return where_; }

 private:
  [[noreturn]] void missing(const char* key) const;
  [[noreturn]] void wrong_type(const char* key, std::string_view wanted) const;

  std::string where_;
  nlohmann::json json_;
};

/// Throws for the first broken rule of a configuration.
class Rules {
 public:
  explicit Rules(std::string_view where) : where_{where} {}
  void positive(const char* key, std::int64_t value, std::int64_t most = 1 << 24) const;
  void positive(const char* key, double value) const;
  void probability(const char* key, double value) const;
  void divides(const char* key, std::int64_t value, const char* into_key, std::int64_t into) const;
  void token(const char* key, std::int64_t id, std::int64_t vocab_size) const;
  [[noreturn]] void fail(const char* key, const std::string& what) const;

 private:
  std::string where_;
};

/// id2label and label2id of a config.json.
void put_labels(nlohmann::json& file, const std::vector<std::string>& names);

}  // namespace workloads
