// Pictures in the binary formats of two common data sets: MNIST's IDX and CIFAR-10's batches.
#pragma once

#include <filesystem>

#include "workloads/training/images.h"

namespace workloads {

/// MNIST and its like: "*images-idx3-ubyte" beside "*labels-idx1-ubyte" (Y. LeCun's page of the data set says the
/// form). Pixels become (x / 255 - 0.1307) / 0.3081, the mean and deviation of MNIST. `most`: 0 for all. Errors:
/// Fault::kData for files that are not of the form, are cut off, or do not belong together.
ImageDataset read_idx(const std::filesystem::path& images, const std::filesystem::path& labels, std::size_t most = 0);

/// CIFAR-10's "data_batch_1.bin", ..., one after the other: 1 byte of label and 3 x 32 x 32 of pixels each. Pixels
/// become (x / 255 - mean) / deviation of each channel over the training set. Errors: Fault::kData as above.
ImageDataset read_cifar10(const std::vector<std::filesystem::path>& batches, std::size_t most = 0);

/// A folder with one of both, by its files' names.
struct ImageSplits {
  ImageDataset train, test;
};
/// Errors: Fault::kData when the folder has neither, or as the readers.
ImageSplits read_image_folder(const std::filesystem::path& folder, std::size_t most_train = 0,
                              std::size_t most_test = 0);

}  // namespace workloads
