// Elements in other places: views, strided copies, ramps; for graphs of any kind.
#include <algorithm>

#include "base/error.h"
#include "runtime/compiler/emitter.h"
#include "runtime/graph/autodiff.h"
#include "runtime/ops/ops.h"
#include "runtime/ops/strided.h"

namespace runtime {
namespace {

using Ints = std::vector<std::int64_t>;

/// The same memory as [rows, cols], from element attrs.first on. Lowering: nothing.
std::vector<Shape> view_infer(const Contract& c) {
  const auto& a = c.node.attrs.as<ViewAttrs>();
  const Dtype own = c.in(0).dtype, dtype = a.dtype.value_or(own);
  if (a.first * isa::size_of(own) + a.rows * a.cols * isa::size_of(dtype) > c.in(0).elements() * isa::size_of(own))
    c.fail("is larger than its operand", "view what is there");
  return {{a.rows, a.cols, dtype, c.node.in[0], a.first}};
}

/// A view as another type keeps the numbers, not the bits: a reference has no memory.
Tensors view_forward(const Attrs& attrs, std::span<const Tensor> in) {
  const auto& a = attrs.as<ViewAttrs>();
  return {generate(a.rows, a.cols,
                   [&](auto r, auto c) { return in[0].data[static_cast<std::size_t>(a.first + r * a.cols + c)]; })};
}

void view_lower(Emitter&, const Node&) {}

/// The axes of a strided region, from the outermost, and the steps of both sides along each.
struct Axes {
  Ints sizes, from, to;

  std::size_t rank() const { return sizes.size(); }
};

/// Axes without those of size 1, and with neighbours joined where both sides allow it.
Axes joined(const Ints& sizes, const Ints& from, const Ints& to) {
  Axes out;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 1) continue;
    const bool joins = out.rank() > 0 && out.from.back() == from[i] * sizes[i] && out.to.back() == to[i] * sizes[i];
    if (joins) {
      out.sizes.back() *= sizes[i], out.from.back() = from[i], out.to.back() = to[i];
    } else {
      out.sizes.push_back(sizes[i]), out.from.push_back(from[i]), out.to.push_back(to[i]);
    }
  }
  if (out.rank() == 0) out = {{1}, {1}, {1}};
  return out;
}

/// One side of a copy: a tensor and where it begins.
struct Side {
  ValueId value;
  std::int64_t first;
};

/// A tile of HBM: the first axis on the partitions, the others free.
Tile side_tile(Emitter& e, const Side& side, std::int64_t begin, std::int64_t parts, const Ints& sizes,
               const Ints& steps) {
  Tile tile = e.hbm_flat(side.value, side.first + begin, parts, 1, steps[0]);
  tile.rank = static_cast<std::uint8_t>(std::max<std::size_t>(sizes.size() - 1, 1));
  for (std::size_t d = 1; d < sizes.size(); ++d)
    tile.free[d - 1] = {.step = static_cast<std::int32_t>(steps[d]), .size = static_cast<std::uint32_t>(sizes[d])};
  return tile;
}

/// Copies by DMA: up to 128 of the outermost axis at a time, at most five axes at once, and so many elements of each
/// that the 16 rings share the work.
class DmaCopy {
 public:
  DmaCopy(Emitter& e, Side from, Side to) : e_{e}, from_{from}, to_{to} {}

  void run(const Axes& axes) { part(axes, 0, 0); }

 private:
  static constexpr std::int64_t kRun = std::int64_t{2} * 1024, kMost = 8 * kRun;  // elements of a row, of a partition

  void part(const Axes& axes, std::int64_t from, std::int64_t to) {
    // A copy of one long run: as rows.
    if (axes.rank() == 1 && axes.from[0] == 1 && axes.to[0] == 1 && axes.sizes[0] > kRun) {
      const std::int64_t rows = axes.sizes[0] / kRun, done = rows * kRun;
      part({{rows, kRun}, {kRun, 1}, {kRun, 1}}, from, to);
      if (done < axes.sizes[0]) part({{axes.sizes[0] - done}, {1}, {1}}, from + done, to + done);
      return;
    }
    std::int64_t inner = 1;
    for (std::size_t d = 1; d < axes.rank(); ++d) inner *= axes.sizes[d];
    if (axes.rank() > 5 || inner > kMost) return outer(axes, from, to);
    for (std::int64_t i = 0; i < axes.sizes[0]; i += kPartitions) {
      const std::int64_t parts = std::min(kPartitions, axes.sizes[0] - i);
      e_.store(side_tile(e_, to_, to + i * axes.to[0], parts, axes.sizes, axes.to),
               side_tile(e_, from_, from + i * axes.from[0], parts, axes.sizes, axes.from));
    }
  }

