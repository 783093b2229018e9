#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/error.h"
#include "runtime/nki/trace.h"
#include "runtime/nki/view.h"

namespace runtime::nki {
namespace {

using Kind = Index::Kind;

[[noreturn]] void refuse(std::string_view what, std::string_view fix) {
  throw base::Error{base::Fault::kProgram, "", what, fix};
}

void advance(View& view, const Axis& axis, std::int64_t places) {
  switch (axis.kind) {
    case Axis::Kind::kBlock: view.block += places * axis.step; break;
    case Axis::Kind::kPart: view.part += places * axis.step; break;
    case Axis::Kind::kFree: view.offset += places * axis.step; break;
  }
}

/// Applies the indices to the axes of a view from the left.
class Subscript {
 public:
  Subscript(const View& view, const std::vector<Index>& indices) : view_{view}, out_{view} {
    out_.rank = 0;
    for (const Index& index : indices)
      if (index.kind == Kind::kAffine || index.kind == Kind::kTile) advanced_ = true;
    const auto named = std::ranges::count_if(
        indices, [](const Index& i) { return i.kind != Kind::kNewAxis && i.kind != Kind::kEllipsis; });
    if (named > view.rank)
      refuse(fmt::format("{} indices for a tensor of {} axes", named, view.rank), "give one index for each axis");
    rest_ = view.rank - static_cast<int>(named);
    indices_ = &indices;
  }

  View run() {
    bool open = true;  // no ellipsis yet
    if (advanced_) join();
    for (const Index& index : *indices_) {
      if (index.kind == Kind::kEllipsis) {
        open = false;
        while (rest_ > 0) keep(), --rest_;
      } else {
        apply(index);
      }
    }
    while (open && next_ < view_.rank) keep();
    // A tile has two axes, a tensor in HBM one, in the newer dialect.
    const bool one = out_.on_chip() ? out_.rank == 1 : out_.rank == 0 && Trace::of(out_).newer();
    if (one) push({.size = 1, .step = 0, .kind = Axis::Kind::kFree});
    out_.number = std::ssize(*indices_) == view_.rank && std::ranges::all_of(*indices_, is_integer);
    return out_;
  }

 private:
  void push(const Axis& axis) {
    if (out_.rank == kMostAxes) refuse("the tensor has too many axes", "use fewer axes");
    out_.axes[static_cast<std::size_t>(out_.rank++)] = axis;
  }
  const Axis& axis() const { return view_.axes[static_cast<std::size_t>(next_)]; }
  void keep() { push(axis()), ++next_; }

  static bool is_integer(const Index& index) { return index.kind == Kind::kInteger; }

  /// Index tiles are broadcast together; their axes take the place of the first one. A number of the run takes away an
  /// axis of a tensor in HBM, as an integer does, if a slice keeps another one.
  void join() {
    const bool sliced =
        rest_ > 0 || std::ranges::any_of(*indices_, [](const Index& i) { return i.kind == Kind::kSlice; });
    for (const Index& index : *indices_) {
      if (index.kind == Kind::kAffine || index.kind == Kind::kTile) joined_ = joined_.plus(index.affine.scaled(0));
      const bool taken = sliced && index.tile && index.tile->number && !view_.on_chip();
      if (index.kind == Kind::kTile && !taken) joined_ = joined_.plus(tile_shape(*index.tile));
    }
  }
  static Affine tile_shape(const View& tile) {
    Affine out{.rank = tile.rank};
    for (int d = 0; d < tile.rank; ++d) out.size[d] = tile.axes[static_cast<std::size_t>(d)].size;
    return out;
  }
  void open_joined() {
    if (first_ >= 0) return;
    first_ = out_.rank;
    for (int d = 0; d < joined_.rank; ++d) push({.size = joined_.size[d], .step = 0, .kind = Axis::Kind::kFree});
  }

  void apply(const Index& index) {
    switch (index.kind) {
      case Kind::kNewAxis: push({.size = 1, .step = 0, .kind = Axis::Kind::kFree}); return;
      case Kind::kInteger: integer(index.begin); return;
      case Kind::kSlice: slice(index); return;
      case Kind::kAffine: affine(index.affine); return;
      case Kind::kTile: tile(index); return;
      case Kind::kEllipsis: return;
    }
  }

  void claim(const Affine& index, int first) {
    Claim out{.index = {.constant = index.constant, .rank = kMostAxes}, .limit = axis().size, .axis = next_};
    for (int d = 0; d < index.rank; ++d) {
      out.index.size[first + d] = index.size[d];
      out.index.coef[first + d] = index.coef[d];
    }
    for (auto& size : out.index.size) size = std::max<std::int64_t>(size, 1);
    out_.claims.push_back(out);
  }

