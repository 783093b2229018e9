// Shapes and types of DMA transfers and collectives.
#include "isa/check/rules.h"
#include "isa/check/shapes.h"

namespace isa::rule {
namespace {

/// An index for each of the rows that move, or one number from which they follow.
void index_column(const Instr& i, const Tile& moved) {
  need_shape("b", i.b, i.integers ? 1 : moved.partitions, 1);
  need_type("b", i.b, {Dtype::kInt32});
}

void same_row(const Tile& dst, const Tile& a) {
  if (dst.cols() != a.cols())
    breach("make the rows agree", "a row of dst has {} elements, one of a has {}", dst.cols(), a.cols());
}

}  // namespace

/// Descriptors run over both sides in flat order, so a copy may fold elements into other partitions.
void dma_copy(const Instr& i) {
  if (i.dst.elements() != i.a.elements())
    breach("give both as many elements", "a has {} elements, dst has {}", i.a.elements(), i.dst.elements());
}

void dma_gather(const Instr& i) {
  index_column(i, i.dst);
  same_row(i.dst, i.a);
}

void dma_scatter(const Instr& i) {
  index_column(i, i.a);
  same_row(i.dst, i.a);
}

/// All free axes of a as one, or its innermost one alone with the others between. Source: nki.isa.dma_transpose.
void dma_transpose(const Instr& i) {
  const std::int64_t inner = i.a.free[static_cast<std::size_t>(i.a.rank - 1)].size;
  if (i.a.rank > 1 && i.a.rank < 4 && i.dst.partitions == inner)
    need_shape("dst", i.dst, inner, i.a.elements() / inner);
  else
    need_shape("dst", i.dst, i.a.cols(), i.a.partitions);
}

void collective(const Instr& i) {
  need_same_type("dst", i.dst, "a", i.a);
  const std::int64_t in = i.a.elements(), out = i.dst.elements();
  const bool grows = i.op == Opcode::kAllGather, shrinks = i.op == Opcode::kReduceScatter;
  const bool fits = grows ? out % in == 0 : shrinks ? in % out == 0 : in == out;
  if (fits) return;
  breach(grows     ? "give dst a multiple of a's elements"
         : shrinks ? "give a a multiple of dst's elements"
                   : "give both as many elements",
         "a has {} elements, dst has {}", in, out);
}

}  // namespace isa::rule