  /// One index of the outermost axis after the other.
  void outer(const Axes& axes, std::int64_t from, std::int64_t to) {
    Axes rest{{axes.sizes.begin() + 1, axes.sizes.end()},
              {axes.from.begin() + 1, axes.from.end()},
              {axes.to.begin() + 1, axes.to.end()}};
    for (std::int64_t i = 0; i < axes.sizes[0]; ++i) part(rest, from + i * axes.from[0], to + i * axes.to[0]);
  }

  Emitter& e_;
  Side from_, to_;
};

/// Whether TensorE turns rows into columns: the fastest axis of the result is not the operand's.
struct Turn {
  std::size_t across = 0;  // the operand's fastest axis
  bool is = false;
};

Turn turn_of(const Axes& axes, Dtype dtype) {
  constexpr std::int64_t kLeast = 16;  // of both axes: less is done by DMA
  const std::size_t last = axes.rank() - 1;
  if (axes.rank() < 2 || isa::is_integer(dtype) || axes.from[last] == 1 || axes.to[last] != 1) return {};
  for (std::size_t d = 0; d < last; ++d)
    if (axes.from[d] == 1 && axes.sizes[d] >= kLeast && axes.sizes[last] >= kLeast) return {d, true};
  return {};
}

class TurnCopy {
 public:
  TurnCopy(Emitter& e, Side from, Side to, Dtype dtype, Dtype out)
      : e_{e}, from_{from}, to_{to}, dtype_{dtype}, out_{out} {}

  void run(const Axes& axes, std::size_t across) {
    const std::size_t last = axes.rank() - 1;
    Axes rest;
    for (std::size_t d = 0; d < last; ++d)
      if (d != across)
        rest.sizes.push_back(axes.sizes[d]), rest.from.push_back(axes.from[d]), rest.to.push_back(axes.to[d]);
    Ints index(rest.rank());
    for (;;) {
      std::int64_t from = 0, to = 0;
      for (std::size_t d = 0; d < rest.rank(); ++d) from += index[d] * rest.from[d], to += index[d] * rest.to[d];
      square(axes.sizes[across], axes.sizes[last], axes.from[last], axes.to[across], from, to);
      std::size_t d = rest.rank();
      while (d > 0 && ++index[d - 1] == rest.sizes[d - 1]) index[--d] = 0;
      if (d == 0) return;
    }
  }

 private:
  /// [m, n]: m columns of the operand become rows of the result.
  void square(std::int64_t m, std::int64_t n, std::int64_t from_step, std::int64_t to_step, std::int64_t from,
              std::int64_t to) {
    const std::int64_t bank_cols = std::min(e_.bank_columns(dtype_), isa::kMovingColumns);
    for (std::int64_t n0 = 0; n0 < n; n0 += bank_cols) {
      const std::int64_t wide = std::min(bank_cols, n - n0);
      for (std::int64_t m0 = 0; m0 < m; m0 += kMostRows) {
        const std::int64_t deep = std::min(kMostRows, m - m0);
        std::vector<Tile> rows;
        for (std::int64_t s = 0; s < wide; s += kPartitions)
          rows.push_back(e_.loaded(dtype_, side_tile(e_, from_, from + (n0 + s) * from_step + m0,
                                                     std::min(kPartitions, wide - s), {1, deep}, {from_step, 1})));
        for (std::int64_t k = 0; k < deep; k += kPartitions)
          store_transposed(rows, k, std::min(kPartitions, deep - k), wide, to + (m0 + k) * to_step + n0, to_step);
      }
    }
  }

  void store_transposed(const std::vector<Tile>& rows, std::int64_t k, std::int64_t count, std::int64_t wide,
                        std::int64_t to, std::int64_t to_step) {
    const Tile bank = e_.psum(count, wide, dtype_);
    for (std::size_t s = 0; s < rows.size(); ++s)
      e_.transpose(columns(bank, static_cast<std::int64_t>(s) * kPartitions, rows[s].partitions),
                   columns(rows[s], k, count));
    const Tile out = e_.sbuf(out_, count, wide);
    e_.copy(out, bank);
    e_.store(side_tile(e_, to_, to, count, {count, wide}, {to_step, 1}), out);
  }

  static constexpr std::int64_t kMostRows = std::int64_t{2} * 1024;  // elements of a row that are loaded at once

  Emitter& e_;
  Side from_, to_;
  Dtype dtype_, out_;
};

