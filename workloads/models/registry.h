// What a family tells of itself to be found: by config.json, by a preset's name.
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

}  // namespace workloads
