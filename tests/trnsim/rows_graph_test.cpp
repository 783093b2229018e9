// Slices, padding and concatenations within rows: the numbers of the reference, and what row tiles take along.
#include <algorithm>

#include "frontend/hlo/graph.h"
#include "frontend/hlo/text.h"
#include "hw/params.h"
#include "runtime/graph/op.h"
#include "trnsim/graphs/graph_program.h"
#include "trnsim/graphs/graph_run.h"

namespace trnsim {
namespace {

frontend::Module rows_module(const std::string& lines) {
  return frontend::hlo::graph_of(frontend::hlo::read_text("HloModule m\nENTRY main {\n" + lines + "\n}\n", "m"), "m");
}

void expect_reference_numbers(const std::string& lines) {
  const frontend::Module module = rows_module(lines);
  for (const OutputError& one : compare_with_reference(module, frontend::lower(module),
                                                       hw::load_machine("trn1.2xlarge"), drawn_inputs(module, 5)))
    EXPECT_TRUE(one.within) << lines << ": " << one.name << " is off by " << one.error;
}

std::ptrdiff_t count_of_op(const std::string& lines, std::string_view op) {
  const frontend::LoweredGraph lowered = frontend::lower(rows_module(lines));
  std::ptrdiff_t out = 0;
  for (std::size_t n = 0; n < lowered.graph.node_count(); ++n) out += lowered.graph.node(n).op->name == op;
  return out;
}

/// Heads of a product of 64 columns, [2,65,4,16].
const std::string kHeads =
    "t = f32[2,65,32] parameter(0)\nw = f32[32,64] parameter(1)\n"
    "p = f32[2,65,64] dot(t, w), lhs_contracting_dims={2}, rhs_contracting_dims={0}\n"
    "x = f32[2,65,4,16] reshape(p)\n";
/// Neighbours turned against each other, by angles that all heads share.
const std::string kNeighbours = kHeads +
                                "c0 = f32[65,8] parameter(2)\nc = f32[2,65,4,8] broadcast(c0), dimensions={1,3}\n"
                                "y = f32[2,65,4,8,2] reshape(x)\n"
                                "e0 = f32[2,65,4,8,1] slice(y), slice={[0:2],[0:65],[0:4],[0:8],[0:1]}\n"
                                "o0 = f32[2,65,4,8,1] slice(y), slice={[0:2],[0:65],[0:4],[0:8],[1:2]}\n"
                                "e = f32[2,65,4,8] reshape(e0)\no = f32[2,65,4,8] reshape(o0)\n"
                                "ec = f32[2,65,4,8] multiply(e, c)\nn = f32[2,65,4,8] subtract(ec, o)\n"
                                "n1 = f32[2,65,4,8,1] reshape(n)\ne1 = f32[2,65,4,8,1] reshape(ec)\n"
                                "ROOT j = f32[2,65,4,8,2] concatenate(n1, e1), dimensions={4}";
/// Halves, the second one negated in front of the first.
const std::string kHalves = kHeads +
                            "a = f32[2,65,4,8] slice(x), slice={[0:2],[0:65],[0:4],[0:8]}\n"
                            "b = f32[2,65,4,8] slice(x), slice={[0:2],[0:65],[0:4],[8:16]}\n"
                            "m = f32[2,65,4,8] negate(b)\n"
                            "h = f32[2,65,4,16] concatenate(m, a), dimensions={3}\nROOT z = f32[2,65,4,16] add(h, x)";
const std::string kPadded = kHeads +
                            "a = f32[2,65,4,8] slice(x), slice={[0:2],[0:65],[0:4],[0:16:2]}\n"
                            "s = f32[2,65,4,8] multiply(a, a)\nv = f32[] constant(0.5)\n"
                            "ROOT q = f32[2,65,4,16] pad(s, v), padding=0_0x0_0x0_0x3_5";

/// Numbers alone do not say how many rows they have.
TEST(RowsOfGraphs, OfPaddedNumbersAloneAreCounted) {
  expect_reference_numbers(
      "z = f32[] constant(0)\no = f32[] constant(1)\nb = f32[5,7] broadcast(o), dimensions={}\n"
      "p = f32[5,9] pad(b, z), padding=0_0x1_1\nx = f32[5,9] parameter(0)\n"
      "ROOT y = f32[5,9] add(x, p)");
}

TEST(RowsOfGraphs, HaveTheReferencesNumbers) {
  for (const std::string& lines : {kNeighbours, kHalves, kPadded}) expect_reference_numbers(lines);
  // along an outer dimension, and of several lengths
  expect_reference_numbers(kHeads +
                           "a = f32[2,65,1,16] slice(x), slice={[0:2],[0:65],[1:2],[0:16]}\n"
                           "b = f32[2,65,3,16] slice(x), slice={[0:2],[0:65],[1:4],[0:16]}\n"
                           "h = f32[2,65,4,16] concatenate(b, a), dimensions={2}\n"
                           "ROOT z = f32[2,65,4,16] multiply(h, x)");
}

TEST(RowsOfGraphs, AreChangedInTheTilesThatMakeThem) {
  for (const std::string& lines : {kHalves, kPadded}) {
    EXPECT_EQ(count_of_op(lines, "move") + count_of_op(lines, "place"), 0) << lines;
    EXPECT_EQ(count_of_op(lines, "join_columns"), 1) << lines;
  }
  EXPECT_EQ(count_of_op(kNeighbours, "place"), 0);
  EXPECT_EQ(count_of_op(kNeighbours, "move"), 1);  // the angles of both sequences, once for all heads
  EXPECT_EQ(count_of_op(kNeighbours, "take_columns"), 3);
}

TEST(RowsOfGraphs, OfLongRunsAreCopiedAsTheyAre) {
  const std::string whole =
      "x = f32[4,200,256] parameter(0)\na = f32[4,100,256] slice(x), slice={[0:4],[0:100],[0:256]}\n"
      "ROOT y = f32[4,100,256] exponential(a)";
  EXPECT_EQ(count_of_op(whole, "take_columns"), 0);
}

}  // namespace
}  // namespace trnsim
