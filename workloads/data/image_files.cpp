#include "workloads/data/image_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/error.h"
#include "base/files.h"

namespace workloads {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::Fault;

constexpr float kMnistMean = 0.1307F, kMnistDeviation = 0.3081F;
// Per channel over CIFAR-10's 50,000 training pictures, as in torchvision's recipes.
constexpr std::array<float, 3> kCifarMean = {0.4914F, 0.4822F, 0.4465F}, kCifarDeviation = {0.2470F, 0.2435F, 0.2616F};
constexpr std::array kCifarNames = {"airplane", "automobile", "bird",  "cat",  "deer",
                                    "dog",      "frog",       "horse", "ship", "truck"};

[[noreturn]] void refuse_files(const fs::path& file, const std::string& what) {
  throw Error{Fault::kData, file.string(), what, "give the files of the data set as published, unpacked"};
}

std::uint8_t byte_at(const std::string& bytes, std::size_t at) { return static_cast<std::uint8_t>(bytes[at]); }

/// The body of an IDX file of unsigned bytes, and its extents.
struct Idx {
  std::vector<std::size_t> extents{};
  std::string body{};
};

Idx read_idx_file(const fs::path& file, std::size_t axes) {
  const std::string bytes = base::read_file(file);
  const std::size_t header = 4 + 4 * axes;
  if (bytes.size() < header || byte_at(bytes, 0) != 0 || byte_at(bytes, 1) != 0 || byte_at(bytes, 2) != 8 ||
      byte_at(bytes, 3) != axes)
    refuse_files(file, fmt::format("is not an IDX file of unsigned bytes with {} axes", axes));
  Idx out;
  std::size_t all = 1;
  for (std::size_t a = 0; a < axes; ++a) {
    std::size_t extent = 0;
    for (std::size_t i = 0; i < 4; ++i) extent = extent << 8 | byte_at(bytes, 4 + 4 * a + i);
    out.extents.push_back(extent);
    all *= extent;
  }
  if (bytes.size() - header != all)
    refuse_files(file, fmt::format("has {} bytes of data, but its header says {}", bytes.size() - header, all));
  out.body = bytes.substr(header);
  return out;
}

/// The first file of the folder whose name has both parts.
std::optional<fs::path> file_with(const fs::path& folder, std::string_view one, std::string_view other) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator{folder}) {
    const std::string name = entry.path().filename().string();
    if (name.find(one) != std::string::npos && name.find(other) != std::string::npos) found.push_back(entry.path());
  }
  std::ranges::sort(found);
  return found.empty() ? std::nullopt : std::optional{found.front()};
}

}  // namespace

ImageDataset read_idx(const fs::path& images, const fs::path& labels, std::size_t most) {
  const Idx pictures = read_idx_file(images, 3), answers = read_idx_file(labels, 1);
  if (pictures.extents[0] != answers.extents[0])
    refuse_files(labels, fmt::format("has {} labels for {} images", answers.extents[0], pictures.extents[0]));
  if (pictures.extents[1] != pictures.extents[2]) refuse_files(images, "has images that are not square");
  const std::size_t all = pictures.extents[0], count = most > 0 ? std::min(most, all) : all;
  ImageDataset out{
      .size = static_cast<std::int64_t>(pictures.extents[1]), .channels = 1, .source = images.parent_path().string()};
  for (std::size_t i = 0; i < count * pictures.extents[1] * pictures.extents[2]; ++i)
    out.pixels.push_back((static_cast<float>(byte_at(pictures.body, i)) / 255 - kMnistMean) / kMnistDeviation);
  std::int32_t highest = 0;
  for (std::size_t i = 0; i < all; ++i) highest = std::max<std::int32_t>(highest, byte_at(answers.body, i));
  for (std::size_t i = 0; i < count; ++i) out.labels.push_back(byte_at(answers.body, i));
  for (std::int32_t i = 0; i <= highest; ++i) out.label_names.push_back(std::to_string(i));
  return out;
}

ImageDataset read_cifar10(const std::vector<fs::path>& batches, std::size_t most) {
  constexpr std::size_t kSide = 32, kPlane = kSide * kSide, kRecord = 1 + 3 * kPlane;
  ImageDataset out{.size = kSide, .channels = 3, .source = batches.empty() ? "" : batches[0].parent_path().string()};
  out.label_names.assign(kCifarNames.begin(), kCifarNames.end());
  for (const fs::path& file : batches) {
    const std::string bytes = base::read_file(file);
    if (bytes.empty() || bytes.size() % kRecord != 0)
      refuse_files(file, fmt::format("has {} bytes, which is not a multiple of records of {}", bytes.size(), kRecord));
    for (std::size_t at = 0; at < bytes.size() && (most == 0 || out.labels.size() < most); at += kRecord) {
      if (byte_at(bytes, at) >= kCifarNames.size())
        refuse_files(file, fmt::format("has the label {} at byte {}", byte_at(bytes, at), at));
      out.labels.push_back(byte_at(bytes, at));
      for (std::size_t i = 0; i < 3 * kPlane; ++i)
        out.pixels.push_back((static_cast<float>(byte_at(bytes, at + 1 + i)) / 255 - kCifarMean[i / kPlane]) /
                             kCifarDeviation[i / kPlane]);
    }
  }
  return out;
}

ImageSplits read_image_folder(const fs::path& folder, std::size_t most_train, std::size_t most_test) {
  const auto idx = [&](const char* part, std::size_t most) {
    const auto images = file_with(folder, part, "idx3-ubyte"), labels = file_with(folder, part, "idx1-ubyte");
    if (!images || !labels) refuse_files(folder, fmt::format("has no IDX files of {}", part));
    return read_idx(*images, *labels, most);
  };
  if (file_with(folder, "train", "idx3-ubyte")) return {idx("train", most_train), idx("t10k", most_test)};
  std::vector<fs::path> batches;
  for (int i = 1; i <= 5; ++i)
    if (fs::exists(folder / fmt::format("data_batch_{}.bin", i)))
      batches.push_back(folder / fmt::format("data_batch_{}.bin", i));
  if (batches.empty() || !fs::exists(folder / "test_batch.bin"))
    refuse_files(folder, "has neither MNIST's IDX files nor CIFAR-10's batches, nor a folder of images for each class");
  return {read_cifar10(batches, most_train), read_cifar10({folder / "test_batch.bin"}, most_test)};
}

}  // namespace workloads
