#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "runtime/nki/view.h"

namespace runtime::nki {
namespace {

[[noreturn]] void reject(std::string_view what, std::string_view fix) {
  throw base::Error{base::Fault::kProgram, "", what, fix};
}

/// Axes with more than one element, neighbours joined where memory allows it.
std::vector<Axis> folded(const View& view, int from) {
  std::vector<Axis> out;
  for (int d = from; d < view.rank; ++d) {
    const Axis& a = view.axes[static_cast<std::size_t>(d)];
    if (a.size == 1) continue;
    const bool joins = view.apart != kAllApart && (view.apart == 0 || d != view.apart);
    if (joins && !out.empty() && out.back().kind == a.kind && out.back().step == a.step * a.size) {
      out.back().size *= a.size;
      out.back().step = a.step;
    } else {
      out.push_back(a);
    }
  }
  return out;
}

void check_claims(const View& view) {
  for (const Claim& c : view.claims) {
    if (c.index.least() >= 0 && c.index.most() < c.limit) continue;
    const std::string name = view.storage->name.empty() ? "the tensor" : view.storage->name;
    reject(fmt::format("indices {} to {} of axis {} are out of bounds: {} has {} there", c.index.least(),
                       c.index.most(), c.axis, name, c.limit),
           "keep the indices below the size, or mask the instruction");
  }
}

void set_free(isa::Tile& tile, const std::vector<Axis>& axes, const View& view) {
  if (axes.size() > tile.free.size())
    reject(fmt::format("the access pattern of {} has {} free axes, but an instruction takes {}", sizes_text(view),
                       axes.size(), tile.free.size()),
           "copy it to a tile with fewer gaps");
  tile.rank = static_cast<std::uint8_t>(std::max<std::size_t>(1, axes.size()));
  for (std::size_t d = 0; d < axes.size(); ++d) {
    if (axes[d].kind != Axis::Kind::kFree)
      reject(fmt::format("the partitions of {} are not its first axis", sizes_text(view)),
             axes[d].kind == Axis::Kind::kBlock ? "index the axes before the partitions" : "index it partitions first");
    tile.free[d] = {.step = static_cast<std::int32_t>(axes[d].step), .size = static_cast<std::uint32_t>(axes[d].size)};
  }
}

}  // namespace

std::vector<std::int64_t> common_sizes(const View& a, const View& b) {
  const int rank = std::max(a.rank, b.rank);
  std::vector<std::int64_t> out(static_cast<std::size_t>(rank), 1);
  for (int d = 0; d < rank; ++d)
    for (const View* v : {&a, &b}) {
      const int at = d - (rank - v->rank);
      const std::int64_t size = at < 0 ? 1 : v->axes[static_cast<std::size_t>(at)].size;
      std::int64_t& to = out[static_cast<std::size_t>(d)];
      if (size != 1 && to != 1 && size != to)
        reject(fmt::format("tiles of {} and {} do not broadcast", sizes_text(a), sizes_text(b)),
               "give them shapes that broadcast");
      if (to == 1) to = size;
    }
  return out;
}

View broadcast(const View& view, const std::vector<std::int64_t>& sizes) {
  const int rank = static_cast<int>(sizes.size());
  if (rank < view.rank || rank > kMostAxes)
    reject(fmt::format("a tile of {} does not broadcast to [{}]", sizes_text(view), fmt::join(sizes, ", ")),
           rank < view.rank ? "give as many axes as the tile has" : fmt::format("give at most {} axes", kMostAxes));
  View out = view;
  out.rank = rank;
  for (int d = 0; d < rank; ++d) {
    const int at = d - (rank - view.rank);
    Axis a = at < 0 ? Axis{} : view.axes[static_cast<std::size_t>(at)];
    if (a.size != sizes[static_cast<std::size_t>(d)]) {
      if (a.size != 1)
        reject(fmt::format("a tile of {} does not broadcast to [{}]", sizes_text(view), fmt::join(sizes, ", ")),
               "only axes of size 1 can be repeated");
      a.size = sizes[static_cast<std::size_t>(d)], a.step = 0;
      if (d == 0 && view.on_chip()) a.kind = Axis::Kind::kPart;
    }
    out.axes[static_cast<std::size_t>(d)] = a;
  }
  return out;
}

View reshaped(const View& view, const std::vector<std::int64_t>& sizes) {
  std::int64_t total = 1;
  for (const std::int64_t s : sizes) total *= s;
  if (total != view.elements() || sizes.size() > static_cast<std::size_t>(kMostAxes))
    reject(fmt::format("{} elements cannot be reshaped to {}", view.elements(), total), "keep the number of elements");
  const std::vector<Axis> have = folded(view, 0);
  View out = view;
  out.rank = static_cast<int>(sizes.size());
  if (total == 0) {
    for (int d = 0; d < out.rank; ++d)
      out.axes[static_cast<std::size_t>(d)] = {.size = sizes[static_cast<std::size_t>(d)], .step = 1};
    if (view.on_chip() && out.rank > 0) out.axes[0].kind = Axis::Kind::kPart;
    return out;
  }
  std::size_t at = have.size();
  Axis left = at ? have[at - 1] : Axis{};
  for (int d = out.rank - 1; d >= 0; --d) {
    std::int64_t want = sizes[static_cast<std::size_t>(d)];
    Axis& to = out.axes[static_cast<std::size_t>(d)];
    to = {.size = want, .step = 0, .kind = Axis::Kind::kFree};
    if (want == 1) continue;
    if (left.size == 1 && at > 1) left = have[--at - 1];
    if (left.size % want != 0)
      reject("this reshape joins elements that are not contiguous in memory", "copy the tile first");
    to.step = left.step, to.kind = left.kind;
    left.size /= want, left.step *= want;
  }
  if (view.on_chip() && out.rank > 0 && view.rank > 0 && out.axes[0].size == 1) out.axes[0].kind = Axis::Kind::kPart;
  return out;
}

View patterned(const View& view, const std::vector<std::pair<std::int64_t, std::int64_t>>& pattern, std::int64_t offset,
               bool anywhere) {
  const Storage& s = *view.storage;
  const std::int64_t each = s.cols * isa::size_of(s.dtype) / isa::size_of(view.dtype);  // elements of a partition
  if (pattern.empty() || pattern.size() > static_cast<std::size_t>(kMostAxes))
    reject("the access pattern has no axes, or too many", "give [step, size] for each axis");
  View out{.storage = view.storage, .dtype = view.dtype, .block = view.block};
  out.rank = static_cast<int>(pattern.size());
  out.part = view.on_chip() ? offset / each : 0, out.offset = view.on_chip() ? offset % each : offset;
  std::int64_t most = out.offset;
  for (std::size_t d = 0; d < pattern.size(); ++d) {
    const auto [step, size] = pattern[d];
    const bool parts = d == 0 && view.on_chip();
    if (parts && size > 1 && step != each)
      reject(fmt::format("the step of the partitions is {}, but the tensor has {} elements in each", step, each),
             "begin the pattern with that step");
    out.axes[d] = {.size = size, .step = parts ? 1 : step, .kind = parts ? Axis::Kind::kPart : Axis::Kind::kFree};
    if (!parts) most += std::max<std::int64_t>(0, step * (size - 1));
  }
  const std::int64_t last = view.on_chip() ? out.part + out.axes[0].size : 0;
  if (offset < 0 || (!anywhere && most >= each) || last > s.parts)
    reject(
        fmt::format("the access pattern reaches element {} and partition {} of {} and {}", most, last, each, s.parts),
        "keep it inside the tensor");
  return out;
}

View permuted(const View& view, const std::vector<int>& order) {
  View out = view;
  std::vector<bool> seen(static_cast<std::size_t>(view.rank), false);
  if (order.size() != seen.size()) reject("the order has another number of axes", "name each axis once");
  for (std::size_t d = 0; d < order.size(); ++d) {
    const int from = order[d] < 0 ? order[d] + view.rank : order[d];
    if (from < 0 || from >= view.rank || seen[static_cast<std::size_t>(from)])
      reject("the order does not name each axis once", "name each axis once");
    seen[static_cast<std::size_t>(from)] = true;
    out.axes[d] = view.axes[static_cast<std::size_t>(from)];
  }
  if (view.on_chip() && view.rank > 0 && order[0] != 0)
    reject("the partitions are not the first axis", "transpose with nisa.nc_transpose");
  return out;
}

isa::Tile tile_of(const View& view, std::uint32_t buffer) {
  check_claims(view);
  isa::Tile tile{};
  tile.space = view.storage->space;
  tile.dtype = view.dtype;
  const std::int64_t bytes = isa::size_of(view.dtype), parts = view.partitions();
  const std::int64_t most =
      view.on_chip() ? isa::kPartitions : std::numeric_limits<std::int32_t>::max();  // rows to gather
  if (parts > most)
    reject(fmt::format("the partition axis of {} has {} elements, but a tile has at most {}", sizes_text(view), parts,
                       most),
           "split it");
  tile.partitions = static_cast<std::int32_t>(parts);
  tile.offset = view.offset * bytes;
  set_free(tile, folded(view, 1), view);
  if (!view.on_chip()) {
    tile.reg = view.storage->reg;
    tile.pstep = view.rank > 0 && parts > 1 ? view.axes[0].step * bytes : 0;
    return tile;
  }
  tile.reg = buffer;
  if (view.rank > 0 && parts > 1 && (view.axes[0].kind != Axis::Kind::kPart || view.axes[0].step != 1))
    reject(view.axes[0].kind == Axis::Kind::kBlock
               ? fmt::format("{} still has axes before its partitions", sizes_text(view))
               : fmt::format("partitions of {} are mixed with elements, or have gaps", sizes_text(view)),
           "index partitions first, one after the other");
  const std::int64_t start = view.part;
  tile.start = static_cast<std::uint8_t>(start);
  return tile;
}

Region region_of(const View& view) {
  const std::int64_t bytes = isa::size_of(view.dtype);
  const std::vector<Axis> axes = folded(view, 1);
  Region out{.part = static_cast<int>(view.part),
             .parts = static_cast<int>(view.partitions()),
             .low = view.offset * bytes,
             .high = (view.offset + 1) * bytes,
             .dense = true};
  for (const Axis& a : axes) (a.step < 0 ? out.low : out.high) += a.step * (a.size - 1) * bytes;
  out.dense = axes.empty() || (axes.size() == 1 && axes[0].step == 1);
  return out;
}

}  // namespace runtime::nki
