#include "workloads/checkpoints/safetensors.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "base/error.h"
#include "base/hash.h"
#include "base/text.h"

namespace workloads {
namespace {

using base::Error;
using base::Fault;
using nlohmann::json;

static_assert(std::endian::native == std::endian::little, "the format is little-endian, and so are our hosts");

constexpr std::size_t kPrefix = 8;                     // bytes of header length in front
constexpr std::uint64_t kLongestHeader = 100'000'000;  // the reference implementation's limit

constexpr std::string_view kDownloadAgain = "download or export the file again";

[[noreturn]] void refuse(const std::filesystem::path& path, std::string_view what) {
  throw Error{Fault::kData, path.string(), what, kDownloadAgain};
}

struct Mapping {
  const std::byte* data;
  std::size_t size;
};

Mapping map_file(const std::filesystem::path& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat status {};
  if (file < 0 || ::fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) {
    const std::string reason = file < 0 ? std::strerror(errno) : "not a regular file";
    if (file >= 0) ::close(file);
    throw Error{Fault::kData, path.string(), fmt::format("cannot be read: {}", reason),
                "check the path and its permissions"};
  }
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size < kPrefix) {
    ::close(file);
    refuse(path, fmt::format("is truncated: {} bytes, too short for the 8-byte header length", size));
  }
  void* data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
  ::close(file);
  if (data == MAP_FAILED)
    throw Error{Fault::kEnvironment, path.string(), "cannot be mapped into memory", "free some memory"};
  return {static_cast<const std::byte*>(data), size};
}

/// nlohmann::json would silently keep the last of two equal names, so the keys are watched. (Its parser with a callback
/// looks through the whole object at the end of each tensor.)
class NamesOnce : public nlohmann::detail::json_sax_dom_parser<json> {
 public:
  NamesOnce(json& out, const std::filesystem::path& path) : json_sax_dom_parser{out}, path_{path} {}
  bool start_object(std::size_t size) { return ++depth_, json_sax_dom_parser::start_object(size); }
  bool end_object() { return --depth_, json_sax_dom_parser::end_object(); }
  bool key(std::string& name) {
    if (depth_ == 1 && !names_.insert(name).second)
      refuse(path_, fmt::format("the header has two tensors named \"{}\"", name));
    return json_sax_dom_parser::key(name);
  }

 private:
  const std::filesystem::path& path_;
  std::unordered_set<std::string> names_;
  int depth_ = 0;
};

json parse_header(std::string_view text, const std::filesystem::path& path) {
  base::require_shallow_json(text, path.string());
  try {
    json header;
    NamesOnce names{header, path};
    json::sax_parse(text, &names);
    if (header.is_object()) return header;
  } catch (const json::parse_error& error) {
    refuse(path, fmt::format("the header is not JSON (byte {} of it)", error.byte));
  } catch (const json::exception& error) {  // a number that no double holds
    refuse(path, fmt::format("the header is not JSON: {}", error.what()));
  }
  refuse(path, "the header is not a JSON object");
}

std::size_t checked_bytes(const TensorInfo& tensor, const std::filesystem::path& path) {
  std::size_t bytes = size_of(tensor.type);
  for (const std::int64_t extent : tensor.shape)
    if (__builtin_mul_overflow(bytes, static_cast<std::size_t>(extent), &bytes))
      refuse(path, fmt::format("tensor \"{}\": shape {} overflows", tensor.name, to_string(tensor.shape)));
  return bytes;
}

TensorInfo parse_tensor(const std::string& name, const json& entry, std::size_t data_start, std::size_t file_size,
                        const std::filesystem::path& path) {
  const auto bad = [&](const std::string& what) { refuse(path, fmt::format("tensor \"{}\": {}", name, what)); };
  for (const char* key : {"dtype", "shape", "data_offsets"})
    if (!entry.is_object() || !entry.contains(key)) bad(fmt::format("the header gives no {}", key));
  const json &dtype = entry["dtype"], &shape = entry["shape"], &offsets = entry["data_offsets"];
  const auto type = dtype.is_string() ? element_type_from(dtype.get_ref<const std::string&>()) : std::nullopt;
  if (!type) bad(fmt::format("unknown dtype {}; known: {}", dtype.dump(), element_type_names()));
  const auto natural = [](const json& number) { return number.is_number_unsigned(); };
  if (!shape.is_array() || !std::ranges::all_of(shape, natural)) bad("its shape is not a list of sizes");
  if (!offsets.is_array() || offsets.size() != 2 || !std::ranges::all_of(offsets, natural))
    bad("its data_offsets are not two positions");
  const auto begin = offsets[0].get<std::uint64_t>(), end = offsets[1].get<std::uint64_t>();
  if (begin > end || end > file_size - data_start) {
    bad(fmt::format("offsets {}..{} are not within the {} bytes of data; the file is truncated or damaged", begin, end,
                    file_size - data_start));
  }
  TensorInfo info{name, *type, shape.get<Shape>(), data_start + begin, data_start + end};
  if (const std::size_t bytes = checked_bytes(info, path); bytes != end - begin) {
    bad(fmt::format("holds {} bytes, but {} of shape {} takes {}", end - begin, name_of(*type), to_string(info.shape),
                    bytes));
  }
  return info;
}

/// Together the tensors are the whole of the data: no byte twice, none left out.
void check_cover(std::vector<TensorInfo> tensors, std::size_t data_start, std::size_t file_size,
                 const std::filesystem::path& path) {
  std::ranges::sort(tensors, {}, [](const TensorInfo& t) { return std::pair{t.begin, t.end}; });
  std::size_t at = data_start;
  for (const TensorInfo& tensor : tensors) {
    if (tensor.begin < at) refuse(path, fmt::format("tensor \"{}\" overlaps the one before it", tensor.name));
    if (tensor.begin > at)
      refuse(path, fmt::format("{} bytes before tensor \"{}\" belong to none", tensor.begin - at, tensor.name));
    at = tensor.end;
  }
  if (at != file_size) refuse(path, fmt::format("{} bytes at the end belong to no tensor", file_size - at));
}

}  // namespace

