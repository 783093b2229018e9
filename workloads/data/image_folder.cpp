#include "workloads/data/image_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <map>

#include "base/error.h"
#include "base/text.h"
#include "workloads/data/pictures.h"

namespace workloads {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::Fault;

constexpr float kFolderMean = 0.5F,
                kFolderDeviation = 0.5F;  // preprocessor_config.json of google/vit-*: image_mean, image_std

using FilesByClass = std::map<std::string, std::vector<fs::path>>;

bool is_picture(const fs::path& file) {
  const std::string ending = base::lower(file.extension().string());
  return ending == ".png" || ending == ".jpg" || ending == ".jpeg";
}

FilesByClass files_of(const fs::path& folder) {
  FilesByClass out;
  for (const auto& entry : fs::directory_iterator{folder}) {
    if (!entry.is_directory()) continue;
    std::vector<fs::path> files;
    for (const auto& file : fs::directory_iterator{entry.path()})
      if (file.is_regular_file() && is_picture(file.path())) files.push_back(file.path());
    std::ranges::sort(files);
    if (!files.empty()) out[entry.path().filename().string()] = std::move(files);
  }
  return out;
}

/// The first of these subfolders that is there.
std::optional<fs::path> split_of(const fs::path& folder, std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (fs::is_directory(folder / name)) return folder / name;
  return std::nullopt;
}

struct SplitFolders {
  fs::path train;
  std::optional<fs::path> validation{}, test{};
};
SplitFolders splits_of(const fs::path& folder) {
  const auto train = split_of(folder, {"train", "training"});
  if (!train) return {folder};
  return {*train, split_of(folder, {"validation", "val", "valid"}), split_of(folder, {"test"})};
}

/// One of each class in turn, `most` at the most.
std::vector<std::pair<std::string, fs::path>> in_turns(const FilesByClass& classes, std::size_t most) {
  std::vector<std::pair<std::string, fs::path>> out;
  for (std::size_t i = 0;; ++i) {
    bool any = false;
    for (const auto& [name, files] : classes) {
      if (i >= files.size()) continue;
      any = true;
      if (most == 0 || out.size() < most) out.emplace_back(name, files[i]);
    }
    if (!any) return out;
  }
}

/// Pillow's conversion to "L".
std::uint8_t luma(const std::uint8_t* rgb) {
  return static_cast<std::uint8_t>((rgb[0] * 19595 + rgb[1] * 38470 + rgb[2] * 7471 + 0x8000) >> 16);
}

void append_pixels(const Picture& picture, std::int64_t channels, std::vector<float>& pixels) {
  for (std::int64_t c = 0; c < channels; ++c)
    for (std::size_t at = 0; at < picture.rgb.size(); at += 3) {
      const std::uint8_t x = channels == 1 ? luma(&picture.rgb[at]) : picture.rgb[at + static_cast<std::size_t>(c)];
      pixels.push_back((static_cast<float>(x) / 255 - kFolderMean) / kFolderDeviation);
    }
}

ImageDataset read_split(const fs::path& folder, const ImageShape& shape, const std::vector<std::string>& names,
                        std::size_t most) {
  ImageDataset out{.size = shape.size, .channels = shape.channels, .label_names = names, .source = folder.string()};
  const FilesByClass classes = files_of(folder);
  if (classes.empty())
    throw Error{Fault::kData, folder.string(), "has no images", "put PNG or JPEG files into a folder for each class"};
  for (const auto& [name, files] : classes)
    if (std::ranges::find(names, name) == names.end())
      throw Error{Fault::kData, (folder / name).string(), "is a class that the training data does not have",
                  "remove it, or add such images to the training data"};
  for (const auto& [name, file] : in_turns(classes, most)) {
    append_pixels(resized(read_picture(file), shape.size, shape.size), shape.channels, out.pixels);
    out.labels.push_back(static_cast<std::int32_t>(std::ranges::find(names, name) - names.begin()));
  }
  return out;
}

std::size_t count_of(const fs::path& folder) {
  std::size_t count = 0;
  for (const auto& [name, files] : files_of(folder)) count += files.size();
  return count;
}

}  // namespace

bool has_class_folders(const fs::path& folder) {
  return fs::is_directory(folder) && !files_of(splits_of(folder).train).empty();
}

ClassFolders read_class_folders(const fs::path& folder, const ImageShape& shape, const std::vector<std::string>& known,
                                std::size_t most_train, std::size_t most_eval) {
  if (shape.channels != 1 && shape.channels != 3)
    throw Error{Fault::kData, folder.string(),
                fmt::format("has images of 3 colours, but the model expects {} channels", shape.channels),
                "use a model whose num_channels is 1 or 3"};
  const SplitFolders splits = splits_of(folder);
  std::vector<std::string> names;
  for (const auto& [name, files] : files_of(splits.train)) names.push_back(name);
  const auto knows = [&](const std::string& name) { return std::ranges::find(known, name) != known.end(); };
  if (std::ranges::all_of(names, knows)) names = known;
  const auto other = [&](const std::optional<fs::path>& from) -> std::optional<ImageDataset> {
    if (!from) return std::nullopt;
    return read_split(*from, shape, names, most_eval);
  };
  return {read_split(splits.train, shape, names, most_train), other(splits.validation), other(splits.test)};
}

ClassFolderCount count_class_folders(const fs::path& folder) {
  const SplitFolders splits = splits_of(folder);
  const auto& eval = splits.validation ? splits.validation : splits.test;
  return {count_of(splits.train), eval ? count_of(*eval) : 0};
}

}  // namespace workloads
