// Low-rank adapters: beside a frozen weight W of [out, in] two trained factors, A of [r, in] and B of [out, r], whose
// product times alpha / r is added to it. Source: Hu et al., arXiv:2106.09685, section 4.1. Names as in PEFT, whose
// rule for heads this is, too: a classifier, which no base has, is trained as a whole beside the adapters.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/models/weights.h"

namespace workloads {

class Model;

struct Lora {
  std::int64_t rank = 0;
  double alpha = 32;
  double dropout = 0;                  // of A's input
  std::vector<std::string> targets{};  // "q_proj"; kAllLinear alone: each linear layer of the blocks
  /// Modules that are trained as a whole: PEFT's modules_to_save. Unset: those of the model's task.
  std::optional<std::vector<std::string>> whole{};

  double scale() const { return alpha / static_cast<double>(rank); }
  bool operator==(const Lora&) const = default;
};
/// PEFT's word for every linear layer but the output layer.
inline constexpr std::string_view kAllLinear = "all-linear";

/// `lora` with its targets as names of a model without adapters, in the model's order, and the modules that are
/// trained as a whole. Errors: Fault::kUsage for a rank below 1, an alpha that is not positive, a probability outside
/// [0, 1), or a target that the model has not; the fix lists those that it has.
Lora resolved(Lora lora, const Model& model);

/// The weights frozen, but for those of modules that are trained as a whole, and behind each that is adapted its
/// factors "...lora_A.weight" and "...lora_B.weight". For a weight whose outputs ranks split, B is split likewise and
/// each rank has A; of one whose inputs they split, A is split and each has B.
std::vector<WeightSpec> with_adapters(const std::vector<WeightSpec>& specs, const std::optional<Lora>& lora);
bool is_adapter(std::string_view weight);
bool is_first_factor(std::string_view weight);
/// The number of trained weights.
std::size_t trained_count(const std::vector<WeightSpec>& specs);

/// Adds initial values for factors that the weights lack.
void draw_adapters(const ModelPtr& model, Weights& weights, std::uint64_t seed);

/// Adds each product to its weight and takes the factors out: weights of Model::with_lora(nullopt).
Weights merged(const ModelPtr& model, Weights weights);

/// {"r", "lora_alpha", "lora_dropout", "target_modules", "modules_to_save"} of adapter_config.json, where sorted names
/// stand for a set.
nlohmann::json to_json(const Lora& lora);
/// Errors: Fault::kData at `where` for a key that is missing, of another type, or changes the adapters in an
/// unsupported way (rsLoRA, DoRA, ranks by pattern, trained biases).
Lora lora_from(const nlohmann::json& json, const std::string& where);

}  // namespace workloads
