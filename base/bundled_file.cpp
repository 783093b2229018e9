#include "base/bundled_file.h"

#include <filesystem>
#include <map>
#include <mutex>

#include "base/files.h"

namespace base {

ParamFile bundled_file(const std::string& name) {
  static std::mutex mutex;
  static std::map<std::filesystem::path, ParamFile> read;
  const std::filesystem::path path = data_path(name);
  const std::scoped_lock lock{mutex};
  const auto known = read.find(path);
  return known != read.end() ? known->second : read.emplace(path, ParamFile::load(path)).first->second;
}

}  // namespace base