/// The axis along which the result is contiguous goes last.
Axes written_in_runs(Axes axes) {
  const auto run = std::ranges::find(axes.to, 1) - axes.to.begin();
  if (run == std::ssize(axes.to)) return axes;
  for (Ints* each : {&axes.sizes, &axes.from, &axes.to})
    std::rotate(each->begin() + run, each->begin() + run + 1, each->end());
  return axes;
}

void copy_axes(Emitter& e, const Side& from, const Side& to, const Axes& given) {
  const Axes axes = written_in_runs(given);
  const Dtype dtype = e.value(from.value).dtype;
  if (const Turn turn = turn_of(axes, dtype); turn.is)
    TurnCopy{e, from, to, dtype, e.value(to.value).dtype}.run(axes, turn.across);
  else
    DmaCopy{e, from, to}.run(axes);
}

std::int64_t count_of(const Ints& sizes) {
  std::int64_t count = 1;
  for (const std::int64_t size : sizes) count *= size;
  return count;
}

/// The first and the last element that indices reach.
std::pair<std::int64_t, std::int64_t> reach_of(const MoveAttrs& a) {
  std::int64_t low = a.first, high = a.first;
  for (std::size_t d = 0; d < a.sizes.size(); ++d) (a.strides[d] < 0 ? low : high) += (a.sizes[d] - 1) * a.strides[d];
  return {low, high};
}

void check_reach(const Contract& c, const MoveAttrs& a, const Value& of) {
  const auto [low, high] = reach_of(a);
  if (a.sizes.size() != a.strides.size() || low < 0 || high >= of.elements())
    c.fail("reaches beyond its operand", "correct sizes and strides");
}

/// y = the elements of x that attrs name, in their order. Shapes: x -> [attrs.rows, attrs.cols].
/// Lowering: DMA; TensorE where rows become columns.
std::vector<Shape> move_infer(const Contract& c) {
  const auto& a = c.node.attrs.as<MoveAttrs>();
  check_reach(c, a, c.in(0));
  if (count_of(a.sizes) != a.rows * a.cols) c.fail("has another number of elements", "correct rows and columns");
  return {{a.rows, a.cols, c.result_type()}};
}

template <class F>
void for_elements(const MoveAttrs& a, const F& f) {
  Ints index(a.sizes.size());
  const std::int64_t count = count_of(a.sizes);
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t at = a.first;
    for (std::size_t d = 0; d < index.size(); ++d) at += index[d] * a.strides[d];
    f(static_cast<std::size_t>(i), static_cast<std::size_t>(at));
    for (std::size_t d = index.size(); d-- > 0;) {
      if (++index[d] < a.sizes[d]) break;
      index[d] = 0;
    }
  }
}

Tensors move_forward(const Attrs& attrs, std::span<const Tensor> in) {
  const auto& a = attrs.as<MoveAttrs>();
  Tensor out(a.rows, a.cols);
  for_elements(a, [&](std::size_t i, std::size_t at) { out.data[i] = in[0].data[at]; });
  return {out};
}

void move_backward(Backward& b, const Node& node) {
  const auto a = node.attrs.as<MoveAttrs>();
  if (b.needs(node, 0)) add_strided(b, node, 0, b.grad(node), {a.sizes, a.strides, a.first});
}

void move_lower(Emitter& e, const Node& node) {
  const auto& a = node.attrs.as<MoveAttrs>();
  copy_axes(e, {node.in[0], a.first}, {node.out[0], 0}, joined(a.sizes, a.strides, dense_strides(a.sizes)));
}

/// The elements of x that attrs name become those of y, in place. Shapes: x, y -> x.
std::vector<Shape> place_infer(const Contract& c) {
  const auto& a = c.node.attrs.as<MoveAttrs>();
  const Value& x = c.in(0);
  check_reach(c, a, x);
  if (count_of(a.sizes) != c.in(1).elements()) c.fail("has another number of elements", "correct the sizes");
  return {{x.rows, x.cols, x.dtype, c.node.in[0]}};
}

Tensors place_forward(const Attrs& attrs, std::span<const Tensor> in) {
  Tensor out = in[0];
  for_elements(attrs.as<MoveAttrs>(), [&](std::size_t i, std::size_t at) { out.data[at] = in[1].data[i]; });
  return {out};
}

