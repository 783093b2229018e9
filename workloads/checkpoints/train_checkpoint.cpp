#include "workloads/checkpoints/train_checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "workloads/checkpoints/safetensors.h"

namespace workloads {
namespace {

using base::Error;
using base::Fault;

constexpr const char* kFile = "state.safetensors";

bool is_state(const isa::Region& region) { return region.kind == "weights" || region.kind == "optimizer"; }

}  // namespace

ElementType element_type(isa::Dtype type) {
  switch (type) {
    case isa::Dtype::kFp32: return ElementType::kF32;
    case isa::Dtype::kBf16: return ElementType::kBf16;
    case isa::Dtype::kFp16: return ElementType::kF16;
    default: throw Error{Fault::kInternal, "checkpoint", "a state of an unexpected type", "report it"};
  }
}

void save_train_checkpoint(const std::filesystem::path& folder, runtime::Session& session, const isa::Program& program,
                           const TrainProgress& progress) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  std::vector<NewTensor> tensors;
  for (const isa::Region& region : program.regions) {
    if (!is_state(region)) continue;
    tensors.push_back({.name = region.name, .type = element_type(region.dtype), .shape = region.shape, .bytes = [&] {
                         const auto bytes = session.bytes(0, region.name);
                         return std::vector<std::byte>(bytes.begin(), bytes.end());
                       }});
  }
  write_safetensors(folder / kFile, std::move(tensors),
                    {{"fingerprint", progress.fingerprint},
                     {"step", fmt::format("{}", progress.step)},
                     {"loss_sum", fmt::format("{:a}", progress.loss_sum)}});
}

TrainProgress load_train_checkpoint(const std::filesystem::path& folder, runtime::Session& session,
                                    const isa::Program& program, const std::string& fingerprint) {
  const std::filesystem::path path = folder / kFile;
  if (!std::filesystem::exists(path))
    throw Error{Fault::kData, folder.string(), fmt::format("has no {}", kFile),
                "give the checkpoint folder of an earlier run: RUN/checkpoint"};
  const SafetensorsFile file{path};
  const auto& meta = file.metadata();
  if (!meta.contains("fingerprint") || !meta.contains("step") || !meta.contains("loss_sum"))
    throw Error{Fault::kData, path.string(), "is not a checkpoint of trnsim", "give RUN/checkpoint of an earlier run"};
  if (meta.at("fingerprint") != fingerprint)
    throw Error{
        Fault::kData, path.string(),
        fmt::format("is of a run with other settings:\n  then: {}\n  now:  {}", meta.at("fingerprint"), fingerprint),
        "repeat the settings of that run"};
  for (const isa::Region& region : program.regions) {
    if (!is_state(region)) continue;
    const auto found = std::ranges::find(file.tensors(), region.name, &TensorInfo::name);
    if (found == file.tensors().end() || file.bytes(*found).size() != region.bytes)
      throw Error{Fault::kData, path.string(), fmt::format("has no fitting tensor '{}'", region.name),
                  "give the checkpoint of this model"};
    for (std::uint32_t r = 0; r < program.ranks; ++r)
      std::memcpy(session.bytes(r, region.name).data(), file.bytes(*found).data(), region.bytes);
  }
  return {.fingerprint = fingerprint,
          .step = std::stoll(meta.at("step")),
          .loss_sum = std::strtod(meta.at("loss_sum").c_str(), nullptr)};
}

}  // namespace workloads
