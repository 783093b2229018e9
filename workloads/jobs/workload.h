// A workload: a tutorial's model, settings and published measurements, and the small model that is trained for real
// when its weights are not at hand. One file each: workloads/jobs/NAME.toml.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/models/model.h"

namespace workloads {

/// A figure measured on the real machine.
struct Published {
  std::string name;  // one of kFigures in workloads/jobs/workload.cpp: "train_samples_per_second", "dollars", ...
  double value = 0;  // samples/s, seconds, US dollars, of 1
  double low = 0, high = 0;  // of a range that was published: both are `value` without one
  std::string source;

  /// The distance of a prediction from the range, relative to it.
  double error(double predicted) const {
    return predicted < low ? predicted / low - 1 : predicted > high ? predicted / high - 1 : 0;
  }
};

struct Workload {
  std::string name, text;
  std::string model;        // preset that is projected
  ModelPtr program{};       // that model where it is a program of its own, loaded; else empty
  std::string small_model;  // preset that is trained for real, from scratch
  std::int64_t samples = 0, eval_samples = 0, labels = 0;
  std::map<std::string, std::string> options;        // by their names: of the projected job
  std::map<std::string, std::string> small_options;  // those that the small model changes
  std::map<std::string, std::string> own_options;    // those that a model of the user's changes (--model_id)
  std::vector<Published> published;
  std::optional<Published> speed_up{};  // by the compiler's passes, of 1: then the job is compared without them
  std::int64_t most_batch = 0;          // of that comparison; 0: the largest that fits
  std::string file;
};

/// A bundled workload, by name, or a file of the same form. Errors: Fault::kUsage with the nearest name; for
/// missing or unknown keys of the file.
Workload load_workload(std::string_view name_or_file);
std::vector<std::string> workload_names();
/// As names_preset(), of workloads.
bool names_workload(const std::string& name);
/// Whether it is one of these, and not from a file of the user's.
bool is_bundled(const Workload& workload);
/// For a folder that holds a model where something else was asked for; empty: it holds none.
std::string model_folder_fix(const std::filesystem::path& folder);

}  // namespace workloads
