// Tensors of an NKI kernel and the parts of them that its index expressions name.
// Source: AWS Neuron docs, NKI programming model (tensor indexing), nki.language 2.26.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "isa/tile.h"

namespace runtime::nki {

inline constexpr int kMostAxes = 16, kAllApart = -1;

/// Numbers that are affine in the places of an index tile: constant + sum of coef[d] * i_d, 0 <= i_d < size[d].
/// The result of nl.arange, nl.mgrid and arithmetic on them.
struct Affine {
  std::int64_t constant = 0;
  int rank = 0;
  std::array<std::int64_t, kMostAxes> size{}, coef{};

  static Affine number(std::int64_t value) { return {.constant = value}; }
  static Affine arange(std::int64_t begin, std::int64_t end, std::int64_t step);
  Affine scaled(std::int64_t factor) const;
  /// Sizes broadcast as NumPy's do. Errors: Fault::kProgram when they cannot.
  Affine plus(const Affine& other, std::int64_t sign = 1) const;
  /// The quotient and the remainder of a division by `divisor`, rounded down, where both are affine; else nothing.
  std::optional<std::pair<Affine, Affine>> divided(std::int64_t divisor) const;
  /// The least of all places. Rank 0: the constant.
  std::int64_t least() const;
  std::int64_t most() const;
};

/// A conjunction of affine inequalities, each `expression >= 0`: the mask of an instruction.
using Mask = std::vector<Affine>;

/// The same places as masks whose inequalities have one index each, apart from each other: an inequality of a row-major
/// place is full rows and a part of one. An axis of `whole` is not divided: a reduction over it is one instruction for
/// each place of the others. An inequality that makes more than a few stays as it is.
std::vector<Mask> rectangles(const Mask& mask, std::span<const std::size_t> whole = {});

struct View;
struct Storage;
class Trace;

/// A region of a buffer that has been written: dense bytes of some partitions.
struct Region {
  int part = 0, parts = 0;
  std::int64_t low = 0, high = 0;
  bool dense = false;
};

/// Where a kernel itself puts a block: partition and byte, in PSUM counted over the banks.
struct Place {
  std::int64_t part = 0, byte = 0;
};

/// A block of a tensor on the chip: [partitions, free...], one buffer.
struct BlockState {
  std::uint32_t buffer = 0;  // 0: not touched yet
  bool filled = false;       // the fill value has been written
  std::uint32_t slot = 0;    // the first instruction that touches it: a fill goes in front of it
  std::vector<Region> written;
  /// Regions that a product may add to, if not all that have been written: former iterations of an open loop are not
  /// among them (Bodies).
  std::optional<std::vector<Region>> sums{};
};

struct Axis {
  enum class Kind : std::uint8_t { kBlock, kPart, kFree };
  std::int64_t size = 1;
  std::int64_t step = 0;  // blocks, partitions or elements
  Kind kind = Kind::kFree;
};

/// Rows or elements that an index tile in SBUF names, of an axis of a tensor in HBM or of the free axis on the chip.
struct Indirect {
  std::shared_ptr<View> index;
  std::int64_t step = 0;   // elements from one index to the next
  std::int64_t limit = 0;  // how many there are
  bool rows = false;       // one index for each partition
};

/// Places of an axis that an index names and that are not there: a mask may leave them out.
struct Claim {
  Affine index;  // over the axes of the view
  std::int64_t limit = 0;
  int axis = 0;  // of the tensor that was indexed
};

/// Part of a tensor: the value of `tensor[...]`.
struct View {
  std::shared_ptr<Storage> storage;
  isa::Dtype dtype = isa::Dtype::kFp32;
  std::int64_t block = 0, part = 0, offset = 0;  // offset: elements
  int rank = 0;
  std::array<Axis, kMostAxes> axes{};
  int apart = 0;  // an axis that is not joined with the one in front of it: the axis of a reduction; or kAllApart
  std::optional<Indirect> indirect{};
  std::vector<Claim> claims{};
  bool number = false;  // one element that integers name, as in `tile[0, 0]`: an index without axes