  void integer(std::int64_t value) {
    const Axis a = axis();
    if (value < 0) value += a.size;
    if (value < 0 || value >= a.size)
      refuse(fmt::format("index {} of axis {} is out of bounds: {} has {} there", value, next_, name_of(view_), a.size),
             "keep the index below the size");
    advance(out_, a, value);
    const bool stays = a.kind == Axis::Kind::kPart && !advanced_;  // a tile keeps its partition axis
    if (stays) push({.size = 1, .step = a.step, .kind = a.kind});
    ++next_;
  }

  void slice(const Index& index) {
    const Axis a = axis();
    const std::int64_t size = index.size < 0 ? a.size : index.size;
    const bool named = next_ == 0 && view_.indirect && view_.indirect->rows && view_.indirect->index->elements() > 1;
    if (named && (size != a.size || index.step != 1))
      refuse("an axis that is indexed at run time is sliced", "slice the index first");
    const std::int64_t last = index.begin + (size - 1) * index.step;
    if (size > 0 && (std::min(index.begin, last) < 0 || std::max(index.begin, last) >= a.size)) {
      Affine places{.constant = index.begin, .rank = 1};
      places.size[0] = size, places.coef[0] = index.step;
      claim(places, out_.rank);
    }
    if (size > 0) advance(out_, a, index.begin);
    push({.size = size, .step = a.step * index.step, .kind = a.kind});
    ++next_;
  }

  void affine(const Affine& index, bool checked = true) {
    const Axis a = axis();
    open_joined();
    const int first = first_ + joined_.rank - index.rank;
    if (checked && joined_size() > 0 && (index.least() < 0 || index.most() >= a.size)) claim(index, first);
    advance(out_, a, index.constant);
    for (int d = 0; d < index.rank; ++d)
      if (index.coef[d] != 0)
        add_step(out_.axes[static_cast<std::size_t>(first) + static_cast<std::size_t>(d)], a, index.coef[d]);
    // A partition axis of one place stays the first axis.
    if (a.kind == Axis::Kind::kPart && joined_.rank > 0 && out_.axes[static_cast<std::size_t>(first_)].step == 0)
      out_.axes[static_cast<std::size_t>(first_)].kind = a.kind;
    ++next_;
  }
  std::int64_t joined_size() const {
    std::int64_t n = 1;
    for (int d = 0; d < joined_.rank; ++d) n *= joined_.size[d];
    return n;
  }

  static void add_step(Axis& to, const Axis& a, std::int64_t coef) {
    if (to.step != 0 && to.kind != a.kind)
      refuse("one index runs over partitions and over elements", "use an index of its own for the partitions");
    to.kind = a.kind;
    to.step += a.step * coef;
  }

  void tile(const Index& index) {
    if (out_.indirect) refuse("two axes have index tiles", "compute one index for both");
    const Axis a = axis();
    const bool moved = index.affine.least() == index.affine.most();  // by a number, beside the index
    const std::int64_t left = moved ? std::max<std::int64_t>(1, a.size - index.affine.constant) : a.size;
    out_.indirect = Indirect{.index = index.tile, .step = a.step, .limit = left, .rows = !view_.on_chip()};
    affine(index.affine, false);
  }

  static std::string name_of(const View& view) {
    return view.storage->name.empty() ? "the tensor" : view.storage->name;
  }

