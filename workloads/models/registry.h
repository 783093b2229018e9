// What a family tells of itself to be found: by config.json, by a preset's name, by the words of published tables.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/models/config.h"

namespace workloads {

class Keys;

/// A published model by name, and where its sizes are published.
struct Preset {
  std::string_view name, source;
  ModelPtr model;
};

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
