#include "workloads/checkpoints/train_checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>

#include "base/error.h"
#include "workloads/checkpoints/safetensors.h"

namespace workloads {
namespace {

using base::Error;
using base::Fault;

constexpr const char* kFile = "state.safetensors";

bool is_state(const isa::Region& region) { return region.kind == "weights" || region.kind == "optimizer"; }

constexpr const char *kFingerprint = "fingerprint", *kStepsDone = "step", *kLossSum = "loss_sum",
                     *kUnloggedLoss = "unlogged_loss", *kUnloggedSteps = "unlogged_steps", *kHistory = "history";

}  // namespace

std::map<std::string, std::string> TrainProgress::to_text() const {
  return {{kFingerprint, fingerprint},
          {kStepsDone, fmt::format("{}", step)},
          {kLossSum, fmt::format("{:a}", loss_sum)},
          {kUnloggedLoss, fmt::format("{:a}", unlogged_loss)},
          {kUnloggedSteps, fmt::format("{}", unlogged_steps)},
          {kHistory, history}};
}

TrainProgress TrainProgress::from_text(const std::map<std::string, std::string>& text, const std::string& where) {
  const auto refuse = [&](std::string_view what) {
    throw Error{Fault::kData, where, what, "give RUN/checkpoint of an earlier run of this trnsim"};
  };
  for (const char* key : {kFingerprint, kStepsDone, kLossSum, kUnloggedLoss, kUnloggedSteps, kHistory})
    if (!text.contains(key)) refuse(fmt::format("is of no run that can go on: it has no {}", key));
  const auto whole = [&](const char* key) {
    std::int64_t value = -1;
    const std::string& digits = text.at(key);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc{} || end != digits.data() + digits.size() || value < 0)
      refuse(fmt::format("has '{}' as {}", digits, key));
    return value;
  };
  const auto real = [&](const char* key) { return std::strtod(text.at(key).c_str(), nullptr); };
  return {.fingerprint = text.at(kFingerprint),
          .step = whole(kStepsDone),
          .loss_sum = real(kLossSum),
          .unlogged_loss = real(kUnloggedLoss),
          .unlogged_steps = whole(kUnloggedSteps),
          .history = text.at(kHistory)};
}

void require_same_settings(const TrainProgress& then, const std::string& now, const std::string& where) {
  if (then.fingerprint == now) return;
  throw Error{Fault::kData, where,
              fmt::format("is of a run with other settings:\n  then: {}\n  now:  {}", then.fingerprint, now),
              "repeat the settings of that run; a decoder's parallel plan may be another one"};
}

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
  write_safetensors(folder / kFile, std::move(tensors), progress.to_text());
}

TrainProgress load_train_checkpoint(const std::filesystem::path& folder, runtime::Session& session,
                                    const isa::Program& program, const std::string& fingerprint) {
  const std::filesystem::path path = folder / kFile;
  if (!std::filesystem::exists(path))
    throw Error{Fault::kData, folder.string(), fmt::format("has no {}", kFile),
                "give the checkpoint folder of an earlier run: RUN/checkpoint"};
  const SafetensorsFile file{path};
  TrainProgress progress = TrainProgress::from_text(file.metadata(), path.string());
  require_same_settings(progress, fingerprint, path.string());
  file.require_whole();
  for (const isa::Region& region : program.regions) {
    if (!is_state(region)) continue;
    const auto found = std::ranges::find(file.tensors(), region.name, &TensorInfo::name);
    if (found == file.tensors().end() || file.bytes(*found).size() != region.bytes)
      throw Error{Fault::kData, path.string(), fmt::format("has no fitting tensor '{}'", region.name),
                  "give the checkpoint of this model"};
    for (std::uint32_t r = 0; r < program.ranks; ++r)
      std::memcpy(session.bytes(r, region.name).data(), file.bytes(*found).data(), region.bytes);
  }
  return progress;
}

}  // namespace workloads
