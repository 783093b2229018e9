#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"
#include "workloads/checkpoints/safetensors.h"

namespace workloads {
namespace {

/// The header's order is the data's order; it ends on a multiple of 8 bytes, so that the data is aligned.
std::string header_of(const std::vector<NewTensor>& tensors, const std::map<std::string, std::string>& metadata) {
  // Objects from the start: one that [] makes of null cannot be destroyed when memory ends just then (nlohmann 3.11).
  auto notes = nlohmann::ordered_json::object(), header = nlohmann::ordered_json::object();
  notes["format"] = "pt";
  for (const auto& [key, value] : metadata) notes[key] = value;
  if (!metadata.empty()) notes[std::string{kChecksum}] = kNoChecksum;
  header["__metadata__"] = std::move(notes);
  std::size_t at = 0;
  for (const NewTensor& tensor : tensors) {
    const std::size_t end = at + element_count(tensor.shape) * size_of(tensor.type);
    base::ensure(!header.contains(tensor.name), tensor.name, "is written twice");
    header[tensor.name] = {{"dtype", name_of(tensor.type)}, {"shape", tensor.shape}, {"data_offsets", {at, end}}};
    at = end;
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  return text;
}

/// Hashes all written bytes.
class HashedFile {
 public:
  explicit HashedFile(const std::filesystem::path& path) : file_{path} {}
  void write(std::span<const std::byte> bytes) {
    file_.write(bytes);
    hasher_.add(bytes);
  }
  /// Puts the hash where `digits` of the file are zeros, if they are anywhere.
  void commit(std::size_t digits) {
    if (digits != std::string::npos) file_.write_at(digits, base::hash_text(hasher_.digest()));
    file_.commit();
  }

 private:
  base::AtomicFile file_;
  base::Hasher hasher_;
};

}  // namespace

std::string checksum_entry(std::string_view digits) { return fmt::format("\"{}\":\"{}\"", kChecksum, digits); }

NewTensor float_tensor(std::string name, Shape shape, std::vector<float> values, ElementType type) {
  return {std::move(name), type, std::move(shape),
          [type, values = std::move(values)] { return from_floats(type, values); }};
}

NewTensor integer_tensor(std::string name, Shape shape, std::vector<std::int64_t> values) {
  return {std::move(name), ElementType::kI64, std::move(shape),
          [values = std::move(values)] { return from_integers(values); }};
}

void write_safetensors(const std::filesystem::path& path, std::vector<NewTensor> tensors,
                       const std::map<std::string, std::string>& metadata) {
  std::ranges::sort(tensors, [](const NewTensor& a, const NewTensor& b) {
    return std::tuple{size_of(b.type), std::string_view{a.name}} <
           std::tuple{size_of(a.type), std::string_view{b.name}};
  });
  const std::string header = header_of(tensors, metadata);
  const std::uint64_t length = header.size();
  HashedFile file{path};
  file.write(std::as_bytes(std::span{&length, 1}));
  file.write(std::as_bytes(std::span{header}));
  for (const NewTensor& tensor : tensors) {
    const std::vector<std::byte> bytes = tensor.bytes();
    base::ensure(bytes.size() == element_count(tensor.shape) * size_of(tensor.type), tensor.name,
                 "does not have as many values as its shape");
    file.write(bytes);
  }
  const std::size_t entry = metadata.empty() ? std::string::npos : header.find(checksum_entry(kNoChecksum));
  file.commit(entry == std::string::npos ? entry : sizeof length + entry + kChecksum.size() + 4);  // "checksum":"
}

}  // namespace workloads
