#include "frontend/hlo/file.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "frontend/hlo/proto.h"
#include "frontend/hlo/text.h"

namespace trnsim::frontend::hlo {

namespace fs = std::filesystem;
using base::Error;
using base::Fault;

bool is_zipped(std::string_view bytes) { return bytes.starts_with("\x1f\x8b"); }

bool is_proto(std::string_view bytes) {
  const std::string_view begin = bytes.substr(0, 64);
  // The name, field 1, comes first; a text would begin with an empty line, and with a printable sign behind it.
  if (begin.size() > 1 && begin[0] == '\n' &&
      static_cast<std::size_t>(static_cast<unsigned char>(begin[1])) + 2 <= bytes.size()) {
    const std::string_view rest = bytes.substr(2 + static_cast<unsigned char>(begin[1]));
    if (rest.empty() || rest[0] == '\x12' || rest[0] == '\x1a') return true;
  }
  return std::ranges::any_of(
      begin, [](char c) { return static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t' && c != '\r'; });
}

std::string unzipped(std::string_view bytes, std::string_view file) {
  constexpr std::size_t kMost = std::size_t{4} << 30;
  z_stream stream{};
  if (inflateInit2(&stream, 15 + 16) != Z_OK)  // 16: with gzip's head
    throw Error{Fault::kEnvironment, file, "zlib does not start", "free some memory"};
  const std::unique_ptr<z_stream, int (*)(z_stream*)> end{&stream, inflateEnd};
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  std::string out;
  std::array<char, 1 << 16> part{};
  int state = Z_OK;
  while (state != Z_STREAM_END) {
    stream.next_out = reinterpret_cast<Bytef*>(part.data());
    stream.avail_out = part.size();
    state = inflate(&stream, Z_NO_FLUSH);
    out.append(part.data(), part.size() - stream.avail_out);
    const bool stuck = state == Z_BUF_ERROR || (state == Z_OK && stream.avail_in == 0 && stream.avail_out > 0);
    if ((state != Z_OK && state != Z_STREAM_END) || stuck || out.size() > kMost)
      throw Error{Fault::kData, file, "is not a complete gzip file of at most 4 GiB", "write it again with gzip"};
  }
  return out;
}

Module read_bytes(std::string_view bytes, std::string_view file) {
  if (is_zipped(bytes)) return read_bytes(unzipped(bytes, file), file);
  return is_proto(bytes) ? read_proto(bytes, file) : read_text(bytes, file);
}

Module read_file(const fs::path& path) { return read_bytes(base::read_file(path), path.string()); }

namespace {

std::vector<std::string> flags_in(const fs::path& folder) {
  const fs::path path = folder / "compile_flags.json";
  if (!fs::exists(path)) return {};
  const std::string text = base::read_file(path);
  base::require_shallow_json(text, path.string());
  const auto json = nlohmann::json::parse(text, nullptr, false);
  std::vector<std::string> flags;
  if (json.is_array())
    for (const auto& flag : json)
      if (flag.is_string()) flags.push_back(flag.get<std::string>());
  if (!json.is_array() || flags.size() != json.size())
    throw Error{Fault::kData, path.string(), "is not a JSON list of flags", "write the flags as a list of texts"};
  return flags;
}

}  // namespace

std::vector<CachedModule> modules_of(const fs::path& folder, const std::string& fix) {
  constexpr std::array<std::string_view, 4> kFiles{"model.hlo_module.pb", "model.hlo_module.pb.gz", "model.hlo.pb",
                                                   "model.hlo.pb.gz"};
  std::vector<CachedModule> out;
  const auto add = [&](const fs::path& place) {
    const auto file = std::ranges::find_if(kFiles, [&](std::string_view name) { return fs::exists(place / name); });
    if (file == kFiles.end()) return;
    out.push_back({.file = place / *file,
                   .name = place.filename().string(),
                   .flags = flags_in(place),
                   .compiled = fs::exists(place / "model.neff")});
  };
  std::error_code unreadable;
  add(folder);
  for (auto entry = fs::recursive_directory_iterator{folder, fs::directory_options::skip_permission_denied, unreadable};
       !unreadable && entry != fs::recursive_directory_iterator{}; entry.increment(unreadable))
    if (entry->is_directory()) add(entry->path());
  if (out.empty()) throw Error{Fault::kData, folder.string(), "has no module of the Neuron compile cache", fix};
  std::ranges::sort(out, {}, [](const CachedModule& one) { return one.file; });
  return out;
}

}  // namespace trnsim::frontend::hlo
