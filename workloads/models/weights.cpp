#include "workloads/models/weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/error.h"
#include "base/suggest.h"
#include "base/text.h"
#include "workloads/data/random.h"
#include "workloads/models/model.h"

namespace workloads {
namespace {

using base::Error;
using base::Fault;

/// Which tensor of the checkpoint is which of ours.
struct Matched {
  std::map<std::string, std::string> found;   // our name: the file's
  std::map<std::string, std::string> copies;  // the same, for a second time that a tied tensor is in the file
};

/// "bert.pooler.dense" of "bert.pooler.dense.bias".
std::string_view layer_of(std::string_view tensor) { return tensor.substr(0, tensor.rfind('.')); }

Matched match_names(const Checkpoint& checkpoint, const ModelPtr& model, const std::vector<WeightSpec>& specs,
                    std::vector<std::string>& notes) {
  std::vector<std::string> known;
  for (const WeightSpec& spec : specs) {
    if (spec.pieces.empty()) known.push_back(spec.name);
    for (const FilePiece& piece : spec.pieces) known.push_back(piece.name);
  }
  std::ranges::sort(known);
  std::set<std::string_view> layers;  // an unknown tensor in one of them is misspelt, not another task's
  for (const std::string& name : known) layers.insert(layer_of(name));
  const TensorNames& names = model->info().names;
  Matched matched;
  std::size_t left_out = 0;
  for (const std::string& name : checkpoint.names()) {
    const std::string canonical = names.canonical(name);
    const bool is_known = std::ranges::binary_search(known, canonical);
    if (const auto original = names.tied_to(canonical)) {
      matched.copies.emplace(*original, name);
    } else if (!is_known && names.leaves_out(canonical) && !layers.contains(layer_of(canonical))) {
      ++left_out;
    } else if (!is_known) {
      throw Error{
          Fault::kData, checkpoint.file_of(name).string(),
          fmt::format("tensor \"{}\" does not belong to the {} model of this config.json", name, model->family()),
          base::suggest_fix(canonical, known)};
    } else if (!matched.found.emplace(canonical, name).second) {
      throw Error{
          Fault::kData, checkpoint.file_of(name).string(),
          fmt::format("has \"{}\" under two names, \"{}\" and \"{}\"", canonical, matched.found[canonical], name),
          "remove one of them"};
    }
  }
  if (left_out > 0)
    notes.push_back(fmt::format("{} of other tasks in the checkpoint were ignored", base::counted(left_out, "tensor")));
  return matched;
}

std::vector<float> read_checked(const Checkpoint& checkpoint, const std::string& name, const Shape& shape) {
  const TensorInfo& info = checkpoint.info(name);
  const std::string file = checkpoint.file_of(name).string();
  if (info.shape != shape) {
    throw Error{Fault::kData, file,
                fmt::format("tensor \"{}\" has shape {}, but config.json asks for {}", name, to_string(info.shape),
                            to_string(shape)),
                "use the config.json that was saved with these weights"};
  }
  if (!is_floating(info.type)) {
    throw Error{Fault::kData, file,
                fmt::format("tensor \"{}\" is {}, which is not a floating type", name, name_of(info.type)),
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

/// Elements of a row of a FilePiece.
std::int64_t row_size(const FilePiece& piece) {
  return piece.elements || piece.shape.size() == 1 ? 1 : piece.shape.back();
}

/// Calls copy(the row's first element in the file's tensor, its size) for each row.
template <class Copy>
void for_each_row(const FilePiece& piece, const Copy& copy) {
  const std::int64_t size = row_size(piece);
  if (piece.columns > 0) {
    for (std::int64_t c = 0; c < piece.columns; ++c)
      for (std::int64_t r = 0; r < piece.rows / piece.columns; ++r)
        copy((piece.first + r * piece.pitch + c * piece.step) * size, size);
    return;
  }
  if (piece.step == 1) return copy(piece.first * size, piece.rows * size);
  for (std::int64_t r = 0; r < piece.rows; ++r) copy((piece.first + r * piece.step) * size, size);
}

void append(std::vector<float>& out, const std::vector<float>& all, const FilePiece& piece) {
  for_each_row(piece, [&](std::int64_t at, std::int64_t size) {
    out.insert(out.end(), all.begin() + at, all.begin() + at + size);
  });
}

/// A tensor that the file has in pieces.
std::vector<float> read_pieces(const Checkpoint& checkpoint, const Matched& matched, const WeightSpec& spec) {
  std::vector<float> out, all;
  std::string_view have;  // whose values `all` are: neighbours are often rows of one tensor
  for (const FilePiece& piece : spec.pieces) {
    const auto at = matched.found.find(piece.name);
    if (at == matched.found.end())
      throw Error{Fault::kData, checkpoint.path().string(),
                  fmt::format("has no tensor \"{}\" of shape {}", piece.name, to_string(piece.shape)),
                  "use the config.json that was saved with these weights"};
    if (have != piece.name) all = read_checked(checkpoint, at->second, piece.shape);
    have = piece.name;
    append(out, all, piece);
  }
  return out;
}

/// A tied tensor that is in the file twice must be the same both times.
void require_same(const Checkpoint& checkpoint, const std::string& name, const std::string& copy,
                  const std::vector<float>& values) {
  if (checkpoint.floats(copy) == values) return;
  throw Error{Fault::kData, checkpoint.file_of(copy).string(),
              fmt::format("tensor \"{}\" differs from \"{}\", to which config.json ties it", copy, name),
              "set \"tie_word_embeddings\" to false in config.json, or export the model again"};
}

/// A buffer that the layers have as a number must be that number, as far as the file's type has it.
void require_constant(const Checkpoint& checkpoint, const std::string& name, const WeightSpec& spec,
                      const std::vector<float>& values) {
  constexpr double kBf16 = 1.0 / 256;
  const double most = kBf16 * std::abs(spec.value);
  if (std::ranges::all_of(values, [&](float value) { return std::abs(value - spec.value) <= most; })) return;
  throw Error{Fault::kData, checkpoint.file_of(name).string(),
              fmt::format("tensor \"{}\" is {}, but only {} is computed here", name, values.front(), spec.value),
              "use the weights of a model of transformers' class, or run its PyTorch code by 'trnsim torch SCRIPT.py'"};
}

double deviation_of(Init init, const ModelPtr& model) {
  const double depth = init == Init::kNormalDeep ? std::sqrt(2.0 * static_cast<double>(model->sizes().layers)) : 1;
  return model->info().initializer_range / depth;
}

std::size_t device_rows(const WeightSpec& spec) { return static_cast<std::size_t>(device_shape(spec)[0]); }
std::size_t device_cols(const WeightSpec& spec) { return static_cast<std::size_t>(device_shape(spec)[1]); }

}  // namespace

std::size_t parameter_count(const std::vector<WeightSpec>& specs) {
  std::size_t count = 0;
  for (const WeightSpec& spec : specs) count += spec.constant ? 0 : element_count(spec.shape);
  return count;
}

std::vector<float> initial_values(const WeightSpec& spec, const ModelPtr& model, std::uint64_t seed) {
  std::vector<float> values(element_count(spec.shape), spec.init == Init::kOnes ? 1.0f : 0.0f);
  if (spec.init == Init::kZeros || spec.init == Init::kOnes) return values;
  if (spec.init == Init::kValue) return {static_cast<float>(spec.value)};
  Random random{seed, stream_of(spec.name)};
  if (spec.init == Init::kUniformFanIn) {
    const double bound = 1 / std::sqrt(static_cast<double>(spec.shape.back()));
    for (float& value : values) value = static_cast<float>((2 * random.uniform() - 1) * bound);
    return values;
  }
  const double deviation = spec.deviation > 0 ? spec.deviation : deviation_of(spec.init, model);
  for (float& value : values) value = static_cast<float>(random.normal() * deviation);
  if (spec.init == Init::kNormalPadZero) {
    const auto row = static_cast<std::ptrdiff_t>(model->info().pad_row.value() * spec.shape.at(1));
    std::fill_n(values.begin() + row, spec.shape.at(1), 0.0f);
  }
  return values;
}

std::array<std::int64_t, 2> device_shape(const WeightSpec& spec) {
  const auto all = static_cast<std::int64_t>(element_count(spec.shape));
  if (spec.shape.empty()) return {1, 1};
  if (spec.transposed) return {all / spec.shape.front(), spec.shape.front()};
  return {all / spec.shape.back(), spec.shape.back()};
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
  return spec.transposed ? transpose(at->second, device_cols(spec), device_rows(spec)) : at->second;
}

void Weights::set_from_device(const WeightSpec& spec, std::span<const float> device) {
  base::ensure(device.size() == element_count(spec.shape), spec.name, "does not have as many values as its shape");
  values[spec.name] = spec.transposed ? transpose(device, device_rows(spec), device_cols(spec))
                                      : std::vector<float>(device.begin(), device.end());
}

std::vector<float> stored_values(const Checkpoint& checkpoint, std::string_view prefix, const WeightSpec& spec) {
  if (spec.pieces.empty()) return checkpoint.floats(fmt::format("{}{}", prefix, spec.name));
  std::vector<float> out, all;
  std::string_view have;
  for (const FilePiece& piece : spec.pieces) {
    if (have != piece.name) all = checkpoint.floats(fmt::format("{}{}", prefix, piece.name));
    have = piece.name;
    append(out, all, piece);
  }
  return out;
}

std::vector<StoredTensor> stored_tensors(const std::vector<WeightSpec>& specs,
                                         const std::function<ElementType(const WeightSpec&)>& type) {
  std::vector<StoredTensor> out;
  std::map<std::string, std::size_t> at;  // of tensors that are of several parts
  for (const WeightSpec& spec : specs) {
    if (spec.pieces.empty()) out.push_back({spec.name, spec.shape, type(spec), {&spec}});
    for (const FilePiece& piece : spec.pieces) {
      const auto [place, fresh] = at.emplace(piece.name, out.size());
      if (fresh) out.push_back({piece.name, piece.shape, type(spec), {}});
      std::vector<const WeightSpec*>& parts = out[place->second].parts;
      if (parts.empty() || parts.back() != &spec) parts.push_back(&spec);
    }
  }
  return out;
}

std::vector<float> stored_values(const StoredTensor& tensor,
                                 const std::function<std::vector<float>(const WeightSpec&)>& values) {
  std::vector<float> out(element_count(tensor.shape));
  for (const WeightSpec* part : tensor.parts) {
    std::vector<float> all = values(*part);
    if (part->pieces.empty()) return all;
    std::int64_t from = 0;
    for (const FilePiece& piece : part->pieces)
      for_each_row(piece, [&](std::int64_t at, std::int64_t size) {
        if (piece.name == tensor.name) std::copy_n(all.begin() + from, size, out.begin() + at);
        from += size;
      });
  }
  return out;
}

Weights initial_weights(const ModelPtr& model, std::uint64_t seed) {
  Weights weights;
  for (const WeightSpec& spec : model->weights()) weights.values[spec.name] = initial_values(spec, model, seed);
  return weights;
}

Weights load_weights(const std::filesystem::path& file_or_folder, const ModelPtr& model, std::uint64_t seed) {
  const Checkpoint checkpoint = Checkpoint::open(file_or_folder);
  const std::vector<WeightSpec> specs = model->weights();
  Weights weights;
  const Matched matched = match_names(checkpoint, model, specs, weights.notes);
  for (const WeightSpec& spec : specs) {
    const auto at = matched.found.find(spec.name), copy = matched.copies.find(spec.name);
    if (!spec.pieces.empty()) {
      weights.values[spec.name] = read_pieces(checkpoint, matched, spec);
    } else if (at != matched.found.end()) {
      weights.values[spec.name] = read_checked(checkpoint, at->second, spec.shape);
      if (spec.constant) require_constant(checkpoint, at->second, spec, weights.values[spec.name]);
      if (copy != matched.copies.end()) require_same(checkpoint, at->second, copy->second, weights.values[spec.name]);
    } else if (copy != matched.copies.end()) {
      weights.values[spec.name] = read_checked(checkpoint, copy->second, spec.shape);
    } else if (spec.constant) {
      weights.values[spec.name] = initial_values(spec, model, seed);
    } else if (model->info().names.may_be_missing(spec.name)) {
      weights.values[spec.name] = initial_values(spec, model, seed);
      weights.notes.push_back(
          fmt::format("{} is not in the checkpoint and was initialised at random: train before use", spec.name));
    } else {
      throw Error{Fault::kData, checkpoint.path().string(),
                  fmt::format("has no tensor \"{}\" of shape {}", spec.name, to_string(spec.shape)),
                  "use the config.json that was saved with these weights"};
    }
  }
  return weights;
}

void save_weights(const std::filesystem::path& folder, const ModelPtr& model, const Weights& weights,
                  ElementType type) {
  const std::vector<WeightSpec> specs = model->weights();
  for (const WeightSpec& spec : specs)
    base::ensure(weights.values.contains(spec.name), spec.name, "is not among the weights");
  const auto values = [&](const WeightSpec& spec) { return weights.values.at(spec.name); };
  std::vector<NewTensor> tensors;
  for (StoredTensor& one : stored_tensors(specs, [&](const WeightSpec&) { return type; }))
    tensors.push_back(
        {one.name, type, one.shape, [one, values, type] { return from_floats(type, stored_values(one, values)); }});
  write_safetensors(folder / "model.safetensors", std::move(tensors));
}

}  // namespace workloads
