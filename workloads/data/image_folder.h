// Pictures in folders by their classes, as Hugging Face's imagefolder and torchvision's ImageFolder have them.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "workloads/training/images.h"

namespace workloads {

/// Whether `folder` has such a form: FOLDER/CLASS/*.png, or the same below FOLDER/train, FOLDER/validation (val, valid)
/// and FOLDER/test. Endings .png, .jpg and .jpeg count, in capitals too.
bool has_class_folders(const std::filesystem::path& folder);

/// Missing splits are empty. Without split folders everything is for training.
struct ClassFolders {
  ImageDataset train{};
  std::optional<ImageDataset> validation{}, test{};
};

/// Pictures of any size, resized and normalized as Hugging Face's ViTImageProcessor does: bilinear to shape.size, then
/// (x / 255 - 0.5) / 0.5. Models of one channel see the luma (ITU-R 601, as Pillow's "L"). Labels are the classes of
/// training in the order of their names, or their places in `names`, of a model that knows all of them. Classes take
/// turns, so that the first `most` pictures (0: all) have each of them. Errors: Fault::kData naming the file that is no
/// whole picture, a class that training does not have, a folder without pictures.
ClassFolders read_class_folders(const std::filesystem::path& folder, const ImageShape& shape,
                                const std::vector<std::string>& names = {}, std::size_t most_train = 0,
                                std::size_t most_eval = 0);

/// Files of training and of the first split that is not, without a look into them.
struct ClassFolderCount {
  std::size_t train = 0, eval = 0;
};
ClassFolderCount count_class_folders(const std::filesystem::path& folder);

}  // namespace workloads
