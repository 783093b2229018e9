#include "workloads/models/lora.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/text.h"
#include "workloads/models/model.h"

namespace workloads {
namespace {

using base::Error;
using base::Fault;
using nlohmann::json;

constexpr std::string_view kSuffix = ".weight", kA = ".lora_A.weight", kB = ".lora_B.weight";

std::string without_suffix(const std::string& name) { return name.substr(0, name.size() - kSuffix.size()); }

/// "q_proj"; empty for other weights than a block's linear layers, GPT-2's Conv1D among them.
std::string target_name(const WeightSpec& spec) {
  if (spec.layer < 0 || spec.shape.size() != 2 || spec.table || spec.expert_split || spec.stack > 0) return {};
  if (is_adapter(spec.name) || !spec.file_tensor().ends_with(kSuffix)) return {};
  const std::string module = without_suffix(spec.file_tensor());
  return module.substr(module.rfind('.') + 1);
}

/// A linear layer of the device beside which a B is, and the file's tensor of its rows.
struct AdaptedPart {
  std::string module;
  std::int64_t rows = 0;  // outputs
  std::vector<FilePiece> pieces{};
};

/// A file may have several layers as one: they share A.
std::vector<AdaptedPart> parts_of(const WeightSpec& spec, std::int64_t rank) {
  const std::string file = without_suffix(spec.file_tensor()) + std::string{kB};
  const std::int64_t rows = spec.transposed ? spec.shape.front() : spec.shape.back();
  std::vector<AdaptedPart> out;
  if (spec.split == TensorSplit::kFused) {
    for (const char* part : {".q", ".k", ".v"})
      out.push_back(
          {without_suffix(spec.name) + part, rows / 3, {{file, {rows, rank}, std::ssize(out) * (rows / 3), rows / 3}}});
    return out;
  }
  out.push_back({without_suffix(spec.name), rows});
  for (FilePiece piece : spec.pieces) {
    piece.name = file, piece.shape = {piece.shape.front(), rank};
    out.back().pieces.push_back(std::move(piece));
  }
  return out;
}

/// Whether a part of the name is that of a module which is trained as a whole.
bool is_whole_module(const WeightSpec& spec, const Lora& lora) {
  if (!lora.whole) return false;
  const std::vector<std::string> parts = base::split(spec.name, '.');
  return std::ranges::any_of(*lora.whole, [&](const std::string& name) { return std::ranges::count(parts, name) > 0; });
}

std::vector<std::string> target_names(const std::vector<WeightSpec>& specs) {
  std::vector<std::string> out;
  for (const WeightSpec& spec : specs)
    if (std::string name = target_name(spec); !name.empty() && std::ranges::count(out, name) == 0)
      out.push_back(std::move(name));
  return out;
}

WeightSpec factor(const WeightSpec& weight, std::string name, Shape shape, Init init, TensorSplit split) {
  return {.name = std::move(name),
          .shape = std::move(shape),
          .init = init,
          .transposed = true,
          .split = split,
          .layer = weight.layer};
}

/// Behind `spec`: A, if no other rows of the file's tensor have it yet, and B.
void add_factors(const WeightSpec& spec, const Lora& lora, std::map<std::string, std::size_t>& places,
                 std::vector<WeightSpec>& out) {
  const std::int64_t inputs = spec.transposed ? spec.shape.back() : spec.shape.front();
  const bool by_inputs = spec.split == (spec.transposed ? TensorSplit::kAxis1 : TensorSplit::kAxis0);
  const TensorSplit by_outputs = spec.transposed || spec.split == TensorSplit::kNone ? spec.split : TensorSplit::kAxis0;
  const std::string a = without_suffix(spec.file_tensor()) + std::string{kA};
  const auto [place, added] = places.try_emplace(a, out.size());
  if (added)
    out.push_back(factor(spec, a, {lora.rank, inputs}, Init::kUniformFanIn,
                         by_inputs ? TensorSplit::kAxis1 : TensorSplit::kNone));
  for (AdaptedPart& part : parts_of(spec, lora.rank)) {
    if (const std::string own = part.module + std::string{kA}; own != a) out[place->second].also.push_back(own);
    out.push_back(factor(spec, part.module + std::string{kB}, {part.rows, lora.rank}, Init::kZeros,
                         by_inputs ? TensorSplit::kNone : by_outputs));
    out.back().pieces = std::move(part.pieces);
  }
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

/// A list of an adapter_config.json; null is an empty one.
std::vector<std::string> names_in(const json& list, const char* key, const std::string& where) {
  if (list.is_null()) return {};
  if (!list.is_array() || !std::ranges::all_of(list, [](const json& name) { return name.is_string(); }))
    throw Error{Fault::kData, where, fmt::format("\"{}\" is {}, not a list of names", key, list.dump()),
                "list the names of the layers, such as \"q_proj\""};
  return list.get<std::vector<std::string>>();
}

void require_plain(const json& config, const std::string& where) {
  const auto is_empty = [](const json& v) {
    return v.is_null() || v == false || ((v.is_object() || v.is_array()) && v.empty());
  };
  for (const char* key : {"use_rslora", "use_dora", "rank_pattern", "alpha_pattern", "layers_to_transform", "lora_bias",
                          "exclude_modules", "layer_replication", "trainable_token_indices", "target_parameters"})
    if (config.contains(key) && !is_empty(config.at(key)))
      throw Error{Fault::kData, where, fmt::format("\"{}\" is {}, which is not supported", key, config.at(key).dump()),
                  "train the adapter without it"};
  if (config.value("bias", json("none")) != "none")
    throw Error{Fault::kData, where, "trains biases too", "train the adapter with bias \"none\""};
  if (config.value("peft_type", json("LORA")) != "LORA")
    throw Error{Fault::kData, where, fmt::format("is a {} adapter", config.at("peft_type").dump()),
                "use a LoRA adapter"};
}

}  // namespace

Lora resolved(Lora lora, const Model& model) {
  constexpr std::int64_t kMostRank = 4096;
  if (lora.rank < 1 || lora.rank > kMostRank)
    throw Error{Fault::kUsage, "`lora_r`", fmt::format("{} is not from 1 to {}", lora.rank, kMostRank),
                "use for example `lora_r` 16"};
  if (!(lora.alpha > 0))
    throw Error{Fault::kUsage, "`lora_alpha`", fmt::format("{} makes the adapters ineffective", lora.alpha),
                "use a number above 0, for example twice the rank"};
  if (!(lora.dropout >= 0 && lora.dropout < 1))
    throw Error{Fault::kUsage, "`lora_dropout`", fmt::format("{} is not a probability below 1", lora.dropout),
                "use for example 0.05"};
  const std::vector<std::string> known = target_names(model.weights());
  // Source: huggingface/peft, src/peft/peft_model.py, PeftModelForSequenceClassification.
  if (!lora.whole && model.task() == Task::kClassification) lora.whole = {"classifier", "score"};
  if (!lora.whole) lora.whole.emplace();
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
  std::map<std::string, std::size_t> places;  // of first factors
  for (WeightSpec spec : specs) {
    spec.frozen = spec.frozen || !is_whole_module(spec, *lora);
    const std::string name = target_name(spec);
    out.push_back(spec);
    if (!name.empty() && std::ranges::count(lora->targets, name) > 0) add_factors(spec, *lora, places, out);
  }
  return out;
}

bool is_first_factor(std::string_view weight) { return weight.ends_with(kA); }

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

namespace {

/// Adds scale * B A to rows `from` on of a weight, [out, in] or GPT-2's [in, out].
void add_product(const WeightSpec& spec, const Lora& lora, std::span<const float> a, std::span<const float> b,
                 std::size_t from, std::vector<float>& w) {
  const auto rank = static_cast<std::size_t>(lora.rank);
  const std::size_t rows = b.size() / rank, cols = a.size() / rank, all = w.size() / cols;
  std::vector<double> row(cols);
  for (std::size_t i = 0; i < rows; ++i) {
    std::ranges::fill(row, 0.0);
    for (std::size_t r = 0; r < rank; ++r)
      for (std::size_t j = 0; j < cols; ++j)
        row[j] += static_cast<double>(b[i * rank + r]) * static_cast<double>(a[r * cols + j]);
    for (std::size_t j = 0; j < cols; ++j)
      w[spec.transposed ? (from + i) * cols + j : j * all + from + i] += static_cast<float>(lora.scale() * row[j]);
  }
}

}  // namespace

Weights merged(const ModelPtr& model, Weights weights) {
  const std::optional<Lora> lora = model->lora();
  if (!lora) return weights;
  for (const WeightSpec& spec : model->weights()) {
    if (target_name(spec).empty()) continue;
    const auto a = weights.values.find(without_suffix(spec.file_tensor()) + std::string{kA});
    if (a == weights.values.end()) continue;
    std::size_t from = 0;
    for (const AdaptedPart& part : parts_of(spec, lora->rank)) {
      const auto b = weights.values.find(part.module + std::string{kB});
      base::ensure(b != weights.values.end(), spec.name, "has only one of its two factors");
      add_product(spec, *lora, a->second, b->second, from, weights.values.at(spec.name));
      from += static_cast<std::size_t>(part.rows);
    }
  }
  std::erase_if(weights.values, [](const auto& one) { return is_adapter(one.first); });
  return weights;
}

json to_json(const Lora& lora) {
  std::vector<std::string> targets = lora.targets;
  std::ranges::sort(targets);
  json out{{"r", lora.rank}, {"lora_alpha", lora.alpha}, {"lora_dropout", lora.dropout}, {"target_modules", targets}};
  out["modules_to_save"] = lora.whole && !lora.whole->empty() ? json(*lora.whole) : json();
  return out;
}

Lora lora_from(const json& config, const std::string& where) {
  if (!config.is_object() || !config.contains("r") || !config.contains("target_modules"))
    throw Error{Fault::kData, where, "has no \"r\" or no \"target_modules\"", "use the file that PEFT wrote"};
  require_plain(config, where);
  Lora lora{.rank = number<std::int64_t>(config, "r", 0, where),
            .alpha = number<double>(config, "lora_alpha", 8, where),  // PEFT's default
            .dropout = number<double>(config, "lora_dropout", 0, where)};
  lora.whole = names_in(config.value("modules_to_save", json()), "modules_to_save", where);
  const json& targets = config.at("target_modules");
  if (targets == kAllLinear) return lora;
  lora.targets = names_in(targets, "target_modules", where);
  if (lora.targets.empty())
    throw Error{Fault::kData, where, "\"target_modules\" is empty", "list names of linear layers, such as \"q_proj\""};
  return lora;
}

}  // namespace workloads
