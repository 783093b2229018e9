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

/// A key, and the word that the files of a family have for it.
struct KeyName {
  const char *key, *in_file;
};
inline const char* in_file(std::span<const KeyName> names, const char* key) {
  for (const KeyName& name : names)
    if (std::string_view{name.key} == key) return name.in_file;
  return key;
}

/// The keys of one config.json.
class Keys {
 public:
  explicit Keys(const std::filesystem::path& file);
  /// Keys of an object that is already read; `where` names it in errors.
  Keys(nlohmann::json object, std::string where) : where_{std::move(where)}, json_(std::move(object)) {}
  /// An object inside a file, such as "rope_scaling". Keeps a reference to `outer`.
  Keys(const Keys& outer, const char* key);
  /// The same keys under the words of a family; a file may have them under their own names too, as its class takes
  /// both.
  Keys(const Keys& outer, std::span<const KeyName> names);

  bool has(const char* key) const {
    note(key), note(spelled(key));
    const char* there = found(key);
    return json_.contains(there) && !json_.at(there).is_null();
  }
  /// Whether it is there under this very name.
  bool holds(const char* key) const { return json_.contains(key); }
  bool is_null(const char* key) const { return json_.contains(found(key)) && json_.at(found(key)).is_null(); }
  const nlohmann::json& at(const char* key) const { return json_.at(found(key)); }

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
  const char* spelled(const char* key) const { return in_file(names_, key); }
  const char* found(const char* key) const { return json_.contains(spelled(key)) ? spelled(key) : key; }

  std::string where_;
  nlohmann::json json_;
  const Keys* outer_ = nullptr;
  std::string inside_{};  // the object's key there, and a dot
  std::span<const KeyName> names_{};
  mutable std::set<std::string, std::less<>> asked_;
};

/// Throws for the first broken rule of a configuration.
class Rules {
 public:
  explicit Rules(std::string_view where, std::string prefix = {}, std::span<const KeyName> names = {})
      : where_{where}, prefix_{std::move(prefix)}, names_{names} {}
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
  std::span<const KeyName> names_;
};

/// id2label of a config.json, and label2id.
nlohmann::json labels_by_id(const std::vector<std::string>& names);
nlohmann::json ids_by_label(const std::vector<std::string>& names);

}  // namespace workloads
