// The checkpoint format of Hugging Face: 8 bytes of header length, a JSON header, the tensors' bytes.
// Source: github.com/huggingface/safetensors, README "Format".
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/checkpoints/number_formats.h"

namespace workloads {

using Shape = std::vector<std::int64_t>;

/// "[768, 30522]"; "[]" for a scalar.
std::string to_string(const Shape& shape);
std::size_t element_count(const Shape& shape);

struct TensorInfo {
  std::string name;
  ElementType type = ElementType::kF32;
  Shape shape;
  std::size_t begin = 0;  // bytes from the start of the file
  std::size_t end = 0;
};

/// A file mapped into memory: opening reads the header alone, and a tensor's pages are read when it is.
class SafetensorsFile {
 public:
  /// Errors: Fault::kData when the file is missing, shorter than it says, longer, or its header is not JSON, repeats a
  /// name, has an unknown type, offsets that overlap, leave holes or exceed the file, or a size that is not its
  /// shape's.
  explicit SafetensorsFile(const std::filesystem::path& path);
  ~SafetensorsFile();
  SafetensorsFile(SafetensorsFile&&) noexcept;
  SafetensorsFile& operator=(SafetensorsFile&&) = delete;

  const std::filesystem::path& path() const { return path_; }
  /// Sorted by name.
  const std::vector<TensorInfo>& tensors() const { return tensors_; }
  const std::map<std::string, std::string>& metadata() const { return metadata_; }
  std::span<const std::byte> bytes(const TensorInfo& tensor) const;
  /// For files with a checksum of their bytes (write_safetensors() with metadata): reads all of them. Errors:
  /// Fault::kData when the checksum is missing or wrong.
  void require_whole() const;

 private:
  std::filesystem::path path_;
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  std::vector<TensorInfo> tensors_;
  std::size_t data_start_ = 0;
  std::map<std::string, std::string> metadata_;
};

/// All tensors of a model: one file, or the files that a `model.safetensors.index.json` names.
class Checkpoint {
 public:
  /// A .safetensors file, an index file, or a folder that holds `model.safetensors` or the index.
  /// Errors: Fault::kData as SafetensorsFile; when the index and its files do not agree; when a folder holds neither.
  static Checkpoint open(const std::filesystem::path& path);

  /// Sorted.
  std::vector<std::string> names() const;
  bool contains(const std::string& name) const { return places_.contains(name); }
  /// Errors: Fault::kData naming the tensor and the file, with the nearest name there is.
  const TensorInfo& info(const std::string& name) const;
  std::filesystem::path file_of(const std::string& name) const;
  std::vector<float> floats(const std::string& name) const;
  /// Errors: Fault::kData also when the tensor holds no integers.
  std::vector<std::int64_t> integers(const std::string& name) const;
  const std::filesystem::path& path() const { return path_; }

 private:
  struct Place {
    std::size_t file;
    std::size_t tensor;
  };
  const Place& place(const std::string& name) const;
  void add_file(const std::filesystem::path& path);
  void add_sharded(const std::filesystem::path& index);

  std::filesystem::path path_;
  std::vector<SafetensorsFile> files_;
  std::map<std::string, Place> places_;
};

/// The entry of the metadata that has the checksum: the hash of the file with kNoChecksum in its place.
inline constexpr std::string_view kChecksum = "checksum", kNoChecksum = "0000000000000000";
std::string checksum_entry(std::string_view digits);

/// A tensor to write; `bytes` is called once, when its turn comes, so that a model need not be held twice.
struct NewTensor {
  std::string name;
  ElementType type = ElementType::kF32;
  Shape shape;
  std::function<std::vector<std::byte>()> bytes;
};
NewTensor float_tensor(std::string name, Shape shape, std::vector<float> values, ElementType type = ElementType::kF32);
NewTensor integer_tensor(std::string name, Shape shape, std::vector<std::int64_t> values);

/// Writes all or nothing. The tensors are in the order of the reference implementation: widest type first,
/// then by name. The metadata is {"format": "pt"} (transformers refuses files without it) and `metadata`; where there
/// is any, also a checksum over every byte of the file. Errors: Fault::kEnvironment when the disk refuses;
/// Fault::kInternal for a repeated name or a wrong number of bytes.
void write_safetensors(const std::filesystem::path& path, std::vector<NewTensor> tensors,
                       const std::map<std::string, std::string>& metadata = {});

}  // namespace workloads
