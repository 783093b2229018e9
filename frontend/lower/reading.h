// How an element-wise operation reads its operands: the matrix for which least passes through HBM.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "frontend/lower/lowerer.h"

namespace trnsim::frontend {

/// How operands of an element-wise operation are read, and the matrix that its result is: the first `split` dimensions
/// are its rows.
struct Reading {
  std::vector<Spread> spreads;
  std::size_t split = 0;
  std::int64_t rows = 1, cols = 1;
  std::int64_t passes = 0;                       // elements that HBM is read or written for
  bool still = true;                             // all operands are one number each
  bool rows_alone = true, columns_alone = true;  // none is more than a row, or than a column
};

/// The order of dimensions in which the operands' elements follow each other, where another order than their own lets
/// less be copied and leaves the last dimension, whose elements DMA moves as one run.
std::optional<Dims> order_of_memory(Lowerer& l, const std::vector<View>& in);
/// A view in dimensions of that order, in their own again.
View turned_back(const View& view, const Dims& order);
/// The matrix for which least passes through HBM: of equals, one that an operand is already, then rows of the last
/// dimension.
Reading reading_of(Lowerer& l, const std::vector<View>& in, const Dims& dims);
/// An operand as its reading takes it: one element, a row, a column, or all.
runtime::ValueId operand_of(Lowerer& l, const View& view, Spread spread, const Reading& reading);
/// The result in its own dimensions: a row or a column for all of them where the operands are no more.
View spread_out(const View& dense, const Reading& reading);

}  // namespace trnsim::frontend
