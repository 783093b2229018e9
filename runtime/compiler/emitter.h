// Writes the instructions of one block on virtual buffers: ops give operations, without addresses or times.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "isa/program.h"
#include "isa/target.h"
#include "runtime/compiler/engine_books.h"
#include "runtime/compiler/loop_part.h"
#include "runtime/compiler/tiles.h"
#include "runtime/graph/graph.h"

namespace runtime {

using isa::Alu;
using isa::Fn;
using isa::Instr;
using isa::Opcode;

/// A buffer before it has an address. Tile::reg names it, counted from 1.
struct Buffer {
  isa::Space space = isa::Space::kSbuf;
  std::int64_t bytes = 0;  // per partition
  std::int64_t parts = 0;  // partitions
};

/// Instructions in a correct sequential order, on virtual buffers and HBM registers, without waits.
struct VirtualBlock {
  std::string name;
  std::vector<Instr> instrs;
  std::vector<Buffer> buffers;
  std::vector<std::string> labels;
  std::vector<ValueId> registers;  // which tensor each HBM register is for
  double movement_flops = 0;       // of matmuls that only move data

  /// The number that tiles in this buffer have as their `reg`.
  std::uint32_t add(const Buffer& buffer) {
    buffers.push_back(buffer);
    return static_cast<std::uint32_t>(buffers.size());
  }
};

/// A factor or a bias: one number, or one per partition in a tile [P, 1].
using Scalar = std::variant<float, Tile>;

class Emitter {
 public:
  static constexpr std::int64_t kKeptRows = std::int64_t{4} * isa::kPartitions;  // of tensors that keep() takes, but
                                                                                 // for readers of kept pictures
  static constexpr std::int64_t kKeptBytes = std::int64_t{32} * 1024;            // of a partition, for one of them

  /// Keeps references to both.
  Emitter(const Graph& graph, const isa::Target& target, std::string name);

  const Graph& graph() const { return graph_; }
  const isa::Target& target() const { return target_; }
  const Value& value(ValueId id) const { return graph_.value(id); }

  // --- memory
  Tile sbuf(Dtype dtype, std::int64_t parts, std::int64_t cols);
  /// Columns of a partition that a PSUM bank holds.
  std::int64_t bank_columns(Dtype dtype) const { return target_.geometry.psum_bank_bytes / isa::size_of(dtype); }
  /// One bank. Errors: Fault::kInternal when it does not fit in it.
  Tile psum(std::int64_t parts, std::int64_t cols, Dtype dtype = Dtype::kFp32);
  /// Rows [row, row + rows) of a tensor in HBM, `stride` rows apart.
  Tile hbm(ValueId id, std::int64_t row, std::int64_t rows, std::int64_t stride = 1);
  /// The same, columns [span.begin, +span.size).
  Tile hbm(ValueId id, std::int64_t row, std::int64_t rows, std::int64_t col, std::int64_t cols, std::int64_t stride);
  /// One row for all of `parts` partitions.
  Tile hbm_row(ValueId id, std::int64_t row, std::int64_t parts, std::int64_t col, std::int64_t cols);
  /// `count` elements from element `begin` on, as [parts, count / parts].
  Tile hbm_flat(ValueId id, std::int64_t begin, std::int64_t parts, std::int64_t cols, std::int64_t row_elements);
  /// All of a tensor as one row, as collectives take it.
  Tile hbm_whole(ValueId id) { return hbm_flat(id, 0, 1, value(id).elements(), 0); }

  // --- data movement; of two engines that could, the one that is done first takes it
  void load(const Tile& dst, const Tile& src);
  Tile loaded(Dtype dtype, const Tile& src);
  void store(const Tile& dst, const Tile& src);
  /// One row of a tensor, columns [col, col + cols), in each of `parts` partitions. DMA would read it once for each
  /// partition; TensorE multiplies a column of ones with it, which is exact.
  Tile broadcast(ValueId id, std::int64_t parts, std::int64_t col, std::int64_t cols);
  /// As above, for a row [1, cols] that is in SBUF.
  Tile spread(const Tile& row, std::int64_t parts);
  /// Rows of `src` to the rows of `dst` that `index` [P, 1] int32 names.
  void scatter(const Tile& dst, const Tile& src, const Tile& index);
  void copy(const Tile& dst, const Tile& src, Scalar scale = 1.0F);
  void fill(const Tile& dst, float value);
  /// Element (p, i) of `tile` stays where start + p * by_row + i * by_col >= 0, and becomes `otherwise` elsewhere.
  void affine_select(const Tile& tile, float start, float by_row, float by_col, float otherwise);
  /// Remembers that rows [row, row + tile.partitions) of a tensor are in `tile`: later reads in the block
  /// reuse it. Only small tensors, which do not take the space of others: of few rows, with `most_bytes` of a partition
  /// for all of them.
  void keep(ValueId id, std::int64_t row, const Tile& tile, std::int64_t most_bytes = kKeptBytes);
  /// Whether it is small enough for keep().
  bool keeps(ValueId id, std::int64_t most_bytes = kKeptBytes) const;
  /// As above, for all rows of a tensor with few, each folded over equally many partitions.
  void keep_folded(ValueId id, const Tile& tile) { folded_[id] = tile; }
  /// A tile that ops of the block make once, of these values; empty until one of them does.
  Tile& made_of(const std::vector<ValueId>& values) { return made_of_[values]; }
  const Tile* kept_folded(ValueId id) const {
    const auto found = folded_.find(id);
    return found == folded_.end() ? nullptr : &found->second;
  }
  /// The tile with these rows, or nullptr.
  const Tile* kept(ValueId id, std::int64_t row, std::int64_t rows) const;

