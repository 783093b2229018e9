#include "base/bundled_file.h"

#include <filesystem>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/param_toml.h"

namespace base {

ParamFile bundled_file(const std::string& name) {
  static std::mutex mutex;
  static std::map<std::filesystem::path, ParamFile> read;
  const std::filesystem::path path = data_path(name);
  const std::scoped_lock lock{mutex};
  const auto known = read.find(path);
  return known != read.end() ? known->second : read.emplace(path, ParamFile::load(path)).first->second;
}

std::shared_ptr<const nlohmann::json> parsed_once(const std::filesystem::path& path, const std::string& text) {
  struct Parsed {
    std::string text;
    std::shared_ptr<const nlohmann::json> tables;
  };
  static std::mutex mutex;
  static std::map<std::filesystem::path, Parsed> known;
  const std::scoped_lock lock{mutex};
  Parsed& last = known[path];
  if (!last.tables || last.text != text)
    last = {text, std::make_shared<const nlohmann::json>(parse_toml(text, path.string()))};
  return last.tables;
}

}  // namespace base
