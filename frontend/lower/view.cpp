#include "frontend/lower/view.h"

#include <algorithm>
#include <numeric>

namespace trnsim::frontend {

Dims dense_strides(const Dims& dims) {
  Dims out(dims.size(), 1);
  for (std::size_t d = dims.size(); d-- > 1;) out[d - 1] = out[d] * dims[d];
  return out;
}

View dense_view(runtime::ValueId base, Dims dims, Dtype dtype) {
  View out{.base = base, .dims = std::move(dims), .dtype = dtype};
  out.strides = dense_strides(out.dims);
  return out;
}

View number_view(double number, Dims dims, Dtype dtype) {
  View out{.number = number, .dims = std::move(dims), .dtype = dtype};
  out.strides.assign(out.dims.size(), 0);
  return out;
}

bool is_dense(const View& view) {
  if (view.is_number()) return false;
  std::int64_t stride = 1;
  for (std::size_t d = view.dims.size(); d-- > 0;) {
    if (view.dims[d] != 1 && view.strides[d] != stride) return false;
    stride *= view.dims[d];
  }
  return true;
}

View transposed(const View& view, const Dims& permutation) {
  View out = view;
  for (std::size_t d = 0; d < permutation.size(); ++d) {
    out.dims[d] = view.dims[static_cast<std::size_t>(permutation[d])];
    out.strides[d] = view.strides[static_cast<std::size_t>(permutation[d])];
  }
  return out;
}

View sliced(const View& view, const Dims& start, const Dims& sizes, const Dims& step) {
  View out = view;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    out.first += start[d] * view.strides[d];
    out.dims[d] = sizes[d];
    out.strides[d] = view.strides[d] * step[d];
  }
  return out;
}

View cut_to(const View& view, Dims& low, Dims& high, const Dims& apart) {
  View out = view;
  for (std::size_t d = 0; d < low.size(); ++d) {
    const std::int64_t begin = low[d] < 0 ? (-low[d] + apart[d] - 1) / apart[d] : 0;
    const std::int64_t end = high[d] < 0 ? (-high[d] + apart[d] - 1) / apart[d] : 0;
    if (!out.is_number()) out.first += begin * out.strides[d];
    out.dims[d] = std::max<std::int64_t>(out.dims[d] - begin - end, 0);
    low[d] += begin * apart[d], high[d] += end * apart[d];
  }
  return out;
}

View broadcast(const View& view, const Dims& dims, const Dims& places) {
  View out = view;
  out.dims = dims;
  out.strides.assign(dims.size(), 0);
  for (std::size_t d = 0; d < places.size(); ++d)
    if (view.dims[d] != 1) out.strides[static_cast<std::size_t>(places[d])] = view.strides[d];
  return out;
}

std::optional<View> reshaped(const View& view, const Dims& dims) {
  View out = view;
  out.dims = dims;
  out.strides.assign(dims.size(), 0);
  if (view.is_number()) return out;
  // Runs of dimensions of both sides with equally many elements, as numpy joins and splits them.
  Dims from, steps;
  for (std::size_t d = 0; d < view.dims.size(); ++d)
    if (view.dims[d] != 1) from.push_back(view.dims[d]), steps.push_back(view.strides[d]);
  std::size_t i = 0, j = 0;
  while (i < from.size() && j < dims.size()) {
    std::size_t i_end = i + 1, j_end = j + 1;
    std::int64_t old_count = from[i], new_count = dims[j];
    while (old_count != new_count) {
      if (old_count < new_count) {
        if (i_end == from.size()) return std::nullopt;
        old_count *= from[i_end++];
      } else {
        if (j_end == dims.size()) return std::nullopt;
        new_count *= dims[j_end++];
      }
    }
    for (std::size_t k = i; k + 1 < i_end; ++k)
      if (steps[k] != steps[k + 1] * from[k + 1]) return std::nullopt;
    std::int64_t step = steps[i_end - 1];
    for (std::size_t k = j_end; k-- > j;) out.strides[k] = step, step *= dims[k];
    i = i_end, j = j_end;
  }
  for (; j < dims.size(); ++j)
    if (dims[j] != 1) return std::nullopt;
  return i == from.size() ? std::optional{out} : std::nullopt;
}

std::optional<Axis> joined_axis(const View& view, const Dims& places) {
  Axis out;
  bool any = false;
  for (std::size_t p = places.size(); p-- > 0;) {
    const auto d = static_cast<std::size_t>(places[p]);
    if (view.dims[d] == 1) continue;
    if (!any) {
      out = {view.dims[d], view.strides[d]}, any = true;
    } else {
      if (view.strides[d] != out.stride * out.size) return std::nullopt;
      out.size *= view.dims[d];
    }
  }
  return out;
}

std::optional<InRows> in_rows(const View& view, std::int64_t rows, std::int64_t row) {
  std::size_t split = 0;
  for (std::int64_t count = 1; split < view.dims.size() && count < rows; ++split) count *= view.dims[split];
  Dims above(split);
  std::iota(above.begin(), above.end(), 0);
  const auto axis = joined_axis(view, above);
  if (!axis || axis->size != rows || axis->stride != row || view.first < 0) return std::nullopt;
  InRows out{.first = view.first};
  std::int64_t last = view.first;
  for (std::size_t d = split; d < view.dims.size(); ++d) {
    const std::int64_t size = view.dims[d], stride = view.strides[d];
    if (size == 1) continue;
    if (stride < 0) return std::nullopt;
    last += (size - 1) * stride;
    if (!out.sizes.empty() && out.strides.back() == size * stride)
      out.sizes.back() *= size, out.strides.back() = stride;
    else
      out.sizes.push_back(size), out.strides.push_back(stride);
  }
  if (out.sizes.empty()) out.sizes = out.strides = {1};
  return last < row ? std::optional{out} : std::nullopt;
}

View part_of(const View& view, std::size_t first, std::size_t last) {
  const auto cut = [&](const Dims& all) {
    return Dims{all.begin() + static_cast<std::ptrdiff_t>(first), all.begin() + static_cast<std::ptrdiff_t>(last)};
  };
  View out = view;
  out.dims = cut(view.dims), out.strides = cut(view.strides);
  return out;
}

namespace {

bool is_still(const View& view) {  // one number everywhere
  for (std::size_t d = 0; d < view.dims.size(); ++d)
    if (view.dims[d] > 1 && view.strides[d] != 0) return false;
  return true;
}

}  // namespace

Spread spread_at(const View& view, std::size_t split) {
  if (view.is_number() || is_still(view)) return Spread::kOne;
  if (is_still(part_of(view, 0, split))) return Spread::kRow;
  if (is_still(part_of(view, split, view.dims.size()))) return Spread::kColumn;
  return Spread::kWhole;
}

}  // namespace trnsim::frontend
