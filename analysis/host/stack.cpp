#include "analysis/host/stack.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

#include "analysis/host/stack_file.h"
#include "base/bundled_file.h"
#include "base/error.h"
#include "base/files.h"
#include "base/suggest.h"

namespace analysis {
namespace {

constexpr std::string_view kFolder = "analysis/host/stacks";
using D = base::Dimension;
constexpr bool kOnDevice = true;
constexpr std::array kFields = {
    Stack::Field{"host.per_op", &Stack::per_op, D::kTime,
                 "trace, hash and dispatch of one framework operation in one process"},
    Stack::Field{"host.behind", &Stack::behind, D::kRatio, "share of it that waits for the device"},
    Stack::Field{"host.contention", &Stack::contention, D::kRatio,
                 "relative increase of it with a process on each physical core"},
    Stack::Field{"host.optimizer_ops", &Stack::optimizer_ops, D::kCount,
                 "additional operations of the optimizer per tensor"},
    Stack::Field{"host.per_step", &Stack::per_step, D::kTime, "other time of one turn of the training loop"},
    Stack::Field{"host.per_sample", &Stack::per_sample, D::kTime, "data loading of one sample"},
    Stack::Field{"host.copy_bandwidth", &Stack::copy_bandwidth, D::kBandwidth,
                 "bandwidth of copies between host and device"},
    Stack::Field{"host.embeds", &Stack::embeds, D::kCount,
                 "1: the host looks up a generation's embeddings and copies them to each core; 0: it copies tokens"},
    Stack::Field{"host.read_back", &Stack::read_back, D::kTime, "copy of one number from the device to the host"},
    Stack::Field{"launch.per_launch", &Stack::per_launch, D::kTime, "launch of one graph"},
    Stack::Field{"launch.per_core", &Stack::per_launch_core, D::kTime, "additional time of the launch per core"},
    Stack::Field{"launch.per_exchange", &Stack::per_exchange, D::kTime,
                 "additional time of a step in which processes exchange data"},
    Stack::Field{"launch.in_flight", &Stack::in_flight, D::kCount, "graphs queued while the host continues"},
    Stack::Field{"launch.lead_in", &Stack::lead_in, D::kTime, "device time before a graph"},
    Stack::Field{"plan.kernel_from", &Stack::kernel_from, D::kCount,
                 "prompt length in tokens from which on attention is a kernel; 0: as transformers-neuronx chooses",
                 kOnDevice},
    Stack::Field{"plan.kernel_from_joined", &Stack::kernel_from_joined, D::kCount,
                 "the same on logical cores of two physical ones", kOnDevice},
    Stack::Field{"plan.prompt_kernel", &Stack::prompt_kernel, D::kCount,
                 "1: transformers-neuronx has a kernel for long prompts; 0: each step of attention is an operation",
                 kOnDevice},
    Stack::Field{
        "plan.scores_together", &Stack::scores_together, D::kCount,
        "without that kernel, scores that pass HBM where SBUF cannot hold them; 1: those of all sequences of a "
        "prompt, in fp32; 0: those of one sequence, in the type of the weights",
        kOnDevice},
    Stack::Field{"plan.cache_beside", &Stack::cache_beside, D::kCount,
                 "1: caches have the rows of all sequences at a position side by side; 0: those of a sequence",
                 kOnDevice},
    Stack::Field{"plan.expert_block", &Stack::expert_block, D::kCount,
                 "on logical cores of two, tokens of a prompt in a block of one expert; 0: the expert gets all tokens",
                 kOnDevice},
    Stack::Field{"plan.flash_from", &Stack::flash_from, D::kCount, "tokens from which on attention is flash attention"},
    Stack::Field{"compile.per_op", &Stack::compile_per_op, D::kTime, "compilation of one traced operation"},
    Stack::Field{"compile.per_tile", &Stack::compile_per_tile, D::kTime,
                 "additional time for each matmul of a tile of weights"},
    Stack::Field{"compile.base", &Stack::compile_base, D::kTime, "additional time for the first graph"},
    Stack::Field{"compile.instructions", &Stack::compile_instructions, D::kCount,
                 "most instructions of a module that the compiler accepts"},
    Stack::Field{"compiler.ring_share", &Stack::ring_share, D::kRatio,
                 "memory of DMA rings, as a share of the scratchpad", kOnDevice},
    Stack::Field{"compiler.runtime", &Stack::runtime_bytes, D::kBytes, "HBM of a core for code and runtime", kOnDevice},
    Stack::Field{"compile.graphs", &Stack::compile_graphs, D::kRatio, "graphs of a step that a job compiles"},
    Stack::Field{"compile.start_per_op", &Stack::start_per_op, D::kTime,
                 "time to lower and load one operation of a cached graph"},
};

}  // namespace

std::span<const Stack::Field> Stack::fields() { return kFields; }

Stack load_stack(base::ParamFile file) {
  Stack stack;
  stack.name = file.read_string("name").value;
  stack.text = file.read_string("text").value;
  stack.needs = file.read_string("needs").value;
  for (const Stack::Field& field : kFields) stack.*field.member = file.read(field.key, field.dimension);
  stack.trains = file.read_string("trains").value;
  stack.passes = file.read_string("compiler.passes").value;
  stack.sequence_parallel = file.read_string("plan.sequence_parallel").value;
  stack.recompute = file.read_string("plan.recompute").value;
  stack.splits_models = file.read_string("plan.splits_models").value;
  file.reject_unread();
  if (!(stack.copy_bandwidth.value > 0)) {
    throw base::Error{base::Fault::kUsage, file.name(), "host.copy_bandwidth must be more than 0",
                      "give a bandwidth such as 3.68 GB/s"};
  }
  return stack;
}

base::ParamFile stack_file(std::string_view name) {
  const std::vector<std::string> names = stack_names();
  if (std::ranges::find(names, name) == names.end()) {
    throw base::Error{base::Fault::kUsage, "`stack`", fmt::format("unknown stack '{}'", name),
                      base::suggest_fix(name, names)};
  }
  return base::bundled_file(fmt::format("{}/{}.toml", kFolder, name));
}

Stack load_stack(std::string_view name, std::span<const StackChange> changes) {
  base::ParamFile file = stack_file(name);
  for (const StackChange& change : changes) {
    stack_file(change.file);  // refuses one that does not exist
    const std::vector<std::string> keys = file.keys(change.key);
    if (std::ranges::find(keys, change.key) != keys.end() && file_of(file.parameter(change.key)) == change.file)
      file.set(change.key, change.value, "what-if");
  }
  return load_stack(std::move(file));
}

std::string file_of(const base::Parameter& parameter) {
  return std::filesystem::path{parameter.where.substr(0, parameter.where.rfind(':'))}.stem().string();
}

std::vector<std::string> stack_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator{base::data_path(kFolder)}) {
    if (entry.path().extension() == ".toml") names.push_back(entry.path().stem().string());
  }
  std::ranges::sort(names);
  return names;
}

std::string passes_of(const Stack& stack, double length, std::string_view more) {
  std::string out = stack.passes;
  const auto add = [&](std::string_view text) {
    if (!text.empty()) out += (out.empty() ? "" : ",") + std::string{text};
  };
  if (stack.flash_from.value > 0 && length >= stack.flash_from.value) add("+flash_attention");
  add(more);
  return out;
}

}  // namespace analysis