std::string to_string(const Shape& shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

std::size_t element_count(const Shape& shape) {
  std::size_t count = 1;
  for (const std::int64_t extent : shape) count *= static_cast<std::size_t>(extent);
  return count;
}

SafetensorsFile::SafetensorsFile(const std::filesystem::path& path) : path_{path} {
  const Mapping mapping = map_file(path);
  // From here on the destructor does not run if we throw: the mapping is given back by hand.
  try {
    std::uint64_t length = 0;
    std::memcpy(&length, mapping.data, kPrefix);
    if (length > mapping.size - kPrefix || length > kLongestHeader) {
      refuse(path,
             fmt::format("the header says it is {} bytes long, but the file has {}", length, mapping.size - kPrefix));
    }
    const std::string_view text{reinterpret_cast<const char*>(mapping.data) + kPrefix,
                                static_cast<std::size_t>(length)};
    const json header = parse_header(text, path);
    const std::size_t data_start = data_start_ = kPrefix + static_cast<std::size_t>(length);
    for (const auto& [name, entry] : header.items()) {
      if (name != "__metadata__") {
        tensors_.push_back(parse_tensor(name, entry, data_start, mapping.size, path));
        continue;
      }
      for (const auto& [key, value] : entry.items())
        metadata_[key] = value.is_string() ? value.get<std::string>() : value.dump();
    }
    check_cover(tensors_, data_start, mapping.size, path);
  } catch (...) {
    ::munmap(const_cast<std::byte*>(mapping.data), mapping.size);
    throw;
  }
  data_ = mapping.data;
  size_ = mapping.size;
}

SafetensorsFile::SafetensorsFile(SafetensorsFile&& other) noexcept
    : path_{std::move(other.path_)},
      data_{std::exchange(other.data_, nullptr)},
      size_{std::exchange(other.size_, 0)},
      tensors_{std::move(other.tensors_)},
      data_start_{other.data_start_},
      metadata_{std::move(other.metadata_)} {}

SafetensorsFile::~SafetensorsFile() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

void SafetensorsFile::require_whole() const {
  const auto found = metadata_.find(std::string{kChecksum});
  if (found == metadata_.end())
    throw Error{Fault::kData, path_.string(), "has no checksum", "use a checkpoint that this trnsim wrote"};
  const std::string_view text{reinterpret_cast<const char*>(data_), data_start_};
  const std::size_t at = text.find(checksum_entry(found->second));
  if (at != std::string_view::npos) {
    std::string head{text};
    head.replace(at, checksum_entry(found->second).size(), checksum_entry(kNoChecksum));
    base::Hasher hasher;
    hasher.add(std::as_bytes(std::span{head}));
    hasher.add({data_ + data_start_, size_ - data_start_});
    if (base::hash_text(hasher.digest()) == found->second) return;
  }
  throw Error{Fault::kData, path_.string(), "is damaged: its checksum is not that of its bytes",
              "use an earlier checkpoint, or a copy"};
}

std::span<const std::byte> SafetensorsFile::bytes(const TensorInfo& tensor) const {
  base::ensure(tensor.begin <= tensor.end && tensor.end <= size_, "safetensors", "a tensor of another file");
  return {data_ + tensor.begin, tensor.end - tensor.begin};
}

}  // namespace workloads
