// Parameter files of this installation.
#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "base/param_file.h"

namespace base {

/// The file of that name under data_path(). It is read once, however often it is asked for: a search over plans asks
/// for the same few hundreds of times. Errors: as ParamFile::load().
ParamFile bundled_file(const std::string& name);

/// parse_toml() of a file's `text`, which is parsed again only if it is not that of the last call for this path: every
/// point of a sweep asks for its model. Errors: as parse_toml().
std::shared_ptr<const nlohmann::json> parsed_once(const std::filesystem::path& path, const std::string& text);

}  // namespace base
