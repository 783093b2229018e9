// The work that a block has given to engines and DMA rings so far, used to choose among possible engines.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <tuple>

#include "isa/target.h"

namespace runtime {

/// Exceptions from the rule that, among several engines, the one that finishes first takes an instruction.
struct EnginePolicy {
  bool psum_copies_on_scalar = false;     // copies from and to PSUM
  bool tensor_scalars_on_scalar = false;  // wherever ScalarE's factor and bias compute the same
  bool sbuf_fills_on_gpsimd = false;      // a number into a tile of SBUF
};

/// For the compiler of graphs, and for kernels that are written by hand on its emitter.
inline constexpr EnginePolicy kGraphPolicy{.sbuf_fills_on_gpsimd = true};
/// As NKI's compiler. Source: profiles of kernels on Trn1 (nkibench): copies from PSUM run on ScalarE, alongside
/// matmuls and VectorE; by the busy shares of adamw, silu and rmsnorm_matmul every tensor_scalar does, also where
/// VectorE has less to do.
inline constexpr EnginePolicy kNkiPolicy{.psum_copies_on_scalar = true, .tensor_scalars_on_scalar = true};

class EngineBooks {
 public:
  /// A tile [P, 1] of this number, for the partitions of the other tile.
  using NumberTile = std::function<isa::Tile(float, const isa::Tile&)>;

  /// Keeps a reference to `target`.
  EngineBooks(const isa::Target& target, const EnginePolicy& policy) : target_{target}, policy_{policy} {}

  /// The instruction on the engine that takes it, which may be another opcode there: tensor_copy, tensor_scalar,
  /// reciprocal and memset; others go to VectorE. Where a policy says nothing, so may the larger of a number and 0.
  /// `number_tile`: for ScalarE, whose biases are tiles.
  isa::Instr choose(isa::Instr instr, const NumberTile& number_tile = {}) const;
  /// A DMA on the next of the rings for loads, or of those for stores, issued by that half's sequencer.
  isa::Instr load(isa::Instr dma);
  isa::Instr store(isa::Instr dma);
  /// Adds the instruction's work to its engine's. DMA and collectives have queues of their own.
  void add(const isa::Instr& instr);

 private:
  /// Seconds of work that the instruction's engine would have been given, this included.
  double done_after(const isa::Instr& instr) const;

  const isa::Target& target_;
  const EnginePolicy policy_;
  std::array<double, isa::kEngineCount> busy_{};  // seconds
  std::array<int, 2> next_ring_{};                // for loads, for stores
};

enum class ConstantKind : std::uint8_t { kIdentity, kNumber, kOnes, kZeros, kRamp };

/// Constants that a block makes once, as the tiles or views of its author.
template <class Made>
class Constants {
 public:
  /// The existing one with that many columns, or `make()`.
  const Made& get(ConstantKind kind, isa::Dtype dtype, std::int64_t cols, const auto& make) {
    const std::tuple key{kind, dtype, cols};
    const auto found = all_.find(key);
    return found != all_.end() ? found->second : all_.emplace(key, make()).first->second;
  }
  /// One fp32 number in each partition.
  const Made& number(float value, const auto& make) {
    return get(ConstantKind::kNumber, isa::Dtype::kFp32, std::bit_cast<std::int32_t>(value), make);
  }

 private:
  std::map<std::tuple<ConstantKind, isa::Dtype, std::int64_t>, Made> all_;  // the last: columns, or bits of the number
};

}  // namespace runtime
