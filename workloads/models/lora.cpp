#include "workloads/models/lora.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "workloads/models/model.h"

namespace workloads {
namespace {

using base::Error;
using base::Fault;
using nlohmann::json;

constexpr std::string_view kSuffix = ".weight", kA = ".lora_A.weight", kB = ".lora_B.weight";

/// "model.layers.0.self_attn.q_proj" of its weight.
std::string module_of(const WeightSpec& spec) { return spec.name.substr(0, spec.name.size() - kSuffix.size()); }

/// "q_proj"; empty for other weights than a block's linear layers.
std::string target_name(const WeightSpec& spec) {
  if (!spec.transposed || spec.layer < 0 || !spec.is_whole()) return {};  // parts of a fused layer
  if (spec.expert_split) return {};
  const std::string module = module_of(spec);
  return module.substr(module.rfind('.') + 1);
}

std::vector<std::string> target_names(const std::vector<WeightSpec>& specs) {
  std::vector<std::string> out;
  for (const WeightSpec& spec : specs)
    if (std::string name = target_name(spec); !name.empty() && std::ranges::count(out, name) == 0)
      out.push_back(std::move(name));
  return out;
}

WeightSpec factor(const WeightSpec& weight, std::string_view name, Shape shape, Init init, TensorSplit split) {
  return {.name = module_of(weight) + std::string{name},
          .shape = std::move(shape),
          .init = init,
          .transposed = true,
          .split = split,
          .layer = weight.layer};
}

/// A number of an adapter_config.json.
template <class T>
T number(const json& config, const char* key, T otherwise, const std::string& where) {
  if (!config.contains(key)) return otherwise;
  if (!config.at(key).is_number())
    throw Error{Fault::kData, where, fmt::format("\"{}\" is {}, not a number", key, config.at(key).dump()),
                "use the file that PEFT wrote"};
  return config.at(key).get<T>();
}

void require_plain(const json& config, const std::string& where) {
  const auto is_empty = [](const json& v) {
    return v.is_null() || v == false || ((v.is_object() || v.is_array()) && v.empty());
  };
  for (const char* key : {"use_rslora", "use_dora", "rank_pattern", "alpha_pattern", "modules_to_save",
                          "layers_to_transform", "lora_bias", "fan_in_fan_out", "exclude_modules", "layer_replication",
                          "trainable_token_indices", "target_parameters"})
    if (config.contains(key) && !is_empty(config.at(key)))
      throw Error{Fault::kData, where,
                  fmt::format("\"{}\" is {}, which is not computed here", key, config.at(key).dump()),
                  "train the adapter without it"};
  if (config.value("bias", json("none")) != "none")
    throw Error{Fault::kData, where, "trains biases too", "train the adapter with bias \"none\""};
  if (config.value("peft_type", json("LORA")) != "LORA")
    throw Error{Fault::kData, where, fmt::format("is a {} adapter", config.at("peft_type").dump()),
                "use a LoRA adapter"};
}

}  // namespace

Lora resolved(Lora lora, const std::vector<WeightSpec>& specs) {
  constexpr std::int64_t kMostRank = 4096;
  if (lora.rank < 1 || lora.rank > kMostRank)
    throw Error{Fault::kUsage, "`lora_r`", fmt::format("{} is not from 1 to {}", lora.rank, kMostRank),
                "use for example `lora_r` 16"};
  if (!(lora.alpha > 0))
    throw Error{Fault::kUsage, "`lora_alpha`", fmt::format("{} leaves the adapters without effect", lora.alpha),
                "use a number above 0, for example twice the rank"};
  if (!(lora.dropout >= 0 && lora.dropout < 1))
    throw Error{Fault::kUsage, "`lora_dropout`", fmt::format("{} is no probability below 1", lora.dropout),
                "use for example 0.05"};
  const std::vector<std::string> known = target_names(specs);
  if (lora.targets.empty() || lora.targets == std::vector<std::string>{std::string{kAllLinear}}) lora.targets = known;
  for (const std::string& name : lora.targets)
    if (std::ranges::count(known, name) == 0)
      throw Error{Fault::kUsage, "`lora_target_modules`", fmt::format("the model has no linear layers '{}'", name),
                  fmt::format("use some of {}, or {}", fmt::join(known, ","), kAllLinear)};
  std::vector<std::string> ordered;
  for (const std::string& name : known)
    if (std::ranges::count(lora.targets, name) > 0) ordered.push_back(name);
  lora.targets = std::move(ordered);
  return lora;
}

std::vector<WeightSpec> with_adapters(const std::vector<WeightSpec>& specs, const std::optional<Lora>& lora) {
  if (!lora) return specs;
  std::vector<WeightSpec> out;
  for (WeightSpec spec : specs) {
    spec.frozen = true;
    const std::string name = target_name(spec);
    const bool by_inputs = spec.split == TensorSplit::kAxis1;
    const std::int64_t rows = spec.shape.front(), cols = spec.shape.back();
    out.push_back(spec);
    if (name.empty() || std::ranges::count(lora->targets, name) == 0) continue;
    out.push_back(
        factor(spec, kA, {lora->rank, cols}, Init::kUniformFanIn, by_inputs ? spec.split : TensorSplit::kNone));
    out.push_back(factor(spec, kB, {rows, lora->rank}, Init::kZeros, by_inputs ? TensorSplit::kNone : spec.split));
    for (FilePiece piece : spec.pieces) {  // B's rows are in the order of the weight's
      piece.name = out.back().name, piece.shape = out.back().shape;
      out.back().pieces.push_back(std::move(piece));
    }
  }
  return out;
}

bool is_adapter(std::string_view weight) { return weight.ends_with(kA) || weight.ends_with(kB); }

std::size_t trained_count(const std::vector<WeightSpec>& specs) {
  std::size_t count = 0;
  for (const WeightSpec& spec : specs) count += spec.frozen ? 0 : element_count(spec.shape);
  return count;
}

void draw_adapters(const ModelPtr& model, Weights& weights, std::uint64_t seed) {
  for (const WeightSpec& spec : model->weights())
    if (is_adapter(spec.name) && !weights.values.contains(spec.name))
      weights.values[spec.name] = initial_values(spec, model, seed);
}

Weights merged(const ModelPtr& model, Weights weights) {
  const std::optional<Lora> lora = model->lora();
  if (!lora) return weights;
  for (const WeightSpec& spec : model->weights()) {
    if (target_name(spec).empty() || is_adapter(spec.name)) continue;
    const auto a = weights.values.find(module_of(spec) + std::string{kA}),
               b = weights.values.find(module_of(spec) + std::string{kB});
    if (a == weights.values.end()) continue;
    base::ensure(b != weights.values.end(), spec.name, "has one factor of two");
    std::vector<float>& w = weights.values.at(spec.name);
    const auto rows = static_cast<std::size_t>(spec.shape.at(0)), cols = static_cast<std::size_t>(spec.shape.at(1)),
               rank = static_cast<std::size_t>(lora->rank);
    std::vector<double> row(cols);
    for (std::size_t i = 0; i < rows; ++i) {
      std::ranges::fill(row, 0.0);
      for (std::size_t r = 0; r < rank; ++r)
        for (std::size_t j = 0; j < cols; ++j)
          row[j] += static_cast<double>(b->second[i * rank + r]) * static_cast<double>(a->second[r * cols + j]);
      for (std::size_t j = 0; j < cols; ++j) w[i * cols + j] += static_cast<float>(lora->scale() * row[j]);
    }
    weights.values.erase(a), weights.values.erase(b);
  }
  return weights;
}

json to_json(const Lora& lora) {
  std::vector<std::string> targets = lora.targets;
  std::ranges::sort(targets);
  return {{"r", lora.rank}, {"lora_alpha", lora.alpha}, {"lora_dropout", lora.dropout}, {"target_modules", targets}};
}

Lora lora_from(const json& config, const std::string& where) {
  if (!config.is_object() || !config.contains("r") || !config.contains("target_modules"))
    throw Error{Fault::kData, where, "has no \"r\" or no \"target_modules\"", "use the file that PEFT wrote"};
  require_plain(config, where);
  Lora lora{.rank = number<std::int64_t>(config, "r", 0, where),
            .alpha = number<double>(config, "lora_alpha", 8, where),  // PEFT's default
            .dropout = number<double>(config, "lora_dropout", 0, where)};
  const json& targets = config.at("target_modules");
  if (targets == kAllLinear) return lora;
  if (!targets.is_array() || targets.empty() ||
      !std::ranges::all_of(targets, [](const json& name) { return name.is_string(); }))
    throw Error{Fault::kData, where, fmt::format("\"target_modules\" is {}, not a list of names", targets.dump()),
                "list the names of the linear layers, such as \"q_proj\""};
  lora.targets = targets.get<std::vector<std::string>>();
  return lora;
}

}  // namespace workloads
