#include "validation/predict/stack_of_row.h"

#include <array>
#include <utility>

#include "base/text.h"

namespace validation {
namespace {

/// Published names of the stacks; the first word that a name contains decides: "HF Trainer on torch-xla".
constexpr std::array<std::pair<std::string_view, std::string_view>, 15> kStackWords = {
    {{"transformers-neuronx", "transformers-neuronx"},
     {"neuronx-distributed-inference", "nxd-inference"},
     {"nxd-inference", "nxd-inference"},
     {"nxdi", "nxd-inference"},
     {"megatron", "megatron"},
     {"nemo", "megatron"},
     {"neuronx-distributed", "neuronx-distributed"},
     {"nxd", "neuronx-distributed"},
     {"hf trainer", "hf-trainer"},
     {"hf-trainer", "hf-trainer"},
     {"optimum", "hf-trainer"},
     {"bare", "bare"},
     {"torch-xla", "torch-xla"},
     {"torch-neuronx", "torch-xla"},
     {"xla", "torch-xla"}}};

}  // namespace

std::string stack_for(std::string_view published_name) {
  const std::string name = base::lower(published_name);
  for (const auto& [word, stack] : kStackWords)
    if (name.find(word) != std::string::npos) return std::string{stack};
  return "";
}

std::string stack_of(const TrainingRow& row) { return row.release.empty() ? stack_for(row.stack) : row.release; }

}  // namespace validation
