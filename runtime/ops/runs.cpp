// Runs of elements at places that data names: gathers, scatters and slices of any form, for graphs of any kind.
#include <algorithm>

#include "runtime/ops/element_numbers.h"
#include "runtime/ops/indexed.h"
#include "runtime/ops/ops.h"

namespace runtime {
namespace {

constexpr std::int64_t kWidest = 4096;  // elements of a run in one transfer

/// How many places a run may have.
std::int64_t run_places(const Value& table, const RunsAttrs& a) { return (table.elements() - a.run) / a.unit + 1; }

void check_runs(const Contract& c, const RunsAttrs& a) {
  if (c.in(1).cols != 1) c.need(1, c.in(1).rows, 1, "ids");
  if (a.run < 1 || a.unit < 1 || a.run > c.in(0).elements())
    c.fail("its runs are larger than its operand", "use shorter runs");
  if (run_places(c.in(0), a) > kIndexedRows) c.fail("it has more places than int32 counts", "use a smaller operand");
}

/// The first element of row r's run.
std::int64_t element_of(const RunsAttrs& a, const Tensor& ids, std::int64_t r) {
  return static_cast<std::int64_t>(ids.at(r, 0)) * a.unit;
}

/// y[r] = the run of x at element ids[r] * unit. Shapes: x, ids [R, 1] int32 -> [R, attrs.run]. Ids are in
/// range. Lowering: DMA gathers from HBM to HBM.
std::vector<Shape> take_runs_infer(const Contract& c) {
  const auto& a = c.node.attrs.as<RunsAttrs>();
  check_runs(c, a);
  return {{c.in(1).rows, a.run, c.in(0).dtype}};
}

Tensors take_runs_forward(const Attrs& attrs, std::span<const Tensor> in) {
  const auto& a = attrs.as<RunsAttrs>();
  return {generate(in[1].rows, a.run,
                   [&](auto r, auto c) { return in[0].data[static_cast<std::size_t>(element_of(a, in[1], r) + c)]; })};
}

/// Every place of a table as a row, columns [begin, begin + size) of each run.
Tile runs_at(Emitter& e, ValueId table, const RunsAttrs& a, Span columns) {
  return e.hbm_flat(table, columns.begin, run_places(e.value(table), a), columns.size, a.unit);
}

void take_runs_lower(Emitter& e, const Node& node) {
  const auto& a = node.attrs.as<RunsAttrs>();
  const std::int64_t rows = e.value(node.in[1]).rows;
  for (std::int64_t r = 0; r < rows; r += kPartitions) {
    const std::int64_t count = std::min(kPartitions, rows - r);
    const Tile ids = e.loaded(Dtype::kInt32, e.hbm(node.in[1], r, count));
    for (std::int64_t c = 0; c < a.run; c += kWidest) {
      const Span columns{c, std::min(kWidest, a.run - c)};
      e.emit({.op = Opcode::kDmaGather,
              .engine = isa::Engine::kSync,
              .dst = e.hbm(node.out[0], r, count, columns.begin, columns.size, 1),
              .a = runs_at(e, node.in[0], a, columns),
              .b = ids});
    }
  }
}

/// The run of x at element ids[r] * unit becomes y[r], or the two together by attrs.alu, one r after the other; ids
/// that are out of range change nothing. In place. Shapes: x, ids [R, 1] int32, y [R, attrs.run] -> x. Lowering: DMA
/// scatters that replace or add; other functions read, compute and write: row by row unless ids are unique.
std::vector<Shape> put_runs_infer(const Contract& c) {
  const auto& a = c.node.attrs.as<RunsAttrs>();
  check_runs(c, a);
  c.need(2, c.in(1).rows, a.run, "updates");
  const Value& x = c.in(0);
  return {{x.rows, x.cols, x.dtype, c.node.in[0]}};
}

Tensors put_runs_forward(const Attrs& attrs, std::span<const Tensor> in) {
  const auto& a = attrs.as<RunsAttrs>();
  Tensor out = in[0];
  const std::int64_t places = (out.rows * out.cols - a.run) / a.unit + 1;
  for (std::int64_t r = 0; r < in[1].rows; ++r) {
    const auto id = static_cast<std::int64_t>(in[1].at(r % in[1].rows, 0));
    if (id < 0 || id >= places) continue;
    for (std::int64_t c = 0; c < a.run; ++c) {
      float& to = out.data[static_cast<std::size_t>(element_of(a, in[1], r) + c)];
      to = a.alu == Alu::kNone ? in[2].at(r, c) : static_cast<float>(computed(a.alu, to, in[2].at(r, c)));
    }
  }
  return {out};
}

/// The table's elements meet the updates: gathered, computed, and written back.
void meet(Emitter& e, Alu alu, const Tile& table, const Tile& ids, const Tile& updates) {
  const Tile there = e.sbuf(updates.dtype, updates.partitions, updates.cols());
  e.fill(there, 0);  // of ids that are out of range
  e.emit({.op = Opcode::kDmaGather, .engine = isa::Engine::kSync, .skip = true, .dst = there, .a = table, .b = ids});
  e.tensor_tensor(there, there, alu, updates);
  scatter_in_turn(e, table, there, ids, {.skip = true});
}

void put_runs_lower(Emitter& e, const Node& node) {
  const auto& a = node.attrs.as<RunsAttrs>();
  const bool meets = a.alu != Alu::kNone && a.alu != Alu::kAdd;
  const Value& whole = e.value(node.in[0]);
  const std::int64_t rows = e.value(node.in[1]).rows, step = a.unique || !meets ? kPartitions : 1;
  for (std::int64_t c = 0; c < a.run; c += kWidest) {
    const Span columns{c, std::min(kWidest, a.run - c)};
    const Tile table = runs_at(e, node.out[0], a, columns);
    for (std::int64_t r = 0; r < rows; r += step) {
      const std::int64_t count = std::min(step, rows - r);
      const Tile ids = e.loaded(Dtype::kInt32, e.hbm(node.in[1], r, count));
      const Tile updates = e.loaded(whole.dtype, e.hbm(node.in[2], r, count, columns.begin, columns.size, 1));
      if (meets)
        meet(e, a.alu, table, ids, updates);
      else
        scatter_in_turn(e, table, updates, ids, {.accumulate = a.alu == Alu::kAdd, .skip = true});
    }
  }
}

}  // namespace

const Op kTakeRuns{.name = "take_runs",
                   .text = "runs of elements at places that data names",
                   .attrs = RunsAttrs{},
                   .infer = take_runs_infer,
                   .forward = take_runs_forward,
                   .lower_whole = take_runs_lower};
const Op kPutRuns{.name = "put_runs",
                  .text = "runs of elements written, or added, at places that data names",
                  .attrs = RunsAttrs{},
                  .infer = put_runs_infer,
                  .forward = put_runs_forward,
                  .lower_whole = put_runs_lower};

}  // namespace runtime
