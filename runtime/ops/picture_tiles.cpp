#include "runtime/ops/picture_tiles.h"

#include <algorithm>

#include "isa/cost.h"
#include "runtime/compiler/budgets.h"
#include "runtime/ops/tile_axes.h"

namespace runtime {
namespace {

/// Rows of a picture that no place of the window looks at twice need not be in the tile.
bool skips(const WindowAxis& axis) { return axis.window == 1 && axis.apart == 1; }
std::int64_t stride_in_tile(const WindowAxis& axis, bool is_row) { return is_row && skips(axis) ? 1 : axis.stride; }

/// Whether pixels are side by side in the tile, although zeros are between them: each step over the window then adds
/// to every so many places of the result.
bool leaves_gaps(const WindowAxis& axis, Gaps gaps) {
  return gaps == Gaps::kLeftOut && axis.apart > 1 && axis.stride == 1;
}

std::int64_t floor_div(std::int64_t a, std::int64_t b) { return a >= 0 ? a / b : -ceil_div(-a, b); }

std::int64_t extent_of(const WindowAxis& axis, std::int64_t places, std::int64_t packed, bool is_row, Gaps gaps) {
  const std::int64_t last = (axis.window - 1) / packed * packed;
  if (leaves_gaps(axis, gaps)) return (places - 1 + last * axis.dilation) / axis.apart + 1;
  return (places - 1) * stride_in_tile(axis, is_row) + last * axis.dilation + 1;
}

/// The first pixel, or place of one beside the picture, at or behind which a band looks.
std::int64_t first_seen(const WindowAxis& axis, std::int64_t place) { return -floor_div(axis.low - place, axis.apart); }

std::vector<Span> cut(Span all, std::int64_t most) {
  const std::int64_t parts = ceil_div(all.size, most), size = ceil_div(all.size, parts);
  std::vector<Span> out;
  for (std::int64_t at = 0; at < all.size; at += size) out.push_back({all.begin + at, std::min(size, all.size - at)});
  return out;
}

}  // namespace

PictureBlock whole_of(const Pictures& x) { return {{0, x.count}, {0, x.rows.places}, {0, x.cols.places}}; }

std::optional<std::int64_t> pixel_of(const WindowAxis& axis, std::int64_t place, std::int64_t k) {
  const std::int64_t at = place * axis.stride + k * axis.dilation - axis.low;
  if (at < 0 || at % axis.apart != 0 || at / axis.apart >= axis.size) return {};
  return at / axis.apart;
}

std::int64_t pairs_of(const WindowAxis& axis, Gaps gaps) {
  if (!leaves_gaps(axis, gaps)) return axis.places * axis.window;
  std::int64_t pairs = 0;
  for (std::int64_t k = 0; k < axis.window; ++k) {
    const std::int64_t before = k * axis.dilation - axis.low;
    pairs += floor_div(before + axis.places - 1, axis.apart) - floor_div(before - 1, axis.apart);
  }
  return pairs;
}

std::int64_t last_element(const Pictures& x) {
  return x.first + (x.count - 1) * x.step + (x.features - 1) * x.feature_step + (x.rows.size - 1) * x.rows.x_step +
         (x.cols.size - 1) * x.cols.x_step;
}

Packing packing(const Emitter& e, const Pictures& x, std::int64_t outputs, Dtype type) {
  const std::int64_t most = x.features > 0 ? kPartitions / x.features : 1;
  const bool plain = !x.rows.reversed && !x.cols.reversed && x.rows.apart == 1 && x.cols.apart == 1;
  if (!plain || most < x.cols.window) return {};
  const isa::Target& target = e.target();
  const isa::DmaTiming& dma = target.timing.dma;
  const double columns = static_cast<double>(x.count * x.rows.places * x.cols.places * ceil_div(outputs, kPartitions));
  const double passes = type == Dtype::kFp32 ? target.timing.fp32_passes : 1;
  const double load = static_cast<double>(x.count * x.features * x.rows.size * x.cols.size * isa::size_of(type)) /
                      (dma.rate * dma.engines);
  const auto seconds = [&](const Packing& p) {
    const std::int64_t steps = ceil_div(x.rows.window, p.rows) * ceil_div(x.cols.window, p.cols);
    return std::max(target.seconds(static_cast<double>(steps) * columns * passes, isa::Engine::kTensor),
                    static_cast<double>(p.count()) * load);
  };
  Packing best;
  for (std::int64_t rows = 1; rows <= std::min(x.rows.window, most / x.cols.window); ++rows)
    if (const Packing p{rows, x.cols.window}; seconds(p) < seconds(best)) best = p;
  return best;
}

std::vector<Tap> taps(const Pictures& x, const Packing& packed) {
  std::vector<Tap> out;
  for (std::int64_t p = 0; p < x.rows.window; p += packed.rows)
    for (std::int64_t q = 0; q < x.cols.window; q += packed.cols)
      out.push_back({p, q, std::min(packed.rows, x.rows.window - p), std::min(packed.cols, x.cols.window - q)});
  return out;
}

std::vector<PictureBlock> pieces_of(const PictureBlock& block, std::int64_t most) {
  const std::int64_t row = block.cols.size, picture = row * block.rows.size;
  std::vector<PictureBlock> out;
  if (picture <= most) {
    for (const Span& pictures : cut(block.pictures, most / picture)) out.push_back({pictures, block.rows, block.cols});
    return out;
  }
  for (std::int64_t b = 0; b < block.pictures.size; ++b) {
    const Span one{block.pictures.begin + b, 1};
    for (const Span& rows : cut(block.rows, std::max<std::int64_t>(most / row, 1))) {
      if (row <= most) {
        out.push_back({one, rows, block.cols});
        continue;
      }
      for (const Span& cols : cut(block.cols, most)) out.push_back({one, rows, cols});
    }
  }
  return out;
}

std::int64_t picture_bytes(const Pictures& x, Dtype type, const PictureBlock& block, Gaps gaps) {
  return ceil_div(x.features, kPartitions) * block.pictures.size * extent_of(x.rows, block.rows.size, 1, true, gaps) *
         extent_of(x.cols, block.cols.size, 1, false, gaps) * isa::size_of(type);
}

std::vector<PictureBlock> bands(const Pictures& x, Dtype type, std::int64_t most_bytes, Gaps gaps) {
  const Span pictures{0, x.count}, rows{0, x.rows.places}, cols{0, x.cols.places};
  const std::int64_t picture = picture_bytes(x, type, {{0, 1}, rows, cols}, gaps);
  std::vector<PictureBlock> out;
  if (picture <= most_bytes) {
    for (const Span& some : cut(pictures, most_bytes / picture)) out.push_back({some, rows, cols});
    return out;
  }
  std::int64_t high = rows.size;
  while (high > 1 && picture_bytes(x, type, {{0, 1}, {0, high}, cols}, gaps) > most_bytes) --high;
  for (std::int64_t b = 0; b < x.count; ++b)
    for (const Span& some : cut(rows, high)) out.push_back({{b, 1}, some, cols});
  return out;
}

Tile rows_of(Tile tile, std::int64_t start, std::int64_t count) {
  tile.start = static_cast<std::uint8_t>(start);
  tile.partitions = static_cast<std::int32_t>(count);
  return tile;
}

// ---- pictures

std::vector<Tile> PictureTiles::load(const PictureBlock& band) {
  if (packed_.count() > 1) {
    const std::int64_t size = band.pictures.size * extent_of(x_.rows, band.rows.size, packed_.rows, true, gaps_) *
                              extent_of(x_.cols, band.cols.size, packed_.cols, false, gaps_);
    const Tile tile = e_.sbuf(type_, packed_.count() * x_.features, size);
    load_packed(tile, band);
    return {tile};
  }
  std::vector<Tile> out;
  for (std::int64_t f = 0; f < x_.features; f += kPartitions)
    out.push_back(load(band, {f, std::min(kPartitions, x_.features - f)}));
  return out;
}

Tile PictureTiles::load(const PictureBlock& band, Span features) {
  const Cover rows = cover(x_.rows, band.rows, 1, 0), cols = cover(x_.cols, band.cols, 1, 0);
  const std::optional<Tile> kept = kept_pixels(features, band, rows, cols);
  if (kept && kept->dtype == type_ && is_panel(band, rows, cols)) return *kept;
  const Tile tile = e_.sbuf(type_, features.size, band.pictures.size * rows.extent * cols.extent);
  fill_border(tile, band.pictures.size, rows, cols);
  if (rows.count == 0 || cols.count == 0) return tile;
  const std::int64_t width = cols.extent;
  const Tile inside =
      with_axes(moved_by(tile, rows.at * width + cols.at),
                {{rows.extent * width, band.pictures.size}, {width * rows.step, rows.count}, {cols.step, cols.count}});
  if (kept)
    e_.copy(inside, *kept);
  else if (const Tile source = pixels(features, band, rows, cols); is_quick(inside, source))
    e_.load(inside, source);
  else
    copy_in(tile, features, band, rows, cols);
  return tile;
}

PictureTiles::Cover PictureTiles::cover(const WindowAxis& axis, Span places, std::int64_t packed,
                                        std::int64_t shift) const {
  const bool is_row = &axis == &x_.rows;
  Cover out{.step = axis.apart, .extent = extent_of(axis, places.size, packed, is_row, gaps_)};
  if (leaves_gaps(axis, gaps_)) {
    const std::int64_t origin = first_seen(axis, places.begin);
    out.step = 1, out.first = std::max<std::int64_t>(origin, 0), out.at = std::min(out.first - origin, out.extent);
    out.count = std::clamp<std::int64_t>(axis.size - out.first, 0, out.extent - out.at);
    return out;
  }
  const std::int64_t origin = places.begin * axis.stride - axis.low + shift * axis.dilation;
  if (is_row && skips(axis) && axis.stride > 1) {  // every so many rows, the first of them at `at`
    const std::int64_t before = origin < 0 ? ceil_div(-origin, axis.stride) : 0;
    out.at = std::min(before, out.extent), out.first = origin + before * axis.stride;
    const std::int64_t there = out.first < axis.size ? ceil_div(axis.size - out.first, axis.stride) : 0;
    out.count = std::clamp<std::int64_t>(there, 0, out.extent - out.at);
    return out;
  }
  out.first = origin > 0 ? ceil_div(origin, axis.apart) : 0;
  out.at = std::min(out.first * axis.apart - origin, out.extent);
  const std::int64_t room = out.at < out.extent ? ceil_div(out.extent - out.at, axis.apart) : 0;
  out.count = std::clamp<std::int64_t>(axis.size - out.first, 0, room);
  return out;
}

/// The element of the first feature at which a band's pixels begin.
std::int64_t PictureTiles::first_pixel(const PictureBlock& band, const Cover& rows, const Cover& cols) const {
  return x_.first + band.pictures.begin * x_.step + rows.first * x_.rows.x_step + cols.first * x_.cols.x_step;
}

/// `tile` from the first pixel on as [features, pictures, rows, columns].
Tile PictureTiles::seen_in(const Tile& tile, const PictureBlock& band, const Cover& rows, const Cover& cols) const {
  const std::int64_t step = skips(x_.rows) ? x_.rows.stride : 1;
  return with_axes(tile,
                   {{x_.step, band.pictures.size}, {x_.rows.x_step * step, rows.count}, {x_.cols.x_step, cols.count}});
}

/// As DMA reads them.
Tile PictureTiles::pixels(Span features, const PictureBlock& band, const Cover& rows, const Cover& cols) const {
  const std::int64_t begin = first_pixel(band, rows, cols) + features.begin * x_.feature_step;
  return seen_in(e_.hbm_flat(source_, begin, features.size, 1, x_.feature_step), band, rows, cols);
}

std::optional<Tile> PictureTiles::kept_pixels(Span features, const PictureBlock& band, const Cover& rows,
                                              const Cover& cols) const {
  const Tile* kept = e_.kept(source_, features.begin, features.size);
  const bool row_by_row = e_.value(source_).cols == x_.feature_step &&
                          last_element(x_) < e_.value(source_).elements() &&
                          last_element(x_) - (x_.features - 1) * x_.feature_step < x_.feature_step;
  if (!kept || !row_by_row) return {};
  return seen_in(moved_by(*kept, first_pixel(band, rows, cols)), band, rows, cols);
}

/// Whether a tile of the band is nothing but the pixels in the order that they have.
bool PictureTiles::is_panel(const PictureBlock& band, const Cover& rows, const Cover& cols) const {
  const bool skipped = skips(x_.rows) && x_.rows.stride > 1;
  return rows.whole() && cols.whole() && !skipped && x_.cols.x_step == 1 &&
         (rows.extent == 1 || x_.rows.x_step == cols.extent) &&
         (band.pictures.size == 1 || x_.step == rows.extent * cols.extent);
}

/// Zeros around the pixels, or everywhere where zeros are between them.
void PictureTiles::fill_border(const Tile& tile, std::int64_t pictures, const Cover& rows, const Cover& cols) {
  if (rows.whole() && cols.whole()) return;
  if (rows.step > 1 || cols.step > 1 || rows.count == 0 || cols.count == 0) return e_.fill(tile, border_);
  const std::int64_t width = cols.extent, picture = rows.extent * width;
  const auto fill = [&](std::int64_t row, std::int64_t high, std::int64_t col, std::int64_t wide) {
    if (high > 0 && wide > 0)
      e_.fill(with_axes(moved_by(tile, row * width + col), {{picture, pictures}, {width, high}, {1, wide}}), border_);
  };
  const std::int64_t below = rows.at + rows.count, behind = cols.at + cols.count;
  fill(0, rows.at, 0, width);
  fill(below, rows.extent - below, 0, width);
  fill(rows.at, rows.count, 0, cols.at);
  fill(rows.at, rows.count, behind, width - behind);
}

/// Whether DMA writes between the borders as soon as it would write one run that an engine then moves.
bool PictureTiles::is_quick(const Tile& inside, const Tile& source) const {
  const isa::Target& target = e_.target();
  Tile dense = inside;
  dense = with_axes(dense, {{1, inside.cols()}});
  const auto seconds = [&](const Tile& dst) {
    return isa::dma_cost({.op = Opcode::kDmaCopy, .dst = dst, .a = source}, target.timing.dma).shared;
  };
  return seconds(inside) <=
         std::max(seconds(dense), target.seconds(static_cast<double>(inside.cols()), isa::Engine::kVector));
}

/// Rows that DMA brings as they are and an engine moves between the borders: pieces of them, so that both overlap.
void PictureTiles::copy_in(const Tile& tile, Span features, const PictureBlock& band, const Cover& rows,
                           const Cover& cols) {
  const std::int64_t width = cols.extent, size = isa::size_of(e_.value(source_).dtype);
  const std::int64_t most = Budgets{e_.target().geometry}.resident_weights / 6 / size;
  for (const PictureBlock& piece : pieces_of({band.pictures, {0, rows.count}, {0, cols.count}}, most)) {
    Cover some = rows, part = cols;
    some.first += piece.rows.begin * (skips(x_.rows) ? x_.rows.stride : 1), some.count = piece.rows.size;
    part.first += piece.cols.begin, part.count = piece.cols.size;
    const Tile dense =
        e_.loaded(e_.value(source_).dtype, pixels(features, {piece.pictures, piece.rows, piece.cols}, some, part));
    const std::int64_t at = (piece.pictures.begin - band.pictures.begin) * rows.extent * width +
                            (rows.at + piece.rows.begin * rows.step) * width + cols.at + piece.cols.begin * cols.step;
    e_.copy(
        with_axes(
            moved_by(tile, at),
            {{rows.extent * width, piece.pictures.size}, {width * rows.step, some.count}, {cols.step, part.count}}),
        with_axes(dense, {{some.count * part.count, piece.pictures.size}, {part.count, some.count}, {1, part.count}}));
  }
}

/// Each packed place of the window has a copy of the picture, shifted by it.
void PictureTiles::load_packed(const Tile& tile, const PictureBlock& band) {
  const Span features{0, x_.features};
  std::vector<std::array<Cover, 2>> covers;
  bool whole = true;
  for (std::int64_t p = 0; p < packed_.rows; ++p)
    for (std::int64_t q = 0; q < packed_.cols; ++q) {
      covers.push_back({cover(x_.rows, band.rows, packed_.rows, p), cover(x_.cols, band.cols, packed_.cols, q)});
      whole = whole && covers.back()[0].whole() && covers.back()[1].whole();
    }
  if (!whole) e_.fill(tile, border_);  // engines begin at no partition of a place, DMA does
  for (std::size_t i = 0; i < covers.size(); ++i) {
    const auto& [rows, cols] = covers[i];
    if (rows.count == 0 || cols.count == 0) continue;
    const Tile part = rows_of(moved_by(tile, rows.at * cols.extent + cols.at),
                              static_cast<std::int64_t>(i) * x_.features, x_.features);
    e_.load(
        with_axes(part, {{rows.extent * cols.extent, band.pictures.size}, {cols.extent, rows.count}, {1, cols.count}}),
        pixels(features, band, rows, cols));
  }
}

PictureTiles::Reach PictureTiles::reach(const WindowAxis& axis, Span band, Span piece, std::int64_t tap) const {
  const std::int64_t dilated = tap * axis.dilation;
  if (!leaves_gaps(axis, gaps_)) {
    const std::int64_t step = stride_in_tile(axis, &axis == &x_.rows);
    return {.count = piece.size, .pixel = (piece.begin - band.begin) * step + dilated, .pixel_step = step};
  }
  const std::int64_t before = piece.begin + dilated - axis.low;  // from a pixel to the piece's first place
  const std::int64_t pixel = -floor_div(-before, axis.apart), first = pixel * axis.apart - before;
  return {.first = first,
          .count = first < piece.size ? ceil_div(piece.size - first, axis.apart) : 0,
          .step = axis.apart,
          .pixel = pixel - first_seen(axis, band.begin)};
}

Tile PictureTiles::shifted(const Tile& tile, const PictureBlock& band, const PictureBlock& piece, const Tap& tap,
                           std::int64_t partitions_in_use) const {
  const std::int64_t width = extent_of(x_.cols, band.cols.size, packed_.cols, false, gaps_);
  const std::int64_t picture = extent_of(x_.rows, band.rows.size, packed_.rows, true, gaps_) * width;
  const Reach rows = reach(x_.rows, band.rows, piece.rows, tap.row),
              cols = reach(x_.cols, band.cols, piece.cols, tap.col);
  const std::int64_t at = (piece.pictures.begin - band.pictures.begin) * picture + rows.pixel * width + cols.pixel;
  return with_axes(
      partitions(moved_by(tile, at), partitions_in_use),
      {{picture, piece.pictures.size}, {width * rows.pixel_step, rows.count}, {cols.pixel_step, cols.count}});
}

std::optional<Tile> PictureTiles::reached(const Tile& sum, const PictureBlock& piece, const Tap& tap) const {
  const Reach rows = reach(x_.rows, piece.rows, piece.rows, tap.row),
              cols = reach(x_.cols, piece.cols, piece.cols, tap.col);
  if (rows.count == 0 || cols.count == 0) return {};
  const std::int64_t width = piece.cols.size;
  return with_axes(
      moved_by(sum, rows.first * width + cols.first),
      {{piece.rows.size * width, piece.pictures.size}, {width * rows.step, rows.count}, {cols.step, cols.count}});
}

}  // namespace runtime
