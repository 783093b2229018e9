// Runs of elements at places that data names: gathers, scatters and slices of any form, for graphs of any kind.
#include <algorithm>

#include "runtime/ops/element_numbers.h"
#include "runtime/ops/indexed.h"
#include "runtime/ops/ops.h"

namespace runtime {
namespace {

constexpr std::int64_t kPart = 32768;   // rows that one indexed transfer names, where a table has more than it can
constexpr std::int64_t kWidest = 4096;  // elements of a run in one transfer

/// How many places a run may have.
std::int64_t run_places(const Value& table, const RunsAttrs& a) { return (table.elements() - a.run) / a.unit + 1; }

void check_runs(const Contract& c, const RunsAttrs& a) {
  if (c.in(1).cols != 1) c.need(1, c.in(1).rows, 1, "ids");
  if (a.run < 1 || a.unit < 1 || a.run > c.in(0).elements())
    c.fail("its runs are larger than its operand", "use shorter runs");
}

/// The rows of a result or of updates; rows r, r + R, r + 2 R, ... have the id r of R.
std::int64_t rows_of(const Value& ids, const RunsAttrs& a) { return ids.rows * a.repeat; }

/// The first element of row r's run.
std::int64_t element_of(const RunsAttrs& a, const Tensor& ids, std::int64_t r) {
  return static_cast<std::int64_t>(ids.at(r % ids.rows, 0)) * a.unit + r / ids.rows * a.period;
}

/// y[r] = the run of x at element ids[r] * unit. Shapes: x, ids [R, 1] int32 -> [R * repeat, attrs.run]. Ids are in
/// range. Lowering: DMA gathers from HBM to HBM.
std::vector<Shape> take_runs_infer(const Contract& c) {
  const auto& a = c.node.attrs.as<RunsAttrs>();
  check_runs(c, a);
  return {{rows_of(c.in(1), a), a.run, c.in(0).dtype}};
}

Tensors take_runs_forward(const Attrs& attrs, std::span<const Tensor> in) {
  const auto& a = attrs.as<RunsAttrs>();
  return {generate(in[1].rows * a.repeat, a.run,
                   [&](auto r, auto c) { return in[0].data[static_cast<std::size_t>(element_of(a, in[1], r) + c)]; })};
}

/// Places [begin, begin + count) of a table as rows, columns [col, col + cols) of each run.
Tile runs_at(Emitter& e, ValueId table, const RunsAttrs& a, std::int64_t begin, std::int64_t count, Span columns) {
  return e.hbm_flat(table, begin * a.unit + columns.begin, count, columns.size, a.unit);
}

/// Calls f(ids, first place, places) for each part of the table that one transfer reaches. Ids that repeat are within
/// reach of their period's begin, of which this is number `time`.
template <class F>
void for_parts(Emitter& e, const Tile& ids, std::int64_t places, const RunsAttrs& a, std::int64_t time, const F& f) {
  const std::int64_t first = time * a.period / a.unit;
  if (a.repeat > 1) return f(ids, first, std::min(kIndexedRows, places - first));
  if (places <= kIndexedRows) return f(ids, std::int64_t{0}, places);
  for (std::int64_t begin = 0; begin < places; begin += kPart) {
    const Tile start = e.sbuf(Dtype::kInt32, ids.partitions, 1), here = e.sbuf(Dtype::kInt32, ids.partitions, 1);
    e.fill(start, static_cast<float>(begin));
    e.emit({.op = Opcode::kTensorTensor,
            .engine = isa::Engine::kGpSimd,
            .alu0 = Alu::kSub,
            .dst = here,
            .a = ids,
            .b = start});
    f(here, begin, std::min(kPart, places - begin));
  }
}

void take_runs_lower(Emitter& e, const Node& node) {
  const auto& a = node.attrs.as<RunsAttrs>();
  const std::int64_t rows = e.value(node.in[1]).rows, places = run_places(e.value(node.in[0]), a);
  for (std::int64_t r = 0; r < rows; r += kPartitions) {
    const std::int64_t count = std::min(kPartitions, rows - r);
    const Tile ids = e.loaded(Dtype::kInt32, e.hbm(node.in[1], r, count));
    for (std::int64_t time = 0; time < a.repeat; ++time)
      for_parts(e, ids, places, a, time, [&](const Tile& here, std::int64_t begin, std::int64_t reach) {
        for (std::int64_t c = 0; c < a.run; c += kWidest) {
          const Span columns{c, std::min(kWidest, a.run - c)};
          e.emit({.op = Opcode::kDmaGather,
                  .engine = isa::Engine::kSync,
                  .skip = a.repeat == 1 && places > kIndexedRows,
                  .dst = e.hbm(node.out[0], time * rows + r, count, columns.begin, columns.size, 1),
                  .a = runs_at(e, node.in[0], a, begin, reach, columns),
                  .b = here});
        }
      });
  }
}

/// The run of x at element ids[r] * unit becomes y[r], or the two together by attrs.alu, one r after the other; ids
/// that are out of range change nothing. In place. Shapes: x, ids [R, 1] int32, y [R, attrs.run] -> x. Lowering: DMA
/// scatters that replace or add; other functions read, compute and write: row by row unless ids are unique.
std::vector<Shape> put_runs_infer(const Contract& c) {
  const auto& a = c.node.attrs.as<RunsAttrs>();
  check_runs(c, a);
  c.need(2, rows_of(c.in(1), a), a.run, "updates");
  const Value& x = c.in(0);
  return {{x.rows, x.cols, x.dtype, c.node.in[0]}};
}

Tensors put_runs_forward(const Attrs& attrs, std::span<const Tensor> in) {
  const auto& a = attrs.as<RunsAttrs>();
  Tensor out = in[0];
  const std::int64_t places = (out.rows * out.cols - a.run) / a.unit + 1;
  for (std::int64_t r = 0; r < in[1].rows * a.repeat; ++r) {
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

void put_rows(Emitter& e, const Node& node, const Tile& ids, std::int64_t first, std::int64_t time, Span columns) {
  const auto& a = node.attrs.as<RunsAttrs>();
  const Value& whole = e.value(node.in[0]);
  const Tile updates = e.loaded(whole.dtype, e.hbm(node.in[2], first, ids.partitions, columns.begin, columns.size, 1));
  for_parts(e, ids, run_places(whole, a), a, time, [&](const Tile& here, std::int64_t begin, std::int64_t reach) {
    const Tile table = runs_at(e, node.out[0], a, begin, reach, columns);
    if (a.alu != Alu::kNone && a.alu != Alu::kAdd) return meet(e, a.alu, table, here, updates);
    scatter_in_turn(e, table, updates, here, {.accumulate = a.alu == Alu::kAdd, .skip = true});
  });
}

void put_runs_lower(Emitter& e, const Node& node) {
  const auto& a = node.attrs.as<RunsAttrs>();
  const bool at_once = a.unique || a.alu == Alu::kNone || a.alu == Alu::kAdd;
  const std::int64_t rows = e.value(node.in[1]).rows, step = at_once ? kPartitions : 1;
  for (std::int64_t c = 0; c < a.run; c += kWidest)
    for (std::int64_t r = 0; r < rows; r += step) {
      const Tile ids = e.loaded(Dtype::kInt32, e.hbm(node.in[1], r, std::min(step, rows - r)));
      for (std::int64_t time = 0; time < a.repeat; ++time)
        put_rows(e, node, ids, time * rows + r, time, {c, std::min(kWidest, a.run - c)});
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
