// Generates on simulated cores: weights and caches in their HBM, a program for the prompts and one for each next token.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "isa/device.h"
#include "isa/target.h"
#include "runtime/compiler/compile.h"
#include "workloads/models/decoder/generation_graph.h"

namespace workloads {

/// The programs of a generation, compiled for one device: shared tensors have the same addresses.
struct GenerationPrograms {
  struct Token {
    std::int64_t read = 0;  // rows of the caches: enough for tokens at positions up to here
    runtime::Compiled compiled;
  };
  /// For tokens at positions from `first` to `last`. `cache`: where programs are kept; none: nowhere. Errors: as
  /// check().
  GenerationPrograms(const ModelPtr& model, const GenerationSpec& spec, std::int64_t first, std::int64_t last,
                     const isa::Target& target, runtime::ProgramCache* cache = nullptr);
  runtime::Compiled prompt;
  std::vector<Token> tokens;  // by rising `read`

  std::uint64_t hbm_bytes() const { return prompt.program.hbm_bytes; }
};

/// Rows of the caches that each of the programs for tokens at positions from `first` to `last` reads.
std::vector<std::int64_t> rows_read(const ModelPtr& model, const GenerationSpec& spec, std::int64_t first,
                                    std::int64_t last);

class Generator {
 public:
  /// Errors: as check(GenerationSpec).
  Generator(const ModelPtr& model, const GenerationSpec& spec, const Weights& weights, const isa::Target& target,
            std::unique_ptr<isa::Device> device = isa::make_numeric_device(), int host_threads = 0);
  ~Generator();

  /// Logits [batch, vocabulary] behind each of `prompts`, spec.batch of 1 to spec.prompt tokens.
  std::vector<float> begin(const std::vector<std::vector<std::int32_t>>& prompts);
  /// The same behind sounds, [batch * frames, bands].
  std::vector<float> begin(std::span<const float> frames);
  /// The same behind one more token of each sequence. Errors: Fault::kUsage when a cache is full.
  std::vector<float> next(std::span<const std::int32_t> tokens);

  std::int64_t vocabulary() const;
  const GenerationPrograms& programs() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace workloads