/// Only where nothing flows back to x, as to zeros.
void place_backward(Backward& b, const Node& node) {
  const auto& a = node.attrs.as<MoveAttrs>();
  if (b.needs(node, 0))
    throw base::Error{base::Fault::kProgram, node.label, "has no gradient for the memory that it writes to",
                      "place into zeros"};
  const Value& like = b.graph().value(node.in[1]);
  MoveAttrs back = a;
  back.rows = like.rows, back.cols = like.cols, back.dtype = like.dtype;
  if (b.needs(node, 1)) b.add(node, 1, b.op(kMove, node, "grad", {b.grad(node)}, back));
}

void place_lower(Emitter& e, const Node& node) {
  const auto& a = node.attrs.as<MoveAttrs>();
  copy_axes(e, {node.in[1], 0}, {node.out[0], a.first}, joined(a.sizes, dense_strides(a.sizes), a.strides));
}

/// y[r, c] = start + r * by_row + c * by_col. Lowering: GpSimdE's iota, or a fill.
std::vector<Shape> ramp_infer(const Contract& c) {
  const auto& a = c.node.attrs.as<RampAttrs>();
  return {{a.rows, a.cols, a.dtype.value_or(Dtype::kFp32)}};
}

Tensors ramp_forward(const Attrs& attrs, std::span<const Tensor>) {
  const auto& a = attrs.as<RampAttrs>();
  return {generate(a.rows, a.cols, [&](auto r, auto c) {
    return static_cast<float>(a.start + static_cast<double>(r) * a.by_row + static_cast<double>(c) * a.by_col);
  })};
}

/// An integer that fp32, in which immediates are, does not have.
bool is_beyond_floats(Dtype dtype, double number) {
  return isa::is_integer(dtype) && static_cast<double>(static_cast<float>(number)) != number;
}

void ramp_lower(Emitter& e, const Node& node) {
  const auto& a = node.attrs.as<RampAttrs>();
  const Dtype dtype = e.value(node.out[0]).dtype;
  constexpr std::int64_t kWidest = 4096;
  for (std::int64_t r = 0; r < a.rows; r += kPartitions)
    for (std::int64_t c = 0; c < a.cols; c += kWidest) {
      const std::int64_t parts = std::min(kPartitions, a.rows - r), cols = std::min(kWidest, a.cols - c);
      const double start = a.start + static_cast<double>(r) * a.by_row + static_cast<double>(c) * a.by_col;
      const Tile tile = e.sbuf(dtype, parts, cols);
      if (a.by_row == 0 && a.by_col == 0 && is_beyond_floats(dtype, a.start))
        e.emit({.op = Opcode::kMemset,
                .engine = isa::Engine::kVector,
                .integers = true,
                .ints = {static_cast<std::int32_t>(static_cast<std::int64_t>(a.start))},
                .dst = tile});
      else if (a.by_row == 0 && a.by_col == 0)
        e.fill(tile, static_cast<float>(a.start));
      else
        e.emit({.op = Opcode::kIota,
                .engine = isa::Engine::kGpSimd,
                .imm0 = static_cast<float>(start),
                .imm1 = static_cast<float>(a.by_row),
                .imm2 = static_cast<float>(a.by_col),
                .dst = tile});
      e.store(e.hbm(node.out[0], r, parts, c, cols, 1), tile);
    }
}

/// Memory whose content does not matter: all of it is written before it is read. Lowering: nothing.
Tensors empty_forward(const Attrs& attrs, std::span<const Tensor>) {
  const auto& a = attrs.as<RampAttrs>();
  return {Tensor(a.rows, a.cols)};
}

void empty_lower(Emitter&, const Node&) {}

}  // namespace

const Op kView{.name = "view",
               .text = "the same memory as another matrix",
               .attrs = ViewAttrs{},
               .infer = view_infer,
               .forward = view_forward,
               .lower_whole = view_lower,
               .looks_on = true};
const Op kMove{.name = "move",
               .text = "elements at strides: slices, transposes, broadcasts",
               .attrs = MoveAttrs{},
               .infer = move_infer,
               .forward = move_forward,
               .backward = move_backward,
               .lower_whole = move_lower};
const Op kPlace{.name = "place",
                .text = "elements written at strides, in place",
                .attrs = MoveAttrs{},
                .infer = place_infer,
                .forward = place_forward,
                .backward = place_backward,
                .lower_whole = place_lower};
const Op kRamp{.name = "ramp",
               .text = "numbers that rise by row and by column",
               .attrs = RampAttrs{},
               .infer = ramp_infer,
               .forward = ramp_forward,
               .lower_whole = ramp_lower};
const Op kEmpty{.name = "empty",
                .text = "memory that is written before it is read",
                .attrs = RampAttrs{},
                .infer = ramp_infer,
                .forward = empty_forward,
                .lower_whole = empty_lower};

}  // namespace runtime
