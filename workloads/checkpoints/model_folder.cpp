#include "workloads/checkpoints/model_folder.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/files.h"

namespace workloads {

namespace fs = std::filesystem;

void write_model_folder(const fs::path& place, bool overwrite, const std::function<void(const fs::path&)>& fill) {
  std::error_code error;
  if (fs::exists(place, error)) {
    base::make_output_folder(place, overwrite);
    return fill(place);
  }
  const fs::path whole = place.has_filename() ? place : place.parent_path();  // without a slash at its end
  const fs::path beside = whole.string() + ".new";
  fs::remove_all(beside, error);
  base::make_output_folder(beside, true);
  try {
    fill(beside);
    fs::rename(beside, whole, error);
    if (error)
      throw base::Error{base::Fault::kEnvironment, whole.string(),
                        fmt::format("cannot be put in place: {}", error.message()), "run it again"};
  } catch (...) {
    fs::remove_all(beside, error);
    throw;
  }
}

}  // namespace workloads
