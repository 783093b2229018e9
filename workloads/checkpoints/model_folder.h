// A folder with a model for others to read.
#pragma once

#include <filesystem>
#include <functional>

namespace workloads {

/// Has `fill` write a model into `place`. A new folder appears as a whole: a process that dies before
/// leaves `place`.new, which the next one clears. In an existing folder, files are replaced one by one and others stay.
/// Errors: Fault::kUsage when it holds files and `overwrite` is false; Fault::kEnvironment; those of `fill`.
void write_model_folder(const std::filesystem::path& place, bool overwrite,
                        const std::function<void(const std::filesystem::path&)>& fill);

}  // namespace workloads
