#include "workloads/checkpoints/json_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"

namespace workloads {
namespace {

/// `byte` counts from 1, as nlohmann::json::parse_error does.
std::string line_and_column(const std::string& text, std::size_t byte) {
  const std::size_t at = std::min(byte == 0 ? 0 : byte - 1, text.size());
  const auto line = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n') + 1;
  const std::size_t newline = at == 0 ? std::string::npos : text.rfind('\n', at - 1);
  return fmt::format("{}:{}", line, newline == std::string::npos ? at + 1 : at - newline);
}

}  // namespace

nlohmann::json parse_json(const std::string& text, const std::string& where) {
  base::require_shallow_json(text, where);
  try {
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::parse_error& error) {
    throw base::Error{base::Fault::kData, fmt::format("{}:{}", where, line_and_column(text, error.byte)),
                      "is not valid JSON", "correct the file there; python3 -m json.tool FILE shows what is wrong"};
  } catch (const nlohmann::json::exception& error) {  // "[json.exception.out_of_range.406] number overflow parsing ..."
    const std::string_view text{error.what()};
    throw base::Error{base::Fault::kData, where, text.substr(text.find("] ") + 2), "correct the file there"};
  }
}

nlohmann::json read_json_file(const std::filesystem::path& path) {
  return parse_json(base::read_file(path), path.string());
}

}  // namespace workloads
