// JSON files, with errors that say where.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

namespace workloads {

/// Errors: Fault::kData naming `where`, line and column when the text is not JSON, or nested too deep.
nlohmann::json parse_json(const std::string& text, const std::string& where);
/// Errors: Fault::kData naming file, line and column when the text is not JSON; as base::read_file when it is missing.
nlohmann::json read_json_file(const std::filesystem::path& path);

}  // namespace workloads
