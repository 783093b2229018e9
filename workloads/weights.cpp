#include "workloads/weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/error.h"
#include "base/suggest.h"
#include "workloads/random.h"

namespace workloads {
namespace {

using base::Error;
using base::Fault;

/// Appends the tensors of one kind of layer.
class SpecList {
 public:
  void embedding(const std::string& name, std::int64_t rows, std::int64_t cols, Init init = Init::kNormal) {
    specs_.push_back({name + ".weight", {rows, cols}, init, false});
  }
  void linear(const std::string& name, std::int64_t in, std::int64_t out) {
    specs_.push_back({name + ".weight", {out, in}, Init::kNormal, true});
    specs_.push_back({name + ".bias", {out}, Init::kZeros, false});
  }
  void layer_norm(const std::string& name, std::int64_t size) {
    specs_.push_back({name + ".weight", {size}, Init::kOnes, false});
    specs_.push_back({name + ".bias", {size}, Init::kZeros, false});
  }
  std::vector<WeightSpec> take() { return std::move(specs_); }

 private:
  std::vector<WeightSpec> specs_;
};

/// The name that a tensor of a file has in our list: old LayerNorm names made new, "bert." put in front.
std::string modern_name(std::string name) {
  const auto replace_end = [&name](std::string_view from, std::string_view to) {
    if (name.ends_with(from)) name.replace(name.size() - from.size(), from.size(), to);
  };
  replace_end("LayerNorm.gamma", "LayerNorm.weight");
  replace_end("LayerNorm.beta", "LayerNorm.bias");
  for (const char* top : {"embeddings.", "encoder.", "pooler."})
    if (name.starts_with(top)) return "bert." + name;
  return name;
}

/// Tensors of other tasks, and buffers that are no weights.
bool is_left_out(std::string_view name) { return name.starts_with("cls.") || name == "bert.embeddings.position_ids"; }

bool may_be_missing(std::string_view name) {
  return name.starts_with("classifier.") || name.starts_with("bert.pooler.");
}

/// Which tensor of the checkpoint is which of ours.
std::map<std::string, std::string> match_names(const Checkpoint& checkpoint, const std::vector<WeightSpec>& specs,
                                               std::vector<std::string>& notes) {
  std::vector<std::string> known;
  for (const WeightSpec& spec : specs) known.push_back(spec.name);
  std::map<std::string, std::string> found;
  std::size_t left_out = 0;
  for (const std::string& name : checkpoint.names()) {
    const std::string modern = modern_name(name);
    if (is_left_out(modern)) {
      ++left_out;
    } else if (std::ranges::find(known, modern) == known.end()) {
      throw Error{Fault::kData, checkpoint.file_of(name).string(),
                  fmt::format("tensor \"{}\" is in no BERT model of this config.json", name),
                  base::suggest_fix(modern, known)};
    } else if (!found.emplace(modern, name).second) {
      throw Error{Fault::kData, checkpoint.file_of(name).string(),
                  fmt::format("has \"{}\" under two names, \"{}\" and \"{}\"", modern, found[modern], name),
                  "remove one of them"};
    }
  }
  if (left_out > 0) notes.push_back(fmt::format("{} tensors of other tasks in the checkpoint were left out", left_out));
  return found;
}

std::vector<float> read_checked(const Checkpoint& checkpoint, const std::string& name, const WeightSpec& spec) {
  const TensorInfo& info = checkpoint.info(name);
  const std::string file = checkpoint.file_of(name).string();
  if (info.shape != spec.shape) {
    throw Error{Fault::kData, file,
                fmt::format("tensor \"{}\" has shape {}, but config.json asks for {}", name, to_string(info.shape),
                            to_string(spec.shape)),
                "use the config.json that was saved with these weights"};
  }
  if (!is_floating(info.type)) {
    throw Error{Fault::kData, file,
                fmt::format("tensor \"{}\" is {}, which is no floating type", name, name_of(info.type)),
                "export the model in fp32, bf16 or fp16"};
  }
  std::vector<float> values = checkpoint.floats(name);
  const auto bad = std::ranges::find_if_not(values, [](float value) { return std::isfinite(value); });
  if (bad != values.end()) {
    throw Error{Fault::kNumerics, file,
                fmt::format("tensor \"{}\" holds {} at element {}", name, *bad, bad - values.begin()),
                "use weights of a training run that did not diverge"};
  }
  return values;
}

std::size_t extent(const Shape& shape, std::size_t axis) { return static_cast<std::size_t>(shape.at(axis)); }

}  // namespace

std::vector<WeightSpec> bert_weights(const BertConfig& c) {
  SpecList list;
  list.embedding("bert.embeddings.word_embeddings", c.vocab_size, c.hidden_size, Init::kNormalPadZero);
  list.embedding("bert.embeddings.position_embeddings", c.max_position_embeddings, c.hidden_size);
  list.embedding("bert.embeddings.token_type_embeddings", c.type_vocab_size, c.hidden_size);
  list.layer_norm("bert.embeddings.LayerNorm", c.hidden_size);
  for (std::int64_t layer = 0; layer < c.num_hidden_layers; ++layer) {
    const std::string prefix = fmt::format("bert.encoder.layer.{}.", layer);
    for (const char* name : {"query", "key", "value"})
      list.linear(prefix + "attention.self." + name, c.hidden_size, c.hidden_size);
    list.linear(prefix + "attention.output.dense", c.hidden_size, c.hidden_size);
    list.layer_norm(prefix + "attention.output.LayerNorm", c.hidden_size);
    list.linear(prefix + "intermediate.dense", c.hidden_size, c.intermediate_size);
    list.linear(prefix + "output.dense", c.intermediate_size, c.hidden_size);
    list.layer_norm(prefix + "output.LayerNorm", c.hidden_size);
  }
  list.linear("bert.pooler.dense", c.hidden_size, c.hidden_size);
  list.linear("classifier", c.hidden_size, c.num_labels());
  return list.take();
}

std::size_t parameter_count(const std::vector<WeightSpec>& specs) {
  std::size_t count = 0;
  for (const WeightSpec& spec : specs) count += element_count(spec.shape);
  return count;
}

std::vector<float> initial_values(const WeightSpec& spec, const BertConfig& config, std::uint64_t seed) {
  std::vector<float> values(element_count(spec.shape), spec.init == Init::kOnes ? 1.0f : 0.0f);
  if (spec.init == Init::kZeros || spec.init == Init::kOnes) return values;
  Random random{seed, stream_of(spec.name)};
  for (float& value : values) value = static_cast<float>(random.normal() * config.initializer_range);
  if (spec.init == Init::kNormalPadZero) {
    const auto row = static_cast<std::ptrdiff_t>(config.pad_token_id * config.hidden_size);
    std::fill_n(values.begin() + row, config.hidden_size, 0.0f);
  }
  return values;
}

std::vector<float> transpose(std::span<const float> values, std::size_t rows, std::size_t cols) {
  base::ensure(values.size() == rows * cols, "transpose", "the shape has not as many values");
  constexpr std::size_t kTile = 32;  // both sides of a tile stay in the host's cache
  std::vector<float> out(values.size());
  for (std::size_t r0 = 0; r0 < rows; r0 += kTile)
    for (std::size_t c0 = 0; c0 < cols; c0 += kTile)
      for (std::size_t r = r0; r < std::min(r0 + kTile, rows); ++r)
        for (std::size_t c = c0; c < std::min(c0 + kTile, cols); ++c) out[c * rows + r] = values[r * cols + c];
  return out;
}

std::vector<float> Weights::for_device(const WeightSpec& spec) const {
  const auto at = values.find(spec.name);
  base::ensure(at != values.end(), spec.name, "is not among the weights");
  return spec.transposed ? transpose(at->second, extent(spec.shape, 0), extent(spec.shape, 1)) : at->second;
}

void Weights::set_from_device(const WeightSpec& spec, std::span<const float> device) {
  base::ensure(device.size() == element_count(spec.shape), spec.name, "has not as many values as its shape");
  values[spec.name] = spec.transposed ? transpose(device, extent(spec.shape, 1), extent(spec.shape, 0))
                                      : std::vector<float>(device.begin(), device.end());
}

Weights initial_weights(const BertConfig& config, std::uint64_t seed) {
  Weights weights;
  for (const WeightSpec& spec : bert_weights(config)) weights.values[spec.name] = initial_values(spec, config, seed);
  return weights;
}

Weights load_weights(const std::filesystem::path& file_or_folder, const BertConfig& config, std::uint64_t seed) {
  const Checkpoint checkpoint = Checkpoint::open(file_or_folder);
  const std::vector<WeightSpec> specs = bert_weights(config);
  Weights weights;
  const auto found = match_names(checkpoint, specs, weights.notes);
  for (const WeightSpec& spec : specs) {
    if (const auto at = found.find(spec.name); at != found.end()) {
      weights.values[spec.name] = read_checked(checkpoint, at->second, spec);
    } else if (may_be_missing(spec.name)) {
      weights.values[spec.name] = initial_values(spec, config, seed);
      weights.notes.push_back(
          fmt::format("{} is not in the checkpoint and was newly initialised: train before use", spec.name));
    } else {
      throw Error{Fault::kData, checkpoint.path().string(),
                  fmt::format("has no tensor \"{}\" of shape {}", spec.name, to_string(spec.shape)),
                  "use the config.json that was saved with these weights"};
    }
  }
  return weights;
}

void save_weights(const std::filesystem::path& folder, const BertConfig& config, const Weights& weights,
                  ElementType type) {
  std::vector<NewTensor> tensors;
  for (const WeightSpec& spec : bert_weights(config)) {
    const auto at = weights.values.find(spec.name);
    base::ensure(at != weights.values.end(), spec.name, "is not among the weights");
    tensors.push_back(
        {spec.name, type, spec.shape, [&values = at->second, type] { return from_floats(type, values); }});
  }
  write_safetensors(folder / "model.safetensors", std::move(tensors));
}

}  // namespace workloads
