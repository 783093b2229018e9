// The list of a family's tensors.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <vector>

#include "workloads/models/weights.h"

namespace workloads {

/// Appends the tensors of one kind of layer.
class SpecList {
 public:
  /// Later weights belong to this layer, or to a place before or after the layers.
  void at(std::int64_t layer) { layer_ = layer; }

  void tensor(std::string name, Shape shape, Init init, bool transposed = false,
              TensorSplit split = TensorSplit::kNone) {
    specs_.push_back({std::move(name), std::move(shape), init, transposed, split, layer_});
  }
  void embedding(const std::string& name, std::int64_t rows, std::int64_t cols,
                 TensorSplit split = TensorSplit::kNone) {
    tensor(name + ".weight", {rows, cols}, Init::kNormal, false, split);
    table();
  }
  /// The last tensor's rows are read by number.
  void table() { specs_.back().table = true; }
  void matrix(const std::string& name, std::int64_t in, std::int64_t out, TensorSplit split = TensorSplit::kNone) {
    tensor(name + ".weight", {out, in}, Init::kNormal, true, split);
  }
  /// Sets the standard deviation of the last tensor's initial values.
  void deviation(double value) { specs_.back().deviation = value; }
  /// One number in a tensor of `axes` axes.
  void number(std::string name, double value, std::size_t axes = 1) {
    tensor(std::move(name), Shape(axes, 1), Init::kValue);
    specs_.back().value = value;
  }
  /// A buffer that has this value.
  void constant(std::string name, double value) {
    number(std::move(name), value, 0);
    specs_.back().frozen = specs_.back().constant = true;
  }
  /// The last tensor is not trained.
  void freeze() { specs_.back().frozen = true; }
  /// The last tensor is rows of another one of a file.
  void stored_in(std::vector<FilePiece> pieces) { specs_.back().pieces = std::move(pieces); }
  /// `count` linear weights [out, in] as one, a rank's share of them one after the other; a file has them apart, as
  /// PREFIX0.NAME.weight and so on.
  void stacked(const std::string& prefix, const std::string& name, std::int64_t count, std::int64_t in,
               std::int64_t out, TensorSplit of_each = TensorSplit::kAxis0) {
    tensor(prefix + name + ".weight", {count * out, in}, Init::kNormal, true, TensorSplit::kAxis0);
    specs_.back().stack = out;
    specs_.back().expert_split = of_each;
    for (std::int64_t i = 0; i < count; ++i)
      specs_.back().pieces.push_back({fmt::format("{}{}.{}.weight", prefix, i, name), {out, in}, 0, out});
  }
  /// Their biases.
  void stacked_bias(const std::string& prefix, const std::string& name, std::int64_t count, std::int64_t size,
                    TensorSplit of_each) {
    tensor(prefix + name + ".bias", {count * size}, Init::kZeros, false, TensorSplit::kAxis0);
    specs_.back().stack = size;
    specs_.back().expert_split = of_each;
    for (std::int64_t i = 0; i < count; ++i)
      specs_.back().pieces.push_back({fmt::format("{}{}.{}.bias", prefix, i, name), {size}, 0, size});
  }
  /// The last tensor is an expert's that every rank has, unless ranks share each expert.
  void expert_split(TensorSplit split) { specs_.back().expert_split = split; }
  /// A weight and a bias. A bias is split with the outputs of its weight; after split inputs every rank holds it.
  void linear(const std::string& name, std::int64_t in, std::int64_t out, TensorSplit split = TensorSplit::kNone) {
    matrix(name, in, out, split);
    tensor(name + ".bias", {out}, Init::kZeros, false, split == TensorSplit::kAxis1 ? TensorSplit::kNone : split);
  }
  /// GPT-2's Conv1D, [in, out].
  void conv1d(const std::string& name, std::int64_t in, std::int64_t out, TensorSplit split,
              Init init = Init::kNormal) {
    tensor(name + ".weight", {in, out}, init, false, split);
    const TensorSplit bias = split == TensorSplit::kAxis1   ? TensorSplit::kAxis0
                             : split == TensorSplit::kAxis0 ? TensorSplit::kNone
                                                            : split;
    tensor(name + ".bias", {out}, Init::kZeros, false, bias);
  }
  /// A convolution over `places` neighbours, whose weight is [out, in, places] in a file. On the device each neighbour
  /// has a matrix.
  void convolution(const std::string& name, std::int64_t in, std::int64_t out, std::int64_t places) {
    for (std::int64_t i = 0; i < places; ++i) {
      matrix(fmt::format("{}.{}", name, i), in, out);
      stored_in({{name + ".weight", {out, in, places}, i, out * in, places, true}});
    }
    tensor(name + ".bias", {out}, Init::kZeros);
  }
  void layer_norm(const std::string& name, std::int64_t size, bool bias = true) {
    rms_norm(name, size);
    if (bias) norm_bias(name, size);
  }
  void norm_bias(const std::string& name, std::int64_t size) {
    tensor(name + ".bias", {size}, Init::kZeros);
    specs_.back().norm = true;
  }
  void rms_norm(const std::string& name, std::int64_t size, Init init = Init::kOnes,
                TensorSplit split = TensorSplit::kNone) {
    tensor(name + ".weight", {size}, init, false, split);
    specs_.back().norm = true;
  }

  std::vector<WeightSpec> take() { return std::move(specs_); }

 private:
  std::vector<WeightSpec> specs_;
  std::int64_t layer_ = WeightSpec::kBeforeLayers;
};

}  // namespace workloads
