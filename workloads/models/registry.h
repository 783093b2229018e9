// How a family is found: by the model_type of config.json, by the words of published tables.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/models/config.h"

namespace workloads {

class Keys;  // workloads/models/config/keys.h

/// As read_config() of a file. Errors: the same.
ModelPtr read_config(const Keys& keys);
/// Every "model_type", in the order of the families.
std::vector<std::string_view> model_types();

/// A word of a model's name, in small letters, that tells its family. The longest one that the name contains decides.
struct FamilyWord {
  std::string_view word;
  std::string_view differs{};                      // what the model has otherwise than the family's graph
  ModelPtr (*changed)(const ModelPtr&) = nullptr;  // what it has otherwise that the family's configuration can say
  bool other = false;                              // looks like the family, and cannot be computed as one
};

/// The number in the first pattern that the text, in small letters, matches: its first group.
std::optional<std::int64_t> number_in(const std::string& text, std::initializer_list<const char*> patterns);

}  // namespace workloads
