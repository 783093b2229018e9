// Keys of a config.json read with their types checked, and rules for the values.
#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "workloads/models/config.h"

namespace workloads {

/// The keys of one config.json.
class Keys {
 public:
  explicit Keys(const std::filesystem::path& file);
  /// Keys of an object that is already read; `where` names it in errors.
  Keys(nlohmann::json object, std::string where) : where_{std::move(where)}, json_(std::move(object)) {}
  /// An object inside a file, such as "rope_scaling". Keeps a reference to `outer`.
  Keys(const Keys& outer, const char* key);

  bool has(const char* key) const {
    note(key);
    return json_.contains(key) && !json_.at(key).is_null();
  }
  bool is_null(const char* key) const { return json_.contains(key) && json_.at(key).is_null(); }
  const nlohmann::json& at(const char* key) const { return json_.at(key); }

  void require(const char* key) const;
  template <typename T>
  void required(const char* key, T& value) const {
    require(key);
    optional(key, value);
  }
  void optional(const char* key, std::int64_t& value) const;
  void optional(const char* key, double& value) const;
  void optional(const char* key, bool& value) const;
  /// One whole number or a list of them.
  void optional(const char* key, std::vector<std::int64_t>& values) const;
  void optional(const char* key, Activation& value, std::span<const Activation> legal) const;
  /// A key that, if it is there, must have this value: any other would need another model than ours.
  void only(const char* key, const nlohmann::json& value) const;
  /// Whether a key is a list of `count` entries, of which number i is entry(i).
  bool lists(const char* key, std::int64_t count, const std::function<nlohmann::json(std::int64_t)>& entry) const;
  /// A classifier's labels: from id2label if it is there (its keys are "0", "1", ...), else from num_labels, else
  /// Hugging Face's two.
  std::vector<std::string> label_names() const;
  [[noreturn]] void fail(std::string_view what, std::string_view fix) const;
  /// A key of the file that was not read; one of an object inside that was read is "rope_scaling.factor".
  struct Unread {
    std::string key;
    nlohmann::json value;
  };
  std::vector<Unread> unread() const;
  const std::string& where() const { return where_; }

 private:
  [[noreturn]] void wrong_type(const char* key, std::string_view wanted) const;
  void note(const std::string& key) const;

  std::string where_;
  nlohmann::json json_;
  const Keys* outer_ = nullptr;
  std::string inside_{};  // the object's key there, and a dot
  mutable std::set<std::string, std::less<>> asked_;
};

/// Throws for the first broken rule of a configuration.
class Rules {
 public:
  explicit Rules(std::string_view where, std::string prefix = {}) : where_{where}, prefix_{std::move(prefix)} {}
  /// For the keys of an object in the file, such as "rope_scaling".
  Rules inside(std::string_view object) const { return Rules{where_, std::string{object} + "."}; }
  void positive(const char* key, std::int64_t value, std::int64_t most = 1 << 24) const;
  void positive(const char* key, double value) const;
  void probability(const char* key, double value) const;
  void divides(const char* key, std::int64_t value, const char* into_key, std::int64_t into) const;
  void token(const char* key, std::int64_t id, std::int64_t vocab_size) const;
  [[noreturn]] void fail(const char* key, const std::string& what) const;

 private:
  std::string where_, prefix_;
};

/// id2label of a config.json, and label2id.
nlohmann::json labels_by_id(const std::vector<std::string>& names);
nlohmann::json ids_by_label(const std::vector<std::string>& names);

}  // namespace workloads
