// TOML text to and from flat parameters: the one place that knows the TOML library.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "base/param_file.h"

namespace base {

using Parameters = std::map<std::string, Parameter, std::less<>>;

struct ParsedToml {
  std::string inherits;  // the root key, empty when absent
  std::string inherits_where;
  Parameters parameters;
};

/// Errors: Fault::kUsage with "name:line".
ParsedToml parse_param_toml(std::string_view toml, std::string_view name);

/// Tables as objects, for files whose keys are those of a JSON file. Errors: as parse_param_toml().
nlohmann::json parse_toml(std::string_view toml, std::string_view name);

std::string write_param_toml(const Parameters& parameters);

}  // namespace base
