// Models as Hugging Face describes them in config.json: found, read, written.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace workloads {

class Model;         // workloads/models/model.h
struct ModelChange;  // the same
using ModelPtr = std::shared_ptr<const Model>;

enum class Activation { kGelu, kGeluTanh, kQuickGelu, kSilu, kRelu, kRelu2, kXielu };
/// Hugging Face's name of it: "gelu" (by erf), "gelu_pytorch_tanh", "quick_gelu" (x * sigmoid(1.702 x)), "silu",
/// "relu", "relu2" (its square), "xielu" (Huang and Schlag, arXiv:2411.13010).
std::string_view name_of(Activation activation);

/// Reads a config.json, or the one in a folder. Errors: Fault::kData naming file and key: missing, of the wrong type,
/// out of range; an unknown model_type or activation (with the known ones); a feature that would change the numbers and
/// is not modelled (relative positions, other scalings of the rotary embedding).
ModelPtr read_config(const std::filesystem::path& file_or_folder);
/// Writes config.json into `folder`. Errors: Fault::kEnvironment.
void write_config(const ModelPtr& model, const std::filesystem::path& folder);

}  // namespace workloads