  // --- arithmetic
  void matmul(const Tile& dst, const Tile& stationary, const Tile& moving, bool accumulate);
  /// A matmul with ones and zeros, which only moves numbers.
  void move(const Tile& dst, const Tile& stationary, const Tile& moving);
  void transpose(const Tile& dst, const Tile& src);
  void tensor_tensor(const Tile& dst, const Tile& a, Alu op, const Tile& b);
  void tensor_scalar(const Tile& dst, const Tile& a, Alu op0, Scalar s0, Alu op1 = Alu::kNone, Scalar s1 = 0.0F);
  /// The same on VectorE or ScalarE, where both compute it: the one that is done first takes it.
  void tensor_scalar_anywhere(const Tile& dst, const Tile& a, Alu op0, Scalar s0, Alu op1 = Alu::kNone,
                              Scalar s1 = 0.0F);
  void scalar_tensor_tensor(const Tile& dst, const Tile& a, Alu op0, Scalar s, Alu op1, const Tile& c);
  void activation(const Tile& dst, Fn fn, const Tile& a, Scalar scale = 1.0F, Scalar bias = 0.0F,
                  const Tile* sum = nullptr);
  void reduce(const Tile& dst, Alu op, const Tile& a);
  /// The random numbers of a piece, and of how many neighbouring ranks they are (DropoutAttrs).
  struct Draws {
    std::uint32_t stream = 0, piece = 0;
    std::uint16_t alike = 0;
  };
  void dropout(const Tile& dst, const Tile& a, double p, const Draws& draws);
  void emit(const Instr& instr);

  // --- constants, made once per block
  Tile identity(Dtype dtype);                                                                          // [128, 128]
  Tile ones(Dtype dtype, std::int64_t cols) { return filled(ConstantKind::kOnes, dtype, cols, 1); }    // [128, cols]
  Tile constant(float value);                                                                          // [128, 1] fp32
  Tile zeros(Dtype dtype, std::int64_t cols) { return filled(ConstantKind::kZeros, dtype, cols, 0); }  // [128, cols]
  Tile ramp(std::int64_t cols);  // [128, cols] fp32: 0, 1, 2, ...

  void label(std::string text);
  VirtualBlock finish();

  // --- loops
  /// The part of an operation's outermost loops that is to be written: all, unless only() named one.
  LoopPart part_of(const LoopShape& shape) { return parts_of({shape}).front(); }
  /// As above, of each stage that is to be written.
  std::vector<LoopPart> parts_of(LoopStages stages);
  void only(const LoopPart& part) { part_ = part; }
  const LoopStages& stages() const { return stages_; }
  int loops() const { return loops_; }  // that asked

 private:
  Tile buffer(isa::Space space, Dtype dtype, std::int64_t parts, std::int64_t cols);
  std::uint32_t reg(ValueId id);
  Instr tensor_scalar_of(const Tile& dst, const Tile& a, std::pair<Alu, Scalar> first, std::pair<Alu, Scalar> then);
  Tile filled(ConstantKind kind, Dtype dtype, std::int64_t cols, float value);

  const Graph& graph_;
  const isa::Target& target_;
  VirtualBlock block_;
  std::unordered_map<ValueId, std::uint32_t> registers_;
  Constants<Tile> constants_;
  std::map<std::pair<ValueId, std::int64_t>, Tile> kept_;
  std::map<std::vector<ValueId>, Tile> made_of_;
  std::map<ValueId, Tile> folded_;
  EngineBooks books_;
  std::uint32_t label_ = 0;
  LoopPart part_{};
  LoopStages stages_;
  int loops_ = 0;
};

}  // namespace runtime
