#include "runtime/nki/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "isa/check.h"
#include "isa/names.h"
#include "isa/operands.h"

namespace runtime::nki {
namespace {

using isa::Engine;
using isa::Space;

std::int64_t product(const std::vector<std::int64_t>& sizes, std::size_t begin, std::size_t end) {
  std::int64_t n = 1;
  for (std::size_t d = begin; d < end; ++d) n *= sizes[d];
  return n;
}

void set_axes(View& view, const std::vector<std::int64_t>& sizes, int partition_axis) {
  view.rank = static_cast<int>(sizes.size());
  std::int64_t step = 1;
  for (int d = view.rank - 1; d > partition_axis; --d) {
    view.axes[static_cast<std::size_t>(d)] = {.size = sizes[static_cast<std::size_t>(d)], .step = step};
    step *= sizes[static_cast<std::size_t>(d)];
  }
  if (partition_axis < 0) return;
  view.axes[static_cast<std::size_t>(partition_axis)] = {
      .size = sizes[static_cast<std::size_t>(partition_axis)], .step = 1, .kind = Axis::Kind::kPart};
  step = 1;
  for (int d = partition_axis - 1; d >= 0; --d) {
    view.axes[static_cast<std::size_t>(d)] = {
        .size = sizes[static_cast<std::size_t>(d)], .step = step, .kind = Axis::Kind::kBlock};
    step *= sizes[static_cast<std::size_t>(d)];
  }
}

/// Regions that are neighbours become one.
void add(Region r, std::vector<Region>& all) {
  if (r.dense)
    for (auto it = all.begin(); it != all.end();) {
      const bool joins =
          it->dense && it->part == r.part && it->parts == r.parts && it->low <= r.high && r.low <= it->high;
      if (joins) r.low = std::min(r.low, it->low), r.high = std::max(r.high, it->high);
      it = joins ? all.erase(it) : it + 1;
    }
  all.push_back(r);
}

/// The operand of a reduction: its last axis is not joined with the one in front of it.
View apart(View view) {
  if (view.rank > 2) view.apart = view.rank - 1;
  return view;
}

/// NKI's compiler on NeuronCore-v3 gives ScalarE and VectorE copies from PSUM in about the numbers that end both at
/// once. Source: the counts in its profiles, 111 on ScalarE (v3_scl_copy_512) and 45 on VectorE (v3_vec_copy_512).
EnginePolicy policy_for(const isa::Target& target) {
  EnginePolicy out = kNkiPolicy;
  if (target.generation >= 3) out.psum_copies_on_scalar = false;
  return out;
}

/// Gathers, scatters and dynamic copies get the rows that an index may name; for all others the index would be lost.
void refuse_indirect(const Trace::Op& op) {
  for (const View* view : {op.dst, op.dst2, op.a, op.b, op.c})
    if (view && view->indirect)
      throw base::Error{base::Fault::kProgram, "",
                        "an operand is at a place that is known only at run time, which this call does not take",
                        "copy it to a tile of its own first, with nisa.dma_copy or nisa.tensor_copy"};
}

base::Error another_kernel(const Storage& storage) {
  return {base::Fault::kProgram, "",
          fmt::format("{} belongs to another kernel, or to another call of this one",
                      storage.name.empty() ? "the tensor" : storage.name),
          "make it in the kernel that uses it, or pass it as an argument"};
}

}  // namespace

Trace::Trace(const isa::Target& target, std::string name, std::size_t most_instructions)
    : target_{target}, most_instructions_{most_instructions} {
  block_.name = std::move(name);
  add_label("kernel");
}

std::uint32_t Trace::add_label(std::string text) {
  block_.labels.push_back(std::move(text));
  return static_cast<std::uint32_t>(block_.labels.size() - 1);
}

View Trace::tensor(const TensorSpec& spec) {
  if (spec.sizes.size() > static_cast<std::size_t>(kMostAxes))
    throw base::Error{base::Fault::kProgram, "", fmt::format("the tensor has {} axes", spec.sizes.size()),
                      "use fewer axes"};
  auto storage = std::make_shared<Storage>();
  View view{.storage = storage, .dtype = spec.dtype};
  storage->number = ++tensors_;
  storage->trace = self_, storage->space = spec.space, storage->dtype = spec.dtype, storage->name = spec.name;
  storage->fill = spec.fill, storage->places = spec.places, storage->core = apart_ ? program_ : 0;
  const bool on_chip = spec.space != Space::kHbm;
  set_axes(view, spec.sizes, on_chip ? spec.partition_axis : -1);
  if (!on_chip) {
    storage->reg = static_cast<std::uint32_t>(block_.registers.size());
    block_.registers.push_back(static_cast<ValueId>(storage->reg));
    storage->cols = product(spec.sizes, 0, spec.sizes.size());
    return view;
  }
  const auto axis = static_cast<std::size_t>(spec.partition_axis);
  storage->parts = spec.sizes.empty() ? 1 : spec.sizes[axis];
  storage->cols = spec.sizes.empty() ? 1 : product(spec.sizes, axis + 1, spec.sizes.size());
  storage->blocks.resize(static_cast<std::size_t>(product(spec.sizes, 0, axis)));
  if (storage->parts > target_.geometry.partitions)
    throw base::Error{
        base::Fault::kProgram, "",
        fmt::format("the partition axis of {} has {} elements, but there are {} partitions",
                    spec.name.empty() ? "the tensor" : spec.name, storage->parts, target_.geometry.partitions),
        "split it, or mark another axis with nl.par_dim"};
  const std::int64_t bytes = storage->cols * isa::size_of(spec.dtype);
  const std::int64_t most =
      spec.space == Space::kPsum ? target_.geometry.psum_partition_bytes : target_.geometry.sbuf_partition_bytes;
  if (bytes > most)
    throw base::Error{base::Fault::kProgram, "",
                      fmt::format("{} bytes per partition exceed {}, which has {}", bytes,
                                  spec.space == Space::kPsum ? "PSUM" : "SBUF", most),
                      "use smaller tiles"};
  return view;
}

View Trace::temporary(Space space, Dtype dtype, const std::vector<std::int64_t>& sizes) {
  View view = tensor({.space = space, .dtype = dtype, .sizes = sizes});
  view.storage->temporary = true;
  return view;
}

std::uint32_t Trace::buffer_of(const View& view) {
  Storage& s = *view.storage;
  BlockState& state = state_of(view);
  if (state.buffer != 0) return state.buffer;
  const std::int64_t bytes = std::max<std::int64_t>(1, s.cols) * isa::size_of(s.dtype);
  if (s.places.empty()) {
    state.buffer = block_.add({.space = s.space, .bytes = bytes, .parts = s.parts});
  } else {  // all that a kernel places itself is in one buffer, so that accesses to shared bytes keep their order
    Direct& direct = direct_[s.core][s.space == Space::kPsum];
    if (direct.buffer == 0)
      direct.buffer = block_.add({.space = s.space, .bytes = 0, .parts = target_.geometry.partitions});
    direct.bytes = std::max(direct.bytes, s.places.at(static_cast<std::size_t>(view.block)).byte + bytes);
    block_.buffers[direct.buffer - 1].bytes = direct.bytes;
    state.buffer = direct.buffer;
  }
  state.slot = static_cast<std::uint32_t>(block_.instrs.size());
  return state.buffer;
}

Trace& Trace::of(const View& view) {
  const std::shared_ptr<Trace*> trace = view.storage->trace.lock();
  if (!trace) throw another_kernel(*view.storage);
  return **trace;
}

void Trace::require_own(const View& view) const {
  if (view.storage->trace.lock() != self_) throw another_kernel(*view.storage);
}

Tile Trace::on_chip_tile(const View& view) {
  require_own(view);
  const std::uint32_t buffer = view.on_chip() ? buffer_of(view) : 0;
  Tile tile = tile_of(view, buffer);
  if (view.on_chip() && !view.storage->places.empty()) {
    const Place& place = view.storage->places[static_cast<std::size_t>(view.block)];
    tile.start = static_cast<std::uint8_t>(tile.start + place.part);
    tile.offset += place.byte;
  }
  return tile;
}

void Trace::fill_block(const View& view, BlockState& state) {
  state.filled = true;
  View whole{.storage = view.storage, .dtype = view.storage->dtype, .block = view.block, .rank = 2};
  whole.axes[0] = {.size = view.storage->parts, .step = 1, .kind = Axis::Kind::kPart};
  whole.axes[1] = {.size = view.storage->cols, .step = 1};
  const double number = *view.storage->fill;
  isa::Instr fill{
      .op = isa::Opcode::kMemset, .label = label_, .imm0 = static_cast<float>(number), .dst = on_chip_tile(whole)};
  if (isa::is_integer(whole.dtype) && fill.imm0 != number)  // more bits than fp32 has
    fill.integers = true, fill.ints[0] = static_cast<std::int32_t>(static_cast<std::int64_t>(number));
  fill = books().choose(fill);
  books().add(fill);
  fills_.emplace_back(state.slot, fill);
}

Tile Trace::read_tile(const View& view) {
  view.storage->read = true;
  const Tile tile = on_chip_tile(view);
  if (!view.storage->places.empty() && placed_.overwritten(tile, view.storage->number)) {
    doubt("a tile is read after another one was written over it");
  }
  if (!view.on_chip() || !view.storage->fill || state_of(view).filled) return tile;
  BlockState& state = state_of(view);
  const Region r = region_of(view);
  const bool written = std::ranges::any_of(state.written, [&](const Region& w) {
    return w.dense && w.part <= r.part && r.part + r.parts <= w.part + w.parts && w.low <= r.low && r.high <= w.high;
  });
  if (!written) fill_block(view, state);
  return tile;
}

void Trace::doubt(std::string_view text) {
  const Doubt doubt{label_, std::string{text}};
  if (std::ranges::find(doubts_, doubt) == doubts_.end()) doubts_.push_back(doubt);
}

/// Rows that an index names may be any: only the run knows which.
void Trace::note_race(const isa::Instr& instr) {
  if (instr.op == isa::Opcode::kDmaGather || instr.op == isa::Opcode::kDmaScatter || instr.accumulate) return;
  if (races_.raced(instr.a))
    doubt("a program of the grid reads HBM that another one writes: they run in any order, and nothing makes it wait");
  races_.write(instr.dst);
}

void Trace::note_write(const View& view) {
  if (!view.on_chip()) view.storage->written = true;
  if (!view.on_chip() || !view.storage->fill || state_of(view).filled) return;
  BlockState& state = state_of(view);
  bodies_.write(view.storage, static_cast<std::size_t>(view.block));
  if (state.sums) add(region_of(view), *state.sums);
  add(region_of(view), state.written);
}

Tile Trace::write_tile(const View& view) {
  const Tile tile = on_chip_tile(view);
  if (tile.elements() > 1)
    ++view.storage->sweeps;
  else if (view.on_chip())
    ++view.storage->singles[word_of(view)];
  if (!view.storage->places.empty()) placed_.write(tile, view.storage->number);
  note_write(view);
  return tile;
}

std::uint32_t Trace::push(const isa::Instr& instr) {
  if (block_.instrs.size() >= most_instructions_)
    throw base::Error{base::Fault::kProgram, "",
                      fmt::format("the kernel has more than {} instructions, or never ends", most_instructions_),
                      "check its loops, or raise the limit (TRNSIM_NKI_INSTRUCTIONS)"};
  block_.instrs.push_back(instr);
  block_.instrs.back().label = label_;
  makers_.push_back(maker());
  books().add(instr);
  return static_cast<std::uint32_t>(block_.instrs.size() - 1);
}

EngineBooks& Trace::books() {
  return books_.try_emplace(timed_ ? maker() : 0, target_, policy_for(target_)).first->second;
}

isa::Instr Trace::on_ring(const isa::Instr& instr) {
  if (!isa::is_dma(instr.op)) return instr;
  // A copy within SBUF waits for a result as a store does.
  const bool waits = instr.dst.space == Space::kHbm || instr.a.space != Space::kHbm;
  return waits ? books().store(instr) : books().load(instr);
}

isa::Instr Trace::on_engine(const isa::Instr& instr) {
  return books().choose(instr, [&](float number, const Tile& like) {
    return read_tile(cut(constant(number), 0, like.start, like.partitions));
  });
}

/// The checker's rules; the kernel's line stands for the instruction.
void Trace::check(isa::Instr instr) const {
  for (Tile* t : {&instr.dst, &instr.dst2, &instr.a, &instr.b, &instr.c})
    if (t->space != Space::kHbm) t->reg = 0;
  try {
    isa::check(instr, target_);
  } catch (const base::Error& e) {
    throw base::Error{e.fault(), "", fmt::format("{}: {}", isa::name_of(instr.op), e.problem()), e.fix()};
  }
}

void Trace::emit(const Op& op) {
  if ((op.dst && op.dst->empty()) || (op.a && op.a->empty())) return;
  refuse_indirect(op);
  isa::Instr instr = op.instr;
  instr.label = label_;
  const bool steps = isa::has_steps(instr);
  if (op.a)
    instr.a = read_tile(instr.op == isa::Opcode::kTensorReduce ? apart(*op.a) : steps ? unjoined(*op.a) : *op.a);
  if (op.b) instr.b = read_tile(*op.b);
  if (op.c) instr.c = read_tile(*op.c);
  const bool keeps = instr.accumulate || instr.skip || instr.op == isa::Opcode::kCopyPredicated ||
                     instr.op == isa::Opcode::kStreamShuffle || instr.op == isa::Opcode::kTensorCopyDynamicDst;
  if (keeps && op.dst->on_chip()) read_tile(*op.dst);
  if (op.dst) instr.dst = write_tile(steps ? unjoined(*op.dst) : *op.dst);
  if (op.dst2) instr.dst2 = write_tile(*op.dst2);
  instr = on_ring(op.any_engine ? on_engine(instr) : instr);
  check(instr);
  if (shared_) note_race(instr);
  const std::uint32_t index = push(instr);
  if (op.any_engine) open_.push_back(index);
  for (const View* dst : {op.dst, op.dst2})
    if (dst && dst->storage->temporary && !dst->storage->read)
      dst->storage->producers.push_back({.instr = index, .second = dst == op.dst2, .part = *dst});
}

View Trace::constant(float value) {
  return constants_.number(value, [&] {
    return tensor({.dtype = isa::Dtype::kFp32, .sizes = {target_.geometry.partitions, 1}, .fill = value});
  });
}

void Trace::begin_loop() {
  for (LoopTrace& loop : open_loops_) loop.outer = true;
  open_loops_.emplace_back();
}

void Trace::next_iteration() {
  LoopTrace& loop = open_loops_.back();
  const auto at = static_cast<std::uint32_t>(block_.instrs.size());
  if (loop.end == 0 || !loop.starts.empty()) loop.starts.push_back(at);
  loop.end = 1;  // it has begun: where programs have changed inside, it has no starts, and gets none
}

void Trace::end_loop() {
  LoopTrace loop = std::move(open_loops_.back());
  open_loops_.pop_back();
  loop.end = static_cast<std::uint32_t>(block_.instrs.size());
  if (loop.starts.size() > 1) loops_.push_back(std::move(loop));
}

void Trace::next_in_body(std::size_t body) {
  bodies_.again(body);
  for (std::size_t e = 0; e < isa::kEngineCount; ++e)
    push({.op = isa::Opcode::kWait, .engine = static_cast<isa::Engine>(e), .imm0 = 1});
}

void Trace::program(std::size_t number) {
  shared_ = true, races_.program(number);
  if (number == program_) return;
  for (LoopTrace& loop : open_loops_) loop.starts.clear();
  other_loops_[program_] = std::move(open_loops_);
  open_loops_ = std::move(other_loops_[number]);
  bodies_.program(number);
  program_ = number;
}

/// The instructions, each fill in front of that which first touches its tile. `fills_` are in that order.
std::vector<isa::Instr> Trace::with_fills() const {
  std::vector<isa::Instr> all;
  all.reserve(block_.instrs.size() + fills_.size());
  auto fill = fills_.begin();
  for (std::uint32_t i = 0; i <= block_.instrs.size(); ++i) {
    for (; fill != fills_.end() && fill->first == i; ++fill) all.push_back(fill->second);
    if (i < block_.instrs.size()) all.push_back(block_.instrs[i]);
  }
  return all;
}

VirtualBlock Trace::so_far(const View& to, const View& part) {
  const Tile from = read_tile(part);
  const isa::Instr save{
      .op = isa::Opcode::kDmaCopy, .engine = Engine::kSync, .label = label_, .dst = write_tile(to), .a = from};
  std::ranges::stable_sort(fills_, {}, [](const auto& f) { return f.first; });
  VirtualBlock out = block_;
  out.instrs = with_fills();
  out.instrs.push_back(save);
  return out;
}

VirtualBlock Trace::finish() {
  for (auto& [slot, fill] : fills_)  // in front of the loop that it would be in
    for (const LoopTrace& loop : loops_)
      if (!loop.outer && loop.starts.front() < slot && slot < loop.end) slot = loop.starts.front();
  std::ranges::stable_sort(fills_, {}, [](const auto& f) { return f.first; });
  std::vector<isa::Instr> all = with_fills();
  const auto moved = [&](std::uint32_t i) {  // where an instruction is now
    return i + static_cast<std::uint32_t>(
                   std::ranges::upper_bound(fills_, i, {}, [](const auto& f) { return f.first; }) - fills_.begin());
  };
  for (LoopTrace& loop : loops_) {
    for (std::uint32_t& start : loop.starts) start = moved(start);
    loop.end = loop.end == 0 ? 0 : moved(loop.end - 1) + 1;
  }
  for (std::uint32_t& i : open_) i = moved(i);
  block_.instrs = std::move(all);
  return std::move(block_);
}

}  // namespace runtime::nki
