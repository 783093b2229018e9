// Checkpoint: the tensors of one file or of many, by name.
#include <fmt/format.h>

#include "base/error.h"
#include "base/suggest.h"
#include "workloads/checkpoints/json_file.h"
#include "workloads/checkpoints/safetensors.h"

namespace workloads {
namespace {

using base::Error;
using base::Fault;
namespace fs = std::filesystem;

constexpr const char* kSingle = "model.safetensors";
constexpr const char* kIndex = "model.safetensors.index.json";

}  // namespace

Checkpoint Checkpoint::open(const fs::path& path) {
  Checkpoint checkpoint;
  checkpoint.path_ = path;
  if (!fs::is_directory(path)) {
    if (path.extension() == ".json")
      checkpoint.add_sharded(path);
    else
      checkpoint.add_file(path);
  } else if (fs::exists(path / kSingle)) {
    checkpoint.add_file(path / kSingle);
  } else if (fs::exists(path / kIndex)) {
    checkpoint.add_sharded(path / kIndex);
  } else {
    const bool pickled = fs::exists(path / "pytorch_model.bin");
    throw Error{Fault::kData, path.string(),
                fmt::format("holds neither {} nor {}{}", kSingle, kIndex, pickled ? ", only pytorch_model.bin" : ""),
                "save the model with transformers: model.save_pretrained(DIR, safe_serialization=True)"};
  }
  return checkpoint;
}

void Checkpoint::add_file(const fs::path& path) {
  const std::size_t index = files_.size();
  files_.emplace_back(path);
  const auto& tensors = files_.back().tensors();
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (!places_.emplace(tensors[i].name, Place{index, i}).second)
      throw Error{Fault::kData, path.string(), fmt::format("tensor \"{}\" is in another file too", tensors[i].name),
                  "export the model again"};
  }
}

void Checkpoint::add_sharded(const fs::path& index) {
  const auto file = read_json_file(index);
  if (!file.is_object() || !file.contains("weight_map") || !file["weight_map"].is_object())
    throw Error{Fault::kData, index.string(), "has no \"weight_map\"", "download or export the model again"};
  std::map<std::string, std::string> wanted;
  std::map<std::string, bool> opened;
  for (const auto& [name, shard] : file["weight_map"].items()) {
    if (!shard.is_string() || shard.get<std::string>().find('/') != std::string::npos)
      throw Error{Fault::kData, index.string(), fmt::format("the file of \"{}\" is not a file name", name),
                  "download or export the model again"};
    wanted[name] = shard;
    if (!std::exchange(opened[shard], true)) add_file(index.parent_path() / shard.get<std::string>());
  }
  for (const auto& [name, shard] : wanted) {
    if (places_.contains(name) && file_of(name).filename() == shard) continue;
    throw Error{Fault::kData, index.string(),
                fmt::format("says that \"{}\" is in {}, but it is not there", name, shard),
                "download or export the model again"};
  }
}

const Checkpoint::Place& Checkpoint::place(const std::string& name) const {
  if (const auto at = places_.find(name); at != places_.end()) return at->second;
  const auto near = base::closest(name, names());
  throw Error{Fault::kData, path_.string(), fmt::format("has no tensor \"{}\"", name),
              near ? fmt::format("rename \"{}\" if it is that one", *near) : "use the checkpoint of that model"};
}

std::vector<std::string> Checkpoint::names() const {
  std::vector<std::string> names;
  for (const auto& [name, place] : places_) names.push_back(name);
  return names;
}

const TensorInfo& Checkpoint::info(const std::string& name) const {
  const Place& at = place(name);
  return files_[at.file].tensors()[at.tensor];
}

fs::path Checkpoint::file_of(const std::string& name) const { return files_[place(name).file].path(); }

std::vector<float> Checkpoint::floats(const std::string& name) const {
  const TensorInfo& tensor = info(name);
  return to_floats(tensor.type, files_[place(name).file].bytes(tensor));
}

std::vector<std::int64_t> Checkpoint::integers(const std::string& name) const {
  const TensorInfo& tensor = info(name);
  if (is_floating(tensor.type))
    throw Error{Fault::kData, file_of(name).string(),
                fmt::format("tensor \"{}\" is {}, but must hold integers", name, name_of(tensor.type)),
                "store it as I64"};
  return to_integers(tensor.type, files_[place(name).file].bytes(tensor));
}

}  // namespace workloads