  const View& view_;
  View out_;
  const std::vector<Index>* indices_ = nullptr;
  Affine joined_;
  int first_ = -1, next_ = 0, rest_ = 0;
  bool advanced_ = false;
};

std::int64_t product(const View& view, int from) {
  std::int64_t n = 1;
  for (int d = from; d < view.rank; ++d) n *= view.axes[static_cast<std::size_t>(d)].size;
  return n;
}

}  // namespace

bool View::on_chip() const { return storage->space != isa::Space::kHbm; }
std::int64_t View::elements() const { return product(*this, 0); }
std::int64_t View::partitions() const { return rank == 0 ? 1 : axes[0].size; }
std::int64_t View::cols() const { return product(*this, 1); }

std::array<std::int64_t, 3> word_of(const View& view) {
  return {view.block, view.part, view.offset * isa::size_of(view.dtype) / 4};
}

std::uint32_t times_written(const View& view) {
  const auto single = view.storage->singles.find(word_of(view));
  return view.storage->sweeps + (single == view.storage->singles.end() ? 0 : single->second);
}

bool View::same_place(const View& other) const {
  if (storage != other.storage || block != other.block || part != other.part || offset != other.offset) return false;
  int d = 0, e = 0;
  while (true) {  // axes of one element do not matter
    while (d < rank && axes[static_cast<std::size_t>(d)].size == 1) ++d;
    while (e < other.rank && other.axes[static_cast<std::size_t>(e)].size == 1) ++e;
    if (d == rank || e == other.rank) return d == rank && e == other.rank;
    const Axis &a = axes[static_cast<std::size_t>(d++)], &b = other.axes[static_cast<std::size_t>(e++)];
    if (a.size != b.size || a.step != b.step || a.kind != b.kind) return false;
  }
}

View subscript(const View& view, const std::vector<Index>& indices) { return Subscript{view, indices}.run(); }

View cut(const View& view, int axis, std::int64_t low, std::int64_t size) {
  View out = view;
  Axis& a = out.axes[static_cast<std::size_t>(axis)];
  if (size > 0) advance(out, a, low);
  a.size = size;
  for (Claim& c : out.claims) {
    c.index.constant += c.index.coef[axis] * low;
    c.index.size[axis] = size;
  }
  if (out.indirect && out.indirect->rows && axis == 0 && out.indirect->index->elements() > 1)
    out.indirect->index = std::make_shared<View>(cut(*out.indirect->index, 0, low, size));
  return out;
}

namespace {

/// The axis of an inequality that depends on one index; none when it depends on no index.
std::optional<int> axis_of(const Affine& inequality) {
  std::optional<int> axis;
  for (int d = 0; d < inequality.rank; ++d) {
    if (inequality.coef[d] == 0 || inequality.size[d] <= 1) continue;
    if (axis)
      refuse("the mask is not a rectangle: one inequality has two indices", "use affine_select or nl.where instead");
    axis = d;
  }
  return axis;
}

}  // namespace

std::vector<Range> left(const View& view, const Mask& mask) {
  // The places of each axis that are left: all inequalities count from its begin.
  std::array<std::int64_t, kMostAxes> low{}, high{};
  for (std::size_t d = 0; d < static_cast<std::size_t>(view.rank); ++d) high[d] = view.axes[d].size;
  for (const Affine& inequality : mask) {
    if (inequality.rank > 0 && inequality.least() >= 0) continue;
    const std::optional<int> axis = axis_of(inequality);
    if (!axis) {
      if (inequality.least() < 0) high[0] = 0;
      continue;
    }
    const int at = inequality.rank == view.rank || *axis == 0 ? *axis : *axis + view.rank - inequality.rank;
    if (at < 0 || at >= view.rank) refuse("the mask does not have as many axes as the tile", "use the tile's indices");
    const auto d = static_cast<std::size_t>(at);
    if (view.axes[d].size == 1 && inequality.size[*axis] > 1) continue;  // it is broadcast along this axis
    if (view.axes[d].size != inequality.size[*axis])
      refuse(fmt::format("the mask's index has {} elements, but axis {} of the tile has {}", inequality.size[*axis], at,
                         view.axes[d].size),
             "compare the indices of the tile");
    const std::int64_t coef = inequality.coef[*axis], c = inequality.constant;  // coef * i + c >= 0
    const auto floor_div = [](std::int64_t a, std::int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); };
    if (coef > 0)
      low[d] = std::max(low[d], -floor_div(c, coef));
    else
      high[d] = std::min(high[d], floor_div(c, -coef) + 1);
  }
  std::vector<Range> out;
  for (std::size_t d = 0; d < static_cast<std::size_t>(view.rank); ++d) {
    const std::int64_t begin = std::min(low[d], view.axes[d].size);
    out.push_back({begin, std::max(begin, high[d]) - begin});
  }
  return out;
}

View masked(const View& view, const Mask& mask) {
  View out = view;
  int axis = 0;
  for (const Range& range : left(view, mask)) {
    if (range.begin > 0 || range.size < view.axes[static_cast<std::size_t>(axis)].size)
      out = cut(out, axis, range.begin, range.size);
    ++axis;
  }
  return out;
}

std::string sizes_text(const View& view) {
  std::string text;
  for (int d = 0; d < view.rank; ++d)
    text += fmt::format("{}{}", d ? ", " : "", view.axes[static_cast<std::size_t>(d)].size);
  return "[" + text + "]";
}

}  // namespace runtime::nki