  bool on_chip() const;
  std::int64_t elements() const;
  std::int64_t partitions() const;  // of the first axis
  std::int64_t cols() const;        // of all others
  bool empty() const { return elements() == 0; }
  bool same_place(const View& other) const;
};

/// A tensor as the kernel declared it.
struct Storage {
  std::weak_ptr<Trace*> trace;  // empty once the kernel is compiled
  std::uint64_t number = 0;     // of its trace, never given again; an address may be, once a tensor is gone
  isa::Space space = isa::Space::kSbuf;
  isa::Dtype dtype = isa::Dtype::kFp32;
  std::string name;
  std::int64_t parts = 1, cols = 1;  // of a block; of a tensor in HBM all elements are columns
  std::vector<BlockState> blocks;
  std::vector<Place> places;  // explicit allocation: of each block
  std::size_t core = 0;       // in whose memories it is
  std::optional<double> fill;
  std::uint32_t reg = 0;     // HBM
  bool written = false;      // HBM: by an instruction of the kernel
  std::uint32_t sweeps = 0;  // writes of several elements at once, any of which may be one that is known
  std::map<std::array<std::int64_t, 3>, std::uint32_t> singles;  // writes of one element: block, partition, word
  bool temporary = false, read = false;
  /// The instructions that wrote it, until it is read: `result = instruction()` may still be redirected.
  struct Producer {
    std::uint32_t instr = 0;
    bool second = false;  // its dst2
    View part;
  };
  std::vector<Producer> producers;
};

/// The block, partition and word of four bytes where the view begins.
std::array<std::int64_t, 3> word_of(const View& view);
/// How often the first element of the view may have been written so far.
std::uint32_t times_written(const View& view);

/// One index of `tensor[...]`.
struct Index {
  enum class Kind : std::uint8_t { kInteger, kSlice, kAffine, kNewAxis, kEllipsis, kTile };
  Kind kind = Kind::kSlice;
  std::int64_t begin = 0, size = -1, step = 1;  // kInteger: begin; kSlice: size < 0: to the end
  Affine affine;
  std::shared_ptr<View> tile;  // kTile: index values plus `affine`
};

/// `view[indices]`. Errors: Fault::kProgram for an index out of bounds, too many of them, partitions that are mixed.
View subscript(const View& view, const std::vector<Index>& indices);

/// Elements [low, low + size) of an axis.
View cut(const View& view, int axis, std::int64_t low, std::int64_t size);
/// Places of an axis.
struct Range {
  std::int64_t begin = 0, size = 0;
};
/// The places of each axis that a mask leaves. Errors: as masked().
std::vector<Range> left(const View& view, const Mask& mask);
/// The part of a view that a mask leaves; the view's axes are those of `shape`. Errors: Fault::kProgram when that is no
/// rectangle.
View masked(const View& view, const Mask& mask);
/// The same elements with other sizes of axes. Errors: Fault::kProgram when an axis would have to be joined or split in
/// memory that is not contiguous, or across partitions.
View reshaped(const View& view, const std::vector<std::int64_t>& sizes);
/// Axes of one element repeated as NumPy broadcasts. The partition axis may be repeated too: `step` 0.
View broadcast(const View& view, const std::vector<std::int64_t>& sizes);
/// The axes as a hardware access pattern gives them: (step, size) in elements of the storage, from element `offset` on.
/// On the chip the first pair is that of the partitions, whose step is a multiple of the storage's elements in one.
/// Errors: Fault::kProgram for a pattern that leaves the storage.
/// `anywhere`: an index that only the run knows moves it.
View patterned(const View& view, const std::vector<std::pair<std::int64_t, std::int64_t>>& pattern, std::int64_t offset,
               bool anywhere = false);
/// Axes in another order. Errors: Fault::kProgram when the partitions do not stay first.
View permuted(const View& view, const std::vector<int>& order);
/// Sizes that both broadcast to. Errors: Fault::kProgram.
std::vector<std::int64_t> common_sizes(const View& a, const View& b);
std::string sizes_text(const View& view);

/// The operand of an instruction that has a step for each axis: none is joined.
inline View unjoined(View view) {
  view.apart = kAllApart;
  return view;
}
/// The operand of an instruction. On the chip `buffer` names its virtual buffer. Errors: Fault::kProgram when the
/// access pattern has more than four free axes, or the first axis more partitions than there are.
isa::Tile tile_of(const View& view, std::uint32_t buffer);
Region region_of(const View& view);

}  // namespace runtime::nki
