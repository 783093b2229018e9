// A software stack: the costs of the host around the device. One small file each: analysis/host/stacks/NAME.toml.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/param_file.h"

namespace analysis {

/// Costs of the host around the device.
struct HostCosts {
  base::Sourced<double> per_op;  // s to trace, hash and dispatch one framework operation, alone on the host
  base::Sourced<double> behind;  // share of per_op that waits for the device: a graph is hashed once it is idle
  /// Slow-down of the host's work by other processes: 1 + contention x processes / physical cores. A process
  /// has more threads than its main one: autograd, the runtime, the loader.
  base::Sourced<double> contention;
  base::Sourced<double> optimizer_ops;    // more of them that the stack's optimizer dispatches for each tensor
  base::Sourced<double> per_step;         // s that one turn of the training loop takes besides
  base::Sourced<double> per_sample;       // s of data loading for one sample
  base::Sourced<double> per_launch;       // s to launch one graph
  base::Sourced<double> per_launch_core;  // s more for each core that the launch starts
  base::Sourced<double> per_exchange;     // s more of a step whose processes meet in a collective
  base::Sourced<double> in_flight;        // graphs that may wait for the device while the host continues
  base::Sourced<double> copy_bandwidth;   // B/s between host and device
  base::Sourced<double> read_back;        // s until the host has a scalar that the device computed
  base::Sourced<double> embeds;   // 1: the host looks up the embeddings of a text that is continued; 0: the device
  base::Sourced<double> lead_in;  // s of the device before a graph's first instruction, beyond the program's own
};

/// Costs of the compiler, and of the runtime that starts its programs.
struct CompilerCosts {
  base::Sourced<double> compile_per_op;    // s of compilation per operation of a graph, when no cache has it
  base::Sourced<double> compile_per_tile;  // s more for each matmul of a tile of weights, unrolled
  base::Sourced<double> compile_base;      // s that every first graph takes besides
  base::Sourced<double> compile_graphs;    // that a job compiles of its step: the first step's, the later ones', ...
  base::Sourced<double> compile_instructions;  // of a module, from which on the compiler refuses
  base::Sourced<double> ring_share;            // bytes of DMA rings for a byte of scratchpad
  base::Sourced<double> runtime_bytes;         // of a core's HBM that code and runtime take
  base::Sourced<double> start_per_op;          // s per operation until cached graphs are lowered, found and loaded
};

/// Defaults of a published run of a stack for columns that its row leaves open, as the reference scripts have them, and
/// those of its compiler. Plain text: comments in the files give the reasons.
struct ReferenceScripts {
  std::string text;               // the software, in a line
  std::string needs;              // requirements on its user; empty: no training loop
  std::string trains;             // "yes", or "no": a library that only generates text
  std::string passes;             // switches as of --passes
  std::string sequence_parallel;  // "yes", "no"
  std::string recompute;          // "none", "selective", "full"
  std::string splits_models;      // "yes": made for models whose layers several cores share, "no": for any
  // Tokens of a prompt from which on attention is the library's kernel; joined: on logical cores of two. 0: as
  // transformers-neuronx chooses.
  base::Sourced<double> kernel_from, kernel_from_joined;
  base::Sourced<double> prompt_kernel;    // 0: transformers-neuronx has no such kernel
  base::Sourced<double> scores_together;  // 1: of a prompt's sequences, where it has no such kernel
  base::Sourced<double> cache_beside;     // 1: caches have the rows of all sequences at a position side by side
  /// On logical cores of two, rows of a block of a prompt's tokens that one expert has; 0: it has all tokens.
  base::Sourced<double> expert_block;
  base::Sourced<double> flash_from;  // tokens of a sequence from which on its scripts ask for flash attention
};

struct Stack : HostCosts, CompilerCosts, ReferenceScripts {
  std::string name;

  struct Field {
    std::string_view key;
    base::Sourced<double> Stack::*member;
    base::Dimension dimension;
    std::string_view text;
    bool on_device = false;  // programs, or their memory, depend on it
  };
  /// The only list of the numbers: the loader, `trnsim params --stack` and the tests walk it.
  static std::span<const Field> fields();
};

/// Errors: Fault::kUsage for a missing or unknown key, a missing unit or source.
Stack load_stack(base::ParamFile file);
/// A what-if on a number of a stack: "torch-xla", "host.per_op", "1.1x".
struct StackChange {
  std::string file, key, value;
  bool operator==(const StackChange&) const = default;
};

/// Loads a bundled stack: "bare", "torch-xla", "hf-trainer". A change holds wherever the number comes from its file, in
/// the stack itself or in one that inherits it. Errors: Fault::kUsage with a suggestion, also for a change of a file
/// that does not exist.
Stack load_stack(std::string_view name, std::span<const StackChange> changes = {});
/// Names of the bundled stacks, in alphabetical order.
std::vector<std::string> stack_names();

/// Switches of --passes: the stack's for sequences of `length` tokens, then the user's, which win.
std::string passes_of(const Stack& stack, double length, std::string_view more);

}  // namespace analysis
