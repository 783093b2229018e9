#include "trnsim/project/compiler_memory.h"

#include <algorithm>
#include <array>

#include "analysis/host/stack.h"
#include "workloads/models/model.h"

namespace trnsim {
namespace {

constexpr double kTight = 0.95;

/// Which of the compiler's words a kind belongs to; the first word takes what is not listed.
struct CompilerWord {
  std::string_view name;
  std::array<std::string_view, 4> kinds;
};
constexpr std::array kCompilerWords = {CompilerWord{"io_tensors", {}},
                                       CompilerWord{"scratchpad", {"activations", "messages", "logits", "update"}},
                                       CompilerWord{"spills", {"workspace"}},
                                       CompilerWord{"dma_rings", {"dma_rings"}},
                                       CompilerWord{"constants", {"constants"}},
                                       CompilerWord{"runtime", {"runtime"}},
                                       CompilerWord{"alignment", {"alignment"}}};

std::size_t word_of(std::string_view kind) {
  const auto has = [&](const CompilerWord& w) { return std::ranges::find(w.kinds, kind) != w.kinds.end(); };
  const auto found = std::ranges::find_if(kCompilerWords, has);
  return found == kCompilerWords.end() ? 0 : static_cast<std::size_t>(found - kCompilerWords.begin());
}

std::uint64_t kind(const Memory& memory, const std::string& name) {
  const auto found = memory.by_kind.find(name);
  return found == memory.by_kind.end() ? 0 : found->second;
}

/// For the last stage: bytes of the three copies of the logits that our program does not hold, 16 + 32 bits of values
/// or gradient that pass through SBUF.
std::uint64_t logits_bytes(const Job& job) {
  constexpr std::int64_t kStreamed = 6;
  const runtime::Plan& p = job.step.plan;
  return static_cast<std::uint64_t>(kStreamed * p.micro_batch * job.step.kind.length * job.model->sizes().vocabulary /
                                    p.tensor);
}

}  // namespace

void add_software(const Job& job, std::int64_t stage, Memory& memory) {
  const runtime::Plan& p = job.step.plan;
  const analysis::Stack stack = job.load_stack();
  if (job.model->splits() && job.step.kind.training && stage == p.last_stage()) memory.add("logits", logits_bytes(job));
  // Of the 12 bytes per parameter in the optimizer's state (master weight, two moments), an update rewrites 8.
  if (p.master_weights) memory.add("update", kind(memory, "optimizer") / 12 * 8);
  std::uint64_t scratchpad = 0;
  for (const auto& [name, bytes] : memory.by_kind)
    if (kCompilerWords[word_of(name)].name == "scratchpad") scratchpad += bytes;
  memory.add("dma_rings", static_cast<std::uint64_t>(static_cast<double>(scratchpad) * stack.ring_share.value));
  memory.add("runtime", static_cast<std::uint64_t>(stack.runtime_bytes.value));
}

std::vector<std::pair<std::string, std::uint64_t>> compiler_parts(const Memory& memory) {
  std::vector<std::pair<std::string, std::uint64_t>> out;
  for (const CompilerWord& word : kCompilerWords) out.emplace_back(word.name, 0);
  for (const auto& [name, bytes] : memory.by_kind) out[word_of(name)].second += bytes;
  return out;
}

std::string_view verdict(const Memory& memory) {
  if (!memory.fits()) return "does not fit";
  return static_cast<double>(memory.total) >= kTight * static_cast<double>(memory.capacity) ? "tight" : "fits";
}

}  // namespace trnsim
