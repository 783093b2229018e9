// Programs in HLO computed on a simulated core, against the interpreter, which knows nothing of the lowering.
#include "trnsim/graphs/graph_run.h"

#include <filesystem>

#include "frontend/hlo/file.h"
#include "frontend/hlo/graph.h"
#include "frontend/hlo/text.h"
#include "hw/params.h"
#include "runtime/ops/ops.h"
#include "tests/frontend/losses.h"
#include "tests/frontend/norms_and_functions.h"
#include "tests/frontend/updates.h"
#include "trnsim/graphs/graph_program.h"

namespace trnsim {
namespace {

namespace fs = std::filesystem;

void expect_numbers(const frontend::Module& module, const std::string& what,
                    const frontend::LowerOptions& options = {}) {
  const hw::MachineParams machine = hw::load_machine("trn1.2xlarge");
  for (const OutputError& one :
       compare_with_reference(module, frontend::lower(module, options), machine, drawn_inputs(module, 7)))
    EXPECT_TRUE(one.within) << what << ": " << one.name << " " << one.type << " is off by " << one.error;
}

void expect_numbers(const std::string& lines, const std::string& before = "") {
  expect_numbers(frontend::hlo::graph_of(
                     frontend::hlo::read_text("HloModule m\n" + before + "ENTRY main {\n" + lines + "\n}\n", "m"), "m"),
                 lines);
}

constexpr const char* kRegions =
    "sum {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] add(a, b)\n}\n"
    "most {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] maximum(a, b)\n}\n";

TEST(GraphRun, ProductsOfAnyDimensions) {
  expect_numbers(
      "x = f32[5,7,33] parameter(0)\nw = f32[33,5,9] parameter(1)\n"
      "ROOT y = f32[5,7,9] dot(x, w), lhs_batch_dims={0}, rhs_batch_dims={1}, lhs_contracting_dims={2}, "
      "rhs_contracting_dims={0}");
  expect_numbers(
      "x = f32[130,3,4] parameter(0)\nw = f32[4,3,140] parameter(1)\n"
      "ROOT y = f32[130,140] dot(x, w), lhs_contracting_dims={1,2}, rhs_contracting_dims={1,0}");
  expect_numbers(
      "x = f32[200,20] parameter(0)\nw = f32[200,30] parameter(1)\n"
      "ROOT y = f32[20,30] dot(x, w), lhs_contracting_dims={0}, rhs_contracting_dims={0}");
}

TEST(GraphRun, RewrittenOrNotTheNumbersAreTheReference) {
  for (const auto& spellings : {frontend::kFunctionSpellings, frontend::kNormSpellings})
    for (const auto& [spelling, target] : spellings) {
      const std::string text =
          "HloModule m\n" + std::string{frontend::kSumRegion} + "ENTRY main {\n" + spelling + "\n}\n";
      const frontend::Module module = frontend::hlo::graph_of(frontend::hlo::read_text(text, "m"), "m");
      expect_numbers(module, target + " by " + spelling);
      expect_numbers(module, "without rewrites: " + spelling, {.rewrites = {.functions = false, .norms = false}});
    }
}

TEST(GraphRun, GradientsOfNormsAreTheReferenceRewrittenOrNot) {
  for (const auto& [spelling, all] : frontend::kNormGradients) {
    const std::string text =
        "HloModule m\n" + std::string{frontend::kSumRegion} + "ENTRY main {\n" + spelling + "\n}\n";
    const frontend::Module module = frontend::hlo::graph_of(frontend::hlo::read_text(text, "m"), "m");
    expect_numbers(module, spelling);
    expect_numbers(module, "without rewrites: " + spelling, {.rewrites = {.norms = false}});
  }
}

TEST(GraphRun, LossesAreTheReferenceRewrittenOrNot) {
  for (const std::string& spelling : frontend::kLossSpellings) {
    const std::string text =
        "HloModule m\n" + std::string{frontend::kLossRegions} + "ENTRY main {\n" + spelling + "\n}\n";
    const frontend::Module module = frontend::hlo::graph_of(frontend::hlo::read_text(text, "m"), "m");
    expect_numbers(module, spelling);
    expect_numbers(module, "without rewrites: " + spelling, {.rewrites = {.losses = false}});
  }
}

TEST(GraphRun, UpdatesAreTheReferenceRewrittenOrNot) {
  const auto expect_both = [](const std::string& head, const std::string& lines) {
    const std::string text = head + "ENTRY main {\n" + lines + "\n}\n";
    const frontend::Module module = frontend::hlo::graph_of(frontend::hlo::read_text(text, "m"), "m");
    expect_numbers(module, lines);
    expect_numbers(module, "without rewrites: " + lines, {.rewrites = {.updates = false}});
  };
  for (const std::string& lines : frontend::kUpdateSpellings) expect_both("HloModule m\n", lines);
  for (const std::string& lines : frontend::kMomentumSpellings) expect_both(frontend::kMomentumHead, lines);
}

TEST(GraphRun, HalvesOfHeadsArePickedAndJoined) {
  expect_numbers(
      "x = f32[2,32,256] parameter(0)\nr = f32[2,32,4,64] reshape(x)\n"
      "t = f32[2,4,32,64] transpose(r), dimensions={0,2,1,3}\n"
      "a = f32[2,4,32,32] slice(t), slice={[0:2],[0:4],[0:32],[0:32]}\n"
      "b = f32[2,4,32,32] slice(t), slice={[0:2],[0:4],[0:32],[32:64]}\nn = f32[2,4,32,32] negate(b)\n"
      "c = f32[2,4,32,64] concatenate(n, a), dimensions={3}\nzero = f32[] constant(0)\n"
      "p = f32[2,4,32,64] pad(n, zero), padding=0_0x0_0x0_0x32_0\ny = f32[2,4,32,64] add(c, t)\n"
      "z = f32[2,4,32,64] multiply(p, y)\nROOT o = f32[2,32,4,64] transpose(z), dimensions={0,2,1,3}");
}

/// Logits of 1,024 tokens and their loss, as the families have them.
frontend::LoweredGraph family_loss() {
  frontend::LoweredGraph out{.graph = runtime::Graph{runtime::numerics("fp32")}};
  runtime::Graph& g = out.graph;
  const auto x = g.tensor("x", 1024, 256, runtime::Dtype::kFp32, runtime::Kind::kInput);
  const auto w = g.tensor("w", 256, 8000, runtime::Dtype::kFp32, runtime::Kind::kWeight);
  const auto labels = g.tensor("labels", 1024, 1, runtime::Dtype::kInt32, runtime::Kind::kInput);
  const auto shares = g.tensor("shares", 1024, 1, runtime::Dtype::kFp32, runtime::Kind::kInput);
  g.enter({.name = "graph", .phase = isa::Phase::kForward});
  const auto logits = g.add1(runtime::kMatmul, "logits", {x, w});
  const auto most = g.add1(runtime::kRowMax, "max", {logits});
  const auto sums = g.add1(runtime::kLossSums, "sums", {logits, labels, most});
  const auto loss = g.add(runtime::kSplitLoss, "loss", {logits, labels, shares, most, sums});
  g.output(loss[0], "loss"), g.output(loss[1], "dx");
  return out;
}

TEST(GraphRun, ALossTakesTheFamiliesTime) {
  const std::string text =
      "HloModule m\n" + std::string{frontend::kLossRegions} +
      "ENTRY main {\nh = f32[1024,256] parameter(0)\nu = f32[256,8000] parameter(1)\nlabels = s32[1024] parameter(2)\n"
      "g = f32[1024] parameter(3)\nzero = f32[] constant(0)\nlow = f32[] constant(-inf)\n"
      "x = f32[1024,8000] dot(h, u), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
      "m = f32[1024] reduce(x, low), dimensions={1}, to_apply=most\n"
      "mm = f32[1024,8000] broadcast(m), dimensions={0}\ns = f32[1024,8000] subtract(x, mm)\n"
      "e = f32[1024,8000] exponential(s)\nz = f32[1024] reduce(e, zero), dimensions={1}, to_apply=sum\n"
      "zz = f32[1024,8000] broadcast(z), dimensions={0}\np = f32[1024,8000] divide(e, zz)\n"
      "named = s32[1024,8000] broadcast(labels), dimensions={0}\nplace = s32[1024,8000] iota(), iota_dimension=1\n"
      "same = pred[1024,8000] compare(named, place), direction=EQ\nhot = f32[1024,8000] convert(same)\n"
      "d = f32[1024,8000] subtract(p, hot)\ngg = f32[1024,8000] broadcast(g), dimensions={0}\n"
      "dx = f32[1024,8000] multiply(d, gg)\nl = f32[1024] log(z)\nll = f32[1024,8000] broadcast(l), dimensions={0}\n"
      "lp = f32[1024,8000] subtract(s, ll)\na = f32[1024,8000] multiply(lp, hot)\n"
      "n = f32[1024] reduce(a, zero), dimensions={1}, to_apply=sum\nloss = f32[1024] negate(n)\n"
      "ROOT out = (f32[1024], f32[1024,8000]) tuple(loss, dx)\n}\n";
  const frontend::Module module = frontend::hlo::graph_of(frontend::hlo::read_text(text, "m"), "m");
  const hw::MachineParams machine = hw::load_machine("trn1.2xlarge");
  const double family = GraphProgram{family_loss(), machine}.seconds();
  EXPECT_NEAR(GraphProgram(frontend::lower(module), machine).seconds(), family, 0.03 * family);
  EXPECT_GT(GraphProgram(frontend::lower(module, {.rewrites = {.losses = false}}), machine).seconds(), 1.2 * family);
}

TEST(GraphRun, ElementsAndBroadcasts) {
  expect_numbers(
      "x = f32[40,50] parameter(0)\nr = f32[50] parameter(1)\nc = f32[40] parameter(2)\n"
      "a = f32[40,50] broadcast(r), dimensions={1}\nb = f32[40,50] broadcast(c), dimensions={0}\n"
      "s = f32[40,50] subtract(a, x)\nt = f32[40,50] multiply(s, b)\nz = f32[] constant(0)\n"
      "zz = f32[40,50] broadcast(z), dimensions={}\np = pred[40,50] compare(t, zz), direction=GT\n"
      "e = f32[40,50] tanh(t)\nf = f32[40,50] floor(x)\nROOT y = f32[40,50] select(p, e, f)");
}

TEST(GraphRun, Movements) {
  expect_numbers(
      "x = f32[6,20,24] parameter(0)\nt = f32[24,6,20] transpose(x), dimensions={2,0,1}\n"
      "s = f32[12,6,5] slice(t), slice={[0:24:2], [0:6], [3:18:3]}\nz = f32[] constant(2)\n"
      "p = f32[12,8,7] pad(s, z), padding=0_0x1_1x1_1\n"
      "ROOT y = f32[12,8,7] reverse(p), dimensions={1}");
  expect_numbers(
      "x = f32[6,20] parameter(0)\nw = f32[6,3] parameter(1)\n"
      "ROOT y = f32[6,23] concatenate(x, w), dimensions={1}");
}

TEST(GraphRun, ReductionsAndWindows) {
  for (const std::string dims : {"{0}", "{1}", "{2}"}) {
    const std::string result = dims == "{0}" ? "30,40" : dims == "{1}" ? "20,40" : "20,30";
    expect_numbers("x = f32[20,30,40] parameter(0)\nz = f32[] constant(0)\nROOT y = f32[" + result +
                       "] reduce(x, z), dimensions=" + dims + ", to_apply=sum",
                   kRegions);
  }
  expect_numbers(
      "x = f32[20,30] parameter(0)\nz = f32[] constant(-inf)\n"
      "ROOT y = f32[9,13] reduce-window(x, z), window={size=3x5 stride=2x2}, to_apply=most",
      kRegions);
}

TEST(GraphRun, GatherOfRowsAndColumnsAndScatterOfRows) {
  expect_numbers(
      "x = f32[9,16] parameter(0)\ni = s32[5,1] parameter(1)\n"
      "ROOT y = f32[5,16] gather(x, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, "
      "index_vector_dim=1, slice_sizes={1,16}");
  expect_numbers(
      "x = f32[12,9] parameter(0)\ni = s32[5,1] parameter(1)\n"
      "ROOT y = f32[12,5] gather(x, i), offset_dims={0}, collapsed_slice_dims={1}, start_index_map={1}, "
      "index_vector_dim=1, slice_sizes={12,1}");
  expect_numbers(
      "x = f32[9,16] parameter(0)\ni = s32[5,1] parameter(1)\nu = f32[5,16] parameter(2)\n"
      "ROOT y = f32[9,16] scatter(x, i, u), update_window_dims={1}, inserted_window_dims={0}, "
      "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=sum",
      kRegions);
}

TEST(GraphRun, Convolutions) {
  expect_numbers(
      "x = f32[2,9,9,5] parameter(0)\nk = f32[3,3,5,7] parameter(1)\n"
      "ROOT y = f32[2,5,5,7] convolution(x, k), window={size=3x3 stride=2x2 pad=1_1x1_1}, "
      "dim_labels=b01f_01io->b01f");
  expect_numbers(
      "x = f32[1,6,8,8] parameter(0)\nk = f32[6,1,3,3] parameter(1)\n"
      "ROOT y = f32[1,6,8,8] convolution(x, k), window={size=3x3 pad=1_1x1_1}, "
      "dim_labels=bf01_oi01->bf01, feature_group_count=6");
}

TEST(GraphRun, DonatedMemoryIsWrittenWhenAllResultsAreThere) {
  const auto module = frontend::hlo::graph_of(
      frontend::hlo::read_text("HloModule m, input_output_alias={ {0}: (0, {}, may-alias), {1}: (1, {}, may-alias) }\n"
                               "ENTRY main {\na = f32[4,4] parameter(0)\nb = f32[4,4] parameter(1)\n"
                               "ROOT t = (f32[4,4], f32[4,4]) tuple(b, a)\n}\n",
                               "m"),
      "m");
  expect_numbers(module, "exchange");
}

// The published modules are not ours: they are beside the sources, or the test is skipped. In fp32: the reference
// rounds each operation to bf16, the device a chain of them once.
TEST(GraphRun, PublishedBlocksComputeTheInterpretersNumbers) {
  const fs::path folder = fs::path{TRNSIM_SOURCE_DIR} / "../shared/frontend/hlo";
  if (!fs::exists(folder)) GTEST_SKIP() << "no published modules beside the sources";
  for (const char* name : {"layer_norm_1x4096x768_bf16.hlo", "sum_axis_1x4096x1024_bf16.hlo",
                           "mean_axis_1x4096x1024_bf16.hlo", "xnn.parallel_dots.optimized.hlo"})
    expect_numbers(frontend::hlo::graph_of(frontend::hlo::read_file(folder / name), name), name);
}

}  // namespace
}  // namespace trnsim
