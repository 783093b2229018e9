// The operands of a convolution on the chip: pictures with their borders in SBUF, and the axes of a kernel.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/compiler/emitter.h"
#include "runtime/graph/op.h"

namespace runtime {

/// Places of the window that have partitions of their own beside the features.
struct Packing {
  std::int64_t rows = 1, cols = 1;
  std::int64_t count() const { return rows * cols; }
};

/// The fewest steps over the window that do not make loading the picture once for each packed place the longer part.
Packing packing(const Emitter& e, const Pictures& x, std::int64_t outputs, Dtype type);

/// One step over the window: places [row, row + rows) x [col, col + cols), which are on the partitions at once.
struct Tap {
  std::int64_t row = 0, col = 0, rows = 1, cols = 1;
  std::int64_t count() const { return rows * cols; }
};
std::vector<Tap> taps(const Pictures& x, const Packing& packed = {});

/// A part of the result, in the order of its columns.
struct PictureBlock {
  Span pictures, rows, cols;
  std::int64_t size() const { return pictures.size * rows.size * cols.size; }
  std::int64_t first_column(const PictureBlock& whole) const {
    return (pictures.begin * whole.rows.size + rows.begin) * whole.cols.size + cols.begin;
  }
};

/// `block` in parts of adjacent columns, `most` at most, of nearly the same size.
std::vector<PictureBlock> pieces_of(const PictureBlock& block, std::int64_t most);
/// Whether the zeros between the pixels of a picture are in its tile.
enum class Gaps : std::uint8_t { kFilled, kLeftOut };
/// How many pairs of a place of the result and one of the window TensorE multiplies along an axis.
std::int64_t pairs_of(const WindowAxis& axis, Gaps gaps);
/// Bytes of a partition for the pixels that a part of the result looks at, of all features.
std::int64_t picture_bytes(const Pictures& x, Dtype type, const PictureBlock& block, Gaps gaps = Gaps::kFilled);
/// The result in parts whose pixels take so many bytes of a partition, if a row of the result does.
std::vector<PictureBlock> bands(const Pictures& x, Dtype type, std::int64_t most_bytes, Gaps gaps = Gaps::kFilled);
/// All of the result.
PictureBlock whole_of(const Pictures& x);
/// The pixel of an axis that place `k` of the window at `place` looks at, if there is one.
std::optional<std::int64_t> pixel_of(const WindowAxis& axis, std::int64_t place, std::int64_t k);
/// The last element that pictures reach, and the last one of a kernel.
std::int64_t last_element(const Pictures& x);
template <class Attrs>
std::int64_t last_of_kernel(const Attrs& a) {
  const auto last = [](const WindowAxis& axis) { return (axis.window - 1) * axis.w_step; };
  return a.w_first + (a.outputs - 1) * a.w_output + (a.x.features - 1) * a.w_feature + last(a.x.rows) + last(a.x.cols);
}

/// Pictures in SBUF: one tile for 128 features (or for all with their packed places), [pictures, rows, columns] with a
/// border of one number.
class PictureTiles {
 public:
  struct Form {
    Dtype type = Dtype::kFp32;
    Packing packed{};
    float border = 0;
    Gaps gaps = Gaps::kFilled;
  };
  PictureTiles(Emitter& e, ValueId source, const Pictures& x, const Form& form)
      : e_{e}, source_{source}, x_{x}, packed_{form.packed}, type_{form.type}, border_{form.border}, gaps_{form.gaps} {}

  /// The pixels that the part `band` of the result looks at.
  std::vector<Tile> load(const PictureBlock& band);
  /// The same of 128 features at most.
  Tile load(const PictureBlock& band, Span features);
  /// The moving operand of one step over the window for a piece of the band: the first `partitions` of a tile.
  Tile shifted(const Tile& tile, const PictureBlock& band, const PictureBlock& piece, const Tap& tap,
               std::int64_t partitions) const;
  /// The places of a piece that the step adds to, of `sum`, which has them all; none: no pixel is there for it. Where
  /// gaps are left out, they are every so many ones.
  std::optional<Tile> reached(const Tile& sum, const PictureBlock& piece, const Tap& tap) const;

 private:
  /// The pixels of one axis that are there, and where they are in a tile.
  struct Cover {
    std::int64_t first = 0, count = 0;  // of the picture
    std::int64_t at = 0, step = 1;      // of the tile
    std::int64_t extent = 1;            // of the tile, border included
    bool whole() const { return at == 0 && step == 1 && count == extent; }
  };
  Cover cover(const WindowAxis& axis, Span places, std::int64_t packed, std::int64_t shift) const;
  /// Places of the result along an axis to which a step of the window adds, and the pixel in a tile where they begin.
  struct Reach {
    std::int64_t first = 0, count = 0, step = 1;  // of the places, counted from the piece's begin
    std::int64_t pixel = 0, pixel_step = 1;
  };
  Reach reach(const WindowAxis& axis, Span band, Span piece, std::int64_t tap) const;
  Tile pixels(Span features, const PictureBlock& band, const Cover& rows, const Cover& cols) const;
  /// The same of a tile in which an earlier group of the block has left these features; none: it has not.
  std::optional<Tile> kept_pixels(Span features, const PictureBlock& band, const Cover& rows, const Cover& cols) const;
  bool is_panel(const PictureBlock& band, const Cover& rows, const Cover& cols) const;
  std::int64_t first_pixel(const PictureBlock& band, const Cover& rows, const Cover& cols) const;
  Tile seen_in(const Tile& tile, const PictureBlock& band, const Cover& rows, const Cover& cols) const;
  void load_packed(const Tile& tile, const PictureBlock& band);
  void copy_in(const Tile& inside, Span features, const PictureBlock& band, const Cover& rows, const Cover& cols);
  void fill_border(const Tile& tile, std::int64_t pictures, const Cover& rows, const Cover& cols);
  bool is_quick(const Tile& inside, const Tile& source) const;

  Emitter& e_;
  const ValueId source_;
  const Pictures& x_;
  const Packing packed_;
  const Dtype type_;
  const float border_;
  const Gaps gaps_;
};

/// Partitions [start, start + count) of a tile.
Tile rows_of(Tile tile, std::int64_t start, std::int64_t count);

/// The axes of a part of a kernel, side by side in SBUF in the order that they have in memory, so that DMA moves long
/// runs.
class KernelAxes {
 public:
  enum Axis : std::uint8_t { kFeatures, kOutputs };

  KernelAxes(const ConvolutionAttrs& a, std::int64_t features, std::int64_t outputs)
      : a_{a}, features_{features}, outputs_{outputs} {}

  /// The kernel from the element at which `tile` begins: `partitions` rows, and the window and `axis` in each.
  Tile in_hbm(Tile tile, std::int64_t partitions, std::int64_t step, Axis axis) const;
  /// The same in SBUF, once loaded, for one step over the window: [places and some features] or
  /// [some outputs].
  Tile features_of(const Tile& rows, const Tap& tap, Span features) const;
  Tile outputs_of(const Tile& rows, const Tap& tap, Span outputs) const;

 private:
  struct Placed {
    std::int64_t size = 1, memory = 1, chip = 1;  // and its strides
  };
  std::array<Placed, 3> placed(Axis axis) const;  // rows and columns of the window, then `axis`

  const ConvolutionAttrs& a_;
  std::int64_t features_, outputs_;
};

}  // namespace runtime
