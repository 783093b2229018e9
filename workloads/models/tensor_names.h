// Names of a family's tensors in checkpoints, besides those of its weights here.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace workloads {

struct TensorNames {
  /// The task-independent part of a model may be saved without its prefix (BertModel, LlamaModel, GPT2Model): it is put
  /// in front of names that begin with one of `tops`.
  std::string prefix{};
  std::vector<std::string> tops{};
  std::vector<std::pair<std::string, std::string>> endings{};  // of old files, and those that they have now
  /// Tensors of other tasks, and buffers that are not weights; "*" matches anything.
  std::vector<std::string> left_out{};
  /// Prefixes of the heads that a task adds to a pre-trained model: drawn at random when the file has none.
  std::vector<std::string> drawn{};
  std::map<std::string, std::string> copies{};  // a tensor, and the one that it is a copy of

  /// The name that a tensor of a file has here: old names made new, the model's prefix put in front. The others take
  /// such names.
  std::string canonical(std::string name) const;
  bool leaves_out(std::string_view name) const;
  bool may_be_missing(std::string_view name) const;
  std::optional<std::string> tied_to(const std::string& name) const;
};

}  // namespace workloads
