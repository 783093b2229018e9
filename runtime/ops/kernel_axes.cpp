// The axes of a convolution's kernel in memory and on the chip.
#include <algorithm>
#include <array>
#include <functional>

#include "runtime/ops/picture_tiles.h"
#include "runtime/ops/tile_axes.h"

namespace runtime {

std::array<KernelAxes::Placed, 3> KernelAxes::placed(Axis axis) const {
  const bool features = axis == kFeatures;
  std::array<Placed, 3> out{Placed{a_.x.rows.window, a_.x.rows.w_step, 1},
                            Placed{a_.x.cols.window, a_.x.cols.w_step, 1},
                            Placed{features ? features_ : outputs_, features ? a_.w_feature : a_.w_output, 1}};
  std::array<std::size_t, 3> order{0, 1, 2};
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return out[i].memory; });
  std::int64_t step = 1;
  for (const std::size_t i : order) out[i].chip = step, step *= out[i].size;
  return out;
}

Tile KernelAxes::in_hbm(Tile tile, std::int64_t partitions_in_use, std::int64_t step, Axis axis) const {
  std::array<Placed, 3> axes = placed(axis);
  std::ranges::stable_sort(axes, std::greater{}, &Placed::chip);
  tile.partitions = static_cast<std::int32_t>(partitions_in_use);
  tile.pstep = step * isa::size_of(tile.dtype);
  return with_axes(tile,
                   {{axes[0].memory, axes[0].size}, {axes[1].memory, axes[1].size}, {axes[2].memory, axes[2].size}});
}

Tile KernelAxes::features_of(const Tile& rows, const Tap& tap, Span features) const {
  const auto [down, right, feature] = placed(kFeatures);
  const std::int64_t at =
      a_.x.rows.place(tap.row) * down.chip + a_.x.cols.place(tap.col) * right.chip + features.begin * feature.chip;
  return with_axes(moved_by(rows, at), {{down.chip, tap.rows}, {right.chip, tap.cols}, {feature.chip, features.size}});
}

Tile KernelAxes::outputs_of(const Tile& rows, const Tap& tap, Span outputs) const {
  const auto [down, right, output] = placed(kOutputs);
  const std::int64_t at =
      a_.x.rows.place(tap.row) * down.chip + a_.x.cols.place(tap.col) * right.chip + outputs.begin * output.chip;
  return with_axes(moved_by(rows, at), {{output.chip, outputs.size}});
}

}  // namespace runtime
