// Windows of a tensor at places that data names, as runs of elements: for gathers, scatters and slices.
#pragma once

#include <vector>

#include "frontend/lower/lowerer.h"
#include "runtime/graph/attributes.h"

namespace trnsim::frontend {

/// Where windows begin along a dimension of the tensor: `index` has the dimensions of the batch.
struct Start {
  View index;
  std::int64_t dim = 0;
};

/// A window that does not fit into the tensor: moved until it does, or its elements that are outside are left out.
enum class Outside : std::uint8_t { kClamped, kSkipped };

/// Each element of a batch names one window.
class Windows {
 public:
  Windows() = default;
  /// `table`: the tensor's dimensions; `sizes`: the window's, as many.
  Windows(Dims table, Dims sizes, Dims batch, std::vector<Start> starts, Outside outside = Outside::kClamped);

  /// The windows one behind the other: the batch's dimensions, then the window's.
  runtime::ValueId taken(Lowerer& l, const View& table) const;
  /// Writes `updates`, in that order, into `whole`, whose memory the present node may write. Returns what it is then.
  /// `how`: how an update meets what is there; its run and unit do not matter.
  runtime::ValueId put(Lowerer& l, const View& whole, const View& updates, runtime::RunsAttrs how) const;
  /// The place of each run in units, int32: the batch's dimensions, and those of the runs of a window.
  View ids(Lowerer& l, std::int64_t unit) const;

 private:
  bool is_fixed(std::size_t d) const { return table_[d] == sizes_[d]; }
  /// The start along dimension d where each element is left out by itself; null: the window is moved, or has one
  /// element there.
  const Start* by_element(std::size_t d) const;
  View batch_ids(Lowerer& l, std::int64_t unit) const;
  std::int64_t unit() const;

  Dims table_, sizes_, strides_, batch_;
  std::vector<Start> starts_;
  Outside outside_ = Outside::kClamped;
  Dims outer_, outer_strides_;           // of the runs of a window
  std::vector<std::size_t> outer_dims_;  // of the tensor; as many as it has: a piece of a run
  std::int64_t run_ = 1;
};

/// Numbers 0, step, 2 step, ... along dimension d, int32.
View counted(Lowerer& l, const Dims& dims, std::size_t d, std::int64_t step);

}  // namespace trnsim::frontend
