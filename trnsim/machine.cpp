#include "trnsim/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/files.h"
#include "base/suggest.h"
#include "hw/params.h"

namespace trnsim {
namespace {

constexpr std::string_view kFolder = "hw/params";

bool is_path(std::string_view machine) {
  return machine.find('/') != std::string_view::npos || machine.ends_with(".toml");
}

}  // namespace

std::vector<std::string> machine_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator{base::data_path(kFolder)}) {
    if (entry.path().extension() == ".toml") names.push_back(entry.path().stem().string());
  }
  std::ranges::sort(names);
  return names;
}

base::ParamFile load_machine(std::string_view machine, const std::vector<std::string>& set) {
  std::filesystem::path path{machine};
  if (!is_path(machine)) {
    const std::vector<std::string> names = machine_names();
    if (std::ranges::find(names, machine) == names.end()) {
      throw base::Error{base::Fault::kUsage, "machine", fmt::format("unknown machine '{}'", machine),
                        base::suggest_fix(machine, names)};
    }
    path = base::data_path(fmt::format("{}/{}.toml", kFolder, machine));
  }
  base::ParamFile file = base::ParamFile::load(path);
  for (const std::string& assignment : set) file.set(assignment);
  const std::vector<std::string> keys = file.keys();
  for (const auto& field : hw::MachineParams::fields())
    if (std::ranges::binary_search(keys, field.key)) file.explain(field.key, field.text);
  return file;
}

}  // namespace trnsim
